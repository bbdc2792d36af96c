/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts the masters of earlier times. A person may look at few times within a minute, and few helpers run at once, because
 * each costs a copy of the store; how many masters there are in all, the helper decides.
 */
#include "master/moments.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

#define HELPERS_MAX 4                    /* most helpers at once */
#define TIMES_EACH  4                    /* most times that a person may look at within a minute */
#define LOOKS_MAX   256                  /* most pairs of person and time that are remembered */
#define LOOK_NS     (60 * NS_PER_S)
#define SAID_MAX    1024                 /* bytes kept of what a helper says */

struct waiter {
	struct waiter *next;
	uint64_t conn, request;
};

struct helper {                          /* a process that starts the master of one time */
	struct helper *next;
	struct master *master;
	char key[STATEDIR_KEY_SIZE];
	struct waiter *waiters;
	pid_t pid;
	int pidfd, err_fd;
	char said[SAID_MAX + 1];
	size_t said_len;
	struct ev_io ended, says;
};

struct look { uint64_t person; char key[STATEDIR_KEY_SIZE]; int64_t at_ns; };

struct moments {
	struct helper *helpers;
	struct look looks[LOOKS_MAX];
};

/* ---- helpers ---- */

static void helper_free(struct helper *helper)
{
	struct helper **at = &helper->master->moments->helpers;

	while (*at != helper)
		at = &(*at)->next;
	*at = helper->next;
	ev_io_stop(helper->master->loop, &helper->ended);
	ev_io_stop(helper->master->loop, &helper->says);
	if (helper->pidfd >= 0)
		close(helper->pidfd);
	if (helper->err_fd >= 0)
		close(helper->err_fd);
	while (helper->waiters) {
		struct waiter *waiter = helper->waiters;

		helper->waiters = waiter->next;
		mem_free(waiter);
	}
	mem_free(helper);
}

static void hear(struct helper *helper)
{
	char bytes[4096];
	ssize_t got;

	while ((got = read(helper->err_fd, bytes, sizeof(bytes))) > 0) {
		size_t room = SAID_MAX - helper->said_len, some = (size_t)got < room ? (size_t)got : room;

		memcpy(helper->said + helper->said_len, bytes, some);
		helper->said_len += some;
	}
	if (got == 0)
		ev_io_stop(helper->master->loop, &helper->says);
}

static void says_cb(struct ev_loop *loop, struct ev_io *io, int events)
{
	(void)loop;
	(void)events;
	hear(io->data);
}

/* Make an error of what the helper said: "titan: TEXT", and in the next line "   try: NEXT". */
static void helper_error(struct helper *helper, int status, struct error *ret)
{
	static const struct { int status; enum err err; } codes[] = {
		{ 2, ERR_USAGE }, { 3, ERR_DENIED }, { 4, ERR_NOT_FOUND }, { 75, ERR_BUSY },
	};
	static const char before[] = "titan: ";
	enum err err = ERR_UNREACHABLE;
	char *text = helper->said, *end, *next = NULL;

	helper->said[helper->said_len] = '\0';
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (WIFEXITED(status) && WEXITSTATUS(status) == codes[i].status)
			err = codes[i].err;
	if (strncmp(text, before, sizeof(before) - 1) == 0)
		text += sizeof(before) - 1;
	end = strchr(text, '\n');
	if (end) {
		*end = '\0';
		next = strstr(end + 1, "try: ");
	}
	error_set(ret, err, "%s", text[0] ? text : "the process that prepares the earlier time was ended");
	if (next)
		error_next(ret, "%.*s", (int)strcspn(next + 5, "\n"), next + 5);
}

static void ended_cb(struct ev_loop *loop, struct ev_io *io, int events)
{
	struct helper *helper = io->data;
	struct error error;
	int status = 0;

	(void)loop;
	(void)events;
	if (waitpid(helper->pid, &status, WNOHANG) != helper->pid)
		return;
	hear(helper);
	if (status != 0)
		helper_error(helper, status, &error);
	else
		moment_ended(&error);
	for (struct waiter *waiter = helper->waiters; waiter; waiter = waiter->next) {
		struct peer_session *session = session_find(helper->master, waiter->conn);

		if (session && !session->past && (status != 0 || !moment_attach(session, helper->key, waiter->request)))
			session_refuse(session, waiter->request, &error);
	}
	helper_free(helper);
}

/* The environment of a helper: nothing that leads it to another cluster, or to settings of a person. */
static char **helper_environ(const struct master *master, struct arena *arena)
{
	size_t count = 0, kept = 0, len = strlen(master->options.statedir.dir) - strlen(master->options.statedir.cluster) - 1;
	char **env, *text;

	while (environ[count])
		count++;
	env = arena_zalloc(arena, count + 3, sizeof(*env));
	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], "TITAN_", 6) != 0 && strncmp(environ[i], "XDG_", 4) != 0)
			env[kept++] = environ[i];
	text = arena_zalloc(arena, PATH_MAX + 32, 1);
	snprintf(text, PATH_MAX + 32, "TITAN_STATE=%.*s", (int)len, master->options.statedir.dir);
	env[kept++] = text;
	text = arena_zalloc(arena, PATH_MAX + 32, 1);
	snprintf(text, PATH_MAX + 32, "XDG_CONFIG_HOME=%.*s/past", PATH_MAX - 8, master->options.statedir.dir);
	env[kept] = text;
	return env;
}

