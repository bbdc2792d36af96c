/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs the command of a job and, if it exits with 0, uploads the files that the job's patterns choose and names them to the master,
 * over the job's own connection: so this process reads what the job can read, and the master checks it as the job's. It is in the job's
 * process group, so what ends the job ends the upload. It ends as the command did; whether the files were kept the
 * master knows from this process, and decides.
 */
#include "cli/commands/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/commands/asset.h"
#include "cli/session/output.h"
#include "goods/folder.h"
#include "proto/limits.h"

#define AGAIN_MS 60000
#define PAUSE_MS 500
#define DROPPED_MAX 5                    /* how often the master may have dropped contents again before they were named */

/* ---- the command ---- */

static int exec_failed(const char *name)
{
	int number = errno;
	struct buf shown = { 0 };

	text_escape(&shown, slice_str(name), TEXT_KEEP_NONE);
	fprintf(stderr, "titan: can't start %s: %s\n", buf_cstr(&shown), strerror(number));
	return number == ENOENT ? 127 : 126;
}

/* Run the command; signals to the process group are for it alone. Returns its wait status. */
static int run_command(char **argv)
{
	sigset_t all, before;
	int status = 0;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid < 0) {
		fprintf(stderr, "titan: can't start the job: %s\n", strerror(errno));
		return 126 << 8;
	}
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(argv[0], argv);
		_exit(exec_failed(argv[0]));
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* End as the command did. */
static int end_as(int status)
{
	sigset_t none;
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (number == 0)
		return WEXITSTATUS(status);
	signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	raise(number);
	return 128 + number;
}

/* From now on SIGTERM ends this process, and other signals that the job sent to its group are forgotten. Was the job told to end? */
static bool was_told_to_end(void)
{
	sigset_t pending, none;

	sigpending(&pending);
	if (sigismember(&pending, SIGTERM) == 1)
		return true;
	for (int number = 1; number < NSIG; number++)
		if (number != SIGTERM && number != SIGCHLD && number != SIGKILL && number != SIGSTOP)
			signal(number, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	return false;
}

/* ---- the files ---- */

static enum err read_files(struct cli *cli, struct slice_list patterns, struct asset_source *source)
{
	struct folder folder = { 0 };
	enum err err;

	if (source->fd < 0)
		return error_set(&cli->error, ERR_SYSTEM, "the job's directory can't be read");
	err = folder_read_chosen(source->fd, source->path, patterns, &source->arena, &folder, &cli->error);
	source->manifest = folder.manifest;
	if (err == ERR_NONE)
		err = manifest_write(&source->manifest, &source->manifest_bytes, &cli->error);
	if (err == ERR_NONE)
		sha256_of(buf_slice(&source->manifest_bytes), source->hash);
	return err;
}

static enum err name_files(struct cli *cli, const struct asset_source *source, const char *fault)
{
	struct msg_artifacts msg = { .fault = slice_str(fault) };
	struct msg_ok ok;

	if (!fault)
		msg.hash = slice_make(source->hash, SHA256_SIZE);
	return cli_call(cli, OP_ARTIFACTS, &msg, OP_OK, &cli->arena, &ok);
}

static bool may_pass(enum err err)
{
	return err_again(err) || err == ERR_UNREACHABLE || err == ERR_TIMEOUT;
}

/* Upload and name the files, or with a fault only tell that. While master or link aren't there, wait: the job's time limit ends this. */
static enum err tell_master(struct cli *cli, const struct asset_source *source, const char *fault)
{
	enum err err = cli_connect(cli);
	uint64_t sent;

	for (int dropped = 0;;) {
		if (err == ERR_NONE && !fault)
			err = asset_send(cli, source, &sent);
		if (err == ERR_NONE)
			err = name_files(cli, source, fault);
		if (err == ERR_NOT_FOUND && !fault && ++dropped < DROPPED_MAX) {
			err = ERR_NONE;
			continue;
		}
		if (!may_pass(err) || (err == ERR_FULL && !fault))
			return err;
		err = cli_pause(cli, PAUSE_MS);
		if (err == ERR_NONE)
			err = cli_reconnect(cli, AGAIN_MS);
	}
}

static void keep_files(struct session *session, struct slice_list patterns, struct asset_source *source)
{
	const struct invocation none = { 0 };
	struct lost_output output = { 0 };
	struct cli cli = {
		.session = session, .output = &output, .invocation = &none, .signal_fd = -1, .deadline_ns = TIME_NEVER,
		.settings = { .socket = getenv("TITAN_SOCKET"), .token = getenv("TITAN_TOKEN") },
	};
	enum err err = read_files(&cli, patterns, source);
	char fault[LIMIT_ARTIFACT_FAULT_MAX + 1];

	if (err == ERR_NONE)
		err = tell_master(&cli, source, NULL);
	/* An attempt that isn't the job's latest any more has nobody to tell. */
	if (err != ERR_NONE && err != ERR_STALE) {
		snprintf(fault, sizeof(fault), "%.*s", LIMIT_ARTIFACT_FAULT_MAX, cli.error.text);
		fprintf(stderr, "titan: the artifacts can't be kept: %s\n", fault);
		tell_master(&cli, source, fault);
	}
	client_close(cli.client);
	arena_free(&cli.arena);
}

int collect_main(int argc, char **argv)
{
	struct asset_source source = { .kind = ASSET_DIR, .path = ".", .fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	struct slice_list patterns = { .at = arena_zalloc(&source.arena, (size_t)argc, sizeof(struct slice)) };
	struct session session;
	int at = 2, status;

	for (; at < argc && strcmp(argv[at], "--") != 0; at++)
		patterns.at[patterns.n++] = slice_str(argv[at]);
	if (at + 1 >= argc) {
		fprintf(stderr, "titan: a worker starts this for jobs with artifacts; it can't be used by hand\n");
		asset_source_free(&source);
		return 2;
	}
	status = run_command(&argv[at + 1]);
	if (status == 0 && !was_told_to_end()) {
		session_of_process(&session);
		keep_files(&session, patterns, &source);
	}
	asset_source_free(&source);
	return end_as(status);
}
