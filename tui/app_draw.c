/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the whole picture: header, tabs, the view, the pane beside it, the summary line, key hints. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "tui/views.h"

/* Draw the counts between name and clock, in order of importance, as many as fit. */
static int counts_draw(const struct app *app, struct pane pane, int x, int room)
{
	const struct totals *totals = &app->model.totals;
	char numbers[5][NUMBER_SIZE], words[5][40];
	static const int order[] = { 0, 4, 1, 2, 3 };
	bool shown[5] = { false };
	int used = x;

	number_short(totals->running, 5, numbers[1]);
	number_short(totals->wait + totals->queue, 5, numbers[2]);
	number_short(totals->ok, 5, numbers[3]);
	number_short(totals->failed, 5, numbers[4]);
	snprintf(words[0], sizeof words[0], "wrk %u/%u", (unsigned)totals->workers_up,
		(unsigned)totals->workers);
	snprintf(words[1], sizeof words[1], "run %s", numbers[1]);
	snprintf(words[2], sizeof words[2], "wait %s", numbers[2]);
	snprintf(words[3], sizeof words[3], "ok %s", numbers[3]);
	snprintf(words[4], sizeof words[4], "FAIL %s", numbers[4]);
	for (int i = 0; i < 5; i++) {
		int width = (int)strlen(words[order[i]]) + 2;

		shown[order[i]] = used + width <= room;
		used += shown[order[i]] ? width : 0;
	}
	for (int i = 0; i < 5; i++) {
		struct style style = { 0 };

		if (i == 4 && totals->failed > 0)
			style = theme_state(&app->theme, &state_table[STATE_FAILED]);
		if (shown[i])
			x = pane_str(pane, x, 0, style, words[i]) + 2;
	}
	return x;
}

static void header_draw(const struct app *app, struct pane pane, int64_t now_ms)
{
	struct style bold = styled(app, LOOK_TEXT_STRONG);
	char text[CLOCK_TEXT_SIZE];
	int x = pane_str(pane, 0, 0, bold, "titan") + 1;

	x = pane_clipped(pane, x, 0, 20, bold, slice_str(app->cluster), app->theme.ascii);
	if (app->link == LINK_LIVE)
		x = pane_str(pane, x, 0, (struct style){0},
			app->role >= ROLE_OPERATOR && app->role != ROLE_WORKER ? " rw" : " ro");
	x++;
	if (app->link == LINK_LIVE && app->frozen)
		x = pane_printf(pane, x, 0, styled(app, LOOK_LINK_FROZEN),
			    "FROZEN +%" PRIu64, app->frozen_count) +
		    2;
	else if (app->link == LINK_LIVE)
		x = pane_str(pane, x, 0, styled(app, LOOK_LINK_LIVE), "LIVE") + 2;
	else if (app->link == LINK_CONNECTING)
		x = pane_str(pane, x, 0, styled(app, LOOK_LINK_CONNECTING), "CONNECTING") + 2;
	else
		x = pane_printf(pane, x, 0, styled(app, LOOK_LINK_STALE),
			"STALE %ds, retry in %ds", (int)((now_ms - app->stale_ms) / 1000),
			(int)((app->retry_at_ms > now_ms ? app->retry_at_ms - now_ms + 999 : 0) / 1000)) + 2;
	counts_draw(app, pane, x, pane.width - 6);
	clock_format_local(now_ms, text);
	text[5] = '\0';
	pane_right(pane, pane.width - 5, 0, 5, bold, text);
}

