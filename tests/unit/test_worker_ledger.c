/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worker's ledger: each function, and the promises that the simulator relies on. */
#include "worker/ledger.h"

#include <string.h>

#include "greatest.h"
#include "proto/limits.h"

GREATEST_MAIN_DEFS();

static struct ledger *ledger;

static void setup_cb(void *data)
{
	(void)data;
	ledger = ledger_new(2);
	ledger_lease(ledger, 1000);
}

static void teardown_cb(void *data)
{
	(void)data;
	ledger_check(ledger);
	ledger_free(ledger);
}

static struct ledger_entry *take(uint64_t job, uint64_t epoch)
{
	struct ledger_entry *entry = NULL;

	if (ledger_assign(ledger, job, epoch, false, (void *)(uintptr_t)(job * 100 + epoch), &entry) != LEDGER_TAKEN)
		return NULL;
	return entry;
}

static struct ledger_entry *start(uint64_t job, uint64_t epoch)
{
	struct ledger_entry *entry = take(job, epoch);

	ledger_started(ledger, entry);
	return entry;
}

static void end(struct ledger_entry *entry, enum outcome outcome)
{
	struct rec_done done = { .job = entry->job, .epoch = entry->epoch, .outcome = outcome };

	ledger_ended(ledger, entry, &done);
}

TEST assign_takes_once(void)
{
	struct ledger_entry *entry = take(7, 3), *other = entry;

	ASSERT(entry);
	ASSERT_EQ(PHASE_QUEUED, entry->phase);
	ASSERT_EQ(7, entry->job);
	ASSERT_EQ(3, entry->epoch);
	ASSERT_FALSE(entry->stopping);
	ASSERT_EQ(LEDGER_DUPLICATE, ledger_assign(ledger, 7, 3, false, NULL, &other));
	ASSERT_EQ(LEDGER_STALE, ledger_assign(ledger, 7, 2, false, NULL, &other));
	ASSERT_EQ(entry, other);
	ASSERT_EQ(1, ledger_queued(ledger));
	ASSERT_EQ(entry, ledger_find(ledger, 7, 3));
	ASSERT_EQ(NULL, ledger_find(ledger, 7, 4));
	ASSERT_EQ(NULL, ledger_find(ledger, 8, 3));
	PASS();
}

TEST duplicate_of_an_older_epoch_that_is_known(void)
{
	struct ledger_entry *entry = NULL;

	start(7, 3);
	take(7, 4);
	ASSERT_EQ(LEDGER_DUPLICATE, ledger_assign(ledger, 7, 3, false, NULL, &entry));
	ASSERT_EQ(NULL, entry);
	PASS();
}

TEST stale_while_the_result_is_kept(void)
{
	struct ledger_entry *entry = NULL;

	end(start(7, 3), OUTCOME_EXIT);
	ASSERT_EQ(LEDGER_STALE, ledger_assign(ledger, 7, 2, false, NULL, &entry));
	ASSERT_EQ(LEDGER_DUPLICATE, ledger_assign(ledger, 7, 3, false, NULL, &entry));
	PASS();
}

TEST next_is_the_oldest(void)
{
	struct ledger_entry *a = take(3, 1), *b = take(1, 1);

	ASSERT_EQ(a, ledger_next(ledger, 0));
	ASSERT_EQ(a, ledger_next(ledger, 0));
	ledger_started(ledger, a);
	ASSERT_EQ(PHASE_RUNNING, a->phase);
	ASSERT_EQ(b, ledger_next(ledger, 0));
	ASSERT_EQ(1, ledger_running(ledger));
	ASSERT_EQ(1, ledger_queued(ledger));
	PASS();
}

TEST next_needs_a_slot(void)
{
	struct ledger_entry *a = start(1, 1), *c;

	start(2, 1);
	c = take(3, 1);
	ASSERT_EQ(NULL, ledger_next(ledger, 0));
	end(a, OUTCOME_EXIT);
	ASSERT_EQ(c, ledger_next(ledger, 0));
	ASSERT_EQ(1, ledger_running(ledger));
	PASS();
}

