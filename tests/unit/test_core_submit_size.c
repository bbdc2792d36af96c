/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes of graphs: the largest is accepted, one more is refused because of its size. */
#include "tests/unit/core_grow.h"

/* Submit a graph that announces so many jobs but has bytes for one. */
static enum err says_jobs(struct rig *rig, uint64_t into, uint32_t count)
{
	struct graph graph = { 0 };
	struct graph_part part = { .count = count };
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000, .request = ++rig->request };
	uint64_t key = ++rig->keys;

	graph_job(&graph, "more", "");
	part.body = graph_blob(&graph);
	input.submit = (struct input_submit){ .principal = 1, .owner = slice_str("ana"), .parts = &part, .part_count = 1,
		.into = into, .name = slice_str(into ? NULL : "deploy") };
	memcpy(input.submit.key, &key, sizeof(key));
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
	blob_release(part.body);
	graph_free(&graph);
	return (enum err)rig->error.code;
}

/* If the size is allowed, the graph is refused for its bytes instead. */
TEST run_may_have_the_most_jobs_and_no_more(void)
{
	struct rig *rig = rig_new();

	ASSERT_EQ(ERR_INVALID, says_jobs(rig, 0, LIMIT_RUN_JOBS_MAX));
	ASSERT(rig_error_says(rig, ERR_INVALID, "has 1 jobs instead of 4194304"));
	ASSERT_EQ(ERR_TOO_LARGE, says_jobs(rig, 0, LIMIT_RUN_JOBS_MAX + 1));
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "the graph has 4194305 jobs"));
	rig_free(rig);
	PASS();
}

TEST run_may_have_the_most_jobs_with_added_ones(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	run = rig_submit(rig, &graph);
	ASSERT_EQ(ERR_INVALID, says_jobs(rig, run, LIMIT_RUN_JOBS_MAX - 2));
	ASSERT(rig_error_says(rig, ERR_INVALID, "has 1 jobs instead of 4194302"));
	ASSERT_EQ(ERR_TOO_LARGE, says_jobs(rig, run, LIMIT_RUN_JOBS_MAX - 1));
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "run 1 has 2 jobs; with 4194303 more it would exceed the limit of 4194304"));
	rig_free(rig);
	PASS();
}

static struct blob *job_of_variable(const char *text, size_t len)
{
	struct slice env[] = { slice_make(text, len) };
	struct graph graph = { 0 };
	struct blob *body;

	graph_job(&graph, "a", "")->env = (struct slice_list){ .at = env, .n = 1 };
	body = graph_blob(&graph);
	graph_free(&graph);
	return body;
}

TEST job_may_have_the_greatest_length_and_no_more(void)
{
	static char text[LIMIT_JOB_SPEC_MAX];
	const size_t some = LIMIT_JOB_SPEC_MAX - 1000;
	struct rig *rig = rig_new();
	struct blob *body;
	size_t around;

	memset(text, 'x', sizeof(text));
	text[1] = '=';
	body = job_of_variable(text, some);
	around = body->len - some;
	blob_release(body);
	for (size_t over = 0; over < 2; over++) {
		body = job_of_variable(text, LIMIT_JOB_SPEC_MAX - around + over);
		ASSERT_EQ(LIMIT_JOB_SPEC_MAX + over, body->len);
		ASSERT_EQ(over ? 0 : 1, rig_submit_bytes(rig, body, 1, 7 + over, 0));
		ASSERT(!over || rig_error_says(rig, ERR_TOO_LARGE, "job 0: its specification is too long"));
		blob_release(body);
	}
	rig_free(rig);
	PASS();
}

SUITE(sizes)
{
	RUN_TEST(run_may_have_the_most_jobs_and_no_more);
	RUN_TEST(run_may_have_the_most_jobs_with_added_ones);
	RUN_TEST(job_may_have_the_greatest_length_and_no_more);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(sizes);
	GREATEST_MAIN_END();
}
