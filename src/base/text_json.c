/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a text as a JSON string that is valid, and harmless on a terminal, whatever the text contains. */
#include "base/text.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Write a \u escape; a character above U+FFFF becomes a pair of surrogates. */
static void add_escape(struct buf *out, uint32_t code)
{
	if (code < 0x10000)
		buf_addf(out, "\\u%04x", (unsigned)code);
	else
		buf_addf(out, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((code - 0x10000) >> 10)),
			 (unsigned)(0xdc00 + ((code - 0x10000) & 0x3ff)));
}

static bool is_plain(uint8_t byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

/* Write the first character of text, which isn't printable ASCII. Return its length in bytes. */
static size_t add_special(struct buf *out, struct slice text)
{
	uint32_t code;
	size_t len = text_next(text, &code, NULL);

	if (code == '"' || code == '\\') {
		buf_add_byte(out, '\\');
		buf_add_byte(out, (uint8_t)code);
	} else if (code == '\n') {
		buf_add_str(out, "\\n");
	} else if (code == '\t') {
		buf_add_str(out, "\\t");
	} else if (code == 0xfffd) {
		buf_add_str(out, REPLACEMENT);
	} else if (text_is_hidden(code)) {
		add_escape(out, code);
	} else {
		buf_add(out, text.data, len);
	}
	return len;
}

void text_add_json(struct buf *out, struct slice text)
{
	size_t at = 0;

	buf_add_byte(out, '"');
	while (at < text.len) {
		size_t end = at;

		while (end < text.len && is_plain(text.data[end]))
			end++;
		buf_add(out, text.data + at, end - at);
		at = end;
		if (at < text.len)
			at += add_special(out, slice_make(text.data + at, text.len - at));
	}
	buf_add_byte(out, '"');
}
