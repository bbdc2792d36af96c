/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From rows to state. Rows are the truth, but nothing in them is believed unseen: what doesn't fit
 * together is refused with a text that says what. Jobs without a row are as their parents make them.
 */
#include "core/internal.h"

#include "base/text.h"

#define NUMBER_MAX (INT64_MAX / 2)
#define TRUST(error, ...) error_set(error, ERR_STORE_TRUST, __VA_ARGS__)

static bool number_sane(int64_t value, int64_t low)
{
	return value >= low && value <= NUMBER_MAX;
}

static enum err load_meta(struct core *core, const struct row_meta *row, struct error *error)
{
	const struct {
		const char *name;
		uint64_t *value;
	} counters[] = {
		{ "generation", &core->generation }, { "boot", &core->boot }, { "next_run", &core->next_run },
		{ "next_job", &core->next_job }, { "next_worker", &core->next_worker },
		{ "turn", &core->turn }, { "fences", &core->fences },
	};

	const struct {
		const char *name;
		int64_t *value;
	} clocks[] = {
		{ "steady_base_ms", &core->steady.base_ms }, { "steady_skew_ms", &core->steady.skew_ms },
	};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		if (!slice_eq(row->name, slice_str(clocks[i].name)))
			continue;
		if (row->value > NUMBER_MAX || row->value < -NUMBER_MAX)
			return TRUST(error, "meta: %s is %lld", clocks[i].name, (long long)row->value);
		*clocks[i].value = row->value;
	}
	if (slice_eq(row->name, slice_str("steady_boot")))
		core->steady.boot_id = (uint64_t)row->value;
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		if (!slice_eq(row->name, slice_str(counters[i].name)))
			continue;
		if (!number_sane(row->value, 1) ||
		    (counters[i].value == &core->generation && row->value > UINT32_MAX))
			return TRUST(error, "meta: %s is %lld", counters[i].name, (long long)row->value);
		*counters[i].value = (uint64_t)row->value;
	}
	return ERR_NONE;
}

static enum err load_worker(struct core *core, const struct row_worker *row, struct error *error)
{
	struct worker *worker;
	uint64_t last = core->worker_count ? core->workers[core->worker_count - 1]->number : 0;

	if (!number_sane(row->worker, 1) || (uint64_t)row->worker <= last ||
	    (uint64_t)row->worker >= core->next_worker || row->worker > UINT32_MAX)
		return TRUST(error, "worker %lld: out of order, or over next_worker", (long long)row->worker);
	if (!text_is_name(row->name) || name_map_get(&core->worker_names, row->name))
		return TRUST(error, "worker %lld: its name is bad or taken", (long long)row->worker);
	if (row->slots < 1 || row->slots > LIMIT_SLOTS_MAX || row->instance.len > INSTANCE_SIZE)
		return TRUST(error, "worker %lld: bad slots or instance", (long long)row->worker);
	if ((row->pool.len > 0 && !text_is_name(row->pool)) || row->standing < 0 || row->standing > STANDING_DRAINING)
		return TRUST(error, "worker %lld: bad pool or standing", (long long)row->worker);
	worker = worker_new(core, (uint64_t)row->worker, row->name);
	worker->slots = (uint32_t)row->slots;
	worker->slots_high = worker->slots;
	worker->seen_ms = row->seen_ms;
	worker->pool = pool_get(core, row->pool);
	worker->standing = (enum worker_standing)row->standing;
	worker->instance_len = row->instance.len;
	if (row->instance.len > 0)
		memcpy(worker->instance, row->instance.data, row->instance.len);
	return ERR_NONE;
}

static char *text_copy(struct slice text)
{
	char *copy = mem_zalloc(text.len + 1);

	if (text.len > 0)
		memcpy(copy, text.data, text.len);
	return copy;
}

static enum err load_run_row(struct core *core, const struct row_run *row, struct error *error)
{
	struct run *run;

