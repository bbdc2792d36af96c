/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a worker knows of its attempts, and what it may do with them. Pure, so that the simulator runs
 * the very same code: no processes, no files, no clock of its own. The keeper asks it what to start.
 *
 * An attempt is queued (sent ahead), running, or ended (its result is kept until the master has it).
 * A job's newer epoch never starts while an older one of it is alive here. Nothing starts without a lease, nor
 * before all that it asks for is free: what is queued behind it and fits goes first.
 */
#ifndef TITAN_WORKER_LEDGER_H
#define TITAN_WORKER_LEDGER_H

#include "base/clock.h"
#include "proto/message.h"
#include "proto/resource.h"

struct ledger;

struct ledger_entry {
	uint64_t job;
	uint64_t epoch;
	enum attempt_phase phase;
	bool stopping;                   /* somebody asked it to end */
	bool exclusive;                  /* may not run when the lease has ended: another may run elsewhere */
	struct resource *asks;           /* NULL: a slot is enough */
	size_t ask_count;
	struct rec_done result;          /* when ended */
	void *owner;                     /* the keeper's record of the process */
	struct ledger_entry *prev, *next;    /* in the list of its phase, oldest first */
};

enum ledger_verdict { LEDGER_TAKEN, LEDGER_DUPLICATE, LEDGER_STALE };
enum ledger_stop { LEDGER_STOP_NOTHING, LEDGER_STOP_DROPPED, LEDGER_STOP_SIGNAL };

struct ledger *ledger_new(uint32_t slots);
void ledger_free(struct ledger *ledger);
void ledger_offer(struct ledger *ledger, const struct resource_list *offers);    /* at the start; without it nothing */

/* STALE: an epoch of the job that is older than one known here. Only TAKEN sets *ret_entry, to a queued one. */
enum ledger_verdict ledger_assign(struct ledger *ledger, uint64_t job, uint64_t epoch, bool exclusive,
				  void *owner, struct ledger_entry **ret_entry);
/* What it takes while it runs. Of one that runs already, too: it was started by an earlier keeper. */
void ledger_ask(struct ledger *ledger, struct ledger_entry *entry, const struct resource_list *asks);
struct ledger_entry *ledger_find(const struct ledger *ledger, uint64_t job, uint64_t epoch);

/* The attempt to start now, or NULL: oldest first, a free slot, a lease that hasn't ended. */
struct ledger_entry *ledger_next(struct ledger *ledger, int64_t now_ns);
/* A queued attempt of the job that a newer epoch has overtaken, or NULL: never started, the caller reports it RECALLED. */
struct ledger_entry *ledger_superseded(const struct ledger *ledger, uint64_t job);
void ledger_started(struct ledger *ledger, struct ledger_entry *entry);
/* Ended (from running, or from queued when it couldn't start or was dropped); frees its slot. */
void ledger_ended(struct ledger *ledger, struct ledger_entry *entry, const struct rec_done *result);
/* The master has the result: forget it. *ret_owner is what the entry held. False if there was none, or it hasn't ended. */
bool ledger_ack(struct ledger *ledger, uint64_t job, uint64_t epoch, void **ret_owner);

/* DROPPED: it was queued; the caller reports it ended (STOPPED). SIGNAL: it runs; the caller signals it. */
enum ledger_stop ledger_stop(struct ledger *ledger, uint64_t job, uint64_t epoch, struct ledger_entry **ret_entry);
/* True: it was queued, and the caller reports it ended (RECALLED). */
bool ledger_recall(struct ledger *ledger, uint64_t job, uint64_t epoch, struct ledger_entry **ret_entry);

/* The lease lasts until then (monotonic); before the first there is none, and it never shrinks. */
void ledger_lease(struct ledger *ledger, int64_t until_ns);
int64_t ledger_lease_end(const struct ledger *ledger);          /* TIME_NEVER while nothing depends on it */
/* A running attempt that must be ended at once because the lease has, and that nobody asked to end; or NULL. */
struct ledger_entry *ledger_overdue(const struct ledger *ledger, int64_t now_ns);
bool ledger_has_lease(const struct ledger *ledger, int64_t now_ns);

struct ledger_entry *ledger_first(const struct ledger *ledger, enum attempt_phase phase);   /* then ->next */
uint32_t ledger_running(const struct ledger *ledger);
uint32_t ledger_queued(const struct ledger *ledger);
void ledger_check(const struct ledger *ledger);

#endif
