/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows as large as specifications allow: every answer fits into a frame, and the master survives. */
#include "master_box.h"
#include "proto/expr.h"

#include "tests/greatest.h"

#define FAT 100000

static char fat[LIMIT_FRAME_MAX];

static bool upload_begin(struct peer *peer, const char *key, uint64_t count)
{
	struct msg_graph_begin begin = { .id = 1, .key = slice_str(key), .name = slice_str("fat"), .count = count };

	return peer_send(peer, OP_GRAPH_BEGIN, &begin);
}

static bool upload_job(struct peer *peer, const struct rec_job_spec *spec)
{
	struct msg_graph_chunk chunk = { .id = 1, .count = 1 };
	struct buf bytes = { 0 };
	bool sent;

	record_encode(&bytes, REC_job_spec, spec);
	chunk.jobs = buf_slice(&bytes);
	sent = peer_send(peer, OP_GRAPH_CHUNK, &chunk);
	buf_free(&bytes);
	return sent;
}

static bool upload_end(struct peer *peer)
{
	struct msg_graph_commit commit = { .id = 1 };
	struct msg_accepted accepted;

	return peer_send(peer, OP_GRAPH_COMMIT, &commit) && peer_expect(peer, OP_ACCEPTED, &accepted);
}

TEST what_loops_wait_for_may_be_long(void)
{
	struct buf code = { 0 };
	struct msg_snapshot answer;
	struct peer peer;
	uint64_t cursor = 0, jobs = 0;

	expr_put(&code, (struct expr_step){ EXPR_CODE, 0, EXPR_EQ, 3 });
	ASSERT(box_start());
	ASSERT(peer_hello(&peer));
	ASSERT(upload_begin(&peer, "key-key-key-key1", 20));
	for (unsigned i = 0; i < 20; i++) {
		char name[16];
		struct rec_job_spec spec = {
			.script = slice_str("true"), .loop_max = 3, .loop_code = buf_slice(&code),
			.loop_until = slice_make(fat, FAT),
		};

		snprintf(name, sizeof(name), "job%u", i);
		spec.name = slice_str(name);
		ASSERT(upload_job(&peer, &spec));
	}
	ASSERT(upload_end(&peer));
	do {
		ASSERT(peer_query(&peer, QUERY_JOBS, 1, "", cursor, 0, &answer));
		jobs += answer.jobs.n;
		cursor = answer.cursor;
	} while (cursor != 0);
	ASSERT_EQ_FMT(20ull, (unsigned long long)jobs, "%llu");
	buf_free(&code);
	peer_close(&peer);
	PASS();
}

/* A gate shows the beginning of each long command behind it. */
TEST what_a_gate_leads_to_may_be_long(void)
{
	const uint64_t gate = 0;
	struct msg_snapshot answer;
	struct rec_job_spec spec = { .name = slice_str("gate"), .gate_count = 1 };
	struct peer peer;

	ASSERT(box_start());
	ASSERT(peer_hello(&peer));
	ASSERT(upload_begin(&peer, "key-key-key-key1", 17));
	ASSERT(upload_job(&peer, &spec));
	for (unsigned i = 0; i < 16; i++) {
		char name[16];
		struct rec_job_spec next = { .script = slice_make(fat, FAT) };

		snprintf(name, sizeof(name), "job%u", i);
		next.name = slice_str(name);
		next.needs.at = (uint64_t *)(uintptr_t)&gate;
		next.needs.n = 1;
		ASSERT(upload_job(&peer, &next));
	}
	ASSERT(upload_end(&peer));
	ASSERT(peer_query(&peer, QUERY_GATES, 0, "", 0, 0, &answer));
	ASSERT_EQ(1, answer.jobs.n);
	ASSERT_EQ(16, answer.jobs.at[0].will.n);
	ASSERT(slice_eq(answer.jobs.at[0].will.at[15], slice_make(fat, 4096)));
	ASSERT(peer_query(&peer, QUERY_JOB, 1, "gate", 0, 0, &answer));
	ASSERT_EQ(1, answer.jobs.n);
	peer_close(&peer);
	PASS();
}

/* A cron expression that wouldn't fit into a row is refused. */
TEST a_schedule_has_a_short_cron(void)
{
	struct rec_job_spec job = { .name = slice_str("a"), .script = slice_str("true") };
	struct rec_schedule_spec spec = { .cron = slice_make(fat, LIMIT_FRAME_MAX - 200) };
	struct msg_submit submit = {
		.id = 1, .key = slice_str("key-key-key-key1"), .name = slice_str("nightly"), .count = 1,
		.schedule = { .at = &spec, .n = 1 },
	};
	struct buf bytes = { 0 };
	struct msg_snapshot answer;
	struct peer peer;

	memset(fat, ' ', sizeof(fat));
	memcpy(fat, "0 0 * * *", 9);
	record_encode(&bytes, REC_job_spec, &job);
	submit.jobs = buf_slice(&bytes);
	ASSERT(box_start());
	ASSERT(peer_hello(&peer));
	ASSERT(peer_send(&peer, OP_SUBMIT, &submit));
	ASSERT_EQ(ERR_TOO_LARGE, peer_error(&peer));
	ASSERT(peer_query(&peer, QUERY_SCHEDULES, 0, "", 0, 0, &answer));
	ASSERT_EQ(0, answer.schedules.n);
	buf_free(&bytes);
	peer_close(&peer);
	PASS();
}

/* A name over the limit is refused also for a run in the store; once its beginning was taken for the name. */
TEST a_name_that_is_too_long_names_nobody(void)
{
	struct rec_job_spec job = { .name = slice_make(fat, LIMIT_NAME_MAX_LEN), .script = slice_str("true") };
	struct msg_act act = { .id = 9, .verb = ACT_RETRY, .run = 1, .job = slice_make(fat, LIMIT_NAME_MAX_LEN + 1) };
	struct msg_snapshot answer;
	struct peer peer, worker;
	struct msg_ok ok;

	memset(fat, 'x', sizeof(fat));
	ASSERT(box_start());
	ASSERT(peer_hello(&peer));
	ASSERT(peer_worker(&worker, "w1", 1, NULL, 0));
	ASSERT(upload_begin(&peer, "key-key-key-key1", 1));
	ASSERT(upload_job(&peer, &job));
	ASSERT(upload_end(&peer));
	ASSERT(worker_serve(&worker, 1));
	do {
		ASSERT(peer_query(&peer, QUERY_RUNS, 0, "", 0, 0, &answer));
	} while (answer.runs.at[0].ended_ms == 0);
	for (unsigned i = 1; i <= 4; i++) {
		act.job.len = LIMIT_NAME_MAX_LEN + i;
		ASSERT(peer_send(&peer, OP_ACT, &act));
		ASSERT_EQ(i < 4 ? ERR_NOT_FOUND : ERR_TOO_LARGE, peer_error(&peer));
	}
	act.job.len = LIMIT_NAME_MAX_LEN;
	ASSERT(peer_send(&peer, OP_ACT, &act));
	ASSERT(peer_expect(&peer, OP_OK, &ok));
	peer_close(&peer);
	peer_close(&worker);
	PASS();
}

SUITE(fat_rows)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	memset(fat, 'x', sizeof(fat));
	RUN_TEST(what_loops_wait_for_may_be_long);
	RUN_TEST(what_a_gate_leads_to_may_be_long);
	RUN_TEST(a_name_that_is_too_long_names_nobody);
	RUN_TEST(a_schedule_has_a_short_cron);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(fat_rows);
	GREATEST_MAIN_END();
}
