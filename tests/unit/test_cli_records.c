/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows in the four output styles; text from jobs is escaped in each. */
#include <stdlib.h>

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

	ASSERT(strstr(text, "NAME          COUNT  STATE   WHEN                 TAGS\n") == text);
	ASSERT(strstr(text, "\nwide 世界         7  > RUN   -                    x,y\\n\n") != NULL);
	ASSERT(strstr(text, "\n\\x1b[2J\\t  12345678  x FAIL  1970-01-01 ") != NULL);
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
	ASSERT(strstr(printed(&look, false), "unknown field {nope}; the fields are: name count") != NULL);
	look.format = "{state";
	ASSERT(strstr(printed(&look, false), "a } is missing after {state") != NULL);
	PASS();
}

/* Enum values from a peer that are outside the tables are printed as something; no table is read past its end. */
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

/* ---- tables in a narrow terminal ---- */

static const struct column fit_columns[] = {
	{ "run", "ID", true },           { "name", "PIPELINE", false }, { "state", "STATE", false }, { "progress", "PROGRESS", false },
	{ "ended", "ENDED", false },     { "why", "WHY", false },       { "labels", "LABELS", false }, { "pid", "PID", true },
};

static size_t widest_line(const char *text)
{
	size_t widest = 0;

	while (*text != '\0') {
		size_t len = strcspn(text, "\n"), width = text_width(slice_make(text, len));

		widest = width > widest ? width : widest;
		text += len + (text[len] == '\n');
	}
	return widest;
}

/* A table of long and wide texts for a terminal of so many columns. */
static const char *fitted(size_t columns, bool wraps, enum style style)
{
	static struct slice labels[] = { { (const uint8_t *)"gpu", 3 }, { (const uint8_t *)"a\x1b", 2 } };
	const struct look look = { .style = style, .columns = columns, .utf8 = true, .terminal = true, .format = "{why}" };
	struct records records;

	arena_free(&arena);
	buf_clear(&out);
	records_begin(&records, fit_columns, sizeof(fit_columns) / sizeof(fit_columns[0]), &arena);
	records.wraps = wraps;
	for (uint64_t i = 0; i < 3; i++) {
		records_number(&records, 4000 + i);
		records_text(&records, slice_str(i == 1 ? "世界世界世界世界世界世界世界世界世界" : "deploy-to-all-of-the-regions-that-we-have"));
		records_state(&records, &state_table[STATE_RUNNING], "running");
		records_share(&records, i, 2);
		records_time(&records, 0);
		records_text(&records, slice_str("all slots of the three workers that it could use are busy with jobs of a higher priority"));
		records_texts(&records, (struct slice_list){ labels, 2 });
		records_number(&records, 77);
	}
	records_print(&records, &look, &out);
	return buf_cstr(&out);
}

TEST no_line_of_a_table_is_wider_than_the_terminal(void)
{
	for (size_t columns = 12; columns < 240; columns++) {
		ASSERT(widest_line(fitted(columns, false, STYLE_HUMAN)) <= columns);
		ASSERT(widest_line(fitted(columns, true, STYLE_HUMAN)) <= columns);
	}
	PASS();
}

TEST wider_terminals_show_more(void)
{
	const char *text = fitted(80, false, STYLE_HUMAN);

	ASSERT(strstr(text, "PIPELINE") != NULL && strstr(text, "WHY") != NULL);
	ASSERT(strstr(text, "ENDED") == NULL);           /* nothing has ended */
	ASSERT(strstr(text, "all slots of the") != NULL && strstr(text, "…") != NULL);
	ASSERT(strstr(text, "  世界世界世界世") != NULL);
	ASSERT(strstr(text, "4002") != NULL);
	ASSERT(strstr(fitted(40, false, STYLE_HUMAN), "PID") == NULL);
	ASSERT(strstr(fitted(70, false, STYLE_HUMAN), "  0%") != NULL);
	ASSERT(strstr(fitted(239, false, STYLE_HUMAN), "of a higher priority") != NULL);
	ASSERT(strstr(fitted(239, false, STYLE_HUMAN), "PID") != NULL);
	PASS();
}

