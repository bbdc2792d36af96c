/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job in words: its state on one line, and its details. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "base/when.h"
#include "tui/model_internal.h"
#include "tui/views.h"

#define SETTING_COLUMN 18                /* x of the values, behind the longest heading */
#define CAUSES_SOUGHT 1000               /* most steps along a chain of skipped jobs, for each drawn row */

static void how_it_ended(const struct tui_job *job, char *out, size_t size)
{
	out[0] = '\0';
	switch ((enum outcome)job->outcome) {
	case OUTCOME_EXIT:
		if (job->code != 0)
			snprintf(out, size, "exit %u  ", job->code);
		break;
	case OUTCOME_SIGNAL: {
		const char *name = job->code < NSIG ? sigabbrev_np((int)job->code) : NULL;

		if (name)
			snprintf(out, size, "SIG%s  ", name);
		else
			snprintf(out, size, "signal %u  ", job->code);
		break;
	}
	case OUTCOME_SPAWN: {
		const char *text = strerrordesc_np((int)job->code);

		snprintf(out, size, "can't start: %s  ", text ? text : "unknown error");
		break;
	}
	case OUTCOME_NO_DIR: {
		const char *text = strerrordesc_np((int)job->code);

		snprintf(out, size, "can't start in its directory: %s  ", text ? text : "unknown error");
		break;
	}
	case OUTCOME_STAGE_FAILED: {
		const char *text = strerrordesc_np((int)job->code);

		snprintf(out, size, "its files couldn't be put in place: %s  ", text ? text : "unknown error");
		break;
	}
	case OUTCOME_LOST:
		snprintf(out, size, "worker lost  ");
		break;
	case OUTCOME_EXIT_UNKNOWN:
		snprintf(out, size, "exit unknown  ");
		break;
	case OUTCOME_BAD_OUTPUT:
		snprintf(out, size, "bad output  ");
		break;
	case OUTCOME_BAD_ARTIFACTS:
		snprintf(out, size, "bad artifacts  ");
		break;
	case OUTCOME_NONE:
	case OUTCOME_RECALLED:
	case OUTCOME_STOPPED:
	case OUTCOME_REFUSED:
	case OUTCOME_ELSEWHERE:
	case OUTCOME_COUNT:
		break;
	}
}

static const struct tui_job *find_cause(const struct tui_graph *graph, const struct tui_job *job)
{
	uint64_t offset;

	if (job->cause == 0)
		return NULL;
	/* Serial numbers of a run's jobs are mostly consecutive, so try the expected index first. */
	offset = job->cause - 1 - job->job + (uint64_t)(job - graph->jobs);
	if (offset < graph->count && graph->jobs[offset].job == job->cause - 1)
		return &graph->jobs[offset];
	for (size_t i = 0; i < graph->count; i++)
		if (graph->jobs[i].job == job->cause - 1)
			return &graph->jobs[i];
	return NULL;
}

/* Name the job because of which this one was skipped, and the one where a chain of skipped jobs began. */
static void because(const struct tui_graph *graph, const struct tui_job *job, char *out, size_t size)
{
	const struct tui_job *cause = find_cause(graph, job), *root = cause;
	const char *fate;
	char name[64];
	size_t used;

	out[0] = '\0';
	if (!cause)
		return;
	for (int i = 0; i < CAUSES_SOUGHT; i++) {
		const struct tui_job *next = find_cause(graph, root);

		if (!next || next == root)
			break;
		root = next;
	}
	snprintf(out, size, "because of %s", model_plain(cause->name, name, sizeof name));
	fate = state_table[graph->states[root - graph->jobs]].name;
	used = strlen(out);
	if (root != cause && root->cause == 0)
		snprintf(out + used, size - used, ", as %s %s", model_plain(root->name, name, sizeof name), fate);
}

static void waits_for(const struct tui_job *job, unsigned state, const char *reason, int64_t now_ms, char *out, size_t size)
{
	char span[CLOCK_TEXT_SIZE];

	out[0] = '\0';
	if (state == STATE_DELAYED && job->due_ms > now_ms)
		snprintf(out, size, "again in %s", clock_format_span(job->due_ms - now_ms + 999, span));
	else if (state == STATE_DELAYED)
		snprintf(out, size, "due now");
	else if (state == STATE_READY)
		snprintf(out, size, "%s", reason[0] ? reason : "for a free slot");
	else if (state == STATE_WAITING)
		snprintf(out, size, "%s", reason);
}

