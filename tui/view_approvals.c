/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Approvals: the gates that wait for people, and all that a person must know about the selected one: the whole question,
 * the people who may decide, the jobs that its approval starts, and the earlier decisions about the gate.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "base/when.h"
#include "tui/list.h"
#include "tui/model_internal.h"
#include "tui/views.h"

#define LABEL_CELLS 10

/* ---- the list ---- */

static void gate_cell(const struct app *app, struct pane cell, const void *row)
{
	const struct tui_gate *gate = row;
	int x = pane_printf(cell, 0, 0, (struct style){ 0 }, "%" PRIu64 "/", gate->run);

	pane_clipped(cell, x, 0, cell.width - x, (struct style){ 0 }, gate->name, app->theme.ascii);
}

static void votes_cell(const struct app *app, struct pane cell, const void *row)
{
	const struct tui_gate *gate = row;

	(void)app;
	pane_printf(cell, 0, 0, (struct style){ 0 }, "%" PRIu64 " of %" PRIu64, gate->have, gate->count);
}

static void expiry_cell(const struct app *app, struct pane cell, const void *row)
{
	const struct tui_gate *gate = row;
	char span[NUMBER_SIZE];

	pane_right(cell, 0, 0, cell.width, (struct style){ 0 }, gate->due_ms > 0 ? span_short(gate->due_ms - app->drawn_ms + 999, span) : "never");
}

static void question_cell(const struct app *app, struct pane cell, const void *row)
{
	pane_clipped(cell, 0, 0, cell.width, (struct style){ 0 }, ((const struct tui_gate *)row)->question, app->theme.ascii);
}

static const struct list_column columns[] = {
	{ .head = "GATE", .width = 20, .grow = 1, .most = 40, .gap = 1, .draw = gate_cell },
	{ .head = "VOTES", .width = 8, .gap = 1, .draw = votes_cell },
	{ .head = "EXPIRES", .width = 7, .gap = 2, .right = true, .draw = expiry_cell },
	{ .head = "QUESTION", .width = 12, .grow = 2, .priority = 1, .draw = question_cell },
};

static uint64_t gate_id(const void *row)
{
	const struct tui_gate *gate = row;

	return gate->run * LIMIT_RUN_JOBS_MAX + gate->index;
}

static struct slice gate_name(const void *row)
{
	return ((const struct tui_gate *)row)->name;
}

static const struct list_table gates_table = {
	.columns = columns, .count = sizeof columns / sizeof columns[0], .id = gate_id, .name = gate_name,
	.none = "no gate waits for people",
};

static struct list_rows list_gates(const struct app *app)
{
	return (struct list_rows){ .at = (void **)app->model.gate_rows, .count = app->model.gate_count };
}

static const struct tui_gate *selected(const struct app *app)
{
	struct list_rows rows = list_gates(app);
	size_t at = list_selected(&gates_table, &app->gates, rows);

	return at < rows.count ? rows.at[at] : NULL;
}

/* ---- keys ---- */

void approvals_act(struct app *app, enum action action)
{
	const struct tui_gate *gate = selected(app);

	if (!gate || (action != ACTION_OPEN && action != ACTION_APPROVE && action != ACTION_REJECT && action != ACTION_PUSHBACK)) {
		list_move(&gates_table, &app->gates, list_gates(app), action);
		return;
	}
	/* The gate is the selected one from now on, also if others come before it. */
	list_select(&gates_table, &app->gates, gate);
	if (action == ACTION_OPEN) {
		app->above_count = 0;
		dag_open_at(app, gate->run, gate->index);
		app_go(app, VIEW_DAG);
	} else {
		gate_dialog_ask(app, action, gate->run, gate->name);
	}
}

bool approvals_offers(const struct app *app, enum action action)
{
	return selected(app) != NULL || (action != ACTION_APPROVE && action != ACTION_REJECT && action != ACTION_PUSHBACK && action != ACTION_OPEN);
}

bool approvals_find(struct app *app, int step)
{
	return list_find(app, &gates_table, &app->gates, list_gates(app), step);
}

void approvals_name(const struct app *app, struct buf *out)
{
	const struct tui_gate *gate = selected(app);

	if (!gate)
		return;
	buf_addf(out, "%" PRIu64 "/", gate->run);
	buf_add_slice(out, gate->name);
}

/* ---- decisions about the selected gate ---- */

void decisions_ask(struct app *app)
{
	const struct tui_gate *gate = app->view == VIEW_APPROVALS ? selected(app) : NULL;
	struct decisions *decisions = &app->decisions;

	if (!gate || app->link != LINK_LIVE || app->frozen || decisions->id != 0 ||
	    (decisions->gate == gate_id(gate) && decisions->have == gate->have))
		return;
	decisions->gate = gate_id(gate);
	decisions->have = gate->have;
	decisions->count = 0;
	decisions->id = send_query_decisions(app, gate->run);
}

void decisions_take(struct app *app, const struct msg_snapshot *msg)
{
	struct decisions *decisions = &app->decisions;
	const struct tui_gate *gate = selected(app);
	size_t most = sizeof decisions->at / sizeof decisions->at[0];

	decisions->id = 0;
	if (app->frozen || !gate || gate_id(gate) != decisions->gate)
		return;
	decisions->count = 0;
	/* The last ones are the newest. */
	for (size_t i = msg->decisions.n; i-- > 0 && decisions->count < most;) {
		const struct rec_decision *row = &msg->decisions.at[i];
		char person[100], target[100], reason[200], when[CLOCK_TEXT_SIZE];

		if (!slice_eq(row->name, gate->name))
			continue;
		snprintf(decisions->at[decisions->count++], sizeof decisions->at[0], "%s %s %s %s%s%s", when_format(row->wall_ms, app->drawn_ms, when),
			model_plain(row->person, person, sizeof person), verdict_text((enum verdict)row->verdict),
			model_plain(row->target, target, sizeof target), row->reason.len ? ": " : "",
			model_plain(row->reason, reason, sizeof reason));
	}
}

