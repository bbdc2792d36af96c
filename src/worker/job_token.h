/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Job tokens: TITAN_TOKEN proves to a link which attempt makes a connection. A token is JOB.EPOCH.PROOF, where the
 * proof is a hash over a secret of the worker. So nothing is stored for each attempt, and tokens stay valid when link
 * or keeper restart. A token proves which job asks; the master decides what that job may ask for.
 */
#ifndef TITAN_WORKER_JOB_TOKEN_H
#define TITAN_WORKER_JOB_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

#define JOB_TOKEN_SECRET  32
#define JOB_TOKEN_TEXT    80                 /* most bytes of a token in text form, with its NUL */
#define JOB_TOKEN_SOCKET  "job.sock"         /* name of the socket in the worker's directory */

/* Read the worker's secret; make it if there is none yet. 0 or -errno. */
int job_token_secret(int dir_fd, uint8_t ret_secret[JOB_TOKEN_SECRET]);
void job_token_write(const uint8_t secret[JOB_TOKEN_SECRET], uint64_t job, uint64_t epoch, char out[JOB_TOKEN_TEXT]);
bool job_token_read(const uint8_t secret[JOB_TOKEN_SECRET], struct slice text, uint64_t *ret_job, uint64_t *ret_epoch);

#endif
