/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks that people take: owners, reasons and limits, and the texts about them. */
#include "tests/unit/core_lock.h"

#include "tests/unit/core_place.h"

#define LONGEST_MS (LIMIT_SPAN_MAX_S * UINT64_C(1000) + 999)

static const char *xs(struct rig *rig, size_t len)
{
	char *text = arena_alloc(&rig->arena, len + 1);

	memset(text, 'x', len);
	text[len] = '\0';
	return text;
}

TEST owner_has_a_bounded_length_and_may_have_spaces(void)
{
	struct rig *rig = rig_new();

	ASSERT(lock_act(rig, SET_TAKE, "a", "ana at home", false, 0) > 0);
	ASSERT(lock_act(rig, SET_TAKE, "b", xs(rig, LIMIT_NAME_MAX_LEN), false, 0) > 0);
	ASSERT_EQ(0, lock_act(rig, SET_TAKE, "c", xs(rig, LIMIT_NAME_MAX_LEN + 1), false, 0));
	ASSERT(rig_error_says(rig, ERR_INVALID, "the owner of a lock must have 1 to 128 bytes and no control characters"));
	rig_restart(rig);
	ASSERT(lock_act(rig, SET_TAKE, "b", xs(rig, LIMIT_NAME_MAX_LEN), false, 0) > 0);
	rig_free(rig);
	PASS();
}

TEST lock_is_taken_for_ten_years_at_most(void)
{
	struct rig *rig = rig_new();
	struct rec_lock_row rows[4];

	ASSERT(lock_act(rig, SET_TAKE, "a", "", false, LONGEST_MS) > 0);
	ASSERT_EQ(0, lock_act(rig, SET_TAKE, "b", "", false, LONGEST_MS + 1));
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "ten years"));
	rig_restart(rig);
	ASSERT_EQ(1, lock_rows(rig, rows));
	rig_free(rig);
	PASS();
}

static bool takes_because(struct rig *rig, const char *lock, struct slice *words, size_t n)
{
	rig_set(rig, (struct msg_set){ .kind = OBJECT_LOCK, .verb = SET_TAKE, .name = slice_str(lock), .words = { words, n } });
	return rig->ok.number > 0;
}

TEST reason_has_a_bounded_length(void)
{
	struct rig *rig = rig_new();
	struct rec_lock_row rows[4];
	struct slice most[] = { slice_str(xs(rig, LIMIT_REASON_MAX)), slice_str("b") };
	struct slice over = slice_str(xs(rig, LIMIT_REASON_MAX + 1));

	ASSERT(takes_because(rig, "a", most, 1));
	ASSERT(!takes_because(rig, "b", &over, 1));
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "a reason may have at most 4096 bytes"));
	ASSERT(!takes_because(rig, "b", most, 2));
	ASSERT(rig_error_says(rig, ERR_TOO_LARGE, "a reason may have at most 4096 bytes"));
	ASSERT_EQ(1, lock_rows(rig, rows));
	ASSERT(slice_eq(rows[0].reason, most[0]));
	rig_free(rig);
	PASS();
}

static enum err take(struct rig *rig, unsigned number, const char *owner)
{
	struct core_input input = { .kind = INPUT_SET, .conn = 1000000, .request = ++rig->request };
	char name[16];

	snprintf(name, sizeof(name), "l%u", number);
	input.set = (struct input_set){ .principal = 1, .person = slice_str("ana"),
		.set = { .kind = OBJECT_LOCK, .verb = SET_TAKE, .name = slice_str(name), .text = slice_str(owner) } };
	rig->ok = (struct msg_ok){ 0 };
	rig->error = (struct msg_error){ 0 };
	outbox_clear(&rig->out);
	core_turn_begin(rig->core, rig->now, &rig->out);
	core_step(rig->core, &input);
	core_turn_end(rig->core);
	rig_collect(rig);
	return (enum err)rig->error.code;
}

/* At the limit, a person who already has a lock may still take that one again. */
TEST locks_of_people_are_limited(void)
{
	struct rig *rig = rig_new();

	for (unsigned number = 1; number <= LIMIT_LOCK_HOLDS_MAX; number++)
		ASSERT_EQ(ERR_NONE, take(rig, number, "ana"));
	ASSERT_EQ(ERR_FULL, take(rig, 0, "ana"));
	ASSERT_EQ(ERR_NONE, take(rig, 7, "ana"));
	ASSERT_EQ(ERR_BUSY, take(rig, 7, "other"));
	core_check(rig->core);
	rig_free(rig);
	PASS();
}

