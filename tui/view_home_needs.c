/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Draws NEEDS YOU: workers that are lost, can't start jobs or have an unkillable process; gates that wait for people;
 * runs with failed jobs, newest first, however old.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/when.h"
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
		count += (size_t)(run_needs(model->runs[i]) > 0) + run_asks(model->runs[i]);
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

static void when_draw(struct pane pane, int x, int y, const char *what, int64_t at_ms, int64_t now_ms)
{
	char text[CLOCK_TEXT_SIZE];

	when_format(at_ms, now_ms, text);
	pane_printf(pane, x, y, (struct style){ 0 }, "%s %.*s", what, (int)strlen(text) - 3, text);      /* without the seconds */
}

/* Draw the failed job that a dead letter is about. run: its run; NULL: the run is older than those of the model. */
static void letter_draw(const struct app *app, struct pane pane, int y, const struct tui_letter *letter,
			const struct tui_run *run, int64_t now_ms)
{
	const struct state_info *look = &state_table[letter->state];
	const struct tui_job job = { .outcome = (uint8_t)letter->outcome, .code = (uint32_t)letter->code };
	struct style plain = { 0 };
	char text[128];
	int x;

	pane_printf(pane, 0, y, theme_state(&app->theme, look), "%s %s", theme_glyph(&app->theme, look), look->word);
	x = pane_printf(pane, 8, y, plain, "%" PRIu64 "/", letter->run);
	x = pane_clipped(pane, x, y, 30 - x, plain, letter->job, app->theme.ascii);
	x = x < 32 ? 32 : x + 2;
	job_outcome(app, &job, letter->state, now_ms, text, sizeof text);
	x = pane_str(pane, x, y, plain, text);
	if (letter->count > 1)
		x = pane_printf(pane, x, y, plain, "and %" PRIu64 " more  ", letter->count - 1);
	if (run && !run->ended_ms)
		pane_printf(pane, x, y, plain, "%u running", tally_of(run->counts).run);
	else
		when_draw(pane, x, y, run ? "ended" : "failed", run ? run->ended_ms : letter->died_ms, now_ms);
}

static void failure_draw(
	const struct app *app, struct pane pane, int y, const struct tui_run *run, int64_t now_ms)
{
	const struct state_info *look = &state_table[STATE_FAILED];
	struct style style = theme_state(&app->theme, look), plain = { 0 };
	struct tally tally = tally_of(run->counts);
	const struct tui_letter *letter = model_letter(&app->model, run->run);
	const struct tui_job *job;
	unsigned unknown = run->counts[STATE_UNKNOWN];
	unsigned state = unknown > 0 && unknown == tally.fail ? STATE_UNKNOWN : STATE_FAILED;
	char text[128];
	int x;

	job = first_failure(app, run->run, &state);
	if (!job && letter && letter->count == run->dead && run->dead == run_needs(run)) {
		letter_draw(app, pane, y, letter, run, now_ms);
		return;
	}
	look = &state_table[state];
	pane_printf(pane, 0, y, style, "%s %s", theme_glyph(&app->theme, look), look->word);
	x = pane_printf(pane, 8, y, plain, job ? "%" PRIu64 "/" : "%" PRIu64 " ", run->run);
	x = pane_clipped(pane, x, y, 30 - x, plain, job ? job->name : run->name, app->theme.ascii);
	x = x < 32 ? 32 : x + 2;
	if (job) {
		job_outcome(app, job, state, now_ms, text, sizeof text);
		x = pane_str(pane, x, y, plain, text) + 2;
		if (tally.fail > 1)
			pane_printf(pane, x, y, plain, "and %u more", tally.fail - 1);
		return;
	}
	if (tally.fail > unknown)
		x = pane_printf(pane, x, y, plain, "%u of %" PRIu64 " jobs failed", tally.fail - unknown, run->jobs) + 2;
	if (unknown > 0)
		x = pane_printf(pane, x, y, plain, "%u may have run, or not", unknown) + 2;
	if (run->ended_ms)
		when_draw(pane, x, y, "ended", run->ended_ms, now_ms);
	else
		pane_printf(pane, x, y, plain, "%u running", tally.run);
}

