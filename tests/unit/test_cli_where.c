/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --where: which rows an expression keeps, and the exact errors of wrong expressions. */
#include "cli/show/where.h"

#include "greatest.h"
#include "lang/pattern.h"
#include "proto/expr_value.h"
#include "proto/limits.h"

#define NOW INT64_C(1795000000000)
#define HOUR INT64_C(3600000)

static struct arena arena;

static const struct column columns[] = {
	{ "name", "JOB", false }, { "state", "STATE", false }, { "tries", "TRY", true }, { "age_ms", "AGE", true }, { "started", NULL, false },
	{ "held", NULL, false }, { "labels", NULL, false }, { "exit_code", NULL, false }, { "why", NULL, false }, { "out_bytes", NULL, false },
	{ "progress", NULL, false }, { "owner", NULL, false },
};
#define COUNT (sizeof(columns) / sizeof(columns[0]))

static void add_row(struct records *records)
{
	static struct slice labels[] = { { (const uint8_t *)"gpu", 3 }, { (const uint8_t *)"disk=ssd", 8 } };

	records_begin(records, columns, COUNT, &arena);
	records_text(records, slice_str("encode[7]"));
	records_state(records, &flag_table[FLAG_DEAD], "failed");
	records_number(records, 3);
	records_span(records, 2 * HOUR);
	records_time(records, NOW - 2 * HOUR);
	records_bool(records, true);
	records_texts(records, (struct slice_list){ labels, 2 });
	records_none(records);
	records_text(records, slice_str(""));
	records_number(records, 65536);
	records_share(records, 1, 4);
	records_text(records, slice_str("anna"));
}

static enum err read_where(const char *text, struct where *where, struct dag_spot *spot, struct error *error)
{
	return where_read(where, text, columns, COUNT, NOW, &arena, spot, error);
}

static const struct { const char *text; bool kept; } right[] = {
	{ "true", true }, { "false", false }, { "held", true }, { "not held", false }, { "!held", false }, { "not not held", true },
	{ "tries == 3", true }, { "tries != 3", false }, { "tries >= 3 and tries <= 3", true }, { "tries < 3 or tries > 3", false },
	{ "tries == 3.0", true }, { "tries > 2.5", true }, { "tries > -1", true }, { "tries in [1, 2, 3]", true }, { "tries in []", false },
	{ "try == 3", true }, { "tries + 1 == 4", true }, { "tries - 1 == 2", true }, { "tries - 1 - 1 == 1", true }, { "(tries + 1) - (2 - 1) == 3", true },
	{ "tries==3&&held", true }, { "tries==4||held", true }, { "false or true and false", false }, { "(false or true) and false", false },
	{ "state == failed", true }, { "state == FAIL", true }, { "state != running", true }, { "state == \"failed\"", true },
	{ "state in [failed, timed_out]", true }, { "state in [running, ready]", false }, { "\"failed\" == state", true },
	{ "state glob \"fail*\"", true }, { "state matches \"^fail\"", true },
	{ "age > 1h", true }, { "age_ms > 1h30m", true }, { "age < 2h", false }, { "age == 2h", true }, { "age - 1h == 1h", true },
	{ "started < now", true }, { "started > now - 3h", true }, { "started + 2h == now", true }, { "now - started == age", true },
	{ "started > \"3h\"", true }, { "started < \"2099-01-01\"", true }, { "\"2099-01-01\" > started", true },
	{ "name == \"encode[7]\"", true }, { "name == 'encode[7]'", true }, { "name glob \"enc*\"", true }, { "name glob \"enc?\"", false },
	{ "name matches \"\\[[0-9]+\\]$\"", true }, { "name matches \"^code\"", false }, { "name matches \"\"", true }, { "size(name) == 9", true },
	{ "name > \"a\"", true }, { "name in [\"a\", \"encode[7]\"]", true },
	{ "\"gpu\" in labels", true }, { "\"gpu\" in label", true }, { "\"cpu\" in labels", false }, { "size(labels) == 2", true },
	{ "has(exit)", false }, { "has(tries)", true }, { "has(labels)", true }, { "has(why)", false },
	{ "exit == 0", false }, { "exit != 0", true }, { "not exit == 0", true }, { "exit < 1", false }, { "exit >= 0", false }, { "exit + 1 == 1", false },
	{ "why == \"\"", false }, { "size(why) == 0", false }, { "out_bytes == 64K", true }, { "out_bytes < 1M", true }, { "progress == 25", true },
	{ "held == true", true }, { "held != false", true }, { "held == (tries == 3)", true }, { "user == \"anna\"", true },
	{ "name == \"a b\" or\n\towner == 'anna'", true },
};

