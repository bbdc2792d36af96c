/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sends output to the master, by offset, from the files that jobs write. ship_watch.c decides when a growing file is
 * read. At most a window of bytes is on its way. Files are never changed here; ship_room.c decides what may be given
 * back. If a job writes more than is kept, the beginning is sent as it comes and the end after the job has ended; the
 * part in between is never sent, and the master counts it. All output of a lossless job is sent.
 */
#include "worker/link.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/log.h"
#include "proto/limits.h"

#define BATCH_BYTES  ((size_t)512 * 1024)
#define BATCH_ITEMS  500u

struct batch {
	struct rec_output items[BATCH_ITEMS];
	struct rec_log_bound bounds[BATCH_ITEMS];
	size_t count, bytes, bound_count;
};

static void send_batch(struct link *link, struct batch *batch)
{
	struct msg_output msg = { .items = { batch->items, batch->count }, .bounds = { batch->bounds, batch->bound_count } };

	if (batch->count > 0)
		conn_send(link->conn, OP_OUTPUT, &msg);
	batch->count = batch->bound_count = 0;
	batch->bytes = 0;
	arena_reset(&link->arena);
}

void ship_enqueue(struct link *link, struct held *held)
{
	if (held->shipping)
		return;
	held->shipping = true;
	held->ship_next = NULL;
	*(link->ship_last ? &link->ship_last->ship_next : &link->ship_first) = held;
	link->ship_last = held;
}

static struct held *dequeue(struct link *link)
{
	struct held *held = link->ship_first;

	link->ship_first = held->ship_next;
	if (!link->ship_first)
		link->ship_last = NULL;
	held->shipping = false;
	return held;
}

uint64_t ship_max(const struct held *held)
{
	return held->log_max ? held->log_max : LIMIT_LOG_JOB_MAX;
}

uint64_t ship_head(const struct held *held)
{
	if (held->log_max == LOG_LOSSLESS)
		return UINT64_MAX;
	return held->log_max ? held->log_max / 4 * 3 : LIMIT_LOG_JOB_HEAD;
}

/* Number of further bytes of the kept beginning that may be sent; for an ended job whose output fits, of all output. */
static uint64_t room_of(const struct held *held)
{
	const struct stream *out = &held->streams[0], *err = &held->streams[1];
	uint64_t sent = out->sent - out->left_out + err->sent - err->left_out, limit = ship_head(held);
	uint64_t max = ship_max(held);

	if (held->phase == PHASE_ENDED && out->size <= max && err->size <= max - out->size)
		limit = max;
	return sent < limit ? limit - sent : 0;
}

/*
 * Find where the kept end of each stream begins. The streams share the limit in halves; what one doesn't need, the
 * other gets.
 */
static void find_tails(struct held *held)
{
	const uint64_t half = (ship_max(held) - ship_head(held)) / 2;
	uint64_t left[2];

	for (int number = 0; number < 2; number++)
		left[number] = held->streams[number].size - held->streams[number].sent;
	for (int number = 0; number < 2; number++) {
		uint64_t other = left[!number] < half ? left[!number] : half, share = 2 * half - other;

		held->streams[number].tail = held->streams[number].size - (left[number] < share ? left[number] : share);
	}
}

/*
 * Continue from the kept beginning to the kept end. Bytes on their way have to arrive first, because otherwise the
 * skipped part would count as being on its way. False: not yet.
 */
static bool skip_to_tail(struct held *held, struct stream *stream)
{
	if (held->phase != PHASE_ENDED)
		return false;
	if (stream->tail == 0)
		find_tails(held);
	if (stream->sent >= stream->tail)
		return true;
	if (stream->received < stream->sent)
		return false;
	stream->left_out += stream->tail - stream->sent;
	stream->sent = stream->received = stream->tail;
	return true;
}

bool ship_sent(const struct held *held)
{
	return held->phase == PHASE_ENDED && held->streams[0].sent >= held->streams[0].size &&
	       held->streams[1].sent >= held->streams[1].size;
}

