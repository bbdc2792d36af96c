/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A job that waits to have a lock alone (a writer) keeps out jobs that would share it (readers) only while some worker
 * may serve the writer.
 */
#include "tests/unit/core_lock.h"
#include "tests/unit/core_place.h"

static uint64_t wants_on(struct rig *rig, const char *lock, const char *label)
{
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "j", "");

	job->mode = EXEC_EXCLUSIVE;
	job->locks = words(rig, lock);
	job->labels = words(rig, label);
	return rig_submit(rig, &graph);
}

struct scene {
	struct rig *rig;
	struct rig_attempt first;        /* shares the lock */
	uint64_t near, far;              /* connections of two workers; only the worker "far" can serve the writer */
	uint64_t writer, reader;
};

/* Make a job that shares the lock, a writer that waits for it, and a reader that is kept out by the writer. */
static bool scene_begin(struct scene *scene)
{
	struct rig *rig = scene->rig = rig_new();
	struct rig_attempt attempt;

	scene->near = join(rig, "near", 4, "", "", "");
	wants_on(rig, "db=shared", "");
	if (!given_run(rig, &scene->first))
		return false;
	scene->far = join(rig, "far", 1, "far", "", "far");
	scene->writer = wants_on(rig, "db", "far");
	scene->reader = wants_on(rig, "db=shared", "");
	return given_run(rig, &attempt) == 0 && strstr(why(rig, scene->reader), "waits to have the lock alone, and comes first");
}

/* The reader gets the lock, and people may share it too. */
static bool reader_goes(struct scene *scene)
{
	struct rig *rig = scene->rig;
	struct rig_attempt attempt;
	bool right = given_run(rig, &attempt) == scene->reader && lock_act(rig, SET_TAKE, "db", "ana", true, 0) > 0;

	if (right) {
		lock_act(rig, SET_DROP, "db", "ana", false, 0);
		rig_done(rig, attempt, OUTCOME_EXIT, 0);
	}
	return right;
}

/* The writer's worker is back: the writer comes before the jobs that were submitted later. */
static bool writer_comes(struct scene *scene)
{
	struct rig *rig = scene->rig;
	struct rig_attempt attempt;
	uint64_t late = wants_on(rig, "db=shared", "");

	if (given_run(rig, &attempt) || lock_act(rig, SET_TAKE, "db", "ana", true, 0))
		return false;
	rig_done(rig, scene->first, OUTCOME_EXIT, 0);
	if (given_run(rig, &attempt) != scene->writer)
		return false;
	rig_done(rig, attempt, OUTCOME_EXIT, 0);
	return given_run(rig, &attempt) == late;
}

TEST writer_lets_readers_go_while_its_worker_is_gone(void)
{
	struct scene scene;

	ASSERT(scene_begin(&scene));
	rig_gone(scene.rig, scene.far);
	ASSERT_STR_EQ("the job needs lock db: job 1/j has it, shared, until the job's attempt is gone, and 1 more; and no connected worker could run the job",
		      why(scene.rig, scene.writer));
	ASSERT(reader_goes(&scene));
	join(scene.rig, "far", 1, "far", "", "far");
	ASSERT(writer_comes(&scene));
	rig_free(scene.rig);
	PASS();
}

TEST writer_lets_readers_go_when_its_worker_loses_labels(void)
{
	struct scene scene;

	ASSERT(scene_begin(&scene));
	join(scene.rig, "far", 1, "farther", "", "far");
	ASSERT(reader_goes(&scene));
	join(scene.rig, "far", 1, "far", "", "far");
	ASSERT(writer_comes(&scene));
	rig_free(scene.rig);
	PASS();
}

TEST writer_lets_readers_go_while_its_worker_is_set_aside(enum object_kind kind, enum set_verb verb)
{
	struct scene scene;

	ASSERT(scene_begin(&scene));
	set(scene.rig, kind, verb, "far");
	ASSERT(reader_goes(&scene));
	set(scene.rig, kind, SET_RESUME, "far");
	ASSERT(writer_comes(&scene));
	rig_free(scene.rig);
	PASS();
}

TEST writer_lets_readers_go_while_its_worker_is_silent(void)
{
	struct scene scene;

	ASSERT(scene_begin(&scene));
	for (int64_t ms = 0; ms <= LIMIT_LEASE_MS; ms += LIMIT_HEARTBEAT_MS) {
		rig_pass(scene.rig, LIMIT_HEARTBEAT_MS);
		rig_heartbeat(scene.rig, scene.near);
	}
	ASSERT(reader_goes(&scene));
	rig_heartbeat(scene.rig, scene.far);
	ASSERT(writer_comes(&scene));
	rig_free(scene.rig);
	PASS();
}

