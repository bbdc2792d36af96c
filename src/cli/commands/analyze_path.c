/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the critical path and the slack of jobs. The path ends with the job that ended last; before each job on the path
 * stands the job that ended last of those which it needed. The slack of a job is how much later the job could have ended
 * without delaying the end of the run, if all later jobs took as long as they did.
 */
#include "cli/commands/analyze.h"

#include <stdlib.h>

/* Return the index of the job that ended last of those which this job needs; analysis->count: the job needs none. */
static size_t last_need(const struct analysis *analysis, const struct job_times *job)
{
	size_t best = analysis->count;

	for (size_t i = 0; i < job->row.needs.n; i++) {
		size_t need = (size_t)job->row.needs.at[i];

		if (need < analysis->count && (best == analysis->count || analysis->jobs[need].end_ms > analysis->jobs[best].end_ms))
			best = need;
	}
	return best;
}

static void find_path(struct analysis *analysis, struct arena *arena)
{
	size_t at = analysis->count;

	analysis->path = arena_alloc(arena, (analysis->count + 1) * sizeof(*analysis->path));
	for (size_t i = 0; i < analysis->count; i++)
		if (at == analysis->count || analysis->jobs[i].end_ms > analysis->jobs[at].end_ms)
			at = i;
	while (at < analysis->count && analysis->path_count < analysis->count) {
		analysis->path[analysis->path_count++] = (uint32_t)at;
		at = last_need(analysis, &analysis->jobs[at]);
	}
}

struct ended {
	int64_t end_ms;
	size_t at;
};

static int by_end(const void *a, const void *b)
{
	const struct ended *one = a, *other = b;

	return one->end_ms != other->end_ms ? (one->end_ms < other->end_ms ? 1 : -1) : (one->at < other->at) - (one->at > other->at);
}

/* Take the jobs that ended last first: a child ended after the job that it needs, so the child's slack is known by then. */
static void find_slack(struct analysis *analysis, struct arena *arena)
{
	struct ended *order = arena_alloc(arena, (analysis->count + 1) * sizeof(*order));

	for (size_t i = 0; i < analysis->count; i++) {
		order[i] = (struct ended){ analysis->jobs[i].end_ms, i };
		analysis->jobs[i].slack_ms = analysis->end_ms > analysis->jobs[i].end_ms ? analysis->end_ms - analysis->jobs[i].end_ms : 0;
	}
	qsort(order, analysis->count, sizeof(*order), by_end);
	for (size_t i = 0; i < analysis->count; i++) {
		const struct job_times *child = &analysis->jobs[order[i].at];

		for (size_t k = 0; k < child->row.needs.n; k++) {
			struct job_times *need = child->row.needs.at[k] < analysis->count ? &analysis->jobs[child->row.needs.at[k]] : NULL;
			int64_t slack;

			if (!need)
				continue;
			/* The child begins when its last need ends, so the other needs could have ended as late as that. */
			slack = child->slack_ms + (child->ready_ms > need->end_ms ? child->ready_ms - need->end_ms : 0);
			if (slack < need->slack_ms)
				need->slack_ms = slack;
		}
	}
}

void analyze_path(struct analysis *analysis, struct arena *arena)
{
	find_path(analysis, arena);
	find_slack(analysis, arena);
}

static int by_value(const void *a, const void *b)
{
	const int64_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

int64_t analyze_median(int64_t *values, size_t count)
{
	if (count == 0)
		return 0;
	qsort(values, count, sizeof(*values), by_value);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
