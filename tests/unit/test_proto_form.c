/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of a gate: their definitions, and which values are right. */
#include "base/check.h"
#include "greatest.h"
#include "proto/form.h"
#include "proto/job_output.h"
#include "proto/limits.h"

GREATEST_MAIN_DEFS();

static struct arena arena;
static struct buf said;

/* Split at ; into a list of texts. */
static struct slice_list list(const char *text)
{
	struct slice_list ret = { arena_zalloc(&arena, 40, sizeof(struct slice)), 0 };

	while (*text) {
		size_t len = strcspn(text, ";");

		ret.at[ret.n++] = slice_make((const uint8_t *)text, len);
		text += len + (text[len] == ';');
	}
	return ret;
}

/* What is wrong with these values; empty: nothing. */
static const char *wrong(const char *fields, const char *given)
{
	bool right;

	buf_clear(&said);
	right = form_check(list(fields), list(given), &said);
	CHECK(right == (said.len == 0));
	return buf_cstr(&said);
}

static bool reads(const char *text)
{
	struct form_field field;

	return form_field_read(slice_str(text), &field);
}

TEST definitions_are_read(void)
{
	struct form_field field;

	ASSERT(form_field_read(slice_str("ver? enum 1.2|a b"), &field));
	ASSERT(field.optional && field.kind == FORM_ENUM);
	ASSERT(slice_eq(field.name, slice_str("ver")) && slice_eq(field.values, slice_str("1.2|a b")));
	ASSERT(form_field_read(slice_str("n number"), &field) && field.kind == FORM_NUMBER && !field.optional);
	ASSERT(reads("n text") && reads("n enum x"));
	ASSERT_FALSE(reads("") || reads("n") || reads("? text") || reads("a b text") || reads("n texts") || reads("n text x") ||
		     reads("n enum") || reads("n enum ") || reads("n enum a||b") || reads("n enum a|") || reads("n enum a\nb"));
	PASS();
}

TEST right_values_are_taken(void)
{
	ASSERT_STR_EQ("", wrong("", ""));
	ASSERT_STR_EQ("", wrong("v enum a|b;t? text;n number", "n=3;v=b"));
	ASSERT_STR_EQ("", wrong("t text", "t=a=b\n"));
	ASSERT_STR_EQ("", wrong("t text", "t="));
	for (const char *const *number = (const char *const[]){ "n=0", "n=-1", "n=0.50", "n=-12.5", NULL }; *number; number++)
		ASSERT_STR_EQ("", wrong("n number", *number));
	PASS();
}

TEST wrong_values_are_told(void)
{
	ASSERT_STR_EQ("the gate has no fields", wrong("", "a=1"));
	ASSERT_STR_EQ("the gate has no field 'b'; its only field is a", wrong("a? text", "b=1"));
	ASSERT_STR_EQ("'a' isn't a field and its value, as FIELD=VALUE", wrong("a? text", "a"));
	ASSERT_STR_EQ("field a is given twice", wrong("a? text", "a=1;a=1"));
	ASSERT_STR_EQ("field v must be a, b or c, not 'd'", wrong("v enum a|b|c", "v=d"));
	ASSERT_STR_EQ("field v isn't given; it must be a or b", wrong("n? number;v enum a|b", "n=1"));
	for (const char *const *number = (const char *const[]){ "n=", "n=-", "n=.5", "n=1.", "n=1e3", "n=0x1", "n=1 ", "n=+1", NULL }; *number; number++)
		ASSERT(strstr(wrong("n number", *number), "field n must be a number, such as 3 or 0.5, not '"));
	PASS();
}

TEST long_values_are_refused(void)
{
	static char text[LIMIT_FORM_VALUE_MAX + 4] = "t=";

	memset(text + 2, 'x', LIMIT_FORM_VALUE_MAX);
	ASSERT_STR_EQ("", wrong("t text", text));
	text[LIMIT_FORM_VALUE_MAX + 2] = 'x';
	ASSERT_STR_EQ("field t may have at most 4096 bytes", wrong("t text", text));
	PASS();
}

TEST outputs_have_the_order_of_the_fields(void)
{
	struct buf records = { 0 };
	struct slice rest;
	struct rec_job_output output;

	form_outputs(list("v enum a|b;t? text;n number"), list("n=3;v=b"), &records);
	rest = buf_slice(&records);
	ASSERT(job_output_next(&rest, &arena, &output) && slice_eq(output.name, slice_str("v")) && slice_eq(output.value, slice_str("b")));
	ASSERT(job_output_next(&rest, &arena, &output) && slice_eq(output.name, slice_str("t")) && output.value.len == 0);
	ASSERT(job_output_next(&rest, &arena, &output) && slice_eq(output.name, slice_str("n")) && slice_eq(output.value, slice_str("3")));
	ASSERT_EQ(0, rest.len);
	buf_clear(&records);
	form_options(list("v enum a|b;t? text;n number;m text"), &records);
	ASSERT_STR_EQ(" --set v=VALUE --set n=NUMBER --set m=TEXT", buf_cstr(&records));
	buf_free(&records);
	PASS();
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(definitions_are_read);
	RUN_TEST(right_values_are_taken);
	RUN_TEST(wrong_values_are_told);
	RUN_TEST(long_values_are_refused);
	RUN_TEST(outputs_have_the_order_of_the_fields);
	arena_free(&arena);
	buf_free(&said);
	GREATEST_MAIN_END();
}
