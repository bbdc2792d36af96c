/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whatever happens, and whenever a subscriber reads, is cut or resumes: its snapshot and deltas together equal, byte
 * for byte, the rows of a fresh snapshot. Several subscribers and random acts; the master remembers many changes or
 * hardly any, and cuts late or early. VIEWS_SEED and VIEWS_ROUNDS set the seed and the number of rounds (1, 12).
 */
#include <poll.h>

#include "base/map.h"
#include "base/rand.h"
#include "proto/metrics.h"
#include "master_box.h"

#include "tests/greatest.h"

GREATEST_MAIN_DEFS();

#define SUBS    5
#define RUNS    3
#define JOBS    60
#define ACTS    150
#define SUB_ID  50
#define ASK_ID  51
#define WAIT_NS (20 * NS_PER_S)

struct view {
	struct map rows;                 /* from kind and number to struct buf: the row's bytes as they came */
	bool complete;
	bool back;                       /* the subscriber has reconnected and got no answer yet */
	uint64_t mark, older;            /* marks to resume with: the last one, and an earlier one */
};

struct subscriber {
	struct peer peer;
	struct view view;
};

/* How often each way of catching up was seen, in all rounds. */
static struct {
	uint64_t resumed, renewed, cut, resumes;
} seen;

static struct peer client, worker;
static struct rec_assign given[RUNS * JOBS * ACTS];
static size_t given_count, given_done;

static void view_put(struct view *view, uint64_t kind, uint64_t id, enum record_kind record, const void *row)
{
	struct buf *bytes = map_get(&view->rows, kind << 60 | id);

	if (!bytes) {
		bytes = mem_zalloc(sizeof(*bytes));
		map_put(&view->rows, kind << 60 | id, bytes);
	}
	buf_clear(bytes);
	record_encode(bytes, record, row);
}

/* A delta leaves out fields that never change, so take them from the known row. */
static void view_put_job(struct view *view, struct rec_job_row job)
{
	job.needs.n = 0;
	job.kind = 0;
	job.settings.n = 0;
	view_put(view, 2, job.job, REC_job_row, &job);
}

static void view_free(struct view *view)
{
	size_t cursor = 0;
	uint64_t id;
	void *bytes;

	while (map_next(&view->rows, &cursor, &id, &bytes)) {
		buf_free(bytes);
		mem_free(bytes);
	}
	map_free(&view->rows);
	*view = (struct view){ 0 };
}

static bool view_same(const struct view *left, const struct view *right)
{
	size_t cursor = 0;
	uint64_t id;
	void *bytes;

	if (left->rows.count != right->rows.count)
		return false;
	while (map_next(&left->rows, &cursor, &id, &bytes)) {
		const struct buf *other = map_get(&right->rows, id);

		if (!other || !slice_eq(buf_slice(bytes), buf_slice(other)))
			return false;
	}
	return true;
}

static bool subscribe(struct subscriber *subscriber, enum query_what what, uint64_t run)
{
	struct msg_subscribe msg = { .id = SUB_ID, .what = what, .run = run, .since = subscriber->view.mark };

	return peer_hello(&subscriber->peer) && peer_send(&subscriber->peer, OP_SUBSCRIBE, &msg);
}

#define PUT_ROWS(message)                                                                                         \
	do {                                                                                                      \
		for (size_t i = 0; i < (message)->runs.n; i++)                                                    \
			view_put(view, 1, (message)->runs.at[i].run, REC_run_row, &(message)->runs.at[i]);         \
		for (size_t i = 0; i < (message)->jobs.n; i++)                                                    \
			view_put_job(view, (message)->jobs.at[i]);                                                \
		for (size_t i = 0; i < (message)->workers.n; i++)                                                 \
			view_put(view, 3, (message)->workers.at[i].worker, REC_worker_row, &(message)->workers.at[i]); \
	} while (0)

static void view_told(struct view *view, uint64_t mark)
{
	view->back = false;
	if (mark == 0)
		return;
	view->older = view->mark;
	view->mark = mark;
}

