/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The outbox: what one turn produced. Rows must become durable, and frames may be sent only after that. Core fills it
 * between core_turn_begin and core_turn_end; then it is read-only. The store's thread reads the rows; the owner reads
 * the rest. Slices point into its arena or into blobs that it keeps alive.
 */
#ifndef TITAN_CORE_OUTBOX_H
#define TITAN_CORE_OUTBOX_H

#include "base/arena.h"
#include "base/blob.h"
#include "core/rows/row.h"
#include "proto/message.h"

/* A frame, or an item of one: the owner packs neighbouring items for a connection into one frame. */
struct outgoing {
	uint64_t conn;
	enum opcode op;
	bool close;                      /* close the connection after sending this frame */
	union {
		struct msg_accepted accepted;
		struct msg_error error;
		struct msg_ok ok;
		/* its slices are valid until the outbox is cleared */
		struct msg_valued valued;
		struct msg_welcome welcome;
		struct msg_heartbeat heartbeat;
		struct msg_quit quit;
		/* an item of an ASSIGN frame; its specification is valid until the turn ends */
		struct rec_assign assign;
		struct msg_context context;  /* a CONTEXT frame, whose bytes are valid until the outbox is cleared */
		struct rec_stop stop;        /* an item of STOP */
		struct rec_attempt recall;   /* an item of RECALL */
		struct rec_attempt ack;      /* an item of ACK */
	};
};

enum changed_kind { CHANGED_RUN, CHANGED_RUN_ENDED, CHANGED_JOB, CHANGED_WORKER };

struct changed {                         /* a changed thing, for subscribers; each once a turn */
	enum changed_kind kind;
	uint64_t id;
	uint64_t run;                    /* number of the run to which a changed job belongs */
};

struct outbox {
	uint64_t turn;
	int64_t wall_ms;
	struct row *rows;
	size_t row_count, row_cap;
	struct outgoing *frames;
	size_t frame_count, frame_cap;
	struct changed *changes;
	size_t change_count, change_cap;
	struct blob **blobs;             /* references to blobs, kept until outbox_clear */
	size_t blob_count, blob_cap;
	struct arena arena;
	struct outbox *next;             /* next outbox in the queue in which the owner puts it */
};

/* empty an outbox and keep its memory for later use; a zeroed struct is an empty outbox */
void outbox_clear(struct outbox *outbox);
void outbox_free(struct outbox *outbox);         /* empty an outbox and free its memory */
/* adds a zeroed row, which the caller fills */
struct row *outbox_row(struct outbox *outbox, enum row_table table);
void outbox_own(struct outbox *outbox, struct row *row);         /* copy the row's texts into the outbox's arena */
/* adds a zeroed frame, which the caller fills */
struct outgoing *outbox_frame(struct outbox *outbox, uint64_t conn, enum opcode op);
void outbox_changed(struct outbox *outbox, enum changed_kind kind, uint64_t id, uint64_t run);
/* keep a blob alive until the outbox is cleared; returns its bytes */
struct slice outbox_hold(struct outbox *outbox, struct blob *blob);

/*
 * The order of reveals. Turns go to the store in order, and a turn is revealed when it and all before it are durable.
 * A turn without rows waits for those before it and needs no commit.
 */
struct commit_queue {
	struct outbox *first, *last;     /* turns that are decided and not revealed yet */
	uint64_t durable;                /* number of the latest turn known to be durable */
	size_t depth;
};

bool commit_queue_add(struct commit_queue *commits, struct outbox *outbox);   /* true: give the outbox to the store */
/* The store reports that this turn and all before are durable. */
void commit_queue_committed(struct commit_queue *commits, uint64_t turn);
/* Return the next outbox to reveal, which the caller then owns; NULL: there is none. */
struct outbox *commit_queue_reveal(struct commit_queue *commits);

#endif
