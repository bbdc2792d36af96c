/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Directories for tests: in TMPDIR, or in memory for tests that sync often. What a failed test leaves is removed when
 * the program ends; what an aborted program leaves is removed by tests/run-tests, which sets TMPDIR and TEST_MEMORY.
 */
#ifndef TITAN_TEST_SCRATCH_H
#define TITAN_TEST_SCRATCH_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

#define SCRATCH_SIZE 1024                /* of a path */

static char scratch_all[64][SCRATCH_SIZE];
static size_t scratch_count;
static pid_t scratch_owner;

static inline void scratch_end(void)
{
	if (getpid() != scratch_owner)
		return;                  /* only the test program itself removes directories, not its children */
	for (size_t i = 0; i < scratch_count; i++)
		io_remove_tree(AT_FDCWD, scratch_all[i]);
}

static inline void scratch_new_in(const char *base, const char *name, char ret_path[SCRATCH_SIZE])
{
	if (snprintf(ret_path, SCRATCH_SIZE, "%s/titan-%s-XXXXXX", base, name) >= SCRATCH_SIZE || !mkdtemp(ret_path)) {
		perror(ret_path);
		abort();
	}
	if (scratch_owner != getpid() && atexit(scratch_end) != 0)
		abort();
	scratch_owner = getpid();
	for (size_t i = 0; i < scratch_count; i++)
		if (access(scratch_all[i], F_OK) != 0) {
			memcpy(scratch_all[i], ret_path, SCRATCH_SIZE);
			return;
		}
	if (scratch_count == sizeof(scratch_all) / sizeof(scratch_all[0]))
		abort();
	memcpy(scratch_all[scratch_count++], ret_path, SCRATCH_SIZE);
}

static inline const char *scratch_base(void)
{
	const char *base = getenv("TMPDIR");

	return base && base[0] ? base : "/tmp";
}

/* A directory in memory, where a sync costs no time, if there is one. */
static inline const char *scratch_base_in_memory(void)
{
	const char *base = getenv("TEST_MEMORY");

	if (base && base[0])
		return base;
	return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : scratch_base();
}

static inline void scratch_new(const char *name, char ret_path[SCRATCH_SIZE])
{
	scratch_new_in(scratch_base(), name, ret_path);
}

#endif
