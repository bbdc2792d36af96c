/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows written and read: every table, empty and odd values, deletes, what a start loads, pages of history. */
#include "greatest.h"
#include "store_box.h"

#include "base/arena.h"
#include "proto/limits.h"
#include "store/database.h"

struct loaded {
	struct row *rows;
	size_t count;
	struct arena arena;
};

static enum err collect_cb(const struct row *row, void *arg, struct error *error)
{
	struct loaded *loaded = arg;
	const struct store_table *table = &table_list[row->table];
	struct row *copy;

	(void)error;
	loaded->rows = mem_resize(loaded->rows, loaded->count + 1, sizeof(*row));
	copy = &loaded->rows[loaded->count++];
	*copy = *row;
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns()[i];

		if (column->type != COLUMN_INT) {
			struct slice value = arena_copy(&loaded->arena, row_slice(row, column));

			memcpy((char *)copy + column->offset, &value, sizeof(value));
		}
	}
	return ERR_NONE;
}

static struct loaded load(void)
{
	struct store *store = box_open(0);
	struct loaded loaded = { 0 };
	struct error error;

	if (store_load(store, collect_cb, &loaded, &error) != ERR_NONE)
		abort();
	store_close(store);
	return loaded;
}

static void loaded_free(struct loaded *loaded)
{
	mem_free(loaded->rows);
	arena_free(&loaded->arena);
	memset(loaded, 0, sizeof(*loaded));
}

static bool same_row(const struct row *a, const struct row *b)
{
	const struct store_table *table = &table_list[a->table];

	if (a->table != b->table)
		return false;
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns()[i];

		if (column->type == COLUMN_INT ? row_int(a, column) != row_int(b, column)
					       : !slice_eq(row_slice(a, column), row_slice(b, column)))
			return false;
	}
	return true;
}

/* Fill a row with values made from salt; texts and blobs are sometimes empty or odd. */
static void fill(struct row *row, int64_t salt)
{
	static const char *const texts[] = {
		"", "plain", "grüße ✓ 日本", "it's \"quoted\"; DROP TABLE job;--",
	};
	static const char *const blobs[] = { "", "\0\1\2", "\xff\xfe\0zz", "0123456789abcdef" };
	static const size_t blob_sizes[] = { 0, 3, 5, 16 };
	const struct store_table *table = &table_list[row->table];

	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns()[i];
		size_t pick = ((size_t)salt + i) % 4;
		struct slice text = slice_str(texts[pick]);
		struct slice blob = slice_make(blobs[pick], blob_sizes[pick]);
		int64_t number = i % 2 ? salt * 1000 + (int64_t)i : -salt;

		if (strcmp(column->name, "run") == 0)
			number = 7;
		else if (strcmp(column->name, "job") == 0)
			number = 100 + salt;
		else if (strcmp(column->name, "state") == 0)
			number = salt % STATE_COUNT;
		if (column->type == COLUMN_INT)
			memcpy((char *)row + column->offset, &number, sizeof(number));
		else
			memcpy((char *)row + column->offset, column->type == COLUMN_TEXT ? &text : &blob,
			       sizeof(text));
	}
}

