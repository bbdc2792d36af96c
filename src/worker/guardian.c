/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guardian: the process above the keeper. It starts the keeper, and restarts it when it was killed. It is a
 * subreaper, so the jobs of a dead keeper become its children. It records how each of them ended before it reaps it,
 * and stays until the last one is recorded. It decides nothing about jobs and has no connections. A keeper whose
 * guardian was killed becomes the guardian.
 */
#include "worker/guardian.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "worker/ends.h"
#include "worker/home.h"

#define BACKOFF_FIRST_NS (50 * NS_PER_MS)
#define BACKOFF_MAX_NS   (5 * NS_PER_S)
#define LIVED_NS         (2 * NS_PER_S)  /* a killed keeper that had lived this long is restarted at once */
#define RETRY_NS         NS_PER_S        /* time until writing a record is tried again */

/*
 * List the jobs of dead keepers among this process's children: those that lead a session. Other processes of a job need
 * no record.
 */
static void list_orphans(struct guardian *guardian)
{
	struct tree_stat stat;

	tree_children_of_all(&guardian->children);
	for (size_t i = 0; i < guardian->children.n; i++) {
		pid_t pid = guardian->children.at[i];
		bool known = pid == guardian->keeper || !tree_stat(pid, &stat) || stat.session != pid;

		for (size_t j = 0; j < guardian->orphans.n && !known; j++)
			known = guardian->orphans.at[j] == pid;
		if (!known)
			pid_list_add(&guardian->orphans, pid);
	}
}

/*
 * Record how a process ended. 1: recorded, or there is nothing to record; 0: the process still runs; -1: writing
 * failed.
 */
static int record(struct guardian *guardian, pid_t pid)
{
	struct rusage usage = { 0 };
	siginfo_t info = { 0 };
	struct tree_stat stat;
	struct process_end end;
	int result;

	/* Use the system call waitid: it also returns the resource usage, unlike the C library's function. */
	if (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL, &usage) < 0 ||
	    (info.si_pid == pid && !tree_stat(pid, &stat)))
		return 1;
	if (info.si_pid != pid)
		return 0;
	memset(&end, 0, sizeof(end));
	memcpy(end.boot_id, guardian->boot_id, sizeof(end.boot_id));
	end.pid = pid;
	end.begun_ns = stat.begun_ns;
	end.run_ns = clock_now().boot_ns - stat.begun_ns;
	end.cpu_us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		     (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	end.rss_kib = (uint64_t)usage.ru_maxrss;
	end.status = (uint64_t)(info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status);
	result = ends_add(guardian->dir_fd, &end);
	if (result < 0 && !guardian->failing)
		log_error("can't record the end of process %d: %s; trying again each second", (int)pid, strerror(-result));
	return result < 0 ? -1 : 1;
}

/* Reap the recorded orphans. One whose end couldn't be recorded stays a zombie, so that the kernel keeps its status. */
static void reap_orphans(struct guardian *guardian)
{
	bool failing = false;
	size_t kept = 0;

	for (size_t i = 0; i < guardian->orphans.n; i++) {
		pid_t pid = guardian->orphans.at[i];
		int recorded = record(guardian, pid);

		failing = failing || recorded < 0;
		if (recorded == 1)
			waitpid(pid, NULL, WNOHANG | __WALL);
		else
			guardian->orphans.at[kept++] = pid;
	}
	guardian->orphans.n = kept;
	guardian->failing = failing;
}

/* Reap the children that are neither the keeper nor main processes of jobs. */
static void reap_others(struct guardian *guardian)
{
	tree_children_of_all(&guardian->children);
	for (size_t i = 0; i < guardian->children.n; i++) {
		bool keep = guardian->children.at[i] == guardian->keeper;

		for (size_t j = 0; j < guardian->orphans.n && !keep; j++)
			keep = guardian->orphans.at[j] == guardian->children.at[i];
		if (!keep)
			waitpid(guardian->children.at[i], NULL, WNOHANG | __WALL);
	}
}

