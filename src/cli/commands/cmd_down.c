/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan down: ends the daemons of this cluster on this machine. Running jobs are ended too, or left for the next
 * worker. It is safe to repeat.
 *
 * If jobs are to end, the master tells the workers that are connected to it. Other workers (one whose keeper was just
 * killed, one without a master) get a signal. Jobs that a dead worker left are ended by a worker started only for that.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/command.h"
#include "cli/commands/moment.h"
#include "cli/commands/up.h"
#include "cli/daemon/daemon.h"
#include "cli/daemon/process.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "worker/worker.h"

#define DOWN_MS 60000
#define PAUSE_MS 20

enum down { DOWN_END, DOWN_LEAVE, DOWN_MASTER_ALONE };

/* Find the next directory of a worker that was ever started here. False: there are no more. */
static bool next_worker(const struct cli *cli, DIR *dir, char name[NAME_MAX + 1], char path[PATH_MAX])
{
	char below[NAME_MAX + 16];
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (!text_is_name(slice_str(entry->d_name)))
			continue;
		snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
		snprintf(below, sizeof(below), "worker/%s", name);
		statedir_path(&cli->statedir, below, path);
		return true;
	}
	return false;
}

static DIR *open_workers(const struct cli *cli)
{
	char path[PATH_MAX];

	statedir_path(&cli->statedir, "worker", path);
	return opendir(path);
}

static size_t processes_of_jobs(const struct cli *cli)
{
	char name[NAME_MAX + 1], path[PATH_MAX];
	DIR *dir = open_workers(cli);
	size_t count = 0;

	while (next_worker(cli, dir, name, path))
		count += worker_left_processes(path);
	if (dir != NULL)
		closedir(dir);
	return count;
}

/* ---- the question ---- */

static enum err ask(struct cli *cli, const char *what, enum down *ret_down)
{
	char question[160], answer[16];

	snprintf(question, sizeof(question), "end the cluster with %s", what);
	/* -y counts as the answer; without a terminal nobody can answer, which is an error. */
	if (cli->settings.yes || cli->settings.no_input || isatty(STDIN_FILENO) != 1)
		return cli_confirm(cli, question);
	fprintf(stderr, "%s: end them, leave them running, or do nothing? [e/l/N] ", question);
	if (fgets(answer, sizeof(answer), stdin) == NULL)
		answer[0] = 'n';
	if (answer[0] == 'l' || answer[0] == 'L')
		*ret_down = DOWN_LEAVE;
	else if (answer[0] != 'e' && answer[0] != 'E')
		return error_set(&cli->error, ERR_DECLINED, "nothing was changed");
	return ERR_NONE;
}

/* Decide what happens to running jobs: by an option, or by asking if there are any. */
static enum err choose(struct cli *cli, uint64_t live, enum down *ret_down)
{
	bool alone = option_given(cli->invocation, OPT_down_keep_workers);
	bool leave = option_given(cli->invocation, OPT_down_leave_jobs);
	size_t processes;
	char what[64];

	if (alone && leave)
		return error_set(&cli->error, ERR_USAGE,
				 "--keep-workers leaves workers running and --leave-jobs ends them; give only one of "
				 "the two");
	*ret_down = alone ? DOWN_MASTER_ALONE : leave ? DOWN_LEAVE : DOWN_END;
	if (alone || leave)
		return ERR_NONE;
	if (live > 0) {
		snprintf(what, sizeof(what), "%" PRIu64 " live job%s", live, live == 1 ? "" : "s");
		return ask(cli, what, ret_down);
	}
	processes = processes_of_jobs(cli);
	if (processes == 0)
		return ERR_NONE;
	snprintf(what, sizeof(what), "%zu process%s of jobs", processes, processes == 1 ? "" : "es");
	return ask(cli, what, ret_down);
}

/* ---- workers ---- */

static enum err still_there(struct cli *cli, const char *name, const char *what)
{
	error_set(&cli->error, ERR_TIMEOUT, "worker %s was told to end, but %s", name, what);
	return error_next(&cli->error, "tail %s/worker-%s.log, then titan down again", cli->statedir.dir, name);
}

/* Signal the worker, and wait until neither its guardian nor its keeper runs. */
static enum err end_worker(struct cli *cli, const char *name, const char *path, enum down down, int64_t until_ns)
{
	bool told = false;

	while (worker_is_served(path)) {
		enum err err;

		told = told || worker_signal(path, down == DOWN_LEAVE ? SIGTERM : SIGINT);
		if (clock_mono_ns() >= until_ns)
			return still_there(cli, name, told ? "it is still running" : "its guardian can't be found");
		err = cli_pause(cli, PAUSE_MS);
		if (err != ERR_NONE)
			return err;
	}
	return ERR_NONE;
}

