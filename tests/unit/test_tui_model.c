/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dashboard's model: what a snapshot doesn't name is forgotten, and may come back. */
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

/* Send one whole snapshot of runs and workers 1 to count, without one of them. */
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

/* Send a page of a snapshot with this run; a cursor says that more pages follow. */
static void page(uint64_t run, uint64_t cursor)
{
	struct rec_run_row row = run_row(run);
	struct msg_snapshot msg = { .runs = { &row, 1 }, .cursor = cursor };

	model_apply_snapshot(&model, QUERY_RUNS, &msg, 1000);
}

static void put_job(uint64_t index, enum job_state state, uint64_t *needs, size_t need_count)
{
	const struct rec_job_row row = { .run = 1, .job = 100 + index, .index = index, .name = slice_str("job"), .state = state,
					 .needs = { needs, need_count } };

	model_put_job(&model, &row, CHANGE_TOLD, 1000);
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

/* Send a page with the newest runs from last down to first; a cursor says that there are older ones. */
static void newest(uint64_t last, uint64_t first, uint64_t cursor, bool older)
{
	struct rec_run_row rows[64];
	struct msg_snapshot msg = { .runs = { rows, 0 }, .cursor = cursor };

	for (uint64_t number = last; number >= first; number--) {
		rows[msg.runs.n] = run_row(number);
		rows[msg.runs.n++].state = RUN_SUCCEEDED;
	}
	if (older)
		model_apply_older(&model, &msg, 1000);
	else
		model_apply_snapshot(&model, QUERY_RUNS, &msg, 1000);
}

TEST older_runs_are_added_page_by_page(void)
{
	struct rec_run_row live = run_row(3);
	struct msg_snapshot rest = { .runs = { &live, 1 } };

	newest(30, 21, 21, false);
	model_apply_snapshot(&model, QUERY_RUNS, &rest, 1000);
	ASSERT_EQ_FMT((size_t)11, model.run_count, "%zu");
	ASSERT_EQ_FMT((uint64_t)21, model.runs_floor, "%lu");
	newest(20, 11, 11, true);
	ASSERT_EQ_FMT((size_t)21, model.run_count, "%zu");
	ASSERT_EQ_FMT((uint64_t)11, model.runs_floor, "%lu");
	newest(10, 1, 0, true);
	ASSERT_EQ_FMT((size_t)30, model.run_count, "%zu");
	ASSERT_EQ_FMT((uint64_t)0, model.runs_floor, "%lu");
	for (size_t i = 0; i < 30; i++)
		ASSERT_EQ_FMT((uint64_t)i + 1, model.runs[i]->run, "%lu");
	PASS();
}

static void letters_page(const struct rec_dead_row *rows, size_t count, uint64_t cursor)
{
	struct msg_snapshot msg = { .dead = { (struct rec_dead_row *)rows, count }, .cursor = cursor };

	if (model.letters_next.all == 0)
		model_begin_letters(&model);
	model_apply_letters(&model, &msg);
}

TEST failures_of_runs_beyond_the_list_are_counted_by_run(void)
{
	const struct rec_dead_row rows[] = {
		{ .job = 9, .run = 30, .name = slice_str("a"), .state = STATE_FAILED },
		{ .job = 8, .run = 2, .name = slice_str("b"), .state = STATE_TIMED_OUT },
		{ .job = 7, .run = 2, .name = slice_str("c"), .state = STATE_FAILED },
	};

	newest(30, 21, 21, false);
	letters_page(rows, 2, 8);
	ASSERT_EQm("only whole lists count", 0, model.letters.count);
	letters_page(rows + 2, 1, 0);
	ASSERT_EQ_FMT((uint64_t)1, model.totals.old_failures, "%lu");
	ASSERT_EQ_FMT((uint64_t)2, model_letter(&model, 2)->count, "%lu");
	ASSERT(slice_eq(slice_str("b"), model_letter(&model, 2)->job));
	ASSERT_EQ(STATE_TIMED_OUT, model_letter(&model, 2)->state);
	newest(20, 1, 0, true);
	ASSERT_EQm("the list has the run now", 0, model.totals.old_failures);
	letters_page(NULL, 0, 0);
	ASSERT_EQ(NULL, model_letter(&model, 2));
	PASS();
}

/* A person discards the dead letter of an old run: the run's row comes, and is no news. */
TEST old_run_that_changes_is_no_new_run(void)
{
	struct rec_run_row row = run_row(5);
	uint64_t counts[STATE_COUNT] = { [STATE_FAILED] = 3 };

	newest(30, 21, 21, false);
	row.state = RUN_FAILED;
	row.counts = (struct u64_list){ .at = counts, .n = STATE_COUNT };
	model_put_run(&model, &row, CHANGE_TOLD, 1000);
	ASSERT_EQ(NULL, model_event(&model, 0));
	ASSERT_EQ(0, model.ended);
	row.run = 31;
	model_put_run(&model, &row, CHANGE_TOLD, 1000);
	ASSERT(model_event(&model, 0));
	ASSERT_EQ(3, model.ended);
	PASS();
}

TEST worker_row_is_kept_whole(void)
{
	struct rec_worker_row row = { .worker = 9, .name = slice_str("w9"), .state = WORKER_UNREACHABLE, .slots = 1, .busy = 2,
				      .prefetched = 3, .cpu_permille = 4, .mem_permille = 5, .seen_ms = 6, .pid = 7, .done = 8,
				      .stuck = 10, .refused_code = 11 };
	const struct tui_worker *worker;

	model_put_worker(&model, &row, CHANGE_TOLD, 1000);
	worker = model_worker(&model, 9);
	ASSERT(worker && slice_eq(worker->name, slice_str("w9")));
	ASSERT_EQ(WORKER_UNREACHABLE, worker->state);
	ASSERT_EQ(1, worker->slots);
	ASSERT_EQ(2, worker->busy);
	ASSERT_EQ(3, worker->prefetched);
	ASSERT_EQ(4, worker->cpu_permille);
	ASSERT_EQ(5, worker->mem_permille);
	ASSERT_EQ(6, worker->seen_ms);
	ASSERT_EQ(7, worker->pid);
	ASSERT_EQ(8, worker->done);
	ASSERT_EQ(10, worker->stuck);
	ASSERT_EQ(11, worker->refused_code);
	PASS();
}

TEST pages_of_a_snapshot_belong_together(void)
{
	snapshot(3, 0);
	page(1, 1);
	page(2, 2);
	ASSERT_EQm("what comes in later pages is still there", 3, model.run_count);
	page(4, 0);
	ASSERT_EQ(3, model.run_count);
	ASSERT(model_run(&model, 1) && model_run(&model, 2) && model_run(&model, 4));
	PASS();
}

/* A cut graph is asked for anew, without effect on the pages of runs that are under way. */
TEST cut_of_a_graph_leaves_the_pages_of_runs(void)
{
	const struct msg_delta cut = { .cut = true };

	page(1, 1);
	model_apply_delta(&model, QUERY_JOBS, &cut, 1000);
	page(2, 0);
	ASSERT(model_run(&model, 1) && model_run(&model, 2));
	page(1, 1);
	model_apply_delta(&model, QUERY_RUNS, &cut, 1000);
	page(2, 0);
	ASSERTm("that of the runs does", !model_run(&model, 1));
	PASS();
}

static uint32_t rate_in_all(void)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < MODEL_SAMPLES; i++)
		sum += model.load.at[LOAD_SHORT][SERIES_ENDED][i];
	return sum;
}

