/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people are shown of their locks, tenants, groups, decisions, dead letters and schedules. */
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"
#include "tests/unit/core_why.h"

#define HOUR_MS INT64_C(3600000)

static uint64_t submit(struct rig *rig, size_t count)
{
	struct graph graph = { 0 };

	for (size_t i = 0; i < count; i++) {
		char name[24];

		snprintf(name, sizeof(name), "j%zu", i);
		graph_job(&graph, name, "");
	}
	return rig_submit(rig, &graph);
}

static void take(struct rig *rig, const char *owner, bool shared, uint64_t span_ms, const char *reason)
{
	struct slice words[] = { slice_str(reason) };

	rig_set(rig, (struct msg_set){ .kind = OBJECT_LOCK, .verb = SET_TAKE, .name = slice_str("db"), .flag = shared,
		.text = slice_str(owner), .span_ms = span_ms, .words = { .at = words, .n = 1 } });
}

static struct rec_lock_row lock_of(struct rig *rig, const char *owner)
{
	struct rec_lock_row row = { 0 };

	for (uint64_t at = view_lock(rig->core, 0, &rig->arena, &row); at; at = view_lock(rig->core, at, &rig->arena, &row))
		if (slice_eq(row.owner, slice_str(owner)))
			return row;
	CHECK(!"somebody of that name has it");
	return row;
}

/* A lock that was taken again shows the first time, and the latest reason and time limit. */
TEST lock_taken_again_shows_first_time_and_latest_reason(void)
{
	struct rig *rig = rig_new();
	struct rec_lock_row first, again;

	take(rig, "bob", true, 60000, "one");
	take(rig, "eve", true, 0, "hers");
	first = lock_of(rig, "bob");
	rig_pass(rig, 1000);
	take(rig, "bob", true, 120000, "two");
	again = lock_of(rig, "bob");
	ASSERT(again.taken_ms == first.taken_ms && again.fence == first.fence);
	ASSERT_EQ(rig->now.wall_ms + 120000, again.until_ms);
	ASSERT(slice_eq(slice_str("two"), again.reason) && slice_eq(slice_str("hers"), lock_of(rig, "eve").reason));
	rig_restart(rig);
	again = lock_of(rig, "bob");
	ASSERT(again.taken_ms == first.taken_ms && again.until_ms == rig->now.wall_ms + 120000);
	rig_free(rig);
	PASS();
}

TEST group_shows_runs_that_wait_for_a_place(void)
{
	struct rig *rig = rig_new();
	struct rec_group_row row;

	rig_hello(rig, "w", 9);
	rig->concurrency = "g";
	submit(rig, 1);
	submit(rig, 1);
	submit(rig, 1);
	ASSERT(view_group(rig->core, 0, &row) != 0);
	ASSERT(row.runs == 1 && row.waiting == 2);
	rig_free(rig);
	PASS();
}

/* Held jobs count for the limit of a tenant's queued jobs. */
TEST held_jobs_count_in_the_tenants_queue(void)
{
	struct rig *rig = rig_new();
	struct rec_tenant_row row;
	uint64_t run;

	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str("team"), .most = 3 });
	rig->tenant = "team";
	run = submit(rig, 2);
	rig_act(rig, ACT_HOLD, run, "", 0);
	ASSERT(view_tenant(rig->core, 0, &row) != 0);
	ASSERT(slice_eq(slice_str("team"), row.name) && row.queued == 2);
	ASSERT_EQ(0, submit(rig, 1));
	ASSERT(rig_error_says(rig, ERR_BUSY, "tenant team has 2 jobs queued"));
	rig_free(rig);
	PASS();
}

/* A held job isn't counted as one that comes before others of its tenant. */
TEST held_job_comes_before_no_other_of_its_tenant(void)
{
	struct rig *rig = rig_new();
	uint64_t second, third;

	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str("team"), .number = 2 });
	rig_hello(rig, "w", 9);
	rig->tenant = "team";
	submit(rig, 1);
	second = submit(rig, 1);
	third = submit(rig, 1);
	ASSERT(strstr(why(rig, third, "j0"), "1 of the tenant's jobs comes first") != NULL);
	rig_act(rig, ACT_HOLD, second, "", 0);
	ASSERT(strstr(why(rig, third, "j0"), "this job comes next") != NULL);
	rig_free(rig);
	PASS();
}

