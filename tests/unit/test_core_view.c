/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Views of runs, jobs and workers: commands as typed, details by level, sorted lists, placement, clocks. */
#include "tests/unit/core_place.h"

static const char *shown(struct arena *arena, const char *const *words, size_t n)
{
	struct slice at[8];
	struct rec_job_spec spec = { .argv = { .at = at, .n = n } };
	struct rec_job_row row = { 0 };

	for (size_t i = 0; i < n; i++)
		at[i] = slice_str(words[i]);
	view_spec(&spec, VIEW_FULL, arena, &row);
	return arena_strdup(arena, row.command);
}

TEST commands_are_shown_as_typed(void)
{
	static const char *const words[] = { "cp", "a b", "", "it's", "$HOME", "x=1" };
	static const char *const one[] = { "true" };
	struct arena arena = { 0 };

	ASSERT_STR_EQ("cp 'a b' '' 'it'\\''s' '$HOME' x=1", shown(&arena, words, 6));
	ASSERT_STR_EQ("true", shown(&arena, one, 1));
	arena_free(&arena);
	PASS();
}

TEST job_details_are_shown_by_degree(void)
{
	uint64_t needs[] = { 3 };
	struct rec_job_spec spec = { .name = slice_str("a"), .script = slice_str("make"), .mode = EXEC_ONCE, .retry_max = 2,
				     .needs = { .at = needs, .n = 1 } };
	struct rec_job_row brief = { 0 }, graph = { 0 }, full = { 0 };
	struct arena arena = { 0 };

	view_spec(&spec, VIEW_BRIEF, &arena, &brief);
	view_spec(&spec, VIEW_GRAPH, &arena, &graph);
	view_spec(&spec, VIEW_FULL, &arena, &full);
	ASSERT(brief.needs.n == 0 && brief.command.len == 0 && brief.mode == 0);
	ASSERT(graph.needs.n == 1 && graph.command.len == 0 && graph.mode == 0);
	ASSERT(full.needs.n == 1 && full.mode == EXEC_ONCE && slice_eq(full.command, slice_str("make")));
	ASSERT(brief.retry_max == 2 && slice_eq(brief.name, slice_str("a")));
	arena_free(&arena);
	PASS();
}

TEST worker_may_report_only_attempts_given_to_that_worker(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run, later;

	rig_hello(rig, "w1", 1);
	rig_hello(rig, "w2", 1);
	graph_job(&graph, "a", "")->retry_max = 2;
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	const uint64_t worker = view_worker_on(rig->core, attempt.conn), other = 3 - worker;

	ASSERT(view_may_report(rig->core, worker, run, attempt.job, attempt.epoch));
	ASSERT(view_may_report(rig->core, worker, 0, attempt.job, attempt.epoch));
	ASSERT(!view_may_report(rig->core, worker, run + 1, attempt.job, attempt.epoch));
	ASSERT(!view_may_report(rig->core, other, run, attempt.job, attempt.epoch));
	ASSERT(!view_may_report(rig->core, worker, run, attempt.job, attempt.epoch + 1));
	ASSERT(!view_may_report(rig->core, worker, run, attempt.job, 0));
	ASSERT(!view_may_report(rig->core, worker, run, 0, attempt.epoch));
	/* The worker of an earlier attempt may still report it. */
	ASSERT(view_may_report(rig->core, other, run, attempt.job, attempt.epoch - 1));
	/* For a run that has left memory, the numbers must be ones that were given. */
	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	core_sweep(rig->core, UINT64_MAX / 2);
	later = attempt.epoch + 5;
	ASSERT(view_may_report(rig->core, other, run, attempt.job, later));
	ASSERT(!view_may_report(rig->core, other, run + 1, attempt.job, later));
	ASSERT(!view_may_report(rig->core, other, run, attempt.job + 1, later));
	ASSERT(!view_may_report(rig->core, other, run, attempt.job, UINT64_C(2) << 32));
	rig_free(rig);
	PASS();
}