bool ship_synced(const struct held *held)
{
	return ship_sent(held) && held->streams[0].synced >= held->streams[0].sent &&
	       held->streams[1].synced >= held->streams[1].sent;
}

/* Give up a file that can't be read any more: treat what was sent as the whole output. */
static void give_up(struct held *held, int number)
{
	log_warn_limited("can't read the output of job %" PRIu64 ": %s", held->job, strerror(errno));
	held->streams[number].size = held->streams[number].sent;
}

/* Send one piece of a stream. True: there may be more to send. */
static bool ship_piece(struct link *link, struct held *held, int number, struct batch *batch)
{
	struct stream *stream = &held->streams[number];
	uint64_t window = LIMIT_OUTPUT_WINDOW - link->in_flight, size = LIMIT_OUTPUT_CHUNK, room = room_of(held);
	uint8_t *data;
	ssize_t got;

	if (stream->sent >= stream->size)
		return false;
	if (room == 0) {
		if (!skip_to_tail(held, stream))
			return false;
		room = stream->size - stream->sent;
	}
	if (!ship_open_stream(link, held, number)) {
		give_up(held, number);
		return false;
	}
	if (stream->sent >= stream->size)
		return false;
	size = room < size ? room : size;
	size = window < size ? window : size;
	size = stream->size - stream->sent < size ? stream->size - stream->sent : size;
	data = arena_alloc(&link->arena, size);
	got = pread(stream->fd, data, size, (off_t)stream->sent);
	if (got < 0 || (got == 0 && held->phase == PHASE_ENDED))
		give_up(held, number);
	if (got <= 0)
		return false;
	batch->items[batch->count++] = (struct rec_output){
		.job = held->job, .epoch = held->epoch, .run = held->run, .stream = (uint64_t)number + 1,
		.offset = stream->sent, .wall_ms = clock_wall_ms(), .data = slice_make(data, (size_t)got),
	};
	if (held->log_max && (batch->bound_count == 0 || batch->bounds[batch->bound_count - 1].job != held->job ||
			      batch->bounds[batch->bound_count - 1].epoch != held->epoch))
		batch->bounds[batch->bound_count++] = (struct rec_log_bound){ held->job, held->epoch, held->log_max };
	batch->bytes += (size_t)got;
	stream->sent += (uint64_t)got;
	link->in_flight += (uint64_t)got;
	if (batch->count == BATCH_ITEMS || batch->bytes >= BATCH_BYTES)
		send_batch(link, batch);
	return stream->sent < stream->size && (uint64_t)got == size;
}

static bool window_open(const struct link *link)
{
	return link->in_flight < LIMIT_OUTPUT_WINDOW;
}

/* Send a piece of each stream of the attempt. True: there may be more. */
static bool ship_some(struct link *link, struct held *held, struct batch *batch)
{
	bool more = false;

	for (int number = 0; number < 2; number++) {
		if (!window_open(link))
			return true;
		if (held->phase == PHASE_RUNNING && room_of(held) > 0)
			ship_watch(link, held, number);
		else if (held->phase == PHASE_RUNNING && !held->over)
			ship_begin_live_tail(link, held);
		more |= ship_piece(link, held, number, batch);
	}
	return more;
}

/*
 * An earlier link may have sent everything, so that no credit will come: check now whether the attempt can be
 * forgotten.
 */
static void ship_done(struct link *link, struct held *held)
{
	link_send_done(link, held);
	held_forget_if_done(link, held);
}

void ship_pump(struct link *link)
{
	bool patient = ev_is_active(&link->coalesce);
	struct held *last_seen = NULL;
	struct batch batch;

	if (!link->welcome || !link->ship_first)
		return;
	batch.count = batch.bound_count = 0;
	batch.bytes = 0;
	arena_reset(&link->arena);
	while (link->ship_first && window_open(link)) {
		struct held *held = dequeue(link);

		if (patient && held->phase == PHASE_RUNNING) {
			ship_enqueue(link, held);
			/* The whole queue was gone through once, and all attempts left in it can wait a little. */
			if (held == last_seen)
				break;
			last_seen = last_seen ? last_seen : held;
			continue;
		}
		last_seen = NULL;
		if (ship_some(link, held, &batch))
			ship_enqueue(link, held);
		else
			ship_done(link, held);
	}
	send_batch(link, &batch);
}

