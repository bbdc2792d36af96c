/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directory "machines" is watched, so a machine gets its bridge as soon as its file appears. An ssh process that
 * ends is started again after a pause, which doubles up to a minute while ssh fails. Output of a remote shell before
 * the worker's is skipped, up to the nonce on a line of its own.
 *
 * A worker that connects by itself needs no bridge. While it isn't connected, ssh starts it again if its process is gone, as
 * after a reboot of its machine, with the same pauses; that ssh process is called a wake.
 */
#include "master/bridges.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/text.h"
#include "master/internal.h"
#include "master/remote.h"
#include "net/machine.h"

#define AT_ONCE       8                  /* most logins under way: sshd refuses more than ten */
#define NOISE_MAX     65536              /* most bytes of shell output before the nonce */
#define GREETING_LINE 128
#define SAID_MAX      400                /* number of bytes kept of the end of ssh's stderr */
#define GREETING_S    60.
#define PAUSE_FIRST_S 1.
#define WAKE_FIRST_S  5.                 /* a worker that only lost its connection is back by then */
#define PAUSE_MAX_S   60.
#define LASTED_NS     (60 * NS_PER_S)    /* a bridge that has lasted this long is made again at once */
#define NONCE_BYTES   16

struct bridge {
	struct bridge *next;
	struct master *master;
	struct machine machine;
	bool listed;                     /* the machine's file existed when the directory was last read */
	bool wakes;                      /* the worker connects by itself, so ssh only starts it */
	bool due;                        /* ssh must be started as soon as fewer logins are under way */
	pid_t pid;                       /* pid of ssh; 0: it doesn't run */
	int pidfd, fd, err_fd;           /* fd: our end of ssh's stdin and stdout; -1 once the session owns it */
	char nonce[2 * NONCE_BYTES + 1];
	char line[GREETING_LINE];            /* the line of shell output that is being read, as much of it as fits */
	size_t line_len, noise;
	char said[SAID_MAX + 1];
	size_t said_len;
	int64_t begun_ns;
	double pause_s;
	struct ev_io ended, greeting, says;
	struct ev_timer pause, late;
};

struct bridges {
	struct bridge *first;
	int watch_fd;
	struct ev_io changed;
};

static void start_due(struct bridges *all);

/* ---- the end of one ---- */

static void let_go(struct bridge *bridge)
{
	struct ev_loop *loop = bridge->master->loop;

	ev_io_stop(loop, &bridge->ended);
	ev_io_stop(loop, &bridge->greeting);
	ev_io_stop(loop, &bridge->says);
	ev_timer_stop(loop, &bridge->late);
	if (bridge->pidfd >= 0)
		close(bridge->pidfd);
	if (bridge->fd >= 0)
		close(bridge->fd);
	if (bridge->err_fd >= 0)
		close(bridge->err_fd);
	bridge->pidfd = bridge->fd = bridge->err_fd = -1;
}

