/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cluster of titan demo, in a temporary directory. All processes of the demo have this directory in their
 * environment, so that they can be found at the end.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/daemon/daemon.h"
#include "cli/daemon/process.h"
#include "cli/demo/demo.h"

#define SLOTS "4"
#define END_MS 20000
#define CLEAR_MS 3000
#define CLEAR_STEP_MS 20
#define ENVIRON_MAX 262144

enum err demo_start_master(struct demo *demo)
{
	const char *const more[] = { NULL };

	return daemon_start(&demo->cli->statedir, "master", "master.log", more, &demo->master, &demo->cli->error);
}

void demo_kill_master(struct demo *demo)
{
	kill(demo->master, SIGKILL);
	waitpid(demo->master, NULL, 0);
	demo->master = 0;
}

enum err demo_stage(struct demo *demo)
{
	const char *const more[] = { "start", "--slots", SLOTS, NULL };
	struct cli *cli = demo->cli;
	const char *parent = getenv("TMPDIR");
	char resolved[PATH_MAX];
	enum err err;
	int made;

	if (parent == NULL || realpath(parent, resolved) == NULL)
		snprintf(resolved, sizeof(resolved), "/tmp");
	if (snprintf(demo->dir, sizeof(demo->dir), "%s/titan-demo.XXXXXX", resolved) >= (int)sizeof(demo->dir))
		return error_set(&cli->error, ERR_INVALID, "TMPDIR is too long");
	if (mkdtemp(demo->dir) == NULL) {
		err = error_system(&cli->error, errno, "can't make a directory in %s", resolved);
		demo->dir[0] = '\0';
		return err;
	}
	snprintf(demo->parent, sizeof(demo->parent), "%s", resolved);
	setenv("TITAN_STATE", demo->dir, 1);
	setenv("XDG_CONFIG_HOME", demo->dir, 1);         /* the user's titan.conf must not change the demo */
	made = statedir_find("demo", &cli->statedir);
	if (made == 0)
		made = statedir_make(&cli->statedir);
	if (made != 0)
		return error_system(&cli->error, -made, "can't make the state directory in %s", demo->dir);
	err = demo_start_master(demo);
	if (err == ERR_NONE)
		err = daemon_start(&cli->statedir, "worker", "worker-local.log", more, &demo->worker, &cli->error);
	return err;
}

/*
 * Does the process have the demo's directory in its environment? This process itself doesn't: /proc shows the
 * environment that it was started with.
 */
static bool is_ours(const struct demo *demo, const char *pid)
{
	char path[64];
	struct buf text = { 0 };
	bool ours = false;

	snprintf(path, sizeof(path), "/proc/%.16s/environ", pid);
	if (io_read_file(AT_FDCWD, path, ENVIRON_MAX, &text) == 0 && text.len > 0)
		ours = memmem(text.data, text.len, demo->dir, strlen(demo->dir)) != NULL;
	buf_free(&text);
	return ours;
}

/*
 * Send a signal (0: none) to each process of the demo, and return their number. Zombies have no environment, so they
 * don't count.
 */
static size_t find_ours(const struct demo *demo, int signal_no)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	size_t count = 0;

	while (proc != NULL && (entry = readdir(proc)) != NULL) {
		uint64_t pid;

		if (!text_parse_u64(slice_str(entry->d_name), &pid) || pid > INT32_MAX || (pid_t)pid == getpid() ||
		    !is_ours(demo, entry->d_name))
			continue;
		count++;
		if (signal_no != 0)
			kill((pid_t)pid, signal_no);
	}
	if (proc != NULL)
		closedir(proc);
	return count;
}

enum err demo_leave(struct demo *demo)
{
	struct msg_shutdown shutdown = { .workers = true };
	struct cli *cli = demo->cli;
	struct msg_ok ok;
	size_t left;
	enum err err = cli_connect(cli);

	if (err == ERR_NONE)
		err = cli_call(cli, OP_SHUTDOWN, &shutdown, OP_OK, &cli->arena, &ok);
	if (err == ERR_UNREACHABLE)
		err = ERR_NONE;
	if (err == ERR_NONE)
		err = process_wait_gone(cli, (uint64_t)demo->master, END_MS);
	if (err == ERR_NONE)
		err = process_wait_gone(cli, (uint64_t)demo->worker, END_MS);
	if (err != ERR_NONE)
		return err;
	demo->master = demo->worker = 0;
	left = find_ours(demo, 0);
	if (left > 0)
		return error_set(&cli->error, ERR_INVALID, "%zu process(es) of the demo are still running", left);
	return ERR_NONE;
}

/* Let the worker end together with its jobs: a killed worker would leave the control groups of its jobs. */
static void end_worker(struct demo *demo)
{
	if (demo->worker == 0)
		return;
	kill(demo->worker, SIGINT);
	for (int waited = 0; waited < CLEAR_MS && waitpid(demo->worker, NULL, WNOHANG) == 0; waited += CLEAR_STEP_MS)
		usleep(CLEAR_STEP_MS * 1000);
}

void demo_clear(struct demo *demo)
{
	int parent_fd;

	if (demo->dir[0] == '\0')
		return;
	end_worker(demo);
	/* Repeat: a process may start another one just before it is killed. */
	for (int round = 0; round < 50 && find_ours(demo, SIGKILL) > 0; round++)
		usleep(20000);
	if (demo->master > 0)
		waitpid(demo->master, NULL, WNOHANG);
	if (demo->worker > 0)
		waitpid(demo->worker, NULL, WNOHANG);
	parent_fd = open(demo->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent_fd >= 0) {
		io_remove_tree(parent_fd, strrchr(demo->dir, '/') + 1);
		close(parent_fd);
	}
	demo->dir[0] = '\0';
}
