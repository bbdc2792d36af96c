/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Build dense jobs and compact child lists from the parts of a submitted graph. Each specification is decoded once. A
 * graph with any fault is refused as a whole.
 */
#include "core/graph/graph.h"

#include "core/graph/internal.h"
#include "core/people/people.h"
#include "core/queue/queue.h"
#include "proto/input.h"

struct builder {
	struct core *core;
	struct run *run;
	struct extent *extent;
	struct error *error;
	struct name_index names;
	struct map fanouts;
	struct buf here;                 /* the submitter's directory, from context_here */
	uint32_t *edges;                 /* edges as parent << TRIGGER_BITS | trigger, grouped by child */
	size_t edge_count, edge_cap;
	struct edge *outer;
	size_t outer_count, outer_cap;
	struct plain_class plain;
	bool backward; /* true: some job needs a job with a higher index, so the graph may have a cycle */
};

static enum err job_name_claim(struct builder *builder, struct slice name, uint32_t index)
{
	size_t slot;
	uint32_t other = name_index_find(&builder->names, builder->run, name, &slot);

	if (other == UINT32_MAX && builder->extent->start > 0) {
		const struct job *before = run_job_named_before(builder->core, builder->run, name, builder->extent->start);

		other = before ? before->index : UINT32_MAX;
	}
	if (other < builder->extent->start)
		return error_set(builder->error, ERR_DUPLICATE, "run %llu already has a job '%.*s'; give the added "
			"job another name", (unsigned long long)builder->run->number, (int)name.len,
				 (const char *)name.data);
	if (other != UINT32_MAX)
		return error_set(builder->error, ERR_DUPLICATE, "job %u '%.*s': name: job %u already has this name",
				 index, (int)name.len, (const char *)name.data, other);
	name_index_put(&builder->names, slot, name, index);
	return ERR_NONE;
}

static enum err job_edges_add(struct builder *builder, const struct rec_job_spec *spec, struct job *job)
{
	const struct extent *extent = builder->extent;

	if (spec->needs.n > UINT32_MAX - builder->edge_count)
		return error_set(builder->error, ERR_TOO_LARGE,
				 "job %u: needs: the run has too many dependencies", job->index);
	for (size_t i = 0; i < spec->needs.n; i++) {
		uint32_t parent = (uint32_t)spec->needs.at[i];
		uint32_t trigger = spec->triggers.n ? (uint32_t)spec->triggers.at[i] : TRIGGER_OK;

		if (parent < extent->start) {
			GROW(builder->outer, builder->outer_count, builder->outer_cap);
			builder->outer[builder->outer_count++] =
				(struct edge){ .parent = parent, .child = job->index << TRIGGER_BITS | trigger };
			continue;
		}
		GROW(builder->edges, builder->edge_count, builder->edge_cap);
		builder->edges[builder->edge_count++] = parent << TRIGGER_BITS | trigger;
		extent->child_start[parent - extent->start + 1]++;
		builder->backward |= parent > job->index;
		/* count only parents of the same submit; later_add counts parents that the run already had */
		job->pending++;
	}
	return ERR_NONE;
}

static uint8_t job_priority(const struct run *run, const struct rec_job_spec *spec)
{
	if (spec->priority == 0 && run->priority == 0)
		return PRIORITY_DEFAULT;
	return (uint8_t)((spec->priority ? spec->priority : run->priority) - 1);
}

/*
 * Check a job's sub-run. This must be the last use of spec: the sub-run's graph is decoded in the same scratch
 * memory.
 */
static enum err subrun_build(struct builder *builder, struct job *job, const struct rec_job_spec *spec)
{
	extra_add(job);
	/* Rows being loaded were checked when submitted. */
	return builder->core->loaded ? subrun_check(builder->core, job, spec, builder->error) : ERR_NONE;
}

/* The submitter may read the contents that came with the graph: the jobs may have these files and no others. */
static enum err check_inputs(const struct builder *builder, const struct rec_job_spec *spec, uint32_t index)
{
	const struct input_submit *submit = builder->core->submit;
	struct slice rest = spec->inputs;
	struct arena arena = { 0 };
	enum err err = ERR_NONE;
	struct rec_input input;

