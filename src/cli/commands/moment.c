/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts a master that shows an earlier time: the store is copied while the present master works on, the copy is put
 * back to that time, and a read-only master serves it. It lives in the directory past/KEY of the cluster, where KEY is
 * the time, so that the next command about the same time finds it. A lock keeps two commands from making the same one.
 */
#include "cli/commands/moment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/when.h"
#include "cli/ask/ask.h"
#include "cli/daemon/daemon.h"
#include "cli/session/output.h"
#include "store/store.h"

#define MOMENTS_MAX 8                    /* most masters of earlier times at once */
#define KEY_SIZE 40

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

	*ret = (struct store_moment){ .turn = 0 };
	if (strncmp(text, "turn:", 5) == 0)
		return parse_number(text + 5, "--at", 1, INT64_MAX / 2, &ret->turn, &cli->error);
	if (when_parse(text[0] == '-' ? text + 1 : text, now_ms, &ret->wall_ms) != 0)
		return error_set(&cli->error, ERR_USAGE, "--at: '%s' is no time; write turn:N, %s", text, WHEN_FORMS);
	if (ret->wall_ms > now_ms)
		return error_set(&cli->error, ERR_USAGE, "--at: '%s' is in the future", text);
	return ERR_NONE;
}

static void moment_dir(const struct cli *cli, const char *key, struct statedir *ret)
{
	*ret = cli->statedir;
	if ((size_t)snprintf(ret->dir, sizeof(ret->dir), "%.*s/past/%s/%s", (int)sizeof(ret->dir) - KEY_SIZE - 200, cli->statedir.dir, key,
			     cli->statedir.cluster) >= sizeof(ret->dir))
		ret->dir[0] = '\0';
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

		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= KEY_SIZE || strcmp(entry->d_name, "lock") == 0)
			continue;
		moment_dir(cli, entry->d_name, &then);
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

	moment_dir(cli, key, &then);
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

enum err moment_connect(struct cli *cli, const char *text)
{
	char key[KEY_SIZE], past[PATH_MAX], when[CLOCK_TEXT_SIZE];
	struct store_moment wanted;
	int past_fd, lock_fd;
	enum err err = moment_read(cli, text, &wanted);

	if (cli->remote.address[0]) {
		error_set(&cli->error, ERR_USAGE, "--at reads the store on the machine of the master, which is at %s", cli->remote.address);
		return error_next(&cli->error, "run the command on the master's machine");
	}
	if (err == ERR_NONE)
		err = cli_refuse_in_job(cli, "show an earlier time", "titan show self");
	if (err != ERR_NONE)
		return err;
	if (wanted.turn > 0)
		snprintf(key, sizeof(key), "turn-%" PRIu64, wanted.turn);
	else
		snprintf(key, sizeof(key), "%" PRId64, wanted.wall_ms);
	statedir_path(&cli->statedir, "past", past);
	if (io_make_dirs(past, 0700) < 0 || (past_fd = open(past, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) < 0)
		return error_system(&cli->error, errno, "can't make %s", past);
	lock_fd = openat(past_fd, "lock", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock_fd < 0 || flock(lock_fd, LOCK_EX) < 0)
		err = error_system(&cli->error, errno, "can't lock %s/lock", past);
	else
		err = moment_find(cli, past_fd, key, &wanted);
	if (lock_fd >= 0)
		close(lock_fd);
	close(past_fd);
	if (err == ERR_NONE)
		cli_note(cli, "as of %s, turn %" PRIu64 "; titan doesn't keep which workers were connected, and their load",
			 when_format(cli->at_ms, clock_wall_ms(), when), client_welcome(cli->client)->turn);
	return err;
}
