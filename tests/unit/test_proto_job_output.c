/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file that TITAN_OUTPUT names: its values, and the place and kind of the first mistake in it. */
#include <stdio.h>

#include "greatest.h"
#include "proto/job_output.h"
#include "proto/limits.h"

GREATEST_MAIN_DEFS();

static struct arena arena;
static struct buf said;

/* Read the text and write "name=value|" for each output, or "!fault name line". */
static const char *read_as_text(struct slice text, bool cut)
{
	struct buf records = { 0 };
	struct slice rest;
	struct rec_job_output output;

	arena_free(&arena);
	buf_clear(&said);
	job_outputs_read(text, cut, &records);
	rest = buf_slice(&records);
	while (job_output_next(&rest, &arena, &output)) {
		if (output.fault != OUTPUT_NONE) {
			buf_addf(&said, "!%d %.*s %d", (int)output.fault, (int)output.name.len, (const char *)output.name.data, (int)output.line);
			continue;
		}
		buf_add_slice(&said, output.name);
		buf_add_byte(&said, '=');
		buf_add_slice(&said, output.value);
		buf_add_byte(&said, '|');
	}
	buf_free(&records);
	return buf_cstr(&said);
}

static const char *of(const char *text)
{
	return read_as_text(slice_str(text), false);
}

TEST values_are_read(void)
{
	ASSERT_STR_EQ("", of(""));
	ASSERT_STR_EQ("", of("\n\n"));
	ASSERT_STR_EQ("a=1|b=|", of("a=1\nb="));
	ASSERT_STR_EQ("a= x = y << z |", of("a= x = y << z \n"));
	ASSERT_STR_EQ("a=2|b=1|", of("a=1\nb=1\na=2\n"));
	ASSERT_STR_EQ("a=x\ny|b=2|", of("a<<END\nx\ny\nEND\nb=2\n"));
	ASSERT_STR_EQ("a=|", of("a<<END\nEND\n"));
	ASSERT_STR_EQ("a=\n|", of("a<<E\n\n\nE"));
	ASSERT_STR_EQ("a=b=1\nE |", of("a<<E\nb=1\nE \nE\n"));
	ASSERT_STR_EQ("a.b-c_1=x|", of("a.b-c_1<<a=b\nx\na=b\n"));
	PASS();
}

TEST first_mistake_is_told(void)
{
	char text[32];

	snprintf(text, sizeof(text), "!%d  2", OUTPUT_SYNTAX);
	ASSERT_STR_EQ(text, of("a=1\nnonsense\n=\n"));
	snprintf(text, sizeof(text), "!%d  1", OUTPUT_NAME);
	ASSERT_STR_EQ(text, of("=1\n"));
	ASSERT_STR_EQ(text, of("a b=1\n"));
	ASSERT_STR_EQ(text, of("-a=1\n"));
	snprintf(text, sizeof(text), "!%d a 3", OUTPUT_SYNTAX);
	ASSERT_STR_EQ(text, of("\n\na<<\n\n"));
	snprintf(text, sizeof(text), "!%d a 2", OUTPUT_OPEN);
	ASSERT_STR_EQ(text, of("b=1\na<<END\nx\n"));
	snprintf(text, sizeof(text), "!%d a 2", OUTPUT_JOB_FULL);
	ASSERT_STR_EQ(text, read_as_text(slice_str("b=1\na<<END\nx\n"), true));
	PASS();
}

TEST sizes_have_limits(void)
{
	struct buf text = { 0 };
	char wanted[32];

	buf_add_str(&text, "first=1\nname=");
	for (size_t i = 0; i < LIMIT_OUTPUT_VALUE_MAX; i++)
		buf_add_byte(&text, 'x');
	ASSERT_EQ((size_t)LIMIT_OUTPUT_VALUE_MAX + strlen("first=1|name=|"), strlen(read_as_text(buf_slice(&text), false)));
	buf_add_byte(&text, 'x');
	snprintf(wanted, sizeof(wanted), "!%d name 2", OUTPUT_LONG);
	ASSERT_STR_EQ(wanted, read_as_text(buf_slice(&text), false));
	buf_clear(&text);
	for (int i = 0; i < 9; i++) {
		buf_addf(&text, "v%d=", i);
		for (size_t k = 0; k < LIMIT_OUTPUT_VALUE_MAX - 10; k++)
			buf_add_byte(&text, 'x');
		buf_add_byte(&text, '\n');
	}
	snprintf(wanted, sizeof(wanted), "!%d v8 9", OUTPUT_JOB_FULL);
	ASSERT_STR_EQ(wanted, read_as_text(buf_slice(&text), false));
	buf_clear(&text);
	for (int i = 0; i < 50000; i++)
		buf_addf(&text, "n%d=\n", i);
	read_as_text(buf_slice(&text), false);
	buf_free(&text);
	PASS();
}

SUITE(proto_job_output)
{
	RUN_TEST(values_are_read);
	RUN_TEST(first_mistake_is_told);
	RUN_TEST(sizes_have_limits);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(proto_job_output);
	arena_free(&arena);
	buf_free(&said);
	GREATEST_MAIN_END();
}