	if (!number_sane(row->run, 1) || (uint64_t)row->run >= core->next_run)
		return TRUST(error, "run %lld: out of order, or over next_run", (long long)row->run);
	if (row->jobs < 1 || row->jobs > LIMIT_RUN_JOBS_MAX || !number_sane(row->first, 1))
		return TRUST(error, "run %lld: it has %lld jobs from %lld on", (long long)row->run,
			     (long long)row->jobs, (long long)row->first);
	if (row->max_jobs < 0 || row->max_jobs > UINT32_MAX)
		return TRUST(error, "run %lld: max_jobs is %lld", (long long)row->run, (long long)row->max_jobs);
	run = mem_zalloc(sizeof(*run));
	run->number = (uint64_t)row->run;
	run->first = (uint64_t)row->first;
	run->job_count = (uint32_t)row->jobs;
	run->name = text_copy(row->name);
	run->owner = text_copy(row->owner);
	run->schedule = row->schedule.len ? text_copy(row->schedule) : NULL;
	run->submitted_ms = row->submitted_ms;
	run->steady_ms = row->steady_ms;
	run->logs_gone_ms = row->logs_gone_ms;
	run->cancelled = row->cancelled != 0;
	run->held = row->held != 0;
	run->bound = (struct bound){ .kind = BOUND_RUN, .limit = (uint32_t)row->max_jobs };
	run->seated = row->seated != 0;
	run_take_tenant(core, run, row->tenant);
	if (!run_join_concurrency(core, run, row->concurrency) || (run->seated && !run->concurrency) || !subrun_load(run, row)) {
		run_release_bounds(core, run);
		run_free(run);
		return TRUST(error, "run %lld: its concurrency group, or what it is within, contradicts itself", (long long)row->run);
	}
	if (run->seated)
		run->concurrency->runs.active++;
	run_add(core, run);
	return ERR_NONE;
}

static enum err load_run(struct core *core, const struct row_run *row, struct error *error)
{
	const struct run_list *list = &core->runs;
	const struct run *last = list->count ? list->at[list->count - 1].run : NULL;

	if (pruned_find(core, (uint64_t)row->run) || pruning_find(core, (uint64_t)row->run))
		return TRUST(error, "run %lld: it lives and was pruned", (long long)row->run);
	if (row->ended_ms != 0)
		return TRUST(error, "run %lld: loaded as live, but it has ended", (long long)row->run);
	if (last && row->run <= (int64_t)last->number)
		return TRUST(error, "run %lld: out of order, or over next_run", (long long)row->run);
	return load_run_row(core, row, error);
}

/* Job rows are sought by how many came together: it must be as many as there are. */
static bool part_fits(struct run *run, const struct row_spec *row)
{
	bool begins = row->part == 0 || row->first != 0;

	if (row->jobs < 0 || row->jobs > run->job_count || (begins ? run->missing > 0 : row->jobs > 0))
		return false;
	if (begins && (row->part > 0 || row->jobs > 0)) {
		run->missing = (uint32_t)row->jobs;
		run->said = true;
	} else if (begins) {
		run->said = false;       /* of an older version: all but what came later */
	}
	if (!run->said)
		return true;
	if (row->count > run->missing)
		return false;
	run->missing -= (uint32_t)row->count;
	return true;
}

static enum err load_spec(struct core *core, const struct row_spec *row, struct error *error)
{
	struct run *run = run_find(core, (uint64_t)row->run);
	uint32_t count;

	if (!run || row->part != run->part_count || row->count < 0 || row->count > run->job_count)
		return TRUST(error, "spec of run %lld: part %lld doesn't fit", (long long)row->run,
			     (long long)row->part);
	count = run->part_count;
	if (count == 0 ? row->first != 0 && row->first != (int64_t)run->first : row->first != 0 && !number_sane(row->first, 1))
		return TRUST(error, "spec of run %lld: part %lld begins with job %lld", (long long)row->run,
			     (long long)row->part, (long long)row->first);
	if (!part_fits(run, row))
		return TRUST(error, "spec of run %lld: part %lld isn't of what came with it", (long long)row->run,
			     (long long)row->part);
	parts_room(run, 1);
	run->parts[count] = blob_make(row->body);
	run->part_jobs[count] = (uint32_t)row->count;
	run->part_first[count] = count == 0 ? run->first : (uint64_t)row->first;
	run->part_count++;
	return ERR_NONE;
}

/* Those of a run rise, and no job has two runs. */
static bool extent_fits(const struct core *core, const struct extent *extent)
{
	const struct run *run = extent->run;
	const struct extent *before = run->extent_count > 1 ? run->extents[run->extent_count - 2] : NULL;

	return extent->count > 0 && extent->first + extent->count <= core->next_job &&
	       (!before || before->first + before->count <= extent->first) && directory_free(core, extent);
}

