/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A cluster for tests of screens: runs, workers and a graph with fixed numbers and times, given to the dashboard as the
 * frames that a master would send.
 */
#ifndef TITAN_TESTS_TUI_FIXTURE_H
#define TITAN_TESTS_TUI_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "proto/frame.h"
#include "proto/message.h"
#include "proto/states.h"
#include "tui/app.h"

#define FIXTURE_NOW INT64_C(1795010550000)       /* 2026-11-18T14:02:30Z */
#define FIXTURE_RUN 4127
#define FIXTURE_JOBS_MAX 100000

struct fixture {
	struct app *app;
	uint64_t runs_id, graph_id, log_id;      /* ids in the dashboard's latest requests */
	uint64_t runs_since, graph_since;
	struct msg_log_read log_read;            /* the dashboard's latest request for a part of a log */
	uint64_t cancelled[16];
	struct slice cancelled_jobs[16];
	char cancelled_names[16][64];
	size_t cancel_count;
	uint64_t query_id;                       /* the latest question about a job */
	uint64_t reasons_id, reasons_first, reasons_count;       /* the latest question why jobs wait */
	bool run_reasons;                        /* the test answers why a run waits; otherwise the fixture does */
	uint64_t decisions_id;                   /* the latest question for the decisions of a run */
	uint64_t gates_id;                       /* the latest question for gates */
	uint64_t older_id, older_cursor;         /* the latest question about older runs */
	bool has_load;                           /* the master has samples of a busy hour */
	size_t load_asked;                       /* how often samples of the load were asked for; the fixture answers by itself */
	size_t letters_asked;                    /* how often dead letters were asked for; the fixture answers by itself */
	uint64_t act_id;
	enum set_verb set_verb;                  /* the latest change of a worker that it requested */
	char set_name[64];
	uint64_t act_value;
	enum act_verb verb;                      /* the latest act that the dashboard requested, with its texts */
	char act_text[64], act_target[64], act_digest[16];
	char copied[4096];                       /* what was copied last, the command for the pager, or one that was run */
	bool quit;
};

static inline void fixture_utc(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
}

static inline void fixture_letters(struct fixture *fixture, uint64_t id);
static inline void fixture_nothing(struct fixture *fixture, uint64_t id);
static inline void fixture_load(struct fixture *fixture, uint64_t id);

/* Take the dashboard's requests; the ids of subscriptions are noted, so that answers can carry them. */
static inline void fixture_collect(struct fixture *fixture)
{
	struct app_request request;
	uint64_t letters_id = 0, run_id = 0, load_id = 0;

	while (app_take(fixture->app, &request)) {
		if (request.want == APP_QUIT)
			fixture->quit = true;
		if (request.want == APP_COPY || request.want == APP_PAGER || request.want == APP_COMMAND)
			snprintf(fixture->copied, sizeof fixture->copied, "%.*s", (int)request.text.len, (const char *)request.text.data);
		if (request.want != APP_SEND)
			continue;
		if (request.op == OP_SUBSCRIBE && request.msg.subscribe.what == QUERY_RUNS) {
			fixture->runs_id = request.msg.subscribe.id;
			fixture->runs_since = request.msg.subscribe.since;
		} else if (request.op == OP_SUBSCRIBE) {
			fixture->graph_id = request.msg.subscribe.id;
			fixture->graph_since = request.msg.subscribe.since;
		}
		if (request.op == OP_LOG_READ) {
			fixture->log_id = request.msg.log_read.id;
			fixture->log_read = request.msg.log_read;
		}
		if (request.op == OP_QUERY && request.msg.query.what == QUERY_GATES)
			fixture->gates_id = request.msg.query.id;
		else if (request.op == OP_QUERY && request.msg.query.what == QUERY_DECISIONS)
			fixture->decisions_id = request.msg.query.id;
		else if (request.op == OP_QUERY && request.msg.query.what == QUERY_SERIES)
			load_id = request.msg.query.id, fixture->load_asked++;
		else if (request.op == OP_QUERY && request.msg.query.what == QUERY_DEAD)
			letters_id = request.msg.query.id;
		else if (request.op == OP_QUERY && request.msg.query.what == QUERY_RUNS && request.msg.query.run != 0)
			run_id = fixture->run_reasons ? 0 : request.msg.query.id;
		else if (request.op == OP_QUERY && request.msg.query.what == QUERY_RUNS) {
			fixture->older_id = request.msg.query.id;
			fixture->older_cursor = request.msg.query.cursor;
		} else if (request.op == OP_QUERY && request.msg.query.what == QUERY_JOBS) {
			fixture->reasons_id = request.msg.query.id;
			fixture->reasons_first = request.msg.query.cursor;
			fixture->reasons_count = request.msg.query.limit;
		} else if (request.op == OP_QUERY)
			fixture->query_id = request.msg.query.id;
		if (request.op == OP_SET) {
			fixture->act_id = request.msg.set.id;
			fixture->set_verb = (enum set_verb)request.msg.set.verb;
			snprintf(fixture->set_name, 64, "%.*s", (int)request.msg.set.name.len, (const char *)request.msg.set.name.data);
		}
		if (request.op == OP_ACT) {
			const struct msg_act *act = &request.msg.act;

			fixture->act_id = act->id;
			fixture->verb = act->verb;
			fixture->act_value = act->value;
			snprintf(fixture->act_text, 64, "%.*s", (int)act->text.len, (const char *)act->text.data);
			snprintf(fixture->act_target, 64, "%.*s", (int)act->target.len, (const char *)act->target.data);
			snprintf(fixture->act_digest, 16, "%.*s", (int)act->digest.len, (const char *)act->digest.data);
		}
		if (request.op == OP_ACT && fixture->cancel_count < 16) {
			size_t at = fixture->cancel_count++;

			fixture->cancelled[at] = request.msg.act.run;
			snprintf(fixture->cancelled_names[at], 64, "%.*s", (int)request.msg.act.job.len,
				(const char *)request.msg.act.job.data);
		}
	}
	if (letters_id)
		fixture_letters(fixture, letters_id);
	if (run_id)
		fixture_nothing(fixture, run_id);
	if (load_id && fixture->has_load)
		fixture_load(fixture, load_id);
	else if (load_id)
		fixture_nothing(fixture, load_id);
}