TEST pipes_and_programs_get_everything(void)
{
	ASSERT(strstr(fitted(0, false, STYLE_HUMAN), "we-have  ▸ RUN") != NULL);
	ASSERT(strstr(fitted(0, false, STYLE_HUMAN), "of a higher priority") != NULL);
	ASSERT(strstr(fitted(40, false, STYLE_PLAIN), "of a higher priority\tgpu,a\\x1b\t77\n") != NULL);
	ASSERT(strstr(fitted(40, false, STYLE_FORMAT), "of a higher priority\n") != NULL);
	ASSERT(strstr(fitted(40, false, STYLE_JSON), "of a higher priority\"") != NULL);
	PASS();
}

TEST wrapping_tables_lose_no_word(void)
{
	const char *text = fitted(100, true, STYLE_HUMAN);

	ASSERT(strstr(text, "…") == NULL);
	ASSERT(strstr(text, "priority") != NULL);
	ASSERT(strstr(text, " \n") == NULL);
	PASS();
}

static const char *field_at(size_t columns, const char *key, const char *value)
{
	const struct column column[] = { { key, key, false } };
	const struct look look = { .style = STYLE_HUMAN, .columns = columns, .terminal = true };
	struct records records;

	arena_free(&arena);
	buf_clear(&out);
	records_begin(&records, column, 1, &arena);
	records_text(&records, slice_str(value));
	records_print_one(&records, &look, &out);
	return buf_cstr(&out);
}

TEST long_values_go_on_below_themselves(void)
{
	ASSERT_STR_EQ("why  it waits for the only slot\n     of worker w07\n", field_at(32, "why", "it waits for the only slot of worker w07"));
	ASSERT_STR_EQ("why  it waits for the only slot of worker w07\n", field_at(0, "why", "it waits for the only slot of worker w07"));
	ASSERT_STR_EQ("why  /a/path/that/has/no/space/to/break/at\n     x\n", field_at(32, "why", "/a/path/that/has/no/space/to/break/at x"));
	ASSERT_STR_EQ("command  echo a command is left as it is, for a copy\n",
		      field_at(32, "command", "echo a command is left as it is, for a copy"));
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

/* ---- one cell in each style ---- */

static const struct column one_column[] = { { "x", "X", false } };

/* The last cell that fill adds, without its heading. */
static const char *cell_in(enum style style, void (*fill)(struct records *records))
{
	const struct look look = { .style = style, .format = "{x}", .quiet = true };
	struct records records;

	arena_free(&arena);
	buf_clear(&out);
	records_begin(&records, one_column, 1, &arena);
	fill(&records);
	records_print(&records, &look, &out);
	while (out.len > 0 && (out.data[out.len - 1] == '\n' || out.data[out.len - 1] == ' '))
		buf_cut(&out, out.len - 1);
	return buf_cstr(&out);
}

static void add_span(struct records *records)
{
	records_span(records, 61000);
}

static void add_zero_span(struct records *records)
{
	records_span(records, 0);
}

static void add_no_span(struct records *records)
{
	records_span(records, -1);
}

static void add_half(struct records *records)
{
	records_share(records, 1, 2);
}

static void add_share_of_nothing(struct records *records)
{
	records_share(records, 0, 0);
}

static void add_more_than_all(struct records *records)
{
	records_share(records, 9, 3);
}

static void add_true(struct records *records)
{
	records_bool(records, true);
}

static void add_empty_text(struct records *records)
{
	records_text(records, slice_make(NULL, 0));
}

static void add_big(struct records *records)
{
	records_number(records, INT64_MAX);
}

static void add_eight(struct records *records)
{
	static struct slice texts[8];

	for (size_t i = 0; i < 8; i++)
		texts[i] = slice_make(&"abcdefgh"[i], 1);
	records_texts(records, (struct slice_list){ texts, 8 });
}

static void add_shown_otherwise(struct records *records)
{
	static struct slice texts[2];

	texts[0] = slice_str("a");
	texts[1] = slice_str("b");
	records_texts_as(records, (struct slice_list){ texts, 2 }, slice_str("a | b\x1b"));
}

TEST cell_is_exact_for_programs_and_short_for_people(void)
{
	static const struct {
		void (*fill)(struct records *records);
		const char *human, *plain, *json, *format;
	} cells[] = {
		{ add_span, "1m01s", "61000", "[{\"x\":61000}]", "61000" },
		{ add_zero_span, "0.0s", "0", "[{\"x\":0}]", "0" },
		{ add_no_span, "-", "", "[{\"x\":null}]", "" },
		{ add_half, "######......  50%", "50", "[{\"x\":50}]", "50" },
		{ add_share_of_nothing, "............ 100%", "100", "[{\"x\":100}]", "100" },
		{ add_more_than_all, "############ 300%", "300", "[{\"x\":300}]", "300" },
		{ add_true, "yes", "true", "[{\"x\":true}]", "true" },
		{ add_empty_text, "-", "", "[{\"x\":null}]", "" },
		{ add_big, "9223372036854775807", "9223372036854775807", "[{\"x\":9223372036854775807}]", "9223372036854775807" },
		{ add_eight, "a,b,c,d,e,f +2", "a,b,c,d,e,f,g,h", "[{\"x\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\"]}]",
		  "a,b,c,d,e,f,g,h" },
		{ add_shown_otherwise, "a | b\\x1b", "a | b\\x1b", "[{\"x\":[\"a\",\"b\"]}]", "a | b\\x1b" },
	};

	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		ASSERT_STR_EQ(cells[i].human, cell_in(STYLE_HUMAN, cells[i].fill));
		ASSERT_STR_EQ(cells[i].plain, cell_in(STYLE_PLAIN, cells[i].fill));
		ASSERT_STR_EQ(cells[i].json, cell_in(STYLE_JSON, cells[i].fill));
		ASSERT_STR_EQ(cells[i].format, cell_in(STYLE_FORMAT, cells[i].fill));
	}
	PASS();
}