TEST the_row_is_kept_if_the_expression_is_true(void)
{
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		struct error error = { 0 };
		struct records records;
		struct dag_spot spot;
		struct where where;

		error_clear(&error);
		read_where(right[i].text, &where, &spot, &error);
		ASSERT_STR_EQm(right[i].text, "", error.text);
		add_row(&records);
		ASSERT_EQm(right[i].text, right[i].kept, where_keeps(&where, &records));
		ASSERT_EQm(right[i].text, right[i].kept ? 1 : 0, (int)records_rows(&records));
		arena_free(&arena);
	}
	PASS();
}

static const struct { const char *text; unsigned at, len; const char *said, *next; } wrong[] = {
	{ "", 0, 1, "a field is missing at the end", "" },
	{ "tries ==", 8, 1, "the value to compare with is missing at the end", "" },
	{ "tries == )", 9, 1, "the value to compare with is expected here", "" },
	{ "held and", 8, 1, "a field is missing at the end", "" },
	{ "held held", 5, 1, "an operator is expected here, such as and, or, ==", "" },
	{ "tries = 3", 6, 1, "an operator is expected here, such as and, or, ==", "" },
	{ "tries -1 == 2", 6, 1, "an operator is expected here, such as and, or, ==", "" },
	{ "(held", 0, 1, "this parenthesis isn't closed", "" },
	{ "tries in [1, 2", 9, 1, "this list isn't closed", "" },
	{ "name == \"a", 8, 1, "this quote isn't closed", "" },
	{ "name == ${params.x}", 8, 11, "parameters can't be used here", "" },
	{ "stat == failed", 0, 4, "there is no field 'stat' here; the fields are name, state, tries, age, started, held, labels, exit_code, why, "
	  "out_bytes, progress, owner", "did you mean 'state'?" },
	{ "name == build", 8, 5, "there is no field 'build' here; the fields are name, state, tries, age, started, held, labels, exit_code, why, "
	  "out_bytes, progress, owner", "a text stands in quotes: \"build\"" },
	{ "state == runing", 9, 6, "unknown state 'runing'", "titan help states" },
	{ "state in [failed, late]", 18, 4, "unknown state 'late'", "titan help states" },
	{ "state == 3", 9, 1, "unknown state '3'", "titan help states" },
	{ "state < failed", 8, 6, "this is a state; < and > compare numbers, spans, times and texts", "" },
	{ "tries == \"3\"", 9, 3, "a number can't be compared with a text", "" },
	{ "name == 3", 8, 1, "a text can't be compared with a number", "" },
	{ "age > 5", 6, 1, "a time span can't be compared with a number", "write a unit, such as 5s" },
	{ "age > started", 6, 7, "a time span can't be compared with a time", "" },
	{ "held == 1", 8, 1, "a truth value can't be compared with a number", "" },
	{ "held < true", 7, 4, "this is a truth value; < and > compare numbers, spans, times and texts", "" },
	{ "labels == \"gpu\"", 10, 5, "a list can't be compared with a text; write x in LIST", "" },
	{ "age in labels", 0, 3, "this is a time span; the entries of the list are texts", "" },
	{ "name in name", 8, 4, "this is a text; behind in there must be a list, such as [\"a\", \"b\"]", "" },
	{ "tries in [1, \"a\"]", 13, 3, "a number can't be compared with a text", "" },
	{ "[1] == 1", 0, 3, "a list can only stand behind in", "" },
	{ "tries", 0, 5, "this is a number; a condition is needed here, such as a == b", "" },
	{ "\"x\"", 0, 3, "a text must be compared with another text: == or != is missing", "" },
	{ "not tries", 4, 5, "this is a number; a condition is needed here, such as a == b", "" },
	{ "held and name", 9, 4, "this is a text; a condition is needed here, such as a == b", "" },
	{ "tries + name == 3", 8, 4, "a number + a text has no meaning", "" },
	{ "started + started == now", 10, 7, "a time + a time has no meaning", "" },
	{ "has(3)", 4, 1, "has needs a name, such as has(worker)", "" },
	{ "size(tries) == 1", 5, 5, "this is a number; size needs a text or a list", "" },
	{ "sise(name) == 1", 0, 4, "unknown function 'sise'; the functions are has and size", "did you mean 'size'?" },
	{ "size(name", 4, 1, "this parenthesis isn't closed", "" },
	{ "tries glob \"3\"", 0, 5, "this is a number; only a text can be compared with a pattern", "" },
	{ "name glob name", 10, 4, "a pattern must be a text in quotes", "" },
	{ "name matches \"a(b\"", 17, 1, "wrong pattern: missing closing parenthesis", "" },
	{ "name matches \"x[b-a]\"", 18, 1, "wrong pattern: range out of order in character class", "" },
	{ "started > \"never\"", 10, 7, "'never' is no time; write 2h (two hours ago), 14:30, yesterday, 2026-11-18, '2026-11-18 14:30' or 2026-11-18T14:30Z", "" },
	{ "name:failed", 4, 1, "an operator is expected here, such as and, or, ==", "" },
};

