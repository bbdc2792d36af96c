/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The editor of line_edit.h: keys as in most shells, whole characters, and a cursor that is always in view. */
#include "tui/line_edit.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/keys.h"
#include "tui/views.h"

static bool is_middle(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

static size_t before(const struct line_edit *line, size_t at)
{
	while (at > 0 && is_middle(line->text[--at]))
		continue;
	return at;
}

static size_t after(const struct line_edit *line, size_t at)
{
	if (at < line->len)
		at++;
	while (at < line->len && is_middle(line->text[at]))
		at++;
	return at;
}

static void remove_part(struct line_edit *line, size_t from, size_t to)
{
	memmove(line->text + from, line->text + to, line->len - to);
	line->len -= to - from;
	line->at = from;
}

/* The begin of the word before the cursor, as Ctrl-W removes it. */
static size_t word_before(const struct line_edit *line)
{
	size_t at = line->at;

	while (at > 0 && line->text[at - 1] == ' ')
		at--;
	while (at > 0 && line->text[at - 1] != ' ')
		at--;
	return at;
}

static size_t encode(uint32_t code, char out[4])
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

static bool insert(struct line_edit *line, size_t most, uint32_t code)
{
	char bytes[4];
	size_t len;

	most = most < LINE_BYTES ? most : LINE_BYTES - 1;
	if (code < 0x20 || (code >= 0x7f && code < 0xa0) || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return false;
	len = encode(code, bytes);
	if (line->len + len > most)
		return true;
	memmove(line->text + line->at + len, line->text + line->at, line->len - line->at);
	memcpy(line->text + line->at, bytes, len);
	line->len += len;
	line->at += len;
	return true;
}

void line_clear(struct line_edit *line)
{
	line->len = line->at = 0;
}

void line_set(struct line_edit *line, struct slice text)
{
	line->len = line->at = text.len < LINE_BYTES ? text.len : 0;
	if (line->len > 0)
		memcpy(line->text, text.data, line->len);
}

bool line_key(struct line_edit *line, size_t most, uint32_t key)
{
	if (key & TUI_KEY_PASTED)
		return insert(line, most, key & ~(uint32_t)TUI_KEY_PASTED);
	switch (key) {
	case TUI_KEY_LEFT:
		line->at = before(line, line->at);
		return true;
	case TUI_KEY_RIGHT:
		line->at = after(line, line->at);
		return true;
	case TUI_KEY_HOME:
	case TUI_CTRL('A'):
		line->at = 0;
		return true;
	case TUI_KEY_END:
	case TUI_CTRL('E'):
		line->at = line->len;
		return true;
	case TUI_KEY_BACKSPACE:
		remove_part(line, before(line, line->at), line->at);
		return true;
	case TUI_KEY_DELETE:
		remove_part(line, line->at, after(line, line->at));
		return true;
	case TUI_CTRL('U'):
		remove_part(line, 0, line->at);
		return true;
	case TUI_CTRL('K'):
		remove_part(line, line->at, line->len);
		return true;
	case TUI_CTRL('W'):
		remove_part(line, word_before(line), line->at);
		return true;
	default:
		return insert(line, most, key);
	}
}

static int cells_of(struct slice text)
{
	struct buf escaped = { 0 };
	int width;

	text_escape(&escaped, text, TEXT_KEEP_NONE);
	width = (int)text_width(buf_slice(&escaped));
	buf_free(&escaped);
	return width;
}

int line_edit_draw(const struct app *app, struct pane pane, int x, int y, const struct line_edit *line, bool cursor)
{
	int room = pane.width - x - 1;
	size_t from = 0, next = after(line, line->at);
	struct style plain = { 0 };

	/* Leave out characters at the begin until the cursor is in view. */
	while (from < line->at && cells_of(slice_make(line->text + from, line->at - from)) > room)
		from = after(line, from);
	x = pane_foreign(pane, x, y, plain, slice_make(line->text + from, line->at - from));
	if (!cursor)
		return pane_foreign(pane, x, y, plain, slice_make(line->text + line->at, line->len - line->at));
	if (line->at == line->len)
		return pane_str(pane, x, y, styled(app, LOOK_FIELD_CURSOR), " ");
	x = pane_foreign(pane, x, y, styled(app, LOOK_FIELD_CURSOR), slice_make(line->text + line->at, next - line->at));
	return pane_foreign(pane, x, y, plain, slice_make(line->text + next, line->len - next));
}

/* ---- history ---- */

void line_history_keep(struct line_history *history, struct slice text)
{
	char *last = history->count > 0 ? history->lines[history->count - 1] : NULL;

	history->back = 0;
	if (text.len == 0 || text.len >= LINE_BYTES || (last && slice_eq(slice_str(last), text)))
		return;
	if (history->count == LINE_HISTORY) {
		mem_free(history->lines[0]);
		memmove(history->lines, history->lines + 1, --history->count * sizeof history->lines[0]);
	}
	history->lines[history->count++] = mem_text(text);
}

void line_history_move(struct line_history *history, struct line_edit *line, int step)
{
	size_t back = history->back;

	if (step < 0 ? back == history->count : back == 0)
		return;
	if (back == 0)
		history->typed = *line;
	history->back = step < 0 ? back + 1 : back - 1;
	if (history->back == 0)
		*line = history->typed;
	else
		line_set(line, slice_str(history->lines[history->count - history->back]));
}

void line_history_free(struct line_history *history)
{
	for (size_t i = 0; i < history->count; i++)
		mem_free(history->lines[i]);
	*history = (struct line_history){ 0 };
}