/* Dead letters by page, newest job first, of one run or of all; a deleted one is gone. */
TEST dead_letters_by_page(void)
{
	struct store *store = box_start(0);
	struct outbox *turn = box_turn(1);
	struct store_query query = { .what = READ_DEAD, .from = INT64_MAX, .limit = 2 };
	struct store_query rest = { .what = READ_DEAD, .from = 4 }, one_run = { .what = READ_DEAD, .from = INT64_MAX, .run = 8 };

	for (int64_t job = 1; job <= 5; job++) {
		struct row *row = outbox_row(turn, TABLE_dead);

		row->dead.job = job;
		row->dead.run = job % 2 ? 7 : 8;
		row->dead.name = slice_str("load");
	}
	box_commit(store, turn);
	box_ask(store, &query);
	ASSERT_EQ_FMT((size_t)2, query.row_count, "%zu");
	ASSERT(query.rows[0].dead.job == 5 && query.rows[1].dead.job == 4);
	box_ask(store, &rest);
	ASSERT_EQ_FMT((size_t)3, rest.row_count, "%zu");
	ASSERT(rest.rows[0].dead.job == 3 && rest.rows[2].dead.job == 1);
	turn = box_turn(2);
	outbox_row(turn, TABLE_dead)->deleted = true;
	turn->rows[0].dead.job = 4;
	box_commit(store, turn);
	box_ask(store, &one_run);
	ASSERT_EQ_FMT((size_t)1, one_run.row_count, "%zu");
	ASSERT(one_run.rows[0].dead.job == 2 && slice_eq(one_run.rows[0].dead.name, slice_str("load")));
	arena_free(&query.arena);
	arena_free(&rest.arena);
	arena_free(&one_run.arena);
	store_close(store);
	PASS();
}

static struct row *range_of(struct outbox *turn, enum row_table table, int64_t until)
{
	struct row *row = outbox_row(turn, table);

	row->deleted = true;
	row->until = until;
	return row;
}

static void put_job(struct outbox *turn, int64_t job)
{
	struct row *row = outbox_row(turn, TABLE_job);

	row->job.job = job;
	row->job.run = 7;
}

static size_t count_of(struct store *store, enum store_what what, uint64_t run, uint64_t from)
{
	struct store_query query = { .what = what, .run = run, .from = from };
	size_t count;

	box_ask(store, &query);
	count = query.row_count;
	arena_free(&query.arena);
	return count;
}

/* A range delete covers the row's own number up to the other, and keeps its place among the puts of its batch. */
TEST ranges_are_deleted(void)
{
	struct store *store = box_start(0);
	struct outbox *turn = box_turn(1), *later = box_turn(2);
	struct row *row;

	for (int64_t run = 7; run <= 8; run++) {
		row = outbox_row(turn, TABLE_run);
		row->run = (struct row_run){ .run = run, .first = run == 7 ? 1 : 100, .jobs = 20, .submitted_ms = 1, .ended_ms = run == 7 };
		for (int64_t part = 0; part < 4; part++) {
			row = outbox_row(turn, TABLE_spec);
			row->spec = (struct row_spec){ .run = run, .part = part, .count = 5, .jobs = part == 0 ? 20 : 0,
						       .body = slice_str("body") };
		}
		outbox_row(turn, TABLE_event)->event.turn = run;
	}
	for (int64_t job = 1; job <= 20; job++)
		put_job(turn, job);
	range_of(later, TABLE_job, 11)->job.job = 4;
	put_job(later, 6);
	row = range_of(later, TABLE_spec, 4);
	row->spec.run = 7;
	row->spec.part = 2;
	range_of(later, TABLE_event, 8)->event.turn = 1;
	store_commit(store, turn);
	store_commit(store, later);
	ASSERT(box_take(store) == turn);
	ASSERT(box_take(store) == later);
	ASSERT_EQ_FMT((size_t)14, count_of(store, READ_JOBS, 7, 1), "%zu");
	ASSERT_EQ_FMT((size_t)2, count_of(store, READ_SPECS, 7, 0), "%zu");
	ASSERT_EQ_FMT((size_t)4, count_of(store, READ_SPECS, 8, 0), "%zu");
	ASSERT_EQ_FMT((size_t)6, count_of(store, READ_PARTS, 8, 7), "%zu");
	ASSERT_EQ_FMT((size_t)1, count_of(store, READ_TURNS, 0, 0), "%zu");
	ASSERT_EQ_FMT((size_t)1, count_of(store, READ_ENDED, 100, 1), "%zu");
	ASSERT_EQ_FMT((size_t)0, count_of(store, READ_ENDED, 100, 8), "%zu");
	box_free(turn);
	box_free(later);
	store_close(store);
	PASS();
}

/*
 * Two rows of every table, under live run 7, are read back unchanged; events and dead letters aren't loaded at a start
 * but queried.
 */
