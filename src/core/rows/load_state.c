/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Building the state from rows. Every row is checked: an inconsistent one is refused with a text that says what is
 * wrong. A job without a row has the state that its parents' rows give it.
 */
#include "core/rows/durable.h"

#include "base/planted.h"
#include "base/text.h"
#include "core/acts/acts.h"
#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/people/people.h"
#include "core/place/place.h"
#include "core/queue/queue.h"
#include "core/rows/internal.h"
#include "core/time/time.h"
#include "core/values/values.h"

static enum err load_meta(struct core *core, const struct row_meta *row, struct error *error)
{
	const struct {
		const char *name;
		uint64_t *value;
	} counters[] = {
		{ "generation", &core->generation }, { "boot", &core->boot }, { "next_run", &core->next_run },
		{ "next_job", &core->next_job }, { "next_worker", &core->next_worker },
		{ "turn", &core->turn }, { "revision", &core->revision }, { PLANTED(lock_fence_forgotten) ? "" : "fences", &core->fences }, { "acts", &core->acts.count },
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
			return TRUST(error, "meta: %s has the bad value %lld", clocks[i].name, (long long)row->value);
		*clocks[i].value = row->value;
	}
	if (slice_eq(row->name, slice_str("steady_boot")))
		core->steady.boot_id = (uint64_t)row->value;
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		if (!slice_eq(row->name, slice_str(counters[i].name)))
			continue;
		if (!number_sane(row->value, 1) ||
		    (counters[i].value == &core->generation && row->value > UINT32_MAX))
			return TRUST(error, "meta: %s has the bad value %lld", counters[i].name, (long long)row->value);
		*counters[i].value = (uint64_t)row->value;
	}
	return ended_sums_load(core, row, error);
}

static enum err load_worker(struct core *core, const struct row_worker *row, struct error *error)
{
	struct worker *worker;
	uint64_t last = core->worker_count ? core->workers[core->worker_count - 1]->number : 0;

	if (!number_sane(row->worker, 1) || (uint64_t)row->worker <= last ||
	    (uint64_t)row->worker >= core->next_worker || row->worker > UINT32_MAX)
		return TRUST(error, "worker %lld: the row is out of order, or its number is above next_worker", (long long)row->worker);
	if (!text_is_name(row->name) || name_map_get(&core->worker_names, row->name))
		return TRUST(error, "worker %lld: the name is invalid or used twice", (long long)row->worker);
	if (row->slots < 1 || row->slots > LIMIT_SLOTS_MAX || row->instance.len > INSTANCE_SIZE)
		return TRUST(error, "worker %lld: invalid slots or instance", (long long)row->worker);
	if ((row->pool.len > 0 && !text_is_name(row->pool)) || row->standing < 0 ||
	    (row->standing & ~ROW_WORKER_ENDED) > STANDING_DRAINING)
		return TRUST(error, "worker %lld: invalid pool or standing", (long long)row->worker);
	worker = worker_new(core, (uint64_t)row->worker, row->name, pool_get(core, slice_make(NULL, 0)));
	worker->slots = (uint32_t)row->slots;
	worker->slots_high = worker->slots;
	worker->seen_ms = row->seen_ms;
	worker->pool = pool_get(core, row->pool);
	if (!PLANTED(cordon_forgotten_at_load))
		worker->standing = (enum worker_standing)(row->standing & ~ROW_WORKER_ENDED);
	worker->ended = (row->standing & ROW_WORKER_ENDED) != 0;
	worker->instance_len = row->instance.len;
	if (row->instance.len > 0)
		memcpy(worker->instance, row->instance.data, row->instance.len);
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

/* Restore a push back, if the job is still in the round that it opened and hasn't ended. */
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
		return TRUST(error, "decision on job %lld: the job isn't in run %lld", (long long)row->job,
			     (long long)row->run);
	if (row->verdict == VERDICT_PUSHED_BACK)
		load_pushback(core, row);
	gate = gate_find(core, (uint64_t)row->job);
	if (!gate || job->state != STATE_APPROVAL || row->round != job->round)
		return ERR_NONE;         /* the job's state already has the result of this decision */
	/* Rows of older versions have no digest; their votes don't count. */
	if (row->verdict != VERDICT_APPROVED ||
	    !gate_vote(gate, (uint64_t)row->person, row->digest.len == SHA256_SIZE ? row->digest.data : none,
		       PLANTED(form_forgotten_at_load) ? slice_make(NULL, 0) : row->given))
		return TRUST(error, "decision on job %lld: the gate was rejected, but its row says that it still waits", (long long)row->job);
	return ERR_NONE;
}