static int helper_spawn(struct helper *helper, const char *when, int err_fd)
{
	const char *argv[] = { "titan", "-q", "-C", helper->master->options.statedir.cluster, "status", "--at", when, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	struct arena arena = { 0 };
	sigset_t none, all;
	int result;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&files, err_fd, STDERR_FILENO);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	result = posix_spawn(&helper->pid, "/proc/self/exe", &files, &attributes, (char *const *)(uintptr_t)argv,
			     helper_environ(helper->master, &arena));
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	arena_free(&arena);
	return -result;
}

static struct helper *helper_start(struct master *master, const char *key, const char *when, struct error *error)
{
	struct helper *helper = mem_zalloc(sizeof(*helper));
	int pipe_fds[2] = { -1, -1 }, result;

	helper->master = master;
	helper->pidfd = -1;
	snprintf(helper->key, sizeof(helper->key), "%s", key);
	ev_io_init(&helper->ended, ended_cb, -1, EV_READ);
	ev_io_init(&helper->says, says_cb, -1, EV_READ);
	helper->ended.data = helper->says.data = helper;
	helper->next = master->moments->helpers;
	master->moments->helpers = helper;
	result = pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) < 0 ? -errno : helper_spawn(helper, when, pipe_fds[1]);
	helper->err_fd = pipe_fds[0];
	if (pipe_fds[1] >= 0)
		close(pipe_fds[1]);
	if (result == 0 && (helper->pidfd = pidfd_open(helper->pid, 0)) < 0) {
		result = -errno;
		kill(helper->pid, SIGKILL);
		waitpid(helper->pid, NULL, 0);
	}
	if (result < 0) {
		error_system(error, -result, "can't start the process that prepares the earlier time");
		helper_free(helper);
		return NULL;
	}
	ev_io_set(&helper->ended, helper->pidfd, EV_READ);
	ev_io_set(&helper->says, helper->err_fd, EV_READ);
	ev_io_start(master->loop, &helper->ended);
	ev_io_start(master->loop, &helper->says);
	return helper;
}

/* ---- requests ---- */

/* Remember that the person looks at this time. False: they look at too many. */
static bool look(struct moments *moments, uint64_t person, const char *key)
{
	int64_t now_ns = clock_mono_ns();
	struct look *place = NULL;
	size_t count = 0;

	for (size_t i = 0; i < LOOKS_MAX; i++) {
		struct look *at = &moments->looks[i];
		bool old = at->at_ns == 0 || now_ns - at->at_ns > LOOK_NS;

		if (!old && at->person == person && strcmp(at->key, key) == 0) {
			at->at_ns = now_ns;
			return true;
		}
		count += !old && at->person == person;
		place = old ? at : place;
	}
	if (!place || count >= TIMES_EACH)
		return false;
	*place = (struct look){ .person = person, .at_ns = now_ns };
	snprintf(place->key, sizeof(place->key), "%s", key);
	return true;
}

static enum err wait_for_helper(struct peer_session *session, const char *key, const struct msg_moment *msg, struct error *error)
{
	struct master *master = session->master;
	struct helper *helper = master->moments->helpers;
	struct waiter *waiter;
	size_t count = 0;
	char when[CLOCK_TEXT_SIZE];

	for (const struct helper *other = helper; other; other = other->next)
		count++;
	while (helper && strcmp(helper->key, key) != 0)
		helper = helper->next;
	if (!helper && count >= HELPERS_MAX)
		return error_set(error, ERR_BUSY, "%d earlier times are being prepared; try again", HELPERS_MAX);
	if (msg->turn > 0)
		snprintf(when, sizeof(when), "turn:%" PRIu64, msg->turn);
	else
		clock_format_utc(msg->wall_ms, when);
	if (!helper && !(helper = helper_start(master, key, when, error)))
		return error->code;
	waiter = mem_zalloc(sizeof(*waiter));
	*waiter = (struct waiter){ .next = helper->waiters, .conn = session->id, .request = msg->id };
	helper->waiters = waiter;
	return ERR_NONE;
}

enum err on_moment(struct incoming_frame *in)
{
	struct peer_session *session = in->session;
	struct msg_moment msg;
	struct error error;
	char key[STATEDIR_KEY_SIZE];
	enum err err = decode(in, OP_MOMENT, &msg);

	if (err != ERR_NONE)
		return err;
	if (!in->master->moments)
		in->master->moments = mem_zalloc(sizeof(*in->master->moments));
	error_clear(&error);
	statedir_past_key(msg.turn, msg.wall_ms, key);
	if (in->master->options.as_of_ms != 0 || (msg.turn == 0) == (msg.wall_ms == 0) || msg.turn > INT64_MAX / 2 || msg.wall_ms < 0 ||
	    msg.wall_ms > clock_wall_ms())
		error_set(&error, ERR_INVALID, "MOMENT must give a turn, or a time that isn't in the future, to a master that shows the present");
	else if (!look(in->master->moments, session->principal.id, key))
		error_set(&error, ERR_BUSY, "%s looks at %d earlier times already; try again in a minute", session->principal.name, TIMES_EACH);
	else if (!moment_attach(session, key, msg.id))
		wait_for_helper(session, key, &msg, &error);
	if (error.code != ERR_NONE)
		session_refuse(session, msg.id, &error);
	return ERR_NONE;
}

void moments_free(struct master *master)
{
	struct moments *moments = master->moments;

	moment_relays_free(master);
	if (!moments)
		return;
	while (moments->helpers) {
		kill(moments->helpers->pid, SIGTERM);
		helper_free(moments->helpers);
	}
	mem_free(moments);
	master->moments = NULL;
}
