/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads rows from the store: at the start all rows of live runs, later pages of history by key. No statement stays open
 * between calls, so a reader never delays a checkpoint.
 */
#include "store/database.h"

#include "base/mem.h"
#include "core/acts/chain.h"
#include "proto/limits.h"

#define EVENTS_BYTES (24u << 10)         /* a page of events ends when it has this many bytes */

/*
 * The ranges of serial numbers of a run's jobs, one for each extent. In stores of an older version the first extent
 * doesn't say how many jobs it has: it has all jobs of the run except those of later extents.
 */
#define RANGES "run CROSS JOIN spec ON spec.run = run.run AND (spec.part = 0 OR spec.first > 0) "
#define RANGE_FIRST "CASE spec.part WHEN 0 THEN run.first ELSE spec.first END"
#define RANGE_LAST RANGE_FIRST " - 1 + CASE WHEN spec.jobs > 0 THEN spec.jobs ELSE run.jobs - " \
	"(SELECT coalesce(sum(more.jobs), 0) FROM spec AS more WHERE more.run = run.run) END"

/*
 * The SQL that follows the list of columns. Unary + keeps SQLite from building an automatic index on job.run: the jobs
 * of an extent are neighbours, so the range of their numbers is enough.
 */
static const struct {
	enum row_table table;
	const char *from;
} loads[] = {
	{ TABLE_meta, "FROM meta" },
	{ TABLE_worker, "FROM worker ORDER BY worker" },
	{ TABLE_pool, "FROM pool ORDER BY pool" },
	{ TABLE_tenant, "FROM tenant" },
	{ TABLE_job_group, "FROM job_group" },
	{ TABLE_pruned, "FROM pruned ORDER BY first" },
	{ TABLE_pruning, "FROM pruning ORDER BY run" },
	{ TABLE_lock_hold, "FROM lock_hold" },
	/* The core adds up the ended runs of a store that has no sums of them. The join reads no run where there are sums. */
	{ TABLE_run, "FROM (SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM meta WHERE name = 'ended_runs')) "
		     "CROSS JOIN run WHERE ended_ms <> 0" },
	{ TABLE_run, "FROM run WHERE ended_ms = 0 ORDER BY run" },
	{ TABLE_spec, "FROM run CROSS JOIN spec ON spec.run = run.run WHERE run.ended_ms = 0 "
		      "ORDER BY run.run, spec.part" },
	{ TABLE_job, "FROM " RANGES "CROSS JOIN job ON job.job BETWEEN " RANGE_FIRST " AND " RANGE_LAST
		     " AND +job.run = run.run WHERE run.ended_ms = 0 ORDER BY run.run, spec.part, job.job" },
	{ TABLE_decision, "FROM " RANGES "CROSS JOIN decision ON decision.job BETWEEN " RANGE_FIRST " AND " RANGE_LAST
			  " WHERE run.ended_ms = 0 ORDER BY run.run, spec.part, decision.job" },
	{ TABLE_submit_key, "FROM submit_key" },
	{ TABLE_schedule, "FROM schedule" },
	{ TABLE_schedule_part, "FROM schedule_part ORDER BY schedule, part" },
	{ TABLE_act, "FROM act ORDER BY act DESC LIMIT 1" },
	{ TABLE_token, "FROM token" },
	{ TABLE_pool_provides, "FROM pool_provides ORDER BY pool" },
	{ TABLE_topic, "FROM topic" },
	{ TABLE_value_space, "FROM value_space" },
	{ TABLE_value, "FROM value" },
	{ TABLE_value_request, "FROM value_request" },
	{ TABLE_asset, "FROM asset ORDER BY asset, version" },
};

