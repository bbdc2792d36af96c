/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs another program, such as crontab, and reads what it says. */
#ifndef TITAN_CLI_HELPER_H
#define TITAN_CLI_HELPER_H

#include "base/buf.h"
#include "base/slice.h"

/*
 * Run the program that argv[0] names in PATH, with this standard input, and wait for its end. Its outputs are added to out and
 * err. Messages are in English. Returns the exit status, 128 for a program that a signal ended, or -errno.
 */
int helper_run(const char *const *argv, struct slice input, struct buf *out, struct buf *err);

#endif
