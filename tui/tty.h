/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal device: raw mode, size, bytes in and out without ever waiting. The terminal's modes are restored at the
 * end, on suspend, and after a crash.
 */
#ifndef TITAN_TUI_TTY_H
#define TITAN_TUI_TTY_H

#include <termios.h>

#include "base/buf.h"

struct tty {
	int fd;                          /* -1: not open */
	struct termios saved;
	bool raw;
	struct buf out;                  /* bytes that were rendered and not yet written */
	size_t sent;                     /* bytes written so far */
};

/* Open the controlling terminal anew, so that other processes don't share its non-blocking mode. 0 or -errno. */
int tty_open(struct tty *tty);
void tty_close(struct tty *tty);
int tty_raw(struct tty *tty);
void tty_restore(struct tty *tty);                       /* restores the modes only */
int tty_size(const struct tty *tty, int *ret_width, int *ret_height);
/* Return the bytes read; 0 if there are none now; -errno, -EIO at the end of input. */
int tty_read(struct tty *tty, void *data, size_t size);
/* Write as much as the terminal takes now; the rest stays in out. -errno: the terminal is gone. */
int tty_write(struct tty *tty);
/* Write the rest, waiting at most timeout_ms; used at the end of the program. */
void tty_drain(struct tty *tty, int timeout_ms);
/* Install a crash handler that writes these constant bytes, restores the modes, and lets the signal end the program. */
void tty_guard(struct tty *tty, struct slice reset);
void tty_unguard(void);

#endif
