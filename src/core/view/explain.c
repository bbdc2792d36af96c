/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a job is in its state: a reason code, and words. Read-only; possible reasons are examined in the order in which
 * placement examines them.
 */
#include "core/view/explain.h"

#include "base/text.h"
#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/people/people.h"
#include "core/place/place.h"
#include "core/queue/queue.h"
#include "core/time/time.h"
#include "core/view/tell.h"
#include "core/view/view.h"

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

/* Add what will end the job, whatever it waits for: its dispatch time-out, its deadline, or the end of its run. */
static void tell_ends(struct telling *telling, enum reason reason)
{
	int64_t deadline_ms = deadline_wall_ms(telling->core, telling->job, telling->spec);
	bool queued = telling->job->state == STATE_READY && telling->job->when_ms > 0 && !job_on_hold(telling->job);

	if (state_terminal(telling->job->state) || (deadline_ms == 0 && !queued))
		return;
	if (telling->words.len == 0)
		buf_add_str(&telling->words, reason_text(reason));
	if (queued) {
		buf_add_str(&telling->words, "; the job times out unless a worker takes it within ");
		tell_wait(telling);
	}
	if (deadline_ms > 0) {
		buf_add_str(&telling->words, job_ending_ms(telling->job) > ENDING_WAITS ?
			    "; its run was told to end, so the job must end in " : "; the job's deadline is in ");
		tell_until(telling, deadline_ms);
	}
}

/* Add to the explanation which pass of its loop an active job is in; of an ended job, which was its last. */
static void tell_loop(struct telling *telling, enum reason reason)
{
	const struct job *job = telling->job;
	const struct rec_job_spec *spec = telling->spec;

	if (spec->loop_max == 0 || (!state_holds(job->state) && job->stop_cause != EVENT_ENOUGH))
		return;
	if (telling->words.len == 0)
		buf_add_str(&telling->words, reason_text(reason));
	buf_addf(&telling->words, "; pass %u of %llu, until %.*s", job_passes(job) + 1, (unsigned long long)spec->loop_max,
		 (int)spec->loop_until.len, (const char *)spec->loop_until.data);
}

/* Say what is on hold: the run, the job, or both. All must be released. */
static const char *on_hold(const struct job *job)
{
	if (!job->run->held)
		return "this job";
	return job->flags & JOB_ON_HOLD ? "the run and this job" : "the job's run";
}

static void tell_ended(struct telling *telling)
{
	const struct job *job = telling->job;

	buf_addf(&telling->words, "the job has ended: %s", state_table[job->state].name);
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
		buf_addf(&telling->words, "%s%.*s (%s)", open == 1 ? "the job waits for " : ", ",
			 (int)parent_spec.name.len, (const char *)parent_spec.name.data,
			 state_table[parent->state].name);
	}
	if (open > NAMES_MAX)
		buf_addf(&telling->words, " and %u more", open - NAMES_MAX);
	if (telling->job->pending > open)
		buf_addf(&telling->words, "%s%u added to the run", open > 0 ? " and for " : "the job waits for ",
			 telling->job->pending - open);
	if (telling->spec->needs_text.len > 0)
		buf_addf(&telling->words, "; the job needs: %.*s", (int)telling->spec->needs_text.len,
			 (const char *)telling->spec->needs_text.data);
	if (job_on_hold(telling->job))
		buf_addf(&telling->words, "; a person put a hold on %s", on_hold(telling->job));
	return REASON_WAITS_FOR_DEPENDENCY;
}

void tell_count(struct telling *telling, const char *lead, uint64_t count, const char *one, const char *many)
{
	buf_addf(&telling->words, "%s%llu %s", lead, (unsigned long long)count, count == 1 ? one : many);
}

/* Add how often a service was started again; in a crash loop, say so. */
static enum reason tell_service(struct telling *telling, enum reason reason)
{
	const struct job *job = telling->job;

	if (job->tries > 1)
		tell_count(telling, "; it was started again ", job->tries - 1U, "time", "times");
	if (!(job->flags & JOB_CRASH_LOOP))
		return reason;
	buf_addf(&telling->words, "; it ended too often in a short time (crash loop), so it is started only every %d minutes until it stays up for ",
		 LIMIT_SERVICE_LOOP_WAIT_MS / 60000);
	text_add_span(&telling->words, service_stable_ms(telling->spec));
	return REASON_CRASH_LOOP;
}

