/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text for terminals: escaping and width; and which commands need a shell. */
#include "base/rand.h"
#include "base/text.h"
#include "greatest.h"

static struct buf out;

static const char *escaped(const char *text, size_t len, unsigned keep)
{
	buf_clear(&out);
	text_escape(&out, slice_make(text, len), keep);
	return buf_cstr(&out);
}

#define ESCAPED(text, keep) escaped(text, sizeof(text) - 1, keep)

TEST escape_makes_controls_visible(void)
{
	ASSERT_STR_EQ("plain text ~", ESCAPED("plain text ~", 0));
	ASSERT_STR_EQ("a\\x1b[2Jb", ESCAPED("a\x1b[2Jb", 0));
	ASSERT_STR_EQ("\\x00\\x07\\x7f\\r", ESCAPED("\0\a\x7f\r", 0));
	ASSERT_STR_EQ("\\n\\t", ESCAPED("\n\t", 0));
	ASSERT_STR_EQ("\n\\t", ESCAPED("\n\t", TEXT_KEEP_NEWLINE));
	ASSERT_STR_EQ("\\n\t", ESCAPED("\n\t", TEXT_KEEP_TAB));
	ASSERT_STR_EQ("\\u009b31m", ESCAPED("\xc2\x9b" "31m", 0));
	ASSERT_STR_EQ("\\u202egpj.exe", ESCAPED("\xe2\x80\xaegpj.exe", 0));
	ASSERT_STR_EQ("a\\u200bb\\ufeff", ESCAPED("a\xe2\x80\x8b" "b\xef\xbb\xbf", 0));
	ASSERT_STR_EQ("\\u2066\\u2028", ESCAPED("\xe2\x81\xa6\xe2\x80\xa8", 0));
	ASSERT_STR_EQ("\\U000e0041", ESCAPED("\xf3\xa0\x81\x81", 0));
	PASS();
}

TEST escape_keeps_real_text(void)
{
	ASSERT_STR_EQ("Grüße 日本語 e\xcc\x81 ✓", ESCAPED("Grüße 日本語 e\xcc\x81 ✓", 0));
	PASS();
}

TEST escape_shows_bytes_that_are_no_utf8(void)
{
	ASSERT_STR_EQ("\\xff\\xfe", ESCAPED("\xff\xfe", 0));
	ASSERT_STR_EQ("\\xc0\\x80", ESCAPED("\xc0\x80", 0));               /* an overlong encoding */
	ASSERT_STR_EQ("\\xed\\xa0\\x80", ESCAPED("\xed\xa0\x80", 0));      /* a surrogate */
	ASSERT_STR_EQ("ab\\xe2\\x82", ESCAPED("ab\xe2\x82", 0));           /* cut short */
	ASSERT_STR_EQ("\\x9b31m", ESCAPED("\x9b" "31m", 0));
	PASS();
}

TEST escape_remakes_colour(void)
{
	ASSERT_STR_EQ("\\x1b[31mred", ESCAPED("\x1b[31mred", 0));
	ASSERT_STR_EQ("\x1b[31mred\x1b[0m", ESCAPED("\x1b[31mred\x1b[m", TEXT_KEEP_COLOUR));
	ASSERT_STR_EQ("\x1b[1;38;5;208mx", ESCAPED("\x1b[01;38;5;208mx", TEXT_KEEP_COLOUR));
	ASSERT_STR_EQ("\x1b[48;2;1;2;8mx", ESCAPED("\x1b[48;2;1;2;8mx", TEXT_KEEP_COLOUR));
	ASSERT_STR_EQ("\x1b[31mx", ESCAPED("\x1b[8;31;5mx", TEXT_KEEP_COLOUR)); /* conceal, blink */
	ASSERT_STR_EQ("x", ESCAPED("\x1b[8mx", TEXT_KEEP_COLOUR));
	ASSERT_STR_EQ("x", ESCAPED("\x1b[38;5mx", TEXT_KEEP_COLOUR));               /* half a colour */
	PASS();
}