static inline void fixture_give(struct fixture *fixture, enum opcode op, const void *msg, int64_t now_ms)
{
	struct buf frame = { 0 };
	struct error error = { 0 };

	message_encode(&frame, op, msg);
	if (app_message(fixture->app, op,
		    slice_make(frame.data + FRAME_HEADER_SIZE, frame.len - FRAME_HEADER_SIZE), now_ms,
		    &error) != ERR_NONE) {
		fprintf(stderr, "fixture: %s\n", error.text);
		abort();
	}
	buf_free(&frame);
	fixture_collect(fixture);
}

/* Answer a question with no rows. */
static inline void fixture_nothing(struct fixture *fixture, uint64_t id)
{
	struct msg_snapshot msg = { .id = id, .turn = 7 };

	fixture_give(fixture, OP_SNAPSHOT, &msg, FIXTURE_NOW);
}

/* Samples of the load: a busy hour of the cluster, and the load of worker 1 since it connected. The master began 50 minutes ago. */
static inline void fixture_load(struct fixture *fixture, uint64_t id)
{
	static uint64_t values[SERIES_CPU][2][240], cpu[40], memory[40];
	struct rec_series_row rows[SERIES_CPU * 2 + 2];
	struct msg_snapshot msg = { .id = id, .turn = 7, .series = { rows, SERIES_CPU * 2 + 2 }, .series_ms = FIXTURE_NOW - 3000000 };

	for (uint64_t which = 0; which < SERIES_CPU; which++) {
		for (uint64_t i = 0; i < 240; i++) {
			values[which][0][i] = (i / 7 + which) % (9 + which);
			values[which][1][i] = (i * i / 90 + 30 * which) % (500 + which);
		}
		values[which][0][239] = which == SERIES_QUEUED ? 8228 : 2;
		rows[2 * which] = (struct rec_series_row){ .series = which, .step_ms = 1000, .until_ms = FIXTURE_NOW,
			.values = { values[which][0], 240 } };
		rows[2 * which + 1] = (struct rec_series_row){ .series = which, .step_ms = 15000, .until_ms = FIXTURE_NOW,
			.values = { values[which][1] + 40, 200 } };
	}
	for (uint64_t i = 0; i < 40; i++) {
		cpu[i] = i < 3 ? 0 : 1 + i * 37 % 101;
		memory[i] = i < 3 ? 0 : 30 + i;
	}
	rows[SERIES_CPU * 2] = (struct rec_series_row){ .series = SERIES_CPU, .worker = 1, .step_ms = 15000, .until_ms = FIXTURE_NOW,
		.values = { cpu, 40 } };
	rows[SERIES_CPU * 2 + 1] = (struct rec_series_row){ .series = SERIES_MEMORY, .worker = 1, .step_ms = 15000,
		.until_ms = FIXTURE_NOW, .values = { memory, 40 } };
	fixture_give(fixture, OP_SNAPSHOT, &msg, FIXTURE_NOW);
}