TEST workers_and_jobs_are_listed_in_order(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_worker_row row = { 0 };
	struct rec_run_row run_row = { 0 };
	uint64_t first, second;

	ASSERT_EQ(0, view_worker_after(rig->core, 0));
	rig_hello(rig, "w1", 1);
	rig_hello(rig, "w2", 2);
	rig_hello(rig, "w3", 3);
	ASSERT(view_worker_after(rig->core, 0) == 1 && view_worker_after(rig->core, 1) == 2);
	ASSERT(view_worker_after(rig->core, 2) == 3 && view_worker_after(rig->core, 3) == 0);
	ASSERT(view_worker(rig->core, 2, &rig->arena, &row) && row.slots == 2 && row.busy == 0 && row.prefetched == 0);
	ASSERT(!view_worker(rig->core, 4, &rig->arena, &row) && !view_worker(rig->core, 0, &rig->arena, &row));
	ASSERT_EQ(0, view_worker_on(rig->core, 999));
	graph_job(&graph, "a", "");
	first = rig_submit(rig, &graph);
	graph_job(&graph, "a", "");
	second = rig_submit(rig, &graph);
	ASSERT_EQ(second, view_run_before(rig->core, UINT64_MAX));
	ASSERT_EQ(first, view_run_before(rig->core, second));
	ASSERT_EQ(0, view_run_before(rig->core, first));
	ASSERT(view_run(rig->core, first, &rig->arena, &run_row) && run_row.run == first);
	ASSERT(!view_run(rig->core, second + 1, &rig->arena, &run_row));
	ASSERT_EQ(0, view_job_at(rig->core, first, 1));
	ASSERT(view_job_at(rig->core, first, 0) > 0);
	ASSERT_EQ(0, view_job_named(rig->core, first, slice_str("b")));
	ASSERT_EQ(view_job_at(rig->core, second, 0), view_job_named(rig->core, second, slice_str("a")));
	rig_free(rig);
	PASS();
}

/* Tenants are listed by name to the last one; a slot freed by a removed tenant is passed over. */
TEST tenants_are_listed_by_name(void)
{
	static const char *const names[] = { "ana", "ben", "cem", "dan", "eve" };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_tenant_row row;
	uint64_t cursor = 0;

	ASSERT_EQ(0, view_tenant(rig->core, 0, &row));
	for (size_t i = 0; i < 5; i++) {
		rig->tenant = names[i];
		graph_job(&graph, "a", "");
		rig_submit(rig, &graph);
		cursor = 0;
		for (size_t k = 0; k <= i; k++) {
			cursor = view_tenant(rig->core, cursor, &row);
			ASSERT(cursor > 0 && slice_eq(row.name, slice_str(names[k])));
			ASSERT_EQ(1, row.runs);
		}
		ASSERT_EQ(0, view_tenant(rig->core, cursor, &row));
	}
	rig_cancel(rig, 2, "");
	core_sweep(rig->core, UINT64_MAX);
	cursor = view_tenant(rig->core, 0, &row);
	cursor = view_tenant(rig->core, cursor, &row);
	ASSERT(slice_eq(row.name, slice_str("cem")));
	rig_cancel(rig, 5, "");
	core_sweep(rig->core, UINT64_MAX);
	cursor = view_tenant(rig->core, cursor, &row);
	ASSERT(slice_eq(row.name, slice_str("dan")));
	ASSERT_EQ(0, view_tenant(rig->core, cursor, &row));
	rig_free(rig);
	PASS();
}

TEST totals_count_busy_slots_and_lost_workers(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct core_totals totals;
	uint64_t conn = rig_hello(rig, "w1", 3);

	rig_hello(rig, "w2", 2);
	graph_job(&graph, "a", "");
	rig_submit(rig, &graph);
	view_totals(rig->core, &totals);
	ASSERT_EQ_FMT((uint64_t)5, totals.slots, "%lu");
	ASSERT_EQ_FMT((uint64_t)1, totals.busy, "%lu");
	ASSERT_EQ_FMT((uint64_t)2, totals.workers, "%lu");
	ASSERT(totals.live_runs == 1 && totals.live_jobs == 1);
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS / 2);
	view_totals(rig->core, &totals);
	rig_pass(rig, LIMIT_GRACE_MS);
	view_totals(rig->core, &totals);
	ASSERT(totals.slots < 5);
	rig_free(rig);
	PASS();
}

