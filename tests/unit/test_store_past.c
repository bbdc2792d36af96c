/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of past turns: computed backwards from the present rows, for any history; a core can load them. */
#include "base/rand.h"
#include "store/past.h"
#include "tests/unit/core_rig.h"
#include "store_box.h"

#include <sqlite3.h>
#include <sys/stat.h>

#define TURNS 240

/* ---- rows as bytes, sorted by them ---- */

struct said {
	struct buf *at;
	size_t count, cap;
};

static void said_add(struct said *said, const struct row *row)
{
	if (said->count == said->cap) {
		said->cap = said->cap ? said->cap * 2 : 64;
		said->at = mem_resize(said->at, said->cap, sizeof(*said->at));
	}
	said->at[said->count] = (struct buf){ 0 };
	past_add(&said->at[said->count++], row, true);
}

static int said_compare_cb(const void *a, const void *b)
{
	struct slice one = buf_slice(a), other = buf_slice(b);
	int order = memcmp(one.data, other.data, one.len < other.len ? one.len : other.len);

	return order ? order : (one.len > other.len) - (one.len < other.len);
}

static bool said_same(struct said *one, struct said *other)
{
	bool same = one->count == other->count;

	qsort(one->at, one->count, sizeof(*one->at), said_compare_cb);
	qsort(other->at, other->count, sizeof(*other->at), said_compare_cb);
	for (size_t i = 0; same && i < one->count; i++)
		same = said_compare_cb(&one->at[i], &other->at[i]) == 0;
	if (!same)
		fprintf(stderr, "%zu rows, and there were %zu\n", one->count, other->count);
	return same;
}

static void said_free(struct said *said)
{
	for (size_t i = 0; i < said->count; i++)
		buf_free(&said->at[i]);
	mem_free(said->at);
	*said = (struct said){ 0 };
}

static enum err said_cb(const struct row *row, void *arg, struct error *error)
{
	(void)error;
	said_add(arg, row);
	return ERR_NONE;
}

/* Are these the rows of that turn? */
static bool past_is(uint64_t turn, struct said *wanted)
{
	struct store *store = box_open(0);
	struct said said = { 0 };
	struct error error = { 0 };
	enum err err = store_past(store, turn, said_cb, &said, &error);
	bool same = err == ERR_NONE && said_same(&said, wanted);

	if (!same)
		fprintf(stderr, "turn %llu: %s\n", (unsigned long long)turn, error.text);
	said_free(&said);
	store_close(store);
	return same;
}

/* ---- a random history ---- */

struct model {
	struct said now, of[TURNS + 1];
	struct rand_state rand;
};

static void model_drop(struct model *model, size_t at)
{
	buf_free(&model->now.at[at]);
	model->now.at[at] = model->now.at[--model->now.count];
}

static void model_apply(struct model *model, const struct row *row)
{
	struct buf key = { 0 };
	size_t len = past_add(&key, row, false);

	for (size_t i = model->now.count; i > 0; i--) {
		struct slice bytes = buf_slice(&model->now.at[i - 1]);
		struct row known;
		bool there, sound;

		if (row->until == 0 && bytes.len >= len && (bytes.data[0] | 0x80) == key.data[0] &&
		    memcmp(bytes.data + 1, key.data + 1, len - 1) == 0)
			model_drop(model, i - 1);
		else if (row->until != 0 && past_next(&bytes, &known, &there, &sound) && row_in_range(row, &known))
			model_drop(model, i - 1);
	}
	buf_free(&key);
	if (!row->deleted)
		said_add(&model->now, row);
}

static int64_t below(struct model *model, uint64_t bound)
{
	return (int64_t)rand_below(&model->rand, bound);
}

static const char *text_of(struct model *model)
{
	static const char *const texts[] = { "", "a", "ab", "b", "prod", "nightly" };

	return texts[below(model, 6)];
}

static void row_draw(struct model *model, struct outbox *turn)
{
	static const enum row_table tables[] = { TABLE_meta, TABLE_job, TABLE_job, TABLE_run, TABLE_decision, TABLE_lock_hold,
						 TABLE_schedule_part, TABLE_dead, TABLE_event };
	enum row_table table = tables[below(model, 9)];
	struct row *row = outbox_row(turn, table);

	row->deleted = below(model, 5) == 0;
	if (table == TABLE_meta)
		row->meta = (struct row_meta){ slice_str(text_of(model)), below(model, 9) - 4 };
	else if (table == TABLE_job)
		row->job = (struct row_job){ .job = 1 + below(model, 12), .run = 3, .state = below(model, 3), .epoch = below(model, 4),
					     .ended_ms = below(model, 2) ? INT64_MAX : 0 };
	else if (table == TABLE_run)
		row->run = (struct row_run){ .run = 1 + below(model, 4), .name = slice_str(text_of(model)), .ended_ms = below(model, 2) };
	else if (table == TABLE_decision)
		row->decision = (struct row_decision){ .job = 1 + below(model, 12), .round = below(model, 2), .person = below(model, 2) - 1,
						       .reason = slice_str(text_of(model)) };
	else if (table == TABLE_lock_hold)
		row->lock_hold = (struct row_lock_hold){ .lock = slice_str(text_of(model)), .owner = slice_str(text_of(model)) };
	else if (table == TABLE_schedule_part)
		row->schedule_part = (struct row_schedule_part){ .schedule = slice_str(text_of(model)), .part = below(model, 3),
								 .body = slice_make("\0\1\2", 3) };
	else if (table == TABLE_dead)
		row->dead.job = 1 + below(model, 12);
	else
		*row = (struct row){ .table = TABLE_event, .event = { .turn = (int64_t)turn->turn, .body = slice_str("x") } };
	if ((table == TABLE_job || table == TABLE_decision || table == TABLE_dead) && below(model, 12) == 0) {
		int64_t from = *row_number(row);

		row->deleted = true;
		row->until = from + 1 + below(model, 5);
	}
}

