/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a reader of a log is answered: pieces, forwards or back, what is on its way behind them, or why there are none. */
#ifndef TITAN_MASTER_LOGREAD_H
#define TITAN_MASTER_LOGREAD_H

#include "master/logfile.h"
#include "master/logs.h"
#include "master/live_tail.h"

/* 0, or -errno: EINVAL no record begins there, EBADMSG damaged, EOPNOTSUPP compressed, and this master can't. */
int logread_pieces(const struct logfile *file, const struct live_tail *live_tail, const struct msg_log_read *read,
		   struct arena *arena, struct msg_log_data *data);
void logread_refuse(struct log_answer *reply, const struct msg_log_read *read, int result);

#endif
