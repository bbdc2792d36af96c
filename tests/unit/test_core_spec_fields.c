/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Single fields of a specification at their limits, and combinations that are refused. */
#include "tests/unit/core_place.h"

#include "proto/expr.h"

/* The reason why a job with this change is refused; "": it is accepted. */
static const char *refused(void (*spoil)(struct rig *rig, struct rec_job_spec *job))
{
	static char text[256];
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");

	spoil(rig, job);
	text[0] = '\0';
	if (!rig_submit(rig, &graph))
		snprintf(text, sizeof(text), "%s: %.*s", err_name((enum err)rig->error.code), (int)rig->error.text.len,
			 (const char *)rig->error.text.data);
	rig_free(rig);
	return text;
}

static struct slice_list so_many(struct rig *rig, size_t count)
{
	struct slice_list list = { .at = arena_alloc(&rig->arena, count * sizeof(struct slice)), .n = count };

	for (size_t i = 0; i < count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "p%02zu", i);
		list.at[i] = slice_str(arena_strdup(&rig->arena, slice_str(name)));
	}
	return list;
}

static struct slice long_text(struct rig *rig, size_t len)
{
	char *text = arena_alloc(&rig->arena, len);

	memset(text, 'x', len);
	return slice_make(text, len);
}

static struct slice shell_path(struct rig *rig, size_t len)
{
	char *text = arena_alloc(&rig->arena, len);

	memset(text, 'x', len);
	text[0] = '/';
	return slice_make(text, len);
}

static struct u64_list from_on(struct rig *rig, uint64_t first, size_t count)
{
	struct u64_list list = { .at = arena_alloc(&rig->arena, count * sizeof(uint64_t)), .n = count };

	for (size_t i = 0; i < count; i++)
		list.at[i] = first + i;
	return list;
}

#define SPOIL(name, ...) \
	static void name(struct rig *rig, struct rec_job_spec *job) { (void)rig; __VA_ARGS__; }

SPOIL(wishes, job->prefer = so_many(rig, LIMIT_LABELS_MAX))
SPOIL(wishes_over, job->prefer = so_many(rig, LIMIT_LABELS_MAX + 1))
SPOIL(wish_bad, job->prefer = words(rig, "good b/d"))
SPOIL(worker_bad, job->only_worker = slice_str("a b"))
SPOIL(liked_bad, job->prefer_worker = slice_str("a b"))
SPOIL(pool_bad, job->pool = slice_str("a b"))
SPOIL(pool_none, job->pool_hard = true)
SPOIL(asks_bad, job->asks = words(rig, "tape"))
SPOIL(asks_none, job->asks = words(rig, "disk=1 tape=0"))
SPOIL(affinity_over, job->affinity = AFFINITY_STICKY + 1)
SPOIL(affinity_none, job->affinity_hard = true)
SPOIL(affinity_last, job->affinity = AFFINITY_STICKY; job->affinity_hard = true)
SPOIL(codes_without_exit, static uint64_t codes[] = { 3 }; job->retry_max = 1; job->retry_on = RETRY_ON_SIGNAL;
      job->retry_codes = (struct u64_list){ codes, 1 })
SPOIL(codes_of_all_ends, static uint64_t codes[] = { 1, 255 }; job->retry_max = 1; job->retry_codes = (struct u64_list){ codes, 2 })
SPOIL(codes_that_there_are, job->retry_max = 1; job->retry_codes = from_on(rig, 1, LIMIT_RETRY_CODES_MAX))
SPOIL(code_zero, static uint64_t codes[] = { 0 }; job->retry_max = 1; job->retry_codes = (struct u64_list){ codes, 1 })
SPOIL(code_over, static uint64_t codes[] = { 256 }; job->retry_max = 1; job->retry_codes = (struct u64_list){ codes, 1 })
SPOIL(code_twice, static uint64_t codes[] = { 7, 7 }; job->retry_max = 1; job->retry_codes = (struct u64_list){ codes, 2 })
SPOIL(once_again, job->mode = EXEC_ONCE; job->retry_max = 1)
SPOIL(wait_as_first, job->backoff_ms = 5000; job->backoff_max_ms = 5000)
SPOIL(wait_under, job->backoff_ms = 5000; job->backoff_max_ms = 4999)
SPOIL(wait_under_usual, job->backoff_max_ms = LIMIT_RETRY_BACKOFF_MS - 1)
SPOIL(end_over, job->retry_on = RETRY_ON_ALL + 1)
SPOIL(ends_all, job->retry_on = RETRY_ON_ALL)
SPOIL(death_over, job->worker_death = DEATH_KILL + 1)
SPOIL(death_last, job->worker_death = DEATH_KILL)

