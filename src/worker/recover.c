/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Takes over what an earlier keeper of this worker left: results to send again, running processes to adopt, orphans to
 * kill. Done before the first link starts.
 */
#include "worker/keeper.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "worker/ends.h"

#define SWEEP_ROUNDS  400
#define SWEEP_WAIT_NS (5 * NS_PER_MS)

struct spool_replay {
	struct keeper *keeper;
	uint8_t boot_id[16];             /* boot id of the records that are being read */
};

static struct attempt *find(struct keeper *keeper, uint64_t job, uint64_t epoch)
{
	struct attempt *attempt = keeper->first;

	while (attempt && (attempt->job != job || attempt->epoch != epoch))
		attempt = attempt->next;
	return attempt;
}

static struct attempt *enter(struct keeper *keeper, uint64_t job, uint64_t epoch, uint64_t run)
{
	struct attempt *attempt = attempt_new(keeper, job, epoch, run);

	if (ledger_assign(keeper->ledger, job, epoch, false, attempt, &attempt->entry) == LEDGER_TAKEN)
		return attempt;
	log_warn("the spool names attempt %" PRIu64 " of job %" PRIu64 " twice, or after a later attempt", epoch, job);
	attempt_free(keeper, attempt);
	return NULL;
}

static void replay_started(struct spool_replay *replay, const struct spool_started *started)
{
	struct attempt *attempt = enter(replay->keeper, started->job, started->epoch, started->run);

	if (!attempt)
		return;
	ledger_started(replay->keeper->ledger, attempt->entry);
	attempt->pid = (pid_t)started->pid;
	memcpy(attempt->boot_id, replay->boot_id, sizeof(attempt->boot_id));
	attempt->other_boot = memcmp(replay->boot_id, replay->keeper->boot_id, sizeof(replay->boot_id)) != 0;
	attempt->foreign = true;
	attempt->before_ns = started->before_ns;
	attempt->after_ns = started->after_ns;
	attempt->begun_ns = started->begun_ns;
	attempt->wall_ms = started->wall_ms;
	attempt->dies = started->dies != 0;
	attempt->log_max = started->log_max;
	attempt->exited.space = started->space;
}

static void replay_asks(struct keeper *keeper, struct spool_asks *asks)
{
	const struct attempt *attempt = find(keeper, asks->job, asks->epoch);

	if (attempt && attempt->entry && attempt->entry->phase == PHASE_RUNNING && !attempt->entry->asks &&
	    asks->asks.n <= LIMIT_RESOURCES_MAX)
		ledger_ask(keeper->ledger, attempt->entry, &asks->asks);
}

static void replay_gone(struct keeper *keeper, const struct spool_gone *gone)
{
	struct attempt *attempt = find(keeper, gone->job, gone->epoch);

	if (attempt)
		exits_know(attempt, gone->status, gone->run_ns, gone->cpu_us, gone->rss_kib);
}

static void replay_ended(struct keeper *keeper, const struct ipc_exited *exited)
{
	struct attempt *attempt = find(keeper, exited->done.job, exited->done.epoch);
	void *owner;

	if (!attempt)
		attempt = enter(keeper, exited->done.job, exited->done.epoch, exited->run);
	if (!attempt || !attempt->entry || attempt->entry->phase == PHASE_ENDED)
		return;
	attempt->exited = *exited;
	attempt->log_max = exited->log_max;
	attempt->wall_ms = exited->done.started_ms;
	attempt->shipped = exited->sizes[0] + exited->sizes[1] == 0;
	ledger_ended(keeper->ledger, attempt->entry, &exited->done);
	if (!exited->acked)
		return;
	if (ledger_ack(keeper->ledger, attempt->job, attempt->epoch, &owner))
		attempt->entry = NULL;
	attempt->acked = true;
	if (attempt->shipped)
		attempt_free(keeper, attempt);
}

static void replay_outputs(struct keeper *keeper, struct slice body)
{
	struct ipc_attempt name;
	struct attempt *attempt;

	memcpy(&name, body.data, sizeof(name));
	attempt = find(keeper, name.job, name.epoch);
	if (attempt)
		outputs_replay(keeper, attempt, slice_make(body.data + sizeof(name), body.len - sizeof(name)));
}

