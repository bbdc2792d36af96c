/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts a master that shows an earlier time: the store is copied while the present master works on, the copy is put
 * back to that time, and a read-only master serves it. It lives in the directory past/KEY of the cluster, where KEY is
 * the time, so that the next command about the same time finds it. A lock keeps two commands from making the same one.
 * Only the master's own user can do so; everybody else asks the master, which runs this command for them.
 */
#include "cli/commands/moment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/when.h"
#include "cli/ask/ask.h"
#include "cli/daemon/daemon.h"
#include "cli/daemon/process.h"
#include "cli/session/output.h"
#include "store/store.h"

#define END_MS 10000
#define SPAN_MS (3600 * 1000)          /* times this long ago, or longer, are shown to the minute */
#define MOMENTS_MAX 8                    /* most masters of earlier times at once */

const char *moment_of(const struct cli *cli)
{
	static const enum option_id options[] = { OPT_status_at, OPT_ls_at, OPT_show_at, OPT_explain_at };

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (option_given(cli->invocation, options[i]))
			return option_value(cli->invocation, options[i]);
	return NULL;
}

static enum err moment_read(struct cli *cli, const char *text, struct store_moment *ret)
{
	int64_t now_ms = clock_wall_ms();

	int64_t span_ms;

	*ret = (struct store_moment){ .turn = 0 };
	if (strncmp(text, "turn:", 5) == 0)
		return parse_number(text + 5, "--at", 1, INT64_MAX / 2, &ret->turn, &cli->error);
	if (when_parse(text[0] == '-' ? text + 1 : text, now_ms, &ret->wall_ms) != 0)
		return error_set(&cli->error, ERR_USAGE, "--at: '%s' is no time; write turn:N, %s", text, WHEN_FORMS);
	/* The next command with the same words should find the same master, so "2h" means a whole minute. */
	if (clock_parse_span(text[0] == '-' ? text + 1 : text, &span_ms) == 0 && span_ms >= SPAN_MS)
		ret->wall_ms -= ret->wall_ms % (60 * 1000);
	if (ret->wall_ms > now_ms)
		return error_set(&cli->error, ERR_USAGE, "--at: '%s' is in the future", text);
	return ERR_NONE;
}

/* Connect to the master that shows this time, if one runs. Its file `at` has the time. */
static bool moment_found(struct cli *cli, const struct statedir *then)
{
	struct error error;
	struct buf at = { 0 };
	char path[PATH_MAX];

	if (client_open(then, &cli->client, &error) != ERR_NONE)
		return false;
	if (io_read_file(AT_FDCWD, statedir_path(then, "at", path), 64, &at) == 0)
		cli->at_ms = strtoll(buf_cstr(&at), NULL, 10);
	buf_free(&at);
	return true;
}