TEST hold_is_shown_until_release_or_end(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, a, b;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	run = rig_submit(rig, &graph);
	a = rig_named(rig, run, "a");
	b = rig_named(rig, run, "b");
	ASSERT(!rig_job(rig, a).held);
	rig_act(rig, ACT_HOLD, run, "a", 0);
	ASSERT(rig_job(rig, a).held && !rig_job(rig, b).held);
	rig_act(rig, ACT_RELEASE, run, "a", 0);
	ASSERT(!rig_job(rig, a).held);
	rig_cancel(rig, run, "b");
	ASSERT(!rig_job(rig, b).held);
	rig_act(rig, ACT_HOLD, run, "a", 0);
	rig_cancel(rig, run, "");
	ASSERT(!rig_job(rig, a).held);
	rig_free(rig);
	PASS();
}

TEST run_row_shows_a_place_in_the_group(void)
{
	struct rig *rig = rig_new();
	struct rec_run_row row = { 0 };
	struct graph graph = { 0 };
	uint64_t runs[2];

	rig_hello(rig, "w", 2);
	rig->concurrency = "deploy";
	for (size_t i = 0; i < 2; i++) {
		graph_job(&graph, "a", "");
		runs[i] = rig_submit(rig, &graph);
	}
	ASSERT(view_run(rig->core, runs[0], &rig->arena, &row) && row.seated);
	ASSERT(view_run(rig->core, runs[1], &rig->arena, &row) && !row.seated);
	rig_free(rig);
	PASS();
}

/* A gate shows the first 4,096 bytes of a long command, cut between two characters. */
TEST gate_cuts_long_commands_between_characters(void)
{
	char script[4200];

	for (size_t before = 4092; before <= 4096; before++) {
		struct rig *rig = rig_new();
		struct rec_job_row row = { 0 };
		struct graph graph = { 0 };
		struct rec_job_spec *gate = graph_job(&graph, "ok", "");

		gate->gate_count = 1;
		gate->argv.n = 0;
		memset(script, before > 4092 ? 'x' : '\x80', sizeof(script));
		if (before > 4092)
			memcpy(script + before, "\xe2\x82\xac", 3);
		gate = graph_job(&graph, "b", "ok");
		gate->argv.n = 0;
		gate->script = slice_make(script, sizeof(script));
		rig_submit(rig, &graph);
		ASSERT(view_job(rig->core, 1, VIEW_FULL, &rig->arena, &row));
		ASSERT_EQ(1, row.will.n);
		/* At 4092 the text is nothing but continuation bytes, so no character can be shown. */
		ASSERT_EQ(before == 4092 ? 0 : before == 4093 ? 4096 : before, row.will.at[0].len);
		rig_free(rig);
	}
	PASS();
}

