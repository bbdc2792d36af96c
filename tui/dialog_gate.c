/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dialog for a decision on a gate: approve, reject, push back. The gate to decide on is fixed when the key is
 * pressed. The dialog shows what the master says about the gate, and sends its digest with the decision, so that the
 * master refuses if the gate has changed since. A reason is typed first; then only y confirms. If the master refuses the
 * decision, the dialog opens again with what was typed.
 */
#include <inttypes.h>
#include <stdio.h>

#include "proto/form.h"
#include "tui/model_internal.h"
#include "tui/views.h"

#define UNBLOCKS_SHOWN 4
#define FIELD_MOST 511                   /* most bytes of a reason or a target */

static const struct {
	enum act_verb verb;
	enum action action;
	const char *title, *word, *done;
	bool reason;                     /* a reason is required */
} verbs[] = {
	{ ACT_APPROVE, ACTION_APPROVE, "APPROVE", "approve", "approved", false },
	{ ACT_REJECT, ACTION_REJECT, "REJECT", "reject", "rejected", true },
	{ ACT_PUSHBACK, ACTION_PUSHBACK, "PUSH BACK", "push back", "pushed back", true },
};

static size_t verb_at(enum act_verb verb)
{
	size_t at = 0;

	while (verbs[at].verb != verb)
		at++;
	return at;
}

static struct slice job_of(const struct gate_dialog *gate)
{
	return slice_make(gate->job, gate->job_len);
}

void gate_dialog_ask(struct app *app, enum action action, uint64_t run, struct slice job)
{
	struct gate_dialog *gate = &app->gate;
	size_t at = 0;

	while (verbs[at].action != action)
		at++;
	if (app->link != LINK_LIVE) {
		app_notice(app, true, "not connected to the master: nothing can be changed now");
	} else if (app->role < ROLE_APPROVER || app->role == ROLE_WORKER) {
		app_notice(app, true, "you have no right to decide; the role approver is needed");
	} else if (job.len <= sizeof gate->job) {
		*gate = (struct gate_dialog){ .verb = verbs[at].verb, .run = run, .job_len = job.len,
			.field = action == ACTION_PUSHBACK ? GATE_TARGET : GATE_REASON };
		memcpy(gate->job, job.data, job.len);
		gate->request = send_query_job(app, gate->run, job_of(gate));
		app->overlay = OVERLAY_GATE;
	}
}

void gate_dialog_open(struct app *app, enum action action)
{
	const struct dag_row *row = dag_selected(app);
	const struct tui_graph *graph = &app->model.graph;
	char plain[64];

	if (!row)
		return;
	if (app->link == LINK_LIVE && app->role >= ROLE_APPROVER && app->role != ROLE_WORKER && graph->states[row->job] != STATE_APPROVAL)
		app_notice(app, false, "%s isn't a gate that waits for people, so it can't be decided",
			model_plain(graph->jobs[row->job].name, plain, sizeof plain));
	else
		gate_dialog_ask(app, action, graph->run, graph->jobs[row->job].name);
}

/* List the jobs that the gate unblocks: the first few names and how many more. */
static void describe_unblocked(struct gate_dialog *gate, const struct rec_job_row *row)
{
	size_t used = 0;

	gate->unblocks[0] = '\0';
	for (size_t i = 0; i < row->unblocks.n && i < UNBLOCKS_SHOWN && used + 1 < sizeof gate->unblocks; i++) {
		char name[64];

		used += (size_t)snprintf(gate->unblocks + used, sizeof gate->unblocks - used, "%s%s", i ? ", " : "unblocks ",
			model_plain(row->unblocks.at[i], name, sizeof name));
	}
	if (row->unblocks.n > UNBLOCKS_SHOWN && used + 1 < sizeof gate->unblocks)
		snprintf(gate->unblocks + used, sizeof gate->unblocks - used, " and %zu more",
			row->unblocks.n - UNBLOCKS_SHOWN);
}

/* Say how many have approved, and who may, if the gate says that. */
static void describe_votes(struct gate_dialog *gate, const struct rec_job_row *row)
{
	const struct slice_list *who = row->gate_shown.n > 0 ? &row->gate_shown : &row->gate_from;
	size_t used = (size_t)snprintf(gate->votes, sizeof gate->votes, "%" PRIu64 " of %" PRIu64 " people have approved",
		row->gate_have, row->gate_count);

	for (size_t i = 0; i < who->n && used + 1 < sizeof gate->votes; i++) {
		char name[200];

		used += (size_t)snprintf(gate->votes + used, sizeof gate->votes - used, "%s%s", i ? ", " : "; who may: ",
			model_plain(who->at[i], name, sizeof name));
	}
}

