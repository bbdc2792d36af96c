/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * NEEDS YOU: workers that are lost, can't start jobs or have an unkillable process; gates that wait for people; services that
 * end again and again; runs with failed jobs, newest first, however old. Each is an object that can be selected, and leads to what it is about.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/when.h"
#include "tui/list.h"
#include "tui/views.h"

/*
 * The number of the run's jobs whose failure needs attention: neither the pipeline forgives the failure, nor did a person
 * discard the job's dead letter.
 */
static uint32_t run_needs(const struct tui_run *run)
{
	uint32_t fail = tally_of(run->counts).fail;
	uint32_t letters = run->counts[STATE_FAILED] + run->counts[STATE_TIMED_OUT];
	uint32_t settled = letters > run->dead ? letters - run->dead : 0;

	settled = settled > run->forgiven ? settled : run->forgiven;
	return fail > settled ? fail - settled : 0;
}

static bool run_asks(const struct tui_run *run)
{
	return run->counts[STATE_APPROVAL] > 0;
}

/* Does a service of the run end again and again? */
static bool run_loops(const struct tui_run *run)
{
	return run->crash_loop.len > 0;
}

/* Does the worker need a person's attention? One that ended in order doesn't. */
static bool worker_needs(const struct tui_worker *worker)
{
	return worker->state == WORKER_UP ? worker->stuck > 0 || worker->refused_code > 0 : worker->state != WORKER_ENDED;
}

size_t needs_count(const struct app *app)
{
	const struct model *model = &app->model;
	size_t count = model->totals.workers_silent + model->totals.workers_lost + model->totals.workers_stuck +
		       model->totals.workers_refusing;

	for (size_t i = 0; i < model->run_count; i++)
		count += (size_t)(run_needs(model->runs[i]) > 0) + run_asks(model->runs[i]) + run_loops(model->runs[i]);
	return count + model->totals.old_failures;
}

static const struct tui_job *first_failure(const struct app *app, uint64_t run, unsigned *ret_state)
{
	const struct tui_graph *graph = &app->model.graph;

	if (graph->run != run)
		return NULL;
	for (size_t i = 0; i < graph->count; i++) {
		if (graph->jobs[i].job != 0 && state_needs_eyes(graph->states[i]) && !graph->jobs[i].forgiven) {
			*ret_state = graph->states[i];
			return &graph->jobs[i];
		}
	}
	return NULL;
}

/* ---- the objects ---- */

static uint64_t need_number(enum need_kind kind, uint64_t number)
{
	return (uint64_t)kind << 60 | number;
}

static struct need *need_add(struct needs *needs, enum need_kind kind, uint64_t number)
{
	struct need *need;

	if (needs->rows.count == needs->cap) {
		needs->cap = needs->cap ? needs->cap * 2 : 16;
		needs->all = mem_resize(needs->all, needs->cap, sizeof *needs->all);
	}
	need = &needs->all[needs->rows.count++];
	*need = (struct need){ .kind = kind, .id = need_number(kind, number), .job = NEED_ANY_JOB };
	return need;
}

static void fill_gate(const struct app *app, struct need *need, const struct tui_run *run)
{
	need->run = run->run;
	need->in = run;
	need->gate = model_gate(&app->model, run->run);
	need->job = need->gate ? need->gate->index : NEED_ANY_JOB;
}

static void fill_failure(const struct app *app, struct need *need, const struct tui_run *run)
{
	const struct tui_letter *letter = model_letter(&app->model, run->run);
	unsigned state = STATE_FAILED;

	need->run = run->run;
	need->in = run;
	need->failed = first_failure(app, run->run, &state);
	need->state = state;
	if (need->failed)
		need->job = (uint32_t)(need->failed - app->model.graph.jobs);
	else if (letter && letter->count == run->dead && run->dead == run_needs(run))
		need->letter = letter;
	if (need->letter)
		need->job = letter->index;
}

