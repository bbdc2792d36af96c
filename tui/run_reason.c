/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why the selected run waits: the words of titan explain about the first of its jobs that waits, for the line at the bottom. */
#include "tui/model_internal.h"
#include "tui/views.h"

#define AGAIN_MS 3000

/* Is the selected run live, with jobs that could run and don't? */
static bool waits(const struct app *app)
{
	const struct tui_run *run = model_run(&app->model, app->run);
	struct tally tally;

	if (!run || run_state_terminal(run->state))
		return false;
	tally = tally_of(run->counts);
	return tally.queue + run->counts[STATE_APPROVAL] > 0 || run->held || tally.run == 0;
}

/* When to ask; INT64_MAX: nothing is to be asked. */
static int64_t due_ms(const struct app *app)
{
	const struct run_reason *reason = &app->run_reason;

	if (app->link != LINK_LIVE || app->frozen || reason->id != 0 || !view_has(app, TRAIT_BESIDE) || !waits(app))
		return INT64_MAX;
	return reason->run == app->run ? reason->asked_ms + AGAIN_MS : 0;
}

void run_reason_ask(struct app *app, int64_t now_ms)
{
	struct run_reason *reason = &app->run_reason;

	if (due_ms(app) > now_ms)
		return;
	if (reason->run != app->run)
		reason->text[0] = '\0';
	reason->run = app->run;
	reason->asked_ms = now_ms;
	reason->id = send_query_run(app, app->run);
}

int64_t run_reason_wait_ms(const struct app *app, int64_t now_ms)
{
	int64_t due = due_ms(app);

	return due == INT64_MAX ? due : due > now_ms ? due - now_ms : 0;
}

void run_reason_take(struct app *app, const struct msg_snapshot *msg)
{
	struct run_reason *reason = &app->run_reason;

	reason->id = 0;
	reason->text[0] = '\0';
	if (!app->frozen && msg->runs.n > 0 && msg->runs.at[0].run == reason->run)
		model_plain(msg->runs.at[0].why, reason->text, sizeof reason->text);
}

const char *run_reason_text(const struct app *app)
{
	return app->run_reason.run == app->run && waits(app) ? app->run_reason.text : "";
}