TEST refusal_tells_who_has_the_lock(void)
{
	struct rig *rig = rig_new();

	lock_act(rig, SET_TAKE, "db", "", false, 0);
	ASSERT_EQ(0, lock_act(rig, SET_TAKE, "db", "other", true, 0));
	ASSERT_STR_EQ("lock db: ana has it until the person drops it", arena_strdup(&rig->arena, rig->error.text));
	ASSERT_EQ(0, lock_act(rig, SET_TAKE, "db", "", false, 0));
	ASSERT_STR_EQ("lock db is already held by ana; to take it again, name its owner",
		      arena_strdup(&rig->arena, rig->error.text));
	ASSERT(slice_eq(rig->error.next, slice_str("titan lock take db --owner ana")));
	ASSERT(lock_act(rig, SET_TAKE, "db", "ana", true, 0) > 0);
	ASSERT(lock_act(rig, SET_TAKE, "db", "other", true, 0) > 0);
	ASSERT_EQ(0, lock_act(rig, SET_TAKE, "db", "third", false, 0));
	ASSERT_STR_EQ("lock db: ana has it, shared, until the person drops it, and 1 more",
		      arena_strdup(&rig->arena, rig->error.text));
	rig_hello(rig, "w", 1);
	wants(rig, "db");
	ASSERT_EQ(0, lock_act(rig, SET_TAKE, "db", "third", true, 0));
	ASSERT_STR_EQ("lock db: ana has it, shared, until the person drops it, and 1 more; a job waits to have the lock alone",
		      arena_strdup(&rig->arena, rig->error.text));
	rig_free(rig);
	PASS();
}

TEST waiting_job_is_told_who_comes_before_it(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	uint64_t second, third, shares;

	rig_hello(rig, "w", 4);
	wants(rig, "db");
	given_run(rig, &attempt);
	second = wants(rig, "db");
	third = wants(rig, "db");
	shares = wants(rig, "db=shared");
	ASSERT_STR_EQ("the job needs lock db: job 1/j has it until the job's attempt is gone", why(rig, second));
	ASSERT_STR_EQ("the job needs lock db: job 1/j has it until the job's attempt is gone", why(rig, third));
	ASSERT_STR_EQ("the job needs lock db, shared: job 1/j has it until the job's attempt is gone; "
		      "job 2/j waits to have the lock alone, and comes first", why(rig, shares));
	rig_free(rig);
	PASS();
}

/* Nobody has the lock any more, but the first job that waits for it has no worker. */
TEST job_behind_a_job_without_a_worker_is_told_so(void)
{
	struct rig *rig = rig_new();
	uint64_t behind, conn = rig_hello(rig, "w", 1);

	lock_act(rig, SET_TAKE, "db", "", false, 0);
	wants(rig, "db");
	behind = wants(rig, "db");
	rig_gone(rig, conn);
	lock_act(rig, SET_DROP, "db", "", false, 0);
	ASSERT_STR_EQ("the job needs lock db: nobody has it; a job that comes before this one in the queue waits for a worker", why(rig, behind));
	rig_free(rig);
	PASS();
}

/* A cancelled job that once waited for the lock keeps no other job out. */
TEST cancelled_job_comes_before_no_other(void)
{
	struct rig *rig = rig_new();
	uint64_t cancelled, behind, conn = rig_hello(rig, "w", 1);

	lock_act(rig, SET_TAKE, "db", "", false, 0);
	wants(rig, "db");
	cancelled = wants(rig, "db");
	wants(rig, "db=shared");
	behind = wants(rig, "db=shared");
	rig_cancel(rig, cancelled, "");
	rig_gone(rig, conn);
	lock_act(rig, SET_DROP, "db", "", false, 0);
	ASSERT_STR_EQ("the job needs lock db, shared: nobody has it; a job that comes before this one in the queue waits for a worker", why(rig, behind));
	rig_free(rig);
	PASS();
}

/* The list shows only so many of the jobs that share the lock, and counts the rest. */
TEST jobs_beyond_those_shown_are_counted(uint64_t jobs)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_lock_row *rows = arena_alloc(&rig->arena, 80 * sizeof(*rows));
	uint64_t alone;
	char name[16];

	rig_hello(rig, "w", jobs);
	for (uint64_t i = 0; i < jobs; i++) {
		struct rec_job_spec *job;

		snprintf(name, sizeof(name), "p%u", (unsigned)i);
		job = graph_job(&graph, name, "");
		job->mode = EXEC_ONCE;
		job->locks = words(rig, "db=shared");
	}
	rig_submit(rig, &graph);
	ASSERT_EQ_FMT((size_t)64, lock_rows(rig, rows), "%zu");
	ASSERT_EQ_FMT((uint64_t)0, rows[62].others, "%lu");
	ASSERT_EQ_FMT(jobs - 64, rows[63].others, "%lu");
	alone = wants(rig, "db");
	ASSERT(strstr(why(rig, alone), jobs == 64 ? ", and 63 more" : ", and 66 more"));
	rig_free(rig);
	PASS();
}

/* --- who is kept out by one that wants it alone --- */

static uint64_t labelled(struct rig *rig, const char *lock, const char *label, uint64_t priority)
{
	struct graph graph = { 0 };

	for (const char *name = "j"; *name; name = *name == 'j' ? "k" : "") {
		struct rec_job_spec *job = graph_job(&graph, name, "");

		job->mode = EXEC_EXCLUSIVE;
		job->locks = words(rig, lock);
		job->labels = words(rig, label);
		job->priority = priority + 1;
	}
	return rig_submit(rig, &graph);
}

