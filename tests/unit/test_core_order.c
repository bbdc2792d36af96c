/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose turn it is among jobs that want different things: priority, then the tenant furthest behind, then age. */
#include "tests/unit/core_place.h"

#include "base/rand.h"

#define TENANTS 5
#define JOBS 60                          /* of each tenant */

struct waiting {
	uint64_t serial, priority;
	bool given;
};

struct line {                            /* a tenant's jobs, and its time by the same rule as the core's */
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

/* All of them looked at. */
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

TEST all_wait_in_one_line(void)
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
 * Once the first of a run is given out no other of it may be. The second made way for nobody in its group until then:
 * what is behind it there, of another tenant, is given out at once.
 */
TEST what_makes_way_while_jobs_are_placed_counts(void)
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

SUITE(order)
{
	RUN_TEST(what_makes_way_while_jobs_are_placed_counts);
	RUN_TEST(all_wait_in_one_line);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(order);
	GREATEST_MAIN_END();
}