static enum reason tell_delayed(struct telling *telling)
{
	const struct job *job = telling->job;

	if (job_is_service(job) && job->tries > 0) {
		buf_add_str(&telling->words, "the service's process ended; it is started again in ");
		tell_wait(telling);
		return tell_service(telling, REASON_DUE);
	}
	buf_add_str(&telling->words, "the job is due in ");
	tell_wait(telling);
	if (job_passes(job) > 0 && job->tries == 0)
		buf_addf(&telling->words, ": then pass %u of %llu begins", job_passes(job) + 1,
			 (unsigned long long)telling->spec->loop_max);
	if (retry_failures(job) > 0) {
		tell_count(telling, ": ", retry_failures(job), "failure", "failures");
		tell_count(telling, ", ", telling->spec->retry_max, "retry allowed", "retries allowed");
	}
	if (job->crashes > 0) {
		tell_count(telling, "; ", job->crashes, "attempt lost", "attempts lost");
		buf_addf(&telling->words, " with their workers, and the crash limit is %llu", (unsigned long long)crash_limit(telling->spec));
	}
	if (job_on_hold(job)) {
		buf_addf(&telling->words, "; a person put a hold on %s", on_hold(job));
		return REASON_HELD;
	}
	return REASON_DUE;
}

/* Say why a gate that names people or teams can't be approved by anybody. */
static void tell_nobody(struct telling *telling)
{
	struct slice_list from = telling->spec->gate_from;

	if (people_named(telling->core, telling->spec, (struct slice){ 0 }) > 0) {
		buf_addf(&telling->words, "; nobody may approve: the gate names only %s, who submitted the run and so can't approve",
			 telling->job->run->owner);
		return;
	}
	buf_add_str(&telling->words, "; nobody may approve: titan.conf has no members for ");
	for (size_t i = 0; i < from.n; i++)
		buf_addf(&telling->words, "%s%.*s", i ? ", " : "", (int)from.at[i].len, (const char *)from.at[i].data);
}

/* Name the people and teams who may approve a gate. The run's submitter is never one of them. */
static void tell_approvers(struct telling *telling)
{
	struct slice_list from = telling->spec->gate_from;
	struct slice owner = slice_str(telling->job->run->owner);
	unsigned shown = 0, left = 0;

	if (from.n > 0 && people_named(telling->core, telling->spec, owner) == 0) {
		tell_nobody(telling);
		return;
	}
	for (size_t i = 0; i < from.n; i++) {
		if (slice_eq(from.at[i], owner))
			continue;
		if (shown == NAMES_MAX) {
			left++;
			continue;
		}
		buf_add_str(&telling->words, shown++ ? ", " : "; ");
		team_tell(telling->core, from.at[i], &telling->words);
	}
	if (left > 0)
		tell_count(telling, " and ", left, "other", "others");
	if (shown > 0)
		buf_add_str(&telling->words, " may");
}

static enum reason tell_approval(struct telling *telling)
{
	buf_addf(&telling->words, "%llu of %llu people have approved the gate",
		 (unsigned long long)gate_have(telling->core, telling->job),
		 (unsigned long long)telling->spec->gate_count);
	tell_approvers(telling);
	if (job_on_hold(telling->job))
		buf_addf(&telling->words, "; a person put a hold on %s, so the time-out is stopped",
			 on_hold(telling->job));
	if (telling->job->when_ms > 0) {
		buf_addf(&telling->words, "; without a decision the gate is %s in ",
			 telling->spec->gate_expiry == GATE_APPROVE ? "approved" : "denied");
		tell_wait(telling);
	}
	return REASON_APPROVAL;
}

/* Count the tenant's ready jobs that rank before this one, by priority and age. */
static uint64_t tenant_place(const struct telling *telling)
{
	const struct core *core = telling->core;
	uint64_t before = 0;

	for (size_t i = core->runs.head; i < core->runs.count; i++) {
		const struct run *run = core->runs.at[i].run;

		if (!run || run->tenant != telling->job->run->tenant || run->counts[STATE_READY] == 0)
			continue;
		for (const struct job *job = run_job(run, 0); job; job = job_next(job))
			before += ready_waits(job) && ready_key(job) < ready_key(telling->job);
	}
	return before;
}

