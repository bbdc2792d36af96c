/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dashboard's loop: passes messages, keys, signals and time to tui/app.h, and sends its pictures and requests out.
 * It sleeps until something happens. It draws at most every 33 ms, but draws a key's effect at once, and skips pictures
 * while the terminal is slow. It ends when the person quits or the terminal is gone.
 */
#include "cli/dash/dash_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "cli/ask/steady_link.h"

#define FRAME_NS    (33 * NS_PER_MS)
#define FRAMES_ONCE 64                   /* most messages handled before keys are looked at again */

int64_t dash_now_ms(const struct dash *dash)
{
	return dash->fixed_ms ? dash->fixed_ms : clock_wall_ms();
}

static enum err parse_size(const struct dash_options *options, int *width, int *height, struct error *error)
{
	char rest;

	*width = 80;
	*height = 24;
	if (!options->size)
		return ERR_NONE;
	if (sscanf(options->size, "%4dx%4d%c", width, height, &rest) == 2 && *width > 0 && *height > 0 &&
	    *width <= 1000 && *height <= 1000)
		return ERR_NONE;
	error_set(error, ERR_USAGE, "'%s' isn't a size such as 80x24", options->size);
	return error_next(error, "titan dash --size 80x24 --dump-screen -");
}

static enum err parse_clock(const char *text, int64_t *ret_ms, struct error *error)
{
	struct tm time = { 0 };
	const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%SZ", &time) : NULL;

	*ret_ms = 0;
	if (!text)
		return ERR_NONE;
	if (!end || *end != '\0')
		return error_set(error, ERR_USAGE, "'%s' isn't a time such as 2026-11-18T14:02:30Z", text);
	*ret_ms = (int64_t)timegm(&time) * 1000;
	return ERR_NONE;
}

static enum err parse_view(const char *text, enum view *ret_view, struct error *error)
{
	static const struct {
		const char *word;
		enum view view;
	} views[] = {{"home", VIEW_HOME}, {"runs", VIEW_RUNS}, {"dag", VIEW_DAG}, {"workers", VIEW_WORKERS},
		   {"approvals", VIEW_APPROVALS}};

	*ret_view = VIEW_HOME;
	if (!text)
		return ERR_NONE;
	for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
		if (strcmp(text, views[i].word) == 0) {
			*ret_view = views[i].view;
			return ERR_NONE;
		}
	}
	return error_set(error, ERR_USAGE, "there is no view '%s'; choose home, runs, dag, workers or approvals", text);
}

static void lost(struct dash *dash, const struct error *error)
{
	if (dash->options->dump_file) {
		dash->error = *error; /* --dump-screen shows the present moment, so it doesn't wait for a lost master */
		dash->quit = true;
	}
	steady_link_lost(&dash->link, dash_now_ms(dash));
	app_disconnected(dash->app, error->text, dash->link.retry_at_ms, dash_now_ms(dash));
}

static void read_messages(struct dash *dash)
{
	struct error error = { 0 };

	dash->more = true;
	for (int i = 0; i < FRAMES_ONCE && dash->link.client; i++) {
		struct incoming frame;
		enum err err = client_receive(dash->link.client, 0, &frame, &error);

		if (err == ERR_PENDING) {
			dash->more = false;
			return;
		}
		if (err == ERR_NONE)
			err = app_message(dash->app, frame.op, frame.body, dash_now_ms(dash), &error);
		if (err != ERR_NONE)
			lost(dash, &error);
	}
	dash->more = dash->link.client != NULL;
}

static void send_request(struct dash *dash, const struct app_request *request)
{
	struct error error = { 0 };

	if (!dash->link.client)
		return;
	if (client_send(dash->link.client, request->op, &request->msg, &error) != ERR_NONE)
		lost(dash, &error);
}