static void kill_ssh(struct bridge *bridge)
{
	if (bridge->pid > 0) {
		kill(bridge->pid, SIGKILL);
		while (waitpid(bridge->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	bridge->pid = 0;
	let_go(bridge);
}

static void start_later(struct bridge *bridge)
{
	uint8_t random;

	rand_system(&random, 1);
	if (clock_mono_ns() - bridge->begun_ns >= LASTED_NS)
		bridge->pause_s = 0.;
	bridge->pause_s = bridge->pause_s > 0. ? 2. * bridge->pause_s : bridge->wakes ? WAKE_FIRST_S : PAUSE_FIRST_S;
	if (bridge->pause_s > PAUSE_MAX_S)
		bridge->pause_s = PAUSE_MAX_S;
	ev_timer_stop(bridge->master->loop, &bridge->pause);
	ev_timer_set(&bridge->pause, bridge->pause_s * (0.75 + random / 512.), 0.);
	ev_timer_start(bridge->master->loop, &bridge->pause);
}

static void tell_end(struct bridge *bridge, int status)
{
	struct buf shown = { 0 };

	while (bridge->said_len > 0 && strchr("\r\n", bridge->said[bridge->said_len - 1]))
		bridge->said_len--;
	text_escape(&shown, slice_make(bridge->said, bridge->said_len), TEXT_KEEP_NONE);
	log_warn_limited("%s worker %s %s (ssh %s: %s %d)%s%s; trying again", bridge->wakes ? "starting" : "the bridge to",
			 bridge->machine.name, bridge->wakes ? "again failed" : "ended", bridge->machine.destination, WIFEXITED(status) ? "status" : "signal",
			 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), shown.len ? ": " : "", buf_cstr(&shown));
	buf_free(&shown);
}

static void ended_cb(struct ev_loop *loop, struct ev_io *io, int events)
{
	struct bridge *bridge = io->data;
	int status = 0;

	(void)loop;
	(void)events;
	if (waitpid(bridge->pid, &status, WNOHANG) != bridge->pid)
		return;
	bridge->pid = 0;
	if (!bridge->wakes || status != 0)
		tell_end(bridge, status);
	let_go(bridge);
	start_later(bridge);
	start_due(bridge->master->bridges);
}

static void late_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct bridge *bridge = timer->data;

	(void)loop;
	(void)events;
	log_warn_limited("the bridge to worker %s: nothing answered for %d s", bridge->machine.name, (int)GREETING_S);
	kill(bridge->pid, SIGKILL);
}

/* ---- its beginning ---- */

/* Read ssh's stderr to its end, so that the other side never blocks on it, and keep its last bytes for the log. */
static void says_cb(struct ev_loop *loop, struct ev_io *io, int events)
{
	struct bridge *bridge = io->data;
	char bytes[4096];
	ssize_t count = read(bridge->err_fd, bytes, sizeof(bytes));
	size_t from, keep;

	(void)events;
	if (count <= 0) {
		if (count == 0 || (errno != EAGAIN && errno != EINTR))
			ev_io_stop(loop, io);
		return;
	}
	from = (size_t)count > SAID_MAX ? (size_t)count - SAID_MAX : 0;
	keep = SAID_MAX - ((size_t)count - from);
	if (bridge->said_len > keep) {
		memmove(bridge->said, bridge->said + bridge->said_len - keep, keep);
		bridge->said_len = keep;
	}
	memcpy(bridge->said + bridge->said_len, bytes + from, (size_t)count - from);
	bridge->said_len += (size_t)count - from;
}

static bool greets(struct bridge *bridge, char byte)
{
	if (byte != '\n') {
		if (bridge->line_len < GREETING_LINE)
			bridge->line[bridge->line_len] = byte;
		bridge->line_len++;
		bridge->noise++;
		return false;
	}
	if (bridge->line_len == strlen(bridge->nonce) && memcmp(bridge->line, bridge->nonce, bridge->line_len) == 0)
		return true;
	bridge->line_len = 0;
	return false;
}

static void greeting_cb(struct ev_loop *loop, struct ev_io *io, int events)
{
	struct bridge *bridge = io->data;
	char byte;

	(void)events;
	/* Read one byte at a time, because the bytes after the nonce belong to the session. */
	while (bridge->noise < NOISE_MAX) {
		ssize_t count = recv(bridge->fd, &byte, 1, MSG_DONTWAIT);
		int fd = bridge->fd;

		if (count < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (count <= 0)
			break;
		if (!greets(bridge, byte))
			continue;
		ev_io_stop(loop, io);
		ev_timer_stop(loop, &bridge->late);
		bridge->fd = -1;
		remote_bridge(bridge->master, fd, bridge->machine.name, bridge->machine.token);
		start_due(bridge->master->bridges);
		return;
	}
	ev_io_stop(loop, io);
	if (bridge->noise >= NOISE_MAX)
		kill(bridge->pid, SIGKILL);
}

static void make_nonce(struct bridge *bridge)
{
	uint8_t random[NONCE_BYTES];

	rand_system(random, sizeof(random));
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(bridge->nonce + 2 * i, 3, "%02x", random[i]);
}

static bool spawn(struct bridge *bridge)
{
	const struct machine *machine = &bridge->machine;
	const char *argv[MACHINE_SSH_ARGS];
	struct buf command = { 0 };
	int pair[2] = { -1, -1 }, err[2] = { -1, -1 };
	int result = -ENOMEM;

	make_nonce(bridge);
	machine_far(machine, machine->hash, bridge->wakes ? "wake" : "bridge", bridge->wakes ? "" : bridge->nonce, &command);
	machine_ssh(machine, buf_cstr(&command), argv);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 || pipe2(err, O_CLOEXEC) < 0)
		result = -errno;
	else
		result = machine_spawn(argv, pair[1], pair[1], err[1], true, &bridge->pid);
	buf_free(&command);
	if (pair[1] >= 0)
		close(pair[1]);
	if (err[1] >= 0)
		close(err[1]);
	bridge->fd = pair[0];
	bridge->err_fd = err[0];
	bridge->pidfd = result == 0 ? pidfd_open(bridge->pid, 0) : -1;
	if (result == 0 && bridge->pidfd >= 0)
		return true;
	log_warn_limited("ssh for worker %s can't be started: %s", machine->name, strerror(result ? -result : errno));
	kill_ssh(bridge);
	return false;
}

static void start(struct bridge *bridge)
{
	struct ev_loop *loop = bridge->master->loop;

	bridge->due = false;
	ev_timer_stop(loop, &bridge->pause);
	bridge->begun_ns = clock_mono_ns();
	bridge->line_len = bridge->noise = bridge->said_len = 0;
	if (!spawn(bridge)) {
		start_later(bridge);
		return;
	}
	io_set_nonblock(bridge->fd);
	io_set_nonblock(bridge->err_fd);
	ev_io_set(&bridge->ended, bridge->pidfd, EV_READ);
	ev_io_set(&bridge->greeting, bridge->fd, EV_READ);
	ev_io_set(&bridge->says, bridge->err_fd, EV_READ);
	ev_timer_set(&bridge->late, GREETING_S, 0.);
	ev_io_start(loop, &bridge->ended);
	if (!bridge->wakes)
		ev_io_start(loop, &bridge->greeting);
	ev_io_start(loop, &bridge->says);
	ev_timer_start(loop, &bridge->late);
}

static void start_due(struct bridges *all)
{
	size_t logins = 0;

	for (const struct bridge *bridge = all->first; bridge; bridge = bridge->next)
		logins += bridge->pid > 0 && bridge->fd >= 0;
	for (struct bridge *bridge = all->first; bridge && logins < AT_ONCE; bridge = bridge->next)
		if (bridge->due) {
			start(bridge);
			logins++;
		}
}

static void pause_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct bridge *bridge = timer->data;

	(void)loop;
	(void)events;
	/* A connected worker is looked at again when it has lost its connection. */
	if (bridge->wakes && remote_has(bridge->master, bridge->machine.token))
		return;
	bridge->due = true;
	start_due(bridge->master->bridges);
}

