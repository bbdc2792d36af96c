/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gates: jobs that people decide. Who has approved is a durable row of each person; a rejection decides at
 * once, and so does the expiry, which comes once. What is decided stays so for the round.
 */
#include "core/internal.h"

/* The place of this job's gate in the list, or where it belongs. */
static size_t gate_place(const struct core *core, uint64_t serial)
{
	size_t low = 0, high = core->gate_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (core->gates[middle].job < serial)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct gate *gate_find(const struct core *core, uint64_t serial)
{
	size_t at = gate_place(core, serial);

	return at < core->gate_count && core->gates[at].job == serial ? &core->gates[at] : NULL;
}

void gate_add(struct core *core, const struct job *job)
{
	size_t at = gate_place(core, job_serial(job));

	GROW(core->gates, core->gate_count, core->gate_cap);
	memmove(&core->gates[at + 1], &core->gates[at], (core->gate_count - at) * sizeof(*core->gates));
	core->gates[at] = (struct gate){ .job = job_serial(job) };
	core->gate_count++;
}

void gate_remove(struct core *core, const struct job *job)
{
	size_t at = gate_place(core, job_serial(job));

	CHECK(at < core->gate_count && core->gates[at].job == job_serial(job));
	mem_free(core->gates[at].people);
	core->gate_count--;
	memmove(&core->gates[at], &core->gates[at + 1], (core->gate_count - at) * sizeof(*core->gates));
}

bool gate_vote(struct gate *gate, uint64_t person)
{
	for (size_t i = 0; i < gate->have; i++)
		if (gate->people[i] == person)
			return false;
	GROW(gate->people, gate->have, gate->cap);
	gate->people[gate->have++] = person;
	return true;
}

void gate_timer_arm(struct core *core, struct job *job, int64_t due_ms)
{
	gate_find(core, job_serial(job))->stamp = ++core->gate_stamp;
	due_arm(core, job, TIMER_EXPIRY, due_ms, 0);
}

static void gate_start_time(struct core *core, struct job *job)
{
	struct rec_job_spec spec;

	job_spec_decode(core, job, &spec);
	if (spec.gate_timeout_ms > 0)
		gate_timer_arm(core, job, due_after(core, (int64_t)spec.gate_timeout_ms));
}

void gate_enter(struct core *core, struct job *job)
{
	gate_add(core, job);
	job->when_ms = 0;
	if (!job_on_hold(job))
		gate_start_time(core, job);
}

/* Who holds a gate back wants it decided, if at all, by people: it has its whole time again when it is let go. */
void gate_hold(struct core *core, struct job *job, bool hold)
{
	if (hold && job->flags & JOB_TIMED) {
		job->flags &= (uint32_t)~JOB_TIMED;
		timer_stale(core);
		gate_find(core, job_serial(job))->stamp = 0;
	}
	job->when_ms = 0;
	if (!hold)
		gate_start_time(core, job);
	job_touch(core, job, true);
}

/* A gate without a command is done when it is open. */
static void gate_open(struct core *core, struct job *job, enum job_event event, const struct rec_job_spec *spec)
{
	bool runs = spec->argv.n > 0 || spec->script.len > 0;

	job->flags |= JOB_PASSED;
	job_move(core, job, event, runs ? STATE_READY : STATE_SUCCEEDED);
}

void gate_expired(struct core *core, struct job *job)
{
	struct rec_job_spec spec;

	job_spec_decode(core, job, &spec);
	if (spec.gate_expiry == GATE_APPROVE)
		gate_open(core, job, EVENT_EXPIRED, &spec);
	else
		job_move(core, job, EVENT_EXPIRED, STATE_DENIED);
	jobs_settle(core);
}

/* --- decisions --- */

static bool is_listed(const struct rec_job_spec *spec, struct slice person)
{
	for (size_t i = 0; i < spec->gate_from.n; i++)
		if (slice_eq(spec->gate_from.at[i], person))
			return true;
	return spec->gate_from.n == 0;
}

static enum err gate_denies(const struct input_act *act, const struct job *job, const struct rec_job_spec *spec,
			    struct error *error)
{
	int person = (int)act->person.len, name = (int)spec->name.len;

	if (!is_listed(spec, act->person))
		return error_set(error, ERR_DENIED, "gate %llu/%.*s isn't for %.*s to decide: the pipeline names others",
				 (unsigned long long)act->run, name, (const char *)spec->name.data, person,
				 (const char *)act->person.data);
	if (act->verb == ACT_APPROVE && spec->gate_from.n > 0 &&
	    slice_eq(act->person, slice_str(job->run->owner)))
		return error_set(error, ERR_DENIED, "%.*s submitted run %llu, and its gate %.*s names who approves: "
				 "another of them has to", person, (const char *)act->person.data,
				 (unsigned long long)act->run, name, (const char *)spec->name.data);
	return ERR_NONE;
}

static void decision_put(struct core *core, const struct input_act *act, const struct job *job)
{
	struct row *row = outbox_row(core->outbox, TABLE_decision);
	struct arena *arena = &core->outbox->arena;

	row->decision = (struct row_decision){
		.job = (int64_t)job_serial(job), .round = job->round, .person = (int64_t)act->principal,
		.run = (int64_t)job->run->number, .name = arena_copy(arena, act->person),
		.verdict = act->verb == ACT_APPROVE, .reason = arena_copy(arena, act->text),
		.wall_ms = core->now.wall_ms,
	};
}

/* The gate that is meant: a run alone stands for the only one that waits for people. */
static enum err gate_target(const struct target *target, struct job **ret_job, struct error *error)
{
	struct run *run = target->run;
	struct job *found = NULL;

	if (!target->whole && target->count > 1)
		return error_set(error, ERR_INVALID, "a fan-out of %u jobs is no gate", target->count);
	if (!target->whole) {
		*ret_job = target_job(target, 0);
		return ERR_NONE;
	}
	if (run->counts[STATE_APPROVAL] != 1) {
		error_set(error, run->counts[STATE_APPROVAL] ? ERR_INVALID : ERR_NOT_FOUND,
			  "%u jobs of run %llu wait for approval%s", run->counts[STATE_APPROVAL],
			  (unsigned long long)run->number, run->counts[STATE_APPROVAL] ? ": say which" : "");
		return error_next(error, "titan show %llu", (unsigned long long)run->number);
	}
	for (struct job *at = run_job(run, 0); !found; at = job_next(at))
		if (at->state == STATE_APPROVAL)
			found = at;
	*ret_job = found;
	return ERR_NONE;
}

static enum err gate_check(const struct job *job, const struct rec_job_spec *spec, struct error *error)
{
	unsigned long long run = job->run->number;
	int len = (int)spec->name.len;

	if (spec->gate_count == 0) {
		error_set(error, ERR_INVALID, "job %llu/%.*s is no gate: nobody is asked about it", run, len,
			  (const char *)spec->name.data);
		return error_next(error, "titan approvals");
	}
	if (state_terminal(job->state))
		return error_set(error, ERR_TERMINAL, "gate %llu/%.*s has already ended: %s", run, len,
				 (const char *)spec->name.data, state_table[job->state].name);
	if (job->state != STATE_APPROVAL)
		return error_set(error, ERR_PENDING, "gate %llu/%.*s doesn't wait for approval: it is %s", run, len,
				 (const char *)spec->name.data, state_table[job->state].name);
	return ERR_NONE;
}

enum err gate_decide(struct core *core, const struct input_act *act, const struct target *target,
		     uint64_t *ret_changed, struct error *error)
{
	struct rec_job_spec spec;
	struct gate *gate;
	struct job *job = NULL;

	if (act->text.len > LIMIT_REASON_MAX)
		return error_set(error, ERR_TOO_LARGE, "the reason has %zu bytes; at most %d", act->text.len,
				 LIMIT_REASON_MAX);
	if (gate_target(target, &job, error) != ERR_NONE)
		return error->code;
	job_spec_decode(core, job, &spec);
	if (gate_check(job, &spec, error) != ERR_NONE || gate_denies(act, job, &spec, error) != ERR_NONE)
		return error->code;
	gate = gate_find(core, job_serial(job));
	if (act->verb == ACT_REJECT) {
		decision_put(core, act, job);
		job_move(core, job, EVENT_REJECTED, STATE_DENIED);
	} else {
		if (!gate_vote(gate, act->principal))
			return ERR_NONE;
		decision_put(core, act, job);
		job_touch(core, job, false);
		if (gate->have >= spec.gate_count)
			gate_open(core, job, EVENT_APPROVED, &spec);
	}
	*ret_changed = 1;
	jobs_settle(core);
	return ERR_NONE;
}