static void do_requests(struct dash *dash)
{
	struct app_request request;
	struct error error = { 0 };
	bool sent = false;

	while (app_take(dash->app, &request)) {
		switch (request.want) {
		case APP_SEND:
			send_request(dash, &request);
			sent = true;
			break;
		case APP_QUIT:
			dash->quit = true;
			break;
		case APP_COMMAND:
			dash_command(dash, request.text);
			break;
		case APP_INTERRUPT:
			dash_command_interrupt(dash);
			break;
		case APP_ANSWER:
			dash_command_answer(dash, request.text);
			break;
		case APP_CLOSE:
			dash_command_close(dash);
			break;
		case APP_PAGER:
			dash_pager(dash, request.text);
			break;
		case APP_COPY:
			dash_copy(dash, request.text);
			break;
		case APP_SUSPEND:
			dash_suspend(dash);
			break;
		case APP_REDRAW:
			if (dash->screen)
				screen_redraw(dash->screen);
			dash->pressed = true;
			break;
		}
	}
	if (sent && dash->link.client && client_flush(dash->link.client, &error) != ERR_NONE)
		lost(dash, &error);
}

static void draw(struct dash *dash)
{
	int64_t now_ns = clock_mono_ns();

	if (!app_dirty(dash->app) && !dash->pressed)
		return;
	if (!dash->pressed && now_ns - dash->frame_ns < FRAME_NS)
		return;
	if (dash->screen && dash->tty.out.len > 0)
		return;                  /* the terminal hasn't taken the last picture yet: skip this one */
	app_draw(dash->app, &dash->grid, dash_now_ms(dash));
	dash->frame_ns = now_ns;
	dash->pressed = false;
	if (!dash->screen)
		return;
	screen_render(dash->screen, &dash->grid, &dash->tty.out);
	if (tty_write(&dash->tty) < 0)
		dash->quit = true;
}

/* How long the loop may sleep if no message, key or signal comes; -1: for ever. */
static int sleep_ms(const struct dash *dash)
{
	int64_t now_ns = clock_mono_ns(), wait = app_wait_ms(dash->app, dash_now_ms(dash));

	if (dash->more)
		return 0;
	if (dash->fixed_ms && wait > 0)
		wait = -1;
	if (app_dirty(dash->app) && dash->tty.out.len == 0) {
		wait = (FRAME_NS - (now_ns - dash->frame_ns) + NS_PER_MS - 1) / NS_PER_MS;
		wait = wait < 0 ? 0 : wait;
	}
	if (input_waits(&dash->input) && (wait < 0 || wait > INPUT_ESCAPE_MS))
		wait = INPUT_ESCAPE_MS;
	if (!dash->link.client && !dash->link.opening) {
		int64_t retry = dash->link.retry_at_ms - dash_now_ms(dash);

		retry = retry < 0 ? 0 : retry;
		wait = wait < 0 || wait > retry ? retry : wait;
	}
	return wait < 0 ? -1 : (int)wait;
}

static void wait_for_events(struct dash *dash)
{
	struct pollfd fds[4] = {
		{ .fd = dash->signals, .events = POLLIN },
		{ .fd = steady_link_fd(&dash->link), .events = steady_link_events(&dash->link) },
		{ .fd = dash->screen ? dash->tty.fd : -1, .events = POLLIN },
		{ .fd = dash_command_fd(dash), .events = POLLIN },
	};
	struct error error = { 0 };
	int64_t now;

	if (dash->tty.out.len > 0)
		fds[2].events |= POLLOUT;
	poll(fds, 4, sleep_ms(dash));
	now = dash_now_ms(dash);
	if (fds[0].revents)
		dash_read_signals(dash);
	if (fds[2].revents & POLLOUT && tty_write(&dash->tty) < 0)
		dash->quit = true;
	if (fds[2].revents & (POLLIN | POLLHUP | POLLERR))
		dash_read_keys(dash);
	dash_expire_keys(dash);
	if (fds[3].revents && dash_command_fd(dash) == fds[3].fd)
		dash_command_read(dash);
	if (fds[1].revents && dash->link.opening) {
		if (steady_link_opened(&dash->link, now, &error))
			app_connected(dash->app, client_welcome(dash->link.client), now);
		else
			app_disconnected(dash->app, error.text, dash->link.retry_at_ms, now);
	} else if (dash->link.client && (fds[1].revents || dash->more)) {
		read_messages(dash);
	}
	if (!dash->link.client && !dash->link.opening && now >= dash->link.retry_at_ms)
		steady_link_retry(&dash->link);
}

