/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The JSON writer: commas, nesting, and texts with any bytes. */
#include "cli/show/json.h"
#include "greatest.h"

static struct buf out;
static struct json json;

static const char *text_as_json(const char *text, size_t len)
{
	buf_clear(&out);
	json_begin(&json, &out);
	json_text(&json, slice_make(text, len));
	return buf_cstr(&out);
}

TEST nesting(void)
{
	buf_clear(&out);
	json_begin(&json, &out);
	json_object(&json);
	json_key(&json, "a");
	json_array(&json);
	json_u64(&json, UINT64_MAX);
	json_i64(&json, -1);
	json_object(&json);
	json_end(&json);
	json_array(&json);
	json_end(&json);
	json_null(&json);
	json_end(&json);
	json_key(&json, "b");
	json_bool(&json, true);
	json_key(&json, "c");
	json_string(&json, NULL);
	json_key(&json, "d");
	json_time(&json, 0);
	json_key(&json, "e\"");
	json_time(&json, 1);
	json_end(&json);
	ASSERT_STR_EQ("{\"a\":[18446744073709551615,-1,{},[],null],\"b\":true,\"c\":null,\"d\":null,"
		      "\"e\\\"\":\"1970-01-01T00:00:00.001Z\"}",
		      buf_cstr(&out));
	PASS();
}

TEST text_is_escaped(void)
{
	ASSERT_STR_EQ("\"\"", text_as_json("", 0));
	ASSERT_STR_EQ("\"a\\\"b\\\\c\\n\\t\\u0000\\u001b\\u007f/\"", text_as_json("a\"b\\c\n\t\0\x1b\x7f/", 11));
	ASSERT_STR_EQ("\"äö€😀\"", text_as_json("äö€😀", strlen("äö€😀")));
	PASS();
}

TEST what_is_no_utf8_is_replaced(void)
{
	ASSERT_STR_EQ("\"a\xef\xbf\xbd" "b\"", text_as_json("a\xff" "b", 3));
	ASSERT_STR_EQ("\"\xef\xbf\xbd\"", text_as_json("\xc3", 1));
	/* UTF-8 that must be refused: a surrogate, and an overlong encoding of '/' */
	ASSERT(strstr(text_as_json("\xed\xa0\x80", 3), "\xed") == NULL);
	ASSERT(strstr(text_as_json("\xc0\xaf", 2), "\xc0") == NULL);
	PASS();
}

TEST hidden_characters_are_escaped(void)
{
	/*
	 * CSI as a C1 character, bidirectional override, zero-width space, byte order mark, line separator, a tag
	 * character above U+FFFF
	 */
	ASSERT_STR_EQ("\"\\u009b2J\"", text_as_json("\xc2\x9b" "2J", 4));
	ASSERT_STR_EQ("\"\\u202ea\\u200bb\\ufeff\\u2028\"", text_as_json("\u202ea\u200bb\ufeff\u2028", 14));
	ASSERT_STR_EQ("\"\\udb40\\udc41\"", text_as_json("\U000e0041", 4));
	PASS();
}

SUITE(cli_json)
{
	RUN_TEST(nesting);
	RUN_TEST(text_is_escaped);
	RUN_TEST(what_is_no_utf8_is_replaced);
	RUN_TEST(hidden_characters_are_escaped);
	buf_free(&out);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cli_json);
	GREATEST_MAIN_END();
}
