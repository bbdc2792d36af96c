/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Graphs with all features at once, with durations at both ends of the allowed range. The graphs of titan-sim stay
 * within what its oracle can predict; here nothing is predicted, and the core may refuse a graph.
 */
#include "tests/sim/liars/liars.h"

#include "proto/expr.h"

#define FAN_JOBS 3
#define DEPTH_MOST 2

static struct slice_list list_of(struct graph *graph, const char *first, const char *second)
{
	struct slice *at = arena_alloc(&graph->arena, 2 * sizeof(*at));

	at[0] = slice_str(first);
	at[1] = slice_str(second);
	return (struct slice_list){ .at = at, .n = second ? 2 : 1 };
}

static struct slice code_of(struct graph *graph, const struct expr_step *steps, size_t count)
{
	struct buf bytes = { 0 };
	struct slice code;

	for (size_t i = 0; i < count; i++)
		expr_put(&bytes, steps[i]);
	code = arena_copy(&graph->arena, buf_slice(&bytes));
	buf_free(&bytes);
	return code;
}

static void job_name(char name[16], bool fan, unsigned index)
{
	snprintf(name, 16, fan && index < FAN_JOBS ? "f[%u]" : "j%u", index);
}

static void job_times(struct liars *liars, struct rec_job_spec *job)
{
	int64_t wall_ms = liars->rig->now.wall_ms;

	if (chance(liars, 35))
		job->timeout_ms = any_span_ms(liars);
	if (chance(liars, 8))
		job->delay_ms = any_span_ms(liars);
	if (chance(liars, 5) && wall_ms >= 1000)
		job->not_before_ms = wall_ms + (int64_t)any_span_ms(liars) - 1000;
	if (chance(liars, 8))
		job->deadline_ms = any_span_ms(liars);
	if (chance(liars, 4))
		job->deadline_at_ms = wall_ms + (int64_t)any_span_ms(liars);
	if (chance(liars, 15))
		job->always = chance(liars, 50) ? ALWAYS_RUN : ALWAYS_PAST_DEADLINE;
	if (chance(liars, 8))
		job->dispatch_timeout_ms = any_span_ms(liars);
	if (chance(liars, 10))
		job->priority = 1 + below(liars, 101);
}

static void job_tries(struct liars *liars, struct graph *graph, struct rec_job_spec *job)
{
	if (job->mode != EXEC_ONCE && chance(liars, 30)) {
		job->retry_max = chance(liars, 10) ? LIMIT_RETRY_MAX : below(liars, 3);
		job->retry_on = below(liars, RETRY_ON_ALL + 1);
		job->backoff_ms = chance(liars, 50) ? any_span_ms(liars) : 0;
		job->backoff_exact = chance(liars, 50);
		if (job->backoff_ms > LIMIT_RETRY_BACKOFF_MAX_MS && chance(liars, 50))
			job->backoff_max_ms = job->backoff_ms;
	}
	if (job->mode != EXEC_ONCE && job->argv.n > 0 && chance(liars, 20)) {
		job->loop_max = 1 + below(liars, 4);
		job->loop_delay_ms = chance(liars, 40) ? any_span_ms(liars) : 0;
		job->loop_on_max = below(liars, LOOP_MAX_OK + 1);
		job->loop_code = code_of(graph, &(struct expr_step){ EXPR_STATE, 0, 1, 1u << STATE_SUCCEEDED }, 1);
	}
	if (chance(liars, 20))
		job->crash_limit = 1 + below(liars, LIMIT_CRASH_LIMIT_MAX);
	if (chance(liars, 20))
		job->continue_on = below(liars, CONTINUE_ALL + 1);
	if (chance(liars, 10))
		job->worker_death = DEATH_KILL;
	job->final = chance(liars, 10);
}

static void job_gate(struct liars *liars, struct rec_job_spec *job)
{
	if (!chance(liars, 20))
		return;
	job->gate_count = 1 + below(liars, 3);
	if (chance(liars, 50)) {
		job->gate_timeout_ms = any_span_ms(liars);
		job->gate_expiry = below(liars, GATE_APPROVE + 1);
	}
	if (chance(liars, 50))
		job->argv.n = 0;
}

