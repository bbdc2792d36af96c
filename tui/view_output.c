/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pane with the output of a command that was typed after ':'. The dashboard's process runs the command and passes
 * what it prints; here it becomes lines, which are escaped when they arrive, except colours. A line that isn't whole is
 * shown, too: it may be a question, and then what is typed is its answer.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/views.h"

#define OUTPUT_KEEP_BYTES (1u << 20)
#define OUTPUT_LINE_MAX   4096           /* a longer line is broken */
#define OUTPUT_LEFT_MAX   4096
#define ANSWER_MOST       254            /* most bytes of an answer, without its newline */

void output_free(struct output_view *output)
{
	for (size_t i = 0; i < output->count; i++)
		mem_free(output->lines[(output->first + i) % OUTPUT_KEEP_LINES].text);
	mem_free(output->lines);
	buf_free(&output->partial);
	*output = (struct output_view){ 0 };
}

void app_output_begin(struct app *app, struct slice command)
{
	struct output_view *output = &app->output;
	struct buf title = { 0 };

	output_free(output);
	text_escape(&title, command, TEXT_KEEP_NONE);
	snprintf(output->title, sizeof(output->title), "%s", buf_cstr(&title));
	buf_free(&title);
	output->lines = mem_array(OUTPUT_KEEP_LINES, sizeof(*output->lines));
	output->running = output->follow = true;
	app->overlay = OVERLAY_OUTPUT;
	app->dirty = true;
}

static void forget_line(struct output_view *output)
{
	struct output_line *line = &output->lines[output->first];

	output->bytes -= line->len;
	mem_free(line->text);
	output->first = (output->first + 1) % OUTPUT_KEEP_LINES;
	output->count--;
	output->top -= output->top > 0;
}

static void keep_line(struct output_view *output, struct slice raw)
{
	struct buf escaped = { 0 };
	struct output_line *line;

	program_text(raw, &escaped);
	while (output->count > 0 &&
	       (output->count == OUTPUT_KEEP_LINES || output->bytes + escaped.len > OUTPUT_KEEP_BYTES))
		forget_line(output);
	line = &output->lines[(output->first + output->count++) % OUTPUT_KEEP_LINES];
	*line = (struct output_line){ .len = (uint32_t)escaped.len, .text = mem_text(buf_slice(&escaped)) };
	output->bytes += escaped.len;
	buf_free(&escaped);
}

void app_output_add(struct app *app, struct slice bytes)
{
	struct output_view *output = &app->output;

	if (!output->lines)
		return;
	while (bytes.len > 0) {
		const uint8_t *end = memchr(bytes.data, '\n', bytes.len);
		size_t len = end ? (size_t)(end - bytes.data) : bytes.len, room = OUTPUT_LINE_MAX - output->partial.len;
		bool whole = end && len <= room;

		len = len < room ? len : room;
		buf_add(&output->partial, bytes.data, len);
		if (whole || output->partial.len == OUTPUT_LINE_MAX) {
			keep_line(output, buf_slice(&output->partial));
			buf_clear(&output->partial);
		}
		len += whole;
		bytes = slice_make(bytes.data + len, bytes.len - len);
	}
	app->dirty = true;
}

void app_output_end(struct app *app, int status)
{
	struct output_view *output = &app->output;

	if (output->partial.len > 0)
		keep_line(output, buf_slice(&output->partial));
	buf_clear(&output->partial);
	output->running = false;
	output->status = status;
	app->dirty = true;
}

/* Does the command wait for an answer, as far as can be seen? */
static bool asks(const struct output_view *output)
{
	return output->running && output->partial.len > 0;
}

bool output_edits(const struct app *app)
{
	return app->overlay == OVERLAY_OUTPUT && asks(&app->output);
}

static size_t rows_of(const struct output_view *output)
{
	return output->count + (output->partial.len > 0);
}

static void move(struct output_view *output, enum action action)
{
	size_t rows = rows_of(output), page = output->page > 0 ? (size_t)output->page : 1;
	size_t last = rows > page ? rows - page : 0;

	if (action == ACTION_LEFT || action == ACTION_RIGHT) {
		output->left += action == ACTION_RIGHT ? 8 : -8;
		output->left = output->left < 0 ? 0 : output->left > OUTPUT_LEFT_MAX ? OUTPUT_LEFT_MAX : output->left;
		return;
	}
	output->top = move_in(output->top, last + 1, page, action);
	output->follow = output->top == last;
}

