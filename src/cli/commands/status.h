/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The alarm about the store that titan status and titan up print. */
#ifndef TITAN_CLI_STATUS_H
#define TITAN_CLI_STATUS_H

#include "base/buf.h"
#include "cli/session/cli.h"
#include "proto/message.h"

/* Write an alarm line if the STATUS answer says that the store has little or no room. */
void look_alarm_store(const struct cli *cli, const struct msg_snapshot *status, struct buf *out);

#endif
