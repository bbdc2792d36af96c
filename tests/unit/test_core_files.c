/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of jobs in the core: which contents a graph may name, and what becomes of a job whose files can't be put in place. */
#include "tests/unit/core_why.h"

#include <errno.h>

#include "proto/input.h"

GREATEST_MAIN_DEFS();

static void add_input(struct buf *out, const char *path, uint8_t first)
{
	const uint8_t hash[INPUT_HASH_SIZE] = { first };
	const struct rec_input input = { .path = slice_str(path), .hash = slice_make(hash, sizeof(hash)), .kind = ASSET_FILE };

	record_encode(out, REC_input, &input);
}

/* Submit one job with these inputs and a list of these contents. */
static bool submit(struct rig *rig, struct slice inputs, struct slice contents, bool known)
{
	struct rec_job_spec spec = { .name = slice_str("j"), .script = slice_str("true"), .inputs = inputs };
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1, .request = ++rig->request };
	struct graph_part part = { .count = 1 };
	size_t errors = rig->errors;
	struct buf bytes = { 0 };

	record_encode(&bytes, REC_job_spec, &spec);
	part.body = blob_make(buf_slice(&bytes));
	input.submit = (struct input_submit){
		.principal = 1, .owner = slice_str("ana"), .name = slice_str("run"), .parts = &part, .part_count = 1, .contents = contents,
		.contents_known = known,
	};
	memcpy(input.submit.key, &rig->request, sizeof(rig->request));
	rig_step(rig, &input);
	blob_release(part.body);
	buf_free(&bytes);
	return rig->errors == errors;
}

TEST graph_may_name_only_its_contents(void)
{
	struct buf inputs = { 0 }, contents = { 0 };
	struct rig *rig = rig_new();

	add_input(&inputs, "data", 1);
	add_input(&contents, "", 2);
	ASSERT_FALSE(submit(rig, buf_slice(&inputs), buf_slice(&contents), false));
	ASSERT(rig_error_says(rig, ERR_INVALID, "the content of data isn't among those of the submit"));
	add_input(&contents, "", 1);
	ASSERT(submit(rig, buf_slice(&inputs), buf_slice(&contents), false));
	ASSERTm("what was submitted before", submit(rig, buf_slice(&inputs), slice_make(NULL, 0), true));
	buf_free(&inputs);
	buf_free(&contents);
	rig_free(rig);
	PASS();
}

TEST names_must_stay_in_the_directory(void)
{
	static const char *const bad[] = { "../x", "/x", "a/../b", ".", "", "a//b", "a/", ".titan-script" };
	struct rig *rig = rig_new();
	struct buf inputs = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		buf_clear(&inputs);
		add_input(&inputs, bad[i], 1);
		ASSERT_FALSEm(bad[i], submit(rig, buf_slice(&inputs), slice_make(NULL, 0), true));
	}
	buf_clear(&inputs);
	add_input(&inputs, "a", 1);
	add_input(&inputs, "a/b", 2);
	ASSERT_FALSE(submit(rig, buf_slice(&inputs), slice_make(NULL, 0), true));
	ASSERT(rig_error_says(rig, ERR_INVALID, "a file can't be inside another file"));
	ASSERT_FALSEm("no list", submit(rig, slice_str("x"), slice_make(NULL, 0), true));
	buf_clear(&inputs);
	add_input(&inputs, ".hidden", 1);
	add_input(&inputs, "a..b/c", 1);
	ASSERT(submit(rig, buf_slice(&inputs), slice_make(NULL, 0), true));
	buf_free(&inputs);
	rig_free(rig);
	PASS();
}

static void fail_stage(struct rig *rig, struct rig_attempt attempt, uint64_t code)
{
	struct rec_done done = { .job = attempt.job, .epoch = attempt.epoch, .outcome = OUTCOME_STAGE_FAILED, .code = code,
				 .ended_ms = rig->now.wall_ms };
	struct core_input input = { .kind = INPUT_DONE, .conn = attempt.conn };

	input.done.at = &done;
	input.done.n = 1;
	rig_step(rig, &input);
}

TEST full_disk_costs_the_job_nothing(void)
{
	struct rig *rig = rig_new();
	struct buf inputs = { 0 };
	struct rig_attempt attempt;

	rig_hello(rig, "poor", 1);
	add_input(&inputs, "data", 1);
	ASSERT(submit(rig, buf_slice(&inputs), slice_make(NULL, 0), true));
	attempt = rig_must_take(rig);
	ASSERT_STR_EQ("sent: the job was given to worker poor, which gets its files and then starts it", why(rig, 1, "j"));
	fail_stage(rig, attempt, ENOSPC);
	ASSERT_EQ(STATE_READY, rig_job(rig, attempt.job).state);
	ASSERT_EQ(0, (int)rig_job(rig, attempt.job).tries);
	rig_hello(rig, "rich", 1);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	ASSERT_EQ(1, (int)rig_job(rig, attempt.job).tries);
	buf_free(&inputs);
	rig_free(rig);
	PASS();
}

TEST lost_content_fails_the_job(void)
{
	struct rig *rig = rig_new();
	struct buf inputs = { 0 };
	struct rig_attempt attempt;

	rig_hello(rig, "w", 1);
	add_input(&inputs, "data", 1);
	ASSERT(submit(rig, buf_slice(&inputs), slice_make(NULL, 0), true));
	attempt = rig_must_take(rig);
	fail_stage(rig, attempt, ENOENT);
	ASSERT_EQ(STATE_FAILED, rig_job(rig, attempt.job).state);
	ASSERT_EQ(OUTCOME_STAGE_FAILED, (int)rig_job(rig, attempt.job).outcome);
	buf_free(&inputs);
	rig_free(rig);
	PASS();
}

TEST worker_may_read_for_the_attempts_it_has(void)
{
	struct rig *rig = rig_new();
	struct buf inputs = { 0 };
	struct arena arena = { 0 };
	struct rig_attempt attempt;
	struct slice found;

	rig_hello(rig, "w", 1);
	rig_hello(rig, "other", 1);
	add_input(&inputs, "data", 1);
	ASSERT(submit(rig, buf_slice(&inputs), slice_make(NULL, 0), true));
	attempt = rig_must_take(rig);
	ASSERT(view_attempt_inputs(rig->core, view_worker_on(rig->core, attempt.conn), attempt.job, attempt.epoch, &arena, &found));
	ASSERT(slice_eq(found, buf_slice(&inputs)));
	ASSERT_FALSE(view_attempt_inputs(rig->core, 3 - view_worker_on(rig->core, attempt.conn), attempt.job, attempt.epoch, &arena, &found));
	ASSERT_FALSE(view_attempt_inputs(rig->core, view_worker_on(rig->core, attempt.conn), attempt.job, attempt.epoch - 1, &arena, &found));
	rig_started(rig, attempt);
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	ASSERT_FALSE(view_attempt_inputs(rig->core, view_worker_on(rig->core, attempt.conn), attempt.job, attempt.epoch, &arena, &found));
	arena_free(&arena);
	buf_free(&inputs);
	rig_free(rig);
	PASS();
}

SUITE(core_files)
{
	RUN_TEST(graph_may_name_only_its_contents);
	RUN_TEST(names_must_stay_in_the_directory);
	RUN_TEST(full_disk_costs_the_job_nothing);
	RUN_TEST(lost_content_fails_the_job);
	RUN_TEST(worker_may_read_for_the_attempts_it_has);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(core_files);
	GREATEST_MAIN_END();
}
