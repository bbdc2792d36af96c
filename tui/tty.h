/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal itself: raw mode, its size, bytes in and out without ever waiting for it. It is given back
 * as it was at the end, when the program is suspended, and when it crashes.
 */
#ifndef TITAN_TUI_TTY_H
#define TITAN_TUI_TTY_H

#include <termios.h>

#include "base/buf.h"

struct tty {
	int fd;                          /* -1: not open */
	struct termios saved;
	bool raw;
	struct buf out;                  /* rendered and not yet written */
	size_t sent;                     /* bytes ever written */
};

/* The controlling terminal, by a description of its own, so that non-blocking stays with us. -errno. */
int tty_open(struct tty *tty);
void tty_close(struct tty *tty);
int tty_raw(struct tty *tty);
void tty_restore(struct tty *tty);                       /* modes only */
int tty_size(const struct tty *tty, int *ret_width, int *ret_height);
/* Bytes read; 0 when there is nothing now; -errno, -EIO at its end. */
int tty_read(struct tty *tty, void *data, size_t size);
/* Writes what it takes now. -errno when it is gone. Anything left is in out. */
int tty_write(struct tty *tty);
/* Writes what is left, for at most so long: on the way out. */
void tty_drain(struct tty *tty, int timeout_ms);
/* From now on a crash writes these bytes (a constant), restores the modes and then dies as it would have. */
void tty_guard(struct tty *tty, struct slice reset);
void tty_unguard(void);

#endif