TEST next_needs_a_lease(void)
{
	struct ledger *other = ledger_new(1);
	struct ledger_entry *entry = NULL;

	ASSERT_EQ(LEDGER_TAKEN, ledger_assign(other, 1, 1, false, NULL, &entry));
	ASSERT_EQ(NULL, ledger_next(other, INT64_MIN));
	ASSERT_EQ(NULL, ledger_next(other, 0));
	ASSERT_FALSE(ledger_has_lease(other, 0));
	ledger_lease(other, 50);
	ASSERT_EQ(entry, ledger_next(other, 49));
	ASSERT_EQ(NULL, ledger_next(other, 50));
	ledger_lease(other, 40);
	ASSERT(ledger_has_lease(other, 49));
	ledger_lease(other, 60);
	ASSERT_EQ(entry, ledger_next(other, 59));
	ASSERT_EQ(NULL, ledger_next(other, 60));
	ledger_free(other);
	PASS();
}

TEST exclusive_ends_with_the_lease(void)
{
	struct ledger *other = ledger_new(2);
	struct ledger_entry *plain = NULL, *exclusive = NULL;

	ledger_lease(other, 50);
	ASSERT_EQ(LEDGER_TAKEN, ledger_assign(other, 1, 1, false, NULL, &plain));
	ASSERT_EQ(LEDGER_TAKEN, ledger_assign(other, 2, 1, true, NULL, &exclusive));
	ledger_started(other, plain);
	ASSERT_EQ(TIME_NEVER, ledger_lease_end(other));
	ASSERT_EQ(NULL, ledger_overdue(other, 50));
	ledger_started(other, exclusive);
	ASSERT_EQ(50, ledger_lease_end(other));
	ASSERT_EQ(NULL, ledger_overdue(other, 49));
	ASSERT_EQ(exclusive, ledger_overdue(other, 50));
	ASSERT_EQ(LEDGER_STOP_SIGNAL, ledger_stop(other, 2, 1, &exclusive));
	ASSERT_EQ(NULL, ledger_overdue(other, 50));
	ASSERT_EQ(TIME_NEVER, ledger_lease_end(other));
	ledger_free(other);
	PASS();
}

TEST exclusive_ends_with_the_lease_whatever_runs_beside_it(void)
{
	struct ledger *other = ledger_new(3);
	struct ledger_entry *entries[3] = { NULL };

	ledger_lease(other, 50);
	for (size_t i = 0; i < 3; i++) {
		ASSERT_EQ(LEDGER_TAKEN, ledger_assign(other, i + 1, 1, i < 2, NULL, &entries[i]));
		ledger_started(other, entries[i]);
	}
	ASSERT_EQ(entries[0], ledger_overdue(other, 50));
	ASSERT_EQ(LEDGER_STOP_SIGNAL, ledger_stop(other, 1, 1, &entries[0]));
	ASSERT_EQ(entries[1], ledger_overdue(other, 50));
	ASSERT_EQ(50, ledger_lease_end(other));
	ASSERT_EQ(LEDGER_STOP_SIGNAL, ledger_stop(other, 2, 1, &entries[1]));
	ASSERT_EQ(TIME_NEVER, ledger_lease_end(other));
	ledger_free(other);
	PASS();
}

TEST newer_epoch_waits_for_the_older(void)
{
	struct ledger_entry *old = start(7, 1), *new = take(7, 2), *other = take(8, 1);

	ASSERT_EQ(other, ledger_next(ledger, 0));
	ASSERT_EQ(LEDGER_STOP_SIGNAL, ledger_stop(ledger, 7, 1, &old));
	ASSERT_EQ(other, ledger_next(ledger, 0));
	end(old, OUTCOME_STOPPED);
	ASSERT_EQ(new, ledger_next(ledger, 0));
	PASS();
}

TEST overtaken_while_queued_never_starts(void)
{
	struct ledger_entry *old = take(7, 1), *new;

	ASSERT_EQ(NULL, ledger_superseded(ledger, 7));
	new = take(7, 2);
	ASSERT_EQ(new, ledger_next(ledger, 0));
	ASSERT_EQ(old, ledger_superseded(ledger, 7));
	ASSERT_EQ(NULL, ledger_superseded(ledger, 8));
	end(old, OUTCOME_RECALLED);
	ASSERT_EQ(NULL, ledger_superseded(ledger, 7));
	PASS();
}

/* Newer epochs that have ended and aren't acknowledged don't hide an older one. */
TEST epochs_are_looked_at_through_what_has_ended(void)
{
	struct ledger_entry *oldest = start(7, 1);

	end(take(7, 2), OUTCOME_RECALLED);
	take(7, 3);
	ASSERT_EQ(NULL, ledger_next(ledger, 0));
	end(oldest, OUTCOME_EXIT);
	oldest = take(8, 1);
	end(take(8, 2), OUTCOME_RECALLED);
	take(8, 3);
	ASSERT_EQ(oldest, ledger_superseded(ledger, 8));
	PASS();
}