/* What few jobs have: votes of a gate, the pass of a loop, a sub-run, a deadline. Each part ends with two spaces. */
static void extras(const struct tui_job *job, unsigned state, int64_t now_ms, char *out, size_t size)
{
	const struct job_more *more = job->more;
	bool over = state_terminal((enum job_state)state);
	size_t used = 0;
	char span[NUMBER_SIZE];

	out[0] = '\0';
	if (!more)
		return;
	if (state == STATE_APPROVAL)
		used += (size_t)snprintf(out, size, "%u of %u approved  ", more->votes, more->votes_wanted);
	if (state == STATE_APPROVAL && job->due_ms > 0 && used < size)
		used += (size_t)snprintf(out + used, size - used, "expires in %s  ", span_short(job->due_ms - now_ms + 999, span));
	if (more->pass > 0 && used < size)
		used += (size_t)snprintf(out + used, size - used, "pass %u/%u  ", more->pass, more->loop_max);
	if (more->child != 0 && used < size)
		used += (size_t)snprintf(out + used, size - used, "sub-run #%" PRIu64 "  ", more->child);
	if (more->deadline_ms > 0 && !over && used < size)
		snprintf(out + used, size - used, "%s %s  ", more->deadline_ms > now_ms ? "deadline in" : "deadline passed for",
			span_short(more->deadline_ms > now_ms ? more->deadline_ms - now_ms + 999 : now_ms - more->deadline_ms, span));
}

const struct state_info *job_face(const struct tui_graph *graph, size_t index)
{
	unsigned state = graph->states[index];

	if (graph->jobs[index].more && graph->jobs[index].more->held && state_table[state].kind == KIND_WAITS)
		return &flag_table[FLAG_HOLD];
	if (state == STATE_DELAYED && graph->jobs[index].tries == 0)
		return &flag_table[FLAG_LATER];
	return state == STATE_FAILED && graph->jobs[index].dead ? &flag_table[FLAG_DEAD] : &state_table[state];
}

/* The reason for which the job waits; empty if it is none of the shown graph. */
static const char *known_reason(const struct app *app, const struct tui_job *job)
{
	const struct tui_graph *graph = &app->model.graph;

	return job >= graph->jobs && job < graph->jobs + graph->count ? reason_of(app, (uint32_t)(job - graph->jobs)) : "";
}

void job_outcome(const struct app *app, const struct tui_job *job, unsigned state, int64_t now_ms, char *out,
	size_t size)
{
	char end[160], span[CLOCK_TEXT_SIZE] = "", tries[32] = "", worker[64], more[160];
	int64_t took =
		(state == STATE_RUNNING || job->ended_ms == 0 ? now_ms : job->ended_ms) - job->started_ms;

	extras(job, state, now_ms, more, sizeof more);
	if (state_table[state].kind == KIND_WAITS) {
		waits_for(job, state, known_reason(app, job), now_ms, end, sizeof end);
		if (job->tries > 0)
			snprintf(tries, sizeof tries, "try %u/%u  ", job->tries - job->interrupted,
				 job->retry_max + 1);
		snprintf(out, size, "%s%s%s", more, tries, end);
		return;
	}
	if (state == STATE_SKIPPED || (state == STATE_CANCELLED && job->tries == 0)) {
		because(&app->model.graph, job, out, size);
		return;
	}
	how_it_ended(job, end, sizeof end);
	if (job->started_ms != 0)
		clock_format_span(took > 0 ? took : 0, span);
	if (job->tries > 1 || (state_needs_eyes(state) && job->retry_max > 0))
		snprintf(tries, sizeof tries, "try %u/%u  ", job->tries - job->interrupted,
				 job->retry_max + 1);
	model_plain(job_worker(job), worker, sizeof worker);
	snprintf(out, size, "%s%s%s%s%s%s", more, state_terminal((enum job_state)state) ? end : "", tries, span,
		span[0] ? "  " : "", worker);
}