/* Read the next frame that the subscriber is sent. */
static bool read_one(struct subscriber *subscriber)
{
	struct view *view = &subscriber->view;
	struct frame frame;
	union {
		struct msg_snapshot snapshot;
		struct msg_delta delta;
	} msg;

	if (!peer_frame(&subscriber->peer, &frame))
		return false;
	arena_reset(&subscriber->peer.arena);
	if (message_decode((enum opcode)frame.opcode, frame.body, &subscriber->peer.arena, &msg, NULL) != ERR_NONE)
		return false;
	if (frame.opcode == OP_SNAPSHOT && msg.snapshot.id == ASK_ID)
		return true;
	if (frame.opcode == OP_SNAPSHOT) {
		PUT_ROWS(&msg.snapshot);
		view->complete = msg.snapshot.cursor == 0;
		seen.renewed += view->back;
		view_told(view, msg.snapshot.resume);
	} else if (frame.opcode == OP_DELTA) {
		PUT_ROWS(&msg.delta);
		seen.resumed += view->back;
		seen.cut += msg.delta.cut;
		view_told(view, msg.delta.resume);
	}
	return frame.opcode == OP_SNAPSHOT || frame.opcode == OP_DELTA;
}

static bool readable(struct subscriber *subscriber, int wait_ms)
{
	struct pollfd fd = { .fd = subscriber->peer.fd, .events = POLLIN };

	return subscriber->peer.in.len > subscriber->peer.taken || poll(&fd, 1, wait_ms) == 1;
}

/* Let the worker take its assignments and end its oldest attempt. */
static bool work(void)
{
	struct pollfd fd = { .fd = worker.fd, .events = POLLIN };
	struct msg_assign assign;
	struct frame frame;

	while (worker.in.len > worker.taken || poll(&fd, 1, 1) == 1) {
		if (!peer_frame(&worker, &frame))
			return false;
		arena_reset(&worker.arena);
		if (frame.opcode != OP_ASSIGN)
			continue;
		if (message_decode(OP_ASSIGN, frame.body, &worker.arena, &assign, NULL) != ERR_NONE)
			return false;
		for (size_t i = 0; i < assign.items.n; i++)
			given[given_count++] = assign.items.at[i];
	}
	if (given_done == given_count)
		return true;
	given_done++;
	return peer_done(&worker, given[given_done - 1].job, given[given_done - 1].epoch, given_done % 7 == 0);
}

static bool act(struct rand_state *rand)
{
	struct msg_act msg = { .id = ++client.last_id, .run = 1 + rand_below(rand, RUNS) };
	char job[24];

	snprintf(job, sizeof(job), "job%llu", (unsigned long long)rand_below(rand, JOBS));
	msg.job = slice_str(job);
	switch (rand_below(rand, 6)) {
	case 0:
		msg.verb = ACT_PRIORITY;
		msg.value = rand_below(rand, 101);
		break;
	case 1:
		msg.verb = ACT_HOLD;
		break;
	case 2:
		msg.verb = ACT_RELEASE;
		break;
	case 3:
		return work();
	case 4:
		msg.verb = ACT_RETRY;
		break;
	default:
		msg.verb = ACT_CANCEL;
	}
	return peer_send(&client, OP_ACT, &msg);
}

/* Wait until the subscriber's rows equal a fresh snapshot; false: they don't within the time limit. */
static bool becomes_fresh(struct subscriber *subscriber, enum query_what what, uint64_t run)
{
	int64_t end_ns = clock_mono_ns() + WAIT_NS;
	bool same = false;

	while (!same && clock_mono_ns() < end_ns) {
		struct subscriber fresh = { 0 };

		while (readable(subscriber, 100))
			if (!read_one(subscriber))
				return false;
		if (!subscribe(&fresh, what, run))
			return false;
		while (!fresh.view.complete)
			if (!read_one(&fresh))
				return false;
		same = view_same(&subscriber->view, &fresh.view);
		view_free(&fresh.view);
		peer_close(&fresh.peer);
	}
	return same;
}

/* Send a query whose answer stands in the connection's queue before other frames. */
static bool ask(struct subscriber *subscriber)
{
	struct msg_query msg = { .id = ASK_ID, .what = QUERY_JOBS, .run = 1 };

	return peer_send(&subscriber->peer, OP_QUERY, &msg);
}

/* Reconnect and resume; unread frames of the old connection are lost. With older set, use an earlier mark. */
static bool come_back(struct subscriber *subscriber, enum query_what what, uint64_t run, bool older)
{
	peer_close(&subscriber->peer);
	if (older && subscriber->view.older != 0)
		subscriber->view.mark = subscriber->view.older;
	subscriber->view.back = subscriber->view.mark != 0;
	return subscribe(subscriber, what, run);
}

