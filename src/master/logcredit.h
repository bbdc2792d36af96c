/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two halves of the log store share: logstore.c has the files, logcredit.c what is owed to their workers. */
#ifndef TITAN_MASTER_LOGCREDIT_H
#define TITAN_MASTER_LOGCREDIT_H

#include "master/logfile.h"
#include "master/logstore.h"

struct file {
	struct logfile log;
	uint64_t conn;                   /* that sent the latest piece */
	bool credit_due[2];              /* for stdout, stderr */
	bool ended;                      /* forget it once it is synced */
	struct live_tail live_tail;
	bool complained;
	struct file *chain;              /* other attempts of the same job */
	struct file *newer, *older;      /* by use */
	struct file *touched_next;       /* has credit to give */
	bool touched;
	struct file *dirty_next;
	bool listed_dirty;
	int64_t retry_ns;                /* its last sync failed: not before then; else 0 */
};

/* logstore.c */
void file_forget(struct logstore *logstore, struct file *file);      /* what it has to give was given */
void file_complain(struct file *file, int result, const char *what);     /* once */

/* logcredit.c */
/* For these pieces credit is due, and a sync when they were written. */
void credit_mark(struct logstore *logstore, struct file *file, const struct rec_output *items, size_t count);
/* In the next frame: so much of this stream has been received, or is on disk. */
struct credit *credit_add(struct logstore *logstore, const struct file *file, int stream, bool synced);
void credit_unlist(struct logstore *logstore, struct file *file);    /* it needs no sync any more */
/* It isn't lost: in a while its worker is asked for it again, and until then its job waits. */
void credit_stuck(struct logstore *logstore);
void credit_ask_again(struct logstore *logstore);

#endif