static void replay_finished(struct keeper *keeper, const struct ipc_attempt *name, enum spool_type type)
{
	struct attempt *attempt = find(keeper, name->job, name->epoch);
	void *owner;

	if (!attempt || !attempt->exited.done.outcome)
		return;
	if (type == SPOOL_SHIPPED) {
		attempt_is_shipped(attempt);
	} else if (ledger_ack(keeper->ledger, name->job, name->epoch, &owner)) {
		attempt->entry = NULL;
		attempt->acked = true;
		attempt->exited.acked = 1;
		outputs_drop(keeper, attempt);
	}
	if (attempt->shipped && attempt->acked)
		attempt_free(keeper, attempt);
}

/* Was this record written by an earlier version? Such records lack the last fields. */
static bool is_older(enum spool_type type, size_t len)
{
	if (type == SPOOL_STARTED)
		return len == offsetof(struct spool_started, dies) || len == offsetof(struct spool_started, log_max);
	return type == SPOOL_ENDED && len == offsetof(struct ipc_exited, log_max);
}

static void record_cb(enum spool_type type, struct slice body, void *owner)
{
	struct spool_replay *replay = owner;
	union {
		struct spool_life life;
		struct spool_started started;
		struct ipc_exited exited;
		struct ipc_attempt attempt;
		struct spool_asks asks;
		struct spool_gone gone;
		struct spool_closed closed;
	} record;

	static const size_t sizes[] = {
		[SPOOL_LIFE] = sizeof(record.life), [SPOOL_STARTED] = sizeof(record.started),
		[SPOOL_ENDED] = sizeof(record.exited), [SPOOL_ACKED] = sizeof(record.attempt),
		[SPOOL_SHIPPED] = sizeof(record.attempt), [SPOOL_ASKS] = sizeof(record.asks),
		[SPOOL_GONE] = sizeof(record.gone), [SPOOL_CLOSED] = sizeof(record.closed),
	};

	replay->keeper->before.count = 0;
	if (type == SPOOL_OUTPUTS && body.len >= sizeof(struct ipc_attempt)) {
		replay_outputs(replay->keeper, body);
		return;
	}
	memset(&record, 0, sizeof(record));
	if (type < SPOOL_LIFE || type > SPOOL_CLOSED || (body.len != sizes[type] && !is_older(type, body.len))) {
		log_warn("the spool has an unknown record (kind %d, %zu bytes); the keeper skips it", (int)type, body.len);
		return;
	}
	memcpy(&record, body.data, body.len);
	switch (type) {
	case SPOOL_LIFE:
		memcpy(replay->boot_id, record.life.boot_id, sizeof(replay->boot_id));
		break;
	case SPOOL_STARTED:
		replay_started(replay, &record.started);
		break;
	case SPOOL_ASKS:
		replay_asks(replay->keeper, &record.asks);
		break;
	case SPOOL_GONE:
		replay_gone(replay->keeper, &record.gone);
		break;
	case SPOOL_CLOSED:
		if (record.closed.count <= BEFORE_MAX)
			replay->keeper->before = record.closed;
		break;
	case SPOOL_ENDED:
		replay_ended(replay->keeper, &record.exited);
		break;
	default:
		replay_finished(replay->keeper, &record.attempt, type);
	}
}

/*
 * Is this pid still the process that was started for the attempt? Return its pidfd, or -1. The pidfd is opened before
 * the checks, so that the process can't change in between. A process that has ended counts until its guardian has
 * recorded its end.
 */
static int find_process(const struct keeper *keeper, const struct attempt *attempt)
{
	struct tree_stat stat;
	int pidfd;

	if (attempt->other_boot)
		return -1;
	pidfd = pidfd_open(attempt->pid, 0);
	if (pidfd < 0)
		return -1;
	if (!tree_stat(attempt->pid, &stat) || (stat.state == 'Z' && !keeper_is_guardian(keeper, stat.parent)) ||
	    stat.session != attempt->pid || !attempt_may_be(attempt, stat.begun_ns)) {
		close(pidfd);
		return -1;
	}
	return pidfd;
}

