/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tenants: shares by weight, limits, and what is kept over a restart. */
#include "tests/unit/core_rig.h"

static uint64_t submit(struct rig *rig, const char *tenant, unsigned jobs)
{
	struct graph graph = { 0 };
	char name[16];

	rig->tenant = tenant;
	for (unsigned i = 0; i < jobs; i++) {
		snprintf(name, sizeof(name), "j%u", i);
		graph_job(&graph, name, "");
	}
	return rig_submit(rig, &graph);
}

static void set_tenant(struct rig *rig, const char *name, unsigned weight, unsigned max_jobs, unsigned max_queued)
{
	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str(name),
				       .weight = weight, .number = max_jobs + 1, .most = max_queued + 1 });
}

/* Make a rig without prefetch, so that attempts are assigned in the order of the queue. */
static struct rig *rig_strict(void)
{
	struct rig *rig = rig_new();

	rig->config.prefetch_off = true;
	rig_restart(rig);
	return rig;
}

/* Of the next attempts, each run to its end, count those of this run. */
static unsigned share_of(struct rig *rig, uint64_t run, unsigned attempts)
{
	unsigned of_run = 0;

	while (attempts-- > 0)
		of_run += rig_job(rig, rig_run_one(rig, 0)).run == run;
	return of_run;
}

TEST tenants_take_turns_by_weight(void)
{
	struct rig *rig = rig_strict();
	uint64_t big;

	rig->reload_every = 7;
	set_tenant(rig, "big", 3, 0, 0);
	ASSERT_EQ(1, rig->ok.count);
	big = submit(rig, "big", 200);
	submit(rig, "small", 200);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(60, share_of(rig, big, 80));
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	/* The worker reconnected without attempts, so those that it had are ready again. */
	ASSERT_IN_RANGE(30, share_of(rig, big, 40), 1);
	rig_free(rig);
	PASS();
}

TEST new_tenant_gains_no_credit(void)
{
	struct rig *rig = rig_strict();
	uint64_t first = submit(rig, "one", 60), second;

	rig->reload_every = 7;
	rig_hello(rig, "w", 1);
	ASSERT_EQ(20, share_of(rig, first, 20));
	second = submit(rig, "two", 30);
	/* A new tenant comes next; after that the tenants take turns. */
	ASSERT_IN_RANGE(5, share_of(rig, second, 10), 1);
	ASSERT_IN_RANGE(5, share_of(rig, second, 10), 1);
	rig_free(rig);
	PASS();
}

TEST priority_comes_before_shares(void)
{
	struct rig *rig = rig_strict();
	uint64_t first = submit(rig, "one", 10), second = submit(rig, "two", 10);

	rig_act(rig, ACT_PRIORITY, second, "", 60);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(10, share_of(rig, second, 10));
	ASSERT_EQ(10, share_of(rig, first, 10));
	rig_free(rig);
	PASS();
}

TEST age_decides_within_a_tenant(void)
{
	struct rig *rig = rig_strict();
	uint64_t first = submit(rig, "one", 5), second = submit(rig, "one", 5);

	rig_hello(rig, "w", 1);
	ASSERT_EQ(5, share_of(rig, first, 5));
	ASSERT_EQ(5, share_of(rig, second, 5));
	rig_free(rig);
	PASS();
}

static const char *why(struct rig *rig, uint64_t job, uint64_t *ret_code)
{
	struct rec_job_row row = { 0 };

	CHECK(view_job(rig->core, job, VIEW_BRIEF, &rig->arena, &row));
	CHECK(view_explain(rig->core, job, &rig->arena, &row));
	*ret_code = row.why_code;
	return arena_strdup(&rig->arena, row.why);
}

TEST tenant_at_its_limit_holds_up_no_other(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempts[8];
	uint64_t one, two, code;

	set_tenant(rig, "one", 1, 2, 0);
	one = submit(rig, "one", 6);
	two = submit(rig, "two", 4);
	rig_hello(rig, "w", 5);
	for (int i = 0; i < 5; i++)
		attempts[i] = rig_must_take(rig);
	ASSERT_FALSE(rig_take(rig, &attempts[5]));
	rig_restart(rig);
	rig_hello_held(rig, "w", 5, (struct rec_held[]){
		{ attempts[0].job, attempts[0].epoch, PHASE_RUNNING }, { attempts[1].job, attempts[1].epoch, PHASE_RUNNING },
		{ attempts[2].job, attempts[2].epoch, PHASE_RUNNING }, { attempts[3].job, attempts[3].epoch, PHASE_RUNNING },
		{ attempts[4].job, attempts[4].epoch, PHASE_RUNNING } }, 5);
	rig_hello(rig, "v", 9);
	/*
	 * The last attempt is the other tenant's, because the first tenant already has as many active jobs as its
	 * limit.
	 */
	attempts[5] = rig_must_take(rig);
	ASSERT_EQ(two, rig_job(rig, attempts[5].job).run);
	ASSERT_FALSE(rig_take(rig, &attempts[6]));
	ASSERT(strstr(why(rig, rig_named(rig, one, "j2"), &code), "2 jobs of tenant one are active, and the limit is 2") != NULL);
	ASSERT(strstr(why(rig, rig_named(rig, one, "j2"), &code), "this job comes next") != NULL);
	ASSERT(strstr(why(rig, rig_named(rig, one, "j5"), &code), "3 of the tenant's jobs come first") != NULL);
	set_tenant(rig, "one", 1, 3, 0);
	ASSERT_EQ(one, rig_job(rig, rig_must_take(rig).job).run);
	ASSERT_FALSE(rig_take(rig, &attempts[6]));
	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_REMOVE, .name = slice_str("one") });
	ASSERT_EQ(one, rig_job(rig, rig_must_take(rig).job).run);
	ASSERT_EQ(one, rig_job(rig, rig_must_take(rig).job).run);
	ASSERT_EQ(one, rig_job(rig, rig_must_take(rig).job).run);
	rig_free(rig);
	PASS();
}