SPOIL(when_longest, job->when = long_text(rig, LIMIT_EXPR_BYTES_MAX))
SPOIL(when_over, job->when = long_text(rig, LIMIT_EXPR_BYTES_MAX + 1))
SPOIL(needs_longest, job->needs_text = long_text(rig, LIMIT_EXPR_BYTES_MAX))
SPOIL(needs_over, job->needs_text = long_text(rig, LIMIT_EXPR_BYTES_MAX + 1))

SPOIL(shell_of_command, job->interpreter = slice_str("sh"))
SPOIL(shell_bad, job->argv.n = 0; job->script = slice_str("x"); job->interpreter = slice_str("perl"))
SPOIL(shell_slash, job->argv.n = 0; job->script = slice_str("x"); job->interpreter = slice_str("/opt/"))
SPOIL(shell_blank, job->argv.n = 0; job->script = slice_str("x"); job->interpreter = slice_str("/bin/sh -x"))
SPOIL(shell_named, job->argv.n = 0; job->script = slice_str("x"); job->interpreter = slice_str("python3"))
SPOIL(shell_longest, job->argv.n = 0; job->script = slice_str("x"); job->interpreter = shell_path(rig, LIMIT_SHELL_MAX))
SPOIL(shell_over, job->argv.n = 0; job->script = slice_str("x"); job->interpreter = shell_path(rig, LIMIT_SHELL_MAX + 1))