static bool count_resumes(void)
{
	struct msg_snapshot metrics;

	if (!peer_hello(&client) || !peer_query(&client, QUERY_METRICS, 0, "", 0, 0, &metrics))
		return false;
	for (size_t i = 0; i < metrics.metrics.n; i++)
		if (metrics.metrics.at[i].metric == METRIC_SUBSCRIBERS_RESUMED)
			seen.resumes += metrics.metrics.at[i].value;
	return true;
}

static bool submit(uint64_t number)
{
	char key[17];

	snprintf(key, sizeof(key), "key-key-key-k%03llu", (unsigned long long)number);
	return peer_submit(&client, key, "viewed", JOBS, number % 2);
}

static bool round_of(uint64_t seed)
{
	static const struct {
		enum query_what what;
		uint64_t run;
	} what[SUBS] = { { QUERY_RUNS, 0 }, { QUERY_JOBS, 1 }, { QUERY_JOBS, 2 }, { QUERY_RUNS, 0 }, { QUERY_RUNS, 3 } };
	struct subscriber subs[SUBS] = { 0 };
	struct rand_state rand;
	bool good = true;

	rand_seed(&rand, seed);
	box_recent = (const size_t[]){ 0, 1, 40 }[seed % 3];
	box_sub_queue = seed % 4 < 2 ? 0 : 1000;
	given_count = given_done = 0;
	good = box_start() && peer_hello(&client) && peer_worker(&worker, "w1", 4, NULL, 0);
	for (uint64_t i = 1; good && i <= RUNS; i++)
		good = submit(i);
	/* Some subscribers join later, in the middle of the acts. */
	for (size_t i = 0; good && i < ACTS; i++) {
		if (i % (ACTS / SUBS) == 10)
			good = subscribe(&subs[i * SUBS / ACTS], what[i * SUBS / ACTS].what, what[i * SUBS / ACTS].run);
		good = good && act(&rand);
		/* Each subscriber reads at random times. */
		for (size_t at = 0; good && at < SUBS; at++)
			while (good && subs[at].peer.fd > 0 && rand_below(&rand, 3) == 0 && readable(&subs[at], 1))
				good = read_one(&subs[at]);
		for (size_t at = 0; good && at < SUBS; at++)
			if (subs[at].peer.fd > 0 && rand_below(&rand, 12) == 0)
				good = come_back(&subs[at], what[at].what, what[at].run, rand_below(&rand, 4) == 0);
			else if (subs[at].peer.fd > 0 && rand_below(&rand, 6) == 0)
				good = ask(&subs[at]);
	}
	/* From here on nothing changes, so no later delta can repair a missed one. */
	for (size_t i = 0; good && i < SUBS; i++)
		if (rand_below(&rand, 2) == 0)
			good = come_back(&subs[i], what[i].what, what[i].run, false);
	for (size_t i = 0; good && i < SUBS; i++) {
		good = becomes_fresh(&subs[i], what[i].what, what[i].run);
		if (!good)
			printf("# seed %llu: subscriber %zu has another picture than a fresh one\n",
			       (unsigned long long)seed, i);
	}
	peer_close(&client);
	good = good && count_resumes();
	for (size_t i = 0; i < SUBS; i++) {
		view_free(&subs[i].view);
		peer_close(&subs[i].peer);
	}
	peer_close(&client);
	peer_close(&worker);
	return good;
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 10) : otherwise;
}

TEST any_picture_is_a_fresh_one(void)
{
	uint64_t seed = from_environment("VIEWS_SEED", 1), rounds = from_environment("VIEWS_ROUNDS", 12);

	for (uint64_t i = 0; i < rounds; i++) {
		ASSERT(round_of(seed + i));
		box_teardown_cb(NULL);
		box_setup_cb(NULL);
	}
	printf("# came back: %llu were told what they had missed, %llu all; %llu cut for good, %llu resumes in all\n",
	       (unsigned long long)seen.resumed, (unsigned long long)seen.renewed, (unsigned long long)seen.cut,
	       (unsigned long long)seen.resumes);
	ASSERT(rounds < 12 || (seen.resumed > 0 && seen.renewed > 0 && seen.cut > 0));
	PASS();
}

SUITE(master_views)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(any_picture_is_a_fresh_one);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_views);
	GREATEST_MAIN_END();
}