/* ---- ended attempts, credit, connections ---- */

void ship_exited(struct link *link, struct held *held, const uint64_t sizes[2])
{
	ship_not_young(link, held);
	for (int number = 0; number < 2; number++) {
		ship_unwatch(link, &held->streams[number]);
		held->streams[number].size = sizes[number];
	}
	if (!ship_sent(held))
		ship_enqueue(link, held);
}

/* Tell the keeper of a lossless job how much the master has on disk: the keeper gives that back and drains more. */
static void tell_room(struct link *link, const struct held *held)
{
	const struct ipc_room room = {
		.job = held->job, .epoch = held->epoch, .synced = { held->streams[0].synced, held->streams[1].synced },
	};

	ipc_put(&link->keeper, IPC_ROOM, &room, sizeof(room));
}

void ship_again(struct link *link, const struct rec_credit *credit)
{
	struct held *held = held_find(link, credit->job, credit->epoch);
	struct stream *stream;
	uint64_t offset;

	if (!held || credit->stream < 1 || credit->stream > 2)
		return;
	stream = &held->streams[credit->stream - 1];
	/* Never go back before what is synced: a master that asks for that has only forgotten its position. */
	offset = credit->offset > stream->synced ? credit->offset : stream->synced;
	if (offset >= stream->sent)
		return;
	link->in_flight -= stream->sent - stream->received;
	stream->sent = stream->received = offset;
	ship_enqueue(link, held);
}

void ship_credit(struct link *link, const struct rec_credit *credit)
{
	struct held *held = held_find(link, credit->job, credit->epoch);
	struct stream *stream;

	if (!held || credit->stream < 1 || credit->stream > 2)
		return;
	stream = &held->streams[credit->stream - 1];
	if (credit->offset > stream->received) {
		link->in_flight -= stream->sent - stream->received;
		stream->received = credit->offset;
		/* An earlier link may have sent more than this one has. */
		if (stream->sent < stream->received)
			stream->sent = stream->received;
		link->in_flight += stream->sent - stream->received;
	}
	if (credit->synced && credit->offset > stream->synced) {
		stream->synced = credit->offset;
		if (held->log_max == LOG_LOSSLESS && held->phase == PHASE_RUNNING)
			tell_room(link, held);
		else if (held->phase == PHASE_RUNNING)
			ship_give_back(link, held);
	}
	/* The kept end of the output is sent only after these bytes have arrived. */
	if (held->phase == PHASE_ENDED && !ship_sent(held))
		ship_enqueue(link, held);
	link_send_done(link, held);
	held_forget_if_done(link, held);
}

void ship_reset(struct link *link)
{
	link->in_flight = 0;
	for (struct held *held = link->first; held; held = held->next) {
		for (int number = 0; number < 2; number++) {
			struct stream *stream = &held->streams[number];

			stream->sent = stream->received = stream->synced;
			if (stream->sent < stream->tail)
				stream->left_out = 0;
		}
		if ((held->phase == PHASE_RUNNING && !held->young) || (held->phase == PHASE_ENDED && !ship_sent(held)))
			ship_enqueue(link, held);
	}
}

void ship_forget(struct link *link, struct held *held)
{
	struct held *queue = link->ship_first, *next;

	ship_not_young(link, held);
	ship_look_never(link, held);
	if (held->shipping) {
		link->ship_first = link->ship_last = NULL;
		for (; queue; queue = next) {
			next = queue->ship_next;
			queue->shipping = false;
			if (queue != held)
				ship_enqueue(link, queue);
		}
	}
	for (int number = 0; number < 2; number++) {
		struct stream *stream = &held->streams[number];

		link->in_flight -= stream->sent - stream->received;
		ship_unwatch(link, stream);
		if (stream->fd >= 0)
			close(stream->fd);
		stream->fd = -1;
	}
}
