/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The contents of assets and artifacts: a thread that keeps them on disk and answers requests about them, in order. The loop never waits
 * for it. A version of an asset or the artifacts of a job are put by the core, after the thread found that all contents are there.
 */
#ifndef TITAN_MASTER_GOODS_H
#define TITAN_MASTER_GOODS_H

#include "base/buf.h"
#include "core/rows/outbox.h"
#include "proto/message.h"

struct goods;

enum goods_work_kind {
	GOODS_FRAME, GOODS_CHECK, GOODS_GRAPH, GOODS_STAGE, GOODS_ARTIFACTS, GOODS_ROWS, GOODS_JOB, GOODS_JOBS_GONE, GOODS_SWEEP,
};

struct goods_answer {
	uint64_t conn;                   /* 0: no client asked */
	struct buf frames;               /* encoded frames */
	bool checked;                    /* the answer belongs to goods_check: set may go to the core unless frames has an ERROR */
	struct msg_set set;              /* its texts are in arena */
	bool own_only;                   /* as given to goods_check */
	bool of_graph;                   /* the answer belongs to goods_check_graph, and fault to the graph with this id */
	uint64_t id;
	struct error fault;
	/* the answer belongs to goods_check_artifacts: they may go to the core unless frames has an ERROR; the hash is in arena */
	bool named;
	uint64_t request, size, files, manifest_size;
	struct slice hash;
	struct arena arena;
	struct goods_answer *next;
};

struct goods_sender {                    /* who sends a request */
	uint64_t conn;
	struct slice name;               /* name of the principal */
	bool all;                        /* it sees everything */
};

/* Open the directory. wake_cb is called on the thread when goods_take has an answer. */
enum err goods_open(const char *dir, void (*wake_cb)(void *arg), void *arg, struct goods **ret_goods, struct error *error);
void goods_close(struct goods *goods);                   /* finishes what is queued; goods may be NULL */

/* Queue a request; body is copied. An error means that the frame is malformed. */
enum err goods_frame(struct goods *goods, const struct goods_sender *sender, enum opcode op, struct slice body, struct error *error);
/* Queue a check of all contents that a PUT of an asset names. */
void goods_check(struct goods *goods, const struct goods_sender *sender, const struct msg_set *set, bool own_only);
/* Queue a check of the contents that a submitted graph names, as input records. */
void goods_check_graph(struct goods *goods, const struct goods_sender *sender, uint64_t id, struct slice contents);
/* Queue a worker's request for contents of an attempt's input, after a check that the worker has this attempt. dir: it is a directory. */
void goods_stage(struct goods *goods, const struct goods_sender *sender, const struct msg_stage_read *msg, bool dir);
/* Queue a check of all contents that a job names as its artifacts. */
void goods_check_artifacts(struct goods *goods, const struct goods_sender *sender, uint64_t request, struct slice hash);
/* A row of an asset or a job is durable, or its removal. */
void goods_row(struct goods *goods, const struct row *row);
void goods_sweep(struct goods *goods);                   /* remove contents that nothing names */
size_t goods_queued(struct goods *goods);                /* bytes of requests that wait */
/* Take the next answer, to be freed with goods_answer_free; NULL: there is none. */
struct goods_answer *goods_take(struct goods *goods);
void goods_answer_free(struct goods_answer *answer);

#endif
