/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Adds up how long each job was in each state, from the events of the run. Time in the queue is divided by its cause: a hold
 * of the job or its run, the run's limit of active jobs, or else the pool that the job asks for or the slots of workers.
 */
#include "cli/commands/analyze.h"

#include <string.h>

#include "base/text.h"
#include "cli/ask/select.h"
#include "cli/show/row_words.h"

static const struct {
	const char *name, *text;
} reasons[WAIT_REASONS] = {
	[WAIT_DEPENDENCY] = { "dependency", "jobs that it needs hadn't ended" },
	[WAIT_DELAY] = { "delay", "its delay, start time or next pass" },
	[WAIT_RETRY] = { "retry", "the wait before another try" },
	[WAIT_GATE] = { "gate", "people had to decide" },
	[WAIT_HOLD] = { "hold", "the job or its run was on hold" },
	[WAIT_LIMIT] = { "limit", "the run had as many active jobs as it may" },
	[WAIT_POOL] = { "pool", "no slot in the pool that it asks for" },
	[WAIT_SLOTS] = { "slots", "no slot, resource, group or lock was free" },
	[WAIT_START] = { "start", "a worker had it, and hadn't started it" },
	[WAIT_PERSON] = { "person", "nobody had settled it" },
};

const char *wait_name(enum wait_reason reason)
{
	return reasons[reason].name;
}

const char *wait_text(enum wait_reason reason)
{
	return reasons[reason].text;
}

static bool is_active(enum job_state state)
{
	return state == STATE_ASSIGNED || state == STATE_RUNNING || state == STATE_STOPPING;
}

/* Advance to this time: add the time since the last event to the sums of the run. */
static void advance(struct analysis *analysis, int64_t ms)
{
	int64_t passed = ms > analysis->now_ms ? ms - analysis->now_ms : 0;

	if (analysis->run_held)
		analysis->run_held_ms += passed;
	else if (analysis->max_jobs > 0 && analysis->active >= analysis->max_jobs)
		analysis->limited_ms += passed;
	analysis->now_ms += passed;
}

static int64_t least(int64_t one, int64_t other)
{
	return one < other ? one : other;
}

static void held_end(struct analysis *analysis, struct job_times *job)
{
	int64_t from = job->held_at_ms > job->since_ms ? job->held_at_ms : job->since_ms;

	job->held_ms += analysis->now_ms > from ? analysis->now_ms - from : 0;
}

/* Divide the job's time in the queue, which ends now, among its causes: hold first, then limit, then pool or slots. */
static void queue_end(struct analysis *analysis, struct job_times *job, int64_t passed)
{
	int64_t hold, limit;

	if (job->held_at_ms > 0)
		held_end(analysis, job);
	hold = least(passed, job->held_ms + analysis->run_held_ms - job->run_held_ms);
	limit = least(passed - hold, analysis->limited_ms - job->limited_ms);
	job->waits[WAIT_HOLD] += hold;
	job->waits[WAIT_LIMIT] += limit;
	job->waits[job->pool ? WAIT_POOL : WAIT_SLOTS] += passed - hold - limit;
}

/* The job's present state ends now: add the time that the job was in it. */
static void state_end(struct analysis *analysis, struct job_times *job)
{
	int64_t passed = analysis->now_ms > job->since_ms ? analysis->now_ms - job->since_ms : 0;

	switch (job->state) {
	case STATE_WAITING:
		job->waits[WAIT_DEPENDENCY] += passed;
		break;
	case STATE_DELAYED:
	case STATE_CHECKING:
		job->waits[job->delay] += passed;
		break;
	case STATE_APPROVAL:
		job->waits[WAIT_GATE] += passed;
		break;
	case STATE_READY:
		queue_end(analysis, job, passed);
		break;
	case STATE_ASSIGNED:
		job->waits[WAIT_START] += passed;
		break;
	case STATE_UNKNOWN:
		job->waits[WAIT_PERSON] += passed;
		break;
	case STATE_RUNNING:
	case STATE_STOPPING:
		job->ran_ms += passed;
		break;
	default:
		break;
	}
	if (is_active(job->state) && job->row.child_jobs == 0 && job->row.child == 0)
		job->busy_ms += passed;
}

static void state_begin(struct analysis *analysis, struct job_times *job, enum job_state state, enum job_event event)
{
	job->state = state;
	job->since_ms = analysis->now_ms;
	job->run_held_ms = analysis->run_held_ms;
	job->limited_ms = analysis->limited_ms;
	job->held_ms = 0;
	if (state == STATE_DELAYED)
		job->delay = event == EVENT_DEPS_MET || event == EVENT_AGAIN ? WAIT_DELAY : WAIT_RETRY;
}

static void link_children(struct analysis *analysis, struct arena *arena)
{
	size_t edges = 0;

	analysis->child_start = arena_zalloc(arena, analysis->count + 2, sizeof(*analysis->child_start));
	for (size_t i = 0; i < analysis->count; i++)
		for (size_t k = 0; k < analysis->jobs[i].row.needs.n; k++)
			if (analysis->jobs[i].row.needs.at[k] < analysis->count) {
				analysis->child_start[analysis->jobs[i].row.needs.at[k] + 2]++;
				edges++;
			}
	for (size_t i = 2; i < analysis->count + 2; i++)
		analysis->child_start[i] += analysis->child_start[i - 1];
	analysis->children = arena_alloc(arena, (edges + 1) * sizeof(*analysis->children));
	for (size_t i = 0; i < analysis->count; i++)
		for (size_t k = 0; k < analysis->jobs[i].row.needs.n; k++)
			if (analysis->jobs[i].row.needs.at[k] < analysis->count) {
				analysis->children[analysis->child_start[analysis->jobs[i].row.needs.at[k] + 1]++] = (uint32_t)i;
				analysis->jobs[i].pending++;
			}
}

