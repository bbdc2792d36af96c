/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of a job's output is kept: everything ("lossless"), or a size. */
#ifndef TITAN_LANG_LOG_MAX_H
#define TITAN_LANG_LOG_MAX_H

#include "base/buf.h"

/* Parse a limit on kept output. Return NULL, or what was expected. */
const char *log_max_parse(struct slice text, uint64_t *ret_max);
void log_max_text(uint64_t max, struct buf *out);        /* writes the limit as a person would */

#endif