static void names_draw(const struct app *app, struct pane pane, int y, const char *what,
	const uint32_t *start, const uint32_t *to, uint32_t node)
{
	struct style plain = { 0 }, dim = styled(app, LOOK_TEXT_WEAK);
	struct buf text = { 0 };

	for (uint32_t k = start[node]; k < start[node + 1] && text.len < 400; k++) {
		buf_add_str(&text, text.len ? ", " : "");
		node_name(app, to[k], &text);
	}
	pane_str(pane, 1, y, dim, what);
	pane_clipped(pane, 10, y, pane.width - 10, plain, text.len ? buf_slice(&text) : slice_str("-"),
		app->theme.ascii);
	buf_free(&text);
}

static void time_draw(const struct app *app, struct pane pane, int y, const char *what, int64_t at_ms)
{
	struct style plain = { 0 }, dim = styled(app, LOOK_TEXT_WEAK);
	char text[CLOCK_TEXT_SIZE];

	pane_str(pane, 1, y, dim, what);
	pane_str(pane, 10, y, plain, at_ms ? when_format(at_ms, app->drawn_ms, text) : "-");
}

/* Draw the plain settings, one per line, as many as fit. */
static void settings_draw(const struct app *app, struct pane pane, int y, const struct rec_job_settings *settings)
{
	struct style plain = { 0 }, dim = styled(app, LOOK_TEXT_WEAK);
	struct buf text = { 0 };

	for (size_t i = 0; i < setting_count && y < pane.height; i++) {
		if (setting_table[i].shape == SHAPE_OWN || !setting_plain_said(&setting_table[i], settings))
			continue;
		buf_clear(&text);
		setting_print(&setting_table[i], settings, &text);
		pane_str(pane, 1, y, dim, setting_table[i].yaml);
		pane_clipped(pane, SETTING_COLUMN, y, pane.width - SETTING_COLUMN, plain, buf_slice(&text), app->theme.ascii);
		y++;
	}
	buf_free(&text);
}

void job_draw(struct app *app, struct pane pane, int64_t now_ms)
{
	const struct tui_graph *graph = &app->model.graph;
	const struct dag_row *row = dag_selected(app);
	struct style plain = { 0 }, bold = styled(app, LOOK_TEXT_STRONG);
	const struct tui_job *job;
	const struct state_info *look;
	char text[160];
	int x;

	if (!row)
		return;
	job = &graph->jobs[row->job];
	look = job_face(graph, row->job);
	x = pane_printf(pane, 0, 0, bold, "JOB %" PRIu64 "/", graph->run);
	pane_clipped(pane, x, 0, pane.width - x, bold, job->name, app->theme.ascii);
	if (row->kind == ROW_NODE && app->dag.fold.nodes[row->node].folded) {
		pane_printf(pane, 1, 1, plain, "the first of %u similar jobs; f unfolds them",
			app->dag.fold.nodes[row->node].member_count);
		return;
	}
	x = pane_printf(pane, 1, 1, theme_state(&app->theme, look), "%s %s", theme_glyph(&app->theme, look),
		look->word);
	pane_clipped(pane, x + 2, 1, pane.width - x - 2, plain, slice_str(look->fact), app->theme.ascii);
	job_outcome(app, job, graph->states[row->job], now_ms, text, sizeof text);
	pane_clipped(pane, 1, 2, pane.width - 1, plain, slice_str(text), app->theme.ascii);
	pane_str(pane, 1, 4, styled(app, LOOK_TEXT_WEAK), "tries");
	x = pane_printf(pane, 10, 4, plain, "%u of %u, %u lost with a worker", job->tries - job->interrupted,
		job->retry_max + 1, job->crashes);
	if (job->interrupted > 0)
		pane_printf(pane, x, 4, plain, ", %u ended by one", job->interrupted);
	time_draw(app, pane, 5, "started", job->started_ms);
	time_draw(app, pane, 6, "ended", job->ended_ms);
	names_draw(app, pane, 8, "needs", app->dag.fold.parent_start, app->dag.fold.parents, row->node);
	names_draw(app, pane, 9, "blocks", app->dag.fold.child_start, app->dag.fold.children, row->node);
	if (job->settings)
		settings_draw(app, pane, 10, job->settings);
}
