/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looks at a file's name and mode only, not at its text, so that the meaning of a command line doesn't change with a
 * comment in the file.
 */
#include "cli/session/program.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_with(const char *word, const char *end)
{
	size_t len = strlen(word), end_len = strlen(end);

	return len > end_len && strcmp(word + len - end_len, end) == 0;
}

enum program_kind program_kind(const char *word)
{
	bool named = ends_with(word, ".yaml") || ends_with(word, ".yml");
	struct stat info;
	bool there = stat(word, &info) == 0, executable;

	/* Standard input is read like a file. */
	if (strcmp(word, "-") == 0 || strcmp(word, "/dev/stdin") == 0)
		return PROGRAM_PIPELINE;
	/* A pipe such as <(command) has a slash in its name, but it can only be read as a pipeline. */
	if (there && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
		return PROGRAM_PIPELINE;
	executable = there && S_ISREG(info.st_mode) && access(word, X_OK) == 0;
	if (named)
		return executable ? PROGRAM_BOTH : PROGRAM_PIPELINE;
	return executable || strchr(word, '/') != NULL ? PROGRAM_SCRIPT : PROGRAM_NEITHER;
}