/* Added jobs count for the tenant of their run, whoever adds them. */
TEST added_jobs_count_for_the_tenant_of_their_run(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str("team"), .most = 3 });
	rig->tenant = "team";
	run = submit(rig, 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	ASSERT_EQ(0, grow(rig, run, &graph, ""));
	ASSERT(rig_error_says(rig, ERR_BUSY, "tenant team has 1 job queued"));
	rig_free(rig);
	PASS();
}

/* A dead letter names the submitter as owner, even if another tenant was charged. */
TEST dead_letter_shows_the_submitter(void)
{
	struct rig *rig = rig_new();

	rig_hello(rig, "w", 1);
	rig->tenant = "team";
	submit(rig, 1);
	rig_run_one(rig, 1);
	ASSERT_EQ(1, rig->tables[TABLE_dead].count);
	ASSERT(slice_eq(slice_str("ana"), rig->tables[TABLE_dead].at[0].row.dead.owner));
	rig_free(rig);
	PASS();
}

TEST unknown_job_shows_the_person_who_settled(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, conn = rig_hello(rig, "w", 1);

	graph_job(&graph, "a", "")->mode = EXEC_ONCE;
	run = rig_submit(rig, &graph);
	rig_started(rig, rig_must_take(rig));
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	rig_act(rig, ACT_SETTLE, run, "a", SETTLE_DONE);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "a"));
	ASSERT_EQ(EVENT_PERSON_DONE, rig_job(rig, 1).ended_by);
	rig_free(rig);
	PASS();
}

/* Every decision on a gate keeps the digest of what was shown to the person. */
TEST decision_records_the_digest_shown(enum act_verb verb)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *gate = graph_job(&graph, "gate", "");
	const struct row_decision *row;
	struct slice shown;
	uint64_t run;

	gate->gate_count = 1;
	gate->argv.n = 0;
	run = rig_submit(rig, &graph);
	shown = arena_copy(&rig->arena, rig_digest(rig, run, "gate"));
	rig_act(rig, verb, run, "gate", 0);
	ASSERT_EQ(1, rig->tables[TABLE_decision].count);
	row = &rig->tables[TABLE_decision].at[0].row.decision;
	ASSERT(slice_eq(shown, row->digest) && slice_eq(slice_str("ana"), row->name) && row->round == 0);
	rig_free(rig);
	PASS();
}

/* The reason of a push back is shown whole, also behind a NUL byte. */
TEST push_back_reason_is_shown_whole(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_ACT, .conn = 1000000, .request = 77 };
	struct graph graph = { 0 };
	struct rec_job_spec *gate;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	gate = graph_job(&graph, "gate", "a");
	gate->gate_count = 1;
	gate->argv.n = 0;
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	input.act = (struct input_act){ .verb = ACT_PUSHBACK, .run = run, .job = slice_str("gate"),
		.text = slice_make("too\0slow", 8), .principal = 1, .person = slice_str("ana"),
		.digest = rig_digest(rig, run, "gate"), .target = slice_str("a") };
	rig_step(rig, &input);
	ASSERT(slice_eq(slice_str("too slow"), rig_job(rig, rig_named(rig, run, "a")).pushback));
	rig_free(rig);
	PASS();
}

/*
 * A run came in between, so the serial numbers of the added jobs don't follow those of the first; the cause is right
 * all the same.
 */
TEST added_job_shows_the_cause_of_its_end(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run = submit(rig, 1), first;

	submit(rig, 3);
	graph_job(&graph, "b", "");
	graph_job(&graph, "c", "b");
	graph_job(&graph, "d", "c*");
	first = grow(rig, run, &graph, "");
	rig_cancel(rig, run, "b");
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "c"));
	ASSERT_EQ(first + 1, rig_job(rig, rig_named(rig, run, "c")).cause);
	rig_restart(rig);
	ASSERT_EQ(first + 1, rig_job(rig, rig_named(rig, run, "c")).cause);
	rig_free(rig);
	PASS();
}

