/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What proves to a link that a connection comes from an attempt: JOB.EPOCH.PROOF, in TITAN_TOKEN. The proof is a
 * hash over a secret of the worker, so nothing is kept for each attempt, and it stays good when link or keeper
 * start again. It says who asks, not what may be asked: that is the master's.
 */
#ifndef TITAN_WORKER_TOKEN_H
#define TITAN_WORKER_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

#define TOKEN_SECRET  32
#define TOKEN_TEXT    80                 /* bytes of a token, with its NUL */
#define TOKEN_SOCKET  "job.sock"         /* in the worker's directory */

/* The worker's, made if there is none yet; 0 or -errno. */
int token_secret_open(int dir_fd, uint8_t ret_secret[TOKEN_SECRET]);
void token_write(const uint8_t secret[TOKEN_SECRET], uint64_t job, uint64_t epoch, char out[TOKEN_TEXT]);
bool token_read(const uint8_t secret[TOKEN_SECRET], struct slice text, uint64_t *ret_job, uint64_t *ret_epoch);

#endif
