/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a job is where it is, as a reason code and in words. Looks only; asks the questions in the order in
 * which placing does.
 */
#include "core/view.h"

#include "base/text.h"
#include "core/internal.h"
#include "proto/reasons.h"

#define NAMES_MAX 5

struct telling {
	const struct core *core;
	const struct job *job;
	const struct rec_job_spec *spec;
	struct arena *arena;
	struct buf words;
};

static void tell_until(struct telling *telling, int64_t wall_ms)
{
	int64_t wait_ms = wall_ms - telling->core->now.wall_ms;

	if (wait_ms < 0)
		wait_ms = 0;
	text_add_span(&telling->words, wait_ms);
}

static void tell_wait(struct telling *telling)
{
	tell_until(telling, job_due_wall_ms(telling->core, telling->job, telling->spec));
}

/* What will end it, whatever it waits for. */
static void tell_ends(struct telling *telling, enum reason reason)
{
	int64_t deadline_ms = deadline_wall_ms(telling->core, telling->job, telling->spec);
	bool queued = telling->job->state == STATE_READY && telling->job->when_ms > 0 && !job_on_hold(telling->job);

	if (state_terminal(telling->job->state) || (deadline_ms == 0 && !queued))
		return;
	if (telling->words.len == 0)
		buf_add_str(&telling->words, reason_text(reason));
	if (queued) {
		buf_add_str(&telling->words, "; it times out unless a worker takes it within ");
		tell_wait(telling);
	}
	if (deadline_ms > 0) {
		buf_add_str(&telling->words, "; its deadline is in ");
		tell_until(telling, deadline_ms);
	}
}

static void tell_settled(struct telling *telling)
{
	const struct job *job = telling->job;

	buf_addf(&telling->words, "it has ended: %s", state_table[job->state].name);
	if (job->state == STATE_TIMED_OUT && job->stop_cause > 0 && job->stop_cause < EVENT_COUNT)
		buf_addf(&telling->words, ": %s", event_texts[job->stop_cause]);
}

static enum reason tell_waiting(struct telling *telling)
{
	const struct run *run = telling->job->run;
	struct rec_job_spec parent_spec;
	unsigned open = 0;

	for (size_t i = 0; i < telling->spec->needs.n; i++) {
		const struct job *parent = run_job(run, (uint32_t)telling->spec->needs.at[i]);
		struct slice bytes = job_spec_bytes(parent);

		if (state_terminal(parent->state) || ++open > NAMES_MAX)
			continue;
		CHECK(record_decode(REC_job_spec, &bytes, telling->arena, &parent_spec, NULL) == ERR_NONE);
		buf_addf(&telling->words, "%s%.*s (%s)", open == 1 ? "it waits for " : ", ",
			 (int)parent_spec.name.len, (const char *)parent_spec.name.data,
			 state_table[parent->state].name);
	}
	if (open > NAMES_MAX)
		buf_addf(&telling->words, " and %u more", open - NAMES_MAX);
	return REASON_WAITS_FOR_DEPENDENCY;
}

static void tell_count(struct telling *telling, const char *lead, uint64_t count, const char *one, const char *many)
{
	buf_addf(&telling->words, "%s%llu %s", lead, (unsigned long long)count, count == 1 ? one : many);
}

static enum reason tell_delayed(struct telling *telling)
{
	const struct job *job = telling->job;

	buf_add_str(&telling->words, "it is due in ");
	tell_wait(telling);
	if (retry_failures(job) > 0) {
		tell_count(telling, ": ", retry_failures(job), "failure", "failures");
		tell_count(telling, ", ", telling->spec->retry_max, "retry allowed", "retries allowed");
	}
	if (job->crashes > 0) {
		tell_count(telling, "; ", job->crashes, "attempt lost", "attempts lost");
		buf_addf(&telling->words, ", %llu are the limit", (unsigned long long)crash_limit(telling->spec));
	}
	return REASON_DUE;
}

static enum reason tell_approval(struct telling *telling)
{
	buf_addf(&telling->words, "%llu of %llu people have approved",
		 (unsigned long long)gate_have(telling->core, telling->job),
		 (unsigned long long)telling->spec->gate_count);
	if (job_on_hold(telling->job))
		buf_addf(&telling->words, "; a person holds back %s, so its time stands still",
			 telling->job->run->held ? "its run" : "it");
	if (telling->job->when_ms > 0) {
		buf_addf(&telling->words, "; without an answer it is %s in ",
			 telling->spec->gate_expiry == GATE_APPROVE ? "approved" : "denied");
		tell_wait(telling);
	}
	return REASON_APPROVAL;
}

