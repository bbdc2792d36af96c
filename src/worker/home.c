/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worker/home.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/text.h"
#include "worker/tree.h"

#define LOCK_TRIES   40
#define LOCK_WAIT_NS (25 * NS_PER_MS)    /* time between two tries to get the lock; together they take a second */

enum err home_open(const struct worker_options *options, char *ret_path, int *ret_fd, struct error *error)
{
	char below[256];
	int result;

	if (!text_is_name(slice_str(options->name)))
		return error_set(error, ERR_INVALID, "'%s' isn't a valid name for a worker: use letters, digits, "
			"'_', '-' and '.', at most 128", options->name);
	result = statedir_make(&options->statedir);
	if (result < 0)
		return error_state_dir(error, -result, options->statedir.dir);
	snprintf(below, sizeof(below), "worker/%s", options->name);
	statedir_path(&options->statedir, below, ret_path);
	result = io_make_dirs(ret_path, 0700);
	if (result == 0)
		result = io_check_private_dir(ret_path);
	if (result < 0)
		return error_dir(error, -result, "the worker's directory", ret_path);
	*ret_fd = open(ret_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret_fd < 0)
		return error_dir(error, errno, "the worker's directory", ret_path);
	return ERR_NONE;
}

enum err home_lock(const struct worker_options *options, const char *path, int dir_fd, const char *lock, int *ret_fd,
		   struct error *error)
{
	const struct timespec wait = { .tv_nsec = LOCK_WAIT_NS };
	int tries = 0;

	*ret_fd = openat(dir_fd, lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*ret_fd < 0)
		return error_system(error, errno, "can't open the lock file of worker %s", options->name);
	/* A process killed just now may have left a child between fork and exec that still holds the lock. */
	while (flock(*ret_fd, LOCK_EX | LOCK_NB) < 0 && tries++ < LOCK_TRIES)
		nanosleep(&wait, NULL);
	if (tries > LOCK_TRIES) {
		error_set(error, ERR_BUSY, "worker %s is already running, with its state in %s", options->name, path);
		return error_next(error, "titan status");
	}
	return ERR_NONE;
}

void home_sign(int lock_fd)
{
	struct tree_stat stat;
	char text[64];
	int len;

	if (!tree_stat(getpid(), &stat))
		return;
	len = snprintf(text, sizeof(text), "%d %" PRId64 "\n", (int)getpid(), stat.begun_ns);
	if (ftruncate(lock_fd, 0) < 0 || pwrite(lock_fd, text, (size_t)len, 0) != len)
		log_warn("can't write to the worker's lock file: %s; titan down can't end this worker", strerror(errno));
}

int home_mark(int dir_fd, char ret_mark[HOME_MARK_SIZE])
{
	struct stat st;

	if (fstat(dir_fd, &st) < 0)
		return -errno;
	snprintf(ret_mark, HOME_MARK_SIZE, "%llx-%llx", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	return 0;
}

void home_boot_id(uint8_t ret_id[16])
{
	struct buf text = { 0 };
	size_t digits = 0;

	memset(ret_id, 0, 16);
	if (io_read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 256, &text) == 0)
		for (size_t i = 0; i < text.len && digits < 32; i++) {
			const char *hex = "0123456789abcdef", *at = memchr(hex, text.data[i], 16);

			if (!at)
				continue;
			ret_id[digits / 2] = (uint8_t)(ret_id[digits / 2] << 4 | (at - hex));
			digits++;
		}
	buf_free(&text);
}