/* Is this row, one of two per table, loaded at a start? Of the acts only the latest is. */
static bool is_loaded(const struct row *row)
{
	return row->table != TABLE_event && row->table != TABLE_dead && row->table != TABLE_change &&
	       row->table != TABLE_pruned_run && row->table != TABLE_attempt &&
	       (row->table != TABLE_act || row->act.act == 2);
}

TEST every_table_comes_back(void)
{
	struct store *store = box_start(0);
	struct outbox *turn = box_turn(1);
	struct store_query query = { .what = READ_EVENTS, .from = 0 };
	struct loaded loaded;
	size_t expected = 0;

	for (int64_t salt = 1; salt <= 2; salt++)
		for (int table = 0; table < TABLE_COUNT; table++) {
			struct row *row;

			if (table == TABLE_run && salt == 2)
				continue;
			row = outbox_row(turn, table);
			fill(row, salt);
			if (table == TABLE_run) {
				row->run.first = 100;
				row->run.jobs = 10;
				row->run.ended_ms = 0;
			}
			if (table == TABLE_spec)
				row->spec.part = salt - 1;
			if (table == TABLE_pruning)
				row->pruning.run = salt;
			if (table == TABLE_spec && salt == 1)
				row->spec.jobs = 10;
			/* Give event rows turns that aren't negative, because events are queried by turn. */
			if (table == TABLE_event)
				row->event.turn = salt;
			if (table == TABLE_act)
				row->act.act = salt;
			if (table == TABLE_pruned_run)
				row->pruned_run.run = salt;
			expected += is_loaded(row);
		}
	store_commit(store, turn);
	ASSERT(box_take(store) == turn);
	store_close(store);
	loaded = load();
	ASSERT_EQ_FMT(expected, loaded.count, "%zu");
	for (size_t i = 0; i < turn->row_count; i++) {
		bool found = !is_loaded(&turn->rows[i]);

		for (size_t j = 0; j < loaded.count; j++)
			found = found || same_row(&turn->rows[i], &loaded.rows[j]);
		ASSERTm(table_list[turn->rows[i].table].name, found);
	}
	for (size_t j = 1; j < loaded.count; j++)
		ASSERT(loaded.rows[j - 1].table <= loaded.rows[j].table);
	loaded_free(&loaded);
	store = box_start(0);
	box_ask(store, &query);
	ASSERT_EQ_FMT((size_t)2, query.row_count, "%zu");
	for (size_t i = 0; i < turn->row_count; i++)
		if (turn->rows[i].table == TABLE_event)
			ASSERT(same_row(&turn->rows[i], &query.rows[turn->rows[i].event.turn - 1]));
	arena_free(&query.arena);
	store_close(store);
	box_free(turn);
	PASS();
}

TEST a_put_replaces_and_a_delete_removes(void)
{
	struct store *store = box_start(0);
	struct outbox *turn = box_turn(1);
	struct loaded loaded;
	struct row *row;

	box_run(turn, 1, 10, 5, 0);
	box_spec(turn, 1, 0, 0, 5);
	box_job(turn, 1, 10, STATE_READY);
	box_job(turn, 1, 11, STATE_READY);
	box_job(turn, 1, 10, STATE_RUNNING);
	row = outbox_row(turn, TABLE_submit_key);
	row->submit_key.principal = 1;
	row->submit_key.submit_key = slice_str("0123456789abcdef");
	row->submit_key.run = 1;
	box_commit(store, turn);
	turn = box_turn(2);
	box_job(turn, 1, 10, STATE_SUCCEEDED);
	box_job(turn, 1, 11, STATE_READY);
	turn->rows[1].deleted = true;
	row = outbox_row(turn, TABLE_submit_key);
	row->deleted = true;
	row->submit_key.principal = 1;
	row->submit_key.submit_key = slice_str("0123456789abcdef");
	row->submit_key.run = 1;
	box_commit(store, turn);
	store_close(store);
	loaded = load();
	ASSERT_EQ_FMT((size_t)3, loaded.count, "%zu");
	ASSERT_EQ_FMT(TABLE_run, loaded.rows[0].table, "%d");
	ASSERT_EQ_FMT(TABLE_spec, loaded.rows[1].table, "%d");
	ASSERT_EQ_FMT(TABLE_job, loaded.rows[2].table, "%d");
	ASSERT_EQ_FMT((int64_t)STATE_SUCCEEDED, loaded.rows[2].job.state, "%ld");
	loaded_free(&loaded);
	PASS();
}

