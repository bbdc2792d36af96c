/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the halves of the log store: logstore.c has the files, logcredit.c the credit that workers must be sent. */
#ifndef TITAN_MASTER_LOGCREDIT_H
#define TITAN_MASTER_LOGCREDIT_H

#include "master/logfile.h"
#include "master/logstore.h"

struct file {
	struct logfile log;
	uint64_t conn;                   /* the connection that sent the latest piece */
	bool credit_due[2];              /* credit for stdout or stderr must be sent */
	bool ended;                      /* the attempt has ended: its file is closed and forgotten once it is synced */
	struct live_tail live_tail;
	bool complained;
	struct file *chain;              /* the file of another attempt of the same job */
	struct file *newer, *older;      /* links in the list of files in the order of last use */
	struct file *touched_next;       /* next in the list of files that have credit to send */
	bool touched;
	struct file *dirty_next;
	bool listed_dirty;
	int64_t retry_ns;                /* when to retry after a failed sync; 0: none failed */
};

/* logstore.c */
/* Forget a file when all its credit has been sent. */
void file_forget(struct logstore *logstore, struct file *file);
/* Log an error of this file, only the first one. */
void file_complain(struct file *file, int result, const char *what);

/* logcredit.c */
/* Note that credit is due for these pieces, and that the file needs a sync. */
void credit_mark(struct logstore *logstore, struct file *file, const struct rec_output *items, size_t count);
/* Add a credit to the next frame: this much of the stream has been received, or is on disk. */
struct credit *credit_add(struct logstore *logstore, const struct file *file, int stream, bool synced);
void credit_unlist(struct logstore *logstore, struct file *file);    /* take the file off the list of files to sync */
/*
 * Called when a lossless job's output couldn't be written. Nothing is lost: its worker is asked again later,
 * and the job waits.
 */
void credit_stuck(struct logstore *logstore);
void credit_ask_again(struct logstore *logstore);

#endif
