/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log view shows all of a job's output, whatever of it is in memory. A log file is played here as the master keeps it:
 * records with a header each, read from an offset on or back from one.
 */
#include "base/mem.h"
#include "base/rand.h"
#include "greatest.h"
#include "tui/views.h"
#include "tui_fixture.h"

GREATEST_MAIN_DEFS();

#define HEADER     32
#define REPLY_MAX  262144
#define RECORDS    40000

struct record {
	uint64_t from, to;                       /* in the file */
	struct rec_output output;
};

static struct fixture fixture;
static struct grid grid;
static struct log_view *view;
static int64_t now;
static struct record records[RECORDS];
static size_t record_count;
static uint64_t written[2], reads;
static struct arena arena;

static uint64_t file_size(void)
{
	return record_count > 0 ? records[record_count - 1].to : 0;
}

/* The job writes this. */
static void job_writes(unsigned stream, struct slice text)
{
	struct record *record = &records[record_count];

	record->from = file_size();
	record->to = record->from + HEADER + text.len;
	record->output = (struct rec_output){ .job = 979, .epoch = 1, .run = FIXTURE_RUN, .stream = stream, .wall_ms = FIXTURE_NOW,
		.offset = written[stream - 1], .data = arena_copy(&arena, text) };
	written[stream - 1] += text.len;
	record_count++;
}

static void job_writes_lines(unsigned from, unsigned to)
{
	char text[64];

	for (unsigned i = from; i < to; i++)
		job_writes(i % 5 == 4 ? 2 : 1, slice_make(text, (size_t)snprintf(text, sizeof text, "line %u of it\n", i)));
}

/* Answer the latest request as the master does. */
static void answer(void)
{
	struct msg_log_read read = fixture.log_read;
	uint64_t end = file_size(), start = read.offset;
	struct rec_output *pieces = mem_array(RECORDS, sizeof *pieces);
	struct msg_log_data msg = { .id = read.id, .pieces = { pieces, 0 } };

	fixture.log_id = 0;
	reads++;
	if (read.back > 0) {
		end = read.offset < end ? read.offset : end;
		start = 0;
		for (size_t i = 0; i < record_count && records[i].from < end && end - start > read.back; i++)
			start = records[i].from;
		msg.start = start;
	}
	msg.offset = start;
	for (size_t i = 0; i < record_count && records[i].to <= end; i++) {
		if (records[i].from < start || records[i].to - start > REPLY_MAX)
			continue;
		pieces[msg.pieces.n++] = records[i].output;
		msg.offset = records[i].to;
	}
	msg.end = msg.offset >= file_size();
	fixture_give(&fixture, OP_LOG_DATA, &msg, now);
	mem_free(pieces);
}

static void answer_all(void)
{
	while (fixture.log_id)
		answer();
}

static void press(const char *keys)
{
	for (; *keys; keys++) {
		app_key(fixture.app, *keys == '$' ? TUI_KEY_ENTER : *keys == '~' ? TUI_KEY_ESCAPE : *keys == '^' ? TUI_KEY_PAGE_UP
			: *keys == '_' ? TUI_KEY_PAGE_DOWN : (uint32_t)*keys, now);
		fixture_collect(&fixture);
		answer_all();
		app_draw(fixture.app, &grid, now);
	}
}

/* Time passes, so that the dashboard asks for new output. */
static void wait_ms(int64_t ms)
{
	now += ms;
	app_tick(fixture.app, now);
	fixture_collect(&fixture);
	answer_all();
	app_draw(fixture.app, &grid, now);
}

/* A job of the fixture runs; its log can be opened. */
static void setup_cb(void *data)
{
	(void)data;
	now = FIXTURE_NOW;
	record_count = 0;
	written[0] = written[1] = reads = 0;
	fixture_utc();
	fixture_fill(&fixture, VIEW_DAG, false, false, 80, 24);
	view = &fixture.app->log;
	app_draw(fixture.app, &grid, now);
}

static void teardown_cb(void *data)
{
	(void)data;
	arena_free(&arena);
	grid_free(&grid);
	fixture_close(&fixture);
}

