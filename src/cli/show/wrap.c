/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Breaks text into lines at spaces and behind commas, or cuts it. Widths are of terminal cells; colours have none. */
#include "cli/show/wrap.h"

#include "base/text.h"

#define ROOM_MIN 20                      /* with less room for a line, text isn't broken */

/* Can a line end before this byte? */
static bool is_break(struct slice text, size_t at)
{
	return at > 0 && (text.data[at] == ' ' || text.data[at - 1] == ',');
}

size_t wrap_line(struct slice text, size_t cells, bool whole_words, size_t *ret_next)
{
	size_t fits = text_clip(text, cells, NULL), end = fits;

	*ret_next = text.len;
	if (fits == text.len)
		return fits;
	while (end > 0 && !is_break(text, end))
		end--;
	if (end == 0 && whole_words)
		for (end = fits + 1; end < text.len && !is_break(text, end);)
			end++;
	else if (end == 0)
		end = fits > 0 ? fits : text_next(text, NULL, NULL);
	for (*ret_next = end; *ret_next < text.len && text.data[*ret_next] == ' ';)
		(*ret_next)++;
	return end;
}

void wrap_add(const struct look *look, struct slice text, size_t at, size_t indent, struct buf *out)
{
	if (look->columns < indent + ROOM_MIN || look->columns < at) {
		buf_add_slice(out, text);
		return;
	}
	for (;;) {
		size_t next, len = wrap_line(text, look->columns - at, true, &next);

		buf_add(out, text.data, len);
		if (next >= text.len)
			return;
		text = slice_make(text.data + next, text.len - next);
		buf_add_byte(out, '\n');
		for (at = 0; at < indent; at++)
			buf_add_byte(out, ' ');
	}
}

void wrap_cut(const struct look *look, struct slice text, size_t cells, struct buf *out)
{
	size_t len = text_clip(text, cells, NULL);

	if (len == text.len) {
		buf_add_slice(out, text);
		return;
	}
	buf_add(out, text.data, text_clip(text, cells > 0 ? cells - 1 : 0, NULL));
	if (cells > 0)
		buf_add_str(out, look->utf8 ? "…" : "~");
}