/* End the jobs that a killed worker left: start a worker only for that. Results are kept for the next worker. */
static enum err end_left(struct cli *cli, const char *name, const char *path, int64_t until_ns)
{
	const char *const more[] = { "start", "--name", name, "--end-jobs", NULL };
	char log_name[NAME_MAX + 16];

	snprintf(log_name, sizeof(log_name), "worker-%s.log", name);
	while (worker_left_processes(path) > 0) {
		enum err err = daemon_start(&cli->statedir, "worker", log_name, more, NULL, &cli->error);

		if (err != ERR_NONE && err != ERR_BUSY)
			return err;
		if (clock_mono_ns() >= until_ns)
			return still_there(cli, name, "processes of its jobs are still running");
		err = end_worker(cli, name, path, DOWN_LEAVE, until_ns);
		if (err != ERR_NONE)
			return err;
	}
	return ERR_NONE;
}

static enum err end_workers(struct cli *cli, enum down down)
{
	int64_t until_ns = clock_mono_ns() + DOWN_MS * NS_PER_MS;
	char name[NAME_MAX + 1], path[PATH_MAX];
	DIR *dir = open_workers(cli);
	enum err err = ERR_NONE;

	while (err == ERR_NONE && next_worker(cli, dir, name, path)) {
		err = end_worker(cli, name, path, down, until_ns);
		if (err == ERR_NONE && down == DOWN_END)
			err = end_left(cli, name, path, until_ns);
	}
	if (dir != NULL)
		closedir(dir);
	return err;
}

/* ---- the master ---- */

/* Wait until the master has closed the connection and is gone. */
static enum err await_end(struct cli *cli, uint64_t pid)
{
	int64_t until = clock_mono_ns() + DOWN_MS * NS_PER_MS;
	struct incoming frame;
	enum err err;

	do
		err = cli_receive(cli, until, &frame);
	while (err == ERR_NONE);
	if (err != ERR_UNREACHABLE && err != ERR_PENDING)
		return err;
	err = process_wait_gone(cli, pid, err == ERR_PENDING ? 0 : DOWN_MS);
	if (err == ERR_TIMEOUT)
		error_set(&cli->error, err, "the master (pid %" PRIu64 ") was told to end, but is still running", pid);
	return err;
}

static enum err end_master(struct cli *cli, enum down down, const struct msg_snapshot *status)
{
	struct msg_shutdown shutdown = { .workers = down == DOWN_END };
	uint64_t pid = client_welcome(cli->client)->pid;
	struct msg_ok ok;
	enum err err = cli_call(cli, OP_SHUTDOWN, &shutdown, OP_OK, &cli->arena, &ok);

	/* ERR_UNREACHABLE: the master ended before its answer was read, so the request was carried out. */
	if (err == ERR_NONE || err == ERR_UNREACHABLE)
		err = await_end(cli, pid);
	for (size_t i = 0; err == ERR_NONE && shutdown.workers && i < status->workers.n; i++)
		if (status->workers.at[i].state == WORKER_UP)
			err = process_wait_gone(cli, status->workers.at[i].pid, DOWN_MS);
	return err;
}

enum err down_master_alone(struct cli *cli)
{
	const struct msg_snapshot none = { 0 };

	return end_master(cli, DOWN_MASTER_ALONE, &none);
}

int cmd_down(struct cli *cli)
{
	struct msg_snapshot status = { 0 };
	enum down down = DOWN_END;
	enum err err = cli_connect(cli);
	bool master = err == ERR_NONE;

	if (master)
		err = cli_query(cli, (struct msg_query){ .what = QUERY_STATUS }, &cli->arena, &status);
	else if (err == ERR_UNREACHABLE)
		err = ERR_NONE;
	if (err == ERR_NONE)
		err = choose(cli, status.total, &down);
	/* To leave jobs, end the workers before the master, so that their last results still reach it. */
	if (err == ERR_NONE && down == DOWN_LEAVE)
		err = end_workers(cli, down);
	if (err == ERR_NONE && master)
		err = end_master(cli, down, &status);
	if (err == ERR_NONE)
		err = moments_end(cli);
	if (err == ERR_NONE && down == DOWN_END)
		err = end_workers(cli, down);
	if (err != ERR_NONE)
		return cli_fail(cli);
	if (!master)
		cli_note(cli, "no master runs");
	else if (cli_chatty(cli))
		cli_note(cli, "%s the master%s ended%s", cli->err.utf8 ? "✓" : "+",
			 down != DOWN_MASTER_ALONE && status.workers.n ? " and its workers have" : " has",
			 down == DOWN_LEAVE ? "; running jobs were left running" : "");
	return 0;
}
