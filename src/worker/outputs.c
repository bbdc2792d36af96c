/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What attempts put out: the file .titan-output in the attempt's own directory, whose path is in TITAN_OUTPUT. The keeper reads its
 * bytes when the attempt has ended, keeps them in the spool beside the result, and hands them to the link, which parses them.
 */
#include "worker/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

void outputs_spool(struct keeper *keeper, const struct attempt *attempt)
{
	const struct ipc_attempt name = { attempt->job, attempt->epoch };
	struct buf record = { 0 };

	if (attempt->outputs.len == 0)
		return;
	buf_add(&record, &name, sizeof(name));
	buf_add_slice(&record, buf_slice(&attempt->outputs));
	spool_add(keeper->spool, SPOOL_OUTPUTS, record.data, record.len);
	buf_free(&record);
}

void outputs_replay(struct keeper *keeper, struct attempt *attempt, struct slice bytes)
{
	outputs_drop(keeper, attempt);
	buf_add_slice(&attempt->outputs, bytes);
	keeper->outputs_bytes += bytes.len;
}

void outputs_drop(struct keeper *keeper, struct attempt *attempt)
{
	keeper->outputs_bytes -= attempt->outputs.len;
	buf_free(&attempt->outputs);
}

/* Read at most one byte more than is allowed, so that a longer file is noticed. */
static bool read_bytes(int fd, struct buf *out)
{
	while (out->len <= OUTPUTS_FILE_MAX) {
		size_t room = OUTPUTS_FILE_MAX + 1 - out->len;
		ssize_t got = read(fd, buf_reserve(out, room), room);

		if (got <= 0)
			return got == 0;
		out->len += (size_t)got;
	}
	return true;
}

void outputs_collect(struct keeper *keeper, struct attempt *attempt)
{
	int fd = openat(attempt->space->dir_fd, OUTPUTS_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct buf bytes = { 0 };
	struct stat about;

	if (fd < 0 && errno == ENOENT)
		return;
	/* The job may have put anything there. What isn't a file that can be read is no output: its first line is wrong. */
	if (fd < 0 || fstat(fd, &about) < 0 || !S_ISREG(about.st_mode) || !read_bytes(fd, &bytes)) {
		buf_clear(&bytes);
		buf_add_str(&bytes, "?\n");
	}
	if (fd >= 0)
		close(fd);
	outputs_replay(keeper, attempt, buf_slice(&bytes));
	outputs_spool(keeper, attempt);
	buf_free(&bytes);
}