TEST ends_count_in_one_second_however_long_nobody_looked(void)
{
	model_tick(&model, 1000000);
	model.ended = 7;
	model_tick(&model, 1005000);
	ASSERT_EQ_FMT(7u, rate_in_all(), "%u");
	model_tick(&model, 1005900);
	ASSERT_EQ_FMT(7u, rate_in_all(), "%u");
	model.ended = 9;
	model_tick(&model, 1006000);
	ASSERT_EQ_FMT(2u, model.load.at[LOAD_SHORT][SERIES_ENDED][MODEL_SAMPLES - 1], "%u");
	ASSERT_EQ_FMT(9u, rate_in_all(), "%u");
	PASS();
}

TEST history_goes_on_after_the_clock_was_set_back(void)
{
	model_tick(&model, 1000000);
	model.ended = 7;
	model_tick(&model, 500000);
	ASSERT_EQ_FMT(0u, rate_in_all(), "%u");
	model.ended = 9;
	model_tick(&model, 501000);
	ASSERT_EQ_FMT(2u, model.load.at[LOAD_SHORT][SERIES_ENDED][MODEL_SAMPLES - 1], "%u");
	PASS();
}

static struct rec_series_row series(enum series which, uint64_t worker, int64_t step_s, int64_t until_s, uint64_t *values, size_t count)
{
	return (struct rec_series_row){ .series = which, .worker = worker, .step_ms = (uint64_t)step_s * 1000,
		.until_ms = until_s * 1000, .values = { values, count } };
}

