/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The filter between text from outside and a terminal. Filtered text can't move the cursor, change a mode, hide itself
 * or run backwards. With TEXT_KEEP_COLOUR colours stay, rebuilt from their numbers; concealed and blinking text is
 * shown plainly.
 */
#include "base/text.h"

#include <utf8proc.h>

#include "base/text_internal.h"

size_t text_sgr_parse(struct slice text, struct sgr *ret_sgr)
{
	struct sgr sgr = { .count = 1 };
	size_t at = 2;

	if (text.len < 3 || text.data[0] != 0x1b || text.data[1] != '[')
		return 0;
	for (; at < text.len; at++) {
		unsigned *param = &sgr.params[sgr.count - 1];
		uint8_t byte = text.data[at];

		if (byte == 'm') {
			if (ret_sgr)
				*ret_sgr = sgr;
			return at + 1;
		}
		if (byte == ';') {
			if (sgr.count == SGR_PARAMS_MAX)
				return 0;
			sgr.count++;
		} else if (byte >= '0' && byte <= '9') {
			*param = *param * 10 + (unsigned)(byte - '0');
			if (*param > 255)
				return 0;
		} else {
			return 0;
		}
	}
	return 0;
}

/* Number of parameters that belong to the first one: 38;5;N and 38;2;R;G;B are one colour. 0: it is incomplete. */
static size_t sgr_group(const unsigned *params, size_t left)
{
	if (params[0] != 38 && params[0] != 48)
		return 1;
	if (left >= 3 && params[1] == 5)
		return 3;
	if (left >= 5 && params[1] == 2)
		return 5;
	return 0;
}

static bool sgr_harmless(unsigned param)
{
	return param <= 4 || param == 7 || param == 9 || (param >= 21 && param <= 24) || param == 27 ||
	       (param >= 29 && param <= 49) || (param >= 90 && param <= 107);
}

static void sgr_write(struct buf *out, const struct sgr *sgr)
{
	bool begun = false;
	size_t group;

	for (size_t at = 0; at < sgr->count; at += group) {
		group = sgr_group(sgr->params + at, sgr->count - at);
		if (group == 0)
			break;
		if (!sgr_harmless(sgr->params[at]))
			continue;
		for (size_t i = 0; i < group; i++) {
			buf_add_str(out, begun ? ";" : "\x1b[");
			buf_addf(out, "%u", sgr->params[at + i]);
			begun = true;
		}
	}
	if (begun)
		buf_add_byte(out, 'm');
}

/* Is the character invisible, or does it look like another one? Such a character is always escaped. */
bool text_is_hidden(uint32_t code)
{
	switch (utf8proc_category((utf8proc_int32_t)code)) {
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_CF:      /* bidirectional controls, joiners, tags */
	case UTF8PROC_CATEGORY_CS:
	case UTF8PROC_CATEGORY_CN:      /* a character that Unicode hasn't assigned, whose width is therefore unknown */
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP:
		return true;
	default:
		break;
	}
	return code == 0x034f || code == 0x115f || code == 0x1160 || code == 0x17b4 || code == 0x17b5 ||
	       (code >= 0x180b && code <= 0x180f) || code == 0x3164 || code == 0xffa0 ||
	       (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0000 && code <= 0xe0fff);
}

static void escape_code(struct buf *out, uint32_t code)
{
	if (code == '\n')
		buf_add_str(out, "\\n");
	else if (code == '\r')
		buf_add_str(out, "\\r");
	else if (code == '\t')
		buf_add_str(out, "\\t");
	else if (code < 0x80)
		buf_addf(out, "\\x%02x", code);
	else if (code < 0x10000)
		buf_addf(out, "\\u%04x", code);
	else
		buf_addf(out, "\\U%08x", code);
}

static bool is_printable_ascii(uint8_t byte)
{
	return byte >= 0x20 && byte < 0x7f;
}

/* Escape one character that isn't plain ASCII; return its number of bytes. */
static size_t escape_one(struct buf *out, struct slice text, unsigned keep)
{
	uint8_t byte = text.data[0];
	struct sgr sgr;
	uint32_t code;
	size_t len;

	if ((byte == '\n' && keep & TEXT_KEEP_NEWLINE) || (byte == '\t' && keep & TEXT_KEEP_TAB)) {
		buf_add_byte(out, byte);
		return 1;
	}
	if (byte == 0x1b && keep & TEXT_KEEP_COLOUR) {
		len = text_sgr_parse(text, &sgr);
		if (len > 0) {
			sgr_write(out, &sgr);
			return len;
		}
	}
	len = text_next(text, &code, NULL);
	if (len == 1 && byte >= 0x80)
		buf_addf(out, "\\x%02x", byte);
	else if (text_is_hidden(code))
		escape_code(out, code);
	else
		buf_add(out, text.data, len);
	return len;
}

void text_escape(struct buf *out, struct slice text, unsigned keep)
{
	size_t at = 0;

	while (at < text.len) {
		size_t end = at;

		while (end < text.len && is_printable_ascii(text.data[end]))
			end++;
		buf_add(out, text.data + at, end - at);
		at = end;
		if (at < text.len)
			at += escape_one(out, slice_make(text.data + at, text.len - at), keep);
	}
}
