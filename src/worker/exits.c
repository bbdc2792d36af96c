/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How attempts end. An attempt has ended when its main process is gone and no process of its tree is left. The keeper
 * is a subreaper: a process that outlives its parent becomes the keeper's child, and is killed, until no such child is
 * found. The keeper's children stay zombies until it reaps them, so their pids can't be reused and are safe to signal.
 */
#include "worker/keeper.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "worker/ends.h"

#define TICK_NS       (10 * NS_PER_MS)   /* time between two checks of an attempt that is being ended */
#define STUCK_TICK_NS (NS_PER_S / 2)     /* time between two checks of an attempt whose processes can't be killed */
#define STUCK_NS      (10 * NS_PER_S)

/* A child of the keeper that isn't an attempt's main process, and the attempt to which it belongs. */
struct stray {
	uint64_t job, epoch;
	bool marked;                     /* the process's attempt is known */
	int64_t begun_ns;
};

void exits_close(struct keeper *keeper, struct attempt *attempt)
{
	if (attempt->closing)
		return;
	attempt->closing = true;
	attempt->closing_next = keeper->closing;
	keeper->closing = attempt;
}

/*
 * Read the status of the main process from its init, if it has one. If the init was killed before it could
 * write, the init's own status stands.
 */
static void read_status(struct attempt *attempt, int *status)
{
	int said;

	if (attempt->status_fd < 0)
		return;
	if (read(attempt->status_fd, &said, sizeof(said)) == sizeof(said))
		*status = said;
	close(attempt->status_fd);
	attempt->status_fd = -1;
	attempt->alone = true;
}