static struct outbox *turn_draw(struct model *model, uint64_t number)
{
	struct outbox *turn = box_turn(number);
	size_t rows = 1 + (size_t)below(model, 6), events = 0, kept = 0;
	struct row *row;

	turn->wall_ms = (int64_t)number * 10;
	for (size_t i = 0; i < rows; i++)
		row_draw(model, turn);
	for (size_t i = 0; i < turn->row_count; i++)
		if (turn->rows[i].table != TABLE_event || events++ == 0)
			turn->rows[kept++] = turn->rows[i];
	turn->row_count = kept;
	row = outbox_row(turn, TABLE_meta);
	row->meta = (struct row_meta){ slice_str("turn"), (int64_t)number };
	for (size_t i = 0; i < turn->row_count; i++)
		if (turn->rows[i].table != TABLE_event)
			model_apply(model, &turn->rows[i]);
	for (size_t i = 0; i < model->now.count; i++) {
		struct slice bytes = buf_slice(&model->now.at[i]);
		struct row now;
		bool there, sound;

		CHECK(past_next(&bytes, &now, &there, &sound));
		said_add(&model->of[number], &now);
	}
	return turn;
}

/*
 * Commit turns one at a time or several together; at times reopen the store, which then remembers nothing of what it
 * wrote.
 */
static void history_write(struct model *model)
{
	struct store *store = box_start(0);

	for (uint64_t turn = 1; turn <= TURNS;) {
		uint64_t more = 1 + (uint64_t)below(model, 9);

		if (below(model, 10) == 0) {
			store_close(store);
			store = box_start(0);
		}
		for (; more > 0 && turn <= TURNS; more--, turn++) {
			store_commit(store, turn_draw(model, turn));
			if (below(model, 2) == 0)
				box_free(box_take(store));
			else
				model->of[0].count++;
		}
		for (; model->of[0].count > 0; model->of[0].count--)
			box_free(box_take(store));
	}
	store_close(store);
}

TEST rows_of_every_turn_come_back(void)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct model model = { 0 };

		rand_seed(&model.rand, seed);
		box_setup_cb(NULL);
		history_write(&model);
		for (uint64_t turn = 1; turn <= TURNS; turn += seed == 1 ? 1 : 7)
			ASSERT(past_is(turn, &model.of[turn]));
		for (size_t i = 0; i <= TURNS; i++)
			said_free(&model.of[i]);
		said_free(&model.now);
		box_teardown_cb(NULL);
	}
	PASS();
}

/* ---- past turns of a real core ---- */

static struct store *core_store;

static void commit_out(struct rig *rig)
{
	struct outbox *turn;

	if (rig->out.row_count == 0)
		return;
	turn = box_turn(rig->out.turn);
	turn->wall_ms = rig->out.wall_ms;
	for (size_t i = 0; i < rig->out.row_count; i++) {
		*outbox_row(turn, rig->out.rows[i].table) = rig->out.rows[i];
		outbox_own(turn, &turn->rows[turn->row_count - 1]);
	}
	box_commit(core_store, turn);
}

static enum err load_row_cb(const struct row *row, void *arg, struct error *error)
{
	return core_load_row(arg, row, error);
}

struct moment {
	uint64_t turn, hash;
	struct now now;
};

static bool core_is(const struct rig *rig, const struct moment *moment)
{
	struct store *store = box_open(0);
	struct core *core = core_new(&rig->config);
	struct outbox out = { 0 };
	struct error error = { 0 };
	bool same = store_past_live(store, moment->turn, load_row_cb, core, &error) == ERR_NONE &&
		    core_load_end(core, moment->now, &out, &error) == ERR_NONE;

	same = same && core_hash(core) == moment->hash;
	if (!same)
		fprintf(stderr, "turn %llu: %s\n", (unsigned long long)moment->turn, error.text);
	core_free(core);
	outbox_free(&out);
	store_close(store);
	return same;
}

#define MOMENTS 64

static size_t moment_note(struct rig *rig, struct moment moments[MOMENTS], size_t count)
{
	commit_out(rig);
	if (rig->out.row_count == 0 || count == MOMENTS)
		return count;
	moments[count] = (struct moment){ rig->out.turn, core_hash(rig->core), rig->now };
	return count + 1;
}

