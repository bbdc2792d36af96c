/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A worker whose jobs could act as the owner gets only the owner's jobs. Other jobs say that they wait for another worker. */
#include "tests/unit/core_place.h"
#include "tests/unit/core_why.h"

/* Make a rig whose master has this owner; empty: none. All runs are ana's, so with another owner ana is a stranger. */
static struct rig *rig_of(const char *owner)
{
	struct rig *rig = rig_new();

	rig->config.owner = slice_str(owner);
	rig_restart(rig);
	return rig;
}

static void join_owners(struct rig *rig, const char *name, uint64_t slots)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };

	input.hello = (struct input_hello){ .name = slice_str(name), .instance = slice_str("0123456789abcdef"), .slots = slots, .pid = 9,
					    .owners_only = true };
	rig_step(rig, &input);
}

static uint64_t submit_one(struct rig *rig)
{
	struct graph graph = { 0 };

	graph_job(&graph, "a", "");
	return rig_submit(rig, &graph);
}

TEST job_of_a_stranger_waits_and_says_why(void)
{
	struct rig *rig = rig_of("zoe");
	uint64_t run = submit_one(rig);

	join_owners(rig, "local", 4);
	ASSERT_STR_EQ("", holder(rig, run, "a"));
	ASSERT_STR_EQ("worker_of_owner: worker local: jobs there run as a user who has rights at this master, so only those of zoe may; start a "
		      "worker as another user, or set trust_submitters: yes in titan.conf", why(rig, run, "a"));
	join(rig, "other", 1, "", "", "");
	ASSERT_STR_EQ("other", holder(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST job_of_the_owner_runs_there(void)
{
	struct rig *rig = rig_of("ana");
	uint64_t run = submit_one(rig);

	join_owners(rig, "local", 1);
	ASSERT_STR_EQ("local", holder(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST job_of_a_stranger_waits_after_a_restart_too(void)
{
	struct rig *rig = rig_of("zoe");
	uint64_t run = submit_one(rig);

	rig_restart(rig);
	join_owners(rig, "local", 1);
	ASSERT_STR_EQ("", holder(rig, run, "a"));
	rig_restart(rig);
	join(rig, "local", 1, "", "", "");       /* the same worker, which now runs as another user */
	ASSERT_STR_EQ("local", holder(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST job_of_a_stranger_with_requirements_waits_too(void)
{
	struct rig *rig = rig_of("zoe");
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->only_worker = slice_str("local");
	run = rig_submit(rig, &graph);
	join_owners(rig, "local", 1);
	ASSERT_STR_EQ("", holder(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST without_an_owner_nobody_is_a_stranger(void)
{
	struct rig *rig = rig_of("");
	uint64_t run = submit_one(rig);

	join_owners(rig, "local", 1);
	ASSERT_STR_EQ("local", holder(rig, run, "a"));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(job_of_a_stranger_waits_and_says_why);
	RUN_TEST(job_of_the_owner_runs_there);
	RUN_TEST(job_of_a_stranger_waits_after_a_restart_too);
	RUN_TEST(job_of_a_stranger_with_requirements_waits_too);
	RUN_TEST(without_an_owner_nobody_is_a_stranger);
	GREATEST_MAIN_END();
}
