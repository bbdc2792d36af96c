/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs that are refused, and the reasons: cycles, needs, jobs, and bytes that don't decode. */
#include "proto/expr.h"
#include "tests/unit/core_grow.h"

TEST cycle_is_named(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t second = 2;

	graph_job(&graph, "start", "");
	graph_job(&graph, "a", "start");
	graph_job(&graph, "b", "a");
	graph_job(&graph, "behind", "b");
	graph.jobs[1].needs.at = &second;        /* a cycle: a needs b, and b needs a */
	graph.jobs[1].triggers.n = 0;
	ASSERT_EQ(0, rig_submit(rig, &graph));
	ASSERT(rig_error_says(rig, ERR_CYCLE, "b -> a -> b"));
	ASSERT_EQ(0, view_run_before(rig->core, UINT64_MAX));
	ASSERT_EQ(0, rig->out.row_count);
	rig_free(rig);
	PASS();
}

/* The error names the cycle without the jobs that depend on it, wherever they are in the list. */
TEST cycle_is_named_without_jobs_behind_it(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t second = 2, third = 3;

	graph_job(&graph, "hangs", "");
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	graph_job(&graph, "behind", "b");
	graph.jobs[0].needs = (struct u64_list){ &third, 1 };
	graph.jobs[1].needs = (struct u64_list){ &second, 1 };
	graph.jobs[0].triggers.n = graph.jobs[1].triggers.n = 0;
	ASSERT_EQ(0, rig_submit(rig, &graph));
	ASSERT(rig_error_says(rig, ERR_CYCLE, "the graph has a cycle: a -> b -> a"));
	ASSERT(rig->error.text.len == strlen("the graph has a cycle: a -> b -> a"));
	rig_free(rig);
	PASS();
}

/* The error names the cycle without the jobs that it depends on, though they come first in the list. */
TEST cycle_is_named_without_jobs_before_it(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t needs[] = { 0, 2 };

	graph_job(&graph, "start", "");
	graph_job(&graph, "a", "start");
	graph_job(&graph, "b", "a");
	graph.jobs[1].needs = (struct u64_list){ needs, 2 };
	graph.jobs[1].triggers.n = 0;
	ASSERT_EQ(0, rig_submit(rig, &graph));
	ASSERT(rig_error_says(rig, ERR_CYCLE, "b -> a -> b"));
	rig_free(rig);
	PASS();
}

TEST long_cycle_is_named_in_part(void)
{
	for (uint64_t jobs = 8; jobs <= 10; jobs++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		uint64_t last = jobs - 1;
		struct buf told = { 0 };

		for (uint64_t i = 0; i < jobs; i++) {
			char name[] = { (char)('a' + i), '\0' }, before[] = { (char)('a' + i - 1), '\0' };

			graph_job(&graph, name, i > 0 ? before : "");
		}
		graph.jobs[0].needs = (struct u64_list){ &last, 1 };
		buf_add_str(&told, "the graph has a cycle: ");
		for (uint64_t i = 0; i < 8; i++)
			buf_addf(&told, "%c -> ", (int)('a' + (i + 1) % jobs));
		if (jobs > 8)
			buf_addf(&told, "(%d more) -> ", (int)jobs - 8);
		buf_addf(&told, "%c", 'b');
		ASSERT_EQ(0, rig_submit(rig, &graph));
		ASSERT(rig_error_says(rig, ERR_CYCLE, buf_cstr(&told)));
		buf_free(&told);
		rig_free(rig);
	}
	PASS();
}

TEST forward_needs_without_cycle(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t second = 1;

	graph_job(&graph, "late", "");
	graph_job(&graph, "early", "");
	graph.jobs[0].needs = (struct u64_list){ .at = &second, .n = 1 };
	ASSERT_EQ(1, rig_submit(rig, &graph));
	rig_hello(rig, "w", 2);
	ASSERT_EQ(2, rig_run_one(rig, 0));
	ASSERT_EQ(1, rig_run_one(rig, 0));
	rig_free(rig);
	PASS();
}