/* Parameters: ?1 run, ?2 from, ?3 limit. */
static const struct {
	enum row_table table;
	bool paged;                      /* a query gets at most LIMIT_QUERY_ROWS_MAX rows */
	bool brief;                      /* the query leaves out columns with blobs */
	const char *from;
} reads[READ_COUNT] = {
	[READ_RUNS] = { TABLE_run, true, false, "FROM run WHERE run < ?1 ORDER BY run DESC LIMIT ?3" },
	[READ_RUN] = { TABLE_run, true, false, "FROM run WHERE run = ?1" },
	[READ_SPECS] = { TABLE_spec, false, false, "FROM spec WHERE run = ?1 AND part >= ?2 "
			 "ORDER BY part LIMIT ?3" },
	[READ_JOBS] = { TABLE_job, true, false,
			"FROM " RANGES "CROSS JOIN job ON job.job BETWEEN max(?2, " RANGE_FIRST ") "
			"AND " RANGE_LAST " AND +job.run = run.run WHERE run.run = ?1 "
			"AND (spec.first = 0 OR spec.first + spec.jobs > ?2) ORDER BY spec.part, job.job LIMIT ?3" },
	[READ_JOB] = { TABLE_job, true, false, "FROM job WHERE job = ?2" },
	[READ_DEAD] = { TABLE_dead, true, false, "FROM dead WHERE job < ?2 AND (?1 = 0 OR run = ?1) ORDER BY job DESC LIMIT ?3" },
	[READ_DECISIONS] = { TABLE_decision, true, false,
			     "FROM decision WHERE job < ?2 AND (?1 = 0 OR run = ?1) "
			     "ORDER BY job DESC, round DESC, wall_ms DESC LIMIT ?3" },
	[READ_ATTEMPTS] = { TABLE_attempt, true, false,
			    "FROM " RANGES "CROSS JOIN attempt ON attempt.job BETWEEN max(?2, " RANGE_FIRST ") AND " RANGE_LAST
			    " WHERE run.run = ?1 AND (spec.first = 0 OR spec.first + spec.jobs > ?2) "
			    "ORDER BY spec.part, attempt.job, attempt.epoch LIMIT ?3" },
	[READ_ENDED] = { TABLE_run, true, false, "FROM run WHERE run BETWEEN ?2 AND ?1 AND +ended_ms > 0 ORDER BY run LIMIT ?3" },
	[READ_PARTS] = { TABLE_spec, false, true, "FROM spec WHERE run BETWEEN ?2 AND ?1 ORDER BY run, part LIMIT ?3" },
	[READ_ACTS] = { TABLE_act, true, false, "FROM act WHERE act >= ?2 ORDER BY act LIMIT ?3" },
	[READ_ACTS_DOWN] = { TABLE_act, true, false, "FROM act WHERE act < ?2 ORDER BY act DESC LIMIT ?3" },
	[READ_PRUNED] = { TABLE_pruned_run, true, false, "FROM pruned_run WHERE run >= ?2 ORDER BY run LIMIT ?3" },
	[READ_PRUNED_DOWN] = { TABLE_pruned_run, true, false, "FROM pruned_run WHERE run < ?2 ORDER BY run DESC LIMIT ?3" },
	[READ_CHANGES] = { TABLE_change, true, false, "FROM change WHERE turn >= ?2 ORDER BY turn LIMIT ?3" },
	[READ_TURNS] = { TABLE_event, true, true, "FROM event WHERE turn >= ?2 ORDER BY turn LIMIT ?3" },
	[READ_RUN_PARTS] = { TABLE_spec, false, true, "FROM spec WHERE run = ?1 ORDER BY part" },
	[READ_TURNS_DOWN] = { TABLE_event, true, true, "FROM event WHERE turn < ?2 ORDER BY turn DESC LIMIT ?3" },
	[READ_EVENTS] = { TABLE_event, true, false, "FROM event WHERE turn >= ?2 ORDER BY turn LIMIT ?3" },
};

static enum err prepare_select(struct database *database, enum row_table table, bool brief, const char *from,
			       sqlite3_stmt **ret_statement, struct error *error)
{
	struct buf sql = { 0 };
	enum err err;

	buf_add_str(&sql, "SELECT ");
	if (table == TABLE_change)
		buf_add_str(&sql, "turn, wall_ms, substr(body, 1, 8) || (SELECT substr(last.body, 1, 8) FROM change AS last "
			    "ORDER BY last.turn DESC LIMIT 1)");
	else
		sql_columns(&sql, table, brief);
	buf_addf(&sql, " %s", from);
	err = database_prepare(database, buf_cstr(&sql), ret_statement, error);
	buf_free(&sql);
	return err;
}

enum err read_prepare(struct database *database, struct error *error)
{
	enum err err = ERR_NONE;

	for (int what = 0; what < READ_COUNT && err == ERR_NONE; what++)
		err = prepare_select(database, reads[what].table, reads[what].brief, reads[what].from,
				     &database->read[what], error);
	return err;
}

static struct slice column_slice(sqlite3_stmt *statement, int place)
{
	/* Get the pointer before the length: the other order could convert the value. */
	const void *data = sqlite3_column_blob(statement, place);

	return slice_make(data, (size_t)sqlite3_column_bytes(statement, place));
}