static enum reason tell_bound(struct telling *telling, const struct bound *bound)
{
	bool of_run = bound == &telling->job->run->bound;

	buf_addf(&telling->words, "%u jobs of its %s are out, and %u is the most", bound->active,
		 of_run ? "run" : "fan-out", bound->limit);
	return of_run ? REASON_RUN_LIMIT : REASON_GROUP_LIMIT;
}

static void tell_labels(struct telling *telling)
{
	for (size_t i = 0; i < telling->spec->labels.n; i++)
		buf_addf(&telling->words, "%s%.*s", i ? ", " : "no connected worker has all of: ",
			 (int)telling->spec->labels.at[i].len, (const char *)telling->spec->labels.at[i].data);
}

static enum reason tell_workers(struct telling *telling)
{
	const struct core *core = telling->core;
	const struct ready_class *class = core->classes[telling->job->class_at];
	uint64_t up = 0, fit = 0, slots = 0, busy = 0;

	for (size_t i = 0; i < core->worker_count; i++) {
		const struct worker *worker = core->workers[i];

		if (worker->conn == 0 || worker->state != WORKER_UP || worker->quitting)
			continue;
		up++;
		if (!worker_can(worker, class))
			continue;
		fit++;
		slots += worker->slots;
		busy += worker->held_count < worker->slots ? worker->held_count : worker->slots;
	}
	if (up == 0)
		return REASON_NO_WORKER_UP;
	if (fit == 0) {
		tell_labels(telling);
		return REASON_NO_WORKER_LABELS;
	}
	if (busy < slots)
		return REASON_QUEUED;
	buf_addf(&telling->words, "all %llu slots of the workers that could take it are busy; %zu jobs queue for them",
		 (unsigned long long)slots, class->count - class->stale);
	return REASON_ALL_SLOTS_BUSY;
}

static enum reason tell_ready(struct telling *telling)
{
	const struct bound *full = job_bound_full(telling->job);

	if (job_on_hold(telling->job)) {
		buf_addf(&telling->words, "a person holds back %s", telling->job->run->held ? "its run" : "this job");
		return REASON_HELD;
	}
	return full ? tell_bound(telling, full) : tell_workers(telling);
}

static enum reason tell(struct telling *telling)
{
	const struct worker *worker = worker_find(telling->core, telling->job->worker);

	switch ((enum job_state)telling->job->state) {
	case STATE_WAITING:
		return tell_waiting(telling);
	case STATE_DELAYED:
		return tell_delayed(telling);
	case STATE_APPROVAL:
		return tell_approval(telling);
	case STATE_READY:
		return tell_ready(telling);
	case STATE_ASSIGNED:
		buf_addf(&telling->words, "it was given to worker %s, which hasn't said that it started", worker->name);
		return REASON_SENT;
	case STATE_RUNNING:
		buf_addf(&telling->words, "it runs on worker %s", worker->name);
		return REASON_RUNNING;
	case STATE_STOPPING:
		return REASON_STOPPING;
	case STATE_UNKNOWN:
		return REASON_UNKNOWN_ONCE;
	default:
		tell_settled(telling);
		return REASON_SETTLED;
	}
}

bool view_explain(const struct core *core, uint64_t serial, struct arena *arena, struct rec_job_row *row)
{
	const struct job *job = job_find(core, serial);
	struct telling telling = { .core = core, .job = job, .arena = arena };
	struct rec_job_spec spec;
	struct slice bytes;

	if (!job)
		return false;
	bytes = job_spec_bytes(job);
	CHECK(record_decode(REC_job_spec, &bytes, arena, &spec, NULL) == ERR_NONE);
	telling.spec = &spec;
	row->why_code = tell(&telling);
	tell_ends(&telling, (enum reason)row->why_code);
	if (telling.words.len == 0)
		buf_add_str(&telling.words, reason_text(row->why_code));
	row->why = arena_copy(arena, buf_slice(&telling.words));
	buf_free(&telling.words);
	return true;
}