/* An approval of a gate with fields needs their values, which this dialog can't take: name the command that can. */
static bool needs_fields(struct app *app, const struct rec_job_row *row)
{
	struct buf why = { 0 }, options = { 0 };
	char name[200], shown[300];
	bool needs = app->gate.verb == ACT_APPROVE && !form_check(row->gate_fields, (struct slice_list){ 0 }, &why);

	if (needs) {
		form_options(row->gate_fields, &options);
		model_plain(buf_slice(&options), shown, sizeof shown);
		app_notice(app, true, "the gate has fields, give them in a shell: titan approve %" PRIu64 "/%s%s", app->gate.run,
			model_plain(job_of(&app->gate), name, sizeof name), shown);
	}
	buf_free(&why);
	buf_free(&options);
	return needs;
}

void gate_dialog_take(struct app *app, const struct msg_snapshot *msg)
{
	struct gate_dialog *gate = &app->gate;
	const struct rec_job_row *row = msg->jobs.n > 0 ? &msg->jobs.at[0] : NULL;

	if (app->overlay != OVERLAY_GATE || gate->known)
		return;
	if (!row || row->state != STATE_APPROVAL || row->digest.len == 0 || row->digest.len > sizeof gate->digest) {
		app->overlay = OVERLAY_NONE;
		app_notice(app, false, "the gate no longer waits for a decision; nothing was decided");
		return;
	}
	if (needs_fields(app, row)) {
		app->overlay = OVERLAY_NONE;
		return;
	}
	gate->known = true;
	gate->have = row->gate_have;
	gate->count = row->gate_count;
	gate->digest_len = row->digest.len;
	memcpy(gate->digest, row->digest.data, row->digest.len);
	model_plain(row->gate_message, gate->question, sizeof gate->question);
	describe_votes(gate, row);
	describe_unblocked(gate, row);
}

bool gate_dialog_edits(const struct app *app)
{
	return app->overlay == OVERLAY_GATE && !app->gate.confirm;
}

static void dialog_send(struct app *app)
{
	struct gate_dialog *gate = &app->gate;
	struct msg_act act = { .verb = gate->verb, .run = gate->run, .job = job_of(gate),
		.text = line_text(&gate->lines[GATE_REASON]),
		.target = line_text(&gate->lines[GATE_TARGET]),
		.digest = slice_make(gate->digest, gate->digest_len) };

	send_act(app, &act);
	gate->sent = app->act_id;
	gate->refused[0] = '\0';
	app_notice(app, false, "the decision was sent");
}

void gate_dialog_done(struct app *app, uint64_t changed)
{
	struct gate_dialog *gate = &app->gate;
	uint64_t have = gate->have + changed;
	char name[100];

	gate->sent = 0;
	model_plain(job_of(gate), name, sizeof name);
	if (gate->verb == ACT_APPROVE && changed == 0)
		app_notice(app, true, "you had already approved %s: each person counts once, and %" PRIu64 " of %" PRIu64 " have approved",
			name, have, gate->count);
	else if (gate->verb == ACT_APPROVE && have < gate->count)
		app_notice(app, false, "your approval of %s is kept: %" PRIu64 " of %" PRIu64 " people have approved", name, have,
			gate->count);
	else if (changed == 0)
		app_notice(app, true, "nothing has changed: you had already decided on %s", name);
	else
		app_notice(app, false, "done: %s was %s", name, verbs[verb_at(gate->verb)].done);
}

void gate_dialog_refused(struct app *app, const char *why)
{
	struct gate_dialog *gate = &app->gate;

	gate->sent = 0;
	if (app->overlay != OVERLAY_NONE || app->link != LINK_LIVE)
		return;
	/* Show the gate as it is now: it may have changed, or have been decided by somebody else. */
	gate->known = gate->confirm = false;
	gate->field = gate->verb == ACT_PUSHBACK ? GATE_TARGET : GATE_REASON;
	snprintf(gate->refused, sizeof gate->refused, "%s", why);
	gate->request = send_query_job(app, gate->run, job_of(gate));
	app->overlay = OVERLAY_GATE;
}

