/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of open gates and unknown jobs: sorted by number, in whatever order they open and close. */
#include "tests/unit/core_rig.h"

#define JOBS 400

static bool waits(struct rig *rig, uint64_t job)
{
	enum job_state state = rig_state(rig, job);

	return state == STATE_APPROVAL || state == STATE_UNKNOWN;
}

/* Does the list have exactly the waiting gates and unknown jobs, in order, from this number on? */
static bool list_is_right(struct rig *rig, uint64_t first, uint32_t *ret_listed)
{
	uint64_t listed = 0;

	*ret_listed = 0;
	for (uint64_t job = first; job < first + JOBS; job++) {
		if (!waits(rig, job))
			continue;
		if (view_gate_after(rig->core, listed) != job || view_gate_after(rig->core, job - 1) != job)
			return false;
		listed = job;
		++*ret_listed;
	}
	return view_gate_after(rig->core, listed) == 0;
}

static uint64_t submit(struct rig *rig, int jobs, bool gates)
{
	struct graph graph = { 0 };
	char name[16];

	for (int i = 0; i < jobs; i++) {
		struct rec_job_spec *job;

		snprintf(name, sizeof(name), "j%d", i);
		job = graph_job(&graph, name, "");
		job->gate_count = gates;
		job->mode = gates ? EXEC_RETRY : EXEC_ONCE;
	}
	return rig_submit(rig, &graph);
}

static const char *name_of(struct rig *rig, unsigned i)
{
	char name[16];

	snprintf(name, sizeof(name), "j%u", i);
	return arena_strdup(&rig->arena, slice_str(name));
}

TEST open_gates_are_listed_in_order(void)
{
	struct rig *rig = rig_new();
	uint64_t run, first;
	uint32_t listed;

	rig->reload_every = 97;
	run = submit(rig, JOBS, true);
	first = rig_named(rig, run, "j0");
	ASSERT(list_is_right(rig, first, &listed));
	ASSERT_EQ(JOBS, listed);
	for (unsigned i = 0, at = 0; i < JOBS; i++, at = (at + 149) % JOBS) {
		rig_cancel(rig, run, name_of(rig, at));
		if (i % 3 == 2)
			rig_act(rig, ACT_RETRY, run, name_of(rig, (at + 7 * i) % JOBS), RETRY_FROM);
		ASSERT(list_is_right(rig, first, &listed));
	}
	ASSERT(listed > 0 && listed < JOBS);
	rig_restart(rig);
	ASSERT(list_is_right(rig, first, &listed));
	rig_cancel(rig, run, "");
	ASSERT(list_is_right(rig, first, &listed));
	ASSERT_EQ(0, listed);
	rig_free(rig);
	PASS();
}

/* A worker is lost with all its jobs, the highest number first; the list is still in order. */
TEST unknown_jobs_are_listed_in_order(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	uint64_t run, conn, first;
	uint32_t listed;

	rig->reload_every = 97;
	run = submit(rig, JOBS, false);
	first = rig_named(rig, run, "j0");
	conn = rig_hello(rig, "w", JOBS);
	while (rig_take(rig, &attempt))
		rig_started(rig, attempt);
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT(list_is_right(rig, first, &listed));
	ASSERT_EQ(JOBS, listed);
	for (unsigned i = 0; i < JOBS; i += 2)
		rig_act(rig, ACT_SETTLE, run, name_of(rig, i), SETTLE_DONE);
	ASSERT(list_is_right(rig, first, &listed));
	ASSERT_EQ(JOBS / 2, listed);
	rig_free(rig);
	PASS();
}

/* The gates fill their part of the list completely. core_check verifies the room that the list takes. */
TEST unknown_jobs_are_listed_behind_many_gates(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	uint64_t conn, first;
	uint32_t listed;

	rig->reload_every = 97;
	submit(rig, 64, true);
	first = rig_named(rig, submit(rig, JOBS, false), "j0");
	conn = rig_hello(rig, "w", JOBS);
	while (rig_take(rig, &attempt))
		rig_started(rig, attempt);
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	core_check(rig->core);
	ASSERT_EQ(first, view_gate_after(rig->core, first - 1));
	listed = 0;
	for (uint64_t job = first - 1; (job = view_gate_after(rig->core, job)); listed++)
		ASSERT_EQ(first + listed, job);
	ASSERT_EQ(JOBS, listed);
	rig_free(rig);
	PASS();
}

SUITE(gate_list)
{
	RUN_TEST(open_gates_are_listed_in_order);
	RUN_TEST(unknown_jobs_are_listed_in_order);
	RUN_TEST(unknown_jobs_are_listed_behind_many_gates);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(gate_list);
	GREATEST_MAIN_END();
}