/* ---- the directory ---- */

static struct bridge *bridge_of(struct bridges *all, const char *name)
{
	struct bridge *bridge = all->first;

	while (bridge && strcmp(bridge->machine.name, name) != 0)
		bridge = bridge->next;
	return bridge;
}

static struct bridge *bridge_new(struct master *master)
{
	struct bridge *bridge = mem_zalloc(sizeof(*bridge));

	bridge->master = master;
	bridge->pidfd = bridge->fd = bridge->err_fd = -1;
	ev_io_init(&bridge->ended, ended_cb, -1, EV_READ);
	ev_io_init(&bridge->greeting, greeting_cb, -1, EV_READ);
	ev_io_init(&bridge->says, says_cb, -1, EV_READ);
	ev_timer_init(&bridge->pause, pause_cb, 0., 0.);
	ev_timer_init(&bridge->late, late_cb, 0., 0.);
	bridge->ended.data = bridge->greeting.data = bridge->says.data = bridge->pause.data = bridge->late.data = bridge;
	bridge->next = master->bridges->first;
	master->bridges->first = bridge;
	return bridge;
}

/* Does ssh reach both machines in the same way? Then the bridge need not be made again. */
static bool is_same(const struct machine *a, const struct machine *b)
{
	return strcmp(a->destination, b->destination) == 0 && strcmp(a->ssh_config, b->ssh_config) == 0 &&
	       strcmp(a->address, b->address) == 0 && strcmp(a->token, b->token) == 0 && strcmp(a->base, b->base) == 0 && strcmp(a->hash, b->hash) == 0;
}