TEST records_keep_their_cells_when_they_grow(void)
{
	const struct look look = { .style = STYLE_PLAIN };
	struct records records;
	const char *at;

	arena_free(&arena);
	buf_clear(&out);
	records_begin(&records, one_column, 1, &arena);
	for (uint64_t i = 0; i < 1000; i++)
		records_number(&records, i);
	records_print(&records, &look, &out);
	at = buf_cstr(&out);
	for (unsigned long i = 0; i < 1000; i++) {
		char *end;

		ASSERT_EQ(i, strtoul(at, &end, 10));
		ASSERT_EQ('\n', *end);
		at = end + 1;
	}
	records_clear(&records);
	buf_clear(&out);
	records_print(&records, &look, &out);
	ASSERT_STR_EQ("", buf_cstr(&out));
	PASS();
}

TEST table_without_rows_has_no_heading_only_for_programs(void)
{
	const struct look people = { .style = STYLE_HUMAN }, plain = { .style = STYLE_PLAIN }, json = { .style = STYLE_JSON };
	struct records records;

	arena_free(&arena);
	buf_clear(&out);
	records_begin(&records, one_column, 1, &arena);
	records_print(&records, &plain, &out);
	ASSERT_STR_EQ("", buf_cstr(&out));
	records_print(&records, &json, &out);
	ASSERT_STR_EQ("[]\n", buf_cstr(&out));
	buf_clear(&out);
	records_print(&records, &people, &out);
	ASSERT_STR_EQ("X\n", buf_cstr(&out));
	PASS();
}

/* ---- rows of runs and jobs ---- */

static const char *run_in(const struct rec_run_row *run, const char *format, int64_t now_ms)
{
	const struct look look = { .style = STYLE_FORMAT, .format = format };
	struct records records;

	arena_free(&arena);
	buf_clear(&out);
	rows_begin_runs(&records, &arena);
	if (records_check(&records, &look, &error) != ERR_NONE)
		return error.text;
	rows_add_run(&records, run, now_ms);
	records_print(&records, &look, &out);
	return buf_cstr(&out);
}

