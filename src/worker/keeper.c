/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The keeper: one thread that owns child processes, spool and lease, with a loop around poll. It reads
 * nothing from the network and nothing that jobs write. All signals are blocked and arrive through a
 * signalfd.
 */
#include "worker/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/text.h"
#include "proto/label.h"
#include "proto/limits.h"
#include "worker/home.h"
#include "worker/offers.h"
#include "worker/spawn.h"

#define LABELS_TEXT_MAX 1024             /* most bytes of a worker's labels together */
#define QUIT_WAIT_NS (5 * NS_PER_S)      /* how long to wait for acknowledgements after the last process has ended */

static enum err open_dir(struct keeper *keeper, struct error *error)
{
	enum err result = home_open(keeper->options, keeper->path, &keeper->dir_fd, error);
	int fault = result ? 0 : home_mark(keeper->dir_fd, keeper->mark);

	if (fault < 0)
		return error_dir(error, -fault, "the worker's directory", keeper->path);
	return result ? result : home_lock(keeper->options, keeper->path, keeper->dir_fd, HOME_KEEPER, &keeper->lock_fd,
					   error);
}

/* Block all signals and reset their handlers, so that a child need only unblock them. Returns a signalfd. */
static int open_signals(void)
{
	/* Default handler and no flags, in the form of the kernel's struct sigaction. */
	const unsigned long by_default[8] = { 0 };
	sigset_t all, wanted;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	/* By system call: the C library hides two signals, which its own posix_spawn may have left ignored. */
	for (int number = 1; number < NSIG; number++)
		syscall(SYS_rt_sigaction, number, by_default, NULL, (NSIG - 1) / 8);
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	sigaddset(&wanted, SIGTERM);
	sigaddset(&wanted, SIGINT);
	sigaddset(&wanted, SIGHUP);
	return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

static enum err open_process(struct keeper *keeper, struct error *error)
{
	int result;

	/*
	 * The link and jobs replace descriptors 0 to 2 by dup2, so the keeper's own descriptors must have higher
	 * numbers.
	 */
	do {
		keeper->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (keeper->null_fd < 0)
			return error_system(error, errno, "can't open /dev/null");
		if (keeper->null_fd <= 2)
			io_set_cloexec(keeper->null_fd, false);
	} while (keeper->null_fd <= 2);
	close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
	result = spawn_prepare();
	if (result < 0)
		return error_system(error, -result, "can't set the resource limits of the worker");
	io_fd_count_limit();
	keeper->signal_fd = open_signals();
	if (keeper->signal_fd < 0)
		return error_system(error, errno, "can't get a file descriptor for signals");
	keeper->children_fd = tree_children_open();
	if (keeper->options->guardian > 0 && prctl(PR_SET_PDEATHSIG, SIGHUP) < 0)
		return error_system(error, errno, "the keeper can't watch its guardian");
	return ERR_NONE;
}

/* Check the worker's labels, which travel in HELLO, a small frame. */
static enum err check_labels(const char *labels, struct error *error)
{
	struct slice list[LIMIT_LABELS_MAX + 1];
	size_t count = 0;

	if (labels && strlen(labels) > LABELS_TEXT_MAX)
		return error_set(error, ERR_TOO_LARGE, "the labels of a worker may have at most %d bytes together", LABELS_TEXT_MAX);
	while (labels && *labels && count <= LIMIT_LABELS_MAX) {
		size_t len = strcspn(labels, ",");

		list[count++] = slice_make(labels, len);
		labels += len + (labels[len] == ',');
	}
	return labels_check((struct slice_list){ list, count }, error);
}

/* Open the best containment that this machine allows; if one was chosen by name, open that one or fail. */
static enum err open_cages(struct keeper *keeper, struct error *error)
{
	int result = keeper->options->containment == CONTAIN_PIDS ? spawn_try_own_pids() : 0;

	if (result > 0)
		return error_system(error, result, "can't make a process-number space (pid namespace) for jobs");
	if (keeper->options->containment == CONTAIN_SUBREAPER || keeper->options->containment == CONTAIN_PIDS)
		return ERR_NONE;
	result = cages_open(keeper->mark, &keeper->cages);
	if (result < 0 && keeper->options->containment == CONTAIN_CGROUP) {
		error_system(error, -result, "can't make control groups (version 2) below that of this process");
		return error_next(error, "systemd-run --user --scope -p Delegate=yes titan worker start");
	}
	if (keeper->cages)
		log_info("jobs run in control groups below %s", cages_path(keeper->cages));
	return ERR_NONE;
}

static enum err keeper_open(struct keeper *keeper, struct error *error)
{
	struct resource_list offers = { 0 };
	char socket[PATH_MAX + 16];
	const struct job_user *user = keeper->options->user;
	cpu_set_t cpus;
	enum err result = open_process(keeper, error);
	int secret;

	if (!result)
		result = open_dir(keeper, error);
	if (!result)
		result = open_cages(keeper, error);
	if (!result)
		result = job_user_place(keeper->options->user, keeper->mark, keeper->dir_fd, error);
	if (!result)
		result = spaces_open(keeper->dir_fd, keeper->options->user, &keeper->spaces, error);
	if (result)
		return result;
	keeper->slots = keeper->options->slots;
	if (keeper->slots == 0 && sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		keeper->slots = (uint32_t)CPU_COUNT(&cpus);
	if (keeper->slots == 0 || keeper->slots > LIMIT_SLOTS_MAX)
		return error_set(error, ERR_INVALID, "a worker can't have %u slots; the number must be from 1 to %d", keeper->slots,
				 LIMIT_SLOTS_MAX);
	if (check_labels(keeper->options->labels, error) != ERR_NONE)
		return error->code;
	if (offers_find(keeper->options->resources, &offers, keeper->offers_text, error) != ERR_NONE)
		return error->code;
	if (keeper->options->pool && keeper->options->pool[0] && !text_is_name(slice_str(keeper->options->pool)))
		return error_set(error, ERR_INVALID, "'%s' isn't a valid name for a pool: use letters, digits and _ "
			". -, at most 128",
				 keeper->options->pool);
	keeper->ledger = ledger_new(keeper->slots);
	ledger_offer(keeper->ledger, &offers);
	snprintf(socket, sizeof(socket), "%s%s/" JOB_TOKEN_SOCKET, user ? user->place : keeper->path, user ? "/link" : "");
	env_init(&keeper->env, keeper->options->name, keeper->options->statedir.cluster, socket, user);
	rand_system(keeper->instance, sizeof(keeper->instance));
	secret = job_token_secret(keeper->dir_fd, keeper->secret);
	if (secret < 0)
		return error_system(error, -secret, "can't store the secret of worker %s in %s", keeper->options->name,
				    keeper->path);
	home_boot_id(keeper->boot_id);
	return recover_open(keeper, error);
}

static void keeper_close(struct keeper *keeper)
{
	ipc_close(&keeper->link);
	if (keeper->link_pid > 0) {
		kill(keeper->link_pid, SIGKILL);
		waitpid(keeper->link_pid, NULL, 0);
	}
	spool_close(keeper->spool);
	while (keeper->first) {
		keeper->first->closing = false;
		attempt_free(keeper, keeper->first);
	}
	cages_close(keeper->cages);
	spaces_close(keeper->spaces);
	ledger_free(keeper->ledger);
	env_free(&keeper->env);
	map_free(&keeper->pids);
	exits_free(keeper);
	buf_free(&keeper->pointers);
	for (int *fd = (int[]){ keeper->children_fd, keeper->signal_fd, keeper->lock_fd, keeper->dir_fd,
				keeper->null_fd, -2 }; *fd != -2; fd++)
		if (*fd >= 0)
			close(*fd);
}

/*
 * Has the guardian been killed? It never ends before its keeper otherwise. Then this process signs the lock file, so
 * that titan down finds it.
 */
static void check_guardian(struct keeper *keeper)
{
	if (keeper->unguarded || keeper->options->guardian == 0 || getppid() == keeper->options->guardian)
		return;
	log_warn("the guardian, process %d, was killed", keeper->options->guardian);
	keeper->unguarded = true;
	home_sign(keeper->options->guardian_fd);
}

static void read_signals(struct keeper *keeper)
{
	struct signalfd_siginfo infos[5];        /* room for all signals: at most one of each kind can be pending */
	ssize_t got = read(keeper->signal_fd, infos, sizeof(infos));

	for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(infos[0]); i++)
		if (infos[i].ssi_signo == SIGTERM) {
			log_info("the worker was told to end; it leaves %u running jobs running where possible", ledger_running(keeper->ledger));
			attempts_leave(keeper, LIMIT_STOP_GRACE_MS);
		} else if (infos[i].ssi_signo == SIGINT) {
			log_info("the worker was told to end together with its jobs; %u are running", ledger_running(keeper->ledger));
			attempts_quit(keeper, LIMIT_STOP_GRACE_MS);
		} else if (infos[i].ssi_signo == SIGHUP) {
			check_guardian(keeper);
		}
	exits_reap(keeper);
}

/* The time at which the loop must wake up even if nothing arrives. */
static int64_t next_due(const struct keeper *keeper)
{
	int64_t due_ns = exits_due(keeper), lease_ns = ledger_lease_end(keeper->ledger);

	if (lease_ns < due_ns)
		due_ns = lease_ns;
	if (drain_due(keeper) < due_ns)
		due_ns = drain_due(keeper);
	if (keeper->link_pid == 0 && keeper->link_restart_ns < due_ns)
		due_ns = keeper->link_restart_ns;
	if (keeper->quitting && keeper->quit_ns && keeper->quit_ns < due_ns)
		due_ns = keeper->quit_ns;
	if (keeper->link_flush_ns && keeper->link_flush_ns < due_ns)
		due_ns = keeper->link_flush_ns;
	if ((keeper->spool_failing || spool_owes(keeper->spool)) && keeper->now_ns + NS_PER_S < due_ns)
		due_ns = keeper->now_ns + NS_PER_S;
	return due_ns;
}

/* Add the descriptors of attempts to the poll list: pidfds of adopted ones, pipes of lossless ones. */
static nfds_t list_attempts(struct keeper *keeper, struct pollfd *fds, struct attempt **owners, nfds_t count)
{
	for (struct attempt *attempt = keeper->first; attempt; attempt = attempt->next) {
		if (attempt->pidfd >= 0 && !attempt->gone) {
			owners[count] = attempt;
			fds[count++] = (struct pollfd){ .fd = attempt->pidfd, .events = POLLIN };
		}
		for (int stream = 0; stream < 2 && keeper->piped > 0; stream++)
			if (drain_wants(keeper, attempt, stream)) {
				owners[count] = attempt;
				fds[count++] = (struct pollfd){ .fd = attempt->space->pipe_fds[stream], .events = POLLIN };
			}
	}
	return count;
}

static void serve_attempt(struct keeper *keeper, struct attempt *attempt, int fd)
{
	if (fd == attempt->pidfd)
		exits_adopted(keeper, attempt);
	for (int stream = 0; stream < 2 && attempt->space; stream++)
		if (fd == attempt->space->pipe_fds[stream])
			drain_some(keeper, attempt, stream);
}

static void wait_for_events(struct keeper *keeper)
{
	struct attempt **owners = NULL;
	struct pollfd few[2] = { 0 }, *fds = few;
	struct timespec timeout = { 0 };
	int64_t due_ns = next_due(keeper);
	nfds_t count = 2;

	if (keeper->adopted + keeper->piped > 0) {
		fds = mem_array(2 + keeper->adopted + 2 * keeper->piped, sizeof(*fds));
		owners = mem_array(2 + keeper->adopted + 2 * keeper->piped, sizeof(*owners));
		count = list_attempts(keeper, fds, owners, count);
	}
	fds[0] = (struct pollfd){ .fd = keeper->signal_fd, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = keeper->link.fd, .events = (short)(POLLIN | (keeper->link_full ? POLLOUT : 0)) };
	if (due_ns > keeper->now_ns) {
		timeout.tv_sec = (due_ns - keeper->now_ns) / NS_PER_S;
		timeout.tv_nsec = (due_ns - keeper->now_ns) % NS_PER_S;
	}
	if (ppoll(fds, count, due_ns == TIME_NEVER ? NULL : &timeout, NULL) < 0)
		fds[0].revents = fds[1].revents = 0;
	keeper->now_ns = clock_mono_ns();
	for (nfds_t i = 2; i < count; i++)
		if (fds[i].revents)
			serve_attempt(keeper, owners[i], fds[i].fd);
	if (fds[0].revents)
		read_signals(keeper);
	if (fds[1].revents & (POLLIN | POLLHUP | POLLERR) && keeper->link.fd == fds[1].fd)
		keeper_link_read(keeper);
	if (fds != few) {
		mem_free(fds);
		mem_free(owners);
	}
}

static void write_spool(struct keeper *keeper)
{
	const struct ledger_entry *entry = ledger_first(keeper->ledger, PHASE_ENDED);
	int result = spool_flush(keeper->spool);

	if (result == 0)
		spool_note(keeper->spool, keeper->ended_count,
			   entry ? ((struct attempt *)entry->owner)->ended_no : keeper->ended_count + 1);
	if (result < 0 && !keeper->spool_failing)
		log_error("can't write the worker's spool: %s; the worker keeps results only in memory", strerror(-result));
	keeper->spool_failing = result < 0;
	if (result == 0)
		spaces_rested(keeper->spaces);
	if (spool_wants_rewrite(keeper->spool, keeper->count, keeper->outputs_bytes))
		recover_rewrite(keeper);
}

/* May a quitting keeper exit now? Attempts that can't be killed are left to the next keeper. */
static bool at_end(struct keeper *keeper)
{
	if (!keeper->quitting || attempts_under_way(keeper))
		return false;
	if (keeper->quit_ns == 0)
		keeper->quit_ns = keeper->now_ns + (keeper->options->end_jobs ? 0 : QUIT_WAIT_NS);
	/* All other attempts have only results or output that the master doesn't have yet. */
	return (keeper->count == ledger_running(keeper->ledger) && (keeper->left || keeper->link_pid == 0)) ||
	       keeper->now_ns >= keeper->quit_ns;
}

/* Can this keeper become the guardian of its jobs? Not while a job runs that must die with its keeper. */
static bool may_take_place(const struct keeper *keeper)
{
	if (!keeper->unguarded || keeper->quitting || keeper->late)
		return false;
	for (struct ledger_entry *entry = ledger_first(keeper->ledger, PHASE_RUNNING); entry; entry = entry->next)
		if (((struct attempt *)entry->owner)->dies)
			return false;
	return true;
}

static void serve(struct keeper *keeper)
{
	while (!at_end(keeper) && !may_take_place(keeper)) {
		if (keeper->link_pid == 0 && keeper->now_ns >= keeper->link_restart_ns && !keeper->options->end_jobs)
			keeper_link_start(keeper);
		/* Write the spool before the link is told anything that depends on it. */
		write_spool(keeper);
		keeper_link_flush(keeper);
		wait_for_events(keeper);
		attempts_enforce_lease(keeper);
		exits_check(keeper);
		attempts_start(keeper);
	}
	if (keeper->count > 0 && keeper->quitting)
		log_warn("the keeper ends; %zu attempts or results are left for the next keeper", keeper->count);
}

void worker_log_to_file(const struct worker_options *options)
{
	char name[LIMIT_NAME_MAX_LEN + 16], path[PATH_MAX];

	snprintf(name, sizeof(name), "worker-%s.log", options->name);
	log_to_file(statedir_path(&options->statedir, name, path), 0);
}

int keeper_run(const struct worker_options *options, struct error *error)
{
	struct keeper keeper = { .options = options, .dir_fd = -1, .lock_fd = -1, .null_fd = -1, .signal_fd = -1,
				 .children_fd = -1, .link.fd = -1 };
	enum err result;
	bool unguarded;

	log_init("keeper", LOG_LEVEL_INFO);
	result = keeper_open(&keeper, error);
	if (result) {
		keeper_close(&keeper);
		return err_exit_status(result);
	}
	worker_log_to_file(options);
	log_info("worker %s has %u slots and its state in %s", options->name, keeper.slots, keeper.path);
	keeper.now_ns = clock_mono_ns();
	check_guardian(&keeper);         /* the guardian may have been killed before this keeper could notice */
	if (options->end_jobs)
		attempts_quit(&keeper, LIMIT_STOP_GRACE_MS);
	serve(&keeper);
	if (options->end_jobs && ledger_running(keeper.ledger) == 0)
		keeper_tell_ready(&keeper);
	unguarded = may_take_place(&keeper);
	if (!unguarded)
		keeper_link_end(&keeper);
	if (keeper.quitting)
		recover_close(&keeper);
	log_left_out();
	keeper_close(&keeper);
	return unguarded ? KEEPER_UNGUARDED : 0;
}
