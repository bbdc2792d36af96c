/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gates: jobs on which people vote. Each approval is a durable row of that person. A rejection, or the expiry of
 * the gate, ends it at once. A vote counts for the present round. A vote is about what the person was shown: if
 * that has changed, the act is refused, and earlier votes don't count. Unknown jobs wait for people, too, and are
 * listed with the gates (gates.c).
 */
#include "core/people/people.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/people/internal.h"
#include "core/time/time.h"

bool gate_vote(struct gate *gate, uint64_t person, const uint8_t digest[SHA256_SIZE], struct slice given)
{
	size_t at = 0;

	while (at < gate->vote_count && (gate->votes[at].person != person || PLANTED(gate_counts_a_person_twice)))
		at++;
	if (at < gate->vote_count && memcmp(gate->votes[at].digest, digest, SHA256_SIZE) == 0 &&
	    slice_eq(blob_slice(gate->votes[at].given), given))
		return false;
	if (at == gate->vote_count) {
		GROW(gate->votes, gate->vote_count, gate->vote_cap);
		gate->votes[gate->vote_count++] = (struct vote){ .person = person };
	}
	memcpy(gate->votes[at].digest, digest, SHA256_SIZE);
	blob_release(gate->votes[at].given);
	gate->votes[at].given = given.len > 0 ? blob_make(given) : NULL;
	return true;
}

uint64_t gate_have(const struct core *core, const struct job *job)
{
	const struct gate *gate = gate_find(core, job_serial(job));
	uint64_t have = 0;

	for (size_t i = 0; i < gate->vote_count; i++)
		have += memcmp(gate->votes[i].digest, gate_digest(core, job), SHA256_SIZE) == 0;
	return have;
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
	if (!job_on_hold(job) || PLANTED(gate_expires_while_held))
		gate_start_time(core, job);
}

/*
 * Stop or restart a gate's expiry when it is held or released: while held it mustn't expire, and after the release it
 * has its whole time again.
 */
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

/* Open a gate. A gate with a command becomes ready; one without has succeeded, and put out the values of its fields. */
static void gate_open(struct core *core, struct job *job, enum job_event event, const struct rec_job_spec *spec, struct slice given)
{
	bool runs = spec->argv.n > 0 || spec->script.len > 0;

	job->flags |= JOB_PASSED;
	job_move(core, job, event, runs ? STATE_READY : STATE_SUCCEEDED);
	if (!PLANTED(form_not_put_out))
		outputs_keep(job, given);
}

void gate_expired(struct core *core, struct job *job)
{
	static const struct input_act nobody = { .principal = UINT64_MAX };
	struct rec_job_spec spec;
	bool approves;

	job_spec_decode(core, job, &spec);
	approves = spec.gate_expiry == GATE_APPROVE && !PLANTED(gate_expiry_denies);
	if (!PLANTED(gate_expiry_not_kept))
		decision_put(core, &nobody, job, approves ? VERDICT_EXPIRED_APPROVED : VERDICT_EXPIRED);
	job->stop_cause = EVENT_EXPIRED;
	job_spec_decode(core, job, &spec);
	if (approves)            /* all fields of such a gate may be left out */
		gate_open(core, job, EVENT_EXPIRED, &spec, form_given(core, &spec, (struct slice_list){ 0 }));
	else
		job_move(core, job, EVENT_EXPIRED, STATE_DENIED);
	jobs_tell_children(core);
}

/* --- decisions --- */

static enum err gate_denies(const struct core *core, const struct input_act *act, const struct job *job,
			    const struct rec_job_spec *spec, struct error *error)
{
	int person = (int)act->person.len, name = (int)spec->name.len;
	struct buf others = { 0 };
	bool denied;

	if (!person_is_listed(core, spec, act->person))
		return error_set(error, ERR_DENIED, "gate %llu/%.*s can't be decided by %.*s: the pipeline names "
			"other people",
				 (unsigned long long)act->run, name, (const char *)spec->name.data, person,
				 (const char *)act->person.data);
	/*
	 * People may not approve what they submitted themselves, unless nobody else can; then the decision's row says
	 * so.
	 */
	denied = act->verb == ACT_APPROVE && !PLANTED(gate_approved_by_its_submitter) &&
		 slice_eq(act->person, slice_str(job->run->owner)) && others_may_approve(core, spec, act->person, &others);
	if (denied)
		error_set(error, ERR_DENIED, "%.*s submitted run %llu, and so can't approve gate %.*s: %s must", person,
			  (const char *)act->person.data, (unsigned long long)act->run, name, (const char *)spec->name.data,
			  buf_cstr(&others));
	buf_free(&others);
	return denied ? ERR_DENIED : ERR_NONE;
}

