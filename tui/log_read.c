/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which part of a log is in memory: the end at first, then what is before and behind it as the view moves there. One
 * request is under way at a time. While the view is paused nothing is cut that it shows, however much is written.
 */
#include <inttypes.h>

#include "base/mem.h"
#include "tui/model_internal.h"
#include "tui/views.h"

#define BACK_BYTES 65536                 /* how much is read at once before the window */
#define POLL_MS    100                   /* how often a log that is followed is asked for new output, */
#define PAUSED_MS  1000                  /* and one that is paused */
#define BUSY_MS    1000                  /* how long to wait when the master is busy */
#define LATE_MS    2000                  /* how long output may come after the job has ended */

void log_free(struct log_view *log)
{
	window_clear(&log->window);
	window_clear(&log->before);
	log_search_free(&log->search);
	mem_free(log->tries);
	*log = (struct log_view){ 0 };
}

/* Begin with the log of another attempt, or of another job. */
static void begin(struct log_view *log, uint64_t epoch)
{
	window_clear(&log->window);
	window_clear(&log->before);
	log_search_free(&log->search);
	log->epoch = epoch;
	log->reading = LOG_READ_NONE;
	log->request = log->size = log->dropped = log->newest = log->new_lines = 0;
	log->begun = log->ended = log->stopped = log->wants = log->skip = false;
	log->grown_ms = log->asked_ms = log->again_ms = 0;
	log->top = 0;
	log->follow = true;
}

void log_open(struct app *app, uint32_t index)
{
	const struct tui_graph *graph = &app->model.graph;
	const struct tui_job *job = &graph->jobs[index];
	struct log_view *log = &app->log;
	bool wraps, no_time;

	if (job->epoch == 0) {
		app_notice(app, false, "no log yet: no worker has got the job");
		return;
	}
	wraps = log->wraps;
	no_time = log->no_time;
	log_free(log);
	*log = (struct log_view){ .run = graph->run, .job = job->job, .index = index, .opened = true, .latest = true,
		.wraps = wraps, .no_time = no_time };
	begin(log, job->epoch);
	model_plain(job->name, log->name, sizeof log->name);
	app_go(app, VIEW_LOG);
}

void log_open_when_known(struct app *app, uint64_t run, uint32_t job)
{
	if (app->frozen && app->model.graph.run != run) {
		app_notice(app, false, "the screen is frozen, so no other run is read; Z goes on");
		return;
	}
	app->log_wanted.run = run;
	app->log_wanted.job = job;
	log_open_wanted(app);
}

void log_open_wanted(struct app *app)
{
	const struct tui_graph *graph = &app->model.graph;
	uint32_t job = app->log_wanted.job;

	if (app->log_wanted.run == 0 || graph->run != app->log_wanted.run || !graph->complete)
		return;
	app->log_wanted.run = 0;
	for (size_t i = 0; job >= graph->count && i < graph->count; i++)
		if (graph->jobs[i].job != 0 && state_needs_eyes(graph->states[i]) && !graph->jobs[i].forgiven)
			job = (uint32_t)i;
	if (job >= graph->count)
		app_notice(app, false, "no job of this run has failed; Enter shows its jobs, and l there the log of one");
	else
		log_open(app, job);
}

void log_show_try(struct app *app, uint64_t epoch)
{
	const struct tui_job *job = log_job(app);

	begin(&app->log, epoch);
	app->log.latest = job && job->epoch == epoch;
}

const struct tui_job *log_job(const struct app *app)
{
	const struct tui_graph *graph = &app->model.graph;
	const struct log_view *log = &app->log;

	return graph->run == log->run && log->index < graph->count ? &graph->jobs[log->index] : NULL;
}

bool log_grows(const struct app *app)
{
	const struct tui_job *job = log_job(app);

	return job && job->epoch == app->log.epoch && state_table[app->model.graph.states[app->log.index]].kind == KIND_HOLDS;
}

bool log_is_loaded(const struct app *app)
{
	const struct log_view *log = &app->log;

	return app->view != VIEW_LOG || !log->opened || log->stopped || (log->begun && log->reading == LOG_READ_NONE);
}

