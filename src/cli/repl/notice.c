/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares each row with the row before, and keeps a short text for changes that people want to hear of. */
#include "cli/repl/notice.h"

#include <stdarg.h>

#include "base/mem.h"
#include "base/text.h"
#include "proto/states.h"

struct known_run {
	bool failed;
	uint64_t asking;                 /* number of the run's gates that wait for people */
};

struct known_worker {
	bool lost;
};

static void *known(struct map *map, uint64_t number, size_t size, bool *ret_new)
{
	void *value = map_get(map, number);

	*ret_new = value == NULL;
	if (value == NULL) {
		value = mem_zalloc(size);
		map_put(map, number, value);
	}
	return value;
}

__attribute__((format(printf, 2, 3))) static void tell(struct notices *notices, const char *format, ...)
{
	struct buf line = { 0 };
	va_list args;

	if (notices->count == NOTICES_AT_ONCE) {
		notices->more++;
		return;
	}
	va_start(args, format);
	buf_addf_args(&line, format, args);
	va_end(args);
	text_escape(&notices->lines, buf_slice(&line), TEXT_KEEP_NONE);
	buf_add_byte(&notices->lines, '\n');
	notices->count++;
	buf_free(&line);
}

static uint64_t count_of(const struct u64_list *counts, enum job_state state)
{
	return (size_t)state < counts->n ? counts->at[state] : 0;
}

static void run_news(struct notices *notices, const struct rec_run_row *row, struct known_run *before)
{
	uint64_t asking = count_of(&row->counts, STATE_APPROVAL);
	uint64_t bad = count_of(&row->counts, STATE_FAILED) + count_of(&row->counts, STATE_TIMED_OUT);
	bool failed = row->state == RUN_FAILED;
	const char *name = (const char *)row->name.data;
	int len = (int)row->name.len;
	bool silent = notices->silent_ms > 0 && row->submitted_ms >= notices->silent_ms;

	if (failed && !before->failed && !silent)
		tell(notices, "%s run %llu %.*s failed: %llu of %llu jobs    show %llu", notices->utf8 ? "✗" : "x",
		     (unsigned long long)row->run, len, name, (unsigned long long)bad, (unsigned long long)row->jobs,
		     (unsigned long long)row->run);
	if (asking > before->asking)
		tell(notices, "%s run %llu %.*s waits for people    approvals %llu", notices->utf8 ? "⚑" : "?",
		     (unsigned long long)row->run, len, name, (unsigned long long)row->run);
}

void notices_runs(struct notices *notices, const struct rec_run_row *rows, size_t count, bool news)
{
	for (size_t i = 0; i < count; i++) {
		bool new;
		struct known_run *run = known(&notices->runs, rows[i].run, sizeof(*run), &new);

		if (news)
			run_news(notices, &rows[i], run);
		run->failed = rows[i].state == RUN_FAILED;
		run->asking = count_of(&rows[i].counts, STATE_APPROVAL);
		/* A run that ended well is forgotten: there is no more news of it unless a person opens a new round. */
		if (rows[i].ended_ms > 0 && !run->failed) {
			map_remove(&notices->runs, rows[i].run);
			mem_free(run);
		}
	}
}

void notices_workers(struct notices *notices, const struct rec_worker_row *rows, size_t count, bool news)
{
	for (size_t i = 0; i < count; i++) {
		bool new, lost = rows[i].state == WORKER_LOST;
		struct known_worker *worker = known(&notices->workers, rows[i].worker, sizeof(*worker), &new);

		if (news && !new && lost && !worker->lost)
			tell(notices, "? worker %.*s is lost    worker ls", (int)rows[i].name.len, (const char *)rows[i].name.data);
		worker->lost = lost;
	}
}

void notices_counts(struct notices *notices, const struct u64_list *counts)
{
	if (counts->n > 0)
		notices->waiting = count_of(counts, STATE_APPROVAL);
}

void notices_take(struct notices *notices, struct buf *out)
{
	buf_add_slice(out, buf_slice(&notices->lines));
	if (notices->more > 0)
		buf_addf(out, "... and %zu more    ls, approvals\n", notices->more);
	buf_clear(&notices->lines);
	notices->count = notices->more = 0;
}

static void forget(struct map *map)
{
	size_t cursor = 0;
	uint64_t number;
	void *value;

	while (map_next(map, &cursor, &number, &value))
		mem_free(value);
	map_free(map);
}

void notices_free(struct notices *notices)
{
	buf_free(&notices->lines);
	forget(&notices->runs);
	forget(&notices->workers);
}