/* Dead letters of run 4126, and of 3001, which is older than the runs in the list. */
static inline void fixture_letters(struct fixture *fixture, uint64_t id)
{
	struct rec_dead_row rows[] = {
		{ .job = 700, .run = 4126, .run_name = slice_str("etl-nightly"), .name = slice_str("load"), .state = STATE_FAILED,
		  .outcome = OUTCOME_EXIT, .code = 1, .died_ms = FIXTURE_NOW - 2000000, .tries = 3 },
		{ .job = 650, .run = 4126, .run_name = slice_str("etl-nightly"), .name = slice_str("scan"), .state = STATE_FAILED,
		  .outcome = OUTCOME_SIGNAL, .code = 9, .died_ms = FIXTURE_NOW - 2100000 },
		{ .job = 90, .run = 3001, .run_name = slice_str("import"), .name = slice_str("fe\x1b[2Jtch"), .state = STATE_TIMED_OUT,
		  .outcome = OUTCOME_STOPPED, .died_ms = FIXTURE_NOW - 90000000 },
	};
	struct msg_snapshot msg = { .id = id, .turn = 7, .dead = { rows, 3 } };

	fixture->letters_asked++;
	fixture_give(fixture, OP_SNAPSHOT, &msg, FIXTURE_NOW);
}

static inline struct rec_run_row fixture_run(uint64_t run, const char *name, enum run_state state,
	uint64_t *counts, int64_t age_s, int64_t ended_s)
{
	struct rec_run_row row = { .run = run, .name = slice_str(name), .state = state,
		.counts = { counts, STATE_COUNT }, .submitted_ms = FIXTURE_NOW - age_s * 1000,
		.ended_ms = ended_s ? FIXTURE_NOW - ended_s * 1000 : 0 };

	for (size_t i = 0; i < STATE_COUNT; i++)
		row.jobs += counts[i];
	return row;
}

static inline struct rec_worker_row fixture_worker(uint64_t number, const char *name, enum worker_state state,
						   uint64_t slots, uint64_t busy, uint64_t cpu, uint64_t mem)
{
	return (struct rec_worker_row){ .worker = number,
		.name = slice_str(name),
		.state = state,
		.slots = slots,
		.busy = busy,
		.cpu_permille = cpu,
		.mem_permille = mem,
		.seen_ms = FIXTURE_NOW - (state ? 52000 : 1000),
		.pid = 4000 + number,
		.done = 1000 * number,
		.prefetched = state ? 0 : 2};
}

static inline void fixture_runs(struct fixture *fixture)
{
	uint64_t deploy[STATE_COUNT] = { [STATE_WAITING] = 4, [STATE_READY] = 18, [STATE_RUNNING] = 12,
		[STATE_SUCCEEDED] = 100, [STATE_FAILED] = 1 };
	uint64_t etl[STATE_COUNT] = { [STATE_SUCCEEDED] = 104, [STATE_FAILED] = 2, [STATE_SKIPPED] = 98 };
	uint64_t thumbs[STATE_COUNT] = { [STATE_WAITING] = 1, [STATE_READY] = 8210, [STATE_RUNNING] = 128,
		[STATE_SUCCEEDED] = 1702 };
	uint64_t purge[STATE_COUNT] = { [STATE_CANCELLED] = 2, [STATE_SUCCEEDED] = 1 };
	uint64_t backup[STATE_COUNT] = { [STATE_SUCCEEDED] = 12 };
	uint64_t strange[STATE_COUNT] = { [STATE_WAITING] = 3 };
	struct rec_run_row runs[] = {
		fixture_run(4120, "backup", RUN_SUCCEEDED, backup, 9000, 8836),
		fixture_run(4124, "purge", RUN_CANCELLED, purge, 4339, 4000),
		fixture_run(4125, "thumbs", RUN_RUNNING, thumbs, 190, 0),
		fixture_run(4126, "etl-nightly", RUN_FAILED, etl, 3867, 2000),
		fixture_run(4127, "deploy", RUN_RUNNING, deploy, 761, 0),
		fixture_run(4129, "a name \x1b[31m that tries \xe4\xb8\xad\xe6\x96\x87", RUN_WAITING, strange,
			5, 0),
	};
	runs[3].dead = 2;
	runs[4].dead = 1;
	struct rec_worker_row workers[] = {
		fixture_worker(1, "w01", WORKER_UP, 48, 48, 940, 610),
		fixture_worker(2, "w02", WORKER_UP, 48, 12, 110, 200),
		fixture_worker(3, "w03", WORKER_UP, 8, 1, 30, 100),
		fixture_worker(4, "w11", WORKER_UNREACHABLE, 8, 3, 0, 0),
		fixture_worker(5, "w12", WORKER_LOST, 8, 0, 0, 0),
	};
	struct msg_snapshot msg = {
		.id = fixture->runs_id, .turn = 7, .runs = {runs, 6}, .workers = {workers, 5}};

	fixture_give(fixture, OP_SNAPSHOT, &msg, FIXTURE_NOW);
}

