/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ledger: which attempts a worker has, and which may start. Pure, so that the simulator can run the same code: no
 * processes, no files, no clock. The keeper asks it which attempt to start.
 *
 * An attempt is queued (prefetched), running, or ended (its result is kept until the master has it). A newer epoch of a
 * job never starts while an older one runs here. An attempt starts only with a valid lease, when all the resources
 * that it asks for are free and all its files are in place; another one queued behind it may go first.
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
	bool stopping;                   /* the attempt was asked to end */
	/* the attempt must not run without a lease, because the job may have been started elsewhere */
	bool exclusive;
	bool staging;                    /* its files aren't in place yet, so it may not start */
	struct resource *asks;           /* resources that the attempt asks for; NULL: a slot is enough */
	size_t ask_count;
	struct rec_done result;          /* result of the attempt, valid when it has ended */
	void *owner;                     /* the keeper's struct attempt for this entry */
	struct ledger_entry *prev, *next;    /* links in the list of attempts in the same phase, oldest first */
};

enum ledger_verdict { LEDGER_TAKEN, LEDGER_DUPLICATE, LEDGER_STALE };
enum ledger_stop { LEDGER_STOP_NOTHING, LEDGER_STOP_DROPPED, LEDGER_STOP_SIGNAL };

struct ledger *ledger_new(uint32_t slots);
void ledger_free(struct ledger *ledger);
/* Set what the worker offers, once at the start; without this call it offers nothing. */
void ledger_offer(struct ledger *ledger, const struct resource_list *offers);

/* Add a queued attempt. STALE: a newer epoch of the job is known here. *ret_entry is set only for TAKEN. */
enum ledger_verdict ledger_assign(struct ledger *ledger, uint64_t job, uint64_t epoch, bool exclusive,
				  void *owner, struct ledger_entry **ret_entry);
/*
 * Set the resources that the attempt takes while it runs. The entry may be running already, if an earlier
 * keeper started it.
 */
void ledger_ask(struct ledger *ledger, struct ledger_entry *entry, const struct resource_list *asks);
/* A queued attempt must wait for its files; later they are in place. */
void ledger_stage(struct ledger_entry *entry);
void ledger_staged(struct ledger_entry *entry);
struct ledger_entry *ledger_find(const struct ledger *ledger, uint64_t job, uint64_t epoch);

/* The attempt to start now: the oldest that fits, if a slot is free and the lease is valid; otherwise NULL. */
struct ledger_entry *ledger_next(struct ledger *ledger, int64_t now_ns);
/* A queued attempt of the job that a newer epoch has replaced, or NULL. The caller reports it as RECALLED. */
struct ledger_entry *ledger_superseded(const struct ledger *ledger, uint64_t job);
void ledger_started(struct ledger *ledger, struct ledger_entry *entry);
/* Move an attempt to ENDED, from running or queued, and free its slot and resources. */
void ledger_ended(struct ledger *ledger, struct ledger_entry *entry, const struct rec_done *result);
/*
 * Forget an ended attempt, because the master has its result. *ret_owner gets its owner. False: there is no such
 * attempt, or it hasn't ended.
 */
bool ledger_ack(struct ledger *ledger, uint64_t job, uint64_t epoch, void **ret_owner);

/*
 * Stop an attempt. DROPPED: it was queued, and the caller reports it as ended (STOPPED). SIGNAL: it runs, and the
 * caller signals it.
 */
enum ledger_stop ledger_stop(struct ledger *ledger, uint64_t job, uint64_t epoch, struct ledger_entry **ret_entry);
/* Take a queued attempt back. True: the caller reports it as ended (RECALLED). */
bool ledger_recall(struct ledger *ledger, uint64_t job, uint64_t epoch, struct ledger_entry **ret_entry);

/* Extend the lease to until_ns (monotonic). Before the first call there is no lease; it never gets shorter. */
void ledger_lease(struct ledger *ledger, int64_t until_ns);
/* The end of the lease; TIME_NEVER: no attempt depends on it. */
int64_t ledger_lease_end(const struct ledger *ledger);
/* A running exclusive attempt that wasn't asked to end although the lease is over; or NULL. */
struct ledger_entry *ledger_overdue(const struct ledger *ledger, int64_t now_ns);
bool ledger_has_lease(const struct ledger *ledger, int64_t now_ns);

/* The first entry of the phase's list; continue with ->next. */
struct ledger_entry *ledger_first(const struct ledger *ledger, enum attempt_phase phase);
uint32_t ledger_running(const struct ledger *ledger);
uint32_t ledger_queued(const struct ledger *ledger);
void ledger_check(const struct ledger *ledger);

#endif
