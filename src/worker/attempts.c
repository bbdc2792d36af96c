/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The life of an attempt in the keeper: from its assignment to its process, and from its end until it is
 * forgotten. Every change is written to the spool before the link is told; the keeper's loop keeps that
 * order.
 */
#include "worker/keeper.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/mounts.h"
#include "worker/spawn.h"

#define ROOM_LEAST       (256 * 1024)    /* bytes: with less free space on the worker's disk no job is started */
#define REFUSED_QUIET_NS (10 * NS_PER_S) /* least time between two log lines about refused starts */

struct attempt *attempt_new(struct keeper *keeper, uint64_t job, uint64_t epoch, uint64_t run)
{
	struct attempt *attempt = mem_zalloc(sizeof(*attempt));

	attempt->job = job;
	attempt->epoch = epoch;
	attempt->run = run;
	attempt->pidfd = -1;
	attempt->status_fd = -1;
	attempt->kill_ns = TIME_NEVER;
	attempt->next = keeper->first;
	if (keeper->first)
		keeper->first->prev = attempt;
	keeper->first = attempt;
	keeper->count++;
	return attempt;
}

void attempt_free(struct keeper *keeper, struct attempt *attempt)
{
	CHECK(!attempt->closing);
	*(attempt->prev ? &attempt->prev->next : &keeper->first) = attempt->next;
	if (attempt->next)
		attempt->next->prev = attempt->prev;
	keeper->count--;
	if (attempt->pidfd >= 0)
		close(attempt->pidfd);
	if (attempt->status_fd >= 0)
		close(attempt->status_fd);
	cage_leave(attempt->cage);
	space_forget(attempt->space);
	outputs_drop(keeper, attempt);
	mem_free(attempt->strings);
	mem_free(attempt->script);
	mem_free(attempt);
}

/*
 * Tell the ledger which resources the attempt asks for. The texts (NAME=N) follow argv, environment and
 * directory in attempt->strings.
 */
static void take_asks(struct keeper *keeper, const struct attempt *attempt, uint32_t count)
{
	struct slice texts[LIMIT_RESOURCES_MAX];
	struct slice_list list = { .at = texts };
	struct resource_list asks = { 0 };
	const char *at = attempt->strings;
	struct error error;

	for (uint32_t i = 0; i < attempt->argc + attempt->envc + 1; i++)
		at += strlen(at) + 1;
	for (; list.n < count && list.n < LIMIT_RESOURCES_MAX; at += strlen(at) + 1)
		texts[list.n++] = slice_str(at);
	/* The link has already checked these texts. */
	CHECK(resources_read(list, &asks, &error) == ERR_NONE);
	ledger_ask(keeper->ledger, attempt->entry, &asks);
}

void attempt_spool_asks(struct keeper *keeper, const struct attempt *attempt)
{
	struct spool_asks record = { .job = attempt->job, .epoch = attempt->epoch };

	if (!attempt->entry->asks)
		return;
	record.asks.n = attempt->entry->ask_count;
	memcpy(record.asks.at, attempt->entry->asks, record.asks.n * sizeof(record.asks.at[0]));
	spool_add(keeper->spool, SPOOL_ASKS, &record, sizeof(record));
}

/* Return the last of these strings, each of which ends with a NUL. */
static const char *last_string(const char *strings, size_t size)
{
	const char *end = size > 1 ? memrchr(strings, '\0', size - 1) : NULL;

	return end ? end + 1 : strings;
}