/* Remove the directories of such masters that were killed. Return the number of those that run. */
static size_t moments_tidy(const struct cli *cli, int past_fd)
{
	int fd = openat(past_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	size_t count = 0;

	while (dir && (entry = readdir(dir))) {
		struct statedir then;
		int connection;

		if (entry->d_name[0] == '.' || strcmp(entry->d_name, "lock") == 0 || statedir_past(&cli->statedir, entry->d_name, &then) < 0)
			continue;
		if (statedir_socket_connect(&then, &connection) == 0) {
			close(connection);
			count++;
		} else {
			io_remove_tree(past_fd, entry->d_name);
		}
	}
	if (dir)
		closedir(dir);
	return count;
}

/* Copy the store of the present master. */
static enum err store_copy_to(struct cli *cli, const char *path)
{
	struct msg_backup msg = { .path = slice_str(path) };
	struct msg_ok ok;
	enum err err = client_open(&cli->statedir, &cli->client, &cli->error);

	if (err == ERR_NONE)
		err = cli_call(cli, OP_BACKUP, &msg, OP_OK, &cli->arena, &ok);
	client_close(cli->client);
	cli->client = NULL;
	return err;
}

static enum err moment_make(struct cli *cli, const struct statedir *then, const struct store_moment *wanted)
{
	char path[PATH_MAX], at_path[PATH_MAX], at[32];
	const char *more[] = { "--as-of", at, NULL };
	struct store_moment moment;
	int result = io_make_dirs(then->dir, 0700);
	enum err err;

	if (result < 0)
		return error_system(&cli->error, -result, "can't make %s", then->dir);
	statedir_path(then, "titan.db", path);
	err = store_copy_to(cli, path);
	if (err == ERR_NONE)
		err = store_rewind(path, wanted, &moment, &cli->error);
	if (err != ERR_NONE)
		return err;
	snprintf(at, sizeof(at), "%" PRId64, moment.wall_ms);
	result = io_write_file(AT_FDCWD, statedir_path(then, "at", at_path), at, strlen(at), 0600);
	if (result < 0)
		return error_system(&cli->error, -result, "can't write %s", at_path);
	return daemon_start(then, "master", "master.log", more, NULL, &cli->error);
}

static enum err moment_find(struct cli *cli, int past_fd, const char *key, const struct store_moment *wanted)
{
	struct statedir then;
	enum err err;

	if (statedir_past(&cli->statedir, key, &then) < 0)
		return error_system(&cli->error, ENAMETOOLONG, "can't make a directory in %s", cli->statedir.dir);
	if (moment_found(cli, &then))
		return ERR_NONE;
	if (moments_tidy(cli, past_fd) >= MOMENTS_MAX)
		return error_set(&cli->error, ERR_BUSY, "people are looking at %d earlier times, and no more are allowed at once; try again in a minute",
				 MOMENTS_MAX);
	err = moment_make(cli, &then, wanted);
	if (err == ERR_NONE && moment_found(cli, &then))
		return ERR_NONE;
	if (err == ERR_NONE)
		err = error_set(&cli->error, ERR_UNREACHABLE, "the process that showed the earlier time has ended; run the command again");
	io_remove_tree(past_fd, key);
	return err;
}

/* Start the master of that time, or find it, and connect to it. */
static enum err moment_open(struct cli *cli, const struct store_moment *wanted)
{
	char key[STATEDIR_KEY_SIZE], past[PATH_MAX];
	int past_fd, lock_fd;
	enum err err;

	statedir_past_key(wanted->turn, wanted->wall_ms, key);
	statedir_path(&cli->statedir, "past", past);
	if (io_make_dirs(past, 0700) < 0 || (past_fd = open(past, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) < 0)
		return error_system(&cli->error, errno, "can't make %s", past);
	lock_fd = openat(past_fd, "lock", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock_fd < 0 || flock(lock_fd, LOCK_EX) < 0)
		err = error_system(&cli->error, errno, "can't lock %s/lock", past);
	else
		err = moment_find(cli, past_fd, key, wanted);
	if (lock_fd >= 0)
		close(lock_fd);
	close(past_fd);
	return err;
}

/* Ask the present master for answers of that time: its own user alone may reach the other one. */
static enum err moment_ask(struct cli *cli, const struct store_moment *wanted)
{
	struct msg_moment msg = { .turn = wanted->turn, .wall_ms = wanted->wall_ms };
	struct msg_shown shown;
	enum err err = cli_connect(cli);

	if (err == ERR_NONE)
		err = cli_call(cli, OP_MOMENT, &msg, OP_SHOWN, &cli->arena, &shown);
	if (err != ERR_NONE)
		return err;
	client_looks_at(cli->client, shown.turn);
	cli->at_ms = shown.wall_ms;
	return ERR_NONE;
}

/* Is the cluster's directory this user's own? */
static bool is_own(const struct cli *cli)
{
	struct stat stat_buf;

	return cli->remote.address[0] == '\0' && stat(cli->statedir.dir, &stat_buf) == 0 && stat_buf.st_uid == getuid();
}

enum err moment_connect(struct cli *cli, const char *text)
{
	char when[CLOCK_TEXT_SIZE];
	struct store_moment wanted;
	enum err err = moment_read(cli, text, &wanted);

	if (err == ERR_NONE)
		err = cli_refuse_in_job(cli, "show an earlier time", "titan show self");
	if (err == ERR_NONE)
		err = is_own(cli) ? moment_open(cli, &wanted) : moment_ask(cli, &wanted);
	if (err == ERR_NONE)
		cli_note(cli, "as of %s, turn %" PRIu64 "; titan doesn't keep which workers were connected, and their load",
			 when_format(cli->at_ms, clock_wall_ms(), when), client_welcome(cli->client)->turn);
	return err;
}

enum err moments_end(struct cli *cli)
{
	char past[PATH_MAX];
	DIR *dir = cli->remote.address[0] ? NULL : opendir(statedir_path(&cli->statedir, "past", past));
	struct dirent *entry;
	enum err err = ERR_NONE;

	while (dir && err == ERR_NONE && (entry = readdir(dir))) {
		struct statedir then;
		struct client *client;
		struct error none;
		uint64_t pid;

		if (entry->d_name[0] == '.' || statedir_past(&cli->statedir, entry->d_name, &then) < 0 ||
		    client_open(&then, &client, &none) != ERR_NONE)
			continue;
		pid = client_welcome(client)->pid;
		client_close(client);
		kill((pid_t)pid, SIGTERM);
		err = process_wait_gone(cli, pid, END_MS);
		if (err == ERR_TIMEOUT)
			error_set(&cli->error, err, "the process that shows an earlier time (pid %" PRIu64 ") was told to end, but is still running", pid);
	}
	if (dir)
		closedir(dir);
	return err;
}