/* Read the file of a machine and update its bridge. is_new: the file was written just now, so connect without a pause. */
static void take_file(struct master *master, const char *name, bool is_new)
{
	struct bridge *bridge = bridge_of(master->bridges, name);
	struct machine machine;
	struct error error;

	if (machine_read(&master->options.statedir, name, &machine, &error) != ERR_NONE) {
		log_warn("%s", error.text);
		return;
	}
	if (machine.stopped[0] != '\0')
		return;
	if (bridge && is_same(&bridge->machine, &machine)) {
		bridge->listed = true;
		if (bridge->pid == 0 && is_new && !bridge->wakes) {
			bridge->due = true;
			bridge->pause_s = 0.;
		}
		return;
	}
	if (!bridge)
		bridge = bridge_new(master);
	kill_ssh(bridge);
	bridge->machine = machine;
	bridge->wakes = !machine_is_bridged(&machine);
	bridge->listed = true;
	bridge->due = !bridge->wakes;
	bridge->pause_s = 0.;
	if (bridge->wakes)
		start_later(bridge);
}

static void forget_unlisted(struct bridges *all)
{
	struct bridge **at = &all->first;

	while (*at) {
		struct bridge *bridge = *at;

		if (bridge->listed) {
			at = &bridge->next;
			continue;
		}
		*at = bridge->next;
		kill_ssh(bridge);
		ev_timer_stop(bridge->master->loop, &bridge->pause);
		mem_free(bridge);
	}
}

/* Look at the files of all machines. written: name of a file that was written just now, or NULL. */
static void look(struct master *master, const char *written)
{
	struct bridges *all = master->bridges;
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir = opendir(statedir_path(&master->options.statedir, MACHINES, path));

	for (struct bridge *bridge = all->first; bridge; bridge = bridge->next)
		bridge->listed = false;
	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.' && text_is_name(slice_str(entry->d_name)))
			take_file(master, entry->d_name, written && strcmp(entry->d_name, written) == 0);
	if (dir)
		closedir(dir);
	forget_unlisted(all);
	start_due(all);
}

static void changed_cb(struct ev_loop *loop, struct ev_io *io, int events)
{
	struct master *master = io->data;
	_Alignas(struct inotify_event) char bytes[4096];
	ssize_t count;

	(void)loop;
	(void)events;
	while ((count = read(io->fd, bytes, sizeof(bytes))) > 0)
		for (const char *at = bytes; at < bytes + count;) {
			const struct inotify_event *event = (const struct inotify_event *)(const void *)at;

			look(master, event->len > 0 ? event->name : NULL);
			at += sizeof(*event) + event->len;
		}
}

void bridges_start(struct master *master)
{
	struct bridges *all = mem_zalloc(sizeof(*all));
	char path[PATH_MAX];

	master->bridges = all;
	statedir_path(&master->options.statedir, MACHINES, path);
	io_make_dirs(path, 0700);
	all->watch_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (all->watch_fd < 0 || inotify_add_watch(all->watch_fd, path, IN_MOVED_TO | IN_DELETE) < 0)
		log_warn("the directory %s can't be watched (%s): new machines get their bridge at the next start", path, strerror(errno));
	if (all->watch_fd >= 0) {
		ev_io_init(&all->changed, changed_cb, all->watch_fd, EV_READ);
		all->changed.data = master;
		ev_io_start(master->loop, &all->changed);
	}
	look(master, NULL);
}

void bridges_lost(struct master *master, const char *token)
{
	struct bridge *bridge = master->bridges ? master->bridges->first : NULL;

	while (bridge && strcmp(bridge->machine.token, token) != 0)
		bridge = bridge->next;
	if (bridge && bridge->wakes && bridge->pid == 0 && !ev_is_active(&bridge->pause))
		start_later(bridge);
}

void bridges_stop(struct master *master)
{
	struct bridges *all = master->bridges;

	if (!all)
		return;
	for (struct bridge *bridge = all->first; bridge; bridge = bridge->next)
		bridge->listed = false;
	forget_unlisted(all);
	if (all->watch_fd >= 0) {
		ev_io_stop(master->loop, &all->changed);
		close(all->watch_fd);
	}
	mem_free(all);
	master->bridges = NULL;
}