/* Rows of a table are written in groups; the result is the same as writing each row at once. */
TEST rows_of_a_turn_keep_their_order(void)
{
	for (int turns = 1; turns <= 2; turns++) {
		struct store *store = box_start(0);
		struct outbox *turn = box_turn(1), *last = turns == 1 ? turn : box_turn(2);
		struct loaded loaded;
		struct row *row;

		box_run(turn, 1, 1, 21, 0);
		box_spec(turn, 1, 0, 0, 21);
		for (int64_t job = 1; job <= 21; job++)
			box_job(turn, 1, job, STATE_READY);
		box_job(turn, 1, 9, STATE_READY);
		turn->rows[turn->row_count - 1].deleted = true;
		box_job(last, 1, 20, STATE_READY);
		last->rows[last->row_count - 1].deleted = true;
		box_job(last, 1, 9, STATE_RUNNING);
		box_job(last, 1, 9, STATE_SUCCEEDED);
		range_of(last, TABLE_job, 8)->job.job = 3;
		box_job(last, 1, 5, STATE_FAILED);
		for (int i = 0; i < 2; i++) {
			row = outbox_row(last, TABLE_submit_key);
			row->deleted = i == 1;
			row->submit_key = (struct row_submit_key){ .principal = 1, .submit_key = slice_str("0123456789abcdef"), .run = 1 };
		}
		store_commit(store, turn);
		if (turns == 2)
			store_commit(store, last);
		ASSERT(box_take(store) == turn);
		box_free(turn);
		if (turns == 2) {
			ASSERT(box_take(store) == last);
			box_free(last);
		}
		store_close(store);
		loaded = load();
		/* The run and its graph, and jobs 1, 2, 5, 8 to 19 and 21; no submit key. */
		ASSERT_EQ_FMT((size_t)18, loaded.count, "%zu");
		for (size_t i = 0; i < loaded.count; i++) {
			ASSERT(loaded.rows[i].table != TABLE_submit_key);
			if (loaded.rows[i].table != TABLE_job)
				continue;
			ASSERT_EQ_FMT((int64_t)(loaded.rows[i].job.job == 9 ? STATE_SUCCEEDED : loaded.rows[i].job.job == 5 ? STATE_FAILED :
						STATE_READY), loaded.rows[i].job.state, "%ld");
		}
		loaded_free(&loaded);
		box_teardown_cb(NULL);
		box_setup_cb(NULL);
	}
	PASS();
}

/* One statement puts eight rows, seven of which have keys that the table never had. */
TEST rows_replace_others_in_a_group_with_new_ones(void)
{
	struct store *store = box_start(0);
	struct outbox *turn = box_turn(1);
	struct loaded loaded;

	box_run(turn, 1, 1, 20, 0);
	box_spec(turn, 1, 0, 0, 20);
	for (int64_t job = 1; job <= 8; job++)
		box_job(turn, 1, job, STATE_READY);
	box_commit(store, turn);
	turn = box_turn(2);
	for (int64_t job = 9; job <= 15; job++)
		box_job(turn, 1, job, STATE_READY);
	box_job(turn, 1, 3, STATE_FAILED);
	box_commit(store, turn);
	store_close(store);
	loaded = load();
	ASSERT_EQ_FMT((size_t)17, loaded.count, "%zu");
	for (size_t i = 2; i < loaded.count; i++)
		ASSERT_EQ_FMT((int64_t)(loaded.rows[i].job.job == 3 ? STATE_FAILED : STATE_READY), loaded.rows[i].job.state, "%ld");
	loaded_free(&loaded);
	PASS();
}

