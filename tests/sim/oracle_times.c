/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Times, on the world's own clock, which nobody sets: no wait is shorter than asked for, and none longer while the
 * master runs, whatever wall clocks are set to. Dates follow the wall clock. Deadlines hold. (I12 for backoffs.)
 */
#include "oracle.h"

#define LATE_MS 60                       /* tolerance: a turn is decided a little after the timer that caused it */
/* tolerance: clocks are read in whole milliseconds, before and after the reboot */
#define REBOOT_MS 10

struct wait {                            /* a wait: when it began and how long it should take */
	int64_t since_ns;
	uint64_t ms;
};

static int64_t unsure_ms(const struct sim_world *world, const struct wait *wait)
{
	return world->boots && world->boot_ns >= wait->since_ns ? REBOOT_MS : 0;
}

static bool wait_known(const struct sim_world *world, const struct wait *wait)
{
	return wait->since_ns > 0 && (world->oracle.wrong_ns == 0 || world->oracle.wrong_ns < wait->since_ns);
}

static bool is_early(const struct sim_world *world, const struct wait *wait)
{
	return wait_known(world, wait) &&
	       world->oracle.decided_ns < wait->since_ns + ((int64_t)wait->ms - unsure_ms(world, wait)) * MS;
}

static bool is_late(const struct sim_world *world, const struct wait *wait)
{
	int64_t due_ns = wait->since_ns + ((int64_t)wait->ms + unsure_ms(world, wait)) * MS;

	if (due_ns < world->up_ns)
		due_ns = world->up_ns;
	/* while the master was paused it could only be late */
	if (wait->since_ns < world->stopped_until_ns)
		return false;
	/* Turns that an earlier process of the master decided can't be judged. */
	return wait_known(world, wait) && world->oracle.decided_ns >= world->up_ns &&
	       world->oracle.decided_ns > due_ns + LATE_MS * MS;
}

static void check_wait(struct sim_world *world, const struct rec_event *event, struct wait wait, bool exact)
{
	if (is_early(world, &wait))
		world_fail(world, "job %u: %s is early", (unsigned)event->job, event_names[event->event]);
	if (exact && is_late(world, &wait))
		world_fail(world, "job %u: %s is late", (unsigned)event->job, event_names[event->event]);
}

static void check_due(struct sim_world *world, const struct rec_event *event, const struct oracle_job *job,
		      const struct rec_job_spec *spec, int64_t wall_ms)
{
	struct wait wait = { .since_ns = job->since_ns, .ms = spec->delay_ms };
	bool retry = job->since_by != EVENT_DEPS_MET;

	if (retry)
		wait.ms = job->wait_least_ms;
	check_wait(world, event, wait, !retry && spec->not_before_ms == 0);
	wait.ms = job->wait_most_ms;
	if (retry && spec->not_before_ms == 0 && is_late(world, &wait))
		world_fail(world, "I12: job %u waits for longer than its backoff", (unsigned)event->job);
	if (spec->not_before_ms > wall_ms)
		world_fail(world, "job %u goes on before its date", (unsigned)event->job);
}

static int64_t submitted_ns(struct sim_world *world, uint64_t serial)
{
	uint64_t first = 0;
	const struct sim_graph *graph = oracle_graph(world, serial, &first);

	return graph ? graph->submitted_ns : 0;
}

/*
 * Check the limited time of an `always` job after its run was told to end. Returns true if the job's deadline needs
 * no other check.
 */
static bool check_ending(struct sim_world *world, const struct rec_event *event, const struct oracle_job *job,
			 const struct rec_job_spec *spec)
{
	struct wait wait = { .since_ns = job->ending_ns, .ms = (uint64_t)world->ending_ms };
	bool of_run = spec->always == ALWAYS_PAST_DEADLINE;

	if ((event->event != EVENT_DEADLINE && event->event != EVENT_CHOSEN) || (uint32_t)job->row.round != job->event_round)
		return true;
	if (spec->timeout_ms > wait.ms)
		wait.ms = spec->timeout_ms;
	if (event->event == EVENT_CHOSEN && wait.since_ns && is_late(world, &wait))
		world_fail(world, "job %u is given out after its time behind the end of its run", (unsigned)event->job);
	if (event->event == EVENT_DEADLINE && of_run && (!wait.since_ns || is_early(world, &wait)))
		world_fail(world, "job %u: its run's deadline ended it too early", (unsigned)event->job);
	return of_run || (wait.since_ns && event->event == EVENT_DEADLINE && !is_early(world, &wait));
}

