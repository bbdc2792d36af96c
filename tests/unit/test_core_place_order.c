/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Order among jobs of several classes: priority, then the tenant furthest behind, then age; at groups too. */
#include "tests/unit/core_place.h"

#include "base/rand.h"

#define TENANTS 5
#define JOBS 60                          /* of each tenant */

struct waiting {
	uint64_t serial, priority;
	bool given;
};

struct line { /* the waiting jobs of a tenant, and its virtual time, computed as the core does */
	struct waiting jobs[JOBS];
	uint64_t pass, weight;
};

static struct slice tenant_name(unsigned tenant)
{
	return slice_make((const uint8_t *)"abcde" + tenant, 1);
}

static void submit(struct rig *rig, struct line *line, struct rand_state *rand, unsigned tenant)
{
	struct graph graph = { 0 };
	char name[16], wish[16];
	uint64_t run;

	for (unsigned i = 0; i < JOBS; i++) {
		struct rec_job_spec *job;

		snprintf(name, sizeof(name), "j%u", i);
		snprintf(wish, sizeof(wish), "w%u", (unsigned)rand_below(rand, 12));
		job = graph_job(&graph, name, "");
		job->prefer = words(rig, wish);
		line->jobs[i].priority = 50 + rand_below(rand, 3);
		job->priority = line->jobs[i].priority + 1;
	}
	rig->tenant = arena_strdup(&rig->arena, tenant_name(tenant));
	run = rig_submit(rig, &graph);
	for (unsigned i = 0; i < JOBS; i++) {
		snprintf(name, sizeof(name), "j%u", i);
		line->jobs[i].serial = rig_named(rig, run, name);
	}
}

static bool before(const struct line *a, const struct waiting *left, const struct line *b, const struct waiting *right)
{
	if (left->priority != right->priority)
		return left->priority > right->priority;
	return a->pass != b->pass ? a->pass < b->pass : left->serial < right->serial;
}

/* Pick the line whose job is next, by going through all lines. */
static uint64_t next(struct line lines[TENANTS], uint64_t *time)
{
	struct line *line = NULL;
	struct waiting *best = NULL;

	for (unsigned t = 0; t < TENANTS; t++)
		for (unsigned i = 0; i < JOBS; i++)
			if (!lines[t].jobs[i].given && (!best || before(&lines[t], &lines[t].jobs[i], line, best))) {
				line = &lines[t];
				best = &lines[t].jobs[i];
			}
	best->given = true;
	line->pass = line->pass < *time ? *time : line->pass;
	*time = line->pass;
	line->pass += (UINT64_C(1) << 24) / line->weight;
	return best->serial;
}

TEST jobs_of_all_classes_wait_in_one_order(void)
{
	struct rand_state rand;

	rand_seed(&rand, 11);
	for (int round = 0; round < 10; round++) {
		struct rig *rig = rig_new();
		struct line lines[TENANTS] = { 0 };
		struct rig_attempt attempt;
		uint64_t time = 0;

		rig->reload_every = 50;
		for (unsigned t = 0; t < TENANTS; t++) {
			lines[t].weight = 1 + t % 3;
			rig_set(rig, (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = tenant_name(t),
						       .weight = lines[t].weight });
			submit(rig, &lines[t], &rand, t);
		}
		for (int k = 0; k < 4; k++) {
			char name[16];

			snprintf(name, sizeof(name), "w%d", k);
			rig_hello(rig, name, TENANTS * JOBS / 4);
			while (rig_take(rig, &attempt))
				ASSERT_EQ(next(lines, &time), attempt.job);
		}
		for (unsigned t = 0; t < TENANTS; t++)
			for (unsigned i = 0; i < JOBS; i++)
				ASSERT(lines[t].jobs[i].given);
		rig_free(rig);
	}
	PASS();
}

static struct rec_job_spec *labelled(struct rig *rig, struct graph *graph, const char *name, const char *label, bool grouped)
{
	struct rec_job_spec *job = graph_job(graph, name, "");

	job->labels = words(rig, label);
	if (grouped)
		job->concurrency = words(rig, "g=1");
	return job;
}

/*
 * When the first job of a run is assigned, the bound of the run is full. The second job is parked at that bound and
 * gives up its turn in its group, so another tenant's job is assigned at once.
 */
TEST job_parked_at_a_bound_lets_another_tenants_job_go(void)
{
	struct rig *rig = rig_new();
	struct graph holds = { 0 }, narrow = { 0 }, other = { 0 };
	uint64_t run, last;

	labelled(rig, &holds, "h", "h", true);
	rig_submit(rig, &holds);
	join(rig, "one", 2, "h", "", "");
	labelled(rig, &narrow, "first", "x", false);
	labelled(rig, &narrow, "second", "x y", true);
	rig->max_jobs = 1;
	run = rig_submit(rig, &narrow);
	labelled(rig, &other, "third", "x y", true);
	rig->max_jobs = 0;
	rig->tenant = "bert";
	last = rig_submit(rig, &other);
	rig_done(rig, rig_must_take(rig), OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("", holder(rig, run, "first"));
	join(rig, "two", 4, "x y", "", "");
	ASSERT_STR_EQ("two", holder(rig, run, "first"));
	ASSERT_STR_EQ("", holder(rig, run, "second"));
	ASSERT_STR_EQ("two", holder(rig, last, "third"));
	rig_free(rig);
	PASS();
}

static uint64_t one_of(struct rig *rig, const char *tenant, const char *groups, uint64_t priority, const char *labels)
{
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "j", "");

	job->concurrency = words(rig, groups);
	job->priority = priority;
	job->labels = words(rig, labels);
	rig->tenant = tenant;
	return rig_submit(rig, &graph);
}

