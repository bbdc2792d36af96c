/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pools, forgotten workers, classes of jobs, and what rows for people say of them. */
#include "tests/unit/core_rig.h"

#include "proto/reasons.h"

static struct slice_list words(struct arena *arena, const char *text)
{
	struct slice_list list = { .at = arena_alloc(arena, 80 * sizeof(struct slice)) };

	while (*text) {
		size_t len = strcspn(text, " ");

		list.at[list.n++] = slice_str(arena_strdup(arena, slice_make(text, len)));
		text += len;
		text += strspn(text, " ");
	}
	return list;
}

static uint64_t join(struct rig *rig, const char *name, uint64_t slots, const char *labels, const char *pool)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };

	input.hello = (struct input_hello){
		.name = slice_str(name), .instance = slice_str("0123456789abcdef"), .slots = slots, .pid = 9,
		.labels = words(&rig->arena, labels), .pool = slice_str(pool) };
	rig_step(rig, &input);
	return input.conn;
}

static void set(struct rig *rig, enum object_kind kind, enum set_verb verb, const char *name)
{
	rig_set(rig, (struct msg_set){ .kind = kind, .verb = verb, .name = slice_str(name) });
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

/* --- pools --- */

static const char *pools(struct rig *rig)
{
	struct rec_pool_row row = { 0 };
	struct buf text = { 0 };
	const char *copy;

	for (size_t at = 0; view_pool(rig->core, at, &row); at++)
		buf_addf(&text, "%s%.*s %llu/%llu up, %llu/%llu busy", at ? "; " : "", (int)row.name.len,
			 (const char *)row.name.data, (unsigned long long)row.up, (unsigned long long)row.workers,
			 (unsigned long long)row.busy, (unsigned long long)row.slots);
	copy = arena_strdup(&rig->arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

TEST pools_are_counted_and_in_order(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t conn;

	join(rig, "w1", 2, "", "night");
	join(rig, "w2", 3, "", "nigh");
	join(rig, "w3", 4, "", "nightly");
	conn = join(rig, "w4", 5, "", "night");
	join(rig, "w5", 1, "", "a");
	graph_job(&graph, "x", "")->only_worker = slice_str("w1");
	rig_submit(rig, &graph);
	ASSERT_STR_EQ("a 1/1 up, 0/1 busy; default 0/0 up, 0/0 busy; nigh 1/1 up, 0/3 busy; night 2/2 up, 1/7 busy; "
		      "nightly 1/1 up, 0/4 busy", pools(rig));
	rig_gone(rig, conn);
	ASSERT_STR_EQ("a 1/1 up, 0/1 busy; default 0/0 up, 0/0 busy; nigh 1/1 up, 0/3 busy; night 1/2 up, 1/2 busy; "
		      "nightly 1/1 up, 0/4 busy", pools(rig));
	join(rig, "w5", 1, "", "");
	ASSERT(strstr(pools(rig), "a 0/0 up, 0/0 busy; default 1/1 up, 0/1 busy"));
	rig_free(rig);
	PASS();
}

TEST pools_are_told_what_they_know(void)
{
	struct rig *rig = rig_new();
	struct rec_pool_row row = { 0 };

	join(rig, "w", 1, "", "night");
	set(rig, OBJECT_POOL, SET_TAKE, "night");
	ASSERT(rig_error_says(rig, ERR_INVALID, "active, draining or inactive"));
	set(rig, OBJECT_POOL, SET_DRAIN, "ni ght");
	ASSERT(rig_error_says(rig, ERR_INVALID, "a pool's name has letters"));
	set(rig, OBJECT_POOL, SET_DRAIN, "nigh");
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "there is no pool 'nigh'"));
	set(rig, OBJECT_POOL, SET_DRAIN, "night");
	ASSERT_EQ(1, rig->ok.count);
	ASSERT(view_pool(rig->core, 1, &row) && row.state == POOL_DRAINING);
	set(rig, OBJECT_POOL, SET_DRAIN, "night");
	ASSERT_EQ(0, rig->ok.count);
	ASSERT(rig->out.row_count == 0);
	set(rig, OBJECT_POOL, SET_RESUME, "night");
	ASSERT(view_pool(rig->core, 1, &row) && row.state == POOL_ACTIVE);
	set(rig, OBJECT_POOL, SET_PAUSE, "night");
	ASSERT(view_pool(rig->core, 1, &row) && row.state == POOL_INACTIVE);
	ASSERT(view_pool(rig->core, 0, &row) && row.state == POOL_ACTIVE);
	ASSERT(!view_pool(rig->core, 2, &row));
	rig_restart(rig);
	ASSERT(view_pool(rig->core, 1, &row) && row.state == POOL_INACTIVE);
	rig_free(rig);
	PASS();
}

TEST people_hear_of_the_workers_of_a_pool(void)
{
	struct rig *rig = rig_new();
	size_t told = 0;

	join(rig, "w", 1, "", "night");
	join(rig, "v", 1, "", "day");
	set(rig, OBJECT_POOL, SET_DRAIN, "night");
	for (size_t i = 0; i < rig->out.change_count; i++) {
		told += rig->out.changes[i].kind == CHANGED_WORKER;
		ASSERT(rig->out.changes[i].kind != CHANGED_WORKER || rig->out.changes[i].id == 1);
	}
	ASSERT_EQ(1, told);
	rig_free(rig);
	PASS();
}

/* --- forgotten workers --- */

TEST a_worker_is_forgotten_when_it_has_nothing_left(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_worker_row row = { 0 };
	uint64_t conn;

	join(rig, "a", 1, "", "");
	conn = join(rig, "b", 1, "", "");
	join(rig, "c", 1, "", "");
	graph_job(&graph, "x", "")->only_worker = slice_str("b");
	graph_job(&graph, "y", "")->only_worker = slice_str("c");
	rig_submit(rig, &graph);
	set(rig, OBJECT_WORKER, SET_REMOVE, "b");
	ASSERT(rig_error_says(rig, ERR_BUSY, "worker b is connected"));
	rig_started(rig, rig_must_take(rig));
	rig_gone(rig, conn);
	set(rig, OBJECT_WORKER, SET_REMOVE, "b");
	ASSERT(rig_error_says(rig, ERR_BUSY, "worker b has 1 jobs"));
	for (int64_t ms = 0; ms <= LIMIT_GRACE_MS; ms += 5000) {
		rig_heartbeat(rig, 1);
		rig_heartbeat(rig, 3);
		rig_pass(rig, 5000);
	}
	set(rig, OBJECT_WORKER, SET_REMOVE, "b");
	ASSERT_EQ(1, rig->ok.count);
	ASSERT(!view_worker(rig->core, 2, NULL, &row));
	ASSERT(view_worker(rig->core, 3, NULL, &row) && slice_eq(row.name, slice_str("c")) && row.busy == 1);
	ASSERT(view_worker_after(rig->core, 0) == 1 && view_worker_after(rig->core, 1) == 3);
	rig_restart(rig);
	join(rig, "b", 1, "", "");
	ASSERT(view_worker(rig->core, 4, NULL, &row) && slice_eq(row.name, slice_str("b")));
	rig_free(rig);
	PASS();
}

TEST a_worker_is_asked_for_what_it_can(void)
{
	struct rig *rig = rig_new();
	struct rec_worker_row row = { 0 };

	join(rig, "w", 1, "", "");
	set(rig, OBJECT_WORKER, SET_FIRE, "w");
	ASSERT(rig_error_says(rig, ERR_INVALID, "cordoned, uncordoned, drained or forgotten"));
	set(rig, OBJECT_WORKER, SET_DRAIN, "nobody");
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "there is no worker 'nobody'"));
	set(rig, OBJECT_WORKER, SET_DRAIN, "w");
	ASSERT(view_worker(rig->core, 1, NULL, &row) && row.standing == STANDING_DRAINING);
	set(rig, OBJECT_WORKER, SET_PAUSE, "w");
	ASSERT(view_worker(rig->core, 1, NULL, &row) && row.standing == STANDING_CORDONED);
	rig_restart(rig);
	ASSERT(view_worker(rig->core, 1, NULL, &row) && row.standing == STANDING_CORDONED);
	rig_free(rig);
	PASS();
}