TEST a_wrong_expression_has_an_error_at_its_place(void)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct error error = { 0 };
		struct dag_spot spot = { 0 };
		struct where where;

		ASSERT_EQm(wrong[i].text, ERR_USAGE, read_where(wrong[i].text, &where, &spot, &error));
		ASSERT_STR_EQm(wrong[i].text, wrong[i].said, error.text);
		ASSERT_STR_EQm(wrong[i].text, wrong[i].next, error.next);
		ASSERT_EQ_FMTm(wrong[i].text, wrong[i].at, (unsigned)spot.at, "%u");
		ASSERT_EQ_FMTm(wrong[i].text, wrong[i].len, (unsigned)spot.len, "%u");
		arena_free(&arena);
	}
	PASS();
}

TEST deep_and_long_expressions_are_refused(void)
{
	struct error error = { 0 };
	struct buf text = { 0 };
	struct dag_spot spot;
	struct where where;

	for (int i = 0; i < 100000; i++)
		buf_add_byte(&text, i % 2 ? '(' : '!');
	ASSERT_EQ(ERR_USAGE, read_where(buf_cstr(&text), &where, &spot, &error));
	ASSERT_STR_EQ("this condition is nested too deep", error.text);
	buf_clear(&text);
	buf_add_str(&text, "tries in [0");
	for (int i = 0; i < LIMIT_EXPR_STACK; i++)
		buf_add_str(&text, ",1");
	buf_add_str(&text, "]");
	ASSERT_EQ(ERR_USAGE, read_where(buf_cstr(&text), &where, &spot, &error));
	ASSERT_STR_EQ("the expression is too large: it holds too many values at once", error.text);
	buf_free(&text);
	arena_free(&arena);
	PASS();
}

/* A pattern that would search for years ends within its steps, and the row doesn't count. */
TEST a_pattern_ends_within_its_steps(void)
{
	struct error error = { 0 };
	struct records records;
	struct buf name = { 0 };
	struct dag_spot spot;
	struct where where;

	for (int i = 0; i < 1000; i++)
		buf_add_byte(&name, 'a');
	buf_add_byte(&name, '!');
	ASSERT_EQ(PATTERN_TOO_LONG, pattern_search(slice_str("^(a|aa)+c?$"), buf_slice(&name)));
	ASSERT_EQ(ERR_NONE, read_where("name matches \"^(a|aa)+c?$\" or true", &where, &spot, &error));
	add_row(&records);
	records.cells[0].text = buf_slice(&name);
	ASSERT_FALSE(where_keeps(&where, &records));
	ASSERT(where.spent);
	ASSERT_EQ(PATTERN_ABSENT, pattern_search(slice_str("a"), slice_str("\xff\xfe a")));
	ASSERT_EQ(PATTERN_FOUND, pattern_search(slice_str("^.$"), slice_str("世")));
	buf_free(&name);
	arena_free(&arena);
	PASS();
}

static const struct { const char *text; bool is; double number; } numbers[] = {
	{ "0", true, 0 }, { "-0", true, 0 }, { "007", true, 7 }, { "-12", true, -12 }, { "0.25", true, 0.25 }, { "123456789012345", true, 123456789012345.0 },
	{ "1234567890123456", false, 0 }, { "", false, 0 }, { "-", false, 0 }, { ".5", false, 0 }, { "5.", false, 0 }, { "1.2.3", false, 0 },
	{ "1e3", false, 0 }, { " 1", false, 0 }, { "0x1", false, 0 },
};

TEST numbers_are_decimal(void)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		double number = 0;

		ASSERT_EQm(numbers[i].text, numbers[i].is, expr_number(slice_str(numbers[i].text), &number));
		if (numbers[i].is)
			ASSERT_IN_RANGEm(numbers[i].text, numbers[i].number, number, 0);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(the_row_is_kept_if_the_expression_is_true);
	RUN_TEST(a_wrong_expression_has_an_error_at_its_place);
	RUN_TEST(deep_and_long_expressions_are_refused);
	RUN_TEST(a_pattern_ends_within_its_steps);
	RUN_TEST(numbers_are_decimal);
	GREATEST_MAIN_END();
}
