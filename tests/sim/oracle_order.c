/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of jobs. Among jobs of one tenant with the same requirements none overtakes a better one, by priority
 * and then by age. And what the best of all jobs still lacks on the only worker that could run it isn't given to
 * other jobs. Only jobs that surely wait for a worker and nothing else are compared.
 */
#include "oracle.h"

#include "base/mem.h"

struct waiting {
	uint64_t serial;
	const struct sim_graph *graph, *root;
	const struct rec_job_spec *spec;
	unsigned priority;
	bool given;                      /* the job was assigned in this turn */
};

static bool texts_equal(const struct slice_list *a, const struct slice_list *b)
{
	for (size_t i = 0; i < a->n && a->n == b->n; i++)
		if (!slice_eq(a->at[i], b->at[i]))
			return false;
	return a->n == b->n;
}

static bool want_the_same(const struct waiting *job, const struct waiting *other)
{
	const struct rec_job_spec *a = job->spec, *b = other->spec;

	return job->graph->machine == other->graph->machine && texts_equal(&a->labels, &b->labels) && texts_equal(&a->asks, &b->asks) && texts_equal(&a->prefer, &b->prefer) &&
	       texts_equal(&a->requires, &b->requires) && slice_eq(a->topic, b->topic) &&
	       slice_eq(a->prefer_worker, b->prefer_worker) && slice_eq(a->only_worker, b->only_worker) &&
	       slice_eq(a->pool, b->pool) && a->pool_hard == b->pool_hard && a->affinity == b->affinity &&
	       a->affinity_hard == b->affinity_hard && slice_eq(a->description, b->description);
}

/* Check that no lock, limit, group or affinity keeps the job waiting, only the lack of a worker. */
static bool is_free(const struct sim_world *world, const struct waiting *job)
{
	return job->spec->locks.n == 0 && job->spec->sub_count == 0 && job->spec->kind == 0 && job->root->max_jobs == 0 && job->root->group == 0 && job->spec->group_parallel == 0 &&
	       job->spec->concurrency.n == 0 && job->spec->affinity == 0 &&
	       (job->root->tenant == 0 || world->oracle.tenants[job->root->tenant - 1].limit == 0);
}

/* Was the job ready from the beginning? Such a job has no row as long as nothing happens to it. */
static bool begins_ready(const struct sim_graph *graph, uint32_t index)
{
	const struct rec_job_spec *spec = &graph->jobs[index];

	return spec->needs.n == 0 && spec->needs_code.len == 0 && spec->when_code.len == 0 && spec->delay_ms == 0 &&
	       spec->not_before_ms == 0 && spec->gate_count == 0 && !spec->final;
}

static unsigned priority_of(const struct oracle_job *job, const struct rec_job_spec *spec)
{
	if (job->moved)
		return job->priority_decided;
	return spec->priority ? (unsigned)spec->priority - 1 : 50;
}

static bool waits(const struct sim_world *world, const struct sim_graph *graph, uint32_t index, const struct oracle_job *job)
{
	if (job->held_decided || map_get(&world->oracle.held_runs, oracle_root(graph)->durable_run))
		return false;
	return job->moved ? job->decided == STATE_READY : begins_ready(graph, index);
}

/*
 * Check whether the job waits for a worker or may wait, so that a worker may be reserved for it. A job without a
 * row may have become ready when its parents ended.
 */
bool oracle_may_wait(struct sim_world *world, const struct sim_graph *graph, uint32_t index)
{
	const struct oracle_job *job = oracle_job(world, graph->first + index);
	const struct rec_job_spec *spec = &graph->jobs[index];

	if (job->moved && job->decided != STATE_WAITING)
		return job->decided == STATE_READY;
	/* An expression may be decided before all jobs that it asks about have ended. */
	if (spec->needs_code.len > 0 || spec->when_code.len > 0)
		return true;
	for (size_t i = 0; i < spec->needs.n; i++)
		if (!state_terminal(oracle_job(world, oracle_need(graph, spec->needs.at[i]))->decided))
			return false;
	return job->moved || !begins_ready(graph, index) || map_get(&world->oracle.held_runs, oracle_root(graph)->durable_run) == NULL;
}