static void fill_letter(struct need *need, const struct tui_letter *letter)
{
	need->letter = letter;
	need->run = letter->run;
	need->job = letter->index;
}

static void fill_crash_loop(struct need *need, const struct tui_run *run)
{
	need->run = run->run;
	need->in = run;
}

struct needs needs_list(const struct app *app)
{
	const struct model *model = &app->model;
	struct needs needs = { 0 };

	/* Workers come first: they are few and serious, and a list of failed runs could leave no room for them. */
	for (size_t i = 0; i < model->worker_count; i++)
		if (worker_needs(model->workers[i]))
			need_add(&needs, NEED_WORKER, model->workers[i]->worker)->worker = model->workers[i];
	for (size_t i = model->run_count; i-- > 0;)
		if (run_asks(model->runs[i]))
			fill_gate(app, need_add(&needs, NEED_GATE, model->runs[i]->run), model->runs[i]);
	for (size_t i = model->run_count; i-- > 0;)
		if (run_loops(model->runs[i]))
			fill_crash_loop(need_add(&needs, NEED_CRASH_LOOP, model->runs[i]->run), model->runs[i]);
	for (size_t i = model->run_count; i-- > 0;)
		if (run_needs(model->runs[i]))
			fill_failure(app, need_add(&needs, NEED_FAILURE, model->runs[i]->run), model->runs[i]);
	for (size_t i = 0; i < model->letters.count; i++)
		if (!model_run(model, model->letters.at[i]->run))
			fill_letter(need_add(&needs, NEED_FAILURE, model->letters.at[i]->run), model->letters.at[i]);
	needs.rows.at = mem_array(needs.rows.count + 1, sizeof *needs.rows.at);
	for (size_t i = 0; i < needs.rows.count; i++)
		needs.rows.at[i] = &needs.all[i];
	return needs;
}

bool need_find(const struct app *app, uint64_t id, struct need *ret_need)
{
	enum need_kind kind = (enum need_kind)(id >> 60);
	uint64_t number = id & ((UINT64_C(1) << 60) - 1);
	const struct tui_run *run = kind == NEED_WORKER ? NULL : model_run(&app->model, number);
	const struct tui_letter *letter = kind == NEED_FAILURE ? model_letter(&app->model, number) : NULL;
	struct tui_worker *worker = kind == NEED_WORKER ? model_worker(&app->model, number) : NULL;

	*ret_need = (struct need){ .kind = kind, .id = id, .job = NEED_ANY_JOB };
	if (worker && worker_needs(worker))
		ret_need->worker = worker;
	else if (kind == NEED_GATE && run && run_asks(run))
		fill_gate(app, ret_need, run);
	else if (kind == NEED_CRASH_LOOP && run && run_loops(run))
		fill_crash_loop(ret_need, run);
	else if (kind == NEED_FAILURE && run && run_needs(run))
		fill_failure(app, ret_need, run);
	else if (!run && letter)
		fill_letter(ret_need, letter);
	else
		return false;
	return true;
}

void needs_free(struct needs *needs)
{
	mem_free(needs->rows.at);
	mem_free(needs->all);
}

/* ---- columns ---- */

static const struct state_info *face_of(const struct need *need, const char **ret_word)
{
	const struct state_info *look = &state_table[STATE_FAILED];
	const struct tui_worker *worker = need->worker;
	uint32_t unknown;

	if (need->kind == NEED_WORKER) {
		*ret_word = worker->state == WORKER_LOST ? "LOST" : worker->state != WORKER_UP ? "GONE" :
			    worker->refused_code > 0 ? "FAILS" : "STUCK";
		return worker->state == WORKER_UP ? look : theme_worker(worker->state);
	}
	if (need->kind == NEED_CRASH_LOOP) {
		*ret_word = "LOOP";
		return look;
	}
	if (need->kind == NEED_GATE) {
		look = &state_table[STATE_APPROVAL];
	} else if (need->failed) {
		look = &state_table[need->state];
	} else if (need->letter) {
		look = &state_table[need->letter->state];
	} else {
		unknown = need->in->counts[STATE_UNKNOWN];
		if (unknown > 0 && unknown == tally_of(need->in->counts).fail)
			look = &state_table[STATE_UNKNOWN];
	}
	*ret_word = look->word;
	return look;
}

