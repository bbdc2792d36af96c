/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The keeper's side of its link, a child process that may die at any time and is started again. A new link is told of
 * all attempts; results that the old one didn't pass on are sent again.
 */
#include "worker/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"

#define BACKOFF_FIRST_NS (50 * NS_PER_MS)
#define END_WAIT_NS      (1 * NS_PER_S)  /* how long the link may take to tell the master that the worker ends */
#define BACKOFF_MAX_NS   (2 * NS_PER_S)
#define PATIENCE_NS      (2 * NS_PER_MS) /* longest delay of a message that waits to be sent together with others */
/* A message may be delayed while at least this many attempts per slot are queued. */
#define QUEUED_ENOUGH    4
/* With this many bytes or more, messages are sent at once, because the cost of sending is shared by many. */
#define COMPANY_BYTES    4096
#define LINK_FD          3
#define LINK_VARIABLES   15

extern char **environ;

static void write_hex(const uint8_t *bytes, size_t count, char *out)
{
	*out = '\0';
	for (size_t i = 0; i < count; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* Build the link's environment: the keeper's own, and variables that describe the worker. */
static char **link_environment(struct keeper *keeper, char texts[LINK_VARIABLES][PATH_MAX + 32])
{
	const struct worker_options *options = keeper->options;
	size_t count = 0, used = 0;
	char **list, hex[33], before[sizeof(keeper->before.instances) * 2 + 1];

	write_hex(keeper->instance, sizeof(keeper->instance), hex);
	write_hex(keeper->before.instances[0], keeper->before.count * sizeof(keeper->before.instances[0]), before);
	snprintf(texts[0], PATH_MAX + 32, "TITAN_LINK_NAME=%s", options->name);
	snprintf(texts[1], PATH_MAX + 32, "TITAN_LINK_CLUSTER=%s", options->statedir.cluster);
	snprintf(texts[2], PATH_MAX + 32, "TITAN_LINK_DIR=%s", options->statedir.dir);
	snprintf(texts[3], PATH_MAX + 32, "TITAN_LINK_SLOTS=%" PRIu32, keeper->slots);
	snprintf(texts[4], PATH_MAX + 32, "TITAN_LINK_PID=%d", (int)getpid());
	snprintf(texts[5], PATH_MAX + 32, "TITAN_LINK_INSTANCE=%s", hex);
	snprintf(texts[6], PATH_MAX + 32, "TITAN_LINK_LABELS=%s", options->labels ? options->labels : "");
	snprintf(texts[7], PATH_MAX + 32, "TITAN_LINK_RESOURCES=%s", keeper->offers_text);
	snprintf(texts[8], PATH_MAX + 32, "TITAN_LINK_POOL=%s", options->pool ? options->pool : "");
	snprintf(texts[9], PATH_MAX + 32, "TITAN_LINK_ADDRESS=%s", options->address ? options->address : "");
	snprintf(texts[10], PATH_MAX + 32, "TITAN_LINK_KEY=%s", options->key_path ? options->key_path : "");
	snprintf(texts[11], PATH_MAX + 32, "TITAN_LINK_BEFORE=%s", before);
	snprintf(texts[12], PATH_MAX + 32, "TITAN_LINK_UID=%u", options->user ? (unsigned)options->user->uid : (unsigned)getuid());
	snprintf(texts[13], PATH_MAX + 32, "TITAN_LINK_PLACE=%s", options->user ? options->user->place : "");
	snprintf(texts[14], PATH_MAX + 32, "TITAN_LINK_GID=%u", options->user ? (unsigned)options->user->gid : (unsigned)getgid());
	while (environ[count])
		count++;
	list = mem_array(count + LINK_VARIABLES + 1, sizeof(*list));
	for (size_t i = 0; i < LINK_VARIABLES; i++)
		list[used++] = texts[i];
	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], "TITAN_LINK_", 11) != 0)
			list[used++] = environ[i];
	return list;
}

/*
 * In the child: pass the socket on as LINK_FD and keep stderr, close all other descriptors, and exec the link. The link
 * dies with the keeper.
 */
static _Noreturn void become_link(const char *const *argv, char **envp, int fd, int null_fd, pid_t keeper_pid)
{
	const char *path = argv ? argv[0] : "/proc/self/exe";
	const char *const own_argv[] = { "titan", "link", NULL };
	sigset_t none;

	sigemptyset(&none);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != keeper_pid || dup2(null_fd, 0) < 0 ||
	    (fd == LINK_FD ? fcntl(fd, F_SETFD, 0) : dup2(fd, LINK_FD)) < 0 ||
	    close_range(LINK_FD + 1, ~0u, 0) < 0 || sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		_exit(126);
	execve(path, (char *const *)(argv ? argv : own_argv), envp);
	_exit(127);
}