TEST only_scripts_have_an_interpreter(void)
{
	static void (*const bad[])(struct rig *, struct rec_job_spec *) = { shell_bad, shell_slash, shell_blank, shell_over };

	ASSERT(strstr(refused(shell_of_command), "interpreter: only a job with a script can have an interpreter"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ASSERT(strstr(refused(bad[i]), "interpreter: the interpreter must be sh, bash, python3 or an absolute path"));
	ASSERT_STR_EQ("", refused(shell_named));
	ASSERT_STR_EQ("", refused(shell_longest));
	PASS();
}

SPOIL(input_longest, job->stdin_text = long_text(rig, LIMIT_STDIN_MAX))
SPOIL(input_over, job->stdin_text = long_text(rig, LIMIT_STDIN_MAX + 1))
SPOIL(input_zero, job->stdin_text = slice_make("a\0b", 3))

TEST text_for_standard_input_has_a_limit_and_no_zero_byte(void)
{
	ASSERT_STR_EQ("", refused(input_longest));
	ASSERT(strstr(refused(input_over), "stdin: the text for the job's standard input has more than 64 KiB"));
	ASSERT(strstr(refused(input_zero), "stdin: the text for the job's standard input has a zero byte"));
	PASS();
}

TEST too_long_conditions_are_refused(void)
{
	ASSERT_STR_EQ("", refused(when_longest));
	ASSERT(strstr(refused(when_over), "when: the text is too long"));
	ASSERT_STR_EQ("", refused(needs_longest));
	ASSERT(strstr(refused(needs_over), "needs_text: the text is too long"));
	PASS();
}

TEST placement_is_refused_with_its_reason(void)
{
	ASSERT_STR_EQ("", refused(wishes));
	ASSERT(strstr(refused(wishes_over), "TOO_LARGE: job 0 'a': prefer: too many requirements on labels"));
	ASSERT(strstr(refused(wish_bad), "INVALID: job 0 'a': prefer: not a requirement"));
	ASSERT(strstr(refused(worker_bad), "INVALID: job 0 'a': worker: the name of a worker or pool may"));
	ASSERT(strstr(refused(liked_bad), "worker: the name of a worker or pool may"));
	ASSERT(strstr(refused(pool_bad), "worker: the name of a worker or pool may"));
	ASSERT(strstr(refused(pool_none), "pool_hard: no pool is named"));
	ASSERT(strstr(refused(asks_bad), "asks: "));
	ASSERT(strstr(refused(asks_none), "asks: the amount of a resource is 0"));
	ASSERT(strstr(refused(affinity_over), "affinity: no such"));
	ASSERT(strstr(refused(affinity_none), "affinity: no such"));
	ASSERT_STR_EQ("", refused(affinity_last));
	PASS();
}

TEST retries_are_refused_with_their_reason(void)
{
	ASSERT(strstr(refused(codes_without_exit), "retry_codes: retry_on doesn't include exits"));
	ASSERT_STR_EQ("", refused(codes_of_all_ends));
	ASSERT_STR_EQ("", refused(codes_that_there_are));
	ASSERT(strstr(refused(code_zero), "from 1 to 255"));
	ASSERT(strstr(refused(code_over), "from 1 to 255"));
	ASSERT(strstr(refused(code_twice), "from 1 to 255"));
	ASSERT(strstr(refused(once_again), "retry_max: a job in mode once"));
	ASSERT_STR_EQ("", refused(wait_as_first));
	ASSERT(strstr(refused(wait_under), "shorter than the first"));
	ASSERT(strstr(refused(wait_under_usual), "shorter than the first"));
	ASSERT(strstr(refused(end_over), "retry_on: there is no such kind of failure"));
	ASSERT_STR_EQ("", refused(ends_all));
	ASSERT(strstr(refused(death_over), "worker_death: no such"));
	ASSERT_STR_EQ("", refused(death_last));
	PASS();
}

/* --- what waits --- */

SPOIL(groups, job->concurrency = so_many(rig, LIMIT_JOB_GROUPS_MAX))
SPOIL(groups_over, job->concurrency = so_many(rig, LIMIT_JOB_GROUPS_MAX + 1))
SPOIL(locks, job->mode = EXEC_ONCE; job->locks = so_many(rig, LIMIT_JOB_LOCKS_MAX))
SPOIL(locks_over, job->mode = EXEC_ONCE; job->locks = so_many(rig, LIMIT_JOB_LOCKS_MAX + 1))

TEST too_many_groups_and_locks_are_refused(void)
{
	ASSERT_STR_EQ("", refused(groups));
	ASSERT(strstr(refused(groups_over), "TOO_LARGE: job 0 'a': concurrency: too many groups"));
	ASSERT_STR_EQ("", refused(locks));
	ASSERT(strstr(refused(locks_over), "TOO_LARGE: job 0 'a': locks: too many"));
	PASS();
}

/* Submit this many jobs, and one that needs them all. */
static enum err needs(size_t count)
{
	struct rig *rig = rig_new();
	struct rec_job_spec job = { .script = slice_str("true") };
	struct buf bytes = { 0 };
	struct blob *body;
	char name[32];
	enum err code;

	for (size_t i = 0; i <= count; i++) {
		snprintf(name, sizeof(name), "p%zu", i);
		job.name = slice_str(name);
		if (i == count)
			job.needs = from_on(rig, 0, count);
		record_encode(&bytes, REC_job_spec, &job);
	}
	body = blob_make(buf_slice(&bytes));
	code = rig_submit_bytes(rig, body, (uint32_t)count + 1, 1, 0) ? ERR_NONE : (enum err)rig->error.code;
	blob_release(body);
	buf_free(&bytes);
	rig_free(rig);
	return code;
}

TEST too_many_parents_are_refused(void)
{
	ASSERT_EQ(ERR_NONE, needs(LIMIT_JOB_PARENTS_MAX));
	ASSERT_EQ(ERR_TOO_LARGE, needs(LIMIT_JOB_PARENTS_MAX + 1));
	PASS();
}

/* --- logs --- */

SPOIL(log_least, job->log_max = LIMIT_LOG_MAX_MIN)
SPOIL(log_under, job->log_max = LIMIT_LOG_MAX_MIN - 1)
SPOIL(log_most, job->log_max = UINT64_C(1) << 40)
SPOIL(log_over, job->log_max = (UINT64_C(1) << 40) + 1)
SPOIL(log_whole, job->log_max = LOG_LOSSLESS)

TEST a_log_is_kept_from_4_kib_to_1_tib(void)
{
	ASSERT_STR_EQ("", refused(log_least));
	ASSERT_STR_EQ("", refused(log_most));
	ASSERT_STR_EQ("", refused(log_whole));
	ASSERT(strstr(refused(log_under), "log_max: the size must be from 4 KiB to 1 TiB"));
	ASSERT(strstr(refused(log_over), "log_max: the size must be from 4 KiB to 1 TiB"));
	PASS();
}

/* --- loops --- */

static void loop(struct rig *rig, struct rec_job_spec *job)
{
	struct buf code = { 0 };

	expr_put(&code, (struct expr_step){ EXPR_CODE, 0, EXPR_EQ, 3 });
	job->loop_max = LIMIT_LOOP_PASSES_MAX;
	job->loop_code = arena_copy(&rig->arena, buf_slice(&code));
	buf_free(&code);
}

#define LOOP(name, ...) SPOIL(name, loop(rig, job); __VA_ARGS__)

LOOP(loop_most, job->loop_until = long_text(rig, LIMIT_EXPR_BYTES_MAX); job->loop_delay_ms = LIMIT_SPAN_MAX_S * UINT64_C(1000) + 999)
LOOP(loop_over, job->loop_max++)
LOOP(loop_until_over, job->loop_until = long_text(rig, LIMIT_EXPR_BYTES_MAX + 1))
LOOP(loop_delay_over, job->loop_delay_ms = (LIMIT_SPAN_MAX_S + 1) * UINT64_C(1000))
LOOP(no_loop_code, job->loop_max = 0)
SPOIL(no_loop_until, job->loop_until = slice_str("code == 3"))
SPOIL(no_loop_delay, job->loop_delay_ms = 1)
SPOIL(no_loop_on_max, job->loop_on_max = LOOP_MAX_OK)

TEST loop_fields_beyond_limits_or_without_loop_are_refused(void)
{
	static void (*const none[])(struct rig *, struct rec_job_spec *) = {
		no_loop_code, no_loop_until, no_loop_delay, no_loop_on_max };

	ASSERT_STR_EQ("", refused(loop_most));
	ASSERT(strstr(refused(loop_over), "loop_max: too many passes"));
	ASSERT(strstr(refused(loop_until_over), "loop_until: the text is too long"));
	ASSERT(strstr(refused(loop_delay_over), "loop_delay_ms: longer than ten years"));
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ASSERT(strstr(refused(none[i]), "loop_max: the job has fields of a loop but isn't a loop"));
	PASS();
}

/* --- sub-runs --- */

static void subrun(struct rig *rig, struct rec_job_spec *job)
{
	struct graph inner = { 0 };
	struct blob *body;

	graph_job(&inner, "x", "");
	body = graph_blob(&inner);
	job->argv.n = 0;
	job->sub_name = slice_str("inner");
	job->sub_jobs = arena_copy(&rig->arena, blob_slice(body));
	job->sub_count = 1;
	blob_release(body);
	graph_free(&inner);
}

#define SUBRUN(name, ...) SPOIL(name, subrun(rig, job); __VA_ARGS__)

SUBRUN(sub_most, job->sub_max_jobs = LIMIT_RUN_JOBS_MAX)
SUBRUN(sub_over, job->sub_max_jobs = LIMIT_RUN_JOBS_MAX + 1)
SUBRUN(sub_count_over, job->sub_count += UINT64_C(1) << 32)
SUBRUN(sub_groups, job->concurrency = words(rig, "g"))
SUBRUN(sub_locks, job->locks = words(rig, "g"))
SUBRUN(sub_labels, job->labels = words(rig, "gpu"))
SUBRUN(sub_asks, job->asks = words(rig, "disk=1"))
SUBRUN(sub_prefer, job->prefer = words(rig, "gpu"))
SUBRUN(sub_prefer_worker, job->prefer_worker = slice_str("w"))
SUBRUN(sub_only_worker, job->only_worker = slice_str("w"))
SUBRUN(sub_pool, job->pool = slice_str("big"))
SUBRUN(sub_affinity, job->affinity = AFFINITY_PARENT)
SUBRUN(sub_death, job->worker_death = DEATH_KILL)
SUBRUN(sub_mode, job->mode = EXEC_EXCLUSIVE)
SUBRUN(sub_env, job->env = words(rig, "A=b"))
SUBRUN(sub_dir, job->dir = slice_str("/tmp"))

SPOIL(no_sub_jobs, job->sub_jobs = slice_str("x"))
SPOIL(no_sub_name, job->sub_name = slice_str("x"))
SPOIL(no_sub_most, job->sub_max_jobs = 1)
SPOIL(no_sub_group, job->sub_concurrency = slice_str("x"))

TEST a_command_has_nothing_of_a_sub_run(void)
{
	static void (*const of_subruns[])(struct rig *, struct rec_job_spec *) = {
		no_sub_jobs, no_sub_name, no_sub_most, no_sub_group };

	for (size_t i = 0; i < sizeof(of_subruns) / sizeof(of_subruns[0]); i++)
		ASSERT(strstr(refused(of_subruns[i]), "the job has fields of a sub-run but no sub-run"));
	PASS();
}

TEST a_sub_run_has_no_worker_and_holds_nothing(void)
{
	static void (*const of_workers[])(struct rig *, struct rec_job_spec *) = {
		sub_labels, sub_asks, sub_prefer, sub_prefer_worker, sub_only_worker, sub_pool, sub_affinity, sub_death,
		sub_mode, sub_env, sub_dir };

	ASSERT_STR_EQ("", refused(sub_most));
	ASSERT(strstr(refused(sub_over), "sub_max_jobs: the number is larger than the most jobs of a run"));
	ASSERT(strstr(refused(sub_count_over), "sub_count: the number is larger than the most jobs of a run"));
	ASSERT(strstr(refused(sub_groups), "a job with a sub-run can't name groups or locks, because the sub-run's jobs could wait for them; name them in those jobs"));
	ASSERT(strstr(refused(sub_locks), "a job with a sub-run can't name groups or locks, because the sub-run's jobs could wait for them; name them in those jobs"));
	for (size_t i = 0; i < sizeof(of_workers) / sizeof(of_workers[0]); i++)
		ASSERT(strstr(refused(of_workers[i]), "a job with a sub-run needs no worker; set these fields in the jobs of the sub-run"));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(only_scripts_have_an_interpreter);
	RUN_TEST(text_for_standard_input_has_a_limit_and_no_zero_byte);
	RUN_TEST(too_long_conditions_are_refused);
	RUN_TEST(placement_is_refused_with_its_reason);
	RUN_TEST(retries_are_refused_with_their_reason);
	RUN_TEST(too_many_groups_and_locks_are_refused);
	RUN_TEST(too_many_parents_are_refused);
	RUN_TEST(a_log_is_kept_from_4_kib_to_1_tib);
	RUN_TEST(loop_fields_beyond_limits_or_without_loop_are_refused);
	RUN_TEST(a_command_has_nothing_of_a_sub_run);
	RUN_TEST(a_sub_run_has_no_worker_and_holds_nothing);
	GREATEST_MAIN_END();
}