/* The master's samples take the place of the dashboard's own, and its clock needn't be the same. */
TEST samples_of_the_master_replace_own_ones(void)
{
	uint64_t ends[] = { 4, 5, 6 }, longs[] = { 40, 50 };
	struct rec_series_row rows[] = { series(SERIES_ENDED, 0, 1, 900008, ends, 3), series(SERIES_ENDED, 0, 15, 900000, longs, 2) };
	struct msg_snapshot msg = { .series = { rows, 2 }, .series_ms = 900000000 };
	uint32_t cells[4] = { 0 };

	model_tick(&model, 1000000);
	model.ended = 7;
	model_tick(&model, 1001000);
	model_apply_series(&model, &msg, 1001000);
	ASSERT_EQ_FMT((size_t)3, load_cells(&model.load, LOAD_SHORT, SERIES_ENDED, 1, 4, cells), "%zu");
	ASSERT(cells[0] == 4 && cells[1] == 5 && cells[2] == 6);
	ASSERT_EQ_FMT((size_t)2, load_cells(&model.load, LOAD_LONG, SERIES_ENDED, 1, 4, cells), "%zu");
	ASSERT(cells[0] == 40 && cells[1] == 50);
	ASSERT_EQ_FMT((size_t)1, load_cells(&model.load, LOAD_SHORT, SERIES_ENDED, 5, 4, cells), "%zu");
	ASSERT_EQ_FMT(15u, cells[0], "%u");
	ASSERT_EQ_FMT((size_t)1, load_cells(&model.load, LOAD_LONG, SERIES_ENDED, 2, 4, cells), "%zu");
	ASSERT_EQ_FMT(90u, cells[0], "%u");
	/* Until the next answer the model goes on; a long sample ends at a quarter of a minute of the master's clock. */
	model.ended = 9;
	model_tick(&model, 1008000);
	ASSERT_EQ_FMT((size_t)3, load_cells(&model.load, LOAD_LONG, SERIES_ENDED, 1, 4, cells), "%zu");
	ASSERT_EQ_FMT(17u, cells[2], "%u");
	PASS();
}

TEST samples_of_a_worker_go_on_where_they_ended(void)
{
	uint64_t first[] = { 11, 21, 31 }, more[] = { 41 };
	struct rec_series_row row = series(SERIES_CPU, 3, 15, 900000, first, 3);
	struct msg_snapshot msg = { .series = { &row, 1 } };
	struct rec_worker_row worker = { .worker = 3, .name = slice_str("w03"), .state = WORKER_UP };
	const uint8_t *cpu;

	model_apply_series(&model, &msg, 1000000);       /* the worker isn't known: nothing happens */
	model_put_worker(&model, &worker, CHANGE_QUIET, 1000000);
	model_apply_series(&model, &msg, 1000000);
	row = series(SERIES_CPU, 3, 15, 900030, more, 1);
	model_apply_series(&model, &msg, 1000000);
	cpu = model_worker(&model, 3)->load->cpu + MODEL_SAMPLES;
	ASSERT(cpu[-1] == 41 && cpu[-2] == 0 && cpu[-3] == 31 && cpu[-5] == 11 && cpu[-6] == 0);
	PASS();
}

TEST latest_events_are_kept_in_order(void)
{
	char expected[16];

	ASSERT_EQ(NULL, model_event(&model, 0));
	for (int i = 0; i < MODEL_EVENTS + 5; i++) {
		model_tell(&model, i, &state_table[STATE_FAILED], "event %d", i);
		ASSERT_EQ(NULL, model_event(&model, (size_t)(i < MODEL_EVENTS ? i + 1 : MODEL_EVENTS)));
	}
	for (size_t back = 0; back < MODEL_EVENTS; back++) {
		snprintf(expected, sizeof(expected), "event %d", MODEL_EVENTS + 4 - (int)back);
		ASSERT_STR_EQ(expected, model_event(&model, back)->text);
	}
	PASS();
}

TEST text_is_cut_between_characters(void)
{
	char out[6];

	ASSERT_STR_EQ("abcde", model_plain(slice_str("abcdefgh"), out, sizeof(out)));
	ASSERT_STR_EQ("\xe2\x82\xac", model_plain(slice_str("\xe2\x82\xac\xe2\x82\xac"), out, sizeof(out)));
	ASSERT_STR_EQ("", model_plain(slice_make(NULL, 0), out, sizeof(out)));
	PASS();
}

