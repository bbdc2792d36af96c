/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts that hang because the job's directory, program or interpreter is on a file system that doesn't answer. Such an
 * attempt keeps its slot and its process, and isn't reported as started. In the end the job runs late, or the start
 * fails, or the process is killed: at once when the job is asked to end, otherwise after a time limit.
 */
#include "worker/keeper.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>

#include "base/log.h"
#include "base/mem.h"
#include "proto/limits.h"
#include "worker/spawn.h"

#define WARN_NS      (5 * NS_PER_S)      /* starts on a busy machine are slow as well, so warn only after this time */
/* Time between two checks of a hanging start: a quarter of the time that it has hung, and at least this. */
#define LOOK_MIN_NS  (10 * NS_PER_MS)
#define LOOK_MAX_NS  (250 * NS_PER_MS)

static int64_t limit_ns(const struct keeper *keeper)
{
	return keeper->options->start_ns ? keeper->options->start_ns : LIMIT_START_MS * NS_PER_MS;
}

void late_add(struct keeper *keeper, struct attempt *attempt, struct spawner *spawner)
{
	struct spawn_texts texts = { .strings = attempt->strings, .script = attempt->script };

	/* The process uses the memory of its start until its exec, so the next start gets memory of its own. */
	texts.pointers = keeper->pointers;
	keeper->pointers = (struct buf){ 0 };
	env_leave(&keeper->env, &texts.facts, &texts.list);
	attempt->strings = attempt->script = NULL;
	spawner_keep(spawner, texts);
	attempt->late = spawner;
	attempt->late_next = keeper->late;
	keeper->late = attempt;
}

/* Finish a start that no longer hangs: the job runs, failed to start, or was killed. */
static void late_done(struct keeper *keeper, struct attempt *attempt)
{
	struct attempt **at = &keeper->late;
	int fault;

	while (*at != attempt)
		at = &(*at)->late_next;
	*at = attempt->late_next;
	fault = spawner_finish(attempt->late, &attempt->status_fd, &attempt->tried);
	attempt->late = NULL;
	if (attempt->start_fault == 0)
		attempt->start_fault = fault;
	if (attempt->start_fault)
		return;                  /* the start has failed: its process ends or has ended */
	attempt->tried = true;
	keeper_link_started(keeper, attempt);
}

void late_gone(struct keeper *keeper, struct attempt *attempt)
{
	if (attempt->late)
		late_done(keeper, attempt);
}

/* Finish the starts that no longer hang. */
static void late_finish(struct keeper *keeper)
{
	struct attempt *next;

	for (struct attempt *attempt = keeper->late; attempt; attempt = next) {
		next = attempt->late_next;
		if (spawner_ended(attempt->late))
			late_done(keeper, attempt);
	}
}

void late_kill(struct keeper *keeper, struct attempt *attempt, int fault)
{
	if (attempt->start_fault == 0)
		attempt->start_fault = fault;
	attempt->last_signal = SIGKILL;
	if (attempt->kill_ns > keeper->now_ns)
		attempt->kill_ns = keeper->now_ns;
	kill(attempt->pid, SIGKILL);
	exits_close(keeper, attempt);
}

void late_check(struct keeper *keeper)
{
	late_finish(keeper);
	for (struct attempt *attempt = keeper->late; attempt; attempt = attempt->late_next) {
		int64_t hung_ns = keeper->now_ns - attempt->begun_ns;

		if (hung_ns >= WARN_NS && !attempt->late_told) {
			attempt->late_told = true;
			log_warn_limited("job %" PRIu64 " hangs before its start: its directory or its program "
				"doesn't respond",
				 attempt->job);
		}
		if (hung_ns < limit_ns(keeper) || attempt->start_fault)
			continue;
		log_warn_limited("job %" PRIu64 " didn't start within %" PRId64 " s and was killed", attempt->job, limit_ns(keeper) / NS_PER_S);
		late_kill(keeper, attempt, ETIMEDOUT);
	}
}

/*
 * Nothing signals that a program runs at last, so the keeper checks now and then. A process that was killed causes a
 * SIGCHLD.
 */
static int64_t next_look(const struct keeper *keeper, const struct attempt *attempt)
{
	int64_t wait_ns = (keeper->now_ns - attempt->begun_ns) / 4;

	wait_ns = wait_ns < LOOK_MIN_NS ? LOOK_MIN_NS : wait_ns > LOOK_MAX_NS ? LOOK_MAX_NS : wait_ns;
	return keeper->now_ns + wait_ns;
}

int64_t late_due(const struct keeper *keeper)
{
	int64_t due_ns = TIME_NEVER;

	for (const struct attempt *attempt = keeper->late; attempt; attempt = attempt->late_next) {
		int64_t next_ns = attempt->begun_ns + (attempt->late_told || limit_ns(keeper) < WARN_NS ? limit_ns(keeper) : WARN_NS);
		int64_t look_ns = next_look(keeper, attempt);

		next_ns = look_ns < next_ns ? look_ns : next_ns;
		if (attempt->start_fault == 0 && next_ns < due_ns)
			due_ns = next_ns;
	}
	return due_ns;
}