TEST row_of_a_run_counts_its_jobs_and_its_time(void)
{
	uint64_t counts[STATE_COUNT] = {
		[STATE_SUCCEEDED] = 2, [STATE_FAILED] = 1, [STATE_TIMED_OUT] = 1, [STATE_RUNNING] = 1, [STATE_READY] = 3, [STATE_SKIPPED] = 2,
	};
	struct rec_run_row run = {
		.run = 4, .name = slice_str("r"), .state = RUN_RUNNING, .jobs = 10, .counts = { counts, STATE_COUNT }, .submitted_ms = 1000,
		.owner = slice_str("anna"),
	};

	ASSERT_STR_EQ("4 running r 60\n", run_in(&run, "{run} {state} {name} {progress}", 5000));
	ASSERT_STR_EQ("2 1 3 2 2 0 10\n", run_in(&run, "{ok} {running} {waiting} {failed} {skipped} {cancelled} {job_count}", 5000));
	ASSERT_STR_EQ("4000\n", run_in(&run, "{age_ms}", 5000));
	run.ended_ms = 3000;
	run.state = RUN_FAILED;
	ASSERT_STR_EQ("failed 2000\n", run_in(&run, "{state} {age_ms}", 5000));
	PASS();
}

static const char *job_in(const struct rec_job_row *job, const struct rec_job_row *all, size_t count, const char *format)
{
	const struct look look = { .style = STYLE_FORMAT, .format = format };
	struct records records;

	arena_free(&arena);
	buf_clear(&out);
	rows_begin_jobs(&records, &arena);
	if (records_check(&records, &look, &error) != ERR_NONE)
		return error.text;
	rows_add_job(&records, job, all, count, 9000);
	records_print(&records, &look, &out);
	return buf_cstr(&out);
}

TEST row_of_a_job_names_its_needs_and_its_cause(void)
{
	uint64_t needs[] = { 0, 1, 99 };
	struct rec_job_row rows[] = {
		{ .run = 4, .job = 40, .index = 0, .name = slice_str("a"), .state = STATE_FAILED },
		{ .run = 4, .job = 41, .index = 1, .name = slice_str("b"), .state = STATE_SUCCEEDED },
		{ .run = 4, .job = 42, .index = 2, .name = slice_str("c"), .state = STATE_SKIPPED, .cause = 41, .needs = { needs, 2 } },
	};

	ASSERT_STR_EQ("4/c skipped a,b because a failed\n", job_in(&rows[2], rows, 3, "{job} {state} {needs} {why}"));
	ASSERT_STR_EQ("4/c 42 2\n", job_in(&rows[2], NULL, 0, "{job} {serial} {index}"));
	rows[1].started_ms = 1000;
	rows[1].ended_ms = 3500;
	rows[1].outcome = OUTCOME_EXIT;
	ASSERT_STR_EQ("2500 exit 0\n", job_in(&rows[1], rows, 3, "{span_ms} {outcome}"));
	PASS();
}

SUITE(cli_records)
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
	RUN_TEST(no_line_of_a_table_is_wider_than_the_terminal);
	RUN_TEST(wider_terminals_show_more);
	RUN_TEST(pipes_and_programs_get_everything);
	RUN_TEST(wrapping_tables_lose_no_word);
	RUN_TEST(long_values_go_on_below_themselves);
	RUN_TEST(cell_is_exact_for_programs_and_short_for_people);
	RUN_TEST(records_keep_their_cells_when_they_grow);
	RUN_TEST(table_without_rows_has_no_heading_only_for_programs);
	RUN_TEST(row_of_a_run_counts_its_jobs_and_its_time);
	RUN_TEST(row_of_a_job_names_its_needs_and_its_cause);
	arena_free(&arena);
	buf_free(&out);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cli_records);
	GREATEST_MAIN_END();
}