/*
 * Kill a job that should have died with its keeper. Its session is killed at once; other processes with its mark are
 * killed with the other orphans. Waits until the main process is gone, or gives up.
 */
static void kill_undead(struct keeper *keeper, const struct attempt *attempt, int pidfd)
{
	struct pollfd gone = { .fd = pidfd, .events = POLLIN };
	struct tree_stat stat;

	tree_processes(&keeper->children);
	for (size_t i = 0; i < keeper->children.n; i++) {
		int member = pidfd_open(keeper->children.at[i], 0);

		if (member < 0)
			continue;
		if (tree_stat(keeper->children.at[i], &stat) && stat.session == attempt->pid)
			pidfd_send_signal(member, SIGKILL, NULL, 0);
		close(member);
	}
	if (poll(&gone, 1, SWEEP_ROUNDS * (int)(SWEEP_WAIT_NS / NS_PER_MS)) <= 0)
		log_error("job %" PRIu64 " outlived the earlier keeper and can't be killed", attempt->job);
	close(pidfd);
}

static bool has_ended(int pidfd)
{
	struct pollfd gone = { .fd = pidfd, .events = POLLIN };

	return poll(&gone, 1, 0) > 0;
}

/* Adopt a running attempt of an earlier keeper, or one that has ended without a guardian's record so far. */
static bool adopt(struct keeper *keeper, struct attempt *attempt)
{
	int pidfd = find_process(keeper, attempt);

	if (pidfd < 0)
		return false;
	if (attempt->dies && !has_ended(pidfd)) {
		kill_undead(keeper, attempt, pidfd);
		return false;
	}
	attempt->pidfd = pidfd;
	attempt->cage = keeper->cages ? cage_claim(keeper->cages, attempt->pid) : NULL;
	keeper->adopted++;
	return true;
}

/*
 * Kill all processes that have this worker's mark and belong to no adopted attempt; return their number. One pass over
 * all processes.
 */
static size_t kill_orphans(struct keeper *keeper)
{
	size_t found = 0;

	tree_processes(&keeper->children);
	for (size_t i = 0; i < keeper->children.n; i++) {
		pid_t pid = keeper->children.at[i];
		struct ledger_entry *entry;
		uint64_t job, epoch;
		int pidfd;

		if (pid == getpid() || !tree_mark(pid, keeper->mark, &job, &epoch))
			continue;
		entry = ledger_find(keeper->ledger, job, epoch);
		if (entry && entry->phase == PHASE_RUNNING && ((struct attempt *)entry->owner)->pidfd >= 0)
			continue;
		pidfd = pidfd_open(pid, 0);
		if (pidfd < 0)
			continue;
		/* The process number may have been reused between the first check and the pidfd. */
		if (tree_mark(pid, keeper->mark, &job, &epoch) && pidfd_send_signal(pidfd, SIGKILL, NULL, 0) == 0)
			found++;
		close(pidfd);
	}
	return found;
}

static void sweep_orphans(struct keeper *keeper)
{
	const struct timespec wait = { .tv_nsec = SWEEP_WAIT_NS };
	size_t cages = keeper->cages ? cages_sweep(keeper->cages) : 0;
	size_t found = kill_orphans(keeper), killed = found;
	int clean = found == 0;

	if (cages > 0)
		log_warn("killed all processes in %zu control groups that an earlier keeper left behind", cages);
	/* A process in the middle of an exec shows no mark, so one pass that finds nothing isn't enough. */
	for (int round = 0; clean < 2 && round < SWEEP_ROUNDS; round++) {
		nanosleep(&wait, NULL);
		found = kill_orphans(keeper);
		killed += clean > 0 ? found : 0;
		clean = found > 0 ? 0 : clean + 1;
	}
	if (killed > 0)
		log_warn("killed %zu processes that an earlier keeper left behind", killed);
	if (found > 0)
		log_error("%zu processes that an earlier keeper left behind can't be killed", found);
}