TEST jobs_are_counted_by_their_states(void)
{
	model_look_at(&model, 1);
	put_job(0, STATE_WAITING, NULL, 0);
	put_job(1, STATE_WAITING, NULL, 0);
	ASSERT_EQ(2, model.graph.counts[STATE_WAITING]);
	put_job(0, STATE_RUNNING, NULL, 0);
	ASSERT_EQ(1, model.graph.counts[STATE_WAITING]);
	ASSERT_EQ(1, model.graph.counts[STATE_RUNNING]);
	put_job(0, STATE_SUCCEEDED, NULL, 0);
	ASSERT_EQ(0, model.graph.counts[STATE_RUNNING]);
	ASSERT_EQ(1, model.graph.counts[STATE_SUCCEEDED]);
	PASS();
}

/* A delta without parents means unchanged parents; a run that has grown may send more of them. */
TEST parents_change_when_more_of_them_come(void)
{
	uint64_t needs[] = { 0, 1 };

	model_look_at(&model, 1);
	put_job(0, STATE_WAITING, NULL, 0);
	put_job(1, STATE_WAITING, NULL, 0);
	put_job(2, STATE_WAITING, needs, 1);
	ASSERT_EQ(1, model.graph.jobs[2].need_count);
	put_job(2, STATE_RUNNING, NULL, 0);
	ASSERT_EQ(1, model.graph.jobs[2].need_count);
	put_job(2, STATE_RUNNING, needs, 2);
	ASSERT_EQ(2, model.graph.jobs[2].need_count);
	ASSERT_EQ(1, model.graph.jobs[2].needs[1]);
	PASS();
}

TEST job_row_is_kept_whole(void)
{
	const struct rec_job_row row = {
		.run = 1, .job = 9, .index = 0, .name = slice_str("job"), .state = STATE_FAILED, .worker = slice_str("w"), .epoch = 2,
		.cause = 3, .tries = 4, .crashes = 5, .interrupted = 6, .code = 7, .outcome = OUTCOME_EXIT, .dead = true,
		.forgiven = true, .due_ms = 8, .started_ms = 10, .ended_ms = 11, .retry_max = 70000 };
	const struct tui_job *job;

	model_look_at(&model, 1);
	model_put_job(&model, &row, CHANGE_QUIET, 1000);
	job = &model.graph.jobs[0];
	ASSERT(slice_eq(job->name, slice_str("job")) && slice_eq(job_worker(job), slice_str("w")));
	ASSERT_EQ(9, job->job);
	ASSERT_EQ(2, job->epoch);
	ASSERT_EQ(3, job->cause);
	ASSERT_EQ(4, job->tries);
	ASSERT_EQ(5, job->crashes);
	ASSERT_EQ(6, job->interrupted);
	ASSERT_EQ(7, job->code);
	ASSERT_EQ(OUTCOME_EXIT, job->outcome);
	ASSERT(job->dead && job->forgiven);
	ASSERT_EQ(8, job->due_ms);
	ASSERT_EQ(10, job->started_ms);
	ASSERT_EQ(11, job->ended_ms);
	ASSERT_EQ(UINT16_MAX, job->retry_max);
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
	RUN_TEST(older_runs_are_added_page_by_page);
	RUN_TEST(failures_of_runs_beyond_the_list_are_counted_by_run);
	RUN_TEST(old_run_that_changes_is_no_new_run);
	RUN_TEST(worker_row_is_kept_whole);
	RUN_TEST(pages_of_a_snapshot_belong_together);
	RUN_TEST(cut_of_a_graph_leaves_the_pages_of_runs);
	RUN_TEST(ends_count_in_one_second_however_long_nobody_looked);
	RUN_TEST(history_goes_on_after_the_clock_was_set_back);
	RUN_TEST(samples_of_the_master_replace_own_ones);
	RUN_TEST(samples_of_a_worker_go_on_where_they_ended);
	RUN_TEST(latest_events_are_kept_in_order);
	RUN_TEST(text_is_cut_between_characters);
	RUN_TEST(jobs_are_counted_by_their_states);
	RUN_TEST(parents_change_when_more_of_them_come);
	RUN_TEST(job_row_is_kept_whole);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(tui_model);
	GREATEST_MAIN_END();
}
