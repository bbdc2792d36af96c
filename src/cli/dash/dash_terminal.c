/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dashboard's terminal: set up, put back, resize, suspend; keys and signals. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/dash/dash_internal.h"

#define GONE_MS     500 /* how long to try to write the last bytes to a terminal that doesn't take them */

enum err dash_catch_signals(struct dash *dash, struct error *error)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT, SIGTSTP };
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		sigaddset(&mask, numbers[i]);
	sigprocmask(SIG_BLOCK, &mask, &dash->old_mask);
	dash->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return dash->signals < 0 ? error_system(error, errno, "can't wait for signals") : ERR_NONE;
}

enum err dash_open_terminal(struct dash *dash, struct error *error)
{
	int width, height, result;
	enum err err;

	dash->tty.fd = -1;
	result = isatty(STDOUT_FILENO) ? tty_open(&dash->tty) : -ENOTTY;
	if (result < 0 || tty_size(&dash->tty, &width, &height) < 0) {
		error_set(error, ERR_USAGE, "the dashboard needs a terminal");
		return error_next(error, "titan status");
	}
	tty_guard(&dash->tty, screen_reset());
	err = screen_new(getenv("TERM"), width, height, &dash->screen, error);
	if (err != ERR_NONE)
		return err;
	if (tty_raw(&dash->tty) < 0)
		return error_set(error, ERR_SYSTEM, "can't set the modes of the terminal");
	app_resize(dash->app, width, height);
	return ERR_NONE;
}

void dash_close_terminal(struct dash *dash)
{
	if (dash->tty.fd < 0)
		return;
	if (dash->screen && dash->tty.raw) {
		screen_leave(dash->screen, &dash->tty.out);
		tty_drain(&dash->tty, GONE_MS);
	}
	tty_close(&dash->tty);
	tty_unguard();
}

static void resize(struct dash *dash)
{
	int width, height;

	if (dash->screen && tty_size(&dash->tty, &width, &height) == 0)
		app_resize(dash->app, width, height);
}

void dash_resume(struct dash *dash)
{
	if (!dash->screen)
		return;
	tty_raw(&dash->tty);
	screen_redraw(dash->screen);
	resize(dash);
	dash->pressed = true;
}

void dash_leave_screen(struct dash *dash)
{
	screen_leave(dash->screen, &dash->tty.out);
	tty_drain(&dash->tty, GONE_MS);
	tty_restore(&dash->tty);
}

/* Stop the whole process group, as Ctrl-Z does when the terminal handles it. */
void dash_suspend(struct dash *dash)
{
	sigset_t stop;

	if (!dash->screen)
		return;
	dash_leave_screen(dash);
	signal(SIGTSTP, SIG_DFL);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	kill(0, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	dash_resume(dash);
}

/* Wait until Enter or Ctrl-C is pressed. */
void dash_wait_for_enter(struct dash *dash)
{
	struct pollfd fds[] = {
		{ .fd = dash->tty.fd, .events = POLLIN }, { .fd = dash->signals, .events = POLLIN },
	};
	struct signalfd_siginfo info;
	char bytes[256];

	for (;;) {
		poll(fds, 2, -1);
		if (fds[0].revents) {
			ssize_t got = read(dash->tty.fd, bytes, sizeof bytes);

			if (got <= 0 || memchr(bytes, '\n', (size_t)got))
				return;
		}
		if (fds[1].revents && read(dash->signals, &info, sizeof info) == sizeof info && info.ssi_signo != SIGWINCH &&
		    info.ssi_signo != SIGCONT && info.ssi_signo != SIGTSTP) {
			dash->quit |= info.ssi_signo != SIGINT;
			return;
		}
	}
}

void dash_read_signals(struct dash *dash)
{
	struct signalfd_siginfo info;

	while (read(dash->signals, &info, sizeof info) == sizeof info) {
		switch (info.ssi_signo) {
		case SIGWINCH:
			resize(dash);
			break;
		case SIGTSTP:
			dash_suspend(dash);
			break;
		case SIGCONT:
			dash_resume(dash);
			break;
		default:
			dash->quit = true;
			break;
		}
	}
}

/* Hand a text over to the terminal's clipboard (OSC 52). */
void dash_copy(struct dash *dash, struct slice text)
{
	static const char signs[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	if (!dash->screen)
		return;
	buf_add_str(&dash->tty.out, "\033]52;c;");
	for (size_t at = 0; at < text.len; at += 3) {
		size_t left = text.len - at;
		uint32_t bits = (uint32_t)text.data[at] << 16 | (left > 1 ? (uint32_t)text.data[at + 1] << 8 : 0) |
				(left > 2 ? text.data[at + 2] : 0);

		buf_add_byte(&dash->tty.out, (uint8_t)signs[bits >> 18]);
		buf_add_byte(&dash->tty.out, (uint8_t)signs[bits >> 12 & 63]);
		buf_add_byte(&dash->tty.out, (uint8_t)(left > 1 ? signs[bits >> 6 & 63] : '='));
		buf_add_byte(&dash->tty.out, (uint8_t)(left > 2 ? signs[bits & 63] : '='));
	}
	buf_add_str(&dash->tty.out, "\a");
}

static void key_cb(uint32_t key, void *owner)
{
	struct dash *dash = owner;

	app_key(dash->app, key, dash_now_ms(dash));
	dash->pressed = true;
}

void dash_read_keys(struct dash *dash)
{
	uint8_t bytes[4096];
	int got = tty_read(&dash->tty, bytes, sizeof bytes);

	if (got < 0) {
		dash->quit = true;       /* the terminal is gone */
		return;
	}
	input_feed(&dash->input, bytes, (size_t)got, key_cb, dash);
	dash->escape_ns = clock_mono_ns();
}

void dash_expire_keys(struct dash *dash)
{
	if (input_waits(&dash->input) && clock_mono_ns() - dash->escape_ns >= INPUT_ESCAPE_MS * NS_PER_MS)
		input_expire(&dash->input, key_cb, dash);
}