static void set_job(enum job_state state, uint64_t epoch, uint64_t tries)
{
	struct rec_job_row row = { .job = 979, .run = FIXTURE_RUN, .index = 79, .name = slice_str("encode[77]"), .state = state,
		.epoch = epoch, .tries = tries, .worker = slice_str("w01"), .started_ms = FIXTURE_NOW - 4000 };
	struct msg_delta delta = { .id = fixture.graph_id, .turn = 100 + epoch * 10 + state, .jobs = { &row, 1 } };

	fixture_give(&fixture, OP_DELTA, &delta, now);
	answer_all();
	app_draw(fixture.app, &grid, now);
}

/* Open the log of encode[77], which runs. */
static void open_log(void)
{
	press("/encode[77$f");
	set_job(STATE_RUNNING, 1, 1);
	press("/encode[77$l");
	press("~");
	if (!view->opened)
		abort();
}

static bool shows(const char *text)
{
	return fixture_has(&grid, text);
}

TEST opened_log_follows_its_end(void)
{
	job_writes_lines(0, 10000);
	open_log();
	ASSERT(shows("follows") && shows("line 9999 of it"));
	ASSERT_EQm("only the end was read", 1, reads);
	job_writes_lines(10000, 10003);
	ASSERT(app_wait_ms(fixture.app, now) <= 100);
	wait_ms(100);
	ASSERT(shows("line 10002 of it"));
	PASS();
}

TEST whole_log_can_be_paged_through_both_ways(void)
{
	char text[40];

	job_writes_lines(0, 30000);
	open_log();
	for (int i = 0; i < 3000 && !shows("line 0 of it"); i++)
		press("^");
	ASSERT(shows("line 0 of it") && shows("PAUSED 0%"));
	ASSERT(window_bytes(&view->window) <= LOG_KEEP_BYTES + REPLY_MAX);
	/* No line is missing, and none comes twice. */
	for (unsigned i = 0; i < 30000 - 20; i++) {
		size_t at = view->top;

		snprintf(text, sizeof text, "line %u of it", i);
		ASSERT(slice_eq(slice_str(text), window_text(&view->window, &view->window.lines[at])));
		press("j");
	}
	press("G");
	ASSERT(shows("line 29999 of it") && shows("follows"));
	PASS();
}

TEST first_key_goes_to_the_first_line_at_once(void)
{
	job_writes_lines(0, 30000);
	open_log();
	reads = 0;
	press("g");
	ASSERT(shows("line 0 of it") && shows("line 15 of it"));
	ASSERTm("without reading all between", reads <= 2);
	press("G");
	ASSERT(shows("line 29999 of it"));
	PASS();
}

TEST paused_log_keeps_its_place_under_a_flood(void)
{
	struct slice top;
	char text[40];

	job_writes_lines(0, 1000);
	open_log();
	press("^^");
	ASSERT(shows("PAUSED"));
	top = window_text(&view->window, &view->window.lines[view->top]);
	snprintf(text, sizeof text, "%.*s", (int)top.len, (const char *)top.data);
	job_writes_lines(1000, 1312);
	wait_ms(1000);
	ASSERT(shows("+312"));
	for (unsigned i = 0; i < 30; i++) {
		job_writes_lines(2000 + i * 1000, 3000 + i * 1000);
		wait_ms(1000);
		top = window_text(&view->window, &view->window.lines[view->top]);
		ASSERT(slice_eq(slice_str(text), top));
	}
	ASSERT(window_bytes(&view->window) <= LOG_KEEP_BYTES + REPLY_MAX);
	press("G");
	ASSERT(shows("line 31999 of it") && shows("follows"));
	PASS();
}

TEST frozen_log_stands_still(void)
{
	job_writes_lines(0, 100);
	open_log();
	press("Z");
	job_writes_lines(100, 200);
	wait_ms(5000);
	ASSERT(shows("line 99 of it"));
	press("Z");
	wait_ms(100);
	ASSERT(shows("line 199 of it"));
	PASS();
}