static enum err run_build(struct core *core, struct run *run, struct error *error)
{
	uint32_t part_count = run->part_count;
	struct error why = { 0 };
	uint64_t jobs = 0;

	for (uint32_t part = 0; part < run->part_count; part++)
		jobs += run->part_jobs[part];
	if (jobs != run->job_count || run->missing > 0)
		return TRUST(error, "run %llu: its specification has %llu jobs instead of %u",
			     (unsigned long long)run->number, (unsigned long long)jobs, run->job_count);
	for (uint32_t part = 0, parts; part < part_count; part += parts) {
		uint64_t first = run->part_first[part];

		for (parts = 1; part + parts < part_count && run->part_first[part + parts] == 0; parts++)
			;
		if (graph_build(core, run, first, parts, &why) == ERR_NONE &&
		    !extent_fits(core, run->extents[run->extent_count - 1])) {
			error_set(&why, ERR_STORE_TRUST, "its jobs overlap or are over next_job");
			extent_drop(run);
		}
		if (why.code != ERR_NONE) {
			run->job_count = (uint32_t)jobs;         /* it was counted so */
			return TRUST(error, "run %llu: %.300s", (unsigned long long)run->number, why.text);
		}
		extent_add(core, run->extents[run->extent_count - 1]);
	}
	return ERR_NONE;
}

static enum err graphs_build(struct core *core, struct error *error)
{
	enum err err = ERR_NONE;

	core->graphs_built = true;
	for (size_t i = core->runs.head; i < core->runs.count && err == ERR_NONE; i++)
		err = run_build(core, core->runs.at[i].run, error);
	return err;
}

static bool job_row_sane(const struct core *core, const struct row_job *row, const struct job *job)
{
	bool holds = state_holds((enum job_state)row->state);

	if (row->state < 0 || row->state >= STATE_COUNT || row->outcome < 0 || row->outcome >= OUTCOME_COUNT)
		return false;
	if (row->epoch < 0 || (uint64_t)row->epoch >> 32 > core->generation || (holds && row->epoch == 0))
		return false;
	if (row->round < 0 || row->round > UINT16_MAX || row->crashes < 0 || row->crashes > UINT8_MAX)
		return false;
	if (row->tries < row->crashes || row->tries > UINT16_MAX || (holds && row->tries == 0))
		return false;
	/* One that is no more may have had an attempt that has ended. */
	if (row->worker < 0 || (uint64_t)row->worker >= core->next_worker ||
	    (holds && !(job->flags & JOB_SUBRUN) && !worker_find(core, (uint64_t)row->worker)))
		return false;
	if (!subrun_row_sane(job, row) || !loop_row_sane(job, row))
		return false;
	if (row->stop_cause < 0 || row->stop_cause >= EVENT_COUNT ||
	    (row->state == STATE_STOPPING && row->stop_cause != EVENT_CANCEL &&
	     row->stop_cause != EVENT_RUN_TIMEOUT && row->stop_cause != EVENT_DEADLINE))
		return false;
	if (row->cause != 0) {
		const struct job *cause = row->cause > 0 ? job_find(core, (uint64_t)row->cause - 1) : NULL;

		if (!cause || cause->run != job->run)
			return false;
	}
	if (row->priority < 0 || row->priority > PRIORITY_MAX || row->flags < 0 || row->flags > ROW_JOB_FLAGS)
		return false;
	return row->code >= 0 && row->code <= UINT32_MAX && row->rss_kib >= 0 && row->rss_kib <= UINT32_MAX &&
	       row->cpu_us >= 0 && row->out_bytes >= 0 && number_sane(row->due_ms, 0) &&
	       number_sane(row->started_ms, 0) && number_sane(row->ended_ms, 0);
}

static enum err load_job(struct core *core, const struct row_job *row, struct error *error)
{
	struct job *job = job_find(core, (uint64_t)row->job);
	struct run *run;

