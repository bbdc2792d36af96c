/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log view keeps the last lines of a job's output in order, and says if there are more before them. */
#include "greatest.h"
#include "tui/views.h"
#include "tui_fixture.h"

GREATEST_MAIN_DEFS();

static struct fixture fixture;
static struct grid grid;
static struct buf text;
static struct log_view *view;
static uint64_t sent;

/* Open the log of a running job; its output has been asked for. */
static void setup_cb(void *data)
{
	(void)data;
	fixture_utc();
	fixture_fill(&fixture, VIEW_DAG, false, false, 80, 24);
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	for (const char *key = "jjjjl"; *key; key++) {
		app_key(fixture.app, (uint32_t)*key, FIXTURE_NOW);
		fixture_collect(&fixture);
	}
	view = &fixture.app->log;
	sent = 0;
}

static void teardown_cb(void *data)
{
	(void)data;
	buf_free(&text);
	grid_free(&grid);
	fixture_close(&fixture);
}

/* Deliver a piece of stdout that follows what was sent before. */
static void give(struct slice data)
{
	struct rec_output piece = { .job = 979, .epoch = 1, .run = FIXTURE_RUN, .stream = 1, .wall_ms = FIXTURE_NOW,
				    .offset = sent, .data = data };
	struct msg_log_data msg = { .id = fixture.log_id, .pieces = { &piece, 1 } };

	sent += data.len;
	msg.offset = sent;
	fixture_give(&fixture, OP_LOG_DATA, &msg, FIXTURE_NOW);
	fixture_collect(&fixture);
}

static const struct log_line *line_at(size_t row)
{
	return &view->lines[(view->first + row) % LOG_KEEP_LINES];
}

TEST one_line_more_than_are_kept_drops_the_first(void)
{
	char expected[24];

	for (int i = 0; i <= LOG_KEEP_LINES; i++)
		buf_addf(&text, "%d\n", i);
	ASSERT(text.len < LOG_KEEP_BYTES);
	give(buf_slice(&text));
	ASSERT_EQ_FMT((size_t)LOG_KEEP_LINES, view->count, "%zu");
	ASSERT_EQ_FMT((size_t)1, (size_t)view->forgotten, "%zu");
	for (size_t row = 0; row < view->count; row++) {
		snprintf(expected, sizeof(expected), "%zu", row + 1);
		ASSERT_STR_EQ(expected, line_at(row)->text);
	}
	app_draw(fixture.app, &grid, FIXTURE_NOW);
	ASSERT(fixture_has(&grid, "10000"));
	PASS();
}

TEST lines_go_around_the_ring_in_order(void)
{
	char expected[24];

	for (int i = 0; i < 3 * LOG_KEEP_LINES + 7; i++) {
		buf_clear(&text);
		buf_addf(&text, "%d\n", i);
		give(buf_slice(&text));
	}
	for (size_t row = 0; row < view->count; row++) {
		snprintf(expected, sizeof(expected), "%zu", 3 * LOG_KEEP_LINES + 7 - view->count + row);
		ASSERT_STR_EQ(expected, line_at(row)->text);
	}
	PASS();
}

TEST kept_bytes_are_those_of_the_kept_lines(void)
{
	size_t bytes = 0;

	for (int i = 0; i < 3000; i++)
		buf_addf(&text, "%0*d\n", i % 90 + 1, i);
	give(buf_slice(&text));
	for (size_t row = 0; row < view->count; row++)
		bytes += line_at(row)->len;
	ASSERT_EQ_FMT(bytes, (size_t)view->bytes, "%zu");
	ASSERT(view->bytes <= LOG_KEEP_BYTES && view->bytes > LOG_KEEP_BYTES - 100);
	PASS();
}

/* Lines one byte shorter than the limit, as long as it, and one byte longer. */
TEST long_line_is_broken_and_loses_nothing(void)
{
	for (size_t length = 4095; length <= 4097; length++) {
		size_t first = view->count, bytes = 0;

		buf_clear(&text);
		for (size_t i = 0; i < length; i++)
			buf_add_byte(&text, (uint8_t)('a' + i % 26));
		buf_add_byte(&text, '\n');
		give(buf_slice(&text));
		for (size_t row = first; row < view->count; row++)
			for (size_t i = 0; i < line_at(row)->len; i++)
				ASSERT_EQ('a' + (char)(bytes++ % 26), line_at(row)->text[i]);
		ASSERT_EQ_FMT(length, bytes, "%zu");
	}
	PASS();
}

SUITE(tui_log)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(one_line_more_than_are_kept_drops_the_first);
	RUN_TEST(lines_go_around_the_ring_in_order);
	RUN_TEST(kept_bytes_are_those_of_the_kept_lines);
	RUN_TEST(long_line_is_broken_and_loses_nothing);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(tui_log);
	GREATEST_MAIN_END();
}