/* Both the run and its tenant are at their limits; jobs are parked now at one, now at the other. */
TEST bounds_of_run_and_tenant_hold_together(void)
{
	struct rig *rig = rig_new();
	uint64_t one, two;

	rig->max_jobs = 2;
	set_tenant(rig, "one", 1, 3, 0);
	one = submit(rig, "one", 20);
	two = submit(rig, "one", 20);
	rig->max_jobs = 0;
	rig_hello(rig, "w", 8);
	for (int i = 0; i < 40; i++)
		ASSERT(rig_run_one(rig, 0) != 0);
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, one));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, two));
	core_sweep(rig->core, UINT64_MAX);
	core_check(rig->core);
	rig_free(rig);
	PASS();
}

TEST held_run_leaves_its_tenants_place_to_another_run(void)
{
	struct rig *rig = rig_new();
	uint64_t one, two;
	struct rig_attempt attempt;

	set_tenant(rig, "one", 1, 1, 0);
	one = submit(rig, "one", 3);
	two = submit(rig, "one", 3);
	rig_hello(rig, "w", 4);
	attempt = rig_must_take(rig);
	rig_act(rig, ACT_HOLD, one, "", 0);
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	attempt = rig_must_take(rig);
	ASSERT_EQ(two, rig_job(rig, attempt.job).run);
	rig_act(rig, ACT_RELEASE, one, "", 0);
	rig_cancel(rig, two, "j1");
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	while (rig_run_one(rig, 0))
		;
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, one));
	ASSERT_EQ(RUN_CANCELLED, rig_run_state(rig, two));
	rig_free(rig);
	PASS();
}

TEST full_queue_of_a_tenant_refuses_a_submit(void)
{
	struct rig *rig = rig_new();
	uint64_t run;

	set_tenant(rig, "one", 1, 0, 5);
	run = submit(rig, "one", 4);
	ASSERT(run != 0);
	ASSERT_EQ(0, submit(rig, "one", 2));
	ASSERT(rig_error_says(rig, ERR_BUSY, "4 jobs queued"));
	ASSERT(submit(rig, "two", 20) != 0);
	rig_cancel(rig, run, "");
	ASSERT(submit(rig, "one", 5) != 0);
	rig_free(rig);
	PASS();
}

/* A submitter who names no tenant is a tenant: limits set for that name count for all the submitter's runs. */
TEST submitter_without_a_tenant_is_a_tenant(void)
{
	struct rig *rig = rig_new();

	set_tenant(rig, "ana", 1, 0, 3);
	ASSERT(submit(rig, NULL, 3) != 0);
	ASSERT_EQ(0, submit(rig, NULL, 1));
	ASSERT(rig_error_says(rig, ERR_BUSY, "tenant ana has 3 jobs queued"));
	ASSERT(submit(rig, "bob", 4) != 0);
	rig_free(rig);
	PASS();
}

/* The highest values that may be set are kept; one more is refused. */
TEST largest_limits_of_a_tenant_are_kept(void)
{
	struct rig *rig = rig_new();
	struct rec_tenant_row row = { 0 };

	set_tenant(rig, "one", LIMIT_TENANT_WEIGHT_MAX, LIMIT_RUN_JOBS_MAX - 1, LIMIT_RUN_JOBS_MAX - 1);
	ASSERT_EQ(1, rig->ok.count);
	rig_restart(rig);
	ASSERT(view_tenant(rig->core, 0, &row) > 0);
	ASSERT_EQ(LIMIT_TENANT_WEIGHT_MAX, row.weight);
	ASSERT_EQ(LIMIT_RUN_JOBS_MAX - 1, row.max_jobs);
	ASSERT_EQ(LIMIT_RUN_JOBS_MAX - 1, row.max_queued);
	set_tenant(rig, "two", LIMIT_TENANT_WEIGHT_MAX + 1, 0, 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "1 to 1000"));
	set_tenant(rig, "two", 1, LIMIT_RUN_JOBS_MAX, 0);
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "a limit must be below"));
	set_tenant(rig, "two", 1, 0, LIMIT_RUN_JOBS_MAX);
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "a limit must be below"));
	ASSERT_EQ(0, view_tenant(rig->core, 1, &row));
	rig_free(rig);
	PASS();
}