	/* The contents of a schedule's files would have to be kept as long as the schedule. */
	if (submit && submit->schedule.len > 0)
		return error_set(builder->error, ERR_INVALID, "job %u '%.*s': the jobs of a schedule can't have files; let them get assets: titan asset get NAME", index,
				 (int)spec->name.len, (const char *)spec->name.data);
	while (err == ERR_NONE && submit && !submit->contents_known && input_next(&rest, &arena, &input))
		if (!inputs_have(submit->contents, &input))
			err = error_set(builder->error, ERR_INVALID, "job %u '%.*s': inputs: the content of %.*s isn't among those of the submit", index,
					(int)spec->name.len, (const char *)spec->name.data, (int)input.path.len, (const char *)input.path.data);
	arena_free(&arena);
	return err;
}

static void service_add(struct run *run, struct job *job)
{
	extra_add(job);
	run->services = mem_resize(run->services, run->service_count + 1, sizeof(*run->services));
	run->services[run->service_count++] = job->index;
}

/*
 * Refuse jobs that wait for the end of a service: it ends only when they have ended. Final jobs may, because a service
 * doesn't wait for them.
 */
static enum err services_check(const struct builder *builder)
{
	const struct run *run = builder->run;

	for (size_t i = 0; i < run->service_count; i++) {
		const struct job *service = run_job(run, run->services[i]);
		struct child_walk walk = children_of(service);
		uint32_t edge;

		if (service->flags & JOB_FINAL)
			return error_set(builder->error, ERR_INVALID, "job %u: a service can't be final or need a final job", service->index);
		while (child_next(&walk, &edge))
			if (!(run_job(run, edge >> TRIGGER_BITS)->flags & JOB_FINAL))
				return error_set(builder->error, ERR_INVALID, "job %u: needs: job %u is a service, which ends only when the other jobs of the run have ended",
						 edge >> TRIGGER_BITS, service->index);
	}
	for (size_t i = 0; run->service_count > 0 && i < builder->outer_count; i++)
		if (job_is_service(run_job(run, builder->outer[i].parent)) &&
		    !(run_job(run, builder->outer[i].child >> TRIGGER_BITS)->flags & JOB_FINAL))
			return error_set(builder->error, ERR_INVALID, "job %u: needs: job %u is a service, which ends only when the other jobs of the run have ended",
					 builder->outer[i].child >> TRIGGER_BITS, builder->outer[i].parent);
	return ERR_NONE;
}

static void work_count(struct run *run, const struct extent *extent)
{
	for (uint32_t i = 0; i < extent->count; i++) {
		run->work += job_is_work(&extent->jobs[i]);
		run->work_open += job_is_work(&extent->jobs[i]);
	}
}

static enum err job_build(struct builder *builder, uint32_t index, struct slice *bytes)
{
	struct core *core = builder->core;
	struct job *job = run_job(builder->run, index);
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
	err = spec_check(&spec, index, builder->extent, builder->error);
	/* A team of a graph that was admitted earlier may have gone since. */
	if (err == ERR_NONE && core->admitting)
		err = teams_check(core, &spec, index, builder->error);
	if (err == ERR_NONE && core->admitting && spec.inputs.len > 0)
		err = check_inputs(builder, &spec, index);
	if (err != ERR_NONE)
		return err;
	*job = (struct job){
		.run = builder->run, .spec = before.data, .spec_len = (uint32_t)(before.len - bytes->len),
		.index = index, .state = STATE_WAITING,
		.mode = (uint8_t)spec.mode & 3, .kind = (uint8_t)spec_kind(&spec) & 15,
		.priority = job_priority(builder->run, &spec),
		.flags = spec.timeout_ms ? JOB_TIMEOUT : 0,
	};
	if (spec.delay_ms > 0 || spec.not_before_ms > 0 || spec.gate_count > 0 || spec.dispatch_timeout_ms > 0)
		job->flags |= JOB_STAGED;
	if (spec.deadline_ms > 0 || spec.deadline_at_ms > 0)
		job->flags |= JOB_DUE_BY;
	if (spec.always != ALWAYS_NO || spec.final)
		job->flags |= JOB_ALWAYS;
	if (spec.final && builder->extent->start == 0)
		final_add(builder->run, job);
	err = class_of(core, builder->run, &spec, buf_slice(&builder->here), &builder->plain, &job->class_at, builder->error);
	if (err == ERR_NONE)
		err = lane_join(core, job, &spec, &builder->fanouts, builder->error);
	if (err == ERR_NONE)
		err = job_edges_add(builder, &spec, job);
	if (err != ERR_NONE)
		return err;
	if (spec.needs_code.len > 0 || spec.when_code.len > 0) {
		job->flags |= JOB_EXPR;
		condition_add(builder->run, job, &spec);
	}
	err = job_name_claim(builder, spec.name, index);
	if (err == ERR_NONE && spec.loop_max > 0) {
		job->flags |= JOB_LOOP;
		extra_add(job);
	}
	if (spec.takes.n > 0 || spec.artifacts_in.n > 0)
		job->flags |= JOB_TAKES;
	if (err == ERR_NONE && (spec.outputs.n > 0 || spec.artifacts.n > 0 || spec.gate_fields.n > 0 || spec.computes.n > 0)) {
		job->flags |= JOB_OUTPUTS;
		extra_add(job);
	}
	if (err == ERR_NONE && job_is_service(job))
		service_add(builder->run, job);
	if (err == ERR_NONE && job_is_subrun(job))
		err = subrun_build(builder, job, &spec);
	return err;
}