/*
 * Close ready_fd. With waited_for set, only if its reader is gone, because it waits for the first keeper that is ready.
 */
static void drop_ready(struct guardian *guardian, bool waited_for)
{
	struct pollfd reader = { .fd = guardian->options.ready_fd };

	if (reader.fd < 0 || (waited_for && (poll(&reader, 1, 0) <= 0 || !(reader.revents & POLLERR))))
		return;
	close(reader.fd);
	guardian->options.ready_fd = -1;
}

/*
 * Handle the end of the keeper. If it exited by itself, it was asked to or can't run here, so the guardian ends as
 * well. A killed keeper is restarted.
 */
static void keeper_ended(struct guardian *guardian, int status)
{
	int64_t now_ns = clock_mono_ns();

	guardian->keeper = 0;
	list_orphans(guardian);
	if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || !guardian->again)) {
		guardian->ending = true;
		guardian->exit_status = WEXITSTATUS(status);
		/* Unlock, so that the next guardian can start while the last orphans still run. */
		flock(guardian->lock_fd, LOCK_UN);
		drop_ready(guardian, false);
		if (guardian->orphans.n > 0)
			log_info("%zu jobs are left running; the guardian records their ends for the next keeper", guardian->orphans.n);
		return;
	}
	if (now_ns - guardian->started_ns >= LIVED_NS)
		guardian->backoff_ns = 0;
	guardian->restart_ns = now_ns + guardian->backoff_ns;
	log_warn("the keeper ended with %s %d and left %zu jobs running; the guardian restarts it in %d ms",
		 WIFEXITED(status) ? "status" : "signal", WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
		 guardian->orphans.n, (int)(guardian->backoff_ns / NS_PER_MS));
	guardian->backoff_ns = guardian->backoff_ns ? 2 * guardian->backoff_ns : BACKOFF_FIRST_NS;
	if (guardian->backoff_ns > BACKOFF_MAX_NS)
		guardian->backoff_ns = BACKOFF_MAX_NS;
	guardian->again = true;
	drop_ready(guardian, true);
}

static void reap(struct guardian *guardian)
{
	int status;

	if (guardian->keeper > 0 && waitpid(guardian->keeper, &status, WNOHANG) == guardian->keeper)
		keeper_ended(guardian, status);
	reap_orphans(guardian);
	reap_others(guardian);
}

/* Fork the keeper. Returns true in the keeper. */
static bool start_keeper(struct guardian *guardian)
{
	guardian->started_ns = clock_mono_ns();
	guardian->restart_ns = guardian->started_ns + NS_PER_S; /* if fork fails, it is tried again at this time */
	guardian->keeper = fork();
	if (guardian->keeper == 0) {
		prctl(PR_SET_NAME, "titan");
		return true;
	}
	if (guardian->keeper < 0) {
		log_error("can't start the keeper: %s; trying again in a second", strerror(errno));
		guardian->keeper = 0;
	} else if (guardian->passed) {
		kill(guardian->keeper, guardian->passed);
	}
	return false;
}

static void pass_on(struct guardian *guardian, int number)
{
	guardian->passed = number;
	if (guardian->keeper > 0)
		kill(guardian->keeper, number);
	else if (guardian->ending)
		log_info("%zu jobs are still running: the guardian stays until it has recorded their ends", guardian->orphans.n);
}

/* Wait for a signal, or for the time at which a failed record or restart is tried again. */
static void wait_for_signal(struct guardian *guardian, const sigset_t *wanted)
{
	int64_t left_ns = TIME_NEVER;
	struct timespec timeout;
	int number;

	if (guardian->keeper == 0 && !guardian->ending)
		left_ns = guardian->restart_ns - clock_mono_ns();
	if (guardian->failing && left_ns > RETRY_NS)
		left_ns = RETRY_NS;
	if (left_ns < 0)
		left_ns = 0;
	timeout = (struct timespec){ .tv_sec = left_ns / NS_PER_S, .tv_nsec = left_ns % NS_PER_S };
	number = left_ns == TIME_NEVER ? sigwaitinfo(wanted, NULL) : sigtimedwait(wanted, NULL, &timeout);
	if (number == SIGTERM || number == SIGINT)
		pass_on(guardian, number);
	else if (number == SIGHUP)
		guardian->renewing = true;
}