TEST escape_passes_no_other_sequence(void)
{
	ASSERT_STR_EQ("\\x1b[2J", ESCAPED("\x1b[2J", TEXT_KEEP_COLOUR));
	ASSERT_STR_EQ("\\x1b[?25h", ESCAPED("\x1b[?25h", TEXT_KEEP_COLOUR));
	ASSERT_STR_EQ("\\x1b[>4;2m", ESCAPED("\x1b[>4;2m", TEXT_KEEP_COLOUR));
	ASSERT_STR_EQ("\\x1b[31", ESCAPED("\x1b[31", TEXT_KEEP_COLOUR));
	ASSERT_STR_EQ("\\x1b[999m", ESCAPED("\x1b[999m", TEXT_KEEP_COLOUR));
	ASSERT_STR_EQ("\\x1b]0;t\\x07", ESCAPED("\x1b]0;t\a", TEXT_KEEP_COLOUR));
	ASSERT_STR_EQ("\\x1b[1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1m",
		      ESCAPED("\x1b[1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1m", TEXT_KEEP_COLOUR));
	PASS();
}

/*
 * Escape random bytes: the result is UTF-8, has no control characters except those that are kept, and stays the same
 * when it is escaped again.
 */
TEST escape_of_random_bytes_is_safe(void)
{
	struct rand_state rand;
	struct buf again = { 0 };

	rand_seed(&rand, 5);
	for (int round = 0; round < 20000; round++) {
		static const char pieces[] = "\x1b[\xc2\x9b;m0318\xe2\x80\xae\xf0\x9f\x98\x80 a";
		char text[24];
		size_t len = rand_below(&rand, sizeof(text));
		unsigned keep = (unsigned)rand_below(&rand, 8);

		for (size_t i = 0; i < len; i++)
			text[i] = rand_below(&rand, 2) ? pieces[rand_below(&rand, sizeof(pieces) - 1)]
						       : (char)rand_next(&rand);
		escaped(text, len, keep);
		buf_clear(&again);
		text_escape(&again, buf_slice(&out), keep);
		ASSERT(slice_eq(buf_slice(&out), buf_slice(&again)));
		for (size_t i = 0; i < out.len; i++) {
			uint8_t c = out.data[i];

			ASSERT(c >= 0x20 || (c == '\n' && keep & TEXT_KEEP_NEWLINE) ||
			       (c == '\t' && keep & TEXT_KEEP_TAB) || (c == 0x1b && keep & TEXT_KEEP_COLOUR));
			ASSERT_NEQ(0x7f, c);
		}
		for (size_t at = 0; at < out.len;) {
			uint32_t code;

			at += text_next(slice_make(out.data + at, out.len - at), &code, NULL);
			ASSERT(code < 0x80 || code >= 0xa0);
		}
	}
	buf_free(&again);
	PASS();
}

TEST widths_in_cells(void)
{
	size_t width;

	ASSERT_EQ_FMT((size_t)5, text_width(slice_str("hello")), "%zu");
	ASSERT_EQ_FMT((size_t)6, text_width(slice_str("日本語")), "%zu");
	ASSERT_EQ_FMT((size_t)1, text_width(slice_str("e\xcc\x81")), "%zu");
	ASSERT_EQ_FMT((size_t)3, text_width(slice_str("\x1b[1;31mred\x1b[0m")), "%zu");
	ASSERT_EQ_FMT((size_t)3, text_clip(slice_str("日本語"), 3, &width), "%zu");
	ASSERT_EQ_FMT((size_t)2, width, "%zu");
	ASSERT_EQ_FMT((size_t)3, text_clip(slice_str("e\xcc\x81x"), 1, &width), "%zu");
	ASSERT_EQ_FMT((size_t)0, text_clip(slice_str("abc"), 0, NULL), "%zu");
	ASSERT_EQ_FMT((size_t)3, text_clip(slice_str("abc"), 80, &width), "%zu");
	PASS();
}

