/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding a run's jobs by name. The index holds no names: a slot has 8 bytes, half a hash and the job's index; when
 * the halves match, the name is read from the job's specification. An index is built while a graph is admitted, and
 * again at the first look-up by name.
 */
#include "core/graph/graph.h"

#include "base/text.h"
#include "core/graph/internal.h"

void name_index_init(struct name_index *index, size_t names, uint64_t seed)
{
	size_t cap = 16;

	while (cap < names + names / 2)
		cap *= 2;
	index->slots = mem_array(cap, sizeof(*index->slots));
	index->mask = cap - 1;
	index->seed = seed;
}

void name_index_free(struct name_index *index)
{
	mem_free(index->slots);
	index->slots = NULL;
}

static bool job_has_name(const struct job *job, struct slice name)
{
	struct arena arena = { 0 };
	struct rec_job_spec spec;
	struct slice bytes = job_spec_bytes(job);
	bool same;

	CHECK(record_decode(REC_job_spec, &bytes, &arena, &spec, NULL) == ERR_NONE);
	same = slice_eq(spec.name, name);
	arena_free(&arena);
	return same;
}

uint32_t name_index_find(const struct name_index *index, const struct run *run, struct slice name,
			 size_t *ret_slot)
{
	uint64_t hash = hash_bytes(name.data, name.len, index->seed);
	size_t slot = (size_t)hash & index->mask;

	for (; index->slots[slot] != 0; slot = (slot + 1) & index->mask) {
		uint32_t job = (uint32_t)index->slots[slot] - 1;

		if (index->slots[slot] >> 32 == hash >> 32 && job_has_name(run_job(run, job), name))
			return job;
	}
	if (ret_slot)
		*ret_slot = slot;
	return UINT32_MAX;
}

void name_index_put(struct name_index *index, size_t slot, struct slice name, uint32_t job)
{
	uint64_t hash = hash_bytes(name.data, name.len, index->seed);

	index->slots[slot] = hash >> 32 << 32 | (job + 1);
}

/* Build the index for the jobs before index end; later ones may not be built yet. */
static void run_names_build(const struct core *core, struct run *run, uint32_t end)
{
	struct arena arena = { 0 };
	struct rec_job_spec spec;
	size_t slot;

	run->names = mem_zalloc(sizeof(*run->names));
	/* Make the index of a run that has grown twice as large: the run may grow again. */
	name_index_init(run->names, run->extent_count > 1 ? 2 * (size_t)run->job_count : run->job_count, core->hash_seed);
	for (uint32_t i = 0; i < end; i++) {
		struct slice bytes = job_spec_bytes(run_job(run, i));

		arena_reset(&arena);
		CHECK(record_decode(REC_job_spec, &bytes, &arena, &spec, NULL) == ERR_NONE);
		CHECK(name_index_find(run->names, run, spec.name, &slot) == UINT32_MAX);
		name_index_put(run->names, slot, spec.name, i);
	}
	arena_free(&arena);
}

/* Add new jobs to the index. A small index is rebuilt, so that it is at most two thirds full. */
void names_added(const struct core *core, struct run *run, const struct extent *extent)
{
	struct arena arena = { 0 };
	struct rec_job_spec spec;
	size_t slot;

	if (!run->names)
		return;
	if ((size_t)run->job_count + run->job_count / 2 > run->names->mask) {
		name_index_free(run->names);
		mem_free(run->names);
		run_names_build(core, run, run->job_count);
		return;
	}
	for (uint32_t i = 0; i < extent->count; i++) {
		struct slice bytes = job_spec_bytes(&extent->jobs[i]);

		arena_reset(&arena);
		CHECK(record_decode(REC_job_spec, &bytes, &arena, &spec, NULL) == ERR_NONE);
		CHECK(name_index_find(run->names, run, spec.name, &slot) == UINT32_MAX);
		name_index_put(run->names, slot, spec.name, extent->start + i);
	}
	arena_free(&arena);
}

struct job *run_job_named_before(const struct core *core, struct run *run, struct slice name, uint32_t end)
{
	uint32_t at;

	if (!text_is_job_name(name))
		return NULL;
	if (!run->names)
		run_names_build(core, run, end);
	at = name_index_find(run->names, run, name, NULL);
	return at == UINT32_MAX ? NULL : run_job(run, at);
}

struct job *run_job_named(const struct core *core, struct run *run, struct slice name)
{
	return run_job_named_before(core, run, name, run->job_count);
}