/* With sums of ended runs, as every store has them that a master of this version wrote. */
static void put_sum(struct outbox *turn)
{
	outbox_row(turn, TABLE_meta)->meta = (struct row_meta){ .name = slice_str("ended_runs"), .value = 1 };
}

/* Of three runs the second has ended: only its submit key is loaded. */
TEST only_live_runs_are_loaded(void)
{
	struct store *store = box_start(0);
	struct outbox *turn = box_turn(1);
	struct loaded loaded;
	size_t seen[TABLE_COUNT] = { 0 };

	for (int64_t run = 1; run <= 3; run++) {
		struct row *row;

		box_run(turn, run, run * 10, 3, run == 2 ? 99 : 0);
		for (int64_t job = 2; job >= 0; job--)
			box_job(turn, run, run * 10 + job, STATE_SUCCEEDED);
		for (int64_t part = 1; part >= 0; part--) {
			row = outbox_row(turn, TABLE_spec);
			row->spec.run = run;
			row->spec.part = part;
		}
		row = outbox_row(turn, TABLE_submit_key);
		row->submit_key.principal = run;
	}
	put_sum(turn);
	box_commit(store, turn);
	store_close(store);
	loaded = load();
	for (size_t i = 0; i < loaded.count; i++) {
		const struct row *row = &loaded.rows[i];
		const struct row *before = i > 0 && row[-1].table == row->table ? row - 1 : NULL;

		seen[row->table]++;
		if (row->table == TABLE_run)
			ASSERT(row->run.run != 2 && (!before || before->run.run < row->run.run));
		if (row->table == TABLE_job)
			ASSERT(row->job.run != 2 && (!before || before->job.job < row->job.job));
		if (row->table == TABLE_spec) {
			ASSERT(row->spec.run != 2);
			ASSERT(!before || before->spec.run < row->spec.run ||
			       before->spec.part < row->spec.part);
		}
	}
	ASSERT_EQ_FMT((size_t)2, seen[TABLE_run], "%zu");
	ASSERT_EQ_FMT((size_t)6, seen[TABLE_job], "%zu");
	ASSERT_EQ_FMT((size_t)4, seen[TABLE_spec], "%zu");
	ASSERT_EQ_FMT((size_t)3, seen[TABLE_submit_key], "%zu");
	loaded_free(&loaded);
	PASS();
}

/*
 * Added jobs have numbers behind those of other runs: each job is read once, in order, and none of another run. The
 * first part of an older version doesn't say how many jobs came with it.
 */
TEST a_grown_run_is_read_in_ranges(void)
{
	static const int64_t own[] = { 10, 11, 12, 15, 16, 20 };

	for (int older = 0; older < 2; older++) {
		struct store *store = box_start(0);
		struct outbox *turn = box_turn(1);
		struct store_query page = { .what = READ_JOBS, .run = 1, .from = 12, .limit = 3 };
		struct loaded loaded;
		size_t seen = 0;

		box_run(turn, 1, 10, 6, 0);
		box_run(turn, 2, 13, 7, 0);
		box_spec(turn, 1, 0, 0, older ? 0 : 3);
		box_spec(turn, 1, 1, 15, 2);
		box_spec(turn, 1, 2, 0, 0);
		box_spec(turn, 1, 3, 20, 1);
		box_spec(turn, 2, 0, 0, 2);
		box_spec(turn, 2, 1, 17, 3);
		for (int64_t job = 10; job <= 20; job++) {
			bool others = job == 13 || job == 14 || (job > 16 && job < 20);

			box_job(turn, others ? 2 : 1, job, STATE_READY);
			outbox_row(turn, TABLE_decision)->decision = (struct row_decision){ .job = job, .person = 1 };
		}
		box_commit(store, turn);
		box_ask(store, &page);
		ASSERT_EQ_FMT((size_t)3, page.row_count, "%zu");
		for (size_t i = 0; i < 3; i++)
			ASSERT_EQ_FMT(own[i + 2], page.rows[i].job.job, "%ld");
		arena_free(&page.arena);
		store_close(store);
		loaded = load();
		for (size_t i = 0; i < loaded.count; i++)
			if (loaded.rows[i].table == TABLE_job && loaded.rows[i].job.run == 1)
				ASSERT_EQ_FMT(own[seen++], loaded.rows[i].job.job, "%ld");
		ASSERT_EQ_FMT((size_t)6, seen, "%zu");
		for (size_t i = seen = 0; i < loaded.count; i++)
			seen += loaded.rows[i].table == TABLE_decision;
		ASSERT_EQ_FMT((size_t)11, seen, "%zu");
		loaded_free(&loaded);
		box_teardown_cb(NULL);
		box_setup_cb(NULL);
	}
	PASS();
}

