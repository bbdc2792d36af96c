/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers in rows at their limits: the last valid one is loaded, the next is refused. */
#include "tests/unit/core_rig.h"

#define SANE_MAX (INT64_MAX / 2)

enum { LOADS, DISTRUSTED };

static int load(struct rig *rig)
{
	struct outbox out = { 0 };
	struct error error = { 0 };
	struct core *core = rig_load(rig, rig->now, &out, &error);
	int verdict = core ? LOADS : error.code == ERR_STORE_TRUST ? DISTRUSTED : -1;

	core_free(core);
	outbox_free(&out);
	return verdict;
}

/* Make two workers and two runs: a has succeeded, d runs, e is being stopped. */
static struct rig *rig_with_rows(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w1", 4);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	graph_job(&graph, "d", "");
	graph_job(&graph, "e", "");
	run = rig_submit(rig, &graph);
	for (struct rig_attempt attempt; rig_take(rig, &attempt);)
		rig_started(rig, attempt);
	rig_cancel(rig, run, "e");
	rig_hello(rig, "w2", 1);
	return rig;
}

static struct row_job *row_of(struct rig *rig, enum job_state state)
{
	for (size_t i = 0; i < rig->tables[TABLE_job].count; i++)
		if (rig->tables[TABLE_job].at[i].row.job.state == (int64_t)state)
			return &rig->tables[TABLE_job].at[i].row.job;
	CHECK(!"a job in that state");
	return NULL;
}

static struct row_meta *meta(struct rig *rig, const char *name)
{
	for (size_t i = 0; i < rig->tables[TABLE_meta].count; i++)
		if (slice_eq(rig->tables[TABLE_meta].at[i].row.meta.name, slice_str(name)))
			return &rig->tables[TABLE_meta].at[i].row.meta;
	CHECK(!"a counter of that name");
	return NULL;
}

/* Load the rows with this value in the field. */
static int with(struct rig *rig, int64_t *field, int64_t value)
{
	const int64_t was = *field;
	int verdict;

	*field = value;
	verdict = load(rig);
	*field = was;
	return verdict;
}

#define GOOD(field, value) ASSERT_EQ_FMT(LOADS, with(rig, &(field), (value)), "%d")
#define BAD(field, value) ASSERT_EQ_FMT(DISTRUSTED, with(rig, &(field), (value)), "%d")
#define EDGES(field, low, high) do { GOOD(field, low); GOOD(field, high); BAD(field, (int64_t)(low) - 1); BAD(field, (int64_t)(high) + 1); } while (0)

TEST job_rows_are_checked_at_their_edges(void)
{
	struct rig *rig = rig_with_rows();
	struct row_job *ended = row_of(rig, STATE_SUCCEEDED), *runs = row_of(rig, STATE_RUNNING);

	EDGES(ended->code, 0, UINT32_MAX);
	EDGES(ended->rss_kib, 0, UINT32_MAX);
	GOOD(ended->cpu_us, 0);
	BAD(ended->cpu_us, -1);
	GOOD(ended->out_bytes, 0);
	BAD(ended->out_bytes, -1);
	EDGES(ended->due_ms, 0, SANE_MAX);
	EDGES(ended->started_ms, 0, SANE_MAX);
	EDGES(ended->ended_ms, 0, SANE_MAX);
	EDGES(ended->round, 0, UINT16_MAX);
	EDGES(ended->outcome, 0, OUTCOME_COUNT - 1);
	EDGES(ended->stop_cause, 0, EVENT_OVER - 1);
	BAD(ended->stop_cause, EVENT_OVER);      /* which only services have */
	BAD(ended->stop_cause, EVENT_COUNT);
	EDGES(ended->priority, 0, 100);
	BAD(ended->flags, -1);
	BAD(ended->flags, INT32_MAX);
	BAD(ended->state, -1);
	BAD(ended->state, STATE_COUNT);
	EDGES(runs->tries, 1, UINT16_MAX);
	BAD(ended->crashes, -1);
	ended->tries = UINT16_MAX;
	EDGES(ended->crashes, 0, UINT8_MAX);
	ended->tries = 1;
	GOOD(ended->crashes, 1);
	BAD(ended->crashes, 2);
	GOOD(ended->crashes, 0);
	BAD(ended->interrupted, -1);
	ended->tries = UINT16_MAX;
	EDGES(ended->interrupted, 0, LIMIT_INTERRUPTED_MAX);
	ended->tries = 1;
	GOOD(ended->interrupted, 1);
	BAD(ended->interrupted, 2);
	BAD(ended->epoch, -1);
	GOOD(ended->epoch, 0);
	BAD(runs->epoch, 0);
	GOOD(ended->epoch, INT64_C(1) << 32);
	BAD(ended->epoch, INT64_C(2) << 32);
	rig_free(rig);
	PASS();
}

TEST names_in_job_rows_must_exist(void)
{
	struct rig *rig = rig_with_rows();
	struct row_job *ended = row_of(rig, STATE_SUCCEEDED), *runs = row_of(rig, STATE_RUNNING);
	struct row_job *stops = row_of(rig, STATE_STOPPING);

	BAD(ended->worker, -1);
	BAD(ended->worker, 3);
	GOOD(ended->worker, 0);
	GOOD(ended->worker, 2);
	BAD(runs->worker, 0);
	BAD(runs->worker, 3);
	BAD(ended->cause, -1);
	BAD(ended->cause, 100);
	BAD(ended->cause, stops->job + 1);
	GOOD(ended->cause, ended->job + 2);
	GOOD(stops->stop_cause, EVENT_RUN_TIMEOUT);
	GOOD(stops->stop_cause, EVENT_DEADLINE);
	BAD(stops->stop_cause, EVENT_LOST);
	BAD(stops->stop_cause, 0);
	BAD(ended->run, stops->run);
	BAD(ended->job, 100);
	BAD(ended->job, runs->job);
	rig_free(rig);
	PASS();
}

