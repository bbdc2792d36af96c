/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion scripts of shells, generated from the command table; ids come from the running master. */
#ifndef TITAN_CLI_COMPLETE_H
#define TITAN_CLI_COMPLETE_H

#include "base/buf.h"

bool complete_script(const char *shell, struct buf *out);        /* false: a shell that we don't know */

#endif