static void gate_draw(const struct app *app, struct pane pane, int y, const struct tui_run *run, int64_t now_ms)
{
	const struct state_info *look = &state_table[STATE_APPROVAL];
	const struct tui_gate *gate = model_gate(&app->model, run->run);
	unsigned count = run->counts[STATE_APPROVAL];
	struct style plain = { 0 };
	char span[NUMBER_SIZE];
	int x;

	pane_printf(pane, 0, y, theme_state(&app->theme, look), "%s %s", theme_glyph(&app->theme, look), look->word);
	x = pane_printf(pane, 8, y, plain, gate ? "%" PRIu64 "/" : "%" PRIu64 " ", run->run);
	x = pane_clipped(pane, x, y, 30 - x, plain, gate ? gate->name : run->name, app->theme.ascii);
	x = x < 32 ? 32 : x + 2;
	if (!gate) {
		pane_printf(pane, x, y, plain, "%u %s for people   d, then a r p", count, count == 1 ? "gate waits" : "gates wait");
		return;
	}
	x = pane_printf(pane, x, y, plain, "%" PRIu64 " of %" PRIu64 " approved  ", gate->have, gate->count);
	if (gate->due_ms > 0)
		x = pane_printf(pane, x, y, plain, "expires in %s  ", span_short(gate->due_ms - now_ms + 999, span));
	if (count > 1)
		x = pane_printf(pane, x, y, plain, "and %u more  ", count - 1);
	pane_str(pane, x, y, theme_style(&app->theme, COLOUR_DEFAULT, STYLE_DIM), "d, then a r p");
}

static void worker_draw(const struct app *app, struct pane pane, int y, const struct tui_worker *worker)
{
	const struct state_info *look = theme_worker(worker->state);
	struct style plain = { 0 };
	const char *word = worker->state == WORKER_LOST ? "LOST" : worker->state != WORKER_UP ? "GONE" :
			   worker->refused_code > 0 ? "FAILS" : "STUCK";
	const char *why = worker->refused_code <= INT32_MAX ? strerrordesc_np((int)worker->refused_code) : NULL;
	char text[CLOCK_TEXT_SIZE];
	int x;

	if (worker->state == WORKER_UP)
		look = &state_table[STATE_FAILED];
	pane_printf(pane, 0, y, theme_state(&app->theme, look), "%s %s", theme_glyph(&app->theme, look), word);
	x = pane_clipped(pane, 8, y, 22, plain, worker->name, app->theme.ascii);
	x = x < 32 ? 32 : x + 2;
	if (worker->state == WORKER_UP && worker->refused_code > 0) {
		pane_printf(pane, x, y, plain, "can't start jobs: %s", why ? why : "it doesn't say why");
		return;
	}
	if (worker->state == WORKER_UP) {
		pane_printf(pane, x, y, plain, "%" PRIu64 " killed %s", worker->stuck,
			worker->stuck == 1 ? "job still has a process in its slot" : "jobs still have processes in their slots");
		return;
	}
	pane_printf(pane, x, y, plain, "%s %s  %" PRIu64 " jobs %s",
		worker->state == WORKER_LOST ? "last heard at" : "unreachable since",
		when_format(worker->seen_ms, app->drawn_ms, text), worker->busy,
		worker->state == WORKER_LOST ? "taken back" : "out of reach");
}

size_t needs_draw(struct app *app, struct pane pane, size_t room, int64_t now_ms)
{
	const struct model *model = &app->model;
	struct style title = theme_style(&app->theme, COLOUR_DEFAULT, STYLE_DIM);
	size_t all = needs_count(app), shown = 0;
	char text[80];

	if (all == 0)
		snprintf(text, sizeof text, "NEEDS YOU: nothing");
	else if (all <= room)
		snprintf(text, sizeof text, "NEEDS YOU (%zu)", all);
	else
		snprintf(text, sizeof text, "NEEDS YOU (%zu of %zu%s)", room, all, model->totals.more_failures ? " and more" : "");
	if (all > 0)
		title = theme_style(&app->theme, COLOUR_RED, STYLE_BOLD);
	pane_title(pane, 0, title, app->theme.ascii, text);
	/* Show workers first: they are few and serious, and a list of failed runs could leave no room for them. */
	for (size_t i = 0; i < model->worker_count && shown < room; i++)
		if (worker_needs(model->workers[i]))
			worker_draw(app, pane, (int)++shown, model->workers[i]);
	for (size_t i = model->run_count; i-- > 0 && shown < room;)
		if (run_asks(model->runs[i]))
			gate_draw(app, pane, (int)++shown, model->runs[i], now_ms);
	for (size_t i = model->run_count; i-- > 0 && shown < room;)
		if (run_needs(model->runs[i]))
			failure_draw(app, pane, (int)++shown, model->runs[i], now_ms);
	for (size_t i = 0; i < model->letters.count && shown < room; i++)
		if (!model_run(model, model->letters.at[i]->run))
			letter_draw(app, pane, (int)++shown, model->letters.at[i], NULL, now_ms);
	return all;
}