void attempts_assign(struct keeper *keeper, const struct ipc_spawn *spawn, const char *strings)
{
	struct attempt *attempt = attempt_new(keeper, spawn->job, spawn->epoch, spawn->run);
	enum ledger_verdict verdict;
	struct ledger_entry *old;

	verdict = ledger_assign(keeper->ledger, spawn->job, spawn->epoch, spawn->flags & SPAWN_EXCLUSIVE, attempt,
				&attempt->entry);
	if (verdict != LEDGER_TAKEN) {
		attempt->exited.done = (struct rec_done){
			.job = spawn->job, .epoch = spawn->epoch, .outcome = OUTCOME_RECALLED,
			.ended_ms = clock_wall_ms(),
		};
		/*
		 * Nothing is written to the spool: the worker never had the attempt, and a repeated assignment gets the
		 * same answer.
		 */
		if (verdict == LEDGER_STALE)
			keeper_link_exited(keeper, attempt);
		attempt_free(keeper, attempt);
		return;
	}
	attempt->dies = (spawn->flags & SPAWN_DIES) != 0;
	attempt->puts_out = (spawn->flags & SPAWN_OUTPUTS) != 0;
	attempt->has_files = (spawn->flags & SPAWN_FILES) != 0;
	if (attempt->has_files)
		ledger_stage(attempt->entry);
	attempt->has_input = (spawn->flags & SPAWN_STDIN) != 0 && spawn->argc > 1;
	attempt->has_script = (spawn->flags & SPAWN_SCRIPT) != 0 && spawn->argc > 0;
	attempt->log_max = spawn->log_max;
	attempt->argc = spawn->argc;
	attempt->envc = spawn->envc;
	attempt->here_device = spawn->here_device;
	attempt->here_inode = spawn->here_inode;
	attempt->strings = mem_alloc(spawn->strings_size + 1);
	memcpy(attempt->strings, strings, spawn->strings_size);
	attempt->strings[spawn->strings_size] = '\0';
	if (spawn->flags & SPAWN_SOURCE)
		attempt->here_source = last_string(attempt->strings, spawn->strings_size);
	if (spawn->ask_count > 0)
		take_asks(keeper, attempt, spawn->ask_count);
	while ((old = ledger_superseded(keeper->ledger, spawn->job)))
		attempt_ended(keeper, old->owner, OUTCOME_RECALLED, 0);
	if (keeper->quitting)
		attempt_ended(keeper, attempt, OUTCOME_RECALLED, 0);
}

/* A smaller difference is measuring error, not a change of the wall clock. */
#define STEP_MS 100

int64_t attempt_began_ms(const struct attempt *attempt)
{
	struct now now = clock_now();
	int64_t began_ms = now.wall_ms - (now.boot_ns - attempt->before_ns) / NS_PER_MS;
	int64_t step_ms = began_ms - attempt->wall_ms;

	if (attempt->wall_ms == 0 || attempt->other_boot || (step_ms < STEP_MS && step_ms > -STEP_MS))
		return attempt->wall_ms;
	return began_ms > 0 ? began_ms : 1;
}

/*
 * Make an array of pointers to count strings, with NULL at its end and one free place at its front. *at is moved past
 * the strings.
 */
static char **list_strings(struct buf *pointers, char **at, size_t count)
{
	char **list;

	buf_clear(pointers);
	list = (char **)(void *)buf_reserve(pointers, (count + 2) * sizeof(*list));
	list[0] = NULL;
	for (size_t i = 1; i <= count; i++, *at += strlen(*at) + 1)
		list[i] = *at;
	list[count + 1] = NULL;
	return list + 1;
}

/*
 * Start the process in a control group. If somebody has removed the group, try once with a new one; if none can be
 * made, start without, and follow the job's processes as a tree.
 */
static int spawn_caged(struct keeper *keeper, struct attempt *attempt, struct spawn_request *request,
		       struct spawner **ret_late)
{
	for (int tries = 0; keeper->cages && tries < 2; tries++) {
		struct cage *cage = cage_take(keeper->cages);
		int fault;

		if (!cage)
			break;
		request->cage_fd = cage_fd(cage);
		fault = spawn_run(request, &attempt->pid, &attempt->status_fd, ret_late);
		if (fault == 0) {
			attempt->cage = cage;
			return 0;
		}
		cage_release(keeper->cages, cage, fault != ENODEV);
		if (fault != ENODEV)
			return fault;
	}
	if (keeper->cages)
		log_warn_limited("job %" PRIu64 " runs without a control group: %s", attempt->job, strerror(errno));
	request->cage_fd = -1;
	return spawn_run(request, &attempt->pid, &attempt->status_fd, ret_late);
}

