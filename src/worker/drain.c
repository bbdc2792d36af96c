/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Moves the output of lossless jobs from their pipes into the files of their space. At most LOG_SPOOL bytes of a stream
 * may wait that aren't on the master's disk yet; at that limit the keeper stops moving, the pipe fills, and the job
 * waits. Bytes that are on the master's disk are given back as holes in the file.
 *
 * splice moves the bytes, so they are always in the pipe or in the file, never in the memory of a process that may
 * die. The pipes have names, and the job holds both ends of each, so it notices neither the death of a keeper nor
 * the start of the next.
 */
#include "worker/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "proto/limits.h"

#define PIECE    ((size_t)65536)
#define AT_ONCE  16                      /* most pieces moved from one pipe before other pipes are served */
#define AGAIN_NS NS_PER_S

static int file_of(const struct attempt *attempt, int stream)
{
	return stream == 0 ? attempt->space->out_fd : attempt->space->err_fd;
}

static bool has_pipes(const struct attempt *attempt)
{
	return attempt->space && (attempt->space->pipe_fds[0] >= 0 || attempt->space->pipe_fds[1] >= 0);
}

int drain_begin(struct keeper *keeper, struct attempt *attempt, int ret_fds[2])
{
	int result = space_open_pipes(keeper->spaces, attempt->space, true);

	keeper->piped += has_pipes(attempt);
	ret_fds[0] = ret_fds[1] = -1;
	for (int i = 0; i < 2 && result == 0; i++) {
		ret_fds[i] = space_open_pipe_end(keeper->spaces, attempt->space, i);
		result = ret_fds[i] < 0 ? ret_fds[i] : 0;
	}
	return result;
}

void drain_claim(struct keeper *keeper, struct attempt *attempt)
{
	int result = space_open_pipes(keeper->spaces, attempt->space, false);

	keeper->piped += has_pipes(attempt);
	if (result < 0)
		log_warn_limited("can't open the pipes of job %" PRIu64 ": %s", attempt->job, strerror(-result));
	for (int i = 0; i < 2; i++) {
		struct stat info;

		if (fstat(file_of(attempt, i), &info) == 0)
			attempt->drained[i] = (uint64_t)info.st_size;
	}
}

bool drain_wants(const struct keeper *keeper, const struct attempt *attempt, int stream)
{
	return attempt->space && attempt->space->pipe_fds[stream] >= 0 && attempt->drain_ns <= keeper->now_ns &&
	       attempt->drained[stream] - attempt->synced[stream] < LIMIT_LOG_SPOOL;
}

/* Move bytes from the pipe into the file. Return their number; 0: the pipe is empty; or -errno. */
static ssize_t move(struct attempt *attempt, int stream, size_t most)
{
	off_t at = (off_t)attempt->drained[stream];
	ssize_t moved = splice(attempt->space->pipe_fds[stream], NULL, file_of(attempt, stream), &at, most, SPLICE_F_NONBLOCK);

	if (moved < 0)
		return errno == EAGAIN ? 0 : -errno;
	attempt->drained[stream] += (uint64_t)moved;
	return moved;
}

/* The disk is full: try again in a second. Until then the job waits, and nothing is lost. */
static void no_room(struct keeper *keeper, struct attempt *attempt, ssize_t result)
{
	if (attempt->drain_ns == 0)
		log_error_limited("can't write the output of lossless job %" PRIu64 ": %s; the job waits", attempt->job,
			  strerror((int)-result));
	attempt->drain_ns = keeper->now_ns + AGAIN_NS;
}

void drain_some(struct keeper *keeper, struct attempt *attempt, int stream)
{
	for (int i = 0; i < AT_ONCE && drain_wants(keeper, attempt, stream); i++) {
		ssize_t moved = move(attempt, stream, PIECE);

		if (moved < 0)
			no_room(keeper, attempt, moved);
		if (moved <= 0)
			return;
	}
}

void drain_close(struct keeper *keeper, struct attempt *attempt)
{
	if (!has_pipes(attempt))
		return;
	space_close_pipes(keeper->spaces, attempt->space);
	keeper->piped--;
}

bool drain_end(struct keeper *keeper, struct attempt *attempt)
{
	if (!has_pipes(attempt))
		return true;
	if (attempt->drain_ns > keeper->now_ns)
		return false;
	for (int i = 0; i < 2; i++) {
		ssize_t moved;

		if (attempt->space->pipe_fds[i] < 0)
			continue;
		do
			moved = move(attempt, i, PIECE);
		while (moved > 0);
		if (moved < 0) {
			no_room(keeper, attempt, moved);
			return false;
		}
	}
	drain_close(keeper, attempt);
	return true;
}

void drain_room(struct attempt *attempt, const struct ipc_room *room)
{
	if (!has_pipes(attempt))
		return;
	for (int i = 0; i < 2; i++) {
		uint64_t synced = room->synced[i] < attempt->drained[i] ? room->synced[i] : attempt->drained[i];

		if (synced <= attempt->synced[i])
			continue;
		attempt->synced[i] = synced;
		room_punch(file_of(attempt, i), 0, synced);
	}
}

int64_t drain_due(const struct keeper *keeper)
{
	int64_t due_ns = TIME_NEVER;

	for (const struct attempt *attempt = keeper->piped > 0 ? keeper->first : NULL; attempt; attempt = attempt->next)
		if (attempt->drain_ns > keeper->now_ns && attempt->drain_ns < due_ns)
			due_ns = attempt->drain_ns;
	return due_ns;
}