static void what_cell(const struct app *app, struct pane cell, const void *row)
{
	const char *word;
	const struct state_info *look = face_of(row, &word);

	pane_printf(cell, 0, 0, theme_state(&app->theme, look), "%s %s", theme_glyph(&app->theme, look), word);
}

static void object_cell(const struct app *app, struct pane cell, const void *row)
{
	const struct need *need = row;
	struct slice job = need->gate ? need->gate->name : need->failed ? need->failed->name : need->letter ? need->letter->job : slice_str("");
	struct slice name;
	int x = 0;

	if (need->kind == NEED_CRASH_LOOP)
		job = need->in->crash_loop;
	name = need->worker ? need->worker->name : job.len > 0 ? job : need->in ? need->in->name : slice_str("");
	if (!need->worker)
		x = pane_printf(cell, 0, 0, (struct style){ 0 }, job.len > 0 ? "%" PRIu64 "/" : "%" PRIu64 " ", need->run);
	pane_clipped(cell, x, 0, cell.width - x, (struct style){ 0 }, name, app->theme.ascii);
}

static int when_draw(const struct app *app, struct pane pane, int x, const char *what, int64_t at_ms)
{
	char text[CLOCK_TEXT_SIZE];

	when_format(at_ms, app->drawn_ms, text);
	return pane_printf(pane, x, 0, (struct style){ 0 }, "%s %.*s", what, (int)strlen(text) - 3, text);    /* without the seconds */
}

static void run_end_draw(const struct app *app, struct pane cell, int x, const struct tui_run *run)
{
	if (run->ended_ms)
		when_draw(app, cell, x, "ended", run->ended_ms);
	else
		pane_printf(cell, x, 0, (struct style){ 0 }, "%u running", tally_of(run->counts).run);
}

static void failure_draw(const struct app *app, struct pane cell, const struct need *need)
{
	struct style plain = { 0 };
	struct tally tally = need->in ? tally_of(need->in->counts) : (struct tally){ 0 };
	unsigned unknown = need->in ? need->in->counts[STATE_UNKNOWN] : 0;
	char text[128];
	int x = 0;

	if (need->failed) {
		job_outcome(app, need->failed, need->state, app->drawn_ms, text, sizeof text);
		x = pane_str(cell, x, 0, plain, text) + 2;
		if (tally.fail > 1)
			pane_printf(cell, x, 0, plain, "and %u more", tally.fail - 1);
		return;
	}
	if (need->letter) {
		const struct tui_job job = { .outcome = (uint8_t)need->letter->outcome, .code = (uint32_t)need->letter->code };

		job_outcome(app, &job, need->letter->state, app->drawn_ms, text, sizeof text);
		x = pane_str(cell, x, 0, plain, text);
		if (need->letter->count > 1)
			x = pane_printf(cell, x, 0, plain, "and %" PRIu64 " more  ", need->letter->count - 1);
		if (need->in)
			run_end_draw(app, cell, x, need->in);
		else
			when_draw(app, cell, x, "failed", need->letter->died_ms);
		return;
	}
	if (tally.fail > unknown)
		x = pane_printf(cell, x, 0, plain, "%u of %" PRIu64 " jobs failed", tally.fail - unknown, need->in->jobs) + 2;
	if (unknown > 0)
		x = pane_printf(cell, x, 0, plain, "%u may have run, or not", unknown) + 2;
	run_end_draw(app, cell, x, need->in);
}