void log_forget_requests(struct log_view *log)
{
	log->reading = LOG_READ_NONE;
	log->stopped = false;
	log->again_ms = 0;
	log->tries_id = 0;
	window_clear(&log->before);
}

void log_refused(struct app *app, uint64_t code, int64_t now_ms)
{
	app->log.reading = LOG_READ_NONE;
	app->log.stopped = code != ERR_BUSY && code != ERR_FULL;
	app->log.again_ms = now_ms + BUSY_MS;
}

/* ---- what to ask for ---- */

/* May output still come? A while after the end of the job the rest of it can arrive. */
static bool may_grow(const struct app *app, int64_t now_ms)
{
	return log_grows(app) || (app->log.grown_ms > 0 && now_ms < app->log.grown_ms + LATE_MS);
}

/* Does the view want new output? One that is paused does until the window is full. */
static bool polls(const struct app *app, int64_t now_ms)
{
	const struct log_view *log = &app->log;

	return log->ended && may_grow(app, now_ms) && (log->follow || window_bytes(&log->window) < LOG_KEEP_BYTES);
}

static int64_t due_ms(const struct log_view *log)
{
	return log->asked_ms + (log->follow ? POLL_MS : PAUSED_MS);
}

static void ask(struct app *app, enum log_read reading, uint64_t offset, uint64_t back)
{
	app->log.reading = reading;
	send_log_read(app, offset, back);
}

static bool asks_nothing(const struct app *app)
{
	return !app->log.opened || app->view != VIEW_LOG || app->link != LINK_LIVE || app->frozen || app->log.stopped;
}

/* A view that follows the newest try goes on to the next one as soon as it runs. */
static void follow_retry(struct app *app)
{
	const struct tui_job *job = log_job(app);
	struct log_view *log = &app->log;

	if (!job || !log->latest || job->epoch == log->epoch || app->model.graph.states[log->index] != STATE_RUNNING)
		return;
	if (log->follow) {
		log_show_try(app, job->epoch);
		app_notice(app, false, "the job was tried again: this is the log of try %u; { shows the try before", job->tries);
	} else {
		log->latest = false;
		app_notice(app, false, "the job was tried again: } shows the log of try %u", job->tries);
	}
}

void log_ask(struct app *app, int64_t now_ms)
{
	struct log_view *log = &app->log;
	size_t page = log->page > 0 ? (size_t)log->page : 1;

	if (asks_nothing(app))
		return;
	follow_retry(app);
	if (log_grows(app))
		log->grown_ms = now_ms;
	if (log->reading != LOG_READ_NONE || now_ms < log->again_ms)
		return;
	if (!log->begun || (log->follow && !log->ended && log->skip))
		ask(app, LOG_READ_END, UINT64_MAX, BACK_BYTES);
	else if (log->wants)
		ask(app, LOG_READ_HERE, log->wanted_from, 0);
	else if (!log->ended && (log->follow || log->top + 2 * page >= log->window.line_count))
		ask(app, LOG_READ_ON, window_to(&log->window), 0);
	else if (log->before.chunk_count > 0)
		ask(app, LOG_READ_BACK, window_to(&log->before), 0);
	else if (!log->follow && log->top < page && window_from(&log->window) > 0)
		ask(app, LOG_READ_BACK, window_from(&log->window), BACK_BYTES);
	else if (log_search_wants(log))
		ask(app, LOG_READ_SEARCH, log->search.offset, 0);
	else if (polls(app, now_ms) && now_ms >= due_ms(log))
		ask(app, LOG_READ_ON, window_to(&log->window), 0);
	else
		return;
	log->asked_ms = now_ms;
}

int64_t log_wait_ms(const struct app *app, int64_t now_ms)
{
	const struct log_view *log = &app->log;

	if (asks_nothing(app) || log->reading != LOG_READ_NONE)
		return -1;
	if (log->again_ms > now_ms)
		return log->again_ms - now_ms;
	if (!polls(app, now_ms))
		return -1;
	return due_ms(log) > now_ms ? due_ms(log) - now_ms : 0;
}

/* ---- answers ---- */