/* Go to the next field that must be filled (target, reason), or to the confirmation. */
static void dialog_enter(struct app *app)
{
	struct gate_dialog *gate = &app->gate;

	if (gate->verb == ACT_PUSHBACK && gate->lines[GATE_TARGET].len == 0)
		gate->field = GATE_TARGET;
	else if (verbs[verb_at(gate->verb)].reason && gate->lines[GATE_REASON].len == 0)
		gate->field = GATE_REASON;
	else
		gate->confirm = gate->known;
}

void gate_dialog_key(struct app *app, uint32_t key)
{
	struct gate_dialog *gate = &app->gate;

	if (gate->confirm) {
		app->overlay = OVERLAY_NONE;
		if (key == 'y' && app->link == LINK_LIVE)
			dialog_send(app);
		else
			app_notice(app, false, "nothing was decided");
	} else if (key == TUI_KEY_ESCAPE || key == TUI_CTRL('C')) {
		app->overlay = OVERLAY_NONE;
		app_notice(app, false, "nothing was decided");
	} else if (key == TUI_KEY_ENTER) {
		dialog_enter(app);
	} else if (key == TUI_KEY_UP || key == TUI_KEY_DOWN || key == '\t') {
		if (gate->verb == ACT_PUSHBACK)
			gate->field = gate->field == GATE_TARGET ? GATE_REASON : GATE_TARGET;
	} else {
		line_key(&gate->lines[gate->field], FIELD_MOST, key);
	}
}

static void field_draw(const struct app *app, struct pane pane, int y, enum gate_field field, const char *label)
{
	const struct gate_dialog *gate = &app->gate;
	bool here = !gate->confirm && gate->field == field;
	int x = pane_str(pane, 0, y, here ? styled(app, LOOK_FIELD_LABEL) : (struct style){ 0 }, label);

	line_edit_draw(app, pane, x, y, &gate->lines[field], here);
}

void gate_dialog_draw(struct app *app, struct pane pane)
{
	const struct gate_dialog *gate = &app->gate;
	size_t at = verb_at(gate->verb);
	struct style edge = styled(app, at == 0 ? LOOK_DIALOG_DO : LOOK_DIALOG_DANGER), plain = { 0 };
	int width = pane.width < 74 ? pane.width - 4 : 72;
	struct pane box = pane_cut(pane, (pane.width - width) / 2, pane.height / 2 - 6, width, 12);
	struct pane inner = pane_cut(box, 2, 0, width - 4, 12);
	char name[200], line[260];

	pane_clear(box, plain);
	pane_title(box, 0, edge, app->theme.ascii, verbs[at].title);
	model_plain(job_of(gate), name, sizeof name);
	snprintf(line, sizeof line, "%" PRIu64 "/%s", gate->run, name);
	pane_clipped(inner, 0, 2, inner.width, styled(app, LOOK_TEXT_STRONG), slice_str(line),
		app->theme.ascii);
	if (!gate->known)
		pane_str(inner, 0, 3, plain, "asking the master what the gate is about..");
	pane_clipped(inner, 0, 3, gate->known ? inner.width : 0, plain, slice_str(gate->question), app->theme.ascii);
	pane_clipped(inner, 0, 4, inner.width, plain, slice_str(gate->unblocks), app->theme.ascii);
	pane_clipped(inner, 0, 5, inner.width, styled(app, LOOK_TEXT_WEAK), slice_str(gate->votes),
		app->theme.ascii);
	if (gate->verb == ACT_PUSHBACK)
		field_draw(app, inner, 7, GATE_TARGET, "back to> ");
	field_draw(app, inner, 8, GATE_REASON, verbs[at].reason ? "reason> " : "reason (may be empty)> ");
	if (gate->confirm)
		snprintf(line, sizeof line, "y  %s        any other key  do nothing (default)", verbs[at].word);
	else
		snprintf(line, sizeof line, "Enter  go on        Esc  close%s",
			gate->verb == ACT_PUSHBACK ? "        Tab  the other line" : "");
	pane_clipped(inner, 0, 6, inner.width, styled(app, LOOK_TEXT_BAD), slice_str(gate->refused),
		app->theme.ascii);
	pane_str(inner, 0, 10, styled(app, LOOK_HINT_KEY), line);
	pane_title(pane_cut(box, 0, 11, width, 1), 0, edge, app->theme.ascii, "");
}