static bool loads_with(struct rig *rig, struct row_tenant tenant)
{
	struct error error = { 0 };
	struct core *core = core_new(&rig->config);
	enum err err = core_load_row(core, &(struct row){ .table = TABLE_tenant,
							  .tenant = { slice_str("one"), 1, 0, 0 } }, &error);

	if (err == ERR_NONE)
		err = core_load_row(core, &(struct row){ .table = TABLE_tenant, .tenant = tenant }, &error);
	core_free(core);
	CHECK(err == ERR_NONE || (err == ERR_STORE_TRUST && strstr(error.text, "tenant")));
	return err == ERR_NONE;
}

/* Each impossible field is refused alone, with all others valid. */
TEST impossible_tenant_rows_are_refused(void)
{
	const int64_t most = LIMIT_RUN_JOBS_MAX - 1;
	const struct slice two = slice_str("two");
	struct rig *rig = rig_new();

	ASSERT(loads_with(rig, (struct row_tenant){ two, 1, 0, 0 }));
	ASSERT(loads_with(rig, (struct row_tenant){ two, LIMIT_TENANT_WEIGHT_MAX, most, most }));
	ASSERT_FALSE(loads_with(rig, (struct row_tenant){ slice_str("one"), 1, 0, 0 }));
	ASSERT_FALSE(loads_with(rig, (struct row_tenant){ slice_str("t w o"), 1, 0, 0 }));
	ASSERT_FALSE(loads_with(rig, (struct row_tenant){ two, 0, 0, 0 }));
	ASSERT_FALSE(loads_with(rig, (struct row_tenant){ two, LIMIT_TENANT_WEIGHT_MAX + 1, 0, 0 }));
	ASSERT_FALSE(loads_with(rig, (struct row_tenant){ two, 1, -1, 0 }));
	ASSERT_FALSE(loads_with(rig, (struct row_tenant){ two, 1, most + 1, 0 }));
	ASSERT_FALSE(loads_with(rig, (struct row_tenant){ two, 1, 0, -1 }));
	ASSERT_FALSE(loads_with(rig, (struct row_tenant){ two, 1, 0, most + 1 }));
	rig_free(rig);
	PASS();
}

TEST tenants_come_and_go(void)
{
	struct rig *rig = rig_new();
	uint64_t run;

	rig_hello(rig, "w", 2);
	for (int i = 0; i < 6; i++) {
		run = submit(rig, i % 2 ? "odd" : "even", 3);
		rig_cancel(rig, run, "j2");
		rig_run_all(rig);
		core_sweep(rig->core, UINT64_MAX);
		core_check(rig->core);
	}
	ASSERT_EQ(0, submit(rig, "no such name", 1));
	ASSERT(rig_error_says(rig, ERR_INVALID, "tenant"));
	set_tenant(rig, "one", 1001, 0, 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "1 to 1000"));
	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_REMOVE, .name = slice_str("one") });
	ASSERT(rig_error_says(rig, ERR_NOT_FOUND, "nobody has set a weight or limit of tenant one"));
	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_FIRE, .name = slice_str("one") });
	ASSERT(rig_error_says(rig, ERR_INVALID, "unknown change of a tenant: 8"));
	rig_free(rig);
	PASS();
}

TEST removed_tenant_has_default_weight(void)
{
	struct rig *rig = rig_new();
	struct rec_tenant_row row = { 0 };
	struct graph graph = { 0 };

	graph_job(&graph, "a", "");
	rig_submit(rig, &graph);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str("ana"), .weight = 7,
				       .number = 3, .most = 9 });
	ASSERT(view_tenant(rig->core, 0, &row) > 0 && row.weight == 7);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_REMOVE, .name = slice_str("ana") });
	row = (struct rec_tenant_row){ 0 };
	ASSERT(view_tenant(rig->core, 0, &row) > 0);
	ASSERT_EQ(1, row.weight);
	rig_free(rig);
	PASS();
}

SUITE(tenants)
{
	RUN_TEST(tenants_take_turns_by_weight);
	RUN_TEST(new_tenant_gains_no_credit);
	RUN_TEST(priority_comes_before_shares);
	RUN_TEST(age_decides_within_a_tenant);
	RUN_TEST(tenant_at_its_limit_holds_up_no_other);
	RUN_TEST(bounds_of_run_and_tenant_hold_together);
	RUN_TEST(held_run_leaves_its_tenants_place_to_another_run);
	RUN_TEST(full_queue_of_a_tenant_refuses_a_submit);
	RUN_TEST(submitter_without_a_tenant_is_a_tenant);
	RUN_TEST(largest_limits_of_a_tenant_are_kept);
	RUN_TEST(impossible_tenant_rows_are_refused);
	RUN_TEST(tenants_come_and_go);
	RUN_TEST(removed_tenant_has_default_weight);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(tenants);
	GREATEST_MAIN_END();
}