struct row_decision *decision_put(struct core *core, const struct input_act *act, const struct job *job,
				  enum verdict verdict)
{
	struct row *row = outbox_row(core->outbox, TABLE_decision);
	struct arena *arena = &core->outbox->arena;
	struct rec_job_spec spec;

	job_spec_decode(core, job, &spec);
	row->decision = (struct row_decision){
		.job = (int64_t)job_serial(job), .round = job->round, .person = (int64_t)act->principal,
		.self = verdict == VERDICT_APPROVED && slice_eq(act->person, slice_str(job->run->owner)),
		.run = (int64_t)job->run->number, .name = arena_copy(arena, act->person), .verdict = verdict,
		.reason = arena_copy(arena, act->text), .wall_ms = core->now.wall_ms,
		.job_name = arena_copy(arena, spec.name),
	};
	if (job->state == STATE_APPROVAL)
		row->decision.digest = arena_copy(arena, slice_make(gate_digest(core, job), SHA256_SIZE));
	return &row->decision;
}

/* Check that a decision names the digest of what would be shown now. */
static enum err digest_check(struct core *core, const struct input_act *act, const struct job *job,
			     const struct rec_job_spec *spec, struct error *error)
{
	unsigned long long run = job->run->number;
	int len = (int)spec->name.len;

	if (act->digest.len < DIGEST_LEAST || act->digest.len > SHA256_SIZE)
		return error_set(error, ERR_INVALID, "a decision on gate %llu/%.*s must contain %d to %d bytes of the digest of what the person was shown", run, len, (const char *)spec->name.data, DIGEST_LEAST, SHA256_SIZE);
	if (memcmp(act->digest.data, gate_digest(core, job), act->digest.len) == 0 || PLANTED(gate_digest_ignored))
		return ERR_NONE;
	error_set(error, ERR_CHANGED, "gate %llu/%.*s has changed since it was shown; nothing was decided", run, len,
		  (const char *)spec->name.data);
	return error_next(error, "titan show %llu/%.*s", run, len, (const char *)spec->name.data);
}

/* Find the gate meant by an act. A run without a job's name means its only gate that waits for people. */
static enum err gate_target(const struct target *target, struct job **ret_job, struct error *error)
{
	struct run *run = target->run;
	struct job *found = NULL;

	if (!target->whole && target->count > 1)
		return error_set(error, ERR_INVALID, "the name stands for a fan-out of %u jobs; name a single gate", target->count);
	if (!target->whole) {
		*ret_job = target_job(target, 0);
		return ERR_NONE;
	}
	if (run->counts[STATE_APPROVAL] != 1) {
		error_set(error, run->counts[STATE_APPROVAL] ? ERR_INVALID : ERR_NOT_FOUND,
			  "%u jobs of run %llu wait for approval%s", run->counts[STATE_APPROVAL],
			  (unsigned long long)run->number, run->counts[STATE_APPROVAL] ? ": name one of them" : "");
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
		error_set(error, ERR_INVALID, "job %llu/%.*s is no gate, so nobody can decide on it", run, len,
			  (const char *)spec->name.data);
		return error_next(error, "titan approvals");
	}
	if (state_terminal(job->state))
		return error_set(error, ERR_TERMINAL, "gate %llu/%.*s has already ended: %s", run, len,
				 (const char *)spec->name.data, state_table[job->state].name);
	if (job->state != STATE_APPROVAL)
		return error_set(error, ERR_PENDING, "gate %llu/%.*s isn't waiting for approval: it is %s", run, len,
				 (const char *)spec->name.data, state_table[job->state].name);
	return ERR_NONE;
}

/* Find the job that a push back sends back: one job before the gate. */
static enum err pushback_target(struct core *core, const struct input_act *act, struct job *gate, struct job **ret_job,
				struct error *error)
{
	unsigned long long run = act->run;
	int len = (int)act->target.len;
	struct target target;