static void gate_draw(struct pane cell, const struct need *need, int64_t now_ms)
{
	const struct tui_gate *gate = need->gate;
	unsigned count = need->in->counts[STATE_APPROVAL];
	struct style plain = { 0 };
	char span[NUMBER_SIZE];
	int x;

	if (!gate) {
		pane_printf(cell, 0, 0, plain, "%u %s for people", count, count == 1 ? "gate waits" : "gates wait");
		return;
	}
	x = pane_printf(cell, 0, 0, plain, "%" PRIu64 " of %" PRIu64 " approved  ", gate->have, gate->count);
	if (gate->due_ms > 0)
		x = pane_printf(cell, x, 0, plain, "expires in %s  ", span_short(gate->due_ms - now_ms + 999, span));
	if (count > 1)
		pane_printf(cell, x, 0, plain, "and %u more", count - 1);
}

static void worker_draw(const struct app *app, struct pane cell, const struct tui_worker *worker)
{
	const char *why = worker->refused_code <= INT32_MAX ? strerrordesc_np((int)worker->refused_code) : NULL;
	struct style plain = { 0 };
	char text[CLOCK_TEXT_SIZE];

	if (worker->state == WORKER_UP && worker->refused_code > 0)
		pane_printf(cell, 0, 0, plain, "can't start jobs: %s", why ? why : "it doesn't say why");
	else if (worker->state == WORKER_UP)
		pane_printf(cell, 0, 0, plain, "%" PRIu64 " killed %s", worker->stuck,
			worker->stuck == 1 ? "job still has a process in its slot" : "jobs still have processes in their slots");
	else
		pane_printf(cell, 0, 0, plain, "%s %s  %" PRIu64 " jobs %s",
			worker->state == WORKER_LOST ? "last heard at" : "unreachable since",
			when_format(worker->seen_ms, app->drawn_ms, text), worker->busy,
			worker->state == WORKER_LOST ? "taken back" : "out of reach");
}

static void words_cell(const struct app *app, struct pane cell, const void *row)
{
	const struct need *need = row;

	if (need->kind == NEED_WORKER)
		worker_draw(app, cell, need->worker);
	else if (need->kind == NEED_GATE)
		gate_draw(cell, need, app->drawn_ms);
	else if (need->kind == NEED_CRASH_LOOP)
		pane_str(cell, 0, 0, (struct style){ 0 }, "the service ends again and again; it is started every 5 minutes");
	else
		failure_draw(app, cell, need);
}

static const struct list_column columns[] = {
	{ .head = "", .width = 7, .gap = 1, .draw = what_cell },
	{ .head = "", .width = 20, .gap = 2, .draw = object_cell },
	{ .head = "", .width = 20, .grow = 1, .draw = words_cell },
};

static uint64_t need_id(const void *row)
{
	return ((const struct need *)row)->id;
}

static struct slice need_name(const void *row)
{
	const struct need *need = row;

	return need->worker ? need->worker->name : need->gate ? need->gate->name : need->letter ? need->letter->job : need->in->name;
}

const struct list_table needs_table = {
	.columns = columns, .count = sizeof columns / sizeof columns[0], .no_heads = true, .id = need_id, .name = need_name, .none = "",
};

void needs_draw(struct app *app, struct pane pane)
{
	struct needs needs = needs_list(app);
	size_t all = needs.rows.count, room = pane.height > 1 ? (size_t)pane.height - 1 : 0;
	char text[80];

	if (all == 0)
		snprintf(text, sizeof text, "NEEDS YOU: nothing");
	else if (all <= room)
		snprintf(text, sizeof text, "NEEDS YOU (%zu)", all);
	else
		snprintf(text, sizeof text, "NEEDS YOU (%zu of %zu%s)", room, all, app->model.totals.more_failures ? " and more" : "");
	pane_title(pane, 0, styled(app, all > 0 ? LOOK_PANE_ALARM : LOOK_PANE_TITLE), app->theme.ascii, text);
	list_draw(app, &needs_table, &app->needs, needs.rows, pane_cut(pane, 0, 1, pane.width, pane.height - 1));
	needs_free(&needs);
}
