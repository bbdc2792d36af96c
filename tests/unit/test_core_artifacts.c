/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that jobs leave: seen when the attempt that named them has succeeded; without them the job fails. */
#include "base/sha256.h"
#include "proto/input.h"
#include "tests/unit/core_place.h"

static struct rig *rig;
static struct rig_attempt attempt;
static struct slice glob;
static uint8_t hashes[3][SHA256_SIZE] = { { 1 }, { 2 }, { 3 } };

static void begin(uint64_t retry_max)
{
	glob = slice_str("+dist/**");
	rig = rig_new();
	rig_hello(rig, "w", 1);
	given(rig, (struct rec_job_spec){ .retry_max = retry_max, .backoff_ms = 1, .artifacts = { &glob, 1 } });
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
}

/* Name content number n, or with a fault none; did the core accept it? */
static bool name(uint64_t job, uint64_t epoch, int n, const char *fault)
{
	struct core_input input = {
		.kind = INPUT_ARTIFACTS, .conn = 900, .request = 7,
		.artifacts = { .caller = { job, epoch }, .size = 10, .files = 2, .fault = slice_str(fault) },
	};

	if (!fault)
		input.artifacts.hash = slice_make(hashes[n], SHA256_SIZE);
	rig_turn_begin(rig);
	core_step(rig->core, &input);
	rig_turn_end(rig);
	return rig_frames(rig, OP_OK, NULL) == 1;
}

/* What all can see of the job's files: the first byte of the hash, 0: nothing, -1: a fault. */
static int seen(const char *fault)
{
	struct rec_job_row row = rig_job(rig, attempt.job);
	struct rec_job_artifacts left;
	struct slice bytes = row.artifacts;
	struct arena arena = { 0 };
	int found;

	if (bytes.len == 0)
		return 0;
	if (record_decode(REC_job_artifacts, &bytes, &arena, &left, NULL) != ERR_NONE)
		return -2;
	found = left.hash.len > 0 ? left.hash.data[0] : fault && memmem(left.fault.data, left.fault.len, fault, strlen(fault)) ? -1 : -3;
	arena_free(&arena);
	return found;
}

TEST files_are_seen_when_the_job_has_succeeded(void)
{
	begin(0);
	ASSERT(name(attempt.job, attempt.epoch, 0, NULL));
	ASSERT_EQ_FMTm("not while it runs", 0, seen(NULL), "%d");
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	rig_free(rig);
	begin(0);
	ASSERT(name(attempt.job, attempt.epoch, 0, NULL));
	ASSERTm("the last name counts", name(attempt.job, attempt.epoch, 1, NULL));
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	ASSERT_EQ(STATE_SUCCEEDED, rig_job(rig, attempt.job).state);
	ASSERT_EQ_FMT(2, seen(NULL), "%d");
	rig_free(rig);
	PASS();
}

TEST job_without_its_files_fails(void)
{
	begin(0);
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	ASSERT_EQ(STATE_FAILED, rig_job(rig, attempt.job).state);
	ASSERT_EQ(OUTCOME_BAD_ARTIFACTS, rig_job(rig, attempt.job).outcome);
	ASSERT_EQ_FMT(-1, seen("before its worker had kept"), "%d");
	rig_free(rig);
	begin(0);
	ASSERT(name(attempt.job, attempt.epoch, 0, "no file matches 'dist/**'"));
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	ASSERT_EQ(OUTCOME_BAD_ARTIFACTS, rig_job(rig, attempt.job).outcome);
	ASSERT_EQ_FMT(-1, seen("no file matches"), "%d");
	rig_free(rig);
	begin(0);
	rig_done(rig, attempt, OUTCOME_EXIT, 3);
	ASSERT_EQ_FMTm("a failure stays as it is", OUTCOME_EXIT, (int)rig_job(rig, attempt.job).outcome, "%d");
	ASSERT_EQ_FMT(0, seen(NULL), "%d");
	rig_free(rig);
	PASS();
}

TEST files_of_a_failed_try_are_not_seen(void)
{
	begin(1);
	ASSERT(name(attempt.job, attempt.epoch, 0, NULL));
	rig_done(rig, attempt, OUTCOME_EXIT, 1);
	ASSERT_FALSEm("an attempt that ended names nothing", name(attempt.job, attempt.epoch, 1, NULL));
	rig_pass(rig, 100);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	ASSERT_EQ_FMTm("the second try named none", OUTCOME_BAD_ARTIFACTS, (int)rig_job(rig, attempt.job).outcome, "%d");
	ASSERT_EQ_FMT(-1, seen("before its worker"), "%d");
	rig_free(rig);
	PASS();
}

TEST only_jobs_that_declare_files_name_some(void)
{
	rig = rig_new();
	rig_hello(rig, "w", 1);
	given(rig, (struct rec_job_spec){ 0 });
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	ASSERT_FALSE(name(attempt.job, attempt.epoch, 0, NULL));
	ASSERT(rig_error_says(rig, ERR_INVALID, "declares no artifacts"));
	ASSERT_FALSE(name(attempt.job, attempt.epoch + 1, 0, NULL));
	ASSERT(rig_error_says(rig, ERR_STALE, "old attempt"));
	rig_free(rig);
	PASS();
}

/* The inputs of the attempt that was given last, as "path:first byte of the hash " each. */
static const char *inputs_given(void)
{
	static char text[256];
	struct outgoing last;
	struct rec_input input;
	struct arena arena = { 0 };
	struct slice rest;

	text[0] = '\0';
	if (rig_frames(rig, OP_ASSIGN, &last) == 0)
		return "nothing given";
	rest = last.assign.inputs;
	while (input_next(&rest, &arena, &input))
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.*s:%d ", (int)input.path.len, (const char *)input.path.data,
			 input.hash.data[0]);
	arena_free(&arena);
	return text;
}

TEST job_gets_the_files_of_jobs_that_it_needs(void)
{
	struct slice ins[] = { slice_str("a="), slice_str("a=d/e"), slice_str("f="), slice_str("f=g") };
	struct graph graph = { 0 };
	struct rec_job_spec *job;

	glob = slice_str("+dist/**");
	rig = rig_new();
	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->artifacts = (struct slice_list){ &glob, 1 };
	graph_job(&graph, "f[0]", "a")->artifacts = (struct slice_list){ &glob, 1 };
	graph_job(&graph, "f[1]", "f[0]");
	job = graph_job(&graph, "b", "f[1]");
	job->artifacts_in = (struct slice_list){ ins, 4 };
	rig_submit(rig, &graph);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	ASSERT(name(attempt.job, attempt.epoch, 0, NULL));
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	attempt = rig_must_take(rig);
	ASSERT(name(attempt.job, attempt.epoch, 1, NULL));
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	attempt = rig_must_take(rig);
	ASSERT_STR_EQm("who asks for none gets none", "", inputs_given());
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	attempt = rig_must_take(rig);
	ASSERT_STR_EQ(".:1 d/e:1 f/0:2 g/0:2 ", inputs_given());
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	rig_free(rig);
	PASS();
}

SUITE(core_artifacts)
{
	RUN_TEST(files_are_seen_when_the_job_has_succeeded);
	RUN_TEST(job_without_its_files_fails);
	RUN_TEST(files_of_a_failed_try_are_not_seen);
	RUN_TEST(job_gets_the_files_of_jobs_that_it_needs);
	RUN_TEST(only_jobs_that_declare_files_name_some);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(core_artifacts);
	GREATEST_MAIN_END();
}