static const char *text_of(struct rig *rig, struct slice_list list)
{
	struct buf text = { 0 };
	const char *copy;

	for (size_t i = 0; i < list.n; i++)
		buf_addf(&text, "%s%.*s", i ? ", " : "", (int)list.at[i].len, (const char *)list.at[i].data);
	copy = arena_strdup(&rig->arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

TEST row_of_a_job_shows_its_placement(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_row row = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	uint64_t run;

	job->only_worker = slice_str("w");
	job->prefer_worker = slice_str("v");
	job->prefer = words(rig, "near ssd");
	job->pool = slice_str("night");
	job->pool_hard = true;
	job->affinity = AFFINITY_STICKY;
	job = graph_job(&graph, "b", "");
	job->pool = slice_str("night");
	job->affinity = AFFINITY_PARENT;
	job->affinity_hard = true;
	graph_job(&graph, "c", "");
	run = rig_submit(rig, &graph);
	CHECK(view_job(rig->core, rig_named(rig, run, "a"), VIEW_FULL, &rig->arena, &row));
	ASSERT_STR_EQ("worker=w, prefer_worker=v, prefer=near, prefer=ssd, pool=night (hard), affinity=sticky",
		      text_of(rig, row.placing));
	CHECK(view_job(rig->core, rig_named(rig, run, "b"), VIEW_FULL, &rig->arena, &row));
	ASSERT_STR_EQ("pool=night, affinity=parent (hard)", text_of(rig, row.placing));
	CHECK(view_job(rig->core, rig_named(rig, run, "c"), VIEW_FULL, &rig->arena, &row));
	ASSERT_EQ(0, row.placing.n);
	ASSERT_EQ(LIMIT_CRASH_LIMIT, row.crash_limit);
	rig_free(rig);
	PASS();
}

TEST clocks_are_shown_while_they_run(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	int64_t start_ms = rig->now.wall_ms;
	uint64_t run, a, b;

	job->dispatch_timeout_ms = 7000;
	job->deadline_ms = 9000;
	graph_job(&graph, "b", "")->delay_ms = 3000;
	run = rig_submit(rig, &graph);
	a = rig_named(rig, run, "a");
	b = rig_named(rig, run, "b");
	ASSERT_EQ(start_ms + 7000, rig_job(rig, a).give_up_ms);
	ASSERT_EQ(start_ms + 9000, rig_job(rig, a).deadline_ms);
	ASSERT(rig_job(rig, a).due_ms == 0 && rig_job(rig, a).stop_cause == 0);
	ASSERT_EQ(start_ms + 3000, rig_job(rig, b).due_ms);
	ASSERT(rig_job(rig, b).give_up_ms == 0 && rig_job(rig, b).deadline_ms == 0);
	rig_act(rig, ACT_HOLD, run, "a", 0);
	ASSERT_EQ(0, rig_job(rig, a).give_up_ms);
	rig_act(rig, ACT_RELEASE, run, "a", 0);
	rig_hello(rig, "w", 1);
	rig_started(rig, rig_must_take(rig));
	ASSERT(rig_job(rig, a).give_up_ms == 0 && rig_job(rig, a).deadline_ms == start_ms + 9000);
	rig_cancel(rig, run, "a");
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "a"));
	ASSERT_EQ(EVENT_CANCEL, rig_job(rig, a).stop_cause);
	rig_cancel(rig, run, "b");
	ASSERT(rig_job(rig, b).due_ms == 0 && rig_job(rig, b).stop_cause == 0);
	ASSERT(rig_job(rig, b).ended_ms > 0 && rig_job(rig, b).ended_by == 0);
	rig_free(rig);
	PASS();
}

TEST run_without_a_clock_has_an_end_time(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_run_row row = { 0 };
	uint64_t run;

	rig->now.wall_ms = 0;
	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	rig_cancel(rig, run, "");
	ASSERT(view_run(rig->core, run, &rig->arena, &row));
	ASSERT(row.ended_ms > 0 && row.state == RUN_CANCELLED);
	rig_free(rig);
	PASS();
}

TEST gate_shows_sixteen_of_its_children(void)
{
	for (size_t children = 15; children <= 17; children++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_job_row row = { 0 };
		uint64_t run, gate;

		graph_job(&graph, "gate", "")->gate_count = 1;
		for (size_t i = 0; i < children; i++) {
			char name[32];

			snprintf(name, sizeof(name), "c%zu", i);
			graph_job(&graph, name, "gate");
		}
		run = rig_submit(rig, &graph);
		gate = rig_named(rig, run, "gate");
		CHECK(view_job(rig->core, gate, VIEW_GRAPH, &rig->arena, &row));
		ASSERT(row.unblocks.n == 0 && row.digest.len > 0);
		CHECK(view_job(rig->core, gate, VIEW_FULL, &rig->arena, &row));
		ASSERT_EQ_FMT(children < 16 ? children : (size_t)16, row.unblocks.n, "%zu");
		ASSERT(row.will.n == row.unblocks.n && slice_eq(row.will.at[0], slice_str("true")));
		ASSERT(slice_eq(row.unblocks.at[14], slice_str("c14")));
		rig_free(rig);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(commands_are_shown_as_typed);
	RUN_TEST(job_details_are_shown_by_degree);
	RUN_TEST(worker_may_report_only_attempts_given_to_that_worker);
	RUN_TEST(workers_and_jobs_are_listed_in_order);
	RUN_TEST(tenants_are_listed_by_name);
	RUN_TEST(totals_count_busy_slots_and_lost_workers);
	RUN_TEST(hold_is_shown_until_release_or_end);
	RUN_TEST(run_row_shows_a_place_in_the_group);
	RUN_TEST(gate_cuts_long_commands_between_characters);
	RUN_TEST(row_of_a_job_shows_its_placement);
	RUN_TEST(clocks_are_shown_while_they_run);
	RUN_TEST(run_without_a_clock_has_an_end_time);
	RUN_TEST(gate_shows_sixteen_of_its_children);
	GREATEST_MAIN_END();
}