	if (act->text.len == 0)
		return error_set(error, ERR_INVALID, "a push back needs a reason, which the job that runs again is given");
	if (act->target.len == 0)
		return error_set(error, ERR_INVALID, "name the job to which the gate is sent back: it must be before the gate");
	if (act_target(core, run, act->target, &target, error) != ERR_NONE)
		return error->code;
	if (target.count > 1 || target_job(&target, 0) == gate)
		return error_set(error, ERR_INVALID, "'%.*s' must stand for a single job before the gate", len,
				 (const char *)act->target.data);
	*ret_job = target_job(&target, 0);
	if (pushback_is(core, *ret_job, act->principal, act->digest))
		return ERR_NONE;
	if (state_terminal((*ret_job)->state))
		return subrun_reopens(core, target.run, error);
	if (!round_reaches(core, *ret_job, gate))
		return error_set(error, ERR_INVALID, "'%.*s' isn't before the gate", len, (const char *)act->target.data);
	return error_set(error, ERR_PENDING, "job %llu/%.*s hasn't ended: it is %s", run, len,
			 (const char *)act->target.data, state_table[(*ret_job)->state].name);
}

static enum err gate_push_back(struct core *core, const struct input_act *act, struct job *gate, struct job *job,
			       uint64_t *ret_changed, struct error *error)
{
	uint8_t shown[SHA256_SIZE];
	struct slice digest = slice_make(shown, SHA256_SIZE);
	struct row_decision *decision;

	memcpy(shown, gate_digest(core, gate), SHA256_SIZE);
	if (!round_push_back(core, job, gate, ret_changed)) {
		error_set(error, ERR_INVALID, "'%.*s' isn't a job before the gate, or a job between it and the gate hasn't ended",
			  (int)act->target.len, (const char *)act->target.data);
		return error_next(error, "titan show %llu", (unsigned long long)act->run);
	}
	/* false if the job was skipped again at once, as in its last round */
	if (!state_terminal(job->state))
		pushback_add(core, job, act->principal, digest, act->text);
	decision = decision_put(core, act, gate, VERDICT_PUSHED_BACK);
	decision->round = gate->round - 1;
	decision->digest = arena_copy(&core->outbox->arena, digest);
	decision->target = (int64_t)job_serial(job);
	decision->target_round = job->round;
	decision->target_name = arena_copy(&core->outbox->arena, act->target);
	return ERR_NONE;
}

static void gate_approve(struct core *core, const struct input_act *act, struct job *job, uint64_t *ret_changed)
{
	struct gate *gate = gate_find(core, job_serial(job));
	struct rec_job_spec spec;
	struct slice given;

	job_spec_decode(core, job, &spec);
	given = form_given(core, &spec, act->given);
	if (!gate_vote(gate, act->principal, gate_digest(core, job), given))
		return;
	decision_put(core, act, job, VERDICT_APPROVED)->given = PLANTED(form_not_in_the_decision) ? slice_make(NULL, 0) : given;
	job_touch(core, job, false);
	if (gate_have(core, job) >= spec.gate_count)
		gate_open(core, job, EVENT_APPROVED, &spec, given);
	*ret_changed = 1;
}

enum err gate_answer(struct core *core, const struct input_act *act, const struct target *target,
		     uint64_t *ret_changed, struct error *error)
{
	struct job *job = NULL, *back = NULL;
	struct rec_job_spec spec;

	if (act->text.len > LIMIT_REASON_MAX)
		return error_set(error, ERR_TOO_LARGE, "the reason has %zu bytes; at most %d are allowed", act->text.len,
				 LIMIT_REASON_MAX);
	if (gate_target(target, &job, error) != ERR_NONE ||
	    (act->verb == ACT_PUSHBACK && pushback_target(core, act, job, &back, error) != ERR_NONE))
		return error->code;
	if (back && pushback_is(core, back, act->principal, act->digest))
		return ERR_NONE;         /* a repeated push back by the same person changes nothing */
	job_spec_decode(core, job, &spec);
	if (gate_check(job, &spec, error) != ERR_NONE || gate_denies(core, act, job, &spec, error) != ERR_NONE ||
	    digest_check(core, act, job, &spec, error) != ERR_NONE || form_given_check(core, act, job, &spec, error) != ERR_NONE)
		return error->code;
	if (act->verb == ACT_PUSHBACK)
		return gate_push_back(core, act, job, back, ret_changed, error);
	if (act->verb == ACT_APPROVE) {
		gate_approve(core, act, job, ret_changed);
	} else {
		decision_put(core, act, job, VERDICT_REJECTED);
		job_move(core, job, EVENT_REJECTED, STATE_DENIED);
		*ret_changed = 1;
	}
	jobs_tell_children(core);
	return ERR_NONE;
}
