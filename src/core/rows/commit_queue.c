/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of reveals: first in, first out, and never before a turn's rows are durable. This is the only place with
 * that rule, for both the master and the simulator.
 */
#include "core/rows/outbox.h"

#include "base/check.h"
#include "base/planted.h"

bool commit_queue_add(struct commit_queue *commits, struct outbox *outbox)
{
	CHECK(!commits->last || commits->last->turn < outbox->turn);
	CHECK(outbox->turn > commits->durable);
	outbox->next = NULL;
	if (commits->last)
		commits->last->next = outbox;
	else
		commits->first = outbox;
	commits->last = outbox;
	commits->depth++;
	return outbox->row_count > 0;
}

void commit_queue_committed(struct commit_queue *commits, uint64_t turn)
{
	CHECK(turn > commits->durable);
	CHECK(commits->last && turn <= commits->last->turn);
	commits->durable = turn;
}

struct outbox *commit_queue_reveal(struct commit_queue *commits)
{
	struct outbox *outbox = commits->first;

	/* A turn without rows needs no commit: it waits only until the turns before it are revealed. */
	if (!outbox || (!PLANTED(ack_before_commit) && outbox->row_count > 0 && outbox->turn > commits->durable))
		return NULL;
	commits->first = outbox->next;
	if (!commits->first)
		commits->last = NULL;
	commits->depth--;
	outbox->next = NULL;
	return outbox;
}
