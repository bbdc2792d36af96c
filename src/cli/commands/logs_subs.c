/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sub-runs of a run whose output is followed. Each has a subscription of its own, on the connection of the run's. A
 * connection may have few, so with more sub-runs than that they take turns: the one that was subscribed first makes room.
 */
#include "cli/ask/ask.h"
#include "cli/commands/logs_many.h"

#define SUBS_AT_ONCE 12                  /* most subscriptions to sub-runs; the master allows 16 for a connection */

static struct sub_logs *find(const struct many *many, uint64_t id)
{
	for (size_t i = 0; id != 0 && i < many->sub_count; i++)
		if (many->subs[i]->id == id)
			return many->subs[i];
	return NULL;                     /* the answer to a request that isn't of interest any more */
}

static void take_rows(struct many *many, struct sub_logs *sub, const struct rec_run_row *runs, size_t run_count,
		      const struct rec_job_row *jobs, size_t job_count)
{
	for (size_t i = 0; i < run_count; i++)
		sub->ended |= runs[i].run == sub->run && runs[i].ended_ms != 0;
	many->within = sub;
	for (size_t i = 0; i < job_count; i++)
		if (jobs[i].run == sub->run)
			many_take_row(many, &jobs[i]);
	many->within = NULL;
}

void subs_take_snapshot(struct many *many, const struct msg_snapshot *snapshot)
{
	struct sub_logs *sub = find(many, snapshot->id);

	if (!sub)
		return;
	take_rows(many, sub, snapshot->runs.at, snapshot->runs.n, snapshot->jobs.at, snapshot->jobs.n);
	sub->known |= snapshot->cursor == 0;
	sub->seen |= sub->known;
	sub->over |= sub->known && sub->ended;
}

void subs_take_delta(struct many *many, const struct msg_delta *delta)
{
	struct sub_logs *sub = find(many, delta->id);

	if (!sub)
		return;
	take_rows(many, sub, delta->runs.at, delta->runs.n, delta->jobs.at, delta->jobs.n);
	sub->known &= !delta->cut;
	sub->over |= sub->known && sub->ended && delta->resume != 0;     /* otherwise more rows of the turn follow */
}

enum err subs_take_error(struct many *many, const struct msg_error *error)
{
	struct sub_logs *sub = find(many, error->id);

	/* The sub-run was pruned, or may not be seen. Its jobs so far are followed to their ends. */
	if (sub)
		sub->seen = sub->over = true;
	return ERR_NONE;
}

static enum err end_one(struct many *many, struct sub_logs *sub)
{
	struct msg_unsubscribe msg = { .id = sub->id };

	/* The message's id is that of the subscription, which is what cli_send sets as well. */
	enum err err = cli_send(many->cli, OP_UNSUBSCRIBE, &msg, sub->id);

	sub->id = 0;
	sub->known = false;
	return err;
}

static enum err begin_one(struct many *many, struct sub_logs *sub)
{
	struct msg_subscribe msg = { .what = QUERY_JOBS, .run = sub->run };

	sub->id = client_next_id(many->cli->client);
	return cli_send(many->cli, OP_SUBSCRIBE, &msg, sub->id);
}

/* Make room by ending the oldest subscription whose rows are known. Return false if there is none. */
static bool make_room(struct many *many, enum err *ret_err)
{
	struct sub_logs *oldest = NULL;

	for (size_t i = 0; i < many->sub_count; i++)
		if (many->subs[i]->known && (!oldest || many->subs[i]->id < oldest->id))
			oldest = many->subs[i];
	if (oldest)
		*ret_err = end_one(many, oldest);
	return oldest != NULL;
}

enum err subs_subscribe(struct many *many)
{
	size_t at_once = 0, count = many->sub_count;
	enum err err = ERR_NONE;

	for (size_t i = 0; err == ERR_NONE && i < count; i++) {
		struct sub_logs *sub = many->subs[i];

		if (sub->id != 0 && sub->over)
			err = end_one(many, sub);
		at_once += sub->id != 0;
	}
	for (size_t i = 0; err == ERR_NONE && i < count; i++) {
		size_t at = (many->subs_next + i) % count;

		if (many->subs[at]->id != 0 || many->subs[at]->over)
			continue;
		if (at_once == SUBS_AT_ONCE && !make_room(many, &err)) {
			many->subs_next = at;
			break;
		}
		if (err == ERR_NONE)
			err = begin_one(many, many->subs[at]);
		at_once += at_once < SUBS_AT_ONCE;
	}
	return err == ERR_NONE ? client_flush(many->cli->client, &many->cli->error) : err;
}

void subs_lost(struct many *many)
{
	for (size_t i = 0; i < many->sub_count; i++) {
		many->subs[i]->id = 0;
		many->subs[i]->known = false;
	}
}

bool subs_seen(const struct many *many)
{
	for (size_t i = 0; i < many->sub_count; i++)
		if (!many->subs[i]->seen)
			return false;
	return true;
}

bool subs_over(const struct many *many)
{
	for (size_t i = 0; i < many->sub_count; i++)
		if (!many->subs[i]->over)
			return false;
	return true;
}