/* The device number that the directory must have; 0 if nothing is mounted there from the right source. */
static uint64_t device_here(const struct attempt *attempt, const char *dir)
{
	return attempt->here_source && dir ? mount_of(dir, slice_str(attempt->here_source), NULL) : attempt->here_device;
}

static int spawn_attempt(struct keeper *keeper, struct attempt *attempt, const int output_fds[2])
{
	char dir[PATH_MAX + 40], token[JOB_TOKEN_TEXT], *at = attempt->strings;
	struct env_facts facts = { .run = attempt->run, .job = attempt->job, .epoch = attempt->epoch, .dir = dir,
				   .mark = keeper->mark, .token = token, .puts_out = attempt->puts_out,
				   .has_files = attempt->has_files };
	struct spawn_request request = { .in_fd = keeper->null_fd, .out_fd = output_fds[0],
					 .err_fd = output_fds[1], .dir_fd = attempt->space->dir_fd,
					 .die_with_us = attempt->dies, .cage_fd = -1, .user = keeper->options->user,
					 .own_pids = keeper->options->containment == CONTAIN_PIDS };
	struct spawner *late = NULL;
	int fault;

	if (attempt->has_files && (fault = files_claim(keeper, attempt)) < 0)
		return -fault | FAULT_FILES;
	snprintf(dir, sizeof(dir), "%s/attempts/%" PRIu64, request.user ? request.user->place : keeper->path, attempt->space->id);
	job_token_write(keeper->secret, attempt->job, attempt->epoch, token);
	request.argv = list_strings(&keeper->pointers, &at, attempt->argc);
	request.envp = env_compose(&keeper->env, &facts, at, attempt->envc);
	request.path = keeper->env.path;
	if (attempt->has_script && (fault = script_put(attempt, request.user, dir, request.argv)) < 0)
		return -fault;
	for (uint32_t i = 0; i < attempt->envc; i++)
		at += strlen(at) + 1;
	request.dir = at[0] ? at : NULL;
	if (attempt->has_input) {
		char **input = &request.argv[attempt->argc - 1];

		if ((request.in_fd = script_input(*input)) < 0)
			return -request.in_fd;
		*input = NULL;
	}
	request.dir_device = device_here(attempt, request.dir);
	request.dir_inode = attempt->here_inode;
	attempt->before_ns = clock_now().boot_ns;
	attempt->begun_ns = clock_mono_ns();
	attempt->wall_ms = clock_wall_ms();
	fault = spawn_caged(keeper, attempt, &request, &late);
	/* Some mounts appear when somebody looks, as the start has just done. */
	if (fault == (ESTALE | FAULT_DIR) && attempt->here_source && device_here(attempt, request.dir) != request.dir_device) {
		request.dir_device = device_here(attempt, request.dir);
		fault = spawn_caged(keeper, attempt, &request, &late);
	}
	attempt->after_ns = clock_now().boot_ns;
	if (attempt->has_input)
		close(request.in_fd);
	if (fault == 0 && late)
		late_add(keeper, attempt, late);
	return fault;
}

/* Start the process with its output going straight into the files of its space, or for a lossless job through pipes. */
static int spawn_in_space(struct keeper *keeper, struct attempt *attempt)
{
	int fds[2], fault;

	if (attempt->log_max != LOG_LOSSLESS)
		return spawn_attempt(keeper, attempt, (const int[2]){ attempt->space->out_fd, attempt->space->err_fd });
	fault = -drain_begin(keeper, attempt, fds);
	if (!fault)
		fault = spawn_attempt(keeper, attempt, fds);
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return fault;
}