static uint64_t cpu_us(const struct rusage *usage)
{
	return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

/*
 * Write to the spool how the main process ended before reaping it: if this keeper were killed after that, no other
 * process could find out.
 */
static void note_gone(struct keeper *keeper, const struct attempt *attempt)
{
	const struct spool_gone gone = {
		.job = attempt->job, .epoch = attempt->epoch, .status = (uint64_t)attempt->status,
		.run_ns = (uint64_t)(attempt->gone_ns - attempt->begun_ns), .cpu_us = cpu_us(&attempt->usage),
		.rss_kib = (uint64_t)attempt->usage.ru_maxrss,
	};

	spool_add(keeper->spool, SPOOL_GONE, &gone, sizeof(gone));
	(void)spool_flush(keeper->spool);        /* the keeper's loop notices a failed write and repeats it */
}

void exits_reap(struct keeper *keeper)
{
	struct rusage usage;
	siginfo_t info = { 0 };

	/* Use the system call waitid: it also returns the resource usage, unlike the C library's function. */
	while (syscall(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL, &usage) == 0 && info.si_pid > 0) {
		pid_t pid = info.si_pid;
		struct attempt *attempt = map_remove(&keeper->pids, (uint64_t)pid);

		if (attempt) {
			int status = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;

			late_gone(keeper, attempt);
			read_status(attempt, &status);
			attempt->gone = true;
			attempt->gone_ns = clock_mono_ns();
			attempt->status = status;
			attempt->usage = usage;
			note_gone(keeper, attempt);
			exits_close(keeper, attempt);
		} else if (pid == keeper->link_pid) {
			keeper_link_died(keeper);
		} else {
			mem_free(map_remove(&keeper->strays, (uint64_t)pid));
		}
		waitpid(pid, NULL, __WALL);
		info.si_pid = 0;
	}
}

void exits_adopted(struct keeper *keeper, struct attempt *attempt)
{
	attempt->gone = true;
	attempt->gone_ns = clock_mono_ns();
	exits_close(keeper, attempt);
}

/*
 * Find the attempt of a stray child: by its session, or by the mark in its environment. If neither tells, note when the
 * child started.
 */
static struct stray *look_at(struct keeper *keeper, pid_t pid)
{
	struct stray *stray = map_get(&keeper->strays, (uint64_t)pid);
	struct tree_stat stat;
	pid_t session;

	if (stray)
		return stray;
	stray = mem_zalloc(sizeof(*stray));
	session = getsid(pid);
	for (struct ledger_entry *entry = ledger_first(keeper->ledger, PHASE_RUNNING); entry; entry = entry->next) {
		struct attempt *attempt = entry->owner;

		if (attempt->pid != session)
			continue;
		stray->job = attempt->job;
		stray->epoch = attempt->epoch;
		stray->marked = true;
	}
	if (!stray->marked)
		stray->marked = tree_mark(pid, keeper->mark, &stray->job, &stray->epoch);
	if (!stray->marked)
		stray->begun_ns = tree_stat(pid, &stat) ? stat.begun_ns : INT64_MAX;
	map_put(&keeper->strays, (uint64_t)pid, stray);
	return stray;
}

/*
 * The running attempt to which a stray belongs, or NULL. A stray without session or mark is assigned to the oldest
 * running attempt that began before it.
 */
static struct attempt *owner_of(struct keeper *keeper, const struct stray *stray)
{
	struct ledger_entry *entry;

	if (stray->marked) {
		entry = ledger_find(keeper->ledger, stray->job, stray->epoch);
		return entry && entry->phase == PHASE_RUNNING ? entry->owner : NULL;
	}
	for (entry = ledger_first(keeper->ledger, PHASE_RUNNING); entry; entry = entry->next) {
		struct attempt *attempt = entry->owner;

		if (!attempt->gone && attempt->before_ns <= stray->begun_ns + TREE_TICK_NS)
			return attempt;
	}
	return NULL;
}

/*
 * Signal the processes of an adopted attempt and return their number. They aren't children of this keeper, so all
 * processes are searched for the attempt's mark or session.
 */
static size_t signal_adopted(struct keeper *keeper, struct attempt *attempt, int signal_number)
{
	size_t found = 0;

	tree_processes(&keeper->children);
	for (size_t i = 0; i < keeper->children.n; i++) {
		pid_t pid = keeper->children.at[i];
		int pidfd = pid == getpid() ? -1 : pidfd_open(pid, 0);
		uint64_t job = 0, epoch = 0;
		struct tree_stat stat;

		if (pidfd < 0)
			continue;
		if (tree_stat(pid, &stat) && stat.state != 'Z' &&
		    (stat.session == attempt->pid ||
		     (tree_mark(pid, keeper->mark, &job, &epoch) && job == attempt->job && epoch == attempt->epoch)))
			found += pidfd_send_signal(pidfd, signal_number, NULL, 0) == 0;
		close(pidfd);
	}
	return found;
}

/*
 * List the main thread's children: orphans and the link; main processes are children of other threads. False: there are
 * no orphans.
 */
static bool have_strays(struct keeper *keeper)
{
	tree_children(keeper->children_fd, &keeper->children);
	return keeper->children.n > (keeper->link_pid > 0);
}

size_t exits_signal_tree(struct keeper *keeper, struct attempt *attempt, int signal_number)
{
	size_t found = 0;

	if (attempt->alone)
		return 0;
	if (attempt->cage)
		return cage_signal(attempt->cage, signal_number);
	if (attempt->pidfd >= 0)
		return signal_adopted(keeper, attempt, signal_number);
	if (!have_strays(keeper))
		return 0;
	for (size_t i = 0; i < keeper->children.n; i++) {
		pid_t pid = keeper->children.at[i];
		struct attempt *owner;

		if (pid == keeper->link_pid || map_get(&keeper->pids, (uint64_t)pid))
			continue;
		owner = owner_of(keeper, look_at(keeper, pid));
		if (owner && owner != attempt)
			continue;
		/* A stray that belongs to no running attempt is killed when the next attempt ends. */
		found++;
		if (signal_number)
			kill(pid, owner ? signal_number : SIGKILL);
	}
	return found;
}

void exits_know(struct attempt *attempt, uint64_t status, uint64_t run_ns, uint64_t used_us, uint64_t rss_kib)
{
	attempt->learned = true;
	attempt->status = (int)status;
	attempt->gone_ns = attempt->begun_ns + (int64_t)run_ns;
	attempt->usage.ru_utime.tv_sec = (time_t)(used_us / 1000000);
	attempt->usage.ru_utime.tv_usec = (suseconds_t)(used_us % 1000000);
	attempt->usage.ru_maxrss = (long)rss_kib;
}

bool exits_learn(struct keeper *keeper, struct attempt *attempt)
{
	struct tree_stat stat;
	struct process_end end;
	/* This check must come before reading the guardian's file: a guardian first records the end, then reaps. */
	bool awaited = !attempt->other_boot && tree_stat(attempt->pid, &stat) &&
		       attempt_may_be(attempt, stat.begun_ns) &&
		       (stat.state == 'Z' || stat.state == 'X') && keeper_is_guardian(keeper, stat.parent);

	if (attempt->learned)
		return true;
	if (!ends_find(keeper->dir_fd, attempt->boot_id, attempt->pid, attempt->before_ns, attempt->after_ns, &end))
		return !awaited;
	exits_know(attempt, end.status, (uint64_t)end.run_ns, end.cpu_us, end.rss_kib);
	return true;
}

/*
 * Is it unknown how the attempt ended? True also if it was killed because its keeper died, because that wasn't the
 * job's own end.
 */
static bool unknown_end(const struct attempt *attempt)
{
	return attempt->foreign && (!attempt->learned || (attempt->dies && WIFSIGNALED(attempt->status) &&
							  WTERMSIG(attempt->status) == SIGKILL));
}

void exits_finish(struct keeper *keeper, struct attempt *attempt)
{
	struct rec_done *done = &attempt->exited.done;
	enum outcome outcome = OUTCOME_EXIT;
	uint64_t code = 0;

	done->run_ns = (uint64_t)(attempt->gone_ns - attempt->begun_ns);
	if (unknown_end(attempt)) {
		outcome = OUTCOME_EXIT_UNKNOWN;
	} else {
		done->cpu_us = cpu_us(&attempt->usage);
		done->rss_kib = (uint64_t)attempt->usage.ru_maxrss;
		if (WIFSIGNALED(attempt->status)) {
			outcome = OUTCOME_SIGNAL;
			code = (uint64_t)WTERMSIG(attempt->status);
		} else {
			code = (uint64_t)WEXITSTATUS(attempt->status);
		}
	}
	/* A start that hung before the exec never began; if it was killed during the exec, that isn't known. */
	if (attempt->start_fault && !attempt->tried)
		attempt->wall_ms = 0;
	if (attempt->start_fault && !attempt->entry->stopping) {
		attempt_not_started(keeper, attempt, attempt->start_fault, attempt_lacks(attempt->start_fault));
		return;
	}
	if (attempt->entry->stopping) {
		code = outcome == OUTCOME_EXIT ? code : 128 + (code ? code : (uint64_t)attempt->last_signal);
		outcome = OUTCOME_STOPPED;
	}
	attempt_ended(keeper, attempt, outcome, code);
}

static int64_t stuck_after_ns(const struct keeper *keeper)
{
	return keeper->options->stuck_ns ? keeper->options->stuck_ns : STUCK_NS;
}

/* Continue to end a closing attempt. True: it has ended. */
static bool check(struct keeper *keeper, struct attempt *attempt)
{
	bool insist = attempt->kill_ns <= keeper->now_ns;
	int64_t since_ns = attempt->kill_ns == TIME_NEVER ? attempt->gone_ns : attempt->kill_ns;

	if (attempt->gone) {
		/*
		 * After a request to end, the rest of the tree has the stop grace too. Otherwise it is killed as soon
		 * as the main process is gone.
		 */
		bool patient = attempt->kill_ns != TIME_NEVER && !insist;
		size_t left = exits_signal_tree(keeper, attempt, patient ? 0 : SIGKILL);

		if (left == 0 && (!attempt->foreign || exits_learn(keeper, attempt)) && drain_end(keeper, attempt)) {
			if (attempt->stuck)
				log_info_limited("the killed process of job %" PRIu64 " is gone at last", attempt->job);
			attempt->stuck = false;
			exits_finish(keeper, attempt);
			return true;
		}
	} else if (insist && attempt->last_signal != SIGKILL) {
		kill(-attempt->pid, SIGKILL);
		exits_signal_tree(keeper, attempt, SIGKILL);
		attempt->last_signal = SIGKILL;
	}
	if (!attempt->stuck && attempt->drain_ns == 0 && keeper->now_ns - since_ns > stuck_after_ns(keeper)) {
		log_error_limited("a process of job %" PRIu64 " was killed but is still there; its slot stays busy", attempt->job);
		attempt->stuck = true;
		keeper_link_stuck(keeper, attempt);
	}
	return false;
}

void exits_check(struct keeper *keeper)
{
	struct attempt **at = &keeper->closing;

	late_check(keeper);
	while (*at) {
		struct attempt *attempt = *at;

		if (check(keeper, attempt)) {
			*at = attempt->closing_next;
			attempt->closing = false;
		} else {
			at = &attempt->closing_next;
		}
	}
}

int64_t exits_due(const struct keeper *keeper)
{
	int64_t due_ns = late_due(keeper);

	for (const struct attempt *attempt = keeper->closing; attempt; attempt = attempt->closing_next) {
		int64_t next_ns = attempt->kill_ns;

		/*
		 * SIGCHLD reports the end of the keeper's own children, so a timer is needed only where no signal
		 * comes.
		 */
		if (attempt->gone || next_ns <= keeper->now_ns)
			next_ns = keeper->now_ns + (attempt->stuck && attempt->drain_ns == 0 ? STUCK_TICK_NS : TICK_NS);
		due_ns = next_ns < due_ns ? next_ns : due_ns;
	}
	return due_ns;
}

size_t exits_stuck(const struct keeper *keeper)
{
	size_t count = 0;

	for (const struct attempt *attempt = keeper->closing; attempt; attempt = attempt->closing_next)
		count += attempt->stuck;
	return count;
}

void exits_free(struct keeper *keeper)
{
	size_t cursor = 0;
	uint64_t pid;
	void *stray;

	while (map_next(&keeper->strays, &cursor, &pid, &stray))
		mem_free(stray);
	map_free(&keeper->strays);
	pid_list_free(&keeper->children);
}
