/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/reach/placing.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/session/output.h"

#define AT_ONCE  8                       /* most logins at once: sshd refuses more than ten */
/* Queries in a row that find no prefetched job at the old worker: during the first ones, a job may be on its way to it. */
#define QUIET_LOOKS 5
#define LOOK_NS  (100 * NS_PER_MS)       /* time between two queries of whether the workers are connected */

struct placing *placings_add(struct placings *placings)
{
	struct placing *placing = mem_zalloc(sizeof(*placing));

	ssh_call_init(&placing->call);
	placings->at = mem_resize(placings->at, placings->count + 1, sizeof(struct placing *));
	placings->at[placings->count++] = placing;
	return placing;
}

void placings_free(struct placings *placings)
{
	for (size_t i = 0; i < placings->count; i++) {
		struct placing *placing = placings->at[i];

		ssh_call_free(&placing->call);
		buf_free(&placing->details);
		explicit_bzero(&placing->key, sizeof(placing->key));
		mem_free(placing);
	}
	mem_free(placings->at);
}

static bool is_under_way(const struct placing *placing)
{
	return placing->step > PLACING_QUEUED && placing->step < PLACING_DONE;
}

static void begin_queued(struct placings *placings)
{
	size_t logins = 0;

	for (size_t i = 0; i < placings->count; i++)
		logins += is_under_way(placings->at[i]) && placings->at[i]->step != PLACING_UP;
	for (size_t i = 0; i < placings->count && logins < AT_ONCE; i++)
		if (placings->at[i]->step == PLACING_QUEUED) {
			placing_begin(placings, placings->at[i]);
			logins++;
		}
}

/* Does the next step depend on what the master says about the worker? */
static bool is_waiting(const struct placing *placing)
{
	return placing->step == PLACING_UP || placing->step == PLACING_DRAIN;
}

static struct placing *waits_for(struct placings *placings, struct slice name)
{
	for (size_t i = 0; i < placings->count; i++)
		if (is_waiting(placings->at[i]) && slice_eq(name, slice_str(placings->at[i]->machine.name)))
			return placings->at[i];
	return NULL;
}

static void give_up_late(struct placings *placings)
{
	int64_t now_ns = clock_mono_ns();

	for (size_t i = 0; i < placings->count; i++) {
		struct placing *placing = placings->at[i];
		const struct machine *machine = &placing->machine;

		if (!is_waiting(placing) || now_ns < placing->until_ns)
			continue;
		if (placing->step == PLACING_DRAIN) {
			placing_start(placings, placing);
			continue;
		}
		error_set(&placing->error, ERR_TIMEOUT, "the worker was started at %s, but it doesn't connect to the master%s",
			  machine->destination, machine_is_bridged(machine) ? " through ssh" : "");
		error_next(&placing->error, "titan worker logs %s%s", machine->name,
			   machine_is_bridged(machine) ? "; titan doctor" : "");
		placing_fail(placings, placing);
	}
}

static enum err set_worker(struct placings *placings, const struct placing *placing, enum set_verb verb)
{
	struct msg_set set = { .kind = OBJECT_WORKER, .name = slice_str(placing->machine.name), .verb = verb };
	struct msg_ok ok;

	return cli_call(placings->cli, OP_SET, &set, OP_OK, &placings->cli->arena, &ok);
}

enum err placings_resume(struct placings *placings, const struct placing *placing)
{
	return set_worker(placings, placing, SET_RESUME);
}

enum err placings_drain(struct placings *placings, struct placing *placing)
{
	struct msg_query query = { .what = QUERY_WORKERS };

	do {
		struct msg_snapshot page;
		enum err err = cli_query(placings->cli, query, &placings->cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		for (size_t i = 0; i < page.workers.n; i++) {
			const struct rec_worker_row *row = &page.workers.at[i];

			if (row->state != WORKER_UP || !slice_eq(row->name, slice_str(placing->machine.name)))
				continue;
			placing->old_pid = row->pid;
			/* A worker that a person cordoned or drained gets no new jobs anyway, and must stay so. */
			placing->drained = row->standing == STANDING_NONE;
		}
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	return placing->drained ? set_worker(placings, placing, SET_DRAIN) : ERR_NONE;
}

/*
 * Start the new worker once the old one has given back its prefetched jobs. Those would be lost with the old keeper, and a
 * prefetched job with mode: once would end in state unknown. Running jobs go on.
 */
static void look_at_drained(struct placings *placings, struct placing *placing, const struct rec_worker_row *row)
{
	placing->quiet_looks = row->prefetched > 0 ? 0 : placing->quiet_looks + 1;
	if (placing->quiet_looks >= QUIET_LOOKS)
		placing_start(placings, placing);
}

/* Find out which of the started workers are connected by now. */
static enum err look_for_workers(struct placings *placings)
{
	struct msg_query query = { .what = QUERY_WORKERS };

	do {
		struct msg_snapshot page;
		enum err err = cli_query(placings->cli, query, &placings->cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		for (size_t i = 0; i < page.workers.n; i++) {
			const struct rec_worker_row *row = &page.workers.at[i];
			struct placing *placing = waits_for(placings, row->name);

			if (placing != NULL && placing->step == PLACING_DRAIN) {
				look_at_drained(placings, placing, row);
				continue;
			}
			if (placing == NULL || row->state != WORKER_UP || (placing->old_pid != 0 && row->pid == placing->old_pid))
				continue;
			placing->slots = row->slots;
			placing->step = PLACING_DONE;
			if ((placing->was_stopped || placing->drained) && (err = placings_resume(placings, placing)) != ERR_NONE)
				return err;
			cli_note(placings->cli, "%s: %s, %" PRIu64 " slot%s%s", placing->machine.name, placing->result, row->slots,
				 row->slots == 1 ? "" : "s", machine_is_bridged(&placing->machine) ? ", through ssh" : "");
		}
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	give_up_late(placings);
	return ERR_NONE;
}

enum err placings_run(struct placings *placings)
{
	struct ssh_call **calls = mem_array(placings->count + 1, sizeof(*calls));
	enum err err = ERR_NONE;
	size_t busy = placings->count;

	for (size_t i = 0; i < placings->count; i++)
		calls[i] = &placings->at[i]->call;
	while (busy > 0 && err == ERR_NONE) {
		bool waiting = false;

		begin_queued(placings);
		for (size_t i = 0; i < placings->count; i++)
			waiting = waiting || is_waiting(placings->at[i]);
		if (waiting)
			err = look_for_workers(placings);
		if (err == ERR_NONE)
			err = ssh_calls_wait(placings->cli, calls, placings->count, waiting ? clock_mono_ns() + LOOK_NS : TIME_NEVER);
		busy = 0;
		for (size_t i = 0; i < placings->count && err == ERR_NONE; i++) {
			struct placing *placing = placings->at[i];

			if (is_under_way(placing) && !is_waiting(placing) && placing->call.ended)
				placing_go_on(placings, placing);
			busy += placing->step < PLACING_DONE;
		}
	}
	mem_free(calls);
	return err;
}
