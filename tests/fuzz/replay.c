/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A main for the fuzz targets where libFuzzer isn't there (gcc): runs the target once over each file
 * given, and over each file in a directory given. What the target dislikes, it aborts on.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long files_run;

static int replay_file(const char *path, size_t size)
{
	/* exactly as large as the file, so that a sanitizer sees a read past the end */
	uint8_t *data = malloc(size ? size : 1);
	FILE *file = fopen(path, "rb");
	int result = -1;

	if (!data || !file || fread(data, 1, size, file) != size) {
		perror(path);
	} else {
		LLVMFuzzerTestOneInput(data, size);
		files_run++;
		result = 0;
	}
	if (file)
		fclose(file);
	free(data);
	return result;
}

static int replay(const char *path)
{
	struct stat about;

	if (stat(path, &about) != 0) {
		perror(path);
		return -1;
	}
	if (!S_ISDIR(about.st_mode))
		return replay_file(path, (size_t)about.st_size);

	DIR *directory = opendir(path);
	int result = 0;

	if (!directory) {
		perror(path);
		return -1;
	}
	for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
		char inner[4096];

		if (entry->d_name[0] == '.')
			continue;
		int length = snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);

		if (length < 0 || (size_t)length >= sizeof(inner) || replay(inner) != 0)
			result = -1;
	}
	closedir(directory);
	return result;
}

int main(int argc, char **argv)
{
	int result = 0;

	for (int i = 1; i < argc; i++)
		if (argv[i][0] != '-' && replay(argv[i]) != 0)
			result = 1;
	printf("%lu inputs\n", files_run);
	return result;
}