TEST next_character(void)
{
	uint32_t code = 0;
	int width = -1;

	ASSERT_EQ_FMT((size_t)0, text_next(slice_make("", 0), &code, &width), "%zu");
	ASSERT_EQ_FMT((size_t)4, text_next(slice_str("\xf0\x9f\x98\x80x"), &code, &width), "%zu");
	ASSERT_EQ_FMT(0x1f600u, code, "%x");
	ASSERT_EQ_FMT(2, width, "%d");
	ASSERT_EQ_FMT((size_t)1, text_next(slice_str("\xf0\x9f"), &code, &width), "%zu");
	ASSERT_EQ_FMT(0xfffdu, code, "%x");
	PASS();
}

TEST numbers(void)
{
	static const char *const wrong[] = {
		"", "-1", "+1", " 1", "1 ", "0x1", "1e3", "18446744073709551616", "99999999999999999999",
	};
	uint64_t value = 42;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ASSERT_FALSEm(wrong[i], text_parse_u64(slice_str(wrong[i]), &value));
	ASSERT_EQ(42, value);
	ASSERT(text_parse_u64(slice_str("007"), &value));
	ASSERT_EQ(7, value);
	ASSERT(text_parse_u64(slice_str("18446744073709551615"), &value));
	ASSERT_EQ(UINT64_MAX, value);
	ASSERT(text_parse_u64(slice_make("12345", 2), &value));
	ASSERT_EQ(12, value);
	PASS();
}

TEST names(void)
{
	char longest[130];

	memset(longest, 'n', sizeof(longest));
	ASSERT(text_is_name(slice_str("a")));
	ASSERT(text_is_name(slice_str("_a-B.9")));
	ASSERT(text_is_name(slice_make(longest, 128)));
	ASSERT_FALSE(text_is_name(slice_make(longest, 129)));
	ASSERT_FALSE(text_is_name(slice_str("")));
	ASSERT_FALSE(text_is_name(slice_str("-a")));
	ASSERT_FALSE(text_is_name(slice_str(".a")));
	ASSERT_FALSE(text_is_name(slice_str("a/b")));
	ASSERT_FALSE(text_is_name(slice_str("a b")));
	ASSERT_FALSE(text_is_name(slice_str("ä")));
	ASSERT_FALSE(text_is_name(slice_make("a\0", 2)));
	PASS();
}

static size_t distance(const char *a, const char *b)
{
	return text_distance(slice_str(a), slice_str(b), 3);
}

TEST distances(void)
{
	ASSERT_EQ_FMT((size_t)0, distance("encode", "encode"), "%zu");
	ASSERT_EQ_FMT((size_t)1, distance("encode", "encde"), "%zu");
	ASSERT_EQ_FMT((size_t)1, distance("encode", "encodes"), "%zu");
	ASSERT_EQ_FMT((size_t)1, distance("encode", "enocde"), "%zu");
	ASSERT_EQ_FMT((size_t)2, distance("", "ab"), "%zu");
	ASSERT_EQ_FMT((size_t)3, distance("kitten", "sitting"), "%zu");
	ASSERT_EQ_FMT((size_t)4, distance("kitten", "completely"), "%zu");
	ASSERT_EQ_FMT((size_t)4, distance("abcdef", "uvwxyz"), "%zu");
	PASS();
}

/* Split a command as titan would: its words joined with "|", or "(shell)" if it needs a shell. */
static const char *split(const char *command)
{
	struct buf words = { 0 };
	size_t count = 0, seen = 0;

	buf_clear(&out);
	buf_add_str(&words, "kept");
	if (!text_split_plain(slice_str(command), &words, &count)) {
		buf_add_str(&out, words.len == 4 ? "(shell)" : "(leftovers)");
	} else {
		for (size_t at = 4; at < words.len; seen++) {
			size_t len = strlen((char *)words.data + at);

			buf_addf(&out, "%s%s", at == 4 ? "" : "|", (char *)words.data + at);
			at += len + 1;
		}
		if (seen != count)
			buf_addf(&out, " (%zu words, not %zu)", seen, count);
	}
	buf_free(&words);
	return buf_cstr(&out);
}