/* A run's group place covers all sub-runs below it: one that needed its own place would wait for ever. */
TEST group_place_counts_for_sub_runs(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, middle = { 0 }, deep = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&deep, "x", "");
	sub_job(&middle, "deeper", "", &deep)->sub_concurrency = slice_str("g");
	sub_job(&graph, "deep", "", &middle);
	rig->concurrency = "g";
	run = rig_submit(rig, &graph);
	while (rig_run_one(rig, 0))
		;
	ASSERT(row_ended(rig, run) != 0);
	rig_free(rig);
	PASS();
}

/* --- schedules --- */

static void add(struct rig *rig, enum overlap overlap)
{
	struct rec_schedule_spec spec = { .cron = slice_str("0 * * * *"), .overlap = overlap };
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000, .request = ++rig->request };
	struct graph_part part = { .count = 1 };
	struct graph graph = { 0 };
	struct buf bytes = { 0 };

	graph_job(&graph, "a", "");
	part.body = graph_blob(&graph);
	graph_free(&graph);
	record_encode(&bytes, REC_schedule_spec, &spec);
	input.submit = (struct input_submit){ .principal = 1, .owner = slice_str("ana"), .name = slice_str("hourly"),
		.parts = &part, .part_count = 1, .schedule = buf_slice(&bytes), .key = { 9 }, .digest = { 9 } };
	rig_step(rig, &input);
	CHECK(rig->error.code == ERR_NONE);
	blob_release(part.body);
	buf_free(&bytes);
}

static struct rec_schedule_row schedule(struct rig *rig)
{
	struct rec_schedule_row row = { 0 };

	CHECK(view_schedule(rig->core, 0, 1, &rig->arena, &row));
	return row;
}

TEST schedule_shows_when_runs_fired_and_were_skipped(void)
{
	struct rig *rig = rig_new();

	rig->now.wall_ms = 480000 * HOUR_MS;
	rig_pass(rig, 0);
	add(rig, OVERLAP_SKIP);
	rig_pass(rig, HOUR_MS / 2);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_SCHEDULE, .name = slice_str("hourly"), .verb = SET_FIRE });
	ASSERT_EQ(rig->now.wall_ms, schedule(rig).last_ms);      /* by hand: now */
	rig_pass(rig, HOUR_MS / 2 + 5);
	ASSERT(schedule(rig).skipped == 1 && schedule(rig).skip_why == SKIP_OVERLAP);
	ASSERT_EQ(rig->now.wall_ms, schedule(rig).skip_ms);
	rig_free(rig);
	PASS();
}

TEST queued_run_of_a_schedule_shows_when_the_run_began(void)
{
	struct rig *rig = rig_new();

	rig->now.wall_ms = 480000 * HOUR_MS;
	rig_pass(rig, 0);
	add(rig, OVERLAP_QUEUE);
	rig_pass(rig, HOUR_MS);
	rig_pass(rig, HOUR_MS);
	ASSERT(schedule(rig).queued == 1 && schedule(rig).last_ms == rig->now.wall_ms - HOUR_MS);
	rig_pass(rig, 1000);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 0);
	rig_pass(rig, 1);
	ASSERT(schedule(rig).queued == 0 && schedule(rig).fired == 2);
	ASSERT_EQ(rig->now.wall_ms, schedule(rig).last_ms);
	rig_free(rig);
	PASS();
}

SUITE(shown)
{
	RUN_TEST(lock_taken_again_shows_first_time_and_latest_reason);
	RUN_TEST(group_shows_runs_that_wait_for_a_place);
	RUN_TEST(held_jobs_count_in_the_tenants_queue);
	RUN_TEST(held_job_comes_before_no_other_of_its_tenant);
	RUN_TEST(added_jobs_count_for_the_tenant_of_their_run);
	RUN_TEST(dead_letter_shows_the_submitter);
	RUN_TEST(unknown_job_shows_the_person_who_settled);
	RUN_TESTp(decision_records_the_digest_shown, ACT_APPROVE);
	RUN_TESTp(decision_records_the_digest_shown, ACT_REJECT);
	RUN_TEST(push_back_reason_is_shown_whole);
	RUN_TEST(added_job_shows_the_cause_of_its_end);
	RUN_TEST(group_place_counts_for_sub_runs);
	RUN_TEST(schedule_shows_when_runs_fired_and_were_skipped);
	RUN_TEST(queued_run_of_a_schedule_shows_when_the_run_began);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(shown);
	GREATEST_MAIN_END();
}