static inline struct rec_job_row *fixture_job(struct rec_job_row *rows, size_t *count, const char *name,
					      enum job_state state, uint64_t *needs, size_t need_count)
{
	struct rec_job_row *row = &rows[*count];
	bool ran = state == STATE_RUNNING || state == STATE_SUCCEEDED || state == STATE_FAILED;

	*row = (struct rec_job_row){ .job = 900 + *count,
		.run = FIXTURE_RUN,
		.index = *count,
		.name = slice_str(name),
		.state = state,
		.needs = {needs, need_count}};
	if (ran) {
		row->epoch = UINT64_C(1) << 32 | 1;
		row->tries = 1;
		row->worker = slice_str(*count % 2 ? "w01" : "w03");
		row->started_ms = FIXTURE_NOW - 400000 + (int64_t)*count * 1000;
		row->ended_ms = state == STATE_RUNNING ? 0 : row->started_ms + 12000;
		row->outcome = state == STATE_RUNNING ? OUTCOME_NONE : OUTCOME_EXIT;
		row->code = state == STATE_FAILED;
	}
	(*count)++;
	return row;
}

static inline enum job_state fixture_part_state(unsigned part)
{
	if (part == 77)
		return STATE_FAILED;
	return part < 98 ? STATE_SUCCEEDED : part < 110 ? STATE_RUNNING : STATE_READY;
}

/* fetch -> unpack -> encode[128], thumbs; fetch -> schema-check; both -> index; encode, index -> qa -> publish */
static inline void fixture_graph(struct fixture *fixture)
{
	static struct rec_job_row rows[256];
	static char names[128][16];
	static uint64_t needs[256], root[] = { 0 }, unpack[] = { 1 };
	size_t count = 0, first;
	struct msg_snapshot msg = { .id = fixture->graph_id, .turn = 8 };

	fixture_job(rows, &count, "fetch", STATE_SUCCEEDED, NULL, 0);
	fixture_job(rows, &count, "unpack", STATE_SUCCEEDED, root, 1);
	first = count;
	for (unsigned i = 0; i < 128; i++) {
		snprintf(names[i], sizeof names[i], "encode[%u]", i);
		fixture_job(rows, &count, names[i], fixture_part_state(i), unpack, 1);
		needs[i] = first + i;
		if (i == 77)
			rows[count - 1].retry_max = 2, rows[count - 1].tries = 3;
	}
	fixture_job(rows, &count, "schema-check", STATE_SUCCEEDED, root, 1);
	fixture_job(rows, &count, "thumbs", STATE_SUCCEEDED, unpack, 1);
	static uint64_t both[2];
	both[0] = count - 2;
	both[1] = count - 1;
	fixture_job(rows, &count, "index", STATE_WAITING, both, 2);
	needs[128] = count - 1;
	fixture_job(rows, &count, "qa-approve", STATE_WAITING, needs, 129);
	static uint64_t qa[1];
	qa[0] = count - 1;
	fixture_job(rows, &count, "publish", STATE_WAITING, qa, 1);
	msg.jobs.at = rows;
	/* The graph is sent in two pages, as for a large run. */
	msg.jobs.n = 100;
	msg.cursor = 100;
	fixture_give(fixture, OP_SNAPSHOT, &msg, FIXTURE_NOW);
	msg.jobs.at = rows + 100;
	msg.jobs.n = count - 100;
	msg.cursor = 0;
	fixture_give(fixture, OP_SNAPSHOT, &msg, FIXTURE_NOW);
}