/* Is enough of the disk free? With less, a job couldn't write output, and its end might not get into the spool. */
static bool disk_has_room(const struct keeper *keeper)
{
	struct statvfs disk;
	uint64_t blocks;

	if (fstatvfs(keeper->dir_fd, &disk) < 0)
		return true;
	blocks = geteuid() == 0 ? disk.f_bfree : disk.f_bavail;
	return blocks * disk.f_frsize >= ROOM_LEAST && (disk.f_files == 0 || disk.f_ffree > 0);
}

bool attempt_lacks(int fault)
{
	fault &= ~(FAULT_DIR | FAULT_FILES);
	return fault == EMFILE || fault == ENFILE || fault == ENOSPC || fault == EDQUOT || fault == EAGAIN ||
	       fault == ENOMEM;
}

static bool lacks_room(int fault)
{
	fault &= ~FAULT_FILES;
	return fault == ENOSPC || fault == EDQUOT;
}

void attempt_not_started(struct keeper *keeper, struct attempt *attempt, int fault, bool lack)
{
	enum outcome outcome = lack ? OUTCOME_REFUSED : OUTCOME_SPAWN;

	if (!lack && fault & FAULT_DIR)
		outcome = attempt->here_inode ? OUTCOME_ELSEWHERE : OUTCOME_NO_DIR;
	if (fault & FAULT_FILES && (!lack || lacks_room(fault)))
		outcome = OUTCOME_STAGE_FAILED;
	fault &= ~(FAULT_DIR | FAULT_FILES);
	attempt->wall_ms = 0;
	/* Log one line for a series of refused starts; more would say the same. */
	if (lack && (keeper->refused_ns == 0 || keeper->now_ns - keeper->refused_ns > REFUSED_QUIET_NS)) {
		log_warn_limited("job %" PRIu64 " can't be started on this worker: %s; the job goes back to the queue", attempt->job, strerror(fault));
		keeper->refused_ns = keeper->now_ns;
	}
	attempt_ended(keeper, attempt, outcome, (uint64_t)fault);
}

static void start(struct keeper *keeper, struct attempt *attempt)
{
	bool lack = false;
	int fault = EINVAL;

	if (attempt->argc > 0) {
		errno = ENOSPC;
		attempt->space = disk_has_room(keeper) ? space_take(keeper->spaces) : NULL;
		fault = attempt->space ? spawn_in_space(keeper, attempt) : errno;
		/* Without a space no job can start here, so the worker is at fault, whatever the error is. */
		lack = !attempt->space || attempt_lacks(fault);
	}
	mem_free(attempt->strings);
	mem_free(attempt->script);
	attempt->strings = attempt->script = NULL;
	if (fault) {
		attempt_not_started(keeper, attempt, fault, lack);
		return;
	}
	ledger_started(keeper->ledger, attempt->entry);
	map_put(&keeper->pids, (uint64_t)attempt->pid, attempt);
	struct spool_started started = {
		.job = attempt->job, .epoch = attempt->epoch, .run = attempt->run, .space = attempt->space->id,
		.pid = attempt->pid, .before_ns = attempt->before_ns, .after_ns = attempt->after_ns,
		.begun_ns = attempt->begun_ns, .wall_ms = attempt->wall_ms, .dies = attempt->dies,
		.log_max = attempt->log_max,
	};

	spool_add(keeper->spool, SPOOL_STARTED, &started, sizeof(started));
	attempt_spool_asks(keeper, attempt);
	if (!attempt->late)
		keeper_link_started(keeper, attempt);
}

void attempts_start(struct keeper *keeper)
{
	struct ledger_entry *entry;

	while ((entry = ledger_next(keeper->ledger, keeper->now_ns)))
		start(keeper, entry->owner);
}

