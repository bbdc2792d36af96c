/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages from the keeper, which build the link's table of attempts. A result is sent again on every new connection
 * until the master acknowledges it, and never before the output that belongs to it.
 */
#include "worker/link.h"

#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "proto/job_output.h"
#include "proto/limits.h"

/* Most attempts in HELLO itself, which must be small because the master doesn't know the peer yet. */
#define HELLO_HELD     50u
#define INVENTORY_HELD 4000u
#define ITEMS_MAX      500u

struct held *held_find(const struct link *link, uint64_t job, uint64_t epoch)
{
	struct held *held = map_get(&link->jobs, job);

	while (held && held->epoch != epoch)
		held = held->older;
	return held;
}

static struct held *held_new(struct link *link, uint64_t job, uint64_t epoch, uint64_t run)
{
	struct held *held = mem_zalloc(sizeof(*held));

	held->job = job;
	held->epoch = epoch;
	held->run = run;
	for (int i = 0; i < 2; i++)
		held->streams[i] = (struct stream){ .fd = -1, .watch = -1, .size = UINT64_MAX };
	held->older = map_get(&link->jobs, job);
	map_put(&link->jobs, job, held);
	held->next = link->first;
	if (link->first)
		link->first->prev = held;
	link->first = held;
	return held;
}

static struct held *held_get(struct link *link, uint64_t job, uint64_t epoch, uint64_t run)
{
	struct held *held = held_find(link, job, epoch);

	return held ? held : held_new(link, job, epoch, run);
}

void link_take(struct link *link, uint64_t job, uint64_t epoch, uint64_t run)
{
	struct held *held = held_find(link, job, epoch);

	if (held)
		return;
	held = held_new(link, job, epoch, run);
	held->phase = PHASE_QUEUED;
	if (link->numbers.queued == 0 && link->numbers.running < link->options->slots)
		held->taken_ns = clock_mono_ns();
}

static void measure_start(struct link *link, struct held *held)
{
	uint64_t took_us = (uint64_t)(clock_mono_ns() - held->taken_ns) / 1000;

	if (held->taken_ns == 0)
		return;
	link->start_us = link->start_us ? (link->start_us * 7 + took_us) / 8 : took_us;
	held->taken_ns = 0;
}

static void held_free(struct link *link, struct held *held)
{
	struct held *top = map_get(&link->jobs, held->job), **at = &top;

	ship_forget(link, held);
	while (*at != held)
		at = &(*at)->older;
	*at = held->older;
	if (top)
		map_put(&link->jobs, held->job, top);
	else
		map_remove(&link->jobs, held->job);
	*(held->prev ? &held->prev->next : &link->first) = held->next;
	if (held->next)
		held->next->prev = held->prev;
	buf_free(&held->outputs);
	mem_free(held);
}

void link_free_table(struct link *link)
{
	while (link->first)
		held_free(link, link->first);
	map_free(&link->jobs);
}

void held_forget_if_done(struct link *link, struct held *held)
{
	const struct ipc_attempt name = { held->job, held->epoch };

	if (!held->acked || !ship_synced(held))
		return;
	if (held->done.out_bytes > 0)
		ipc_put(&link->keeper, IPC_FILES_DONE, &name, sizeof(name));
	held_free(link, held);
}

/* Outputs may fill a frame, so each result that has some is a message of its own. What waits is sent before it. */
static void send_with_outputs(struct link *link, struct held *held)
{
	struct rec_attempt_outputs outputs = { held->job, held->epoch, buf_slice(&held->outputs) };
	struct msg_done msg = { .items = { &held->done, 1 }, .outputs = { &outputs, 1 } };

	link_send_items(link);
	conn_send(link->conn, OP_DONE, &msg);
}

void link_send_done(struct link *link, struct held *held)
{
	if (!link->welcome || held->phase != PHASE_ENDED || held->acked || held->done_sent || !ship_sent(held))
		return;
	held->done_sent = true;
	if (held->outputs.len > 0) {
		send_with_outputs(link, held);
		return;
	}
	buf_add(&link->done, &held->done, sizeof(held->done));
}

static void on_started(struct link *link, const struct ipc_started *started)
{
	struct held *held = held_get(link, started->job, started->epoch, started->run);

	measure_start(link, held);
	held->phase = PHASE_RUNNING;
	held->run = started->run;
	held->space = started->space;
	held->log_max = started->log_max;
	ship_known(link, held, started->synced);
	held->started = (struct rec_started){
		.job = started->job, .epoch = started->epoch, .wall_ms = started->wall_ms, .pid = started->pid,
	};
	if (link->welcome)
		buf_add(&link->started, &held->started, sizeof(held->started));
	ship_started(link, held);
}

static void set_stuck(struct link *link, struct held *held, bool stuck)
{
	if (!held || held->stuck == stuck)
		return;
	held->stuck = stuck;
	link->stuck_count += stuck ? 1 : -(size_t)1;
	link_beat(link);
}

static void on_exited(struct link *link, const struct ipc_exited *exited, const uint64_t synced[2], struct slice outputs)
{
	struct held *held = held_get(link, exited->done.job, exited->done.epoch, exited->run);

	held->phase = PHASE_ENDED;
	held->run = exited->run;
	held->space = exited->space;
	held->log_max = exited->log_max;
	held->done = exited->done;
	buf_clear(&held->outputs);
	job_outputs_read(outputs, outputs.len > OUTPUTS_FILE_MAX, &held->outputs);
	ship_known(link, held, synced);
	held->acked = exited->acked;
	callers_end(link, held->job, held->epoch);
	if (held->has_files)
		link_stage_drop(link, held->job, held->epoch);
	set_stuck(link, held, false);
	ship_exited(link, held, exited->sizes);
	link_send_done(link, held);
}

