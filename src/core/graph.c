/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the parts of a graph as submitted to dense jobs and compact lists of children. Each
 * specification is decoded once; a graph that can't be right in every detail is refused whole.
 */
#include "core/internal.h"

struct builder {
	struct core *core;
	struct run *run;
	struct error *error;
	struct name_index names;
	uint32_t *edges;                 /* parent << TRIGGER_BITS | trigger, job after job */
	size_t edge_count, edge_cap;
	bool backward;                   /* some job needs a later one: there may be a cycle */
};

static enum err job_name_claim(struct builder *builder, struct slice name, uint32_t index)
{
	size_t slot;
	uint32_t other = name_index_find(&builder->names, builder->run, name, &slot);

	if (other != UINT32_MAX)
		return error_set(builder->error, ERR_DUPLICATE, "job %u '%.*s': name: job %u has it already",
				 index, (int)name.len, (const char *)name.data, other);
	name_index_put(&builder->names, slot, name, index);
	return ERR_NONE;
}

static enum err job_edges_add(struct builder *builder, const struct rec_job_spec *spec, struct job *job)
{
	if (spec->needs.n > UINT32_MAX - builder->edge_count)
		return error_set(builder->error, ERR_TOO_LARGE,
				 "job %u: needs: too many dependencies in the run", job->index);
	for (size_t i = 0; i < spec->needs.n; i++) {
		uint32_t parent = (uint32_t)spec->needs.at[i];
		uint32_t trigger = spec->triggers.n ? (uint32_t)spec->triggers.at[i] : TRIGGER_OK;

		GROW(builder->edges, builder->edge_count, builder->edge_cap);
		builder->edges[builder->edge_count++] = parent << TRIGGER_BITS | trigger;
		builder->run->child_start[parent + 1]++;
		builder->backward |= parent > job->index;
	}
	job->pending = (uint32_t)spec->needs.n;
	return ERR_NONE;
}

static enum err job_build(struct builder *builder, uint32_t index, struct slice *bytes)
{
	struct core *core = builder->core;
	struct job *job = &builder->run->jobs[index];
	struct slice before = *bytes;
	struct rec_job_spec spec;
	struct error why;
	enum err err;

	arena_reset(&core->scratch);
	err = record_decode(REC_job_spec, bytes, &core->scratch, &spec, &why);
	if (err != ERR_NONE)
		return error_set(builder->error, err, "job %u: %s", index, why.text);
	if (before.len - bytes->len > LIMIT_JOB_SPEC_MAX)
		return error_set(builder->error, ERR_TOO_LARGE, "job %u: its specification is too long",
				 index);
	err = spec_check(&spec, index, builder->run->job_count, builder->error);
	if (err != ERR_NONE)
		return err;
	*job = (struct job){
		.run = builder->run, .spec = before.data, .spec_len = (uint32_t)(before.len - bytes->len),
		.index = index, .state = STATE_WAITING,
		.mode = (uint8_t)spec.mode,
		.priority = (uint8_t)(spec.priority ? spec.priority - 1 : PRIORITY_DEFAULT),
		.flags = spec.timeout_ms ? JOB_TIMEOUT : 0,
	};
	if (spec.delay_ms > 0 || spec.not_before_ms > 0 || spec.gate_count > 0)
		job->flags |= JOB_STAGED;
	err = class_of(core, builder->run, spec.labels, &job->class_at, builder->error);
	if (err == ERR_NONE)
		err = group_join(builder->run, job, &spec, builder->error);
	if (err == ERR_NONE)
		err = job_edges_add(builder, &spec, job);
	if (err != ERR_NONE)
		return err;
	return job_name_claim(builder, spec.name, index);
}

static enum err jobs_build(struct builder *builder)
{
	struct run *run = builder->run;
	uint32_t index = 0;
	enum err err;

	for (uint32_t part = 0; part < run->part_count; part++) {
		struct slice bytes = blob_slice(run->parts[part]);

		for (uint32_t i = 0; i < run->part_jobs[part]; i++) {
			if (bytes.len == 0)
				return error_set(builder->error, ERR_INVALID,
						 "part %u has %u jobs instead of %u", part, i,
						 run->part_jobs[part]);
			err = job_build(builder, index++, &bytes);
			if (err != ERR_NONE)
				return err;
		}
		if (bytes.len > 0)
			return error_set(builder->error, ERR_INVALID, "part %u has bytes behind its %u jobs",
					 part, run->part_jobs[part]);
	}
	return ERR_NONE;
}

/* Counts become starts. While a list is filled its start is a cursor, and ends where the next begins. */
static void children_build(struct builder *builder)
{
	struct run *run = builder->run;
	uint32_t *start = run->child_start;
	size_t edge = 0;

	for (uint32_t i = 0; i < run->job_count; i++)
		start[i + 1] += start[i];
	run->children = mem_alloc((builder->edge_count ? builder->edge_count : 1) * sizeof(*run->children));
	for (uint32_t i = 0; i < run->job_count; i++) {
		for (uint32_t n = run->jobs[i].pending; n > 0; n--, edge++) {
			uint32_t parent = builder->edges[edge] >> TRIGGER_BITS;
			uint32_t trigger = builder->edges[edge] & ((1U << TRIGGER_BITS) - 1);

			run->children[start[parent]++] = i << TRIGGER_BITS | trigger;
		}
	}
	memmove(start + 1, start, run->job_count * sizeof(*start));
	start[0] = 0;
}

enum err graph_build(struct core *core, struct run *run, struct error *error)
{
	struct builder builder = { .core = core, .run = run, .error = error };
	enum err err;

	run->jobs = mem_alloc(run->job_count * sizeof(*run->jobs));
	run->child_start = mem_array((size_t)run->job_count + 1, sizeof(*run->child_start));
	name_index_init(&builder.names, run->job_count, core->hash_seed);
	err = jobs_build(&builder);
	if (err == ERR_NONE) {
		children_build(&builder);
		run->counts[STATE_WAITING] = run->job_count;
	}
	name_index_free(&builder.names);
	mem_free(builder.edges);
	if (err == ERR_NONE && builder.backward)
		err = graph_check_cycle(core, run, error);
	return err;
}

void run_free(struct run *run)
{
	if (!run)
		return;
	for (uint32_t i = 0; i < run->part_count; i++)
		blob_release(run->parts[i]);
	if (run->names)
		name_index_free(run->names);
	mem_free(run->names);
	mem_free(run->parts);
	mem_free(run->part_jobs);
	mem_free(run->jobs);
	mem_free(run->child_start);
	mem_free(run->children);
	mem_free(run->classes);
	run_free_bounds(run);
	mem_free(run->name);
	mem_free(run->owner);
	mem_free(run);
}