TEST ended_keeps_the_result(void)
{
	struct ledger_entry *entry = start(7, 1);
	struct rec_done done = { .job = 7, .epoch = 1, .outcome = OUTCOME_EXIT, .code = 3, .run_ns = 9 };

	ledger_ended(ledger, entry, &done);
	ASSERT_EQ(PHASE_ENDED, entry->phase);
	ASSERT_EQ(3, entry->result.code);
	ASSERT_EQ(9, entry->result.run_ns);
	ASSERT_EQ(0, ledger_running(ledger));
	ASSERT_EQ(entry, ledger_first(ledger, PHASE_ENDED));
	PASS();
}

TEST ended_from_the_queue(void)
{
	end(take(7, 1), OUTCOME_SPAWN);
	ASSERT_EQ(0, ledger_queued(ledger));
	ASSERT_EQ(NULL, ledger_next(ledger, 0));
	PASS();
}

TEST ack_forgets_only_what_ended(void)
{
	struct ledger_entry *entry;
	void *owner = NULL;

	ASSERT_FALSE(ledger_ack(ledger, 7, 1, &owner));
	entry = take(7, 1);
	ASSERT_FALSE(ledger_ack(ledger, 7, 1, &owner));
	ledger_started(ledger, entry);
	ASSERT_FALSE(ledger_ack(ledger, 7, 1, &owner));
	ASSERT_EQ(NULL, owner);
	end(entry, OUTCOME_EXIT);
	ASSERT_FALSE(ledger_ack(ledger, 7, 2, &owner));
	ASSERT(ledger_ack(ledger, 7, 1, &owner));
	ASSERT_EQ(701, (uintptr_t)owner);
	ASSERT_FALSE(ledger_ack(ledger, 7, 1, &owner));
	ASSERT_EQ(NULL, ledger_find(ledger, 7, 1));
	ASSERT_EQ(NULL, ledger_first(ledger, PHASE_ENDED));
	PASS();
}

TEST ack_anywhere_in_a_jobs_chain(void)
{
	void *owner;

	end(start(7, 1), OUTCOME_EXIT);
	end(start(7, 2), OUTCOME_EXIT);
	end(start(7, 3), OUTCOME_EXIT);
	ledger_check(ledger);
	ASSERT(ledger_ack(ledger, 7, 2, &owner));
	ledger_check(ledger);
	ASSERT(ledger_find(ledger, 7, 1));
	ASSERT(ledger_ack(ledger, 7, 3, &owner));
	ledger_check(ledger);
	ASSERT(ledger_find(ledger, 7, 1));
	ASSERT(ledger_ack(ledger, 7, 1, &owner));
	ASSERT_EQ(NULL, ledger_find(ledger, 7, 1));
	PASS();
}

TEST stop_by_phase(void)
{
	struct ledger_entry *entry = NULL, *queued = take(7, 1), *running = start(8, 1);

	ASSERT_EQ(LEDGER_STOP_NOTHING, ledger_stop(ledger, 9, 1, &entry));
	ASSERT_EQ(LEDGER_STOP_NOTHING, ledger_stop(ledger, 7, 2, &entry));
	ASSERT_EQ(NULL, entry);
	ASSERT_EQ(LEDGER_STOP_DROPPED, ledger_stop(ledger, 7, 1, &entry));
	ASSERT_EQ(queued, entry);
	end(entry, OUTCOME_STOPPED);
	ASSERT_EQ(LEDGER_STOP_NOTHING, ledger_stop(ledger, 7, 1, &entry));
	ASSERT_EQ(LEDGER_STOP_SIGNAL, ledger_stop(ledger, 8, 1, &entry));
	ASSERT_EQ(running, entry);
	ASSERT(running->stopping);
	ASSERT_EQ(1, ledger_running(ledger));
	PASS();
}

TEST recall_only_what_is_queued(void)
{
	struct ledger_entry *entry = NULL, *queued = take(7, 1);

	ASSERT_FALSE(ledger_recall(ledger, 8, 1, &entry));
	start(8, 1);
	ASSERT_FALSE(ledger_recall(ledger, 8, 1, &entry));
	ASSERT_EQ(NULL, entry);
	ASSERT(ledger_recall(ledger, 7, 1, &entry));
	ASSERT_EQ(queued, entry);
	end(entry, OUTCOME_RECALLED);
	ASSERT_FALSE(ledger_recall(ledger, 7, 1, &entry));
	PASS();
}