/* Open the attempt's files if anything in them is still needed. */
static void claim(struct keeper *keeper, struct attempt *attempt)
{
	bool running = attempt->entry && attempt->entry->phase == PHASE_RUNNING;

	if (attempt->exited.space == 0 || (attempt->shipped && !running))
		return;
	attempt->space = space_claim(keeper->spaces, attempt->exited.space);
	if (attempt->space)
		room_claim(attempt);
	if (attempt->space && running && attempt->log_max == LOG_LOSSLESS)
		drain_claim(keeper, attempt);
	if (attempt->space || running)
		return;
	log_warn("the output of job %" PRIu64 " is missing", attempt->job);
	attempt_is_shipped(attempt);
}

enum err recover_open(struct keeper *keeper, struct error *error)
{
	struct spool_replay replay = { .keeper = keeper };
	struct attempt *attempt, *next;
	size_t torn = 0;
	enum err result;

	result = spool_open(keeper->dir_fd, record_cb, &replay, &keeper->spool, &torn, error);
	if (result)
		return result;
	if (torn > 0)
		log_warn("the spool ended in the middle of a record; %zu bytes were cut off", torn);
	for (attempt = keeper->first; attempt; attempt = attempt->next)
		claim(keeper, attempt);
	spaces_sweep(keeper->spaces);
	for (attempt = keeper->first; attempt; attempt = attempt->next)
		if (attempt->entry && attempt->entry->phase == PHASE_RUNNING && adopt(keeper, attempt))
			log_info("job %" PRIu64 " is still running as process %d", attempt->job, (int)attempt->pid);
	sweep_orphans(keeper);
	for (attempt = keeper->first; attempt; attempt = next) {
		next = attempt->next;
		if (attempt->entry && attempt->entry->phase == PHASE_RUNNING && attempt->pidfd < 0) {
			if (!attempt->learned)
				/* The attempt's run time is unknown, because there is no record. */
				attempt->gone_ns = attempt->begun_ns;
			exits_learn(keeper, attempt);
			exits_finish(keeper, attempt);
		} else if (attempt->shipped && attempt->acked) {
			attempt_free(keeper, attempt);
		}
	}
	/*
	 * The spool now has the guardians' records. The file is kept while adopted jobs run, whose ends will be added
	 * to it.
	 */
	if (recover_rewrite(keeper) && keeper->adopted == 0)
		ends_clear(keeper->dir_fd);
	return ERR_NONE;
}

void recover_close(struct keeper *keeper)
{
	struct spool_closed closed = { .count = 1 };

	memcpy(closed.instances[0], keeper->instance, sizeof(closed.instances[0]));
	/* A keeper that never reached the master got no attempts, and the master may know only those before it. */
	for (uint64_t i = 0; !keeper->connected && i < keeper->before.count && closed.count < BEFORE_MAX; i++)
		memcpy(closed.instances[closed.count++], keeper->before.instances[i], sizeof(closed.instances[0]));
	spool_add(keeper->spool, SPOOL_CLOSED, &closed, sizeof(closed));
}

bool recover_rewrite(struct keeper *keeper)
{
	struct spool_life life;
	int result;

	memcpy(life.boot_id, keeper->boot_id, sizeof(life.boot_id));
	spool_rewrite_begin(keeper->spool);
	spool_add(keeper->spool, SPOOL_LIFE, &life, sizeof(life));
	for (const struct attempt *attempt = keeper->first; attempt; attempt = attempt->next) {
		bool running = attempt->entry && attempt->entry->phase == PHASE_RUNNING;
		const struct spool_started started = {
			.job = attempt->job, .epoch = attempt->epoch, .run = attempt->run,
			.space = attempt->space ? attempt->space->id : 0, .pid = attempt->pid,
			.before_ns = attempt->before_ns, .after_ns = attempt->after_ns,
			.begun_ns = attempt->begun_ns, .wall_ms = attempt->wall_ms, .dies = attempt->dies,
			.log_max = attempt->log_max,
		};

		if (running) {
			spool_add(keeper->spool, SPOOL_STARTED, &started, sizeof(started));
			attempt_spool_asks(keeper, attempt);
		} else if (attempt->exited.done.outcome) {
			spool_add(keeper->spool, SPOOL_ENDED, &attempt->exited, sizeof(attempt->exited));
			outputs_spool(keeper, attempt);
		}
	}
	result = spool_rewrite_end(keeper->spool);
	if (result < 0)
		log_error("can't write a new spool: %s", strerror(-result));
	return result == 0;
}