static void on_inventory(struct link *link, const struct ipc_inventory *item)
{
	if (item->job == 0)
		link->listed = true;
	else
		held_get(link, item->job, item->epoch, item->run)->phase = (enum attempt_phase)item->phase;
}

bool link_keeper_read(struct link *link)
{
	struct ipc_header header;
	struct slice body;
	int result = ipc_fill(&link->keeper);
	union {
		struct ipc_inventory inventory;
		struct ipc_started started;
		struct {
			struct ipc_exited exited;
			uint64_t synced[2];
		} end;
		struct ipc_numbers numbers;
		struct ipc_attempt attempt;
	} message;

	while (ipc_next(&link->keeper, &header, &body)) {
		size_t len = body.len < sizeof(message.end) || header.type != IPC_EXITED ? body.len : sizeof(message.end);

		CHECK(len <= sizeof(message));
		memset(&message, 0, sizeof(message));
		memcpy(&message, body.data, len);
		switch (header.type) {
		case IPC_INVENTORY:
			on_inventory(link, &message.inventory);
			break;
		case IPC_STARTED:
			on_started(link, &message.started);
			break;
		case IPC_EXITED:
			on_exited(link, &message.end.exited, message.end.synced, slice_make(body.data + len, body.len - len));
			break;
		case IPC_NUMBERS:
			link->numbers = message.numbers;
			break;
		case IPC_LEAVING:
			link_say_leaving(link);
			break;
		case IPC_ENDING:
			link_say_end(link);
			break;
		case IPC_PONG:
			link_keeper_answered(link);
			break;
		case IPC_STUCK:
			set_stuck(link, held_find(link, message.attempt.job, message.attempt.epoch), true);
			break;
		default:
			CHECK(!"the keeper sent a message that its link doesn't know");
		}
	}
	return result == 0;
}

/* Write the next attempts that the master must be told of to out, at most max; *at is moved past them. */
static size_t list_held(struct held **at, struct rec_held *out, size_t max)
{
	size_t count = 0;

	for (; *at && count < max; *at = (*at)->next)
		if (!(*at)->acked)
			out[count++] = (struct rec_held){ (*at)->job, (*at)->epoch, (*at)->phase };
	while (*at && (*at)->acked)
		*at = (*at)->next;
	return count;
}

/* Split a text at its commas. The words point into the text. */
static size_t list_words(const char *text, struct slice *words, size_t most)
{
	size_t count = 0;

	while (text && *text && count < most) {
		size_t len = strcspn(text, ",");

		if (len > 0)
			words[count++] = slice_make(text, len);
		text += len + (text[len] == ',');
	}
	return count;
}

void link_inventory(struct link *link)
{
	struct rec_held *items = mem_array(INVENTORY_HELD, sizeof(*items));
	struct held *at = link->first;
	struct msg_hello hello = {
		.version = PROTOCOL_BEFORE, .newest = PROTOCOL_VERSION, .kind = PEER_WORKER, .name = slice_str(link->options->name),
		.instance = slice_make(link->instance, sizeof(link->instance)), .slots = link->options->slots,
		.before = slice_make(link->before, link->before_len), .pid = link->keeper_pid, .contexts = LIMIT_WORKER_CONTEXTS,
		.machine = slice_str(link->machine), .uid = (uint64_t)link->options->job_uid + 1,
	};
	struct msg_inventory inventory = { 0 };
	struct slice labels[LIMIT_LABELS_MAX], offers[LIMIT_RESOURCES_MAX];

	hello.labels.at = labels;
	hello.labels.n = list_words(link->options->labels, labels, LIMIT_LABELS_MAX);
	hello.offers.at = offers;
	hello.offers.n = list_words(link->options->resources, offers, LIMIT_RESOURCES_MAX);
	hello.pool = slice_str(link->options->pool);
	hello.held.at = items;
	hello.held.n = list_held(&at, items, HELLO_HELD);
	hello.more = at != NULL;
	conn_send(link->conn, OP_HELLO, &hello);
	while (at) {
		inventory.held.at = items;
		inventory.held.n = list_held(&at, items, INVENTORY_HELD);
		inventory.more = at != NULL;
		conn_send(link->conn, OP_INVENTORY, &inventory);
	}
	mem_free(items);
}

void link_send_items(struct link *link)
{
	const size_t started_count = link->started.len / sizeof(struct rec_started);
	const size_t done_count = link->done.len / sizeof(struct rec_done);
	struct rec_started *started = (void *)link->started.data;
	struct rec_done *done = (void *)link->done.data;

	for (size_t at = 0; link->welcome && at < started_count; at += ITEMS_MAX) {
		struct msg_started msg = { .items = { started + at, started_count - at } };

		if (msg.items.n > ITEMS_MAX)
			msg.items.n = ITEMS_MAX;
		conn_send(link->conn, OP_STARTED, &msg);
	}
	for (size_t at = 0; link->welcome && at < done_count; at += ITEMS_MAX) {
		struct msg_done msg = { .items = { done + at, done_count - at } };

		if (msg.items.n > ITEMS_MAX)
			msg.items.n = ITEMS_MAX;
		conn_send(link->conn, OP_DONE, &msg);
	}
	buf_clear(&link->started);
	buf_clear(&link->done);
}
