/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pools, forgotten workers, and the texts about them. */
#include "tests/unit/core_place.h"

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

TEST pools_are_listed_in_order_with_counts(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t conn;

	join(rig, "w1", 2, "", "", "night");
	join(rig, "w2", 3, "", "", "nigh");
	join(rig, "w3", 4, "", "", "nightly");
	conn = join(rig, "w4", 5, "", "", "night");
	join(rig, "w5", 1, "", "", "a");
	graph_job(&graph, "x", "")->only_worker = slice_str("w1");
	rig_submit(rig, &graph);
	ASSERT_STR_EQ("a 1/1 up, 0/1 busy; default 0/0 up, 0/0 busy; nigh 1/1 up, 0/3 busy; night 2/2 up, 1/7 busy; "
		      "nightly 1/1 up, 0/4 busy", pools(rig));
	rig_gone(rig, conn);
	ASSERT_STR_EQ("a 1/1 up, 0/1 busy; default 0/0 up, 0/0 busy; nigh 1/1 up, 0/3 busy; night 1/2 up, 1/2 busy; "
		      "nightly 1/1 up, 0/4 busy", pools(rig));
	join(rig, "w5", 1, "", "", "");
	ASSERT(strstr(pools(rig), "a 0/0 up, 0/0 busy; default 1/1 up, 0/1 busy"));
	rig_free(rig);
	PASS();
}

