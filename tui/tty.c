/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal device. The crash handler only uses write, tcsetattr and raise, which are allowed in signal handlers. It
 * never calls curses, whose state may be broken.
 */
#include "tui/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT };

/* What the crash handler needs; nothing else uses it. */
static volatile sig_atomic_t guarded_fd = -1;
static struct termios guarded_modes;
static struct slice guarded_reset;

int tty_open(struct tty *tty)
{
	*tty = (struct tty){ .fd = open("/dev/tty", O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) };
	if (tty->fd < 0)
		return -errno;
	if (tcgetattr(tty->fd, &tty->saved) < 0) {
		int error = errno;

		close(tty->fd);
		tty->fd = -1;
		return -error;
	}
	return 0;
}

void tty_close(struct tty *tty)
{
	if (tty->fd >= 0) {
		tty_restore(tty);
		close(tty->fd);
	}
	buf_free(&tty->out);
	tty->fd = -1;
}

int tty_raw(struct tty *tty)
{
	struct termios modes = tty->saved;

	cfmakeraw(&modes);
	if (tcsetattr(tty->fd, TCSADRAIN, &modes) < 0)
		return -errno;
	tty->raw = true;
	return 0;
}

void tty_restore(struct tty *tty)
{
	if (tty->raw)
		tcsetattr(tty->fd, TCSAFLUSH, &tty->saved);
	tty->raw = false;
}

int tty_size(const struct tty *tty, int *ret_width, int *ret_height)
{
	struct winsize size;

	if (ioctl(tty->fd, TIOCGWINSZ, &size) < 0)
		return -errno;
	*ret_width = size.ws_col > 0 ? size.ws_col : 80;
	*ret_height = size.ws_row > 0 ? size.ws_row : 24;
	return 0;
}

int tty_read(struct tty *tty, void *data, size_t size)
{
	ssize_t got = read(tty->fd, data, size);

	if (got > 0)
		return (int)got;
	if (got == 0)
		return -EIO;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

int tty_write(struct tty *tty)
{
	while (tty->out.len > 0) {
		ssize_t put = write(tty->fd, tty->out.data, tty->out.len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return errno == EAGAIN ? 0 : -errno;
		buf_drop(&tty->out, (size_t)put);
		tty->sent += (size_t)put;
	}
	return 0;
}

void tty_drain(struct tty *tty, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = tty->fd, .events = POLLOUT };

	while (tty_write(tty) == 0 && tty->out.len > 0)
		if (poll(&poll_fd, 1, timeout_ms) <= 0)
			break;
	buf_clear(&tty->out);
}

static void crash_cb(int number)
{
	int fd = guarded_fd;

	if (fd >= 0) {
		/* The descriptor is non-blocking, so a stalled terminal can't delay the end. */
		ssize_t ignored = write(fd, guarded_reset.data, guarded_reset.len);

		(void)ignored;
		tcsetattr(fd, TCSANOW, &guarded_modes);
	}
	raise(number);           /* the handler was removed before, so this signal ends the process */
}

void tty_guard(struct tty *tty, struct slice reset)
{
	struct sigaction action = { .sa_handler = crash_cb, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };

	guarded_modes = tty->saved;
	guarded_reset = reset;
	guarded_fd = tty->fd;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
		sigaction(crashes[i], &action, NULL);
}

void tty_unguard(void)
{
	guarded_fd = -1;
	for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
		signal(crashes[i], SIG_DFL);
}
