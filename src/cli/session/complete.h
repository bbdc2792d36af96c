/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion scripts of shells, made from the command table. The scripts ask the running master for run numbers. */
#ifndef TITAN_CLI_COMPLETE_H
#define TITAN_CLI_COMPLETE_H

#include "base/buf.h"

bool complete_script(const char *shell, struct buf *out);        /* false: unknown shell */

#endif