/* Does the log have more than the window has? */
static void cut_window(struct log_view *log, bool first)
{
	struct log_window *window = &log->window;

	while (window->chunk_count > 1 && window_bytes(window) > LOG_KEEP_BYTES) {
		if (first) {
			window_cut_first(window);
		} else {
			window_cut_last(window);
			log->ended = false;
		}
	}
}

static void append(struct log_view *log, uint64_t from, const struct msg_log_data *msg)
{
	uint64_t to = msg->offset > from ? msg->offset : from, before = log->window.added;
	bool nothing = msg->offset <= window_to(&log->window) && msg->pieces.n == 0;

	window_append(&log->window, from, to, msg->pieces.at, msg->pieces.n, NULL);
	if (msg->live_tail.n > 0)
		window_append(&log->window, to, to, msg->live_tail.at, msg->live_tail.n, NULL);
	if (log->ended)
		log->new_lines += log->window.added - before;
	log->ended = msg->end || nothing;
	log->newest = msg->newest;
	log->begun = true;
}

static void take_end(struct log_view *log, const struct msg_log_data *msg)
{
	log->skip = false;
	if (window_to(&log->window) < msg->start) {
		window_clear(&log->window);
		append(log, msg->start, msg);
	} else {
		append(log, window_to(&log->window), msg);
	}
}

static void take_here(struct log_view *log, const struct msg_log_data *msg)
{
	size_t at;

	window_clear(&log->window);
	window_clear(&log->before);
	log->newest = 0;
	log->ended = false;
	append(log, log->wanted_from, msg);
	at = window_find(&log->window, log->wanted);
	log->top = at < log->window.line_count ? at : 0;
	log->wants = false;
}

static void take_back(struct log_view *log, const struct msg_log_data *msg)
{
	uint64_t from = log->before.chunk_count > 0 ? window_to(&log->before) : msg->start;
	bool stuck = msg->offset <= from;

	if (from < window_from(&log->window))
		window_append(&log->before, from, msg->offset, msg->pieces.at, msg->pieces.n, &log->window);
	if (msg->offset < window_from(&log->window) && !stuck)
		return;
	if (log->before.chunk_count > 0)
		window_prepend(&log->window, &log->before);
	else if (log->window.chunk_count > 0)
		log->window.chunks[0].from = 0;  /* the master has nothing before it */
	cut_window(log, false);
}

void log_take(struct app *app, const struct msg_log_data *msg)
{
	struct log_view *log = &app->log;
	enum log_read reading = log->reading;
	struct log_place top = { 0 };
	size_t at;

	if (!log->opened || msg->id != log->request || reading == LOG_READ_NONE)
		return;
	log->reading = LOG_READ_NONE;
	if (app->frozen)
		return;
	if (msg->damage.len > 0) {
		char text[200];

		app_notice(app, true, "%s", model_plain(msg->damage, text, sizeof text));
	}
	log->size = msg->offset > log->size ? msg->offset : log->size;
	log->dropped = msg->dropped;
	if (reading == LOG_READ_SEARCH) {
		log_search_take(app, msg);
		return;
	}
	if (log->top < log->window.line_count)
		top = log->window.lines[log->top].place;
	if (reading == LOG_READ_HERE) {
		take_here(log, msg);
		log_search_go(app);
		return;
	}
	if (reading == LOG_READ_END) {
		take_end(log, msg);
		cut_window(log, true);
	} else if (reading == LOG_READ_BACK) {
		take_back(log, msg);
	} else {
		append(log, window_to(&log->window), msg);
		log->skip = !log->ended && log_grows(app);
		cut_window(log, true);
	}
	at = window_find(&log->window, top);
	log->top = at < log->window.line_count ? at : 0;
}

void log_go_to(struct app *app, struct log_match match)
{
	struct log_view *log = &app->log;
	size_t at = window_find(&log->window, match.place), third = log->page > 0 ? (size_t)log->page / 3 : 0;

	log->follow = false;
	if (at < log->window.line_count && (log->window.lines[at].place.offset == match.place.offset || at > 0)) {
		const struct log_line *line = &log->window.lines[at];

		if (match.place.offset < line->place.offset + line->len + 1) {
			log->top = at > third ? at - third : 0;
			log->wants = false;
			return;
		}
	}
	log->wanted = match.place;
	log->wanted_from = match.from;
	log->wants = true;
}