TEST worker_rows_are_checked_at_their_edges(void)
{
	struct rig *rig = rig_with_rows();
	struct row_worker *first = &rig->tables[TABLE_worker].at[0].row.worker, *second = first;

	for (size_t i = 0; i < rig->tables[TABLE_worker].count; i++)
		if (rig->tables[TABLE_worker].at[i].row.worker.worker == 2)
			second = &rig->tables[TABLE_worker].at[i].row.worker;
	EDGES(second->slots, 1, LIMIT_SLOTS_MAX);
	BAD(first->worker, 0);
	BAD(second->worker, 1);
	BAD(second->worker, 3);
	meta(rig, "next_worker")->value = SANE_MAX;
	GOOD(second->worker, 3);
	GOOD(second->worker, UINT32_MAX);
	BAD(second->worker, INT64_C(1) + UINT32_MAX);
	second->instance = slice_str("0123456789abcdef");
	ASSERT_EQ(LOADS, load(rig));
	second->instance = slice_str("0123456789abcdef0");
	ASSERT_EQ(DISTRUSTED, load(rig));
	second->instance = slice_str("");
	ASSERT_EQ(LOADS, load(rig));
	second->name = slice_str("w1");
	ASSERT_EQ(DISTRUSTED, load(rig));
	second->name = slice_str("w 2");
	ASSERT_EQ(DISTRUSTED, load(rig));
	rig_free(rig);
	PASS();
}

TEST run_rows_are_checked_at_their_edges(void)
{
	struct rig *rig = rig_with_rows();
	struct row_run *first = &rig->tables[TABLE_run].at[0].row.run, *last = &rig->tables[TABLE_run].at[1].row.run;

	EDGES(last->max_jobs, 0, UINT32_MAX);
	BAD(first->run, 0);
	BAD(last->run, 1);
	BAD(last->run, 3);
	BAD(last->jobs, 0);
	BAD(last->jobs, 1);
	BAD(last->jobs, LIMIT_RUN_JOBS_MAX + 1);
	BAD(last->first, 0);
	BAD(last->first, 1);
	BAD(last->first, 1000);
	rig_free(rig);
	PASS();
}

TEST specification_rows_are_checked_at_their_edges(void)
{
	struct rig *rig = rig_with_rows();
	struct row_spec *spec = &rig->tables[TABLE_spec].at[0].row.spec;
	const int64_t first = rig->tables[TABLE_run].at[0].row.run.first;

	BAD(spec->part, 1);
	BAD(spec->part, -1);
	BAD(spec->count, -1);
	BAD(spec->count, 0);
	BAD(spec->count, 1);
	BAD(spec->count, 3);
	GOOD(spec->first, 0);
	GOOD(spec->first, first);
	BAD(spec->first, first + 1);
	BAD(spec->first, -1);
	rig_free(rig);
	PASS();
}

TEST counters_are_checked_at_their_edges(void)
{
	static const char *const names[] = { "next_run", "next_job", "next_worker", "boot", "turn" };
	struct rig *rig = rig_with_rows();

	EDGES(meta(rig, "generation")->value, 1, UINT32_MAX);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		BAD(meta(rig, names[i])->value, 0);
		BAD(meta(rig, names[i])->value, SANE_MAX + 1);
		GOOD(meta(rig, names[i])->value, SANE_MAX);
	}
	BAD(meta(rig, "next_run")->value, 2);
	GOOD(meta(rig, "next_run")->value, 3);
	BAD(meta(rig, "next_job")->value, 4);
	GOOD(meta(rig, "next_job")->value, 5);
	BAD(meta(rig, "next_worker")->value, 2);
	GOOD(meta(rig, "next_worker")->value, 3);
	rig_free(rig);
	PASS();
}

TEST keys_and_decisions_are_checked_at_their_edges(void)
{
	struct rig *rig = rig_with_rows();
	struct row_submit_key *key = &rig->tables[TABLE_submit_key].at[0].row.submit_key;
	struct row_submit_key *other = &rig->tables[TABLE_submit_key].at[1].row.submit_key;
	const struct slice digest = key->digest, bytes = key->submit_key;

	key->digest.len = 31;
	ASSERT_EQ(DISTRUSTED, load(rig));
	key->digest = digest;
	key->submit_key.len = 15;
	ASSERT_EQ(DISTRUSTED, load(rig));
	key->submit_key = other->submit_key;
	ASSERT_EQ(DISTRUSTED, load(rig));
	key->principal = 2;
	ASSERT_EQ(LOADS, load(rig));
	key->submit_key = bytes;
	ASSERT_EQ(LOADS, load(rig));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(job_rows_are_checked_at_their_edges);
	RUN_TEST(names_in_job_rows_must_exist);
	RUN_TEST(worker_rows_are_checked_at_their_edges);
	RUN_TEST(run_rows_are_checked_at_their_edges);
	RUN_TEST(specification_rows_are_checked_at_their_edges);
	RUN_TEST(counters_are_checked_at_their_edges);
	RUN_TEST(keys_and_decisions_are_checked_at_their_edges);
	GREATEST_MAIN_END();
}