void analyze_begin(struct analysis *analysis, struct arena *arena)
{
	analysis->now_ms = analysis->run.submitted_ms;
	link_children(analysis, arena);
	for (size_t i = 0; i < analysis->count; i++) {
		struct job_times *job = &analysis->jobs[i];

		state_begin(analysis, job, job->pending > 0 ? STATE_WAITING : STATE_READY, EVENT_REOPENED);
		job->ready_ms = analysis->run.submitted_ms;
		if (job->row.job != 0)
			map_put(&analysis->places, job->row.job, (void *)(uintptr_t)(i + 1));
	}
}

/* Note a hold or release. The act's target is the whole run ("run 12") or some of its jobs ("job 12/load"). */
static void hold_act(struct analysis *analysis, const struct rec_act_row *act, bool hold)
{
	const uint8_t *slash = act->target.len > 0 ? memchr(act->target.data, '/', act->target.len) : NULL;
	struct selector selector = { .run = analysis->run.run };

	if (!slash) {
		analysis->run_held = hold;
		return;
	}
	selector.job = slice_make(slash + 1, (size_t)(act->target.data + act->target.len - slash - 1));
	for (size_t i = 0; i < analysis->count; i++) {
		struct job_times *job = &analysis->jobs[i];

		if (!selector_names(&selector, job->row.name) || (job->held_at_ms > 0) == hold)
			continue;
		if (!hold && job->state == STATE_READY)
			held_end(analysis, job);
		job->held_at_ms = hold ? analysis->now_ms : 0;
	}
}

/*
 * Tell the children of a job that it has ended, or that it begins another round. A child becomes ready when its last need
 * has ended; the history has no event for that.
 */
static void tell_children(struct analysis *analysis, size_t place, bool ended)
{
	for (uint32_t i = analysis->child_start[place]; i < analysis->child_start[place + 1]; i++) {
		struct job_times *child = &analysis->jobs[analysis->children[i]];

		child->pending = ended ? child->pending - (child->pending > 0) : child->pending + 1;
		if (!ended || child->pending > 0 || child->state != STATE_WAITING)
			continue;
		state_end(analysis, child);
		state_begin(analysis, child, STATE_READY, EVENT_DEPS_MET);
		child->ready_ms = analysis->now_ms;
	}
}

void analyze_event(struct analysis *analysis, const struct rec_event_row *event)
{
	size_t place = event->kind == HAPPENED_JOB ? (size_t)(uintptr_t)map_get(&analysis->places, event->job) : 0;
	struct job_times *job = place > 0 ? &analysis->jobs[place - 1] : NULL;
	enum job_state to = job_state_checked(event->to);

	advance(analysis, event->wall_ms);
	for (size_t i = 0; i < event->act.n; i++) {
		bool hold = slice_eq(event->act.at[i].verb, slice_str("hold"));

		if (hold || slice_eq(event->act.at[i].verb, slice_str("release")))
			hold_act(analysis, &event->act.at[i], hold);
	}
	if (!job)
		return;
	state_end(analysis, job);
	/* If a need hasn't ended, a condition made the job ready. The history doesn't say when, so take this time. */
	job->state = job_state_checked(event->from);
	if (job->row.needs.n > 0 && job->pending > 0 && job->state == STATE_READY)
		job->ready_ms = analysis->now_ms;
	if (state_terminal(to) != state_terminal(job->state))
		tell_children(analysis, place - 1, state_terminal(to));
	analysis->active -= is_active(job->state) && analysis->active > 0;
	analysis->active += is_active(to);
	if (job->state == STATE_WAITING && to != STATE_WAITING)
		job->ready_ms = analysis->now_ms;
	if (state_terminal(to))
		job->end_ms = analysis->now_ms;
	state_begin(analysis, job, to, (enum job_event)event->event);
	job->seen = true;
}

void analyze_end(struct analysis *analysis)
{
	advance(analysis, analysis->end_ms);
	for (size_t i = 0; i < analysis->count; i++) {
		struct job_times *job = &analysis->jobs[i];
		bool ended = state_terminal(job_state_checked(job->row.state));

		if (ended && !job->seen) {
			/* The job's events were removed: its row still has the times of the last try. */
			analysis->unseen++;
			job->end_ms = job->row.ended_ms;
			job->ready_ms = job->row.started_ms > 0 ? job->row.started_ms : job->row.ended_ms;
			job->ran_ms = job->row.started_ms > 0 && job->row.ended_ms > job->row.started_ms ? job->row.ended_ms - job->row.started_ms : 0;
			job->busy_ms = job->row.child == 0 ? job->ran_ms : 0;
		} else if (!ended) {
			state_end(analysis, job);
			job->end_ms = analysis->end_ms;
			if (job->state == STATE_WAITING)
				job->ready_ms = analysis->end_ms;
		}
		analysis->busy_ms += job->busy_ms;
	}
	map_free(&analysis->places);
}
