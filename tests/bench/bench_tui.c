/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a picture of 160x48 costs when the run shown has 100,000 jobs and a thousand of them change before
 * each picture.   bench_tui [pictures]
 * For each shape of graph: the first picture (folding and lanes), then mean and 99th percentile of applying
 * the changes, building the cells, and turning them into bytes. No verdict: that depends on the machine.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/rand.h"
#include "proto/frame.h"
#include "tui/screen.h"
#include "tui/views.h"

#define JOBS     100000
#define CHANGES  1000
#define NOW_MS   INT64_C(1795010550000)
#define PICTURES 200

static char names[JOBS][24];
static uint64_t needs[JOBS][2];
static struct rec_job_row rows[JOBS];

static void give(struct app *app, enum opcode op, const void *msg)
{
	struct buf frame = { 0 };

	message_encode(&frame, op, msg);
	CHECK(app_message(app, op, slice_make(frame.data + FRAME_HEADER_SIZE, frame.len - FRAME_HEADER_SIZE),
		      NOW_MS, NULL) == ERR_NONE);
	buf_free(&frame);
}

static uint64_t wait_for_subscription(struct app *app, enum query_what what)
{
	struct app_request request;
	uint64_t id = 0;

	while (app_take(app, &request))
		if (request.want == APP_SEND && request.op == OP_SUBSCRIBE &&
			request.msg.subscribe.what == what)
			id = request.msg.subscribe.id;
	return id;
}

static void make_rows(struct rand_state *rand, bool layered)
{
	for (size_t i = 0; i < JOBS; i++) {
		rows[i] = (struct rec_job_row){ .job = i + 1, .run = 1, .index = i, .state = STATE_READY,
			.name = slice_str(names[i]) };
		snprintf(names[i], sizeof names[i], layered ? "job-%zu-x" : "part[%zu]", i);
		if (i == 0 || (layered && i < 100))
			continue;
		rows[i].needs = (struct u64_list){ needs[i], 1 };
		needs[i][0] = 0;
		if (layered) {
			needs[i][0] = i - 100 + rand_below(rand, 50);
			needs[i][1] = i - 50 + rand_below(rand, 50);
			rows[i].needs.n = 2;
		}
	}
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static void print_times(const char *what, double *times, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += times[i];
	qsort(times, count, sizeof *times, by_value);
	printf("  %-24s mean %6.3f ms   p99 %6.3f ms\n", what, sum / (double)count, times[count * 99 / 100]);
}

static double since_ms(int64_t from_ns)
{
	return (double)(clock_mono_ns() - from_ns) / (double)NS_PER_MS;
}

static void change(struct app *app, uint64_t id, struct rand_state *rand)
{
	static struct rec_job_row changed[CHANGES];
	struct msg_delta delta = { .id = id, .turn = 2, .jobs = { changed, CHANGES } };

	for (size_t i = 0; i < CHANGES; i++) {
		size_t job = rand_below(rand, JOBS);

		changed[i] = rows[job];
		changed[i].needs.n = 0;
		changed[i].state = rand_below(rand, 2000) == 0 ? STATE_FAILED
				   : rand_below(rand, 2)       ? STATE_RUNNING
							       : STATE_SUCCEEDED;
		changed[i].worker = slice_str("w01");
		changed[i].started_ms = NOW_MS - 5000;
		changed[i].epoch = 1;
	}
	give(app, OP_DELTA, &delta);
}

static void fill(struct app *app, uint64_t runs_id, uint64_t *ret_graph_id)
{
	uint64_t counts[STATE_COUNT] = { [STATE_READY] = JOBS };
	struct rec_run_row run = { .run = 1,
		.name = slice_str("bench"),
		.jobs = JOBS,
		.counts = {counts, STATE_COUNT},
		.state = RUN_RUNNING,
		.submitted_ms = NOW_MS - 60000};
	struct msg_snapshot runs = { .id = runs_id, .turn = 1, .runs = { &run, 1 } };

	give(app, OP_SNAPSHOT, &runs);
	app_tick(app, NOW_MS);
	*ret_graph_id = wait_for_subscription(app, QUERY_JOBS);
	for (size_t i = 0; i < JOBS; i += 1000) {
		struct msg_snapshot page = { .id = *ret_graph_id, .turn = 1, .jobs = { rows + i, 1000 },
			.cursor = i + 1000 < JOBS ? i + 1000 : 0 };

		give(app, OP_SNAPSHOT, &page);
	}
}

static void measure(const char *what, bool layered, size_t pictures)
{
	struct app_options options = { .view = VIEW_DAG };
	struct msg_welcome welcome = { .cluster = slice_str("bench"), .role = ROLE_ADMIN };
	struct rand_state rand;
	struct grid grid = { 0 };
	struct buf bytes = { 0 };
	struct screen *screen = NULL;
	struct app *app = app_new(&options);
	double *apply = mem_array(pictures, sizeof *apply), *cells = mem_array(pictures, sizeof *cells);
	double *render = mem_array(pictures, sizeof *render);
	uint64_t graph_id = 0, sent = 0;
	int64_t before;

	rand_seed(&rand, 1);
	make_rows(&rand, layered);
	app_resize(app, 160, 48);
	app_connected(app, &welcome, NOW_MS);
	fill(app, wait_for_subscription(app, QUERY_RUNS), &graph_id);
	before = clock_mono_ns();
	app_draw(app, &grid, NOW_MS);
	printf("%s, %d jobs: first picture %.1f ms\n", what, JOBS, since_ms(before));
	CHECK(screen_new("xterm-256color", 160, 48, &screen, NULL) == ERR_NONE);
	for (size_t i = 0; i < pictures; i++) {
		before = clock_mono_ns();
		change(app, graph_id, &rand);
		apply[i] = since_ms(before);
		app_key(app, TUI_KEY_DOWN, NOW_MS);
		before = clock_mono_ns();
		app_draw(app, &grid, NOW_MS + (int64_t)i * 33);
		cells[i] = since_ms(before);
		before = clock_mono_ns();
		screen_render(screen, &grid, &bytes);
		render[i] = since_ms(before);
		sent += i > 0 ? bytes.len : 0;
		buf_clear(&bytes);
	}
	print_times("apply 1000 changes", apply, pictures);
	print_times("cells", cells, pictures);
	print_times("bytes", render, pictures);
	printf("  %-24s %.0f\n", "bytes a picture", (double)sent / (double)pictures);
	screen_free(screen);
	app_free(app);
	grid_free(&grid);
	buf_free(&bytes);
	mem_free(apply);
	mem_free(cells);
	mem_free(render);
}

int main(int argc, char **argv)
{
	size_t pictures = argc > 1 ? strtoul(argv[1], NULL, 10) : PICTURES;

	setlocale(LC_CTYPE, "C.UTF-8");
	CHECK(pictures > 0 && pictures <= 100000);
	measure("one fan-out", false, pictures);
	measure("layers of 50, two parents each", true, pictures);
	return 0;
}
