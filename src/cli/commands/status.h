/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What titan status and titan up both say about the store. */
#ifndef TITAN_CLI_STATUS_H
#define TITAN_CLI_STATUS_H

#include "base/buf.h"
#include "cli/session/cli.h"
#include "proto/message.h"

/* Write an alarm line if STATUS says that the store has little room or none. */
void look_alarm_store(const struct cli *cli, const struct msg_snapshot *status, struct buf *out);

#endif
