/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dashboard's model: what a snapshot doesn't name is forgotten, and may come again. */
#include "greatest.h"
#include "tui/model_internal.h"

GREATEST_MAIN_DEFS();

static struct model model;

static void setup_cb(void *data)
{
	(void)data;
	model_init(&model);
}

static void teardown_cb(void *data)
{
	(void)data;
	model_free(&model);
}

static struct rec_worker_row worker_row(uint64_t number, const char *name)
{
	return (struct rec_worker_row){ .worker = number, .name = slice_str(name), .state = WORKER_UP, .slots = number };
}

static struct rec_run_row run_row(uint64_t number)
{
	return (struct rec_run_row){ .run = number, .name = slice_str("run"), .owner = slice_str("anna"),
				     .state = RUN_RUNNING, .jobs = number };
}

/* One whole snapshot of runs and workers: 1 to count, without one of them. */
static void snapshot(uint64_t count, uint64_t without)
{
	struct rec_worker_row workers[8];
	struct rec_run_row runs[8];
	struct msg_snapshot msg = { .runs = { runs, 0 }, .workers = { workers, 0 } };

	for (uint64_t number = 1; number <= count; number++) {
		if (number == without)
			continue;
		runs[msg.runs.n++] = run_row(number);
		workers[msg.workers.n++] = worker_row(number, "w");
	}
	model_apply_snapshot(&model, QUERY_RUNS, &msg, 1000);
}

static bool has_worker(uint64_t number)
{
	for (size_t i = 0; i < model.worker_count; i++)
		if (model.workers[i]->worker == number)
			return true;
	return false;
}

TEST worker_gone_from_a_snapshot_is_forgotten(void)
{
	for (uint64_t gone = 1; gone <= 3; gone++) {
		snapshot(3, 0);
		ASSERT_EQ(3, model.worker_count);
		snapshot(3, gone);
		ASSERT_EQ(2, model.worker_count);
		for (uint64_t number = 1; number <= 3; number++) {
			ASSERT_EQ(number != gone, has_worker(number));
			ASSERT_EQ(number != gone, model_worker(&model, number) != NULL);
		}
	}
	PASS();
}

TEST worker_that_comes_again_is_a_new_one_in_its_place(void)
{
	struct rec_worker_row row = worker_row(2, "again");

	snapshot(3, 0);
	snapshot(3, 2);
	model_put_worker(&model, &row, CHANGE_TOLD, 2000);
	ASSERT_EQ(3, model.worker_count);
	for (size_t i = 0; i < 3; i++)
		ASSERT_EQ_FMT((uint64_t)i + 1, model.workers[i]->worker, "%lu");
	ASSERT(slice_eq(model.workers[1]->name, slice_str("again")));
	ASSERT_EQ(model.workers[1], model_worker(&model, 2));
	PASS();
}

TEST run_gone_from_a_snapshot_is_forgotten(void)
{
	for (uint64_t gone = 1; gone <= 3; gone++) {
		snapshot(3, 0);
		ASSERT_EQ(3, model.run_count);
		snapshot(3, gone);
		ASSERT_EQ(2, model.run_count);
		for (uint64_t number = 1; number <= 3; number++)
			ASSERT_EQ(number != gone, model_run(&model, number) != NULL);
	}
	PASS();
}

TEST no_more_runs_are_kept_than_there_is_room_for(void)
{
	for (uint64_t number = 1; number <= MODEL_RUNS_MAX + 3; number++) {
		struct rec_run_row row = run_row(number);

		row.state = number == 5 ? RUN_SUCCEEDED : RUN_RUNNING;
		model_put_run(&model, &row, CHANGE_QUIET, 1000);
		ASSERT(model.run_count <= MODEL_RUNS_MAX);
	}
	ASSERTm("one that has ended goes first", !model_run(&model, 5));
	ASSERTm("then the oldest", !model_run(&model, 1) && !model_run(&model, 2) && model_run(&model, 3));
	ASSERT(model_run(&model, MODEL_RUNS_MAX + 3));
	PASS();
}

TEST worker_row_is_kept_whole(void)
{
	struct rec_worker_row row = { .worker = 9, .name = slice_str("w9"), .state = WORKER_UNREACHABLE, .slots = 1, .busy = 2,
				      .ahead = 3, .cpu_permille = 4, .mem_permille = 5, .seen_ms = 6, .pid = 7, .done = 8,
				      .stuck = 10, .refused_code = 11 };
	const struct tui_worker *worker;

	model_put_worker(&model, &row, CHANGE_TOLD, 1000);
	worker = model_worker(&model, 9);
	ASSERT(worker && slice_eq(worker->name, slice_str("w9")));
	ASSERT_EQ(WORKER_UNREACHABLE, worker->state);
	ASSERT_EQ(1, worker->slots);
	ASSERT_EQ(2, worker->busy);
	ASSERT_EQ(3, worker->ahead);
	ASSERT_EQ(4, worker->cpu_permille);
	ASSERT_EQ(5, worker->mem_permille);
	ASSERT_EQ(6, worker->seen_ms);
	ASSERT_EQ(7, worker->pid);
	ASSERT_EQ(8, worker->done);
	ASSERT_EQ(10, worker->stuck);
	ASSERT_EQ(11, worker->refused_code);
	PASS();
}

SUITE(tui_model)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(worker_gone_from_a_snapshot_is_forgotten);
	RUN_TEST(worker_that_comes_again_is_a_new_one_in_its_place);
	RUN_TEST(run_gone_from_a_snapshot_is_forgotten);
	RUN_TEST(no_more_runs_are_kept_than_there_is_room_for);
	RUN_TEST(worker_row_is_kept_whole);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(tui_model);
	GREATEST_MAIN_END();
}
