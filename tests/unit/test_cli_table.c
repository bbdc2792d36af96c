/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows in the four styles; nothing of what jobs wrote gets through unescaped. */
#include "base/text.h"
#include "cli/show/records.h"
#include "cli/show/rows.h"
#include "greatest.h"

static struct arena arena;
static struct buf out;
static struct error error;

static const struct column columns[] = {
	{ "name", "NAME", false }, { "count", "COUNT", true }, { "state", "STATE", false },
	{ "when", "WHEN", false }, { "hidden", NULL, false },  { "tags", "TAGS", false },
};

static const char *printed(const struct look *look, bool one)
{
	struct slice tags[] = { slice_str("x"), slice_str("y\n") };
	struct records records;

	arena_free(&arena);
	buf_clear(&out);
	records_begin(&records, columns, sizeof(columns) / sizeof(columns[0]), &arena);
	records_text(&records, slice_str("wide 世界"));
	records_number(&records, 7);
	records_state(&records, &state_table[STATE_RUNNING], "running");
	records_time(&records, 0);
	records_text(&records, slice_str("h"));
	records_texts(&records, (struct slice_list){ tags, 2 });
	if (!one) {
		records_text(&records, slice_str("\x1b[2J\t"));
		records_number(&records, 12345678);
		records_state(&records, &state_table[STATE_FAILED], "failed");
		records_time(&records, 1000);
		records_none(&records);
		records_texts(&records, (struct slice_list){ 0 });
	}
	if (records_check(&records, look, &error) != ERR_NONE)
		return error.text;
	if (one)
		records_print_one(&records, look, &out);
	else
		records_print(&records, look, &out);
	return buf_cstr(&out);
}

static void one_row(struct records *records, unsigned at)
{
	char name[16];

	snprintf(name, sizeof(name), "%.*s", (int)(at % 9 + 1), "abcdefghij");
	records_text(records, arena_copy(records->arena, slice_str(name)));
	records_number(records, at * 999);
	records_state(records, &state_table[at % 2 ? STATE_RUNNING : STATE_FAILED], "running");
	records_time(records, at);
	records_none(records);
	records_texts(records, (struct slice_list){ 0 });
}

TEST batches_print_as_one(enum style style)
{
	const struct look look = { .style = style, .format = "{name} is {count}" };
	struct printing printing = { .look = &look };
	struct records whole, batch;
	struct arena small = { 0 };
	struct buf parts = { 0 };

	arena_free(&arena);
	buf_clear(&out);
	records_begin(&whole, columns, sizeof(columns) / sizeof(columns[0]), &arena);
	records_begin(&batch, columns, sizeof(columns) / sizeof(columns[0]), &small);
	for (unsigned i = 0; i < 99; i++)
		one_row(&whole, i);
	records_print(&whole, &look, &out);
	for (int printed = !printing_measures(&look); printed < 2; printed++) {
		if (printed)
			printing_begin(&printing, &batch, &parts);
		for (unsigned i = 0; i < 99; i++) {
			one_row(&batch, i);
			if (i % 7 != 0)
				continue;
			if (printed)
				printing_rows(&printing, &batch, &parts);
			else
				printing_measure(&printing, &batch);
			records_clear(&batch);
			arena_reset(&small);
		}
	}
	printing_end(&printing, &parts);
	ASSERT_STR_EQ(buf_cstr(&out), buf_cstr(&parts));
	buf_free(&parts);
	arena_free(&small);
	PASS();
}

TEST tables_are_aligned(void)
{
	struct look look = { .style = STYLE_HUMAN };
	const char *text = printed(&look, false);

	ASSERT(strstr(text, "NAME          COUNT  STATE   WHEN      TAGS\n") == text);
	ASSERT(strstr(text, "\nwide 世界         7  > RUN   -         x,y\\n\n") != NULL);
	ASSERT(strstr(text, "\n\\x1b[2J\\t  12345678  x FAIL  ") != NULL);
	look.colour = look.utf8 = true;
	ASSERT(strstr(printed(&look, false), "\x1b[0;1;34m▸ RUN\x1b[0m  ") != NULL);
	ASSERT(strstr(printed(&look, false), "\x1b[2J") == NULL);
	PASS();
}