	if (!job || job->run->number != (uint64_t)row->run)
		return TRUST(error, "job %lld: it is not in run %lld", (long long)row->job,
			     (long long)row->run);
	if (job->flags & JOB_ROW)
		return TRUST(error, "job %lld: it has two rows", (long long)row->job);
	if (!job_row_sane(core, row, job))
		return TRUST(error, "job %lld: its row contradicts itself", (long long)row->job);
	run = job->run;
	run->counts[job->state]--;
	run->counts[row->state]++;
	job->state = (uint8_t)row->state;
	job->flags |= JOB_ROW;
	job->epoch = (uint64_t)row->epoch;
	job->round = (uint16_t)row->round;
	job->tries = (uint16_t)row->tries;
	job->crashes = (uint8_t)row->crashes;
	job->worker = (uint32_t)row->worker;
	job->stop_cause = (uint8_t)row->stop_cause;
	job->outcome = (uint8_t)row->outcome;
	job->code = (uint32_t)row->code;
	job->cause = row->cause ? job_find(core, (uint64_t)row->cause - 1)->index + 1 : 0;
	job->when_ms = state_terminal(job->state) ? row->ended_ms : row->due_ms;
	job->started_ms = row->started_ms;
	job->cpu_us = (uint64_t)row->cpu_us;
	job->rss_kib = (uint32_t)row->rss_kib;
	job->out_bytes = (uint64_t)row->out_bytes;
	job->priority = (uint8_t)row->priority;
	job_child_set(job, (uint64_t)row->child);
	job_passes_set(job, (uint32_t)row->passes);
	if (row->flags & ROW_JOB_HELD && !state_terminal(job->state))
		job->flags |= JOB_ON_HOLD;
	if (row->flags & ROW_JOB_LOOSE)
		job->flags |= JOB_LOOSE;
	if (row->flags & ROW_JOB_PASSED)
		job->flags |= JOB_PASSED;
	if (row->flags & ROW_JOB_DEAD)
		job->flags |= JOB_DEAD;
	if (row->flags & ROW_JOB_LATE)
		job->flags |= JOB_LATE;
	if (row->flags & ROW_JOB_UNTAKEN)
		job->flags |= JOB_UNTAKEN;
	if ((job->state == STATE_APPROVAL || job->state == STATE_UNKNOWN) && !core->loaded)
		gate_add(core, job);
	return ERR_NONE;
}

/* Why a job is being done again: no other round of it, and not when it has ended. */
static void load_pushback(struct core *core, const struct row_decision *row)
{
	struct job *job = job_find(core, (uint64_t)row->target);

	if (job && job->run->number == (uint64_t)row->run && job->round == row->target_round &&
	    !state_terminal(job->state) && !(job->flags & JOB_PUSHED) && row->digest.len == SHA256_SIZE)
		pushback_add(core, job, (uint64_t)row->person, row->digest, row->reason);
}

static enum err load_decision(struct core *core, const struct row_decision *row, struct error *error)
{
	const struct job *job = job_find(core, (uint64_t)row->job);
	static const uint8_t none[SHA256_SIZE];
	struct gate *gate;

	if (!job || job->run->number != (uint64_t)row->run)
		return TRUST(error, "decision on job %lld: it is not in run %lld", (long long)row->job,
			     (long long)row->run);
	if (row->verdict == VERDICT_PUSHED_BACK)
		load_pushback(core, row);
	gate = gate_find(core, (uint64_t)row->job);
	if (!gate || job->state != STATE_APPROVAL || row->round != job->round)
		return ERR_NONE;         /* what was decided is in the job's state */
	/* Of an older version: on whatever was shown then. */
	if (row->verdict != VERDICT_APPROVED ||
	    !gate_vote(gate, (uint64_t)row->person, row->digest.len == SHA256_SIZE ? row->digest.data : none))
		return TRUST(error, "decision on job %lld: it was rejected and still waits", (long long)row->job);
	return ERR_NONE;
}

static enum err load_key(struct core *core, const struct row_submit_key *row, struct error *error)
{
	uint8_t id[24];

	if (row->submit_key.len != 16 || row->digest.len != 32)
		return TRUST(error, "submit_key of run %lld: wrong length", (long long)row->run);
	key_id(id, (uint64_t)row->principal, row->submit_key.data);
	if (pruned_find(core, (uint64_t)row->run))
		return TRUST(error, "submit_key of run %lld: the run was pruned", (long long)row->run);
	if (name_map_get(&core->keys, slice_make(id, sizeof(id))))
		return TRUST(error, "submit_key of run %lld: it is there twice", (long long)row->run);
	if (row->by_run < 0 || row->by_run > row->run)
		return TRUST(error, "submit_key of run %lld: a later run can't have begun it", (long long)row->run);
	key_add(core, id, row->digest.data, (uint64_t)row->run, (uint64_t)row->by_run);
	return ERR_NONE;
}

