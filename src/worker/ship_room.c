/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bounds what a running job's files take on disk, with or without a master: the keeper is told which bytes nobody will
 * read any more. That is what the master has on its disk, and of a job that writes more than is kept whatever is neither
 * its beginning nor the newest that may become its end. A file is looked at a moment after something was written to it,
 * so silence costs nothing.
 */
#include "worker/link.h"

#include <sys/stat.h>

#include "proto/limits.h"

#define STEP ((uint64_t)1048576)         /* less isn't worth a word */

void ship_known(struct link *link, struct held *held, const uint64_t synced[2])
{
	for (int number = 0; number < 2; number++) {
		struct stream *stream = &held->streams[number];

		if (synced[number] <= stream->sent)
			continue;
		link->in_flight -= stream->sent - stream->received;
		stream->sent = stream->received = stream->synced = stream->given = synced[number];
	}
}

/*
 * Where the beginning that is kept can reach in this stream at most: bytes of the other one that are on the master's disk
 * have their part of it for good. Others may yet be sent anew, and then this one's turn may come first.
 */
static uint64_t head_end(const struct held *held, int number)
{
	uint64_t head = ship_head(held), other = held->streams[!number].synced;

	return other < head ? head - other : 0;
}

void ship_give_back(struct link *link, struct held *held)
{
	struct ipc_room room = { .job = held->job, .epoch = held->epoch };
	uint64_t end = ship_max(held) - ship_head(held);
	bool worth = false;

	/* Its newest bytes are shown while it runs. */
	end = end < LIVE_TAIL_SIZE ? LIVE_TAIL_SIZE : end;
	for (int number = 0; number < 2; number++) {
		const struct stream *stream = &held->streams[number];
		uint64_t from = head_end(held, number), until = stream->seen > end ? stream->seen - end : 0;

		room.synced[number] = stream->synced;
		worth = worth || stream->synced - stream->given >= STEP;
		if (until <= from)
			continue;
		room.from[number] = from;
		room.until[number] = until;
		worth = worth || until >= (stream->cut > from ? stream->cut : from) + STEP;
	}
	if (!worth)
		return;
	ipc_put(&link->keeper, IPC_ROOM, &room, sizeof(room));
	for (int number = 0; number < 2; number++) {
		held->streams[number].given = room.synced[number];
		held->streams[number].cut = room.until[number];
	}
}

void ship_look(struct link *link, struct held *held)
{
	/* Of a lossless one the keeper takes no more than there is room for. */
	if (held->phase != PHASE_RUNNING || held->log_max == LOG_LOSSLESS)
		return;
	for (int number = 0; number < 2; number++) {
		struct stat info;

		ship_watch(link, held, number);
		if (ship_open_stream(link, held, number) && fstat(held->streams[number].fd, &info) == 0)
			held->streams[number].seen = (uint64_t)info.st_size;
	}
	ship_give_back(link, held);
}

void ship_look_soon(struct link *link, struct held *held)
{
	if (held->to_look)
		return;
	held->to_look = true;
	held->look_next = link->look_first;
	link->look_first = held;
}

void ship_look_never(struct link *link, struct held *held)
{
	struct held **at = &link->look_first;

	if (!held->to_look)
		return;
	while (*at != held)
		at = &(*at)->look_next;
	*at = held->look_next;
	held->to_look = false;
}

void ship_look_at_all(struct link *link)
{
	struct held *held;

	while ((held = link->look_first)) {
		link->look_first = held->look_next;
		held->to_look = false;
		ship_look(link, held);
	}
}