TEST plain_is_exact(void)
{
	struct look look = { .style = STYLE_PLAIN };

	ASSERT_STR_EQ("wide 世界\t7\trunning\t\tx,y\\n\n"
		      "\\x1b[2J\\t\t12345678\tfailed\t1970-01-01T00:00:01.000Z\t\n",
		      printed(&look, false));
	ASSERT_STR_EQ("name\twide 世界\ncount\t7\nstate\trunning\nwhen\t\ntags\tx,y\\n\n", printed(&look, true));
	PASS();
}

TEST json_has_all_fields(void)
{
	struct look look = { .style = STYLE_JSON };

	ASSERT_STR_EQ("[{\"name\":\"wide 世界\",\"count\":7,\"state\":\"running\",\"when\":null,\"hidden\":\"h\","
		      "\"tags\":[\"x\",\"y\\n\"]},{\"name\":\"\\u001b[2J\\t\",\"count\":12345678,\"state\":\"failed\","
		      "\"when\":\"1970-01-01T00:00:01.000Z\",\"hidden\":null,\"tags\":[]}]\n",
		      printed(&look, false));
	ASSERT_EQ('{', printed(&look, true)[0]);
	PASS();
}

TEST templates(void)
{
	struct look look = { .style = STYLE_FORMAT, .format = "<{state}\\t{hidden}{count}>" };

	ASSERT_STR_EQ("<running\th7>\n<failed\t12345678>\n", printed(&look, false));
	look.format = "{nope}";
	ASSERT(strstr(printed(&look, false), "no field {nope}; there are: name count") != NULL);
	look.format = "{state";
	ASSERT(strstr(printed(&look, false), "a } is missing behind {state") != NULL);
	PASS();
}

/* Numbers from a peer outside the tables are shown as something, not read past an end. */
TEST rows_of_a_strange_peer(void)
{
	struct look look = { .style = STYLE_HUMAN };
	uint64_t counts[STATE_COUNT + 9];
	struct rec_run_row run = { .run = 1, .name = slice_str("r"), .state = 99, .jobs = 3, .counts = { counts, STATE_COUNT + 9 } };
	struct rec_job_row job = { .run = 1, .name = slice_str("j"), .state = 1u << 31, .outcome = 1000, .code = UINT64_MAX,
				   .cause = UINT64_MAX, .needs = { counts, 2 } };
	struct records records;

	for (size_t i = 0; i < STATE_COUNT + 9; i++)
		counts[i] = i + 1000000;
	arena_free(&arena);
	buf_clear(&out);
	rows_begin_runs(&records, &arena);
	rows_add_run(&records, &run, 5);
	records_print(&records, &look, &out);
	rows_begin_jobs(&records, &arena);
	rows_add_job(&records, &job, &job, 1, 5);
	job.outcome = OUTCOME_SIGNAL;
	rows_add_job(&records, &job, &job, 1, 5);
	records_print(&records, &look, &out);
	ASSERT(strstr(buf_cstr(&out), "#1000000") != NULL);
	PASS();
}

static const char *span(int64_t ms)
{
	buf_clear(&out);
	text_add_span(&out, ms);
	return buf_cstr(&out);
}

TEST spans(void)
{
	ASSERT_STR_EQ("0.0s", span(9));
	ASSERT_STR_EQ("9.9s", span(9999));
	ASSERT_STR_EQ("41s", span(41900));
	ASSERT_STR_EQ("12m41s", span(761000));
	ASSERT_STR_EQ("3h05m", span(11100000));
	ASSERT_STR_EQ("2d04h", span(187200000));
	PASS();
}

SUITE(cli_table)
{
	RUN_TESTp(batches_print_as_one, STYLE_HUMAN);
	RUN_TESTp(batches_print_as_one, STYLE_PLAIN);
	RUN_TESTp(batches_print_as_one, STYLE_JSON);
	RUN_TESTp(batches_print_as_one, STYLE_FORMAT);
	RUN_TEST(tables_are_aligned);
	RUN_TEST(plain_is_exact);
	RUN_TEST(json_has_all_fields);
	RUN_TEST(templates);
	RUN_TEST(rows_of_a_strange_peer);
	RUN_TEST(spans);
	arena_free(&arena);
	buf_free(&out);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cli_table);
	GREATEST_MAIN_END();
}