TEST readers_without_a_worker_keep_no_reader_out(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	uint64_t conn = join(rig, "a", 1, "gpu", "", ""), run;

	join(rig, "b", 8, "", "", "");
	lock_act(rig, SET_TAKE, "db", "", false, 0);
	labelled(rig, "db=shared", "gpu", 70);
	rig_gone(rig, conn);
	lock_act(rig, SET_TAKE, "db", "ana", true, 0);
	run = labelled(rig, "db=shared", "", 50);
	ASSERT_EQ(run, given_run(rig, &attempt));
	ASSERT_EQ(run, given_run(rig, &attempt));
	rig_free(rig);
	PASS();
}

/* The first job that wants the lock alone keeps sharing jobs out, whatever its worker. */
TEST best_writer_keeps_readers_out(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;

	join(rig, "a", 8, "gpu", "", "");
	join(rig, "b", 8, "", "", "");
	lock_act(rig, SET_TAKE, "db", "", true, 0);
	labelled(rig, "db", "gpu", 70);
	labelled(rig, "db", "", 30);
	labelled(rig, "db=shared", "", 50);
	ASSERT_EQ(0, given_run(rig, &attempt));
	rig_free(rig);
	PASS();
}

/* A run that left memory while it waited for the lock keeps nobody out. */
TEST forgotten_run_keeps_no_reader_out(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	uint64_t both, gone, conn = rig_hello(rig, "w", 4);

	lock_act(rig, SET_TAKE, "a", "", false, 0);
	lock_act(rig, SET_TAKE, "b", "", false, 0);
	both = labelled(rig, "a=shared b=shared", "", 70);
	wants(rig, "b");
	gone = wants(rig, "b");
	rig_cancel(rig, gone, "");
	rig_gone(rig, conn);
	lock_act(rig, SET_DROP, "b", "", false, 0);
	core_sweep(rig->core, UINT64_MAX);
	lock_act(rig, SET_DROP, "a", "", false, 0);
	rig_hello(rig, "w", 4);
	ASSERT_EQ(both, given_run(rig, &attempt));
	ASSERT_EQ(both, given_run(rig, &attempt));
	ASSERT_EQ(0, given_run(rig, &attempt));
	rig_free(rig);
	PASS();
}

/*
 * An owner who already shares the lock may take it again: a waiting job that wants it alone keeps out newcomers only.
 */
TEST sharing_owner_takes_the_lock_again_before_a_writer(void)
{
	struct rig *rig = rig_new();
	uint64_t fence;

	rig_hello(rig, "w", 1);
	fence = lock_act(rig, SET_TAKE, "l", "one", true, 60000);
	lock_act(rig, SET_TAKE, "l", "other", true, 60000);
	wants(rig, "l");
	lock_act(rig, SET_TAKE, "l", "third", true, 60000);
	ASSERT_EQ(ERR_BUSY, (int)rig->error.code);
	ASSERT_EQ(fence, lock_act(rig, SET_TAKE, "l", "one", true, 90000));
	rig_free(rig);
	PASS();
}

/* Two takes of a lock without an owner's name are two owners, even if the lock could be shared. */
TEST lock_without_an_owner_is_taken_once(bool shared)
{
	struct rig *rig = rig_new();

	lock_act(rig, SET_TAKE, "l", "", shared, 60000);
	ASSERT_EQ(0, (int)rig->error.code);
	lock_act(rig, SET_TAKE, "l", "", shared, 90000);
	ASSERT(rig_error_says(rig, ERR_BUSY, "lock l is already held by ana"));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(owner_has_a_bounded_length_and_may_have_spaces);
	RUN_TEST(lock_is_taken_for_ten_years_at_most);
	RUN_TEST(reason_has_a_bounded_length);
	RUN_TEST(locks_of_people_are_limited);
	RUN_TEST(refusal_tells_who_has_the_lock);
	RUN_TEST(waiting_job_is_told_who_comes_before_it);
	RUN_TEST(job_behind_a_job_without_a_worker_is_told_so);
	RUN_TEST(cancelled_job_comes_before_no_other);
	RUN_TESTp(jobs_beyond_those_shown_are_counted, 64);
	RUN_TESTp(jobs_beyond_those_shown_are_counted, 67);
	RUN_TEST(readers_without_a_worker_keep_no_reader_out);
	RUN_TEST(best_writer_keeps_readers_out);
	RUN_TEST(forgotten_run_keeps_no_reader_out);
	RUN_TEST(sharing_owner_takes_the_lock_again_before_a_writer);
	RUN_TESTp(lock_without_an_owner_is_taken_once, false);
	RUN_TESTp(lock_without_an_owner_is_taken_once, true);
	GREATEST_MAIN_END();
}