/* ---- drawing ---- */

/* Draw a text in as many rows as it needs; lines of it begin new rows. Return the next row. */
static int wrapped_draw(struct pane pane, int y, struct style style, struct slice text)
{
	while (text.len > 0 && y < pane.height) {
		const uint8_t *end = memchr(text.data, '\n', text.len);
		struct slice line = slice_make(text.data, end ? (size_t)(end - text.data) : text.len);
		struct buf escaped = { 0 };
		struct slice rest;

		text = slice_make(text.data + line.len + (end != NULL), text.len - line.len - (end != NULL));
		text_escape(&escaped, line, TEXT_KEEP_NONE);
		rest = buf_slice(&escaped);
		do {
			size_t len = text_width(rest) <= (size_t)pane.width ? rest.len : text_clip(rest, (size_t)pane.width, NULL);
			size_t word = len;

			while (len < rest.len && word > 0 && rest.data[word] != ' ')
				word--;
			len = word > 0 ? word : len > 0 ? len : rest.len;
			pane_text(pane, 0, y++, style, slice_make(rest.data, len));
			while (len < rest.len && rest.data[len] == ' ')
				len++;
			rest = slice_make(rest.data + len, rest.len - len);
		} while (rest.len > 0 && y < pane.height);
		buf_free(&escaped);
	}
	return y;
}

static int labelled_draw(const struct app *app, struct pane pane, int y, const char *label, struct slice text)
{
	struct pane right = pane_cut(pane, LABEL_CELLS, 0, pane.width - LABEL_CELLS, pane.height);

	pane_str(pane, 0, y, styled(app, LOOK_TEXT_WEAK), label);
	return wrapped_draw(right, y, (struct style){ 0 }, text.len > 0 ? text : slice_str("-"));
}

/* What an approval starts: the jobs with their commands, in the name of the run's submitter. */
static int starts_draw(const struct app *app, struct pane pane, int y, const struct tui_gate *gate)
{
	const struct tui_run *run = model_run(&app->model, gate->run);
	struct buf text = { 0 };

	for (size_t i = 0; i < gate->unblocks.n; i++) {
		buf_clear(&text);
		buf_add_slice(&text, gate->unblocks.at[i]);
		if (i < gate->will.n && gate->will.at[i].len > 0) {
			buf_add_str(&text, ": ");
			buf_add_slice(&text, gate->will.at[i]);
		}
		y = labelled_draw(app, pane, y, i == 0 ? "approve" : "", buf_slice(&text));
	}
	if (gate->unblocks.n == 0)
		y = labelled_draw(app, pane, y, "approve", slice_str("starts no job"));
	if (run)
		y = labelled_draw(app, pane, y, "as", run->owner);
	buf_free(&text);
	return y;
}

static void details_draw(const struct app *app, struct pane pane, const struct tui_gate *gate)
{
	const struct tui_run *run = model_run(&app->model, gate->run);
	struct buf text = { 0 };
	char when[CLOCK_TEXT_SIZE];
	int y = 1;

	buf_addf(&text, "%" PRIu64 "/", gate->run);
	buf_add_slice(&text, gate->name);
	if (run) {
		buf_add_str(&text, "  of ");
		buf_add_slice(&text, run->name);
	}
	pane_clipped(pane, 0, 0, pane.width, styled(app, LOOK_TEXT_STRONG), buf_slice(&text), app->theme.ascii);
	y = labelled_draw(app, pane, y, "question", gate->question);
	buf_clear(&text);
	buf_addf(&text, "%" PRIu64 " of %" PRIu64 " people have approved", gate->have, gate->count);
	y = labelled_draw(app, pane, y, "votes", buf_slice(&text));
	y = labelled_draw(app, pane, y, "who may", gate->who.len > 0 ? gate->who : slice_str("anybody with the right to approve"));
	if (gate->due_ms > 0)
		y = labelled_draw(app, pane, y, "expires", slice_str(when_format(gate->due_ms, app->drawn_ms, when)));
	y = starts_draw(app, pane, y, gate);
	for (size_t i = 0; i < app->decisions.count && app->decisions.gate == gate_id(gate); i++)
		y = labelled_draw(app, pane, y, i == 0 ? "before" : "", slice_str(app->decisions.at[i]));
	buf_free(&text);
}

void approvals_draw(struct app *app, struct pane pane, int64_t now_ms)
{
	size_t count = app->model.gate_count;
	bool wide = pane.width >= WIDE_WIDTH;
	int rows = wide ? pane.height - 1 : (int)(count < 4 ? count : pane.height >= 30 ? (count < 10 ? count : 10) : 4) + 1;
	struct pane list = pane_cut(pane, 0, 1, wide ? 80 : pane.width, rows > 1 ? rows : 2);
	struct pane side = wide ? pane_cut(pane, 82, 1, pane.width - 82, pane.height - 1)
				: pane_cut(pane, 0, 2 + list.height, pane.width, pane.height - 2 - list.height);
	const struct tui_gate *gate = selected(app);
	char title[40];

	(void)now_ms;
	snprintf(title, sizeof title, "APPROVALS (%zu)", count);
	pane_title(pane, 0, styled(app, count > 0 ? LOOK_PANE_ALARM : LOOK_PANE_TITLE), app->theme.ascii, title);
	list_draw(app, &gates_table, &app->gates, list_gates(app), list);
	if (!wide)
		pane_title(pane, 1 + list.height, styled(app, LOOK_PANE_EDGE), app->theme.ascii, "");
	if (gate)
		details_draw(app, side, gate);
}