static inline void fixture_log(struct fixture *fixture)
{
	const char *text =
		"frame 900: ok\n\x1b[32mgreen\x1b[0m and \x1b]0;title\x07 and \tab\nframe 901: ok\nno end";
	struct rec_output pieces[] = {
		{ .job = 979,
			.epoch = UINT64_C(1) << 32 | 1,
			.run = FIXTURE_RUN,
			.stream = 1,
			.wall_ms = FIXTURE_NOW - 9000,
			.data = slice_str(text)},
		{ .job = 979,
			.epoch = UINT64_C(1) << 32 | 1,
			.run = FIXTURE_RUN,
			.stream = 2,
			.wall_ms = FIXTURE_NOW - 8000,
			.data = slice_str("dts out of order\n")},
	};
	struct msg_log_data msg = { .id = fixture->log_id, .offset = 200, .pieces = { pieces, 2 },
		.end = true };

	fixture_give(fixture, OP_LOG_DATA, &msg, FIXTURE_NOW);
}

static inline void fixture_events(struct fixture *fixture)
{
	struct rec_job_row row = { .job = 902 + 98,
		.run = FIXTURE_RUN,
		.index = 2 + 98,
		.name = slice_str("encode[98]"),
		.state = STATE_SUCCEEDED,
		.epoch = 1,
		.tries = 1,
		.worker = slice_str("w02"),
		.outcome = OUTCOME_EXIT,
		.started_ms = FIXTURE_NOW - 30000,
		.ended_ms = FIXTURE_NOW - 2000};
	struct rec_worker_row worker = fixture_worker(6, "w20", WORKER_UP, 4, 0, 10, 10);
	struct msg_delta jobs = { .id = fixture->graph_id, .turn = 9, .jobs = { &row, 1 } };
	struct msg_delta workers = { .id = fixture->runs_id, .turn = 10, .workers = { &worker, 1 } };

	fixture_give(fixture, OP_DELTA, &jobs, FIXTURE_NOW - 2000);
	fixture_give(fixture, OP_DELTA, &workers, FIXTURE_NOW - 1000);
}

static inline void fixture_open(
	struct fixture *fixture, const struct app_options *options, int width, int height)
{
	struct msg_welcome welcome = { .version = 2, .cluster = slice_str("prod-a"), .role = ROLE_ADMIN };

	fixture_utc();
	*fixture = (struct fixture){ .app = app_new(options) };
	app_resize(fixture->app, width, height);
	app_connected(fixture->app, &welcome, FIXTURE_NOW);
	fixture_collect(fixture);
}

/* Send everything: runs, the graph of run 4127 if it was asked for, and two changes. */
static inline void fixture_fill(
	struct fixture *fixture, enum view view, bool ascii, bool mono, int width, int height)
{
	struct app_options options = { .ascii = ascii, .mono = mono, .view = view, .run = FIXTURE_RUN };

	fixture_open(fixture, &options, width, height);
	fixture->has_load = true;
	fixture_runs(fixture);
	app_tick(fixture->app, FIXTURE_NOW);
	fixture_collect(fixture);
	if (fixture->graph_id)
		fixture_graph(fixture);
	fixture_events(fixture);
}

static inline void fixture_close(struct fixture *fixture)
{
	app_free(fixture->app);
	*fixture = (struct fixture){ 0 };
}

/* Press keys: $ is Enter, ~ is Escape. */
static inline void fixture_press(struct fixture *fixture, const char *keys)
{
	for (; *keys; keys++) {
		uint32_t key = *keys == '$' ? TUI_KEY_ENTER : *keys == '~' ? TUI_KEY_ESCAPE : (uint32_t)*keys;

		app_key(fixture->app, key, FIXTURE_NOW);
		fixture_collect(fixture);
		if (fixture->log_id)
			fixture_log(fixture);
		fixture->log_id = 0;
	}
}

static inline bool fixture_has(const struct grid *grid, const char *text)
{
	struct buf dump = { 0 };
	bool found;

	grid_dump(grid, false, &dump);
	found = strstr(buf_cstr(&dump), text) != NULL;
	buf_free(&dump);
	return found;
}

#endif