TEST search_goes_over_all_of_the_log(void)
{
	job_writes_lines(0, 20000);
	job_writes(2, slice_str("an \x1b[31merr\x1b[0mor\n"));
	job_writes_lines(20000, 30000);
	open_log();
	press("g/ERROR$");
	ASSERT(shows("an error") && shows("/ERROR 1 of 1"));
	/* Nine lines end like this: the first one is before the window, so it is read. */
	press("G/777 of$");
	ASSERT(shows("line 777 of it") && shows("/777 of 1 of 30"));
	press("nn");
	ASSERT(shows("line 2777 of it") && shows("3 of 30"));
	press("NNN");
	ASSERT(shows("line 29777 of it") && shows("30 of 30"));
	press("n");
	ASSERT(shows("line 777 of it") && shows("1 of 30"));
	press("/nowhere$");
	ASSERT(shows("no match for nowhere"));
	PASS();
}

TEST found_text_is_marked(void)
{
	int marked = 0;

	job_writes_lines(0, 3);
	open_log();
	press("/LINE$");
	for (int at = 3 * grid.width; at < 6 * grid.width; at++)
		marked += (grid.cells[at].style.attributes & STYLE_REVERSE) != 0;
	ASSERT_EQ(3 * 4, marked);
	press("~");
	marked = 0;
	for (int at = 3 * grid.width; at < 6 * grid.width; at++)
		marked += (grid.cells[at].style.attributes & STYLE_REVERSE) != 0;
	ASSERT_EQ(0, marked);
	PASS();
}

TEST search_finds_what_is_written_later(void)
{
	job_writes_lines(0, 10);
	open_log();
	press("/line 5 $");
	ASSERT(shows("/line 5  1 of 1"));
	job_writes(1, slice_str("line 5 again\n"));
	wait_ms(1000);
	wait_ms(1000);
	ASSERT(shows("/line 5  1 of 2"));
	press("n");
	ASSERT(shows("2 of 2"));
	PASS();
}

TEST carriage_returns_show_the_last_state(void)
{
	open_log();
	job_writes(1, slice_str("10%\r20%\r3"));
	wait_ms(100);
	ASSERT(shows(" 3") && !shows("20%"));
	job_writes(1, slice_str("0%\r\nnext\n"));
	wait_ms(100);
	ASSERT(shows("30%") && shows("next") && !shows("x0d"));
	/* A progress bar that never ends its line is one line. */
	for (unsigned i = 0; i < 3000; i++) {
		char text[16];

		job_writes(1, slice_make(text, (size_t)snprintf(text, sizeof text, "\rstep %u", i)));
	}
	wait_ms(100);
	ASSERT(shows("step 2999"));
	ASSERT_EQ_FMT((size_t)3, view->window.line_count, "%zu");
	PASS();
}

TEST long_lines_can_be_wrapped(void)
{
	struct buf text = { 0 };

	for (int i = 0; i < 18; i++)
		job_writes(1, slice_str("short\n"));
	for (int i = 0; i < 100; i++)
		buf_add_byte(&text, 'x');
	buf_add_str(&text, "TAIL\n");
	job_writes(1, buf_slice(&text));
	open_log();
	ASSERT(!shows("TAIL"));
	ASSERT_EQ(0, view->top);
	press("W");
	/* The end stays on the screen, so a line at the top gives way. */
	ASSERT(shows("xTAIL"));
	ASSERT_EQ(1, view->top);
	press("k");
	ASSERT(!shows("TAIL") && shows("PAUSED"));
	press("jW");
	ASSERT(!shows("TAIL") && shows("follows"));
	buf_free(&text);
	PASS();
}

TEST times_can_be_hidden_and_lines_copied(void)
{
	job_writes(1, slice_str("10%\r100%\n"));
	job_writes(2, slice_str("\x1b[31mred\x1b[0m \x1b]52;c;eA==\x07\n"));
	open_log();
	ASSERT(shows("14:02:30   100%"));
	press("t");
	ASSERT(!shows("14:02:30") && shows("\nE red"));
	press("y");
	ASSERT_STR_EQ("100%\nred \\x1b]52;c;eA==\\x07\n", fixture.copied);
	ASSERT(shows("2 lines were copied"));
	PASS();
}

