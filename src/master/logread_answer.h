/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers to log reads: pieces forwards or backwards, the live tail behind them, or the reason why there are none. */
#ifndef TITAN_MASTER_LOGREAD_H
#define TITAN_MASTER_LOGREAD_H

#include "master/logfile.h"
#include "master/logs.h"
#include "master/live_tail.h"

/*
 * Fill data for a read. 0 or -errno: EINVAL: no record begins there; EBADMSG: the log is damaged; EOPNOTSUPP: it is
 * compressed, and this master was built without zstd.
 */
int logread_pieces(const struct logfile *file, const struct live_tail *live_tail, const struct msg_log_read *read,
		   struct arena *arena, struct msg_log_data *data);
void logread_refuse(struct log_answer *reply, const struct msg_log_read *read, int result);

#endif