static bool refused(struct graph *graph, enum err code, const char *words)
{
	struct rig *rig = rig_new();
	bool is = rig_submit(rig, graph) == 0 && rig_error_says(rig, code, words) && rig->out.row_count == 0;
	struct core_totals totals;

	view_totals(rig->core, &totals);
	is = is && totals.live_jobs == 0 && totals.next_run == 1;
	rig_free(rig);
	return is;
}

TEST bad_needs_are_refused(void)
{
	uint64_t needs[2] = { 7, 7 };
	struct graph graph = { 0 };

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a")->needs.at = needs;
	ASSERT(refused(&graph, ERR_INVALID, "job 1 'b': needs: no job 7"));

	needs[0] = 1;
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a")->needs.at = needs;
	ASSERT(refused(&graph, ERR_CYCLE, "job 1 'b': needs: the job needs itself"));

	needs[0] = needs[1] = 0;
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a a")->needs.at = needs;
	ASSERT(refused(&graph, ERR_DUPLICATE, "needs: the list names a job twice"));

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	graph_job(&graph, "c", "b a b");
	ASSERT(refused(&graph, ERR_DUPLICATE, "job 2 'c': needs: the list names a job twice"));

	needs[0] = 4;
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a")->triggers.at = needs;
	ASSERT(refused(&graph, ERR_INVALID, "triggers: unknown"));
	PASS();
}

TEST bad_jobs_are_refused(void)
{
	struct graph graph = { 0 };

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	graph.jobs[1].name = slice_str("a");
	ASSERT(refused(&graph, ERR_DUPLICATE, "job 1 'a': name: job 0 already has"));

	graph_job(&graph, "a b", "");
	ASSERT(refused(&graph, ERR_INVALID, "name: "));

	graph_job(&graph, "a", "")->script = slice_str("true");
	ASSERT(refused(&graph, ERR_INVALID, "job 0 'a': argv: the job also has a script"));

	graph_job(&graph, "a", "")->argv.n = 0;
	ASSERT(refused(&graph, ERR_INVALID, "neither argv nor script"));

	graph_job(&graph, "a", "")->priority = 102;
	ASSERT(refused(&graph, ERR_INVALID, "priority"));

	graph_job(&graph, "a", "")->retry_max = LIMIT_RETRY_MAX + 1;
	ASSERT(refused(&graph, ERR_TOO_LARGE, "retry_max"));

	graph_job(&graph, "a", "")->timeout_ms = UINT64_MAX;
	ASSERT(refused(&graph, ERR_TOO_LARGE, "timeout_ms"));

	graph_job(&graph, "a", "")->dir = slice_make("a\0b", 3);
	ASSERT(refused(&graph, ERR_INVALID, "dir"));

	ASSERT(refused(&graph, ERR_INVALID, "no jobs"));
	PASS();
}

TEST bytes_must_fit_the_count(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct blob *body, *cut;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	body = graph_blob(&graph);
	ASSERT_EQ(0, rig_submit_bytes(rig, body, 1, 1, 1));
	ASSERT(rig_error_says(rig, ERR_INVALID, "has more bytes than its"));
	ASSERT_EQ(0, rig_submit_bytes(rig, body, 3, 2, 1));
	ASSERT(rig_error_says(rig, ERR_INVALID, "has 2 jobs instead of 3"));
	for (size_t len = 0; len < body->len; len++) {
		cut = blob_make(slice_make(body->data, len));
		ASSERT_EQ(0, rig_submit_bytes(rig, cut, 2, 3, 1));
		blob_release(cut);
	}
	ASSERT_EQ(1, rig_submit_bytes(rig, body, 2, 3, 1));
	blob_release(body);
	graph_free(&graph);
	rig_free(rig);
	PASS();
}

SUITE(graph_refused)
{
	RUN_TEST(cycle_is_named);
	RUN_TEST(cycle_is_named_without_jobs_behind_it);
	RUN_TEST(cycle_is_named_without_jobs_before_it);
	RUN_TEST(long_cycle_is_named_in_part);
	RUN_TEST(forward_needs_without_cycle);
	RUN_TEST(bad_needs_are_refused);
	RUN_TEST(bad_jobs_are_refused);
	RUN_TEST(bytes_must_fit_the_count);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(graph_refused);
	GREATEST_MAIN_END();
}
