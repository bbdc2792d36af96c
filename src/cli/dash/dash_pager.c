/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shows what a command prints in the person's pager (PAGER, or less). The pager has the terminal until it ends, and the
 * command prints into a pipe, in a process of its own. What jobs wrote is escaped there as in the pane.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/dash/dash_internal.h"

#define CANT_RUN 127                     /* exit status of a shell that can't run the pager */

/* In the new process: become the pager, which reads from this descriptor. */
static void run_pager(const struct dash *dash, int fd)
{
	const char *pager = getenv("PAGER");
	const char *const argv[] = { "sh", "-c", pager && pager[0] ? pager : "less -R", NULL };

	dup2(fd, STDIN_FILENO);
	sigprocmask(SIG_SETMASK, &dash->old_mask, NULL);
	execv("/bin/sh", (char *const *)argv);
	_exit(CANT_RUN);
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

/* Ctrl-C was meant for the pager. */
static void forget_interrupts(struct dash *dash)
{
	struct signalfd_siginfo info;

	while (read(dash->signals, &info, sizeof info) == sizeof info)
		dash->quit |= info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP;
}

/* Start both processes and wait for the pager. False: the system allows no further process. */
static bool page(struct dash *dash, const char *text, int *ret_status)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC), out[2];
	pid_t writer, pager;

	if (nothing < 0 || pipe2(out, O_CLOEXEC) != 0) {
		if (nothing >= 0)
			close(nothing);
		return false;
	}
	writer = fork();
	if (writer == 0)
		dash_run_child(dash, nothing, out[1], text);
	close(out[1]);
	close(nothing);
	pager = writer > 0 ? fork() : -1;
	if (pager == 0)
		run_pager(dash, out[0]);
	close(out[0]);
	*ret_status = wait_for(pager);
	/* Nobody reads on, and a command changes nothing by itself. */
	if (writer > 0)
		kill(writer, SIGKILL);
	wait_for(writer);
	return pager > 0;
}

void dash_pager(struct dash *dash, struct slice command)
{
	char *text = mem_text(command);
	int status = 0;
	bool started;

	if (!dash->screen) {
		mem_free(text);
		return;
	}
	dash_leave_screen(dash);
	started = page(dash, text, &status);
	forget_interrupts(dash);
	dash_resume(dash);
	if (!started || status == CANT_RUN || status == CANT_RUN - 1) {
		app_output_begin(dash->app, command);
		app_output_add(dash->app, slice_str(started ? "titan: the pager can't be run: set PAGER to the command of one that is installed\n"
							    : "titan: the system allows no further process\n"));
		app_output_end(dash->app, err_exit_status(ERR_SYSTEM));
	}
	mem_free(text);
}
