/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the two sides of the goods: goods_thread.c is the thread's side, goods.c the loop's. */
#ifndef TITAN_MASTER_GOODS_THREAD_H
#define TITAN_MASTER_GOODS_THREAD_H

#include <pthread.h>

#include "master/goods.h"
#include "master/goods_book.h"
#include "proto/limits.h"

struct goods_work {
	enum goods_work_kind kind;
	uint64_t conn;
	struct goods_asker asker;
	enum opcode op;
	size_t bytes;
	union {
		uint64_t id;             /* every request has its id in the same place */
		struct msg_goods_have have;
		struct msg_goods_put put;
		struct msg_goods_pack pack;
		struct msg_goods_read read;
		struct msg_stage_read stage;
		struct msg_set set;
		struct msg_artifacts artifacts;
		uint8_t any[MESSAGE_STRUCT_MAX];
	} msg;
	bool own_only;
	bool dir;                        /* of a worker's request: the input is a directory */
	struct slice contents;           /* of a graph: input records */
	struct row_asset row;
	bool deleted;
	uint64_t job, until;             /* serial number; of JOBS_GONE: of all up to, not including, until */
	struct slice artifacts;          /* job_artifacts record */
	struct arena arena;
	struct goods_work *next;
};

struct goods {
	pthread_t thread;
	pthread_mutex_t lock;            /* guards the fields below, up to ending */
	pthread_cond_t more;
	struct goods_work *first, *last;
	size_t queued;
	struct goods_answer *answers, *last_answer;
	bool ending;

	void (*wake_cb)(void *arg);
	void *wake_arg;
	bool had_artifacts;              /* for the loop: there was a row of a job with artifacts */
	struct goods_book book;          /* used by the thread alone */
};

void *goods_thread_run(void *arg);                       /* the thread's main function; arg: struct goods */
void goods_work_free(struct goods_work *work);

#endif