void read_row(sqlite3_stmt *statement, enum row_table which, struct arena *arena, struct row *ret_row)
{
	const struct store_table *table = &table_list[which];
	const struct table_column *columns = table->columns();

	memset(ret_row, 0, sizeof(*ret_row));
	ret_row->table = which;
	for (size_t i = 0; i < table->column_count; i++) {
		char *place = (char *)ret_row + columns[i].offset;

		if (columns[i].type == COLUMN_INT) {
			int64_t value = sqlite3_column_int64(statement, (int)i);

			memcpy(place, &value, sizeof(value));
		} else {
			struct slice value = column_slice(statement, (int)i);

			if (arena)
				value = arena_copy(arena, value);
			memcpy(place, &value, sizeof(value));
		}
	}
}

enum err read_live(struct database *database, store_load_cb *load_cb, void *arg, struct error *error)
{
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		sqlite3_stmt *statement = NULL;
		struct row row;
		int result;
		enum err err = prepare_select(database, loads[i].table, false, loads[i].from, &statement, error);

		if (err != ERR_NONE)
			return err;
		while ((result = sqlite3_step(statement)) == SQLITE_ROW && err == ERR_NONE) {
			read_row(statement, loads[i].table, NULL, &row);
			err = load_cb(&row, arg, error);
		}
		if (err == ERR_NONE && result != SQLITE_DONE)
			err = database_error(database, ERR_STORE, error, "can't be read");
		sqlite3_finalize(statement);
		if (err != ERR_NONE)
			return err;
	}
	return ERR_NONE;
}

/* Check that job rows and dead letters agree, also in history, which no master loads. */
enum err read_check_letters(struct database *database, struct error *error)
{
	static const struct {
		const char *from, *what;
	} checks[] = {
		{ "SELECT job.job FROM job LEFT JOIN dead ON dead.job = job.job "
		  "WHERE (job.flags & ?1) AND dead.job IS NULL LIMIT 1", "has no dead letter, but the row of the job says that it has one" },
		{ "SELECT job.job FROM dead CROSS JOIN job ON job.job = dead.job WHERE (job.flags & ?1) = 0 LIMIT 1",
		  "has a dead letter, but the row of the job says that it has none" },
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		sqlite3_stmt *statement = NULL;
		enum err err = database_prepare(database, checks[i].from, &statement, error);
		int result;

		if (err != ERR_NONE)
			return err;
		sqlite3_bind_int(statement, 1, ROW_JOB_DEAD);
		result = sqlite3_step(statement);
		if (result == SQLITE_ROW)
			err = error_set(error, ERR_STORE_TRUST, "%s: job %lld %s", database->path,
					(long long)sqlite3_column_int64(statement, 0), checks[i].what);
		else if (result != SQLITE_DONE)
			err = database_error(database, ERR_STORE, error, "can't be read");
		sqlite3_finalize(statement);
		if (err != ERR_NONE)
			return err;
	}
	return ERR_NONE;
}

/* Pass all rows of a SELECT to the callback. */
static enum err read_all(struct database *database, enum row_table table, const char *from, store_load_cb *row_cb, void *arg,
			 struct error *error)
{
	sqlite3_stmt *statement = NULL;
	int result = SQLITE_DONE;
	struct row row;
	enum err err = prepare_select(database, table, false, from, &statement, error);

	while (err == ERR_NONE && (result = sqlite3_step(statement)) == SQLITE_ROW) {
		read_row(statement, table, NULL, &row);
		err = row_cb(&row, arg, error);
	}
	if (err == ERR_NONE && result != SQLITE_DONE)
		err = database_error(database, ERR_STORE, error, "can't be read");
	sqlite3_finalize(statement);
	return err;
}

enum err read_artifacts(struct database *database, store_load_cb *job_cb, void *arg, struct error *error)
{
	return read_all(database, TABLE_job, "FROM job INDEXED BY job_artifacts WHERE length(artifacts) > 0", job_cb, arg, error);
}

enum err read_acts(struct database *database, store_load_cb *act_cb, void *arg, uint64_t *ret_counted, struct error *error)
{
	sqlite3_stmt *statement = NULL;
	enum err err = database_prepare(database, "SELECT value FROM meta WHERE name = 'acts'", &statement, error);

	if (err == ERR_NONE && sqlite3_step(statement) == SQLITE_ROW)
		*ret_counted = (uint64_t)sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return err != ERR_NONE ? err : read_all(database, TABLE_act, "FROM act ORDER BY act", act_cb, arg, error);
}

