/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the jobs of a run or schedule page by page, and gives each job the directory and variables of its context. */
#include "cli/ask/specs.h"

#include <string.h>

#include "cli/ask/query.h"
#include "proto/spec.h"

static bool is_named(const struct slice_list *env, struct slice entry)
{
	const uint8_t *equals = entry.len > 0 ? memchr(entry.data, '=', entry.len) : NULL;
	size_t len = equals ? (size_t)(equals + 1 - entry.data) : entry.len;

	for (size_t i = 0; i < env->n; i++)
		if (env->at[i].len >= len && memcmp(env->at[i].data, entry.data, len) == 0)
			return true;
	return false;
}

/*
 * Give a job the directory of its context if the job has none, and the context's variables that the job doesn't set.
 * whole: the graph has the same context, so its variables are in graph.env and aren't repeated in each job.
 */
static void share(struct cli *cli, const struct rec_run_context *context, bool whole, struct rec_job_spec *job)
{
	struct slice_list env = { .n = job->env.n };

	if (!(KIND_BIT(spec_kind(job)) & FOR_WORK))
		return;
	if (job->dir.len == 0)
		job->dir = context->dir;
	if (whole || context->env.n == 0)
		return;
	env.at = arena_alloc(&cli->arena, (job->env.n + context->env.n) * sizeof(*env.at));
	if (job->env.n > 0)
		memcpy(env.at, job->env.at, job->env.n * sizeof(*env.at));
	for (size_t i = 0; i < context->env.n; i++)
		if (!is_named(&job->env, context->env.at[i]))
			env.at[env.n++] = context->env.at[i];
	job->env = env;
}

static enum err take_part(struct cli *cli, const struct rec_graph_part *part, size_t *room, struct asked_graph *asked)
{
	struct spec_graph *graph = &asked->graph;
	struct slice jobs = part->jobs, context_bytes = part->context;
	struct rec_run_context context = { 0 };
	bool first = graph->count == 0, whole;

	if (part->first != graph->count || part->count > part->jobs.len)
		return error_set(&cli->error, ERR_FRAME, "the master answered with other jobs than were asked for");
	if (context_bytes.len > 0 && record_decode(REC_run_context, &context_bytes, &cli->arena, &context, &cli->error) != ERR_NONE)
		return cli->error.code;
	if (first) {
		asked->context = context;
		asked->context_bytes = part->context;
		graph->env = context.env;
	}
	whole = slice_eq(asked->context_bytes, part->context);
	if (graph->count + part->count > *room) {
		struct rec_job_spec *bigger;

		*room = (size_t)(graph->count + part->count) * 2;
		bigger = arena_zalloc(&cli->arena, *room, sizeof(*bigger));
		if (graph->count > 0)
			memcpy(bigger, graph->jobs, (size_t)graph->count * sizeof(*bigger));
		graph->jobs = bigger;
	}
	for (uint64_t i = 0; i < part->count; i++) {
		if (record_decode(REC_job_spec, &jobs, &cli->arena, &graph->jobs[graph->count], &cli->error) != ERR_NONE)
			return cli->error.code;
		share(cli, &context, whole, &graph->jobs[graph->count++]);
	}
	asked->masked = asked->masked || part->masked;
	return ERR_NONE;
}

enum err cli_query_graph(struct cli *cli, uint64_t run, const char *schedule, struct asked_graph *ret)
{
	struct msg_query query = { .what = QUERY_SPECS, .run = run, .job = run == 0 ? slice_str(schedule) : (struct slice){ 0 } };
	size_t room = 0;

	*ret = (struct asked_graph){ 0 };
	do {
		struct msg_snapshot page;
		enum err err = cli_query(cli, query, &cli->arena, &page);

		for (size_t i = 0; err == ERR_NONE && i < page.parts.n; i++) {
			const struct rec_graph_part *part = &page.parts.at[i];

			err = take_part(cli, part, &room, ret);
			ret->graph.name = part->name;
			ret->graph.tenant = part->tenant;
			ret->graph.concurrency = part->concurrency;
			ret->graph.max_jobs = part->max_jobs;
			/* Earlier parts had another revision: somebody replaced the schedule while its pages were read. */
			if (err == ERR_NONE && i + query.cursor > 0 && !slice_eq(ret->revision, part->revision))
				err = error_set(&cli->error, ERR_BUSY, "schedule '%s' is being changed; try again", schedule);
			ret->revision = part->revision;
			if (part->schedule.n > 0)
				ret->schedule = part->schedule.at[0];
		}
		if (err != ERR_NONE)
			return err;
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	if (ret->schedule.cron.len > 0)
		ret->graph.schedule = &ret->schedule;
	return ERR_NONE;
}

enum err graph_unmasked(struct cli *cli, const struct asked_graph *asked, const char *what)
{
	bool any = asked->context.env.n > 0;

	for (uint64_t i = 0; i < asked->graph.count && asked->masked; i++)
		any = any || asked->graph.jobs[i].env.n > 0 || asked->graph.jobs[i].sub_count > 0;
	if (!asked->masked || !any)
		return ERR_NONE;
	error_set(&cli->error, ERR_DENIED, "somebody else submitted %s, so the values of its variables aren't shown to you", what);
	return error_next(&cli->error, "titan token ls");
}