static enum err refuse_cb(const struct row *row, void *arg, struct error *error)
{
	(void)row;
	++*(int *)arg;
	return error_set(error, ERR_STORE_TRUST, "not this one");
}

TEST a_reader_that_refuses_ends_the_load(void)
{
	struct store *store = box_start(0);
	struct outbox *turn = box_turn(1);
	struct error error;
	int calls = 0;

	box_run(turn, 1, 1, 1, 0);
	box_run(turn, 2, 2, 1, 0);
	box_commit(store, turn);
	store_close(store);
	store = box_open(0);
	ASSERT_EQ_FMT(ERR_STORE_TRUST, store_load(store, refuse_cb, &calls, &error), "%d");
	ASSERT_EQ_FMT(1, calls, "%d");
	ASSERT_STR_EQ("not this one", error.text);
	store_close(store);
	PASS();
}

static struct store *with_history(void)
{
	struct store *store = box_start(0);
	struct outbox *turn = box_turn(1);

	for (int64_t run = 1; run <= 1200; run++)
		box_run(turn, run, run * 100, 5, 99);
	for (int64_t job = 0; job < 5; job++)
		box_job(turn, 7, 700 + job, STATE_SUCCEEDED);
	box_job(turn, 8, 800, STATE_FAILED);
	for (int64_t part = 0; part < 3; part++) {
		struct row *row = outbox_row(turn, TABLE_spec);

		row->spec.run = 7;
		row->spec.part = part;
		row->spec.body = slice_str("specification");
	}
	box_commit(store, turn);
	return store;
}

TEST history_is_read_in_pages(void)
{
	struct store *store = with_history();
	struct store_query runs = { .what = READ_RUNS, .limit = 100000 };
	struct store_query older = { .what = READ_RUNS, .run = 3, .limit = 1 };
	struct store_query run = { .what = READ_RUN, .run = 1200 };
	struct store_query none = { .what = READ_RUN, .run = 1201 };
	struct store_query jobs = { .what = READ_JOBS, .run = 7, .from = 701, .limit = 2 };
	struct store_query job = { .what = READ_JOB, .from = 800 };
	struct store_query specs = { .what = READ_SPECS, .run = 7 };

	box_ask(store, &runs);
	ASSERT_EQ_FMT((size_t)LIMIT_QUERY_ROWS_MAX, runs.row_count, "%zu");
	ASSERT_EQ_FMT((int64_t)1200, runs.rows[0].run.run, "%ld");
	ASSERT_EQ_FMT((int64_t)1199, runs.rows[1].run.run, "%ld");
	box_ask(store, &older);
	ASSERT_EQ_FMT((size_t)1, older.row_count, "%zu");
	ASSERT_EQ_FMT((int64_t)2, older.rows[0].run.run, "%ld");
	box_ask(store, &run);
	ASSERT_EQ_FMT((size_t)1, run.row_count, "%zu");
	ASSERT(slice_eq(run.rows[0].run.name, slice_str("deploy")));
	box_ask(store, &none);
	ASSERT_EQ_FMT((size_t)0, none.row_count, "%zu");
	box_ask(store, &jobs);
	ASSERT_EQ_FMT((size_t)2, jobs.row_count, "%zu");
	ASSERT_EQ_FMT((int64_t)701, jobs.rows[0].job.job, "%ld");
	ASSERT_EQ_FMT((int64_t)702, jobs.rows[1].job.job, "%ld");
	box_ask(store, &job);
	ASSERT_EQ_FMT((size_t)1, job.row_count, "%zu");
	ASSERT_EQ_FMT((int64_t)STATE_FAILED, job.rows[0].job.state, "%ld");
	box_ask(store, &specs);
	ASSERT_EQ_FMT((size_t)3, specs.row_count, "%zu");
	ASSERT_EQ_FMT((int64_t)2, specs.rows[2].spec.part, "%ld");
	ASSERT(slice_eq(specs.rows[2].spec.body, slice_str("specification")));
	arena_free(&runs.arena);
	arena_free(&older.arena);
	arena_free(&run.arena);
	arena_free(&none.arena);
	arena_free(&jobs.arena);
	arena_free(&job.arena);
	arena_free(&specs.arena);
	store_close(store);
	PASS();
}