SUITE(lock_served)
{
	RUN_TEST(writer_lets_readers_go_while_its_worker_is_gone);
	RUN_TEST(writer_lets_readers_go_when_its_worker_loses_labels);
	RUN_TESTp(writer_lets_readers_go_while_its_worker_is_set_aside, OBJECT_WORKER, SET_PAUSE);
	RUN_TESTp(writer_lets_readers_go_while_its_worker_is_set_aside, OBJECT_WORKER, SET_DRAIN);
	RUN_TESTp(writer_lets_readers_go_while_its_worker_is_set_aside, OBJECT_POOL, SET_PAUSE);
	RUN_TESTp(writer_lets_readers_go_while_its_worker_is_set_aside, OBJECT_POOL, SET_DRAIN);
	RUN_TEST(writer_lets_readers_go_while_its_worker_is_silent);
}

/* Workers that were told to quit are still connected, but they serve no writer. */
TEST writer_with_only_quitting_workers_keeps_no_reader_out(void)
{
	struct rig *rig = rig_new();
	struct core_input quit = { .kind = INPUT_SHUTDOWN, .shutdown.workers = true };

	rig_hello(rig, "w", 1);
	lock_act(rig, SET_TAKE, "l", "one", true, 60000);
	wants(rig, "l");
	lock_act(rig, SET_TAKE, "l", "two", true, 60000);
	ASSERT_EQ(ERR_BUSY, (int)rig->error.code);
	rig_step(rig, &quit);
	ASSERT(lock_act(rig, SET_TAKE, "l", "two", true, 60000) > 0);
	rig_free(rig);
	PASS();
}

/* The first writer's worker is gone; the next writer has one, and comes before the readers. */
TEST writer_without_a_worker_hides_no_writer_with_one(void)
{
	struct scene scene;
	struct rig_attempt attempt;
	uint64_t next, late;

	ASSERT(scene_begin(&scene));
	next = wants_on(scene.rig, "db", "");
	rig_gone(scene.rig, scene.far);
	ASSERT_EQ(scene.reader, given_run(scene.rig, &attempt));
	late = wants_on(scene.rig, "db=shared", "");
	ASSERT_EQ(0, (int)given_run(scene.rig, &attempt));
	ASSERT(strstr(why(scene.rig, late), "waits to have the lock alone, and comes first"));
	ASSERT_STR_EQ("ready", rig_state_named(scene.rig, next, "j"));
	rig_free(scene.rig);
	PASS();
}

/* When a worker leaves that alone could serve the writers of two locks, the readers of both locks start. */
TEST readers_of_each_lock_go_when_the_worker_leaves(void)
{
	static const char *const locks[] = { "db", "fs", "net" };
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	uint64_t far;

	join(rig, "near", 9, "", "", "");
	far = join(rig, "far", 1, "far", "", "");
	for (int i = 0; i < 3; i++) {
		char *shared = arena_alloc(&rig->arena, 16);

		snprintf(shared, 16, "%s=shared", locks[i]);
		wants_on(rig, shared, "");
		ASSERT(given_run(rig, &attempt) != 0);
		wants_on(rig, locks[i], "far");
		wants_on(rig, shared, "");
		ASSERT_EQ(0, (int)given_run(rig, &attempt));
	}
	rig_gone(rig, far);
	for (int i = 0; i < 3; i++)
		ASSERT(given_run(rig, &attempt) != 0);
	rig_free(rig);
	PASS();
}

/* The first job in the queue isn't told that the later writer comes first. */
TEST first_job_is_told_of_none_before_it(void)
{
	struct rig *rig = rig_new();
	uint64_t reader, writer;

	rig_hello(rig, "w", 3);
	lock_act(rig, SET_TAKE, "db", "ana", false, 0);
	reader = wants_on(rig, "db=shared", "");
	writer = wants_on(rig, "db", "");
	ASSERT(strstr(why(rig, reader), "the job needs lock db, shared: ana has it"));
	ASSERT_FALSE(strstr(why(rig, reader), "reserved for"));
	ASSERT_FALSE(strstr(why(rig, writer), "reserved for"));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(lock_served);
	RUN_TEST(writer_with_only_quitting_workers_keeps_no_reader_out);
	RUN_TEST(writer_without_a_worker_hides_no_writer_with_one);
	RUN_TEST(readers_of_each_lock_go_when_the_worker_leaves);
	RUN_TEST(first_job_is_told_of_none_before_it);
	GREATEST_MAIN_END();
}