TEST patterns(void)
{
	const struct { const char *pattern, *text; bool fits; } cases[] = {
		{ "", "", true }, { "", "a", false }, { "*", "", true }, { "*", "abc", true }, { "abc", "abc", true },
		{ "abc", "abcd", false }, { "a?c", "abc", true }, { "a?c", "ac", false }, { "n*", "nightly", true },
		{ "*ly", "nightly", true }, { "*ly", "nightlyx", false }, { "*a*b", "xaxbxab", true }, { "*a*b", "xaxbxa", false },
		{ "a**", "a", true }, { "?", "", false }, { "*?", "", false }, { "[a]", "[a]", true },
	};
	char text[129], pattern[129];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ASSERT_EQm(cases[i].pattern, cases[i].fits, text_matches(slice_str(cases[i].pattern), slice_str(cases[i].text)));
	/* A text and pattern for which naive matchers take exponential time. */
	memset(text, 'a', 128);
	for (size_t i = 0; i < 128; i++)
		pattern[i] = i % 2 ? 'a' : '*';
	pattern[126] = 'b';
	text[128] = pattern[128] = '\0';
	ASSERT_FALSE(text_matches(slice_str(pattern), slice_str(text)));
	PASS();
}

TEST plain_commands_are_split(void)
{
	ASSERT_STR_EQ("true", split("true"));
	ASSERT_STR_EQ("sleep|0.1", split("  sleep \t 0.1 "));
	ASSERT_STR_EQ("echo|a b|c", split("echo 'a b' \"c\""));
	ASSERT_STR_EQ("cp|from$to`x|*.c", split("cp 'from$to`x' '*.c'"));
	ASSERT_STR_EQ("make|CC=gcc|-j2", split("make CC=gcc -j2"));
	ASSERT_STR_EQ("prog|a||b", split("prog a '' b"));
	ASSERT_STR_EQ("prog|it is", split("pr'og' it' 'is"));
	ASSERT_STR_EQ("/bin/echo|-n|x", split("/bin/echo -n x"));
	PASS();
}

TEST other_commands_need_a_shell(void)
{
	static const char *const commands[] = {
		"", "   ", "a | b", "a && b", "a; b", "a & ", "a > f", "a < f", "(a)", "{ a; }", "a $B",
		"a `b`", "a \\b", "a *", "a ?", "a [b]", "a ~", "~/a", "a #b", "#a", "! a", "a\nb", "A=b c",
		"A=b", "cd /", "exit 3", "export A", "if", "for", "while", "case", ":", ".", "set -e",
		"read a", "type a", "wait", "ulimit -n 3", "'cd' /", "time a", "[ a ]", "[[ a ]]", "a 'b",
		"a \"b", "a \"$b\"", "a \"b\\\"c\"", "a {b,c}", "'' a", "echo -n a", "echo 'a\\n'",
		"command a", "exec a", "a\rb", "'a\nb' c", "a ^ b",
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		ASSERT_STR_EQm(commands[i], "(shell)", split(commands[i]));
	PASS();
}

SUITE(base_text)
{
	RUN_TEST(escape_makes_controls_visible);
	RUN_TEST(escape_keeps_real_text);
	RUN_TEST(escape_shows_bytes_that_are_no_utf8);
	RUN_TEST(escape_remakes_colour);
	RUN_TEST(escape_passes_no_other_sequence);
	RUN_TEST(escape_of_random_bytes_is_safe);
	RUN_TEST(widths_in_cells);
	RUN_TEST(next_character);
	RUN_TEST(numbers);
	RUN_TEST(names);
	RUN_TEST(distances);
	RUN_TEST(patterns);
	RUN_TEST(plain_commands_are_split);
	RUN_TEST(other_commands_need_a_shell);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(base_text);
	buf_free(&out);
	GREATEST_MAIN_END();
}