static enum err load_key(struct core *core, const struct row_submit_key *row, struct error *error)
{
	uint8_t id[24];

	if (row->submit_key.len != 16 || row->digest.len != 32)
		return TRUST(error, "submit_key of run %lld: it has the wrong length", (long long)row->run);
	key_id(id, (uint64_t)row->principal, row->submit_key.data);
	if (pruned_find(core, (uint64_t)row->run))
		return TRUST(error, "submit_key of run %lld: the run was pruned", (long long)row->run);
	if (name_map_get(&core->keys, slice_make(id, sizeof(id))))
		return TRUST(error, "submit_key of run %lld: it is stored twice", (long long)row->run);
	if (row->by_run < 0 || row->by_run > row->run)
		return TRUST(error, "submit_key of run %lld: by_run names a later run", (long long)row->run);
	if (!PLANTED(key_forgotten_at_load))
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
		return TRUST(error, "a schedule has an invalid name, or one that is used twice");
	if (!number_sane(row->next_ms, 0) || !number_sane(row->last_ms, 0) || !number_sane(row->last_run, 0) ||
	    row->queued < 0 || row->queued > UINT32_MAX || !number_sane(row->fired, 0) || !number_sane(row->skipped, 0) ||
	    row->skip_why < 0 || row->skip_why > SKIP_REFUSED || row->max_jobs < 0 || row->max_jobs > UINT32_MAX ||
	    !schedule_key_sane(core, row) || context_check(row->context, &why) != ERR_NONE)
		return TRUST(error, "schedule %.*s: its row contradicts itself", (int)row->schedule.len,
			     (const char *)row->schedule.data);
	schedule = schedule_new(core, row->schedule, row->owner);
	schedule->principal = (uint64_t)row->principal;
	schedule->max_jobs = (uint32_t)row->max_jobs;
	mem_free(schedule->tenant);
	schedule->tenant = mem_text(row->tenant);
	mem_free(schedule->concurrency);
	schedule->concurrency = mem_text(row->concurrency);
	schedule->context = blob_make(row->context);
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
		return TRUST(error, "a part of a schedule's graph is missing or doesn't belong there");
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
	case TABLE_pool_provides:
		return load_provides(core, &row->pool_provides, error);
	case TABLE_topic:
		return load_topic(core, &row->topic, error);
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
	case TABLE_act:
		return load_act(core, &row->act, error);
	case TABLE_token:
		return load_token(core, &row->token, error);
	case TABLE_asset:
		return load_asset(core, &row->asset, error);
	case TABLE_value_space:
		return load_value_space(core, &row->value_space, error);
	case TABLE_value:
		return load_value(core, &row->value, error);
	case TABLE_value_request:
		return load_value_request(core, &row->value_request, error);
	case TABLE_dead:
	case TABLE_attempt:
	case TABLE_event:
	case TABLE_change:
	case TABLE_pruned_run:
	case TABLE_COUNT:
		break;
	}
	return ERR_NONE;                 /* tables of history aren't loaded */
}

enum err core_load_end(struct core *core, struct now now, struct outbox *outbox, struct error *error)
{
	bool first = core->generation == 0;
	enum err err = ERR_NONE;

	CHECK(!core->loaded && !core->outbox);
	if (!core->graphs_built)
		err = graphs_build(core, error);
	if (err == ERR_NONE)
		err = acts_loaded(core, error);
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
		return TRUST(error, "stored owners of a lock exclude each other");
	}
	values_resume(core);
	for (size_t i = 0; i < core->worker_count && (core->boot < 2 || !PLANTED(no_grace_after_boot)); i++)
		worker_wait(core, core->workers[i]);
	if (first)
		core->generation = 1;
	core->boot++;
	meta_put(core, "generation", core->generation);
	meta_put(core, "boot", core->boot);
	ended_sums_loaded(core);
	happened(core, HAPPENED_MASTER_BEGAN, core->boot, slice_str(NULL), 0);
	/*
	 * Due timers fire in the next turn, so that right after loading the state is exactly what the rows say (I17).
	 */
	turn_flush(core);
	core->outbox = NULL;
	return ERR_NONE;
}