/* --- classes --- */

TEST labels_in_any_order_are_one_wish(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_row row = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->labels = words(&graph.arena, "gpu ssd");
	graph_job(&graph, "b", "")->labels = words(&graph.arena, "ssd gpu");
	graph_job(&graph, "c", "")->labels = words(&graph.arena, "gpu ssd gpu");
	graph_job(&graph, "d", "")->labels = words(&graph.arena, "gpu");
	run = rig_submit(rig, &graph);
	join(rig, "w", 1, "x ssd gp gpu gpuu", "");
	ASSERT(view_explain(rig->core, rig_named(rig, run, "c"), &rig->arena, &row));
	ASSERT_EQ(REASON_ALL_SLOTS_BUSY, row.why_code);
	ASSERT(memmem(row.why.data, row.why.len, "; 2 jobs queue", 14));
	rig_free(rig);
	PASS();
}

TEST a_label_is_matched_whole(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "short", "")->labels = words(&graph.arena, "gp");
	graph_job(&graph, "exact", "")->labels = words(&graph.arena, "gpu");
	graph_job(&graph, "long", "")->labels = words(&graph.arena, "gpux");
	graph_job(&graph, "last", "")->labels = words(&graph.arena, "gpu zoo");
	run = rig_submit(rig, &graph);
	join(rig, "w", 9, "gpu", "");
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "short"));
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "exact"));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "long"));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "last"));
	rig_free(rig);
	PASS();
}

