/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages of an answer: at least one row, at most what fits into a frame, and at most as many rows as were asked for. */
#include "master/internal.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

static struct arena arena;
static struct answer_page page;
static char long_text[65536];

static void setup_cb(void *data)
{
	static const struct query query = { .limit = 0, .sight = { .all = true } };

	(void)data;
	memset(long_text, 'x', sizeof(long_text));
	page_begin(&page, &arena, &query);
}

static void teardown_cb(void *data)
{
	(void)data;
	arena_free(&arena);
}

/* Number of bytes of the frame that the page becomes. */
static size_t frame_bytes(void)
{
	struct buf out = { 0 };
	size_t len;

	message_encode(&out, OP_SNAPSHOT, &page.snapshot);
	len = out.len;
	buf_free(&out);
	return len;
}

TEST first_row_fits_however_long(void)
{
	struct slice texts[20];
	struct rec_job_row row = { .run = 1, .job = 1, .labels = { texts, 20 } };

	for (size_t i = 0; i < 20; i++)
		texts[i] = slice_make(long_text, sizeof(long_text));
	ASSERT(page_add_job(&page, &row));
	ASSERT_FALSE(page_add_job(&page, &row));
	ASSERT_EQ(1, page.snapshot.jobs.n);
	PASS();
}

/* A page fits into a frame, whichever text makes its rows long. */
TEST page_is_no_longer_than_a_frame(void)
{
	struct slice texts[4];
	const struct slice_list list = { texts, 4 };
	const struct slice text = slice_make(long_text, 4000);
	const struct rec_job_row rows[] = {
		{ .name = text }, { .command = text }, { .gate_message = text }, { .when = text }, { .needs_text = text },
		{ .loop_until = text }, { .pushback = text }, { .why = text }, { .digest = text }, { .worker = text },
		{ .labels = list }, { .asks = list }, { .placing = list }, { .concurrency = list }, { .locks = list },
		{ .gate_from = list }, { .unblocks = list }, { .will = list },
	};

	for (size_t i = 0; i < 4; i++)
		texts[i] = slice_make(long_text, 1000);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		setup_cb(NULL);
		while (page_add_job(&page, &rows[i]))
			;
		ASSERT(frame_bytes() <= REPLY_BYTES_MAX + 4096);
		ASSERT(page.snapshot.jobs.n > 100);
	}
	PASS();
}

TEST no_more_rows_than_were_asked_for(void)
{
	static const struct query query = { .limit = 3, .sight = { .all = true } };
	const struct rec_run_row row = { .run = 1 };

	page_begin(&page, &arena, &query);
	for (int i = 0; i < 3; i++)
		ASSERT(page_add_run(&page, &row));
	ASSERT_FALSE(page_add_run(&page, &row));
	ASSERT_EQ(3, page.snapshot.runs.n);
	PASS();
}

SUITE(master_answer_page)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(first_row_fits_however_long);
	RUN_TEST(page_is_no_longer_than_a_frame);
	RUN_TEST(no_more_rows_than_were_asked_for);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_answer_page);
	GREATEST_MAIN_END();
}
