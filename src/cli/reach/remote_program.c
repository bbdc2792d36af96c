/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/reach/remote_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/sha256.h"

/* Write the path of a file in the directory of this program. */
static void path_beside(const char *name, char out[PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", out, PATH_MAX - 80);
	char *slash;

	out[len > 0 ? len : 0] = '\0';
	slash = strrchr(out, '/');
	snprintf(slash ? slash + 1 : out, 80, "%s", name);
}

static enum err load(const char *path, struct remote_program *program, struct error *error)
{
	uint8_t digest[SHA256_SIZE];
	struct sha256 sum;
	struct stat stat;
	void *map = MAP_FAILED;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && fstat(fd, &stat) == 0 && stat.st_size > 0)
		map = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		error_system(error, errno, "can't read the program %s", path);
		if (fd >= 0)
			close(fd);
		return ERR_SYSTEM;
	}
	close(fd);
	program->bytes = slice_make(map, (size_t)stat.st_size);
	sha256_init(&sum);
	sha256_add(&sum, program->bytes);
	sha256_end(&sum, digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(program->hash + 2 * i, 3, "%02x", digest[i]);
	return ERR_NONE;
}

enum err remote_program_find(struct cli *cli, const char *processor, const char *destination,
			      struct remote_program **list, const struct remote_program **ret)
{
	char path[PATH_MAX], name[80];
	struct remote_program *program;
	struct utsname here;
	bool own;

	for (program = *list; program; program = program->next)
		if (strcmp(program->processor, processor) == 0) {
			*ret = program;
			return ERR_NONE;
		}
	uname(&here);
	own = strcmp(here.machine, processor) == 0;
	snprintf(name, sizeof(name), "titan-static%s%s", own ? "" : ".", own ? "" : processor);
	path_beside(name, path);
	program = arena_alloc(&cli->arena, sizeof(*program));
	*program = (struct remote_program){ .next = *list };
	if (access(path, R_OK) != 0 && own) {
		program->shared = true;
		snprintf(path, sizeof(path), "/proc/self/exe");
	} else if (access(path, R_OK) != 0) {
		error_set(&cli->error, ERR_SYSTEM, "%s has the processor %s, and this titan can only bring a program for %s", destination,
			  processor, here.machine);
		return error_next(&cli->error, "build titan-static on such a machine, and put it here as %s", path);
	}
	if (load(path, program, &cli->error) != ERR_NONE)
		return cli->error.code;
	snprintf(program->processor, sizeof(program->processor), "%s", processor);
	snprintf(program->path, sizeof(program->path), "%s", path);
	*list = program;
	*ret = program;
	return ERR_NONE;
}