TEST pager_gets_the_log_of_the_shown_try(void)
{
	open_log();
	press("o");
	ASSERT_STR_EQ("logs '4127/encode[77]'", fixture.copied);
	/* A name that would be more than a word isn't made a part of a command. */
	snprintf(view->name, sizeof view->name, "a' --follow '");
	fixture.copied[0] = '\0';
	press("o");
	ASSERT_STR_EQ("", fixture.copied);
	ASSERT(shows("can't be typed"));
	PASS();
}

TEST retry_is_followed(void)
{
	job_writes_lines(0, 5);
	open_log();
	set_job(STATE_DELAYED, 1, 1);
	ASSERT(shows("line 4 of it"));
	record_count = 0;
	written[0] = written[1] = 0;
	job_writes(1, slice_str("second try\n"));
	set_job(STATE_RUNNING, 2, 2);
	ASSERT(shows("second try") && shows("the log of try 2") && !shows("line 4"));
	ASSERT_EQ(2, fixture.log_read.epoch);
	/* A paused view stays. */
	job_writes_lines(0, 100);
	wait_ms(100);
	press("^");
	set_job(STATE_RUNNING, 3, 3);
	ASSERT(shows("} shows the log of try 3"));
	ASSERT_EQ(2, view->epoch);
	PASS();
}

static void give_tries(void)
{
	struct rec_try_row rows[] = { { .job = 979, .epoch = 1, .try_no = 1 }, { .job = 979, .epoch = 2, .try_no = 2 },
		{ .job = 980, .epoch = 7, .try_no = 1 } };
	struct msg_snapshot msg = { .id = view->tries_id, .tries = { rows, 3 } };

	fixture_give(&fixture, OP_SNAPSHOT, &msg, now);
	answer_all();
	app_draw(fixture.app, &grid, now);
}

TEST tries_can_be_switched(void)
{
	static const uint64_t epochs[] = { 2, 1, 1, 2, 3, 3 };
	const char *key = "{{{}}}";

	open_log();
	set_job(STATE_RUNNING, 3, 3);
	ASSERT_EQ(3, view->epoch);
	for (size_t i = 0; i < 6; i++) {
		press((const char[]){ key[i], '\0' });
		give_tries();
		ASSERT_EQ(epochs[i], view->epoch);
		ASSERT_EQ(epochs[i], fixture.log_read.epoch);
		ASSERT_EQ(epochs[i] == 1, shows("an earlier try: 1, } shows the next"));
		ASSERT_EQ(epochs[i] == 2, shows("an earlier try: 2, } shows the next"));
		ASSERT_EQ(epochs[i] == 3, shows("try 3"));
		ASSERT_EQ(i == 2, shows("there is no earlier try"));
		ASSERT_EQ(i == 5, shows("there is no later try"));
		press("o");
		ASSERT_EQ(epochs[i] == 2, strcmp(fixture.copied, "logs '4127/encode[77]' --try 2") == 0);
	}
	PASS();
}

TEST output_that_comes_after_the_job_has_ended_is_shown(void)
{
	job_writes_lines(0, 3);
	open_log();
	set_job(STATE_SUCCEEDED, 1, 1);
	job_writes(1, slice_str("last words\n"));
	wait_ms(100);
	ASSERT(shows("last words") && shows("end"));
	wait_ms(5000);
	ASSERT(app_wait_ms(fixture.app, now) > 100);
	PASS();
}

TEST reconnected_log_goes_on(void)
{
	struct msg_welcome welcome = { .version = 2, .role = ROLE_ADMIN };

	job_writes_lines(0, 100);
	open_log();
	app_disconnected(fixture.app, NULL, now, now);
	job_writes_lines(100, 200);
	app_connected(fixture.app, &welcome, now + 1000);
	fixture_collect(&fixture);
	answer_all();
	wait_ms(2000);
	ASSERT(shows("line 199 of it"));
	PASS();
}

