/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Limits the disk space of a running job's output files, with or without a master, by telling the keeper which bytes
 * won't be read any more: those on the master's disk; and if a job writes more than is kept, those that belong neither
 * to the kept beginning nor to the newest part, which may become the kept end. A file is checked shortly after a write,
 * so a silent job costs nothing.
 */
#include "worker/link.h"

#include <sys/stat.h>

#include "proto/limits.h"

#define STEP ((uint64_t)1048576)         /* least number of bytes worth a message to the keeper */

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
 * How far the kept beginning can reach in this stream at most. Both streams share it: synced bytes of the other stream
 * have their share for good; its unsynced bytes may have to be sent again, after this stream's.
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

	/* Keep the newest bytes readable, because they are shown while the job runs. */
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
	/* For a lossless job the keeper itself limits the files. */
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