static enum reason tell_tenant(struct telling *telling, const struct bound *bound)
{
	const struct tenant *tenant = telling->job->run->tenant;
	uint64_t before = telling->brief ? 0 : tenant_place(telling);

	tell_count(telling, "", bound->active, "job", "jobs");
	buf_addf(&telling->words, " of tenant %s %s active, and the limit is %u", tenant->name,
		 bound->active == 1 ? "is" : "are", bound->limit);
	if (before > 0)
		buf_addf(&telling->words, "; %llu of the tenant's jobs come%s first", (unsigned long long)before, before == 1 ? "s" : "");
	else if (!telling->brief)
		buf_add_str(&telling->words, "; this job comes next");
	return REASON_TENANT_LIMIT;
}

/* Name the runs that have a place in the group, lowest numbers first. */
static enum reason tell_runs(struct telling *telling)
{
	const struct core *core = telling->core;
	const struct group *group = telling->job->run->concurrency;
	unsigned shown = 0;

	tell_count(telling, "", group->runs.active, "run", "runs");
	buf_addf(&telling->words, " of the concurrency group %s %s going, and the limit is %u", group->name,
		 group->runs.active == 1 ? "is" : "are", group->runs.limit);
	if (telling->brief)
		return REASON_CONCURRENCY_RUNS;
	buf_add_str(&telling->words, ": ");
	for (size_t i = core->runs.head; i < core->runs.count && shown < NAMES_MAX; i++) {
		const struct run *run = core->runs.at[i].run;

		if (run && run->concurrency == group && run->seated)
			buf_addf(&telling->words, "%s%llu", shown++ ? ", " : "run ", (unsigned long long)run->number);
	}
	if (group->runs.active > shown)
		buf_add_str(&telling->words, " and others");
	return REASON_CONCURRENCY_RUNS;
}

static enum reason tell_bound(struct telling *telling, const struct bound *bound)
{
	bool of_run = bound->kind == BOUND_RUN;

	if (bound->kind == BOUND_RUNS)
		return tell_runs(telling);
	if (bound->kind == BOUND_LOCK) {
		lock_tell(telling->core, (const struct lock *)bound, telling->job, &telling->words);
		return REASON_LOCKED;
	}
	if (bound->kind == BOUND_GROUP) {
		buf_addf(&telling->words, "%u of the jobs of concurrency group %s %s active, and the limit is %u", bound->active,
			 ((const struct group *)bound)->name, bound->active == 1 ? "is" : "are", bound->limit);
		return REASON_CONCURRENCY_JOBS;
	}
	if (bound->kind == BOUND_TENANT)
		return tell_tenant(telling, bound);
	tell_count(telling, "", bound->active, "job", "jobs");
	buf_addf(&telling->words, " of the job's %s %s active, and the limit is %u", of_run ? "run" : "fan-out",
		 bound->active == 1 ? "is" : "are", bound->limit);
	return of_run ? REASON_RUN_LIMIT : REASON_GROUP_LIMIT;
}

static enum reason tell_ready(struct telling *telling)
{
	const struct bound *full = job_bound_full(telling->core, telling->job), *at = full ? full : job_parked_at(telling->job);
	enum reason reason;

	if (job_on_hold(telling->job)) {
		buf_addf(&telling->words, "a person put a hold on %s", on_hold(telling->job));
		return REASON_HELD;
	}
	if (!at)
		return job_is_subrun(telling->job) ? REASON_QUEUED : tell_workers(telling);
	reason = tell_bound(telling, at);
	if (!full)
		buf_add_str(&telling->words, "; a job that comes before this one in the queue waits for a worker");
	else if (!job_is_subrun(telling->job) &&
		 !class_served(telling->core, telling->core->classes[telling->job->class_at]))
		buf_add_str(&telling->words, "; and no connected worker could run the job");
	return reason;
}

static enum reason tell_condition(struct telling *telling)
{
	const struct job *cause = telling->job->cause ? run_job(telling->job->run, telling->job->cause - 1) : NULL;
	struct rec_job_spec spec;
	struct slice bytes;