static void job_place(struct liars *liars, struct graph *graph, struct rec_job_spec *job)
{
	if (job->mode != EXEC_RETRY && chance(liars, 20))
		job->locks = list_of(graph, chance(liars, 50) ? "la" : "la=shared", chance(liars, 30) ? "lb" : NULL);
	if (chance(liars, 20))
		job->concurrency = list_of(graph, chance(liars, 50) ? "ga" : "ga=1", chance(liars, 30) ? "gb=2" : NULL);
	if (chance(liars, 15))
		job->asks = list_of(graph, chance(liars, 50) ? "cpus=2000" : "cpus=4000", chance(liars, 30) ? "gpus=1" : NULL);
	if (chance(liars, 8))
		job->labels = list_of(graph, "la", NULL);
	if (chance(liars, 8))
		job->requires = list_of(graph, "ca", chance(liars, 30) ? "cb" : NULL);
	if (chance(liars, 8))
		job->topic = slice_str(chance(liars, 50) ? "ta" : "tb");
	if (chance(liars, 8))
		job->prefer = list_of(graph, "la", NULL);
	if (chance(liars, 5))
		*(chance(liars, 50) ? &job->prefer_worker : &job->only_worker) = slice_str("w1");
	if (chance(liars, 10)) {
		job->affinity = below(liars, AFFINITY_STICKY + 1);
		job->affinity_hard = job->affinity != AFFINITY_NONE && chance(liars, 50);
	}
	if (chance(liars, 10)) {
		job->pool = slice_str("p1");
		job->pool_hard = chance(liars, 50);
	}
}

static void job_conditions(struct liars *liars, struct graph *graph, struct rec_job_spec *job)
{
	uint64_t *triggers = arena_zalloc(&graph->arena, job->needs.n + 1, sizeof(*triggers)), ends = 1u << STATE_SUCCEEDED;
	struct expr_step steps[2];

	if (job->needs.n == 0 || !chance(liars, 30))
		return;
	for (size_t i = 0; i < job->needs.n; i++)
		triggers[i] = chance(liars, 70) ? TRIGGER_EXPR : job->triggers.at[i];
	job->triggers.at = triggers;
	if (chance(liars, 50))
		ends = 1u << STATE_FAILED | 1u << STATE_CANCELLED | 1u << STATE_SKIPPED;
	steps[0] = (struct expr_step){ EXPR_STATE, 0, job->needs.n, ends };
	steps[1] = (struct expr_step){ EXPR_GATE, 1 + below(liars, job->needs.n), job->needs.n, 0 };
	*(chance(liars, 60) ? &job->needs_code : &job->when_code) = code_of(graph, steps, 2);
}

/* Make the job a sub-run, and clear all settings that need a worker, which a sub-run hasn't. */
static void job_within(struct liars *liars, struct graph *graph, struct rec_job_spec *job, unsigned depth)
{
	struct graph inner = { 0 };
	struct buf bytes = { 0 };

	if (depth == DEPTH_MOST || job->gate_count > 0 || !chance(liars, 15))
		return;
	job->mode = EXEC_RETRY;
	job->argv.n = job->labels.n = job->prefer.n = job->requires.n = job->asks.n = job->locks.n = job->concurrency.n = 0;
	job->prefer_worker.len = job->only_worker.len = job->pool.len = job->topic.len = 0;
	job->pool_hard = job->affinity_hard = false;
	job->affinity = AFFINITY_NONE;
	job->worker_death = 0;
	job->retry_max = below(liars, 2);
	graph_random(liars, &inner, depth + 1);
	for (size_t i = 0; i < inner.count; i++)
		record_encode(&bytes, REC_job_spec, &inner.jobs[i]);
	job->sub_jobs = arena_copy(&graph->arena, buf_slice(&bytes));
	job->sub_count = inner.count;
	job->sub_name = slice_str("sub");
	job->sub_max_jobs = below(liars, 3);
	buf_free(&bytes);
	graph_free(&inner);
}

void graph_random(struct liars *liars, struct graph *graph, unsigned depth)
{
	unsigned count = 1 + (unsigned)below(liars, LIARS_JOBS);
	bool fan = chance(liars, 40), fail_fast = chance(liars, 50);
	uint64_t parallel = below(liars, 3);

	for (unsigned i = 0; i < count; i++) {
		char name[16], needs[16 * LIARS_JOBS] = "";
		bool in_fan = fan && i < FAN_JOBS;
		struct rec_job_spec *job;

		for (unsigned k = 0; k < i && !in_fan; k++) {
			if (!chance(liars, 40))
				continue;
			job_name(name, fan, k);
			strcat(needs, needs[0] ? " " : "");
			strcat(needs, name);
			strcat(needs, chance(liars, 30) ? "*" : chance(liars, 20) ? "-" : "");
		}
		job_name(name, fan, i);
		job = graph_job(graph, name, needs);
		job->mode = below(liars, EXEC_MODE_COUNT);
		job->group = in_fan;
		job->group_fail_fast = in_fan && fail_fast;
		job->group_parallel = in_fan ? parallel : 0;
		job_times(liars, job);
		job_gate(liars, job);
		job_tries(liars, graph, job);
		job_place(liars, graph, job);
		job_conditions(liars, graph, job);
		job_within(liars, graph, job, depth);
	}
}