static void ask(struct keeper *keeper, struct attempt *attempt, int64_t grace_ms)
{
	int64_t kill_ns = keeper->now_ns + (grace_ms > 0 ? grace_ms : 0) * NS_PER_MS;

	/* A job whose start hangs hasn't run anything that could use the stop grace. */
	if (attempt->late) {
		late_kill(keeper, attempt, ECANCELED);
		return;
	}
	if (attempt->kill_ns == TIME_NEVER) {
		attempt->last_signal = SIGTERM;
		if (!attempt->gone) {
			kill(-attempt->pid, SIGTERM);
			kill(-attempt->pid, SIGCONT);
		}
		exits_signal_tree(keeper, attempt, SIGTERM);
	}
	if (kill_ns < attempt->kill_ns)
		attempt->kill_ns = kill_ns;
	exits_close(keeper, attempt);
}

void attempts_stop(struct keeper *keeper, uint64_t job, uint64_t epoch, int64_t grace_ms)
{
	struct ledger_entry *entry = NULL;

	switch (ledger_stop(keeper->ledger, job, epoch, &entry)) {
	case LEDGER_STOP_DROPPED:
		attempt_ended(keeper, entry->owner, OUTCOME_STOPPED, 0);
		break;
	case LEDGER_STOP_SIGNAL:
		ask(keeper, entry->owner, grace_ms);
		break;
	case LEDGER_STOP_NOTHING:
		break;
	}
}

void attempts_enforce_lease(struct keeper *keeper)
{
	struct ledger_entry *entry;

	while ((entry = ledger_overdue(keeper->ledger, keeper->now_ns))) {
		log_warn_limited("job %" PRIu64 " was killed, because the lease from the master ran out", entry->job);
		attempts_stop(keeper, entry->job, entry->epoch, 0);
	}
}

void attempts_recall(struct keeper *keeper, uint64_t job, uint64_t epoch)
{
	struct ledger_entry *entry = NULL;

	if (ledger_recall(keeper->ledger, job, epoch, &entry))
		attempt_ended(keeper, entry->owner, OUTCOME_RECALLED, 0);
}

void attempts_staged(struct keeper *keeper, uint64_t job, uint64_t epoch, int fault)
{
	struct ledger_entry *entry = ledger_find(keeper->ledger, job, epoch);

	/* It may have been taken back meanwhile. */
	if (!entry || entry->phase != PHASE_QUEUED)
		return;
	if (fault)
		attempt_not_started(keeper, entry->owner, fault | FAULT_FILES, attempt_lacks(fault));
	else
		ledger_staged(entry);
}

void attempts_unstaged(struct keeper *keeper)
{
	struct ledger_entry *entry = ledger_first(keeper->ledger, PHASE_QUEUED), *next;

	for (; entry; entry = next) {
		const struct attempt *attempt = entry->owner;

		next = entry->next;
		if (attempt->has_files)
			attempt_ended(keeper, entry->owner, OUTCOME_RECALLED, 0);
	}
}

static void end_queued(struct keeper *keeper)
{
	struct ledger_entry *entry;

	keeper->quitting = true;
	while ((entry = ledger_first(keeper->ledger, PHASE_QUEUED)))
		attempt_ended(keeper, entry->owner, OUTCOME_RECALLED, 0);
}

void attempts_quit(struct keeper *keeper, int64_t grace_ms)
{
	end_queued(keeper);
	for (struct ledger_entry *entry = ledger_first(keeper->ledger, PHASE_RUNNING); entry; entry = entry->next)
		attempts_stop(keeper, entry->job, entry->epoch, grace_ms);
}

void attempts_leave(struct keeper *keeper, int64_t grace_ms)
{
	end_queued(keeper);
	for (struct ledger_entry *entry = ledger_first(keeper->ledger, PHASE_RUNNING); entry; entry = entry->next) {
		const struct attempt *attempt = entry->owner;

		/*
		 * Stop an attempt that hangs in its start, too: its process uses this keeper's memory, so the next
		 * keeper couldn't adopt it.
		 */
		if (attempt->dies || attempt->late)
			attempts_stop(keeper, entry->job, entry->epoch, grace_ms);
	}
}