/* Send the list of all attempts, then what is known about each. */
static void tell_everything(struct keeper *keeper)
{
	const struct ipc_inventory end = { 0 };

	for (const struct attempt *attempt = keeper->first; attempt; attempt = attempt->next) {
		const struct ipc_inventory item = {
			.job = attempt->job, .epoch = attempt->epoch, .run = attempt->run,
			.phase = !attempt->entry ? PHASE_ENDED : attempt->late || attempt->start_fault ? PHASE_QUEUED :
				 attempt->entry->phase, .started_ms = attempt->wall_ms,
		};

		if (attempt->entry)
			ipc_put(&keeper->link, IPC_INVENTORY, &item, sizeof(item));
	}
	ipc_put(&keeper->link, IPC_INVENTORY, &end, sizeof(end));
	keeper->listed = true;
	for (const struct attempt *attempt = keeper->first; attempt; attempt = attempt->next) {
		if (attempt->entry && attempt->entry->phase == PHASE_RUNNING && !attempt->late && !attempt->start_fault)
			keeper_link_started(keeper, attempt);
		else if (!attempt->entry || attempt->entry->phase == PHASE_ENDED)
			keeper_link_exited(keeper, attempt);
		if (attempt->stuck)
			keeper_link_stuck(keeper, attempt);
	}
	keeper->told = (struct ipc_numbers){ UINT32_MAX, UINT32_MAX };
	keeper->leaving_told = false;
}

void keeper_link_start(struct keeper *keeper)
{
	static char texts[LINK_VARIABLES][PATH_MAX + 32];
	char **envp;
	pid_t pid, own = getpid();
	int pair[2];

	keeper->link_restart_ns = keeper->now_ns + keeper->link_backoff_ns;
	keeper->link_backoff_ns = keeper->link_backoff_ns ? 2 * keeper->link_backoff_ns : BACKOFF_FIRST_NS;
	if (keeper->link_backoff_ns > BACKOFF_MAX_NS)
		keeper->link_backoff_ns = BACKOFF_MAX_NS;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		log_error("can't make a socket for the link: %s", strerror(errno));
		return;
	}
	envp = link_environment(keeper, texts);
	pid = fork();
	if (pid == 0)
		become_link(keeper->options->link_argv, envp, pair[1], keeper->null_fd, own);
	mem_free(envp);
	close(pair[1]);
	if (pid < 0) {
		log_error("can't start the link: %s", strerror(errno));
		close(pair[0]);
		return;
	}
	keeper->link_pid = pid;
	keeper->link.fd = pair[0];
	tell_everything(keeper);
}

void keeper_link_started(struct keeper *keeper, const struct attempt *attempt)
{
	const struct ipc_started started = {
		.job = attempt->job, .epoch = attempt->epoch, .run = attempt->run, .wall_ms = attempt_began_ms(attempt),
		.pid = (uint64_t)attempt->pid, .space = attempt->space ? attempt->space->id : 0,
		.log_max = attempt->log_max, .synced = { attempt->synced[0], attempt->synced[1] },
	};

	if (keeper->listed)
		ipc_put(&keeper->link, IPC_STARTED, &started, sizeof(started));
}

void keeper_link_exited(struct keeper *keeper, const struct attempt *attempt)
{
	struct buf tail = { 0 };

	if (!keeper->listed)
		return;
	buf_add(&tail, attempt->synced, sizeof(attempt->synced));
	buf_add_slice(&tail, buf_slice(&attempt->outputs));
	ipc_put_tail(&keeper->link, IPC_EXITED, &attempt->exited, sizeof(attempt->exited), tail.data, tail.len);
	buf_free(&tail);
}

void keeper_link_stuck(struct keeper *keeper, const struct attempt *attempt)
{
	const struct ipc_attempt stuck = { attempt->job, attempt->epoch };

	if (keeper->listed)
		ipc_put(&keeper->link, IPC_STUCK, &stuck, sizeof(stuck));
}

void keeper_tell_ready(struct keeper *keeper)
{
	if (keeper->ready_told)
		return;
	keeper->ready_told = true;
	if (keeper->options->ready_fd >= 0 && write(keeper->options->ready_fd, "\n", 1) != 1)
		log_warn("the process that started this worker no longer waits for it");
}

static void connected(struct keeper *keeper)
{
	/* The link has reached the master, so if it dies the next one may start without delay. */
	keeper->link_backoff_ns = 0;
	keeper->connected = true;
	keeper_tell_ready(keeper);
}

static void take(const struct slice body, void *out, size_t size)
{
	CHECK(body.len >= size);
	memcpy(out, body.data, size);
}

