/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of reveals: first in, first out, and never before a turn's rows are durable. This is the only place with
 * that rule, for both the master and the simulator.
 */
#include "core/rows/outbox.h"

#include "base/check.h"
#include "base/planted.h"

bool pipeline_add(struct commit_queue *pipeline, struct outbox *outbox)
{
	CHECK(!pipeline->last || pipeline->last->turn < outbox->turn);
	CHECK(outbox->turn > pipeline->durable);
	outbox->next = NULL;
	if (pipeline->last)
		pipeline->last->next = outbox;
	else
		pipeline->first = outbox;
	pipeline->last = outbox;
	pipeline->depth++;
	return outbox->row_count > 0;
}

void pipeline_committed(struct commit_queue *pipeline, uint64_t turn)
{
	CHECK(turn > pipeline->durable);
	CHECK(pipeline->last && turn <= pipeline->last->turn);
	pipeline->durable = turn;
}

struct outbox *pipeline_reveal(struct commit_queue *pipeline)
{
	struct outbox *outbox = pipeline->first;

	/* A turn without rows waits only until those before it are revealed. */
	if (!outbox || (!PLANTED(ack_before_commit) && outbox->row_count > 0 && outbox->turn > pipeline->durable))
		return NULL;
	pipeline->first = outbox->next;
	if (!pipeline->first)
		pipeline->last = NULL;
	pipeline->depth--;
	outbox->next = NULL;
	return outbox;
}