/* Draw the line above the hints: a search, the notice about the last act, or the selected run. */
static void summary_draw(const struct app *app, struct pane pane)
{
	const struct tui_run *run = model_run(&app->model, app->run);
	struct style plain = { 0 };
	struct tally tally;
	int x;

	if (app->overlay == OVERLAY_FIND || app->overlay == OVERLAY_COMMAND) {
		bool find = app->overlay == OVERLAY_FIND;

		x = pane_str(pane, 0, 0, styled(app, LOOK_FIELD_LABEL), find ? "/" : ":");
		line_edit_draw(app, pane, x, 0, find ? &app->find : &app->command, true);
		return;
	}
	if (app->notice[0]) {
		pane_clipped(pane, 0, 0, pane.width,
			app->notice_bad ? styled(app, LOOK_TEXT_BAD)
					: styled(app, LOOK_TEXT_NOTICE),
			slice_str(app->notice), app->theme.ascii);
		return;
	}
	if (!run || !view_has(app, TRAIT_RUN))
		return;
	tally = tally_of(run->counts);
	x = pane_clipped(pane, 0, 0, 40, plain, run->name, app->theme.ascii);
	if (run->parent_run)
		x = pane_printf(pane, x, 0, plain, " (sub-run of #%" PRIu64 ") ", run->parent_run);
	x = pane_printf(pane, x, 0, plain, "#%" PRIu64 ": %u running, %u failed, %u waiting, %u ok", run->run,
		tally.run, tally.fail, tally.wait + tally.queue, tally.ok);
	if (tally.other > 0)
		x = pane_printf(pane, x, 0, plain, ", %u skipped or cancelled", tally.other);
	pane_clipped(pane, x + 2, 0, pane.width - x - 2, styled(app, LOOK_TEXT_WARNING), slice_str(run_reason_text(app)), app->theme.ascii);
}

static void line_down(const struct app *app, struct pane pane, int x)
{
	for (int y = 0; y < pane.height; y++)
		pane_str(pane, x, y, styled(app, LOOK_PANE_EDGE),
			theme_pick(&app->theme, "│", "|"));
}

static void body_draw(struct app *app, struct pane pane, int64_t now_ms)
{
	bool wide = pane.width >= WIDE_WIDTH && view_has(app, TRAIT_BESIDE);
	int left = app->view == VIEW_DAG ? pane.width - 56 : pane.width >= WIDER_WIDTH ? 110 : 80;
	struct pane main = wide ? pane_cut(pane, 0, 0, left, pane.height) : pane;
	struct pane side = pane_cut(pane, left + 2, 0, pane.width - left - 2, pane.height);
	int job_height = side.height >= 30 ? 11 : 0;

	view_row(app->view)->draw(app, main, now_ms);
	if (!wide)
		return;
	line_down(app, pane, left);
	if (app->view == VIEW_DAG) {
		job_draw(app, side, now_ms);
		return;
	}
	dag_draw(app, pane_cut(side, 0, 0, side.width, side.height - job_height), now_ms);
	if (job_height > 0) {
		pane_title(pane_cut(side, -1, side.height - job_height, side.width + 1, 1), 0,
			styled(app, LOOK_PANE_EDGE), app->theme.ascii, "");
		job_draw(app, pane_cut(side, 0, side.height - job_height + 1, side.width, job_height - 1),
			now_ms);
	}
}

void app_draw(struct app *app, struct grid *grid, int64_t now_ms)
{
	struct pane pane;

	grid_resize(grid, app->width, app->height);
	pane = grid_pane(grid);
	app->dirty = false;
	if (app->frozen)
		now_ms = app->frozen_ms;
	app->drawn_ms = now_ms;
	if (app->width < APP_MIN_WIDTH || app->height < APP_MIN_HEIGHT) {
		pane_printf(pane, 0, 0, (struct style){0}, "need %dx%d, have %dx%d; try titan status",
			APP_MIN_WIDTH, APP_MIN_HEIGHT, app->width, app->height);
		return;
	}
	header_draw(app, pane, now_ms);
	tabs_draw(app, pane_cut(pane, 0, 1, pane.width, 1));
	body_draw(app, pane_cut(pane, 0, 2, pane.width, pane.height - 4), now_ms);
	if (app->overlay == OVERLAY_OUTPUT)
		output_draw(app, pane_cut(pane, 0, 2, pane.width, pane.height - 4));
	if (app->overlay == OVERLAY_HELP)
		help_draw(app, pane_cut(pane, 0, 2, pane.width, pane.height - 4));
	summary_draw(app, pane_cut(pane, 0, pane.height - 2, pane.width, 1));
	hints_draw(app, pane_cut(pane, 0, pane.height - 1, pane.width, 1));
	if (app->overlay == OVERLAY_CONFIRM)
		act_dialog_draw(app, pane);
	if (app->overlay == OVERLAY_GATE)
		gate_dialog_draw(app, pane);
	if (app->link == LINK_STALE) {
		grid_dim(grid);
		header_draw(app, pane, now_ms);
	}
}
