/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Commands typed into the dashboard. The console's engine (cli/repl) runs them: in a process of their own, whose output
 * goes to a pane of the dashboard, so that a command that takes its time stops nothing; or on the plain terminal, if it
 * needs one. Settings of the console are changed in this process, as they are about the commands that follow.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "cli/dash/dash_internal.h"

#define READ_ONCE 65536                  /* most bytes of output handled before keys are looked at again */
#define GIVE_UP_MS 300                   /* how long a command whose pane was closed may take to end */

static int to_pane(void *arg, const void *data, size_t len)
{
	struct dash *dash = arg;

	app_output_add(dash->app, slice_make(data, len));
	return 0;
}

struct pipe_end {                        /* where the other process prints */
	int fd;
	unsigned columns;
};

static int to_pipe(void *arg, const void *data, size_t len)
{
	return io_write_all(((const struct pipe_end *)arg)->fd, data, len);
}

static unsigned pipe_columns(void *arg)
{
	return ((const struct pipe_end *)arg)->columns;
}

static unsigned pane_columns(void *arg)
{
	const struct dash *dash = arg;

	return (unsigned)dash->grid.width;
}

/* A session whose output is shown in the pane. */
static struct session pane_session(struct dash *dash)
{
	struct session session = *dash->options->session;

	session.out = session.err = (struct sink){
		.write_cb = to_pane, .arg = dash, .terminal = true, .lines = true, .columns_cb = pane_columns,
	};
	session.in_fd = -1;
	session.asks = false;
	return session;
}

void dash_run_child(struct dash *dash, int in_fd, int out_fd, const char *text)
{
	struct pipe_end end = { .fd = out_fd, .columns = (unsigned)dash->grid.width };
	struct session session = pane_session(dash);
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT, SIGTSTP };

	/* The handlers of curses would draw on the terminal. */
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		signal(numbers[i], SIG_DFL);
	tty_unguard();
	setpgid(0, 0);
	sigprocmask(SIG_SETMASK, &dash->old_mask, NULL);
	close(dash->tty.fd);
	if (dash->link.client)
		close(steady_link_fd(&dash->link));
	session.out = session.err = (struct sink){
		.write_cb = to_pipe, .arg = &end, .terminal = true, .lines = true, .columns_cb = pipe_columns,
	};
	session.in_fd = in_fd;
	session.asks = session.interrupts = true;
	_exit(repl_one(dash->console, &session, text));
}

static void close_pipes(struct dash_child *child)
{
	close(child->in_fd);
	close(child->out_fd);
	child->in_fd = child->out_fd = -1;
}

/* Start a process for the command. False: the system allows none. */
static bool start(struct dash *dash, const char *text)
{
	struct dash_child *child = &dash->child;
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) != 0)
		return false;
	if (pipe2(out, O_CLOEXEC) != 0) {
		close(in[0]);
		close(in[1]);
		return false;
	}
	child->pid = fork();
	if (child->pid == 0) {
		close(in[1]);
		close(out[0]);
		dash_run_child(dash, in[0], out[1], text);
	}
	close(in[0]);
	close(out[1]);
	child->in_fd = in[1];
	child->out_fd = out[0];
	if (child->pid < 0)
		close_pipes(child);
	return child->pid > 0;
}

static int status_of(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int dash_command_fd(const struct dash *dash)
{
	return dash->child.pid > 0 ? dash->child.out_fd : -1;
}

void dash_command_read(struct dash *dash)
{
	struct dash_child *child = &dash->child;
	uint8_t *bytes = mem_alloc(READ_ONCE);
	ssize_t got = read(child->out_fd, bytes, READ_ONCE);

	if (got > 0) {
		app_output_add(dash->app, slice_make(bytes, (size_t)got));
	} else if (got == 0 || errno != EINTR) {
		close_pipes(child);
		app_output_end(dash->app, status_of(child->pid));
		child->pid = 0;
	}
	mem_free(bytes);
}

void dash_command_interrupt(struct dash *dash)
{
	if (dash->child.pid > 0)
		kill(-dash->child.pid, SIGINT);
}

void dash_command_answer(struct dash *dash, struct slice text)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;

	sigaction(SIGPIPE, &ignore, &before);
	/* A short line fits into the pipe. A command that has ended meanwhile needs no answer. */
	if (dash->child.pid > 0 && write(dash->child.in_fd, text.data, text.len) < 0)
		dash_command_interrupt(dash);
	sigaction(SIGPIPE, &before, NULL);
}

void dash_command_close(struct dash *dash)
{
	struct dash_child *child = &dash->child;
	int64_t until_ns = clock_mono_ns() + GIVE_UP_MS * NS_PER_MS;
	int status;

	if (child->pid <= 0)
		return;
	close_pipes(child);
	dash_command_interrupt(dash);
	/* A command changes nothing by itself, the master does: so it can be killed at any time. */
	while (waitpid(child->pid, &status, WNOHANG) == 0) {
		if (clock_mono_ns() > until_ns)
			kill(-child->pid, SIGKILL);
		poll(NULL, 0, 5);
	}
	child->pid = 0;
}

/* Run the command on the terminal, and leave what it printed there until Enter is pressed. */
static void run_on_terminal(struct dash *dash, const char *text)
{
	struct session session = *dash->options->session;
	struct buf told = { 0 };
	int status;

	dash_leave_screen(dash);
	session.interrupts = true;
	status = repl_one(dash->console, &session, text);
	if (status != 0)
		buf_addf(&told, "-- exit status %d, press Enter --", status);
	else
		buf_add_str(&told, "-- press Enter --");
	session.err.write_cb(session.err.arg, told.data, told.len);
	buf_free(&told);
	dash_wait_for_enter(dash);
	dash_resume(dash);
}

static void run_in_pane(struct dash *dash, const char *text, bool at_once)
{
	struct session session = pane_session(dash);

	app_output_begin(dash->app, slice_str(text));
	if (at_once) {
		app_output_end(dash->app, repl_one(dash->console, &session, text));
		return;
	}
	repl_remember(dash->console, text);
	if (start(dash, text))
		return;
	app_output_add(dash->app, slice_str("titan: the system allows no further process\n"));
	app_output_end(dash->app, err_exit_status(ERR_SYSTEM));
}

void dash_command(struct dash *dash, struct slice typed)
{
	char *text = mem_text(typed);

	switch (strcmp(text, "q") == 0 || !dash->screen ? REPL_NOTHING : repl_way_of(text)) {
	case REPL_NOTHING:
		dash->quit |= strcmp(text, "q") == 0;
		break;
	case REPL_OPEN:
		app_output_begin(dash->app, typed);
		app_output_add(dash->app, slice_str("titan: the line isn't a complete command: a quote or a brace isn't closed\n"));
		app_output_end(dash->app, err_exit_status(ERR_USAGE));
		break;
	case REPL_TERMINAL:
		run_on_terminal(dash, text);
		break;
	case REPL_AT_ONCE:
		run_in_pane(dash, text, true);
		break;
	case REPL_LINES:
		run_in_pane(dash, text, false);
		break;
	}
	dash->quit |= repl_is_over(dash->console);
	mem_free(text);
}