static void check_deadline(struct sim_world *world, const struct rec_event *event, const struct oracle_job *job,
			   const struct rec_job_spec *spec, int64_t wall_ms)
{
	struct wait wait = { .since_ns = submitted_ns(world, event->job), .ms = spec->deadline_ms };
	bool dated = spec->deadline_at_ms > 0 && spec->deadline_at_ms <= wall_ms;

	if (oracle_always(spec) && check_ending(world, event, job, spec))
		return;
	if (event->event == EVENT_DEADLINE && job->late && !job->late_unsure)
		world_fail(world, "job %u: its deadline had passed when its round began", (unsigned)event->job);
	if (event->event == EVENT_DEADLINE && !dated && (spec->deadline_ms == 0 || is_early(world, &wait)))
		world_fail(world, "job %u: its deadline hasn't come", (unsigned)event->job);
	if (event->event != EVENT_CHOSEN || job->late || job->late_unsure)
		return;
	if (dated || (spec->deadline_ms > 0 && wait_known(world, &wait) && world->oracle.decided_ns >
		      wait.since_ns + ((int64_t)wait.ms + 2 + unsure_ms(world, &wait)) * MS))
		world_fail(world, "job %u is given out after its deadline", (unsigned)event->job);
}

static void begin_round(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
			const struct rec_job_spec *spec, int64_t wall_ms)
{
	struct wait wait = { .since_ns = submitted_ns(world, event->job), .ms = spec->deadline_ms };
	int64_t left_ms = (wait.since_ns - world->oracle.decided_ns) / MS + (int64_t)wait.ms;

	job->late = (spec->deadline_at_ms > 0 && spec->deadline_at_ms <= wall_ms) ||
		    (spec->deadline_ms > 0 && left_ms <= 0);
	job->late_unsure = spec->deadline_ms > 0 && (!wait_known(world, &wait) ||
						     (left_ms >= -2 * REBOOT_MS && left_ms <= 2 * REBOOT_MS));
}

static void times_event(struct sim_world *world, const struct rec_event *event, struct oracle_job *job,
			const struct rec_job_spec *spec, int64_t wall_ms)
{
	struct wait here = { .since_ns = job->since_ns };

	if (!spec)
		return;
	if (event_opens_round(event))
		begin_round(world, event, job, spec, wall_ms);
	if (event->event == EVENT_DUE)
		check_due(world, event, job, spec, wall_ms);
	here.ms = spec->gate_timeout_ms;
	if (event->event == EVENT_EXPIRED)
		check_wait(world, event, here, !job->was_held);
	here.ms = spec->timeout_ms;
	if (event->event == EVENT_RUN_TIMEOUT)
		check_wait(world, event, here, true);
	here.ms = spec->dispatch_timeout_ms;
	if (event->event == EVENT_DISPATCH_TIMEOUT)
		check_wait(world, event, here, !job->was_held);
	if (event->event == EVENT_CHOSEN && spec->dispatch_timeout_ms > 0 && !job->was_held && is_late(world, &here))
		world_fail(world, "job %u is given out after its time in the queue", (unsigned)event->job);
	check_deadline(world, event, job, spec, wall_ms);
	job->since_ns = world->oracle.decided_ns;
	job->since_by = (enum job_event)event->event;
	job->was_held = job->row.flags & ROW_JOB_HELD || oracle_run_held(world, job->run);
}

static void times_row(struct sim_world *world, const struct row *row, struct oracle_job *job, const struct outbox *outbox)
{
	struct sim_graph *graph = row->table == TABLE_run ? map_get(&world->oracle.runs, (uint64_t)row->run.run) : NULL;
	uint64_t serial;

	(void)outbox;
	if (job && row->job.flags & ROW_JOB_HELD)
		job->was_held = true;
	for (struct oracle_walk walk = { 0 }; row->table == TABLE_run && row->run.held &&
	     (serial = oracle_run_next(world, (uint64_t)row->run.run, &walk)) != 0;)
		oracle_job(world, serial)->was_held = true;
	/* Note the time of submission: once, and again if the run was pruned and its key submitted anew. */
	if (graph && graph->submitted_run < (uint64_t)row->run.run) {
		graph->submitted_run = (uint64_t)row->run.run;
		graph->submitted_ns = world->oracle.decided_ns;
	}
}

const struct oracle_check oracle_times = { .event = times_event, .row = times_row };