/* A core that is loaded from the rows of a past turn equals the core of that turn. */
TEST a_core_of_the_past_is_as_it_was(void)
{
	struct rig *rig = rig_new();
	struct moment moments[MOMENTS];
	struct rig_attempt attempt;
	size_t count;
	uint64_t run = 0;

	box_setup_cb(NULL);
	core_store = box_start(0);
	count = moment_note(rig, moments, 0);
	rig_hello(rig, "w", 2);
	count = moment_note(rig, moments, count);
	for (int i = 0; i < 4; i++) {
		struct graph graph = { 0 };

		graph_job(&graph, "a", "");
		graph_job(&graph, "b", "a");
		graph_job(&graph, "c", "a");
		run = rig_submit(rig, &graph);
		count = moment_note(rig, moments, count);
		while (i < 3 && rig_take(rig, &attempt)) {
			rig_started(rig, attempt);
			count = moment_note(rig, moments, count);
			rig_done(rig, attempt, OUTCOME_EXIT, i == 1);
			count = moment_note(rig, moments, count);
			rig_wait(rig, 1000);
		}
	}
	rig_act(rig, ACT_PRIORITY, run, "", 7);
	count = moment_note(rig, moments, count);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_GROUP, .verb = SET_PUT, .name = slice_str("g"), .number = 3 });
	count = moment_note(rig, moments, count);
	rig_cancel(rig, run, "");
	count = moment_note(rig, moments, count);
	store_close(core_store);
	ASSERT(count > 20);
	/* Acts are history and not in `change`: the chain's end at a past turn comes from the row of the act. */
	for (size_t i = 0; i < count; i++)
		ASSERT(core_is(rig, &moments[i]));
	box_teardown_cb(NULL);
	rig_free(rig);
	PASS();
}

static void run_sql(const char *sql)
{
	sqlite3 *handle;

	if (sqlite3_open(box_path, &handle) != SQLITE_OK || sqlite3_exec(handle, sql, NULL, NULL, NULL) != SQLITE_OK)
		abort();
	sqlite3_close(handle);
	if (chmod(box_path, 0600) != 0)
		abort();
}

TEST what_is_forgotten_is_said(void)
{
	struct model model = { 0 };
	struct said said = { 0 };
	struct error error = { 0 };
	struct store *store;
	uint64_t turn;

	rand_seed(&model.rand, 5);
	box_setup_cb(NULL);
	history_write(&model);
	run_sql("DELETE FROM change WHERE turn < 100");
	ASSERT(past_is(99, &model.of[99]));
	ASSERT(past_is(180, &model.of[180]));
	store = box_open(0);
	ASSERT_EQ(ERR_NOT_FOUND, store_past(store, 98, said_cb, &said, &error));
	ASSERT(strstr(error.text, "the store doesn't keep the rows of turn 98; the first turn that it keeps is 99"));
	ASSERT_EQ(ERR_NONE, store_past_turn(store, 1505, &turn, &error));
	ASSERT_EQ(150, turn);
	store_close(store);
	run_sql("DELETE FROM dead");     /* dead letters whose job doesn't exist, because the rows are random */
	store = box_open(0);
	ASSERT_EQ(ERR_NONE, store_check(store, &error));
	store_close(store);
	run_sql("UPDATE change SET body = x'7f' WHERE turn = 120");
	store = box_open(0);
	ASSERT_EQ(ERR_STORE_TRUST, store_check(store, &error));
	ASSERT(strstr(error.text, "the changes of turn 120 can't be read"));
	store_close(store);
	for (size_t i = 0; i <= TURNS; i++)
		said_free(&model.of[i]);
	said_free(&model.now);
	said_free(&said);
	box_teardown_cb(NULL);
	PASS();
}

/* A log that is left makes the next open read the whole store, as after a crash. */
TEST rewound_store_has_no_log(void)
{
	const struct store_moment wanted = { .turn = 150 };
	struct model model = { 0 };
	struct store_moment moment;
	struct error error = { 0 };
	char log[SCRATCH_SIZE + 32];
	struct stat info;

	rand_seed(&model.rand, 5);
	box_setup_cb(NULL);
	history_write(&model);
	snprintf(log, sizeof(log), "%s-wal", box_path);
	ASSERT_EQ(ERR_NONE, store_rewind(box_path, &wanted, &moment, &error));
	ASSERT_EQ(150, moment.turn);
	ASSERT(stat(log, &info) != 0 || info.st_size == 0);
	for (size_t i = 0; i <= TURNS; i++)
		said_free(&model.of[i]);
	said_free(&model.now);
	box_teardown_cb(NULL);
	PASS();
}

SUITE(past)
{
	box_in_memory();
	RUN_TEST(rows_of_every_turn_come_back);
	RUN_TEST(a_core_of_the_past_is_as_it_was);
	RUN_TEST(what_is_forgotten_is_said);
	RUN_TEST(rewound_store_has_no_log);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(past);
	GREATEST_MAIN_END();
}