static enum err guardian_open(struct guardian *guardian, struct error *error)
{
	enum err result = home_open(&guardian->options, guardian->path, &guardian->dir_fd, error);

	renew_open(guardian);
	if (!result)
		worker_log_to_file(&guardian->options);
	if (!result && guardian->lock_fd < 0 && !renew_resume(guardian))
		result = home_lock(&guardian->options, guardian->path, guardian->dir_fd, HOME_GUARDIAN,
				   &guardian->lock_fd, error);
	if (result)
		return result;
	home_boot_id(guardian->boot_id);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return error_system(error, errno, "can't become a subreaper for the worker's processes");
	prctl(PR_SET_NAME, GUARDIAN_NAME);
	home_sign(guardian->lock_fd);
	guardian->options.guardian = getpid();
	guardian->options.guardian_fd = guardian->lock_fd;
	list_orphans(guardian);
	return ERR_NONE;
}

static void guardian_close(struct guardian *guardian)
{
	pid_list_free(&guardian->children);
	pid_list_free(&guardian->orphans);
	if (guardian->dir_fd >= 0)
		close(guardian->dir_fd);
}

static bool has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD;
}

static void block_signals(sigset_t *ret_wanted)
{
	const struct sigaction by_default = { .sa_handler = SIG_DFL };
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(ret_wanted);
	for (const int *number = (const int[]){ SIGCHLD, SIGTERM, SIGINT, SIGHUP, 0 }; *number; number++) {
		/* A shell sets some signals to ignored for background processes. */
		sigaction(*number, &by_default, NULL);
		sigaddset(ret_wanted, *number);
	}
}

/*
 * Run the guardian's loop. Returns true in a newly forked keeper; false when the last keeper and its jobs have ended.
 */
static bool guard(struct guardian *guardian, const sigset_t *wanted)
{
	while (!guardian->ending || has_children()) {
		if (guardian->keeper == 0 && !guardian->ending && clock_mono_ns() >= guardian->restart_ns &&
		    start_keeper(guardian))
			return true;
		if (guardian->renewing && guardian->keeper > 0)
			renew_exec(guardian);
		wait_for_signal(guardian, wanted);
		reap(guardian);
	}
	return false;
}

/* Turn this keeper, whose guardian was killed, into the guardian of its jobs. */
static void take_place(struct guardian *guardian, int lock_fd)
{
	struct worker_options options = guardian->options;

	log_init("guardian", LOG_LEVEL_INFO);
	log_warn("the guardian was killed, so the keeper starts a new one");
	*guardian = (struct guardian){ .options = options, .dir_fd = -1, .lock_fd = lock_fd,
				       .again = true };
	drop_ready(guardian, true);
}

int guardian_run(const struct worker_options *options, struct error *error)
{
	struct guardian guardian = { .options = *options, .dir_fd = -1, .lock_fd = -1 };
	sigset_t wanted;
	enum err result;
	bool in_keeper;
	int status;

	log_init("guardian", LOG_LEVEL_INFO);
	do {
		block_signals(&wanted);
		result = guardian_open(&guardian, error);
		in_keeper = !result && guard(&guardian, &wanted);
		guardian_close(&guardian);       /* the file stays locked, because the keeper holds the lock as well */
		status = result ? err_exit_status(result) : guardian.exit_status;
		if (in_keeper)
			status = keeper_run(&guardian.options, error);
		if (in_keeper && status == KEEPER_UNGUARDED)
			take_place(&guardian, guardian.lock_fd);
	} while (in_keeper && status == KEEPER_UNGUARDED);
	if (guardian.lock_fd >= 0)
		close(guardian.lock_fd);
	return status;
}