static bool schedule_key_sane(const struct core *core, const struct row_schedule *row)
{
	if (row->submit_key.len == 0)
		return row->digest.len == 0;
	return row->submit_key.len == 24 && row->digest.len == SHA256_SIZE && !name_map_get(&core->keys, row->submit_key);
}

static enum err load_schedule(struct core *core, const struct row_schedule *row, struct error *error)
{
	struct schedule *schedule;
	struct error why = { 0 };

	if (!text_is_name(row->schedule) || schedule_find(core, row->schedule))
		return TRUST(error, "a schedule's name is bad or taken");
	if (!number_sane(row->next_ms, 0) || !number_sane(row->last_ms, 0) || !number_sane(row->last_run, 0) ||
	    row->queued < 0 || row->queued > UINT32_MAX || !number_sane(row->fired, 0) || !number_sane(row->skipped, 0) ||
	    row->skip_why < 0 || row->skip_why > SKIP_REFUSED || row->max_jobs < 0 || row->max_jobs > UINT32_MAX ||
	    !schedule_key_sane(core, row))
		return TRUST(error, "schedule %.*s: its row contradicts itself", (int)row->schedule.len,
			     (const char *)row->schedule.data);
	schedule = schedule_new(core, row->schedule, row->owner);
	schedule->principal = (uint64_t)row->principal;
	schedule->max_jobs = (uint32_t)row->max_jobs;
	mem_free(schedule->tenant);
	schedule->tenant = text_copy(row->tenant);
	mem_free(schedule->concurrency);
	schedule->concurrency = text_copy(row->concurrency);
	schedule->paused = row->paused != 0;
	schedule->next_ms = row->next_ms;
	schedule->last_ms = row->last_ms;
	schedule->last_run = (uint64_t)row->last_run;
	schedule->queued = (uint32_t)row->queued;
	schedule->fired = (uint64_t)row->fired;
	schedule->skipped = (uint64_t)row->skipped;
	schedule->skip_why = (uint8_t)row->skip_why;
	schedule->skip_ms = row->skip_ms;
	schedule->live = schedule_count_live(core, schedule);
	if (row->submit_key.len > 0)
		schedule_keep_key(core, schedule, row->submit_key.data, row->digest.data);
	if (schedule_take_spec(core, schedule, row->spec, &why) != ERR_NONE)
		return TRUST(error, "schedule %s: %.300s", schedule->name, why.text);
	return ERR_NONE;
}

static enum err load_schedule_part(struct core *core, const struct row_schedule_part *row, struct error *error)
{
	struct schedule *schedule = schedule_find(core, row->schedule);

	if (!schedule || row->part != (int64_t)schedule->part_count || row->count < 0 || row->count > LIMIT_RUN_JOBS_MAX)
		return TRUST(error, "a part of a schedule's graph doesn't fit");
	schedule->parts = mem_resize(schedule->parts, schedule->part_count + 1, sizeof(*schedule->parts));
	schedule->parts[schedule->part_count++] = (struct graph_part){ blob_make(row->body), (uint32_t)row->count };
	return ERR_NONE;
}

enum err core_load_row(struct core *core, const struct row *row, struct error *error)
{
	enum err err = ERR_NONE;

	CHECK(!core->loaded);
	if (row->table >= TABLE_job && !core->graphs_built)
		err = graphs_build(core, error);
	if (err != ERR_NONE)
		return err;
	switch (row->table) {
	case TABLE_meta:
		return load_meta(core, &row->meta, error);
	case TABLE_worker:
		return load_worker(core, &row->worker, error);
	case TABLE_pool:
		return load_pool(core, &row->pool, error);
	case TABLE_tenant:
		return load_tenant(core, &row->tenant, error);
	case TABLE_lock_hold:
		return load_lock_hold(core, &row->lock_hold, error);
	case TABLE_job_group:
		return load_group(core, &row->job_group, error);
	case TABLE_pruned:
		return load_pruned(core, &row->pruned, error);
	case TABLE_pruning:
		return load_pruning(core, &row->pruning, error);
	case TABLE_run:
		return load_run(core, &row->run, error);
	case TABLE_spec:
		return load_spec(core, &row->spec, error);
	case TABLE_job:
		return load_job(core, &row->job, error);
	case TABLE_decision:
		return load_decision(core, &row->decision, error);
	case TABLE_submit_key:
		return load_key(core, &row->submit_key, error);
	case TABLE_schedule:
		return load_schedule(core, &row->schedule, error);
	case TABLE_schedule_part:
		return load_schedule_part(core, &row->schedule_part, error);
	case TABLE_dead:
	case TABLE_event:
	case TABLE_COUNT:
		break;
	}
	return ERR_NONE;                 /* history isn't state */
}