/*
 * A job of two groups finds its other group full. The place that it leaves goes in the same turn to the next job, of
 * whichever tenant.
 */
TEST place_left_in_a_group_goes_to_another_tenant_at_once(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt has, blocks;
	uint64_t both, other;

	join(rig, "w", 3, "gpu", "", "");
	one_of(rig, "a", "h", 0, "");
	rig_started(rig, has = rig_must_take(rig));
	one_of(rig, "a", "", 0, "");
	rig_started(rig, blocks = rig_must_take(rig));
	both = one_of(rig, "a", "g h", 0, "");
	other = one_of(rig, "b", "h", 0, "");
	one_of(rig, "a", "", 0, "");
	rig_started(rig, rig_must_take(rig));
	one_of(rig, "a", "g", 71, "gpu");
	ASSERT_EQ(0, (int)rig->assigned_count - (int)rig->assigned_first);
	done_together(rig, has, blocks);
	ASSERT_STR_EQ("", holder(rig, both, "j"));
	ASSERT_STR_EQ("w", holder(rig, other, "j"));
	rig_free(rig);
	PASS();
}

/* A held job that was let into the queue when its group had room gives its place to the next job of the group. */
TEST held_job_leaves_its_place_to_the_next(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt has, other;
	uint64_t first, next;

	join(rig, "w", 2, "", "", "");
	one_of(rig, "a", "g", 0, "");
	rig_started(rig, has = rig_must_take(rig));
	first = one_of(rig, "a", "g", 0, "");
	next = one_of(rig, "a", "g", 0, "");
	one_of(rig, "a", "", 0, "");
	rig_started(rig, other = rig_must_take(rig));
	one_of(rig, "a", "", 71, "");
	rig_done(rig, has, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("", holder(rig, first, "j"));
	rig_act(rig, ACT_HOLD, first, "j", 0);
	rig_done(rig, other, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("w", holder(rig, next, "j"));
	rig_free(rig);
	PASS();
}

/* A run's place in its group is for all of its jobs, whatever other bounds each of them has. */
TEST run_with_a_place_in_its_group_has_it_for_all_jobs(void)
{
	static const char *const groups[] = { "", "x", "y", "z" };
	struct rig *rig = rig_new();
	struct graph first = { 0 }, second = { 0 };
	struct rig_attempt attempt;
	uint64_t run;

	rig->concurrency = "g";
	join(rig, "w", 4, "", "", "");
	graph_job(&first, "a", "");
	rig_submit(rig, &first);
	rig_started(rig, attempt = rig_must_take(rig));
	for (int i = 0; i < 4; i++)
		graph_job(&second, (char[]){ (char)('a' + i), 0 }, "")->concurrency = words(rig, groups[i]);
	run = rig_submit(rig, &second);
	ASSERT_EQ(0, (int)rig->assigned_count - (int)rig->assigned_first);
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	rig_pass(rig, 1);
	for (int i = 0; i < 4; i++)
		ASSERT_STR_EQ("w", holder(rig, run, (char[]){ (char)('a' + i), 0 }));
	rig_free(rig);
	PASS();
}

/* A job that returns to the queue is ranked by the priority that it was given meanwhile. */
TEST job_that_waits_again_goes_by_its_new_priority(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rig_attempt attempt;
	uint64_t run, other;

	join(rig, "w", 1, "", "", "");
	graph_job(&graph, "parent", "")->priority = 101;
	graph_job(&graph, "child", "parent");
	graph_job(&graph, "open", "")->gate_count = 1;
	run = rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	one_of(rig, "ana", "", 91, "");
	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	rig_cancel(rig, run, "child");
	rig_act(rig, ACT_RETRY, run, "parent", RETRY_FROM);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "child"));
	rig_act(rig, ACT_PRIORITY, run, "child", 80);
	other = one_of(rig, "ana", "", 71, "");
	rig_run_one(rig, 0);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("w", holder(rig, run, "child"));
	ASSERT_STR_EQ("", holder(rig, other, "j"));
	rig_free(rig);
	PASS();
}

/* A job that was given another priority while it was held is ranked by it after the release. */
TEST released_job_goes_by_its_new_priority(bool whole_run)
{
	struct rig *rig = rig_new();
	const char *held = whole_run ? "" : "j";
	struct rig_attempt blocks;
	uint64_t first, second;

	join(rig, "w", 1, "", "", "");
	one_of(rig, "a", "", 0, "");
	rig_started(rig, blocks = rig_must_take(rig));
	first = one_of(rig, "a", "", 0, "");
	second = one_of(rig, "a", "", 0, "");
	rig_act(rig, ACT_HOLD, second, held, 0);
	rig_act(rig, ACT_PRIORITY, second, "j", 80);
	rig_act(rig, ACT_RELEASE, second, held, 0);
	rig_done(rig, blocks, OUTCOME_EXIT, 0);
	ASSERT_STR_EQ("w", holder(rig, second, "j"));
	ASSERT_STR_EQ("", holder(rig, first, "j"));
	rig_free(rig);
	PASS();
}

SUITE(order)
{
	RUN_TEST(job_parked_at_a_bound_lets_another_tenants_job_go);
	RUN_TEST(jobs_of_all_classes_wait_in_one_order);
	RUN_TEST(place_left_in_a_group_goes_to_another_tenant_at_once);
	RUN_TEST(held_job_leaves_its_place_to_the_next);
	RUN_TEST(run_with_a_place_in_its_group_has_it_for_all_jobs);
	RUN_TEST(job_that_waits_again_goes_by_its_new_priority);
	RUN_TESTp(released_job_goes_by_its_new_priority, false);
	RUN_TESTp(released_job_goes_by_its_new_priority, true);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(order);
	GREATEST_MAIN_END();
}
