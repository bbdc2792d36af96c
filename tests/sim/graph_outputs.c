/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that put out values. What an attempt puts out follows from its job and epoch, so the part that models the worker's file and
 * the oracle agree without memory.
 */
#include "sim.h"

#include <stdio.h>

#include "proto/job_output.h"

/*
 * Use the second output of an earlier job, and its first one, whether this job needs that job or not. In a sub-run the second
 * is that of a job of a run around it, if that has a job of this name.
 */
static void take_some(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	char text[80];

	if (index == 0 || rand_below(rand, 3))
		return;
	job->takes.n = 2;
	job->takes.at = arena_zalloc(&graph->arena, job->takes.n, sizeof(struct slice));
	for (size_t i = 0; i < job->takes.n; i++) {
		struct slice name = graph->jobs[rand_below(rand, index)].name;

		if (i && graph->within > 0)
			snprintf(text, sizeof(text), "V1=%sj%u/first", graph->within > 1 && rand_below(rand, 3) == 0 ? "../../" : "../",
				 (unsigned)rand_below(rand, 4));
		else
			snprintf(text, sizeof(text), "V%zu=%.*s/%s", i, (int)name.len, (const char *)name.data, i ? "first" : "second");
		job->takes.at[i] = arena_copy(&graph->arena, slice_str(text));
	}
}

static void put_out(struct sim_graph *graph, struct rec_job_spec *job, size_t count)
{
	job->outputs.n = count;
	job->outputs.at = arena_zalloc(&graph->arena, count, sizeof(struct slice));
	for (size_t i = 0; i < count; i++)
		job->outputs.at[i] = slice_str(i ? "second" : "first");
}

void job_puts_out(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	if (!job->argv.n)
		return;
	take_some(rand, graph, job, index);
	put_out(graph, job, 1 + rand_below(rand, 2));
}

/* Name some neighbouring jobs like those of a fan-out, and let a later job use what they put out. */
void graph_fan_outputs(struct rand_state *rand, struct sim_graph *graph)
{
	uint32_t size = 2 + (uint32_t)rand_below(rand, 3), first, user;
	struct slice *takes;
	char text[48];

	if (graph->into || graph->count <= size)
		return;
	first = (uint32_t)rand_below(rand, graph->count - size);
	user = first + size + (uint32_t)rand_below(rand, graph->count - first - size);
	if (!graph->jobs[user].argv.n)
		return;
	for (uint32_t i = 0; i < size; i++) {
		struct rec_job_spec *job = &graph->jobs[first + i];

		snprintf(text, sizeof(text), "f[%u]", i);
		job->name = arena_copy(&graph->arena, slice_str(text));
		if (job->argv.n && job->outputs.n == 0)
			put_out(graph, job, 1);
	}
	takes = arena_zalloc(&graph->arena, graph->jobs[user].takes.n + 1, sizeof(*takes));
	for (size_t i = 0; i < graph->jobs[user].takes.n; i++)
		takes[i] = graph->jobs[user].takes.at[i];
	takes[graph->jobs[user].takes.n] = slice_str("W0=f/first");
	graph->jobs[user].takes = (struct slice_list){ takes, graph->jobs[user].takes.n + 1 };
}

void job_computes(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, const struct rec_job_spec *from)
{
	char text[LIMIT_NAME_MAX_LEN + 16];

	if (from->outputs.n == 0 || rand_below(rand, 2))
		return;
	snprintf(text, sizeof(text), "c=%s${%.*s/first}", rand_below(rand, 2) ? "" : "$$", (int)from->name.len, (const char *)from->name.data);
	job->computes.at = arena_zalloc(&graph->arena, 1, sizeof(struct slice));
	job->computes.at[job->computes.n++] = arena_copy(&graph->arena, slice_str(text));
}

enum sim_outputs sim_outputs_kind(uint64_t job, uint64_t epoch)
{
	switch ((job * 7 + epoch) % 9) {
	case 0:
		return SIM_OUTPUTS_MISSING;
	case 1:
		return SIM_OUTPUTS_WRONG;
	case 2:
		return SIM_OUTPUTS_UNDECLARED;
	default:
		return SIM_OUTPUTS_RIGHT;
	}
}

void sim_outputs(const struct rec_job_spec *spec, uint64_t job, uint64_t epoch, struct buf *out)
{
	enum sim_outputs kind = sim_outputs_kind(job, epoch);
	struct rec_job_output wrong = { .line = 3, .fault = OUTPUT_SYNTAX };
	char value[64];

	if (kind == SIM_OUTPUTS_WRONG) {
		record_encode(out, REC_job_output, &wrong);
		return;
	}
	snprintf(value, sizeof(value), "%llu.%llu", (unsigned long long)job, (unsigned long long)epoch);
	for (size_t i = 0; i + (kind == SIM_OUTPUTS_MISSING) < spec->outputs.n; i++) {
		struct rec_job_output output = { .name = spec->outputs.at[i], .value = slice_str(value), .line = i + 1 };

		record_encode(out, REC_job_output, &output);
	}
	if (kind == SIM_OUTPUTS_UNDECLARED) {
		struct rec_job_output output = { .name = slice_str("third"), .value = slice_str(value), .line = 9 };

		record_encode(out, REC_job_output, &output);
	}
}