	buf_addf(&telling->words, "the job's condition was false: %.*s", (int)telling->spec->when.len,
		 (const char *)telling->spec->when.data);
	if (!cause)
		return REASON_CONDITION;
	bytes = job_spec_bytes(cause);
	CHECK(record_decode(REC_job_spec, &bytes, telling->arena, &spec, NULL) == ERR_NONE);
	buf_addf(&telling->words, "; %.*s is %s", (int)spec.name.len, (const char *)spec.name.data,
		 state_table[cause->state].name);
	if (cause->outcome == OUTCOME_EXIT)
		buf_addf(&telling->words, " with code %u", cause->code);
	return REASON_CONDITION;
}

static enum reason tell_stuck(struct telling *telling, const struct worker *worker)
{
	buf_addf(&telling->words, "one of the job's processes on worker %s was killed but is still there; the job keeps "
		"its slot until the process is gone",
		 worker->name);
	return REASON_STUCK;
}

static enum reason tell_subrun(struct telling *telling)
{
	uint64_t number = job_child(telling->job);
	const struct run *child = run_find(telling->core, number);

	buf_addf(&telling->words, "the job's sub-run is run %llu", (unsigned long long)number);
	if (child)
		buf_addf(&telling->words, ", in which %u of %u jobs have ended", child->ended, child->job_count);
	return REASON_RUNNING;
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
		if (worker && worker_has_stuck(worker, job_serial(telling->job)))
			return tell_stuck(telling, worker);
		buf_addf(&telling->words, "the job was given to worker %s, which %s", worker->name,
			 telling->spec->inputs.len > 0 ? "gets its files and then starts it" : "hasn't reported the job's start");
		return REASON_SENT;
	case STATE_RUNNING:
		if (job_is_subrun(telling->job))
			return tell_subrun(telling);
		if (worker_has_stuck(worker, job_serial(telling->job)))
			return tell_stuck(telling, worker);
		buf_addf(&telling->words, "the job runs on worker %s", worker->name);
		if (worker->state == WORKER_UNREACHABLE)
			buf_add_str(&telling->words, ", which can't be reached now");
		return job_is_service(telling->job) ? tell_service(telling, REASON_RUNNING) : REASON_RUNNING;
	case STATE_STOPPING:
		if (worker && worker_has_stuck(worker, job_serial(telling->job)))
			return tell_stuck(telling, worker);
		return REASON_STOPPING;
	case STATE_UNKNOWN:
		return REASON_UNKNOWN_ONCE;
	default:
		if (telling->job->flags & JOB_CONDITION_FALSE)
			return tell_condition(telling);
		tell_ended(telling);
		return REASON_ENDED;
	}
}

/*
 * Add the number of interrupted attempts; without it the explanation wouldn't show that the job began more than once.
 */
static void tell_interrupted(struct telling *telling, enum reason reason)
{
	uint32_t count = telling->job->interrupted;

	if (count == 0)
		return;
	if (telling->words.len == 0)
		buf_add_str(&telling->words, reason_text(reason));
	tell_count(telling, "; ", count, "earlier attempt", "earlier attempts");
	buf_add_str(&telling->words, count == 1 ? " was ended by its worker" : " were ended by their workers");
}

void explain_job(const struct core *core, const struct job *job, bool brief, struct arena *arena, struct rec_job_row *row)
{
	struct telling telling = { .core = core, .job = job, .brief = brief, .arena = arena };
	struct rec_job_spec spec;
	struct slice bytes = job_spec_bytes(job);

	CHECK(record_decode(REC_job_spec, &bytes, arena, &spec, NULL) == ERR_NONE);
	telling.spec = &spec;
	telling.target = job_target(core, job, arena);
	row->why_code = tell(&telling);
	tell_loop(&telling, (enum reason)row->why_code);
	tell_interrupted(&telling, (enum reason)row->why_code);
	tell_ends(&telling, (enum reason)row->why_code);
	if (telling.words.len == 0)
		buf_add_str(&telling.words, reason_text(row->why_code));
	row->why = arena_copy(arena, buf_slice(&telling.words));
	buf_free(&telling.words);
}

bool view_explain(const struct core *core, uint64_t serial, struct arena *arena, struct rec_job_row *row)
{
	const struct job *job = job_find(core, serial);

	if (job)
		explain_job(core, job, false, arena, row);
	return job != NULL;
}