/* Collect the jobs that were assigned in this turn and those that could have been. *ret_unsure: there may be more. */
static size_t collect(struct sim_world *world, const struct outbox *outbox, struct waiting *jobs, bool *ret_unsure)
{
	size_t count = 0;

	*ret_unsure = false;

	for (size_t at = 0; at < world->graph_count; at++) {
		const struct sim_graph *graph = world->graphs[at];

		/*
		 * The core may already have an unanswered graph, with a better job; its serial numbers become known
		 * later.
		 */
		*ret_unsure |= graph->first == 0 && !graph->answered;
		for (uint32_t i = 0; graph->first && i < graph->count; i++) {
			const struct oracle_job *job = oracle_job(world, graph->first + i);
			struct waiting entry = { .serial = job->job, .graph = graph, .root = oracle_root(graph), .spec = &graph->jobs[i],
						 .priority = priority_of(job, &graph->jobs[i]) };

			for (size_t k = 0; k < outbox->frame_count && job->decided == STATE_ASSIGNED; k++)
				entry.given |= outbox->frames[k].op == OP_ASSIGN && outbox->frames[k].assign.job == job->job;
			/* the complete specification of a sub-run's job isn't in its graph */
			if (entry.root->within > 0)
				*ret_unsure |= entry.spec->asks.n > 0;
			else if (entry.given || (waits(world, graph, i, job) && is_free(world, &entry)))
				jobs[count++] = entry;
			else
				*ret_unsure |= entry.spec->asks.n > 0 && oracle_may_wait(world, graph, i);
		}
	}
	return count;
}

static bool is_better(const struct waiting *a, const struct waiting *b)
{
	return a->priority > b->priority || (a->priority == b->priority && a->root->tenant == b->root->tenant &&
					     a->serial < b->serial);
}

/* ---- resources that the best job lacks ---- */

static struct oracle_worker *only_worker(struct sim_world *world, const struct waiting *job)
{
	struct oracle_worker *found = NULL;

	for (uint32_t i = 0; i < world->worker_count; i++) {
		struct oracle_worker *worker = &world->oracle.workers[i];

		/* The master learns that a worker lacks the directory only from the worker. */
		if (job->graph->machine > 0 && world->workers[i].lacks_here)
			return NULL;
		if (worker->number == 0 || !oracle_worker_could(world, i, job->graph, job->spec))
			continue;
		if (found)
			return NULL;
		found = worker;
	}
	return found;
}

static void check_kept(struct sim_world *world, const struct waiting *best, const struct waiting *given)
{
	struct oracle_worker *worker = only_worker(world, best);
	uint64_t asks[SIM_KINDS], others[SIM_KINDS], used[SIM_KINDS] = { 0 };
	size_t cursor = 0;
	uint64_t serial;
	void *value;

	if (!worker || oracle_job(world, given->serial)->worker_decided != worker->number)
		return;
	graph_asks(best->spec, asks);
	graph_asks(given->spec, others);
	while (map_next(&world->oracle.jobs, &cursor, &serial, &value)) {
		const struct oracle_job *job = value;

		for (unsigned i = 0; i < SIM_KINDS && job->worker_decided == worker->number && state_has_attempt(job->decided); i++)
			used[i] += job->asks[i];
	}
	for (unsigned i = 0; i < SIM_KINDS; i++)
		if (asks[i] > 0 && others[i] > 0 && used[i] + asks[i] > worker->offers[i])
			world_fail(world, "job %u is given what job %u, which is before it, lacks on the only worker that may have it",
				   (unsigned)given->serial, (unsigned)best->serial);
}

/*
 * Return the best of the waiting jobs that ask for resources; NULL if another one is as good, because then each of
 * them may have reserved another worker.
 */
static const struct waiting *best_of_all(const struct waiting *jobs, size_t count)
{
	const struct waiting *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (!jobs[i].given && jobs[i].spec->asks.n > 0 && (!best || is_better(&jobs[i], best)))
			best = &jobs[i];
	for (size_t i = 0; best && i < count; i++)
		if (&jobs[i] != best && !is_better(best, &jobs[i]))
			return NULL;
	return best;
}

static void order_decided(struct sim_world *world, const struct outbox *outbox)
{
	struct waiting *jobs;
	const struct waiting *best;
	size_t count = 0;
	bool any = false, unsure;

	for (size_t i = 0; i < outbox->frame_count && !any; i++)
		any = outbox->frames[i].op == OP_ASSIGN;
	if (!any)
		return;
	for (size_t i = 0; i < world->graph_count; i++)
		count += world->graphs[i]->count;
	jobs = mem_array(count + 1, sizeof(*jobs));
	count = collect(world, outbox, jobs, &unsure);
	best = unsure ? NULL : best_of_all(jobs, count);
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; jobs[i].given && k < count; k++)
			if (!jobs[k].given && jobs[k].root->tenant == jobs[i].root->tenant && is_better(&jobs[k], &jobs[i]) &&
			    want_the_same(&jobs[i], &jobs[k]))
				world_fail(world, "job %u is given out before job %u, which wants the same and is better",
					   (unsigned)jobs[i].serial, (unsigned)jobs[k].serial);
		if (best && jobs[i].given && world->seed % 5 == 0)
			check_kept(world, best, &jobs[i]);
	}
	mem_free(jobs);
}

const struct oracle_check oracle_order = { .decided = order_decided };
