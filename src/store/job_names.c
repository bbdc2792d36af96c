/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds names of jobs by their numbers. A name is in the specification of the job's run, in one of its parts, behind
 * the jobs before it. So the names of recently read parts are kept. Parts never change: a run only gets further ones.
 */
#include "store/database.h"

#include "base/map.h"
#include "base/mem.h"
#include "proto/message.h"

#define NAMES_BYTES_MAX (8u << 20)       /* when the names need more memory than this, all are dropped */

struct part_names {
	int64_t part;
	uint64_t first, count;           /* numbers of the part's jobs */
	struct slice *names;             /* NULL: the names weren't read yet */
};

struct run_names {
	struct part_names *parts;
	size_t count;
};

struct job_names {
	struct map runs;                 /* from a run's number to struct run_names */
	struct arena arena;
	size_t bytes;
};

static void names_clear(struct job_names *names)
{
	map_free(&names->runs);
	arena_reset(&names->arena);
	names->bytes = 0;
}

void job_names_free(struct job_names *names)
{
	if (!names)
		return;
	map_free(&names->runs);
	arena_free(&names->arena);
	mem_free(names);
}

static void *names_alloc(struct job_names *names, size_t size)
{
	names->bytes += size;
	return arena_alloc(&names->arena, size);
}

/* Read which jobs each part of the run has. */
static int run_read(struct database *database, uint64_t run, struct run_names **ret_run)
{
	struct job_names *names = database->job_names;
	struct store_query query = { .what = READ_RUN };
	struct store_query parts = { .what = READ_RUN_PARTS, .run = run };
	struct run_names *read = NULL;
	uint64_t first;
	int result;

	query.run = run;
	result = read_answer(database, &query);
	if (result == SQLITE_OK && query.row_count > 0)
		result = read_answer(database, &parts);
	if (result == SQLITE_OK && parts.row_count > 0) {
		read = names_alloc(names, sizeof(*read));
		*read = (struct run_names){ .count = parts.row_count };
		read->parts = names_alloc(names, parts.row_count * sizeof(*read->parts));
		first = (uint64_t)query.rows[0].run.first;
		for (size_t i = 0; i < parts.row_count; i++) {
			const struct row_spec *part = &parts.rows[i].spec;

			first = part->first > 0 ? (uint64_t)part->first : first;
			read->parts[i] = (struct part_names){ .part = part->part, .first = first, .count = (uint64_t)part->count };
			first += (uint64_t)part->count;
		}
		map_put(&names->runs, run, read);
	}
	arena_free(&query.arena);
	arena_free(&parts.arena);
	*ret_run = read;
	return result;
}

static struct part_names *part_of(const struct run_names *run, uint64_t job)
{
	for (size_t i = 0; run && i < run->count; i++)
		if (job >= run->parts[i].first && job - run->parts[i].first < run->parts[i].count)
			return &run->parts[i];
	return NULL;
}

static int part_read(struct database *database, uint64_t run, struct part_names *part)
{
	struct job_names *names = database->job_names;
	struct arena arena = { 0 };
	struct rec_job_spec spec;
	struct row row;
	bool found;
	int result = read_one(database, READ_SPECS, run, (uint64_t)part->part, &arena, &row, &found);

	if (result == SQLITE_OK && found && row.spec.part == part->part) {
		struct slice body = row.spec.body;

		part->names = names_alloc(names, part->count * sizeof(*part->names));
		memset(part->names, 0, part->count * sizeof(*part->names));
		for (uint64_t i = 0; i < part->count && record_decode(REC_job_spec, &body, &arena, &spec, NULL) == ERR_NONE; i++) {
			names->bytes += spec.name.len;
			part->names[i] = arena_copy(&names->arena, spec.name);
		}
	}
	arena_free(&arena);
	return result;
}

int job_name_read(struct database *database, uint64_t run, uint64_t job, struct arena *arena, struct slice *ret_name)
{
	struct job_names *names = database->job_names;
	struct part_names *part;
	struct run_names *known;
	int result = SQLITE_OK;

	*ret_name = (struct slice){ 0 };
	if (!names)
		names = database->job_names = mem_zalloc(sizeof(*names));
	if (names->bytes > NAMES_BYTES_MAX)
		names_clear(names);
	known = map_get(&names->runs, run);
	part = part_of(known, job);
	if (!part) {
		result = run_read(database, run, &known);
		part = part_of(known, job);
	}
	if (result == SQLITE_OK && part && !part->names)
		result = part_read(database, run, part);
	if (result == SQLITE_OK && part && part->names)
		*ret_name = arena_copy(arena, part->names[job - part->first]);
	return result;
}