TEST pool_refuses_unknown_names_and_states(void)
{
	struct rig *rig = rig_new();
	struct rec_pool_row row = { 0 };

	join(rig, "w", 1, "", "", "night");
	set(rig, OBJECT_POOL, SET_TAKE, "night");
	ASSERT(rig_error_says(rig, ERR_INVALID, "active, draining or inactive"));
	set(rig, OBJECT_POOL, SET_DRAIN, "ni ght");
	ASSERT(rig_error_says(rig, ERR_INVALID, "the name of a pool may have letters, digits, _ . -, at most"));
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

TEST pool_change_is_announced_for_its_workers(void)
{
	struct rig *rig = rig_new();
	size_t told = 0;

	join(rig, "w", 1, "", "", "night");
	join(rig, "v", 1, "", "", "day");
	set(rig, OBJECT_POOL, SET_DRAIN, "night");
	for (size_t i = 0; i < rig->out.change_count; i++) {
		told += rig->out.changes[i].kind == CHANGED_WORKER;
		ASSERT(rig->out.changes[i].kind != CHANGED_WORKER || rig->out.changes[i].id == 1);
	}
	ASSERT_EQ(1, told);
	rig_free(rig);
	PASS();
}

TEST worker_is_forgotten_only_without_connection_and_jobs(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_worker_row row = { 0 };
	uint64_t conn;

	join(rig, "a", 1, "", "", "");
	conn = join(rig, "b", 1, "", "", "");
	join(rig, "c", 1, "", "", "");
	graph_job(&graph, "x", "")->only_worker = slice_str("b");
	graph_job(&graph, "y", "")->only_worker = slice_str("c");
	rig_submit(rig, &graph);
	set(rig, OBJECT_WORKER, SET_REMOVE, "b");
	ASSERT(rig_error_says(rig, ERR_BUSY, "worker b is connected"));
	rig_started(rig, rig_must_take(rig));
	rig_gone(rig, conn);
	set(rig, OBJECT_WORKER, SET_REMOVE, "b");
	ASSERT(rig_error_says(rig, ERR_BUSY, "worker b still has 1 jobs and may come back with them"));
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
	join(rig, "b", 1, "", "", "");
	ASSERT(view_worker(rig->core, 4, NULL, &row) && slice_eq(row.name, slice_str("b")));
	rig_free(rig);
	PASS();
}

TEST worker_refuses_unknown_orders(void)
{
	struct rig *rig = rig_new();
	struct rec_worker_row row = { 0 };

	join(rig, "w", 1, "", "", "");
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

TEST lost_worker_is_not_in_the_totals(void)
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

static void set_step(struct rig *rig, enum set_verb verb, const char *name)
{
	struct core_input input = { .kind = INPUT_SET, .conn = 1000000, .request = ++rig->request };

	input.set = (struct input_set){ .set = { .kind = OBJECT_WORKER, .verb = verb, .name = slice_str(name) },
					.principal = 1, .person = slice_str("ana") };
	core_step(rig->core, &input);
}

/* Watchers are told of each changed worker, and once of the forgotten one. */
TEST forgotten_worker_is_announced_once_among_others(void)
{
	static const char *const names[] = { "a", "b", "c" };
	unsigned told[4] = { 0 };
	struct rig *rig = rig_new();

	for (size_t i = 0; i < 3; i++)
		rig_gone(rig, rig_hello(rig, names[i], 1));
	rig_turn_begin(rig);
	for (size_t i = 0; i < 3; i++)
		set_step(rig, SET_PAUSE, names[i]);
	set_step(rig, SET_REMOVE, "b");
	rig_turn_end(rig);
	ASSERT_EQ(0, rig->errors);
	for (size_t i = 0; i < rig->out.change_count; i++)
		if (rig->out.changes[i].kind == CHANGED_WORKER && rig->out.changes[i].id < 4)
			told[rig->out.changes[i].id]++;
	ASSERT(told[1] == 1 && told[2] == 1 && told[3] == 1);
	rig_free(rig);
	PASS();
}

/* A worker that was told to quit isn't forgotten while it is still connected. */
TEST quitting_worker_is_not_forgotten_while_connected(void)
{
	struct rig *rig = rig_new();
	struct core_input quit = { .kind = INPUT_SHUTDOWN, .shutdown.workers = true };

	rig_hello(rig, "w", 1);
	rig_step(rig, &quit);
	set(rig, OBJECT_WORKER, SET_REMOVE, "w");
	ASSERT(rig_error_says(rig, ERR_BUSY, "is connected"));
	rig_gone(rig, rig->conn);
	set(rig, OBJECT_WORKER, SET_REMOVE, "w");
	ASSERT_EQ(0, (int)rig->error.code);
	rig_free(rig);
	PASS();
}

/*
 * A worker that was to be forgotten goes in the turn in which its connection is lost: watchers are told once, and
 * nothing of it is left.
 */
TEST worker_is_forgotten_in_the_turn_in_which_it_left(void)
{
	struct rig *rig = rig_new();
	struct core_input gone = { .kind = INPUT_WORKER_GONE, .conn = rig_hello(rig, "w", 1) };
	struct core_input forget = { .kind = INPUT_SET, .conn = 1000000, .request = 1 };
	size_t told = 0;

	forget.set.set = (struct msg_set){ .kind = OBJECT_WORKER, .verb = SET_REMOVE, .name = slice_str("w") };
	rig_turn_begin(rig);
	core_step(rig->core, &gone);
	core_step(rig->core, &forget);
	rig_turn_end(rig);
	for (size_t i = 0; i < rig->out.change_count; i++)
		told += rig->out.changes[i].kind == CHANGED_WORKER;
	ASSERT_EQ(1, told);
	ASSERT_EQ(0, view_worker_after(rig->core, 0));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(pools_are_listed_in_order_with_counts);
	RUN_TEST(pool_refuses_unknown_names_and_states);
	RUN_TEST(pool_change_is_announced_for_its_workers);
	RUN_TEST(worker_is_forgotten_only_without_connection_and_jobs);
	RUN_TEST(worker_refuses_unknown_orders);
	RUN_TEST(lost_worker_is_not_in_the_totals);
	RUN_TEST(forgotten_worker_is_announced_once_among_others);
	RUN_TEST(quitting_worker_is_not_forgotten_while_connected);
	RUN_TEST(worker_is_forgotten_in_the_turn_in_which_it_left);
	GREATEST_MAIN_END();
}