static enum err jobs_build(struct builder *builder)
{
	const struct run *run = builder->run;
	uint32_t index = builder->extent->start, end = builder->extent->part + builder->extent->part_count;
	enum err err;

	for (uint32_t part = builder->extent->part; part < end; part++) {
		struct slice bytes = blob_slice(run->parts[part]);

		for (uint32_t i = 0; i < run->part_jobs[part]; i++) {
			if (bytes.len == 0)
				return error_set(builder->error, ERR_INVALID,
						 "part %u of the graph has %u jobs instead of %u", part, i,
						 run->part_jobs[part]);
			err = job_build(builder, index++, &bytes);
			if (err != ERR_NONE)
				return err;
		}
		if (bytes.len > 0)
			return error_set(builder->error, ERR_INVALID, "part %u of the graph has more bytes than its %u jobs",
					 part, run->part_jobs[part]);
	}
	return ERR_NONE;
}

/*
 * Turn counts into start offsets. While the lists are filled, each start serves as a cursor that ends where the next
 * list begins.
 */
static void children_build(struct builder *builder)
{
	struct extent *extent = builder->extent;
	uint32_t *start = extent->child_start;
	size_t edge = 0;

	for (uint32_t i = 0; i < extent->count; i++)
		start[i + 1] += start[i];
	extent->children = mem_alloc((builder->edge_count ? builder->edge_count : 1) * sizeof(*extent->children));
	for (uint32_t i = 0; i < extent->count; i++) {
		for (uint32_t n = extent->jobs[i].pending; n > 0; n--, edge++) {
			uint32_t parent = (builder->edges[edge] >> TRIGGER_BITS) - extent->start;
			uint32_t trigger = builder->edges[edge] & ((1U << TRIGGER_BITS) - 1);

			extent->children[start[parent]++] = extent->jobs[i].index << TRIGGER_BITS | trigger;
		}
	}
	memmove(start + 1, start, extent->count * sizeof(*start));
	start[0] = 0;
}

static void later_add(struct builder *builder)
{
	struct run *run = builder->run;

	for (size_t i = 0; i < builder->outer_count; i++) {
		const struct edge *edge = &builder->outer[i];
		struct job *parent = run_job(run, edge->parent);

		later_put(run, edge->parent, edge->child);
		if (!state_terminal(parent->state))
			run_job(run, edge->child >> TRIGGER_BITS)->pending++;
		if (parent->state == STATE_APPROVAL)
			gate_changed(builder->core, parent);
	}
}

static struct extent *extent_new(struct run *run, uint64_t first, uint32_t parts)
{
	struct extent *extent = mem_zalloc(sizeof(*extent));

	extent->run = run;
	extent->first = first;
	extent->part_count = parts;
	if (run->extent_count > 0) {
		const struct extent *last = run->extents[run->extent_count - 1];

		extent->start = last->start + last->count;
		extent->part = last->part + last->part_count;
	}
	for (uint32_t part = 0; part < parts; part++)
		extent->count += run->part_jobs[extent->part + part];
	extent->jobs = mem_zalloc(extent->count * sizeof(*extent->jobs));
	extent->child_start = mem_array((size_t)extent->count + 1, sizeof(*extent->child_start));
	/* The capacity of run->extents is the next power of two, so it needs no field of its own. */
	if ((run->extent_count & (run->extent_count - 1)) == 0)
		run->extents = mem_resize(run->extents, run->extent_count ? 2 * (size_t)run->extent_count : 1,
					  sizeof(struct extent *));
	run->extents[run->extent_count++] = extent;
	run->job_count = extent->start + extent->count;
	return extent;
}

