/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes on their way to a terminal: as text with each set of kept characters, and as a text in JSON. Nothing hidden
 * comes out, escaping twice changes nothing, and the JSON reads back as the text.
 */
#include "base/check.h"
#include "base/text.h"
#include "cli/show/json.h"

#define KEEP_ALL (TEXT_KEEP_NEWLINE | TEXT_KEEP_TAB | TEXT_KEEP_COLOUR)
#define LONGEST_ESCAPE 10                /* \U000e0041 for four bytes, \xff for one */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_kept(uint32_t code, unsigned keep)
{
	return (code == '\n' && keep & TEXT_KEEP_NEWLINE) || (code == '\t' && keep & TEXT_KEEP_TAB) ||
	       (code == 0x1b && keep & TEXT_KEEP_COLOUR);
}

/* Check that the output is UTF-8 and has no hidden characters. */
static void check_visible(struct slice text, unsigned keep)
{
	while (text.len > 0) {
		uint32_t code;
		size_t len = text_next(text, &code, NULL);

		CHECK(len > 1 || text.data[0] < 0x80);
		CHECK(!text_is_hidden(code) || is_kept(code, keep));
		text = slice_make(text.data + len, text.len - len);
	}
}

static void try_text(struct slice text, unsigned keep)
{
	struct buf once = { 0 }, twice = { 0 };

	text_escape(&once, text, keep);
	check_visible(buf_slice(&once), keep);
	CHECK(once.len <= text.len * LONGEST_ESCAPE);
	text_escape(&twice, buf_slice(&once), keep);
	CHECK(slice_eq(buf_slice(&once), buf_slice(&twice)));
	buf_free(&once);
	buf_free(&twice);
}

static unsigned read_hex(const uint8_t *digits)
{
	unsigned value = 0;

	for (int i = 0; i < 4; i++) {
		uint8_t digit = digits[i];

		CHECK((digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f'));
		value = value * 16 + (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
	}
	return value;
}

/* Read one character of a JSON text; return its number of bytes. */
static size_t read_character(struct slice json, uint32_t *ret_code)
{
	static const char shorts[] = "\"\\nt", meant[] = "\"\\\n\t";
	const char *found;

	if (json.data[0] != '\\')
		return text_next(json, ret_code, NULL);
	CHECK(json.len >= 2);
	found = strchr(shorts, json.data[1]);
	if (json.data[1] != 'u') {
		CHECK(found != NULL && *found != '\0');
		*ret_code = (uint32_t)meant[found - shorts];
		return 2;
	}
	CHECK(json.len >= 6);
	*ret_code = read_hex(json.data + 2);
	if (*ret_code < 0xd800 || *ret_code > 0xdfff)
		return 6;
	CHECK(*ret_code < 0xdc00 && json.len >= 12 && json.data[6] == '\\' && json.data[7] == 'u');
	*ret_code = 0x10000 + ((*ret_code - 0xd800) << 10) + (read_hex(json.data + 8) - 0xdc00);
	return 12;
}

static void try_json(struct slice text)
{
	struct buf out = { 0 };
	struct json json;
	struct slice rest;

	json_begin(&json, &out);
	json_text(&json, text);
	check_visible(buf_slice(&out), TEXT_KEEP_NONE);
	CHECK(out.len >= 2 && out.data[0] == '"' && out.data[out.len - 1] == '"');
	rest = slice_make(out.data + 1, out.len - 2);
	while (rest.len > 0) {
		uint32_t read, written;
		size_t taken, len;

		CHECK(text.len > 0 && rest.data[0] != '"');
		len = text_next(text, &written, NULL);           /* U+FFFD stands for a byte that isn't UTF-8 */
		taken = read_character(rest, &read);
		CHECK(read == written);
		text = slice_make(text.data + len, text.len - len);
		rest = slice_make(rest.data + taken, rest.len - taken);
	}
	CHECK(text.len == 0);
	buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = slice_make(data, size);

	if (size > 65536)
		return 0;
	for (unsigned keep = 0; keep <= KEEP_ALL; keep++)
		try_text(text, keep);
	try_json(text);
	return 0;
}
