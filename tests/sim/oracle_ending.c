/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs with `always`, which run even if their run is told to end: a first cancel leaves them alone. From the moment at
 * which such a job may begin it has a limited time, which nothing prolongs (oracle_times.c checks its length).
 */
#include "oracle.h"

bool oracle_always(const struct rec_job_spec *spec)
{
	return spec->always != ALWAYS_NO || spec->final;
}

/*
 * Note when the job's limited time after the end of its run began, for every job, also if the client doesn't know the
 * run's number yet.
 */
static void note_time(const struct sim_world *world, const struct row_job *row, struct oracle_job *job)
{
	bool same_round = (uint32_t)row->round == job->round;

	if (row->ending_ms > 1 && (!same_round || job->row.ending_ms <= 1))
		job->ending_ns = world->oracle.decided_ns;
	else if (!same_round)
		job->ending_ns = 0;
}

static void check_time(struct sim_world *world, const struct row_job *row, const struct oracle_job *job,
		       const struct rec_job_spec *spec)
{
	const struct row *run = disk_get(&world->disk, TABLE_run, (uint64_t)row->run);
	enum job_state state = (enum job_state)row->state;
	bool same_round = (uint32_t)row->round == job->round;

	if (row->ending_ms && !oracle_always(spec))
		world_fail(world, "job %u has a time after the end of its run, and doesn't run in any case", (unsigned)row->job);
	if (row->ending_ms > 1 && same_round && job->row.ending_ms > 1 && row->ending_ms != job->row.ending_ms &&
	    !world->oracle.loading)
		world_fail(world, "job %u: its time after the end of its run was moved", (unsigned)row->job);
	if (run && run->run.cancelled && oracle_always(spec) && row->ending_ms <= 1 && !state_terminal(state) &&
	    state != STATE_WAITING && state != STATE_STOPPING && state != STATE_UNKNOWN)
		world_fail(world, "job %u goes on after the cancel of its run, and for ever", (unsigned)row->job);
}

static void ending_row(struct sim_world *world, const struct row *row, struct oracle_job *job, const struct outbox *outbox)
{
	const struct rec_job_spec *spec = job ? oracle_spec(world, job->job) : NULL;

	(void)outbox;
	if (job)
		note_time(world, &row->job, job);
	if (spec)
		check_time(world, &row->job, job, spec);
}

/* Count the cancels that people sent for this run. A cancel that also ends `always` jobs counts twice. */
static unsigned cancels_of(const struct sim_world *world, uint64_t run, const struct rec_job_spec *spec)
{
	unsigned count = 0;

	for (size_t i = 0; i < world->act_count; i++) {
		const struct sim_act *act = &world->acts[i];

		if (act->verb != ACT_CANCEL || act->run != run)
			continue;
		if (act->value == CANCEL_ALL || (act->spec && slice_eq(act->spec->name, spec->name)))
			count += 2;
		else if (act->whole)
			count++;
	}
	return count;
}

/*
 * Check that one cancel of the run, or of a run around it, doesn't cancel an `always` job. Exceptions are fail-fast
 * fan-outs, and an enclosing job with `always` of its own. When a time-out or a deadline stops the job that owns a
 * sub-run, that counts as the first cancel of the sub-run.
 */
static void ending_event(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
			 const struct rec_job_spec *spec, int64_t wall_ms)
{
	const struct row *run = disk_get(&world->disk, TABLE_run, job->run);
	unsigned count = 0;

	(void)wall_ms;
	if (event->to == STATE_STOPPING && event->event != EVENT_CANCEL && job->row.child)
		job->told = (uint64_t)job->row.child;
	if (event->event != EVENT_CANCEL || !spec || !oracle_always(spec))
		return;
	while (run && spec) {
		count += cancels_of(world, (uint64_t)run->run.run, spec);
		if (spec->group_fail_fast || (job->job != event->job && oracle_always(spec)))
			return;
		if (!run->run.parent)
			break;
		job = oracle_job(world, (uint64_t)run->run.parent);
		count += count > 0 && job->told == (uint64_t)run->run.run;
		spec = oracle_spec(world, job->job);
		run = disk_get(&world->disk, TABLE_run, (uint64_t)run->run.parent_run);
	}
	if (run && spec && count < 2)
		world_fail(world, "job %u runs in any case, and was cancelled with the others of its run", (unsigned)event->job);
}

const struct oracle_check oracle_ending = { .row = ending_row, .event = ending_event };