static void graph_of_labels(struct graph *graph, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "l%zu", i);
		graph_job(graph, name, "")->labels = words(&graph->arena, name);
	}
}

TEST so_many_wishes_and_no_more(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig->reload_every = 0;
	graph_of_labels(&graph, LIMIT_TENANT_CLASSES_MAX);
	run = rig_submit(rig, &graph);
	ASSERT(run != 0);
	graph_job(&graph, "x", "")->labels = words(&graph.arena, "another");
	ASSERT_EQ(0, rig_submit(rig, &graph));
	ASSERT(rig_error_says(rig, ERR_FULL, "4096 different things"));
	graph_job(&graph, "x", "")->labels = words(&graph.arena, "l7");
	graph_job(&graph, "y", "");
	ASSERT(rig_submit(rig, &graph) != 0);
	rig_cancel(rig, run, "");
	core_sweep(rig->core, UINT64_MAX / 2);
	graph_job(&graph, "x", "")->labels = words(&graph.arena, "another");
	ASSERT(rig_submit(rig, &graph) != 0);
	core_check(rig->core);
	rig_free(rig);
	PASS();
}

/* --- rows --- */

TEST a_row_says_how_it_is_placed(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_row row = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	uint64_t run;

	job->only_worker = slice_str("w");
	job->prefer_worker = slice_str("v");
	job->prefer = words(&graph.arena, "near ssd");
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
	ASSERT(rig_job(rig, b).ended_ms > 0 && rig_job(rig, b).settled_by == 0);
	rig_free(rig);
	PASS();
}

TEST a_run_ends_when_the_clock_says_nothing(void)
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

TEST a_lost_worker_is_not_counted(void)
{
	struct rig *rig = rig_new();
	struct core_totals totals;
	uint64_t conn = rig_hello(rig, "gone", 3), here = rig_hello(rig, "here", 2);

	rig_gone(rig, conn);
	view_totals(rig->core, &totals);
	ASSERT(totals.workers == 2 && totals.slots == 5);
	for (int64_t ms = 0; ms <= LIMIT_GRACE_MS; ms += 5000) {
		rig_heartbeat(rig, here);
		rig_pass(rig, 5000);
	}
	view_totals(rig->core, &totals);
	ASSERT(totals.workers == 1 && totals.slots == 2);
	rig_free(rig);
	PASS();
}

TEST a_gate_shows_sixteen_of_what_it_opens(void)
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
	RUN_TEST(pools_are_counted_and_in_order);
	RUN_TEST(pools_are_told_what_they_know);
	RUN_TEST(people_hear_of_the_workers_of_a_pool);
	RUN_TEST(a_worker_is_forgotten_when_it_has_nothing_left);
	RUN_TEST(a_worker_is_asked_for_what_it_can);
	RUN_TEST(labels_in_any_order_are_one_wish);
	RUN_TEST(a_label_is_matched_whole);
	RUN_TEST(so_many_wishes_and_no_more);
	RUN_TEST(a_row_says_how_it_is_placed);
	RUN_TEST(clocks_are_shown_while_they_run);
	RUN_TEST(a_run_ends_when_the_clock_says_nothing);
	RUN_TEST(a_lost_worker_is_not_counted);
	RUN_TEST(a_gate_shows_sixteen_of_what_it_opens);
	GREATEST_MAIN_END();
}