static void close_pane(struct app *app)
{
	if (app->output.running)
		send_want(app, APP_CLOSE);
	output_free(&app->output);
	app->overlay = OVERLAY_NONE;
}

static void answer_key(struct app *app, uint32_t key)
{
	struct output_view *output = &app->output;

	struct buf sent = { 0 };

	if (key != TUI_KEY_ENTER) {
		line_key(&output->answer, ANSWER_MOST, key);
		return;
	}
	buf_add_slice(&sent, line_text(&output->answer));
	buf_add(&output->partial, sent.data, sent.len);
	buf_add_byte(&sent, '\n');
	send_text(app, APP_ANSWER, buf_slice(&sent));
	buf_free(&sent);
	keep_line(output, buf_slice(&output->partial));
	buf_clear(&output->partial);
	line_clear(&output->answer);
}

void output_key(struct app *app, uint32_t key)
{
	struct output_view *output = &app->output;
	enum action action = key_action(VIEW_LOG, key);

	if (key == TUI_CTRL('C') && output->running) {
		send_want(app, APP_INTERRUPT);
		return;
	}
	if (key == TUI_KEY_ESCAPE || key == TUI_CTRL('C')) {
		close_pane(app);
		return;
	}
	if (asks(output) && (key < TUI_KEY_UP || (key & TUI_KEY_PASTED))) {
		answer_key(app, key);
		return;
	}
	switch (action) {
	case ACTION_UP:
	case ACTION_DOWN:
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
	case ACTION_FIRST:
	case ACTION_LAST:
	case ACTION_LEFT:
	case ACTION_RIGHT:
		move(output, action);
		break;
	case ACTION_COMMAND:
		if (output->running) {
			app_notice(app, false, "the command still runs; Ctrl-C ends it");
			break;
		}
		output_free(output);
		app_begin_command(app);
		break;
	case ACTION_QUIT:
		close_pane(app);
		break;
	case ACTION_REDRAW:
	case ACTION_SUSPEND:
		send_want(app, action == ACTION_SUSPEND ? APP_SUSPEND : APP_REDRAW);
		break;
	default:
		break;
	}
}

static void title_draw(const struct app *app, struct pane pane)
{
	const struct output_view *output = &app->output;
	bool failed = !output->running && output->status != 0;
	char title[220], end[60];

	if (output->running)
		snprintf(end, sizeof(end), " runs: Ctrl-C ends it, Esc closes ");
	else if (failed)
		snprintf(end, sizeof(end), " exit status %d: Esc closes ", output->status);
	else
		snprintf(end, sizeof(end), " Esc closes ");
	snprintf(title, sizeof(title), ":%.*s", pane.width - (int)strlen(end) - 8, output->title);
	pane_clear(pane, (struct style){ 0 });
	pane_title(pane, 0, styled(app, LOOK_TEXT_STRONG), app->theme.ascii, title);
	pane_right(pane, pane.width - (int)strlen(end) - 2, 0, (int)strlen(end),
		   styled(app, failed ? LOOK_TEXT_BAD : LOOK_TEXT_STRONG), end);
}

void output_draw(struct app *app, struct pane pane)
{
	struct output_view *output = &app->output;
	struct pane body = pane_cut(pane, 0, 1, pane.width, pane.height - 1);
	size_t rows = rows_of(output), page = (size_t)body.height;
	struct buf open = { 0 };

	title_draw(app, pane);
	output->page = body.height;
	if (output->follow || output->top + page > rows)
		output->top = rows > page ? rows - page : 0;
	program_text(buf_slice(&output->partial), &open);
	for (size_t y = 0; y < page && output->top + y < rows; y++) {
		size_t row = output->top + y;
		const struct output_line *line = &output->lines[(output->first + row) % OUTPUT_KEEP_LINES];
		struct slice text = row < output->count ? slice_make(line->text, line->len) : buf_slice(&open);
		int x = program_draw(app, body, -output->left, (int)y, text);

		if (row == output->count && output->running)
			line_edit_draw(app, body, x, (int)y, &output->answer, true);
	}
	if (rows == 0)
		pane_str(body, 0, 0, styled(app, LOOK_TEXT_WEAK),
			 output->running ? "it has printed nothing yet" : "it printed nothing");
	buf_free(&open);
}