/* --- what follows from the rows --- */

struct standing *run_standing(const struct run *run)
{
	struct standing *standing = mem_array(run->job_count, sizeof(*standing));

	for (const struct job *parent = run_job(run, 0); parent; parent = job_next(parent)) {
		struct child_walk walk = children_of(parent);
		uint32_t edge;

		while (child_next(&walk, &edge)) {
			struct standing *child = &standing[edge >> TRIGGER_BITS];

			if (!state_terminal(parent->state)) {
				child->open++;
				child->asked += (edge & ((1U << TRIGGER_BITS) - 1)) != TRIGGER_EXPR;
			} else if (!trigger_met(edge & ((1U << TRIGGER_BITS) - 1), job_result(parent))) {
				child->against = true;
			}
		}
	}
	for (const struct job *job = run->decider_count ? run_job(run, 0) : NULL; job; job = job_next(job))
		if (job->flags & JOB_EXPR)
			job_stand(job, &standing[job->index]);
	return standing;
}

/* I6, and the same transaction for a completion and what it decides. */
bool standing_fits(const struct job *job, struct standing standing)
{
	if (job->flags & JOB_LOOSE)
		return job->state != STATE_WAITING;
	switch ((enum job_state)job->state) {
	case STATE_WAITING:
		return standing_outlook(standing) == OUTLOOK_OPEN || standing_outlook(standing) == OUTLOOK_GO;
	case STATE_SKIPPED:
		return job->flags & JOB_UNTAKEN ? standing.untaken : standing.against;
	case STATE_CANCELLED:
	case STATE_TIMED_OUT:
		return true;             /* a deadline or a person may come before the dependencies */
	default:
		return standing_outlook(standing) == OUTLOOK_GO;
	}
}

static void job_resume(struct core *core, struct job *job)
{
	if (job->state == STATE_READY)
		ready_push(core, job);
	if (state_holds(job->state))
		attempt_attach(core, worker_find(core, job->worker), job);
	if (state_claims(job->state))
		claims_count(core, job, 1);
	job_resume_timers(core, job);
}

static enum err bad_ends(struct core *core, struct run *run, struct error *error)
{
	if (bad_end_load(core, run))
		return ERR_NONE;
	return TRUST(error, "run %llu: a job has a dead letter and didn't end badly", (unsigned long long)run->number);
}

static enum err run_resume(struct core *core, struct run *run, struct error *error)
{
	enum err err = bad_ends(core, run, error);
	struct standing *standing = run_standing(run);

	run_resume_clock(core, run);
	for (uint32_t i = 0; i < run->job_count && err == ERR_NONE; i++) {
		struct job *job = run_job(run, i);

		job->flags &= (uint32_t)~JOB_ROW;
		if (!standing_fits(job, standing[i])) {
			err = TRUST(error, "job %llu of run %llu is %s, which its dependencies contradict",
				    (unsigned long long)job_serial(job), (unsigned long long)run->number,
				    state_table[job->state].name);
			break;
		}
		if (job->state == STATE_WAITING) {
			bool go = standing_outlook(standing[i]) == OUTLOOK_GO;

			job->pending = go ? 0 : standing[i].open;
			if (job->flags & JOB_EXPR)
				job_ask_again(job);
			if (go && job->flags & JOB_STAGED) {
				err = TRUST(error, "job %llu of run %llu is waiting, and for nothing",
					    (unsigned long long)job_serial(job), (unsigned long long)run->number);
				break;
			}
			if (go) {
				job->state = STATE_READY;
				run->counts[STATE_WAITING]--;
				run->counts[STATE_READY]++;
			}
		}
		if (run->concurrency && !run->seated && state_holds(job->state)) {
			err = TRUST(error, "job %llu of run %llu has an attempt, and the run no place in its group",
				    (unsigned long long)job_serial(job), (unsigned long long)run->number);
			break;
		}
		run->settled += state_terminal(job->state);
		job_resume(core, job);
	}
	for (size_t state = 0; state < STATE_COUNT; state++)
		core->counts[state] += run->counts[state];
	mem_free(standing);
	run_states(core, run, true);
	if (err == ERR_NONE && run->settled == run->job_count)
		err = TRUST(error, "run %llu: all its jobs have ended, but it has not",
			    (unsigned long long)run->number);
	return err;
}