TEST busy_master_is_asked_again(void)
{
	struct msg_error busy = { .code = ERR_BUSY, .text = slice_str("busy") };

	job_writes_lines(0, 3);
	open_log();
	job_writes_lines(3, 6);
	now += 100;
	app_tick(fixture.app, now);
	fixture_collect(&fixture);
	ASSERT(fixture.log_id != 0);
	busy.id = fixture.log_id;
	fixture.log_id = 0;
	fixture_give(&fixture, OP_ERROR, &busy, now);
	ASSERT_EQm("not at once", 0, fixture.log_id);
	wait_ms(1000);
	ASSERT(shows("line 5 of it"));
	/* A log that can't be read isn't asked for again. */
	now += 100;
	app_tick(fixture.app, now);
	fixture_collect(&fixture);
	busy.id = fixture.log_id;
	busy.code = ERR_DAMAGED;
	fixture.log_id = 0;
	fixture_give(&fixture, OP_ERROR, &busy, now);
	wait_ms(5000);
	ASSERT_EQ(0, fixture.log_id);
	ASSERT(app_loaded(fixture.app));
	PASS();
}

/* Lines one byte shorter than the limit, as long as it, and one byte longer. */
TEST long_line_is_broken_and_loses_nothing(void)
{
	struct buf text = { 0 };

	open_log();
	for (size_t length = LOG_LINE_MAX - 1; length <= LOG_LINE_MAX + 1; length++) {
		size_t first = view->window.line_count, bytes = 0;

		buf_clear(&text);
		for (size_t i = 0; i < length; i++)
			buf_add_byte(&text, (uint8_t)('a' + i % 26));
		buf_add_byte(&text, '\n');
		job_writes(1, buf_slice(&text));
		wait_ms(100);
		for (size_t row = first; row < view->window.line_count; row++) {
			struct slice line = window_text(&view->window, &view->window.lines[row]);

			for (size_t i = 0; i < line.len; i++)
				ASSERT_EQ('a' + (int)(bytes++ % 26), line.data[i]);
		}
		ASSERT_EQ_FMT(length, bytes, "%zu");
	}
	buf_free(&text);
	PASS();
}

/* Any moves through any output: the lines on the screen are those of the file, in their order. */
TEST storm(uint64_t seed)
{
	struct rand_state rand;

	rand_seed(&rand, seed);
	open_log();
	for (int i = 0; i < 400; i++) {
		unsigned first;

		if (rand_below(&rand, 3) == 0 && record_count < RECORDS - 2000)
			job_writes_lines((unsigned)record_count, (unsigned)(record_count + rand_below(&rand, 1500)));
		if (rand_below(&rand, 4) == 0)
			wait_ms((int64_t)rand_below(&rand, 1500));
		press((const char[]){ "jk^_gGn/"[rand_below(&rand, 7)], '\0' });
		if (view->window.line_count == 0)
			continue;
		ASSERT(view->top < view->window.line_count);
		first = (unsigned)atoi((const char *)window_text(&view->window, &view->window.lines[view->top]).data + 5);
		for (size_t row = view->top; row < view->window.line_count; row++) {
			struct slice line = window_text(&view->window, &view->window.lines[row]);

			ASSERT_EQ(first++, (unsigned)atoi((const char *)line.data + 5));
		}
	}
	PASS();
}

SUITE(tui_log)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(opened_log_follows_its_end);
	RUN_TEST(whole_log_can_be_paged_through_both_ways);
	RUN_TEST(first_key_goes_to_the_first_line_at_once);
	RUN_TEST(paused_log_keeps_its_place_under_a_flood);
	RUN_TEST(frozen_log_stands_still);
	RUN_TEST(search_goes_over_all_of_the_log);
	RUN_TEST(found_text_is_marked);
	RUN_TEST(search_finds_what_is_written_later);
	RUN_TEST(carriage_returns_show_the_last_state);
	RUN_TEST(long_lines_can_be_wrapped);
	RUN_TEST(times_can_be_hidden_and_lines_copied);
	RUN_TEST(pager_gets_the_log_of_the_shown_try);
	RUN_TEST(retry_is_followed);
	RUN_TEST(tries_can_be_switched);
	RUN_TEST(output_that_comes_after_the_job_has_ended_is_shown);
	RUN_TEST(reconnected_log_goes_on);
	RUN_TEST(busy_master_is_asked_again);
	RUN_TEST(long_line_is_broken_and_loses_nothing);
	for (uint64_t seed = 1; seed <= 8; seed++)
		RUN_TESTp(storm, seed);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(tui_log);
	GREATEST_MAIN_END();
}