bool attempts_under_way(const struct keeper *keeper)
{
	for (struct ledger_entry *entry = ledger_first(keeper->ledger, PHASE_RUNNING); entry; entry = entry->next) {
		const struct attempt *attempt = entry->owner;

		if ((entry->stopping || attempt->gone) && !attempt->stuck)
			return true;
	}
	return false;
}

void attempt_ended(struct keeper *keeper, struct attempt *attempt, enum outcome outcome, uint64_t code)
{
	struct ipc_exited *exited = &attempt->exited;
	struct rec_done *done = &exited->done;

	if (outcome == OUTCOME_EXIT && attempt->space)
		outputs_collect(keeper, attempt);
	done->job = attempt->job;
	done->epoch = attempt->epoch;
	done->outcome = outcome;
	done->code = code;
	done->started_ms = attempt_began_ms(attempt);
	done->ended_ms = attempt->learned ? done->started_ms + (int64_t)done->run_ns / NS_PER_MS : clock_wall_ms();
	exited->run = attempt->run;
	exited->log_max = attempt->log_max;
	if (attempt->space) {
		if (!drain_end(keeper, attempt))
			log_error_limited("some output of job %" PRIu64 " was lost, because its pipes are gone", attempt->job);
		/* Close the pipes first: another attempt may soon use the space. */
		drain_close(keeper, attempt);
		space_sizes(attempt->space, exited->sizes);
		exited->space = attempt->space->id;
	}
	done->out_bytes = exited->sizes[0] + exited->sizes[1];
	attempt->shipped = done->out_bytes == 0;
	if (attempt->shipped && attempt->space) {
		space_release(keeper->spaces, attempt->space);
		attempt->space = NULL;
	}
	if (attempt->pidfd >= 0) {
		close(attempt->pidfd);
		attempt->pidfd = -1;
		keeper->adopted--;
	}
	cage_release(keeper->cages, attempt->cage, true);
	attempt->cage = NULL;
	ledger_ended(keeper->ledger, attempt->entry, done);
	attempt->ended_no = ++keeper->ended_count;
	spool_add(keeper->spool, SPOOL_ENDED, exited, sizeof(*exited));
	keeper_link_exited(keeper, attempt);
}

void attempts_acked(struct keeper *keeper, uint64_t job, uint64_t epoch)
{
	const struct ipc_attempt acked = { job, epoch };
	struct attempt *attempt;
	void *owner;

	if (!ledger_ack(keeper->ledger, job, epoch, &owner))
		return;
	attempt = owner;
	attempt->entry = NULL;
	attempt->acked = true;
	attempt->exited.acked = 1;
	outputs_drop(keeper, attempt);
	spool_add(keeper->spool, SPOOL_ACKED, &acked, sizeof(acked));
	if (attempt->shipped)
		attempt_free(keeper, attempt);
}

void attempt_is_shipped(struct attempt *attempt)
{
	attempt->shipped = true;
	/* Another attempt will use the space, so the next link must not look in it for this attempt's output. */
	attempt->exited.space = 0;
	memset(attempt->exited.sizes, 0, sizeof(attempt->exited.sizes));
}

void attempts_shipped(struct keeper *keeper, uint64_t job, uint64_t epoch)
{
	const struct ipc_attempt shipped = { job, epoch };
	struct attempt *attempt = keeper->first;

	/* Search all attempts: this is needed rarely, and there are few. */
	while (attempt && (attempt->job != job || attempt->epoch != epoch))
		attempt = attempt->next;
	if (!attempt || attempt->shipped || !attempt->exited.done.outcome)
		return;
	attempt_is_shipped(attempt);
	spool_add(keeper->spool, SPOOL_SHIPPED, &shipped, sizeof(shipped));
	if (attempt->space)
		space_release(keeper->spaces, attempt->space);
	attempt->space = NULL;
	if (attempt->acked)
		attempt_free(keeper, attempt);
}