/* --- a run that had left memory --- */

static enum err ended_rows_load(struct core *core, struct run *run, const struct row *rows, size_t count,
				struct error *error)
{
	struct standing *standing;
	enum err err = ERR_NONE;
	size_t at = 1;

	for (; at < count && rows[at].table == TABLE_spec && err == ERR_NONE; at++)
		err = load_spec(core, &rows[at].spec, error);
	if (err == ERR_NONE)
		err = run_build(core, run, error);
	if (err != ERR_NONE)
		return err;
	for (; at < count && rows[at].table == TABLE_job && err == ERR_NONE; at++)
		err = load_job(core, &rows[at].job, error);
	if (err == ERR_NONE)
		err = bad_ends(core, run, error);
	standing = run_standing(run);
	for (uint32_t i = 0; i < run->job_count; i++) {
		struct job *job = run_job(run, i);

		if (err == ERR_NONE && (!state_terminal(job->state) || !standing_fits(job, standing[i])))
			err = TRUST(error, "job %llu of run %llu is %s, though the run has ended",
				    (unsigned long long)job_serial(job), (unsigned long long)run->number,
				    state_table[job->state].name);
		job->flags &= (uint32_t)~JOB_ROW;
	}
	mem_free(standing);
	return err;
}

enum err run_load_ended(struct core *core, const struct row *rows, size_t count, struct error *error)
{
	struct run *run;
	enum err err;

	CHECK(count > 0 && rows[0].table == TABLE_run && !run_find(core, (uint64_t)rows[0].run.run));
	if (rows[0].run.ended_ms == 0)
		return TRUST(error, "run %lld: it is live and not in memory", (long long)rows[0].run.run);
	if (core->live_jobs + (uint64_t)rows[0].run.jobs > LIMIT_LIVE_JOBS_MAX)
		return error_set(error, ERR_FULL, "%llu jobs are live, and %d is the most: try again when some have ended",
				 (unsigned long long)core->live_jobs, LIMIT_LIVE_JOBS_MAX);
	core->revived_turn = core->turn;
	/* What its jobs left in the queue before they left would be theirs again. */
	ready_compact(core);
	err = load_run_row(core, &rows[0].run, error);
	if (err != ERR_NONE)
		return err;
	run = run_find(core, (uint64_t)rows[0].run.run);
	err = ended_rows_load(core, run, rows, count, error);
	if (err != ERR_NONE) {
		core->live_runs--;
		memset(run->counts, 0, sizeof(run->counts));
		run_remove(core, run);
		run_free(run);
		return err;
	}
	for (size_t state = 0; state < STATE_COUNT; state++)
		core->counts[state] += run->counts[state];
	run->settled = run->job_count;
	run->ended_ms = rows[0].run.ended_ms;
	run_wait_sweep(core, run);
	return ERR_NONE;
}

enum err core_load_end(struct core *core, struct now now, struct outbox *outbox, struct error *error)
{
	bool first = core->generation == 0;
	enum err err = ERR_NONE;

	CHECK(!core->loaded && !core->outbox);
	if (!core->graphs_built)
		err = graphs_build(core, error);
	if (err != ERR_NONE)
		return err;
	core->now = now;
	steady_begin(core);
	for (size_t i = core->runs.head; i < core->runs.count && err == ERR_NONE; i++)
		err = run_resume(core, core->runs.at[i].run, error);
	if (err != ERR_NONE)
		return err;
	err = subruns_load(core, error);
	if (err != ERR_NONE)
		return err;
	if (first && core->runs.count > 0)
		return TRUST(error, "meta: there are runs, but no generation");
	schedules_resume(core);
	core->loaded = true;
	core_turn_begin(core, now, outbox);
	schedules_stepped(core);
	if (!locks_resume(core)) {
		core->outbox = NULL;
		return TRUST(error, "those who hold a lock exclude each other");
	}
	for (size_t i = 0; i < core->worker_count; i++)
		worker_wait(core, core->workers[i]);
	if (first)
		core->generation = 1;
	core->boot++;
	meta_put(core, "generation", core->generation);
	meta_put(core, "boot", core->boot);
	/* What is due fires in the next turn: right after loading the state is what the rows say (I17). */
	turn_flush(core);
	core->outbox = NULL;
	return ERR_NONE;
}
