/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Punches holes into the output files of running attempts for bytes that won't be read any more: those on the master's
 * disk, and the part of too much output that isn't kept. The link says which bytes these are; the keeper checks which
 * attempt has the file by now. On a file system without holes the file just grows.
 */
#include "worker/keeper.h"

#include <fcntl.h>
#include <unistd.h>

#define BLOCK UINT64_C(4096)

static int file_of(const struct attempt *attempt, int stream)
{
	return stream == 0 ? attempt->space->out_fd : attempt->space->err_fd;
}

void room_punch(int fd, uint64_t from, uint64_t until)
{
	uint64_t first = (from + BLOCK - 1) / BLOCK * BLOCK, end = until / BLOCK * BLOCK;

	if (first < end)
		(void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)first, (off_t)(end - first));
}

void room_claim(struct attempt *attempt)
{
	for (int i = 0; i < 2; i++) {
		off_t data = lseek(file_of(attempt, i), 0, SEEK_DATA);

		/* No data is left in the file, only a hole: everything before its end was given back. */
		if (data < 0)
			data = lseek(file_of(attempt, i), 0, SEEK_END);
		attempt->synced[i] = data > 0 ? (uint64_t)data : 0;
	}
}

void room_give_back(struct keeper *keeper, const struct ipc_room *room)
{
	struct ledger_entry *entry = ledger_find(keeper->ledger, room->job, room->epoch);
	struct attempt *attempt = entry ? entry->owner : NULL;

	/* The files of an ended attempt are released as a whole soon. */
	if (!attempt || !attempt->space || entry->phase != PHASE_RUNNING)
		return;
	if (attempt->log_max == LOG_LOSSLESS) {
		drain_room(attempt, room);
		return;
	}
	for (int i = 0; i < 2; i++) {
		if (room->synced[i] > attempt->synced[i]) {
			attempt->synced[i] = room->synced[i];
			room_punch(file_of(attempt, i), 0, room->synced[i]);
		}
		room_punch(file_of(attempt, i), room->from[i], room->until[i]);
	}
}
