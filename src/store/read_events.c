/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Adds what people want to know about the events in a page of turns: the names of jobs, and the acts in words. The rows
 * of events have only numbers, because each transition of a job writes one.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "proto/message.h"
#include "store/database.h"

struct numbers {
	uint64_t *at;
	size_t count, cap;
};

static void numbers_add(struct numbers *numbers, uint64_t number)
{
	if (numbers->count > 0 && numbers->at[numbers->count - 1] == number)
		return;
	if (numbers->count == numbers->cap) {
		numbers->cap = numbers->cap ? numbers->cap * 2 : 64;
		numbers->at = mem_resize(numbers->at, numbers->cap, sizeof(*numbers->at));
	}
	numbers->at[numbers->count++] = number;
}

static int compare_cb(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static void numbers_sort(struct numbers *numbers)
{
	size_t kept = 0;

	if (numbers->count > 1)
		qsort(numbers->at, numbers->count, sizeof(*numbers->at), compare_cb);
	for (size_t i = 0; i < numbers->count; i++)
		if (kept == 0 || numbers->at[kept - 1] != numbers->at[i])
			numbers->at[kept++] = numbers->at[i];
	numbers->count = kept;
}

/* Collect the numbers of the jobs and acts in the first records of these bodies. */
static void bodies_read(const struct store_query *query, struct numbers *jobs, struct numbers *acts)
{
	uint64_t at = 0, end = query->skip + EVENTS_MOST;
	struct arena arena = { 0 };
	struct rec_happening happening;
	struct rec_event event;

	for (size_t i = 0; i < query->row_count && at < end; i++) {
		struct slice body = query->rows[i].event.body;

		for (; body.len > 0 && at < end; at++) {
			bool other = happening_is_next(body);

			if (record_decode(other ? REC_happening : REC_event, &body, &arena, other ? (void *)&happening : &event, NULL) !=
			    ERR_NONE)
				break;
			if (at < query->skip)
				continue;
			if (!other)
				numbers_add(jobs, event.job);
			else if (happening.kind == HAPPENED_ACT)
				numbers_add(acts, happening.number);
		}
		arena_reset(&arena);
	}
	arena_free(&arena);
	numbers_sort(jobs);
	numbers_sort(acts);
}

static int jobs_read(struct database *database, struct store_query *query, const struct numbers *jobs)
{
	int result = SQLITE_OK;

	query->jobs = arena_alloc(&query->arena, jobs->count * sizeof(*query->jobs) + 1);
	query->job_count = 0;
	for (size_t i = 0; i < jobs->count && result == SQLITE_OK; i++) {
		struct store_job *job = &query->jobs[query->job_count];
		struct row row;
		bool found;

		result = read_one(database, READ_JOB, 0, jobs->at[i], &query->arena, &row, &found);
		if (result != SQLITE_OK || !found)
			continue;
		job->row = row.job;
		result = job_name_read(database, (uint64_t)row.job.run, jobs->at[i], &query->arena, &job->name);
		query->job_count++;
	}
	return result;
}

static int acts_read(struct database *database, struct store_query *query, const struct numbers *acts)
{
	struct row *rows = arena_alloc(&query->arena, (query->row_count + acts->count) * sizeof(*rows) + 1);
	int result = SQLITE_OK;

	if (query->row_count > 0)
		memcpy(rows, query->rows, query->row_count * sizeof(*rows));
	query->rows = rows;
	for (size_t i = 0; i < acts->count && result == SQLITE_OK; i++) {
		bool found;

		result = read_one(database, READ_ACTS, 0, acts->at[i], &query->arena, &rows[query->row_count], &found);
		/* the act may have been pruned; then the query finds the next one */
		if (result == SQLITE_OK && found && (uint64_t)rows[query->row_count].act.act == acts->at[i])
			query->row_count++;
	}
	return result;
}

int events_complete(struct database *database, struct store_query *query)
{
	struct numbers jobs = { 0 }, acts = { 0 };
	int result;

	bodies_read(query, &jobs, &acts);
	result = jobs_read(database, query, &jobs);
	if (result == SQLITE_OK)
		result = acts_read(database, query, &acts);
	mem_free(jobs.at);
	mem_free(acts.at);
	return result;
}

static void runs_named(const struct store_query *query, struct numbers *runs)
{
	struct arena arena = { 0 };
	struct rec_happening happening;
	struct rec_event event;

	for (size_t i = 0; i < query->job_count; i++)
		numbers_add(runs, (uint64_t)query->jobs[i].row.run);
	for (size_t i = 0; i < query->row_count; i++) {
		struct slice body = query->rows[i].event.body;

		if (query->rows[i].table == TABLE_act)
			numbers_add(runs, (uint64_t)query->rows[i].act.run);
		while (query->rows[i].table == TABLE_event && body.len > 0) {
			bool other = happening_is_next(body);

			if (record_decode(other ? REC_happening : REC_event, &body, &arena, other ? (void *)&happening : &event, NULL) !=
			    ERR_NONE)
				break;
			if (other && (happening.kind == HAPPENED_RUN_BEGAN || happening.kind == HAPPENED_RUN_ENDED ||
				      happening.kind == HAPPENED_RUN_PRUNED || happening.kind == HAPPENED_SCHEDULE_FIRED))
				numbers_add(runs, happening.number);
		}
		arena_reset(&arena);
	}
	arena_free(&arena);
	numbers_sort(runs);
}

int owners_read(struct database *database, struct store_query *query)
{
	struct numbers runs = { 0 };
	int result = SQLITE_OK;

	runs_named(query, &runs);
	query->owners = arena_alloc(&query->arena, runs.count * sizeof(*query->owners) + 1);
	for (size_t i = 0; i < runs.count && result == SQLITE_OK; i++) {
		struct store_owner *owner = &query->owners[query->owner_count];
		struct row row;
		bool found;

		*owner = (struct store_owner){ .run = runs.at[i] };
		result = read_one(database, READ_RUN, runs.at[i], 0, &query->arena, &row, &found);
		if (result == SQLITE_OK && found) {
			owner->owner = row.run.owner;
			query->owner_count++;
			continue;
		}
		if (result == SQLITE_OK)
			result = read_one(database, READ_PRUNED, 0, runs.at[i], &query->arena, &row, &found);
		if (result == SQLITE_OK && found && (uint64_t)row.pruned_run.run == runs.at[i]) {
			owner->owner = row.pruned_run.owner;
			query->owner_count++;
		}
	}
	mem_free(runs.at);
	return result;
}

int events_turn_at(struct database *database, int64_t wall_ms, int64_t *ret_turn)
{
	struct row row;
	bool found;
	uint64_t low = 0, high;
	int result = read_one(database, READ_TURNS_DOWN, 0, INT64_MAX, NULL, &row, &found);

	high = result == SQLITE_OK && found ? (uint64_t)row.event.turn + 1 : 0;
	/* Turns are numbered in the order of time, so halve the range of possible numbers. */
	while (result == SQLITE_OK && low < high) {
		uint64_t middle = low + (high - low) / 2;

		result = read_one(database, READ_TURNS, 0, middle, NULL, &row, &found);
		if (result == SQLITE_OK && found && row.event.wall_ms < wall_ms)
			low = (uint64_t)row.event.turn + 1;
		else
			high = middle;
	}
	*ret_turn = (int64_t)low;
	return result;
}