TEST lists_are_oldest_first(void)
{
	uint64_t seen = 0;

	take(5, 1);
	take(4, 1);
	take(6, 1);
	end(ledger_find(ledger, 4, 1), OUTCOME_RECALLED);
	take(4, 2);
	for (struct ledger_entry *entry = ledger_first(ledger, PHASE_QUEUED); entry; entry = entry->next)
		seen = seen * 10 + entry->job;
	ASSERT_EQ(564, seen);
	PASS();
}

/* --- what is asked for --- */

static struct resource_list resources(const char *name, uint64_t amount)
{
	struct resource_list list = { .n = 1, .at = { { .amount = amount } } };

	strcpy(list.at[0].name, name);
	return list;
}

static struct ledger_entry *take_asking(uint64_t job, const char *name, uint64_t amount)
{
	struct ledger_entry *entry = take(job, 1);
	const struct resource_list asks = resources(name, amount);

	ledger_ask(ledger, entry, &asks);
	return entry;
}

TEST next_needs_what_it_asks_for(void)
{
	const struct resource_list offers = resources("tape", 3), none = { 0 };
	struct ledger_entry *first, *large, *small, *plain;

	ledger_offer(ledger, &offers);
	first = take_asking(1, "tape", 2);
	large = take_asking(2, "tape", 2);
	small = take_asking(3, "tape", 1);
	plain = take(4, 1);
	ledger_ask(ledger, plain, &none);
	ASSERT_EQ(NULL, plain->asks);
	ASSERT_EQ(first, ledger_next(ledger, 0));
	ledger_started(ledger, first);
	/* the job that asks for less fits into the free resources, and goes first */
	ASSERT_EQ(small, ledger_next(ledger, 0));
	end(small, OUTCOME_RECALLED);
	ASSERT_EQ(plain, ledger_next(ledger, 0));
	end(first, OUTCOME_EXIT);
	ASSERT_EQ(large, ledger_next(ledger, 0));
	PASS();
}

/* An attempt that an earlier keeper started uses its resources as well. */
TEST what_runs_already_has_what_it_asks_for(void)
{
	const struct resource_list offers = resources("tape", 1), asks = resources("tape", 1);
	struct ledger_entry *adopted, *next;

	ledger_offer(ledger, &offers);
	adopted = start(1, 1);
	ledger_ask(ledger, adopted, &asks);
	next = take_asking(2, "tape", 1);
	ASSERT_EQ(NULL, ledger_next(ledger, 0));
	end(adopted, OUTCOME_EXIT);
	ASSERT_EQ(next, ledger_next(ledger, 0));
	PASS();
}

TEST as_many_kinds_are_offered_as_there_may_be(void)
{
	struct resource_list offers = { .n = LIMIT_RESOURCES_MAX };
	struct ledger_entry *last;

	for (size_t i = 0; i < offers.n; i++)
		offers.at[i] = (struct resource){ .name = { (char)('a' + i) }, .amount = 1, .used = 1 };
	ledger_offer(ledger, &offers);
	last = take_asking(1, (char[]){ (char)('a' + LIMIT_RESOURCES_MAX - 1), '\0' }, 1);
	ASSERT_EQ(last, ledger_next(ledger, 0)); /* at the start of a ledger none of the worker's resources is in use */
	PASS();
}

SUITE(ledger_suite)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(assign_takes_once);
	RUN_TEST(duplicate_of_an_older_epoch_that_is_known);
	RUN_TEST(stale_while_the_result_is_kept);
	RUN_TEST(next_is_the_oldest);
	RUN_TEST(next_needs_a_slot);
	RUN_TEST(next_needs_a_lease);
	RUN_TEST(exclusive_ends_with_the_lease);
	RUN_TEST(exclusive_ends_with_the_lease_whatever_runs_beside_it);
	RUN_TEST(newer_epoch_waits_for_the_older);
	RUN_TEST(overtaken_while_queued_never_starts);
	RUN_TEST(epochs_are_looked_at_through_what_has_ended);
	RUN_TEST(ended_keeps_the_result);
	RUN_TEST(ended_from_the_queue);
	RUN_TEST(ack_forgets_only_what_ended);
	RUN_TEST(ack_anywhere_in_a_jobs_chain);
	RUN_TEST(stop_by_phase);
	RUN_TEST(recall_only_what_is_queued);
	RUN_TEST(lists_are_oldest_first);
	RUN_TEST(next_needs_what_it_asks_for);
	RUN_TEST(what_runs_already_has_what_it_asks_for);
	RUN_TEST(as_many_kinds_are_offered_as_there_may_be);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(ledger_suite);
	GREATEST_MAIN_END();
}