static int most_steps;

/* SQLite calls this when a statement has finished. */
static int profile_cb(unsigned kind, void *arg, void *statement, void *ns)
{
	int steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);

	(void)kind;
	(void)arg;
	(void)ns;
	if (steps > most_steps)
		most_steps = steps;
	return 0;
}

static enum err ignore_cb(const struct row *row, void *arg, struct error *error)
{
	(void)row;
	(void)arg;
	(void)error;
	return ERR_NONE;
}

/* With 20,000 jobs of ended runs and 3 of a live one, a start and a page cost only what they return. */
TEST reading_costs_nothing_for_history(void)
{
	struct store *store = box_start(0);
	struct outbox *turn = box_turn(1);
	struct database database = { 0 };
	struct error error;

	for (int64_t run = 0; run < 200; run++) {
		box_run(turn, run, run * 100, 100, run == 100 ? 0 : 99);
		box_spec(turn, run, 0, 0, 100);
		for (int64_t job = 0; job < (run == 100 ? 3 : 100); job++)
			box_job(turn, run, run * 100 + job, STATE_SUCCEEDED);
	}
	put_sum(turn);
	box_commit(store, turn);
	store_close(store);
	ASSERT_EQ_FMT(ERR_NONE, database_open(&database, box_path, false, &error), "%d");
	sqlite3_trace_v2(database.handle, SQLITE_TRACE_PROFILE, profile_cb, NULL);
	most_steps = 0;
	ASSERT_EQ_FMT(ERR_NONE, read_live(&database, ignore_cb, NULL, &error), "%d");
	ASSERT(most_steps > 0 && most_steps < 500);
	for (int what = 0; what < READ_COUNT; what++) {
		struct store_query query = { .what = what, .run = 100, .from = 10001, .limit = 2 };

		most_steps = 0;
		ASSERT_EQ_FMT(SQLITE_OK, read_answer(&database, &query), "%d");
		ASSERT(most_steps > 0 && most_steps < 500);
		arena_free(&query.arena);
	}
	database_close(&database);
	PASS();
}

SUITE(store_rows)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(dead_letters_by_page);
	RUN_TEST(ranges_are_deleted);
	RUN_TEST(every_table_comes_back);
	RUN_TEST(a_put_replaces_and_a_delete_removes);
	RUN_TEST(rows_of_a_turn_keep_their_order);
	RUN_TEST(rows_replace_others_in_a_group_with_new_ones);
	RUN_TEST(only_live_runs_are_loaded);
	RUN_TEST(a_grown_run_is_read_in_ranges);
	RUN_TEST(a_reader_that_refuses_ends_the_load);
	RUN_TEST(history_is_read_in_pages);
	RUN_TEST(reading_costs_nothing_for_history);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(store_rows);
	GREATEST_MAIN_END();
}