static void dispatch(struct keeper *keeper, unsigned type, struct slice body)
{
	struct ipc_spawn spawn;
	struct ipc_stop stop;
	struct ipc_attempt attempt;
	struct ipc_lease lease;
	struct ipc_quit quit;
	struct ipc_room room;
	struct ipc_staged staged;

	switch (type) {
	case IPC_SPAWN:
		take(body, &spawn, sizeof(spawn));
		CHECK(body.len == sizeof(spawn) + spawn.strings_size);
		attempts_assign(keeper, &spawn, (const char *)body.data + sizeof(spawn));
		break;
	case IPC_STOP:
		take(body, &stop, sizeof(stop));
		attempts_stop(keeper, stop.job, stop.epoch, stop.grace_ms);
		break;
	case IPC_RECALL:
		take(body, &attempt, sizeof(attempt));
		attempts_recall(keeper, attempt.job, attempt.epoch);
		break;
	case IPC_STAGED:
		take(body, &staged, sizeof(staged));
		attempts_staged(keeper, staged.job, staged.epoch, (int)staged.fault);
		break;
	case IPC_SPOOL_ACK:
		take(body, &attempt, sizeof(attempt));
		attempts_acked(keeper, attempt.job, attempt.epoch);
		break;
	case IPC_FILES_DONE:
		take(body, &attempt, sizeof(attempt));
		attempts_shipped(keeper, attempt.job, attempt.epoch);
		break;
	case IPC_LEASE:
		take(body, &lease, sizeof(lease));
		ledger_lease(keeper->ledger, lease.until_ns);
		connected(keeper);
		ipc_put(&keeper->link, IPC_PONG, NULL, 0);
		break;
	case IPC_PING:
		ipc_put(&keeper->link, IPC_PONG, NULL, 0);
		break;
	case IPC_LEFT:
		keeper->left = true;
		break;
	case IPC_QUIT:
		take(body, &quit, sizeof(quit));
		keeper->left = true;     /* a master that sends QUIT gives no more attempts */
		attempts_quit(keeper, quit.grace_ms);
		break;
	case IPC_ROOM:
		take(body, &room, sizeof(room));
		room_give_back(keeper, &room);
		break;
	default:
		CHECK(!"the link sent a message that its keeper doesn't know");
	}
}

static int read_messages(struct keeper *keeper)
{
	struct ipc_header header;
	struct slice body;
	int result = ipc_fill(&keeper->link);

	while (keeper->link.fd >= 0 && ipc_next(&keeper->link, &header, &body))
		dispatch(keeper, header.type, body);
	return result;
}

void keeper_link_died(struct keeper *keeper)
{
	if (!keeper->quitting)
		log_warn("the link has ended; the keeper starts it again");
	/* Messages that the link had sent before it died still count, acknowledgements above all. */
	if (keeper->link.fd >= 0)
		read_messages(keeper);
	ipc_close(&keeper->link);
	keeper->link_pid = 0;
	keeper->listed = false;
	attempts_unstaged(keeper);
}

/* Kill a link whose socket has failed; the next one starts when this one has been reaped. */
static void give_up(struct keeper *keeper)
{
	ipc_close(&keeper->link);
	keeper->listed = false;
	if (keeper->link_pid > 0)
		kill(keeper->link_pid, SIGKILL);
}

void keeper_link_read(struct keeper *keeper)
{
	if (read_messages(keeper) < 0)
		give_up(keeper);
}

/*
 * May a message to the link be delayed? Each send wakes three processes. While enough attempts are queued here, the
 * master's answer isn't urgent, so messages wait a little to be sent together.
 */
static bool may_delay_flush(struct keeper *keeper)
{
	if (!keeper->listed || keeper->quitting || keeper->link.out.len >= COMPANY_BYTES ||
	    ledger_queued(keeper->ledger) < QUEUED_ENOUGH * keeper->slots)
		return false;
	if (keeper->link_flush_ns == 0)
		keeper->link_flush_ns = keeper->now_ns + PATIENCE_NS;
	return keeper->now_ns < keeper->link_flush_ns;
}

void keeper_link_flush(struct keeper *keeper)
{
	const struct ipc_numbers numbers = { ledger_running(keeper->ledger), ledger_queued(keeper->ledger) };
	int result;

	if (keeper->listed && (numbers.running != keeper->told.running || numbers.queued != keeper->told.queued)) {
		keeper->told = numbers;
		ipc_put(&keeper->link, IPC_NUMBERS, &numbers, sizeof(numbers));
	}
	if (keeper->listed && keeper->quitting && !keeper->left && !keeper->leaving_told) {
		keeper->leaving_told = true;
		ipc_put(&keeper->link, IPC_LEAVING, NULL, 0);
	}
	if (keeper->link.out.len > 0 && may_delay_flush(keeper))
		return;
	keeper->link_flush_ns = 0;
	result = ipc_flush(&keeper->link);
	keeper->link_full = result > 0;
	if (result < 0)
		give_up(keeper);
}

void keeper_link_end(struct keeper *keeper)
{
	int64_t until_ns = clock_mono_ns() + END_WAIT_NS;
	struct pollfd fd = { .fd = keeper->link.fd, .events = POLLIN };

	if (keeper->link.fd < 0 || keeper->link_pid <= 0 || !keeper->listed)
		return;
	ipc_put(&keeper->link, IPC_ENDING, NULL, 0);
	if (ipc_flush(&keeper->link) != 0)
		return;
	/* Wait until the link ends: the master has answered it, or can't be reached. What it sends meanwhile is dropped. */
	while (clock_mono_ns() < until_ns) {
		uint8_t bytes[4096];
		int left_ms = (int)((until_ns - clock_mono_ns()) / NS_PER_MS);

		if (poll(&fd, 1, left_ms > 0 ? left_ms : 0) <= 0 || read(fd.fd, bytes, sizeof(bytes)) <= 0)
			return;
	}
}