/* Write the picture. A device or pipe is written directly, because a rename would replace it by a file. */
static int write_picture(const char *path, const struct buf *text)
{
	struct stat status;
	int fd, result;

	if (stat(path, &status) != 0 || S_ISREG(status.st_mode))
		return io_write_file(AT_FDCWD, path, text->data, text->len, 0644);
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	result = io_write_all(fd, text->data, text->len);
	close(fd);
	return result;
}

static enum err dump(struct dash *dash, struct error *error)
{
	struct buf text = { 0 };
	int result;

	grid_dump(&dash->grid, dash->options->dump_styles, &text);
	if (strcmp(dash->options->dump_file, "-") == 0)
		result = io_write_all(STDOUT_FILENO, text.data, text.len);
	else
		result = write_picture(dash->options->dump_file, &text);
	buf_free(&text);
	if (result < 0)
		return error_system(
			error, -result, "can't write the screen to %s", dash->options->dump_file);
	return ERR_NONE;
}

static void loop(struct dash *dash)
{
	int64_t ticked_ms = dash_now_ms(dash);

	while (!dash->quit) {
		bool due = dash_now_ms(dash) - ticked_ms >= 0 && app_wait_ms(dash->app, ticked_ms) >= 0 &&
			dash_now_ms(dash) >= ticked_ms + app_wait_ms(dash->app, ticked_ms);

		if (due) {
			ticked_ms = dash_now_ms(dash);
			app_tick(dash->app, ticked_ms);
		}
		do_requests(dash);
		draw(dash);
		if (dash->options->exit_idle && app_loaded(dash->app) && !app_dirty(dash->app) &&
			dash->tty.out.len == 0)
			return;
		if (!dash->quit)
			wait_for_events(dash);
	}
}

static enum err begin(struct dash *dash, const struct statedir *statedir, const struct remote_cluster *remote, struct error *error)
{
	struct app_options app = { .mono = dash->options->mono, .run = dash->options->run };
	int width, height;
	enum err err;

	app.ascii = dash->options->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	err = parse_view(dash->options->view, &app.view, error);
	if (err == ERR_NONE)
		err = parse_clock(dash->options->clock, &dash->fixed_ms, error);
	if (err == ERR_NONE)
		err = parse_size(dash->options, &width, &height, error);
	if (err == ERR_NONE)
		err = steady_link_open(&dash->link, statedir, remote, error);
	if (err == ERR_NONE)
		err = dash_catch_signals(dash, error);
	if (err != ERR_NONE)
		return err;
	dash->app = app_new(&app);
	dash->console = repl_new(dash->options->session, &dash->options->console, statedir, remote);
	app_resize(dash->app, width, height);
	if (!dash->options->dump_file)
		err = dash_open_terminal(dash, error);
	if (err == ERR_NONE)
		app_connected(dash->app, client_welcome(dash->link.client), dash_now_ms(dash));
	return err;
}

int dash_run(const struct dash_options *options, const struct statedir *statedir, const struct remote_cluster *remote,
	     struct error *error)
{
	struct dash dash = { .options = options, .signals = -1, .tty = { .fd = -1 }, .child = { .in_fd = -1, .out_fd = -1 } };
	enum err err;

	setlocale(LC_CTYPE, "");
	err = begin(&dash, statedir, remote, error);
	if (err == ERR_NONE) {
		loop(&dash);
		err = dash.error.code;
		if (err != ERR_NONE)
			*error = dash.error;
		else if (options->dump_file)
			err = dump(&dash, error);
	}
	dash_command_close(&dash);
	dash_close_terminal(&dash);
	screen_free(dash.screen);
	app_free(dash.app);
	repl_delete(dash.console);
	grid_free(&dash.grid);
	steady_link_close(&dash.link);
	if (dash.signals >= 0) {
		close(dash.signals);
		sigprocmask(SIG_SETMASK, &dash.old_mask, NULL);
	}
	return err_exit_status(err);
}