static void extent_free(struct extent *extent)
{
	mem_free(extent->jobs);
	mem_free(extent->child_start);
	mem_free(extent->children);
	mem_free(extent);
}

void part_drop(struct run *run)
{
	blob_release(run->parts[--run->part_count]);
	blob_release(run->part_context[run->part_count]);
}

void extent_drop(struct run *run)
{
	struct extent *extent = run->extents[--run->extent_count];

	while (run->part_count > extent->part)
		part_drop(run);
	extras_drop(run, extent->start);
	while (run->service_count > 0 && run->services[run->service_count - 1] >= extent->start)
		run->service_count--;
	run->job_count = extent->start;
	conditions_drop(run, extent->start);
	extent_free(extent);
}

void parts_room(struct run *run, size_t more)
{
	size_t count = run->part_count + more;

	if (count <= run->part_cap)
		return;
	/*
	 * Most runs are submitted at once, so room is exact at first; a run that grows may grow often, so it then
	 * doubles.
	 */
	run->part_cap = run->part_cap > 0 && count < 2 * run->part_cap ? 2 * run->part_cap : count;
	run->parts = mem_resize(run->parts, run->part_cap, sizeof(*run->parts));
	run->part_context = mem_resize(run->part_context, run->part_cap, sizeof(struct blob *));
	run->part_jobs = mem_resize(run->part_jobs, run->part_cap, sizeof(*run->part_jobs));
	run->part_first = mem_resize(run->part_first, run->part_cap, sizeof(*run->part_first));
}

static void conditions_begin(const struct run *run, const struct extent *extent)
{
	for (uint32_t i = 0; i < extent->count && run->condition_count > 0; i++)
		if (extent->jobs[i].flags & JOB_EXPR)
			job_ask_again(&extent->jobs[i]);
}

enum err graph_build(struct core *core, struct run *run, uint64_t first, uint32_t parts, struct error *error)
{
	struct builder builder = { .core = core, .run = run, .error = error };
	size_t lanes = run->lane_count, groups = run->group_count, classes = run->class_count;
	enum err err;

	builder.extent = extent_new(run, first, parts);
	name_index_init(&builder.names, builder.extent->count, core->hash_seed);
	context_here(blob_slice(run->part_context[builder.extent->part]), &builder.here);
	err = jobs_build(&builder);
	if (err == ERR_NONE) {
		children_build(&builder);
		if (builder.backward)
			err = graph_check_cycle(core, builder.extent, error);
	}
	if (err == ERR_NONE && run->final_count > 0) {
		finals_mark(run, builder.extent, builder.outer, builder.outer_count);
		if (run->extent_count > 1)
			err = finals_check(core, run, builder.extent, error);
	}
	if (err == ERR_NONE)
		err = services_check(&builder);
	if (err == ERR_NONE) {
		work_count(run, builder.extent);
		later_add(&builder);
		if (run->extent_count > 1)
			finals_wait(run, builder.extent);
		conditions_begin(run, builder.extent);
		run->counts[STATE_WAITING] += builder.extent->count;
		names_added(core, run, builder.extent);
	} else {
		extent_drop(run);
		run_drop_lanes(core, run, lanes, groups);
		run_release_classes(core, run, classes);
	}
	name_index_free(&builder.names);
	map_free(&builder.fanouts);
	buf_free(&builder.here);
	mem_free(builder.edges);
	mem_free(builder.outer);
	return err;
}

static void laters_free(struct run *run)
{
	size_t cursor = 0;
	uint64_t parent;
	void *value;

	while (map_next(&run->laters, &cursor, &parent, &value)) {
		mem_free(((struct later *)value)->at);
		mem_free(value);
	}
	map_free(&run->laters);
}

void run_free(struct run *run)
{
	if (!run)
		return;
	while (run->part_count > 0)
		part_drop(run);
	if (run->names)
		name_index_free(run->names);
	mem_free(run->names);
	mem_free(run->parts);
	mem_free(run->part_context);
	mem_free(run->part_jobs);
	mem_free(run->part_first);
	for (uint32_t i = 0; i < run->extent_count; i++)
		extent_free(run->extents[i]);
	mem_free(run->extents);
	conditions_drop(run, 0);
	extras_drop(run, 0);
	laters_free(run);
	mem_free(run->finals);
	mem_free(run->services);
	mem_free(run->classes);
	run_free_bounds(run);
	mem_free(run->name);
	mem_free(run->owner);
	mem_free(run->schedule);
	mem_free(run->parent_name);
	mem_free(run);
}