/* Check that the chain of acts is unbroken, from the first one kept to the latest (I20). */
enum err read_check_acts(struct database *database, struct error *error)
{
	uint8_t hash[SHA256_SIZE];
	uint64_t number = 0;
	sqlite3_stmt *statement = NULL;
	struct error why;
	struct row row;
	int result = SQLITE_DONE;
	enum err err = prepare_select(database, TABLE_act, false, "FROM act ORDER BY act", &statement, error);

	while (err == ERR_NONE && (result = sqlite3_step(statement)) == SQLITE_ROW) {
		read_row(statement, TABLE_act, NULL, &row);
		if (act_follows(&row.act, number, number ? hash : NULL, &why) != ERR_NONE) {
			err = error_set(error, ERR_STORE_TRUST, "%s: %s", database->path, why.text);
			break;
		}
		number = (uint64_t)row.act.act;
		memcpy(hash, row.act.hash.data, SHA256_SIZE);
	}
	if (err == ERR_NONE && result != SQLITE_DONE)
		err = database_error(database, ERR_STORE, error, "can't be read");
	sqlite3_finalize(statement);
	return err;
}

int read_one(struct database *database, enum store_what what, uint64_t run, uint64_t from, struct arena *arena, struct row *ret_row,
	     bool *ret_found)
{
	sqlite3_stmt *statement = database->read[what];
	int result;

	sqlite3_bind_int64(statement, 1, (int64_t)run);
	sqlite3_bind_int64(statement, 2, (int64_t)from);
	sqlite3_bind_int64(statement, 3, 1);
	result = sqlite3_step(statement);
	*ret_found = result == SQLITE_ROW;
	if (*ret_found)
		read_row(statement, reads[what].table, arena, ret_row);
	sqlite3_reset(statement);
	return result == SQLITE_ROW || result == SQLITE_DONE ? SQLITE_OK : result;
}

static int64_t limit_of(const struct store_query *query)
{
	if (reads[query->what].paged && (query->limit == 0 || query->limit > LIMIT_QUERY_ROWS_MAX))
		return LIMIT_QUERY_ROWS_MAX;
	/* A negative limit means no limit to SQLite. */
	return query->limit == 0 || query->limit > INT64_MAX ? -1 : (int64_t)query->limit;
}

static int64_t clamp(uint64_t number)
{
	return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

int read_answer(struct database *database, struct store_query *query)
{
	sqlite3_stmt *statement = database->read[query->what];
	int64_t run = clamp(query->run);
	struct row *rows = NULL;
	size_t cap = 0, bytes = 0;
	int result = SQLITE_DONE;

	/* READ_RUNS goes downwards from query->run; 0 means from the latest run. */
	if (query->what == READ_RUNS && query->run == 0)
		run = INT64_MAX;
	if (query->what == READ_EVENTS && query->from == 0 && query->since_ms > 0) {
		int64_t turn = 0;

		result = events_turn_at(database, query->since_ms, &turn);
		if (result != SQLITE_OK)
			return result;
		query->from = (uint64_t)turn;
	}
	sqlite3_bind_int64(statement, 1, run);
	sqlite3_bind_int64(statement, 2, clamp(query->from));
	sqlite3_bind_int64(statement, 3, limit_of(query));
	query->row_count = 0;
	while ((query->more = bytes > EVENTS_BYTES) == false && (result = sqlite3_step(statement)) == SQLITE_ROW) {
		if (query->row_count == cap) {
			cap = cap ? cap * 2 : 16;
			rows = mem_resize(rows, cap, sizeof(*rows));
		}
		read_row(statement, reads[query->what].table, &query->arena, &rows[query->row_count++]);
		bytes += query->what == READ_EVENTS ? rows[query->row_count - 1].event.body.len : 0;
	}
	result = query->more ? SQLITE_DONE : result;
	query->more |= (int64_t)query->row_count == limit_of(query);
	sqlite3_reset(statement);
	query->rows = arena_alloc(&query->arena, query->row_count * sizeof(*rows) + 1);
	if (query->row_count > 0)
		memcpy(query->rows, rows, query->row_count * sizeof(*rows));
	mem_free(rows);
	result = result == SQLITE_DONE ? SQLITE_OK : result;
	if (result == SQLITE_OK && query->what == READ_EVENTS)
		result = events_complete(database, query);
	return result == SQLITE_OK && query->wants_owners ? owners_read(database, query) : result;
}
