/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ledger owns its entries, but not what their owner pointers point to. Every entry is in the list of its phase and
 * in the chain of its job, newest epoch first. The ledger never reads a clock: callers pass the time.
 */
#include "worker/ledger.h"

#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/planted.h"

struct item {
	struct ledger_entry entry;       /* must be first: a pointer to an entry is a pointer to its item */
	struct item *older;              /* entry of the next older epoch of the same job */
};

struct phase_list {
	struct ledger_entry *first, *last;
	uint32_t count;
};

struct ledger {
	uint32_t slots;
	/* the resources that the worker offers, and the amounts that running attempts use */
	struct resource_list offers;
	int64_t lease_until_ns;
	struct map jobs;                 /* maps a job's number to the item of its newest epoch */
	struct phase_list phases[PHASE_ENDED + 1];
};

static struct item *item_of(struct ledger_entry *entry)
{
	return (struct item *)entry;
}

static void list_add(struct ledger *ledger, struct ledger_entry *entry, enum attempt_phase phase)
{
	struct phase_list *list = &ledger->phases[phase];

	entry->phase = phase;
	entry->prev = list->last;
	entry->next = NULL;
	*(list->last ? &list->last->next : &list->first) = entry;
	list->last = entry;
	list->count++;
}

static void list_remove(struct ledger *ledger, struct ledger_entry *entry)
{
	struct phase_list *list = &ledger->phases[entry->phase];

	*(entry->prev ? &entry->prev->next : &list->first) = entry->next;
	*(entry->next ? &entry->next->prev : &list->last) = entry->prev;
	list->count--;
}

struct ledger *ledger_new(uint32_t slots)
{
	struct ledger *ledger = mem_zalloc(sizeof(*ledger));

	ledger->slots = slots;
	ledger->lease_until_ns = INT64_MIN;
	return ledger;
}

void ledger_offer(struct ledger *ledger, const struct resource_list *offers)
{
	ledger->offers = *offers;
	for (size_t i = 0; i < ledger->offers.n; i++)
		ledger->offers.at[i].used = 0;
}

static void item_free(struct item *item)
{
	mem_free(item->entry.asks);
	mem_free(item);
}

void ledger_free(struct ledger *ledger)
{
	if (!ledger)
		return;
	for (int phase = PHASE_QUEUED; phase <= PHASE_ENDED; phase++) {
		struct ledger_entry *next;

		for (struct ledger_entry *entry = ledger->phases[phase].first; entry; entry = next) {
			next = entry->next;
			item_free(item_of(entry));
		}
	}
	map_free(&ledger->jobs);
	mem_free(ledger);
}

static struct item *newest(const struct ledger *ledger, uint64_t job)
{
	return map_get(&ledger->jobs, job);
}

struct ledger_entry *ledger_find(const struct ledger *ledger, uint64_t job, uint64_t epoch)
{
	for (struct item *item = newest(ledger, job); item; item = item->older)
		if (item->entry.epoch == epoch)
			return &item->entry;
	return NULL;
}

enum ledger_verdict ledger_assign(struct ledger *ledger, uint64_t job, uint64_t epoch, bool exclusive,
				  void *owner, struct ledger_entry **ret_entry)
{
	struct item *top = newest(ledger, job);
	struct item *item;

	if (ledger_find(ledger, job, epoch))
		return LEDGER_DUPLICATE;
	if (top && top->entry.epoch > epoch)
		return LEDGER_STALE;
	item = mem_zalloc(sizeof(*item));
	item->entry.job = job;
	item->entry.epoch = epoch;
	item->entry.exclusive = exclusive;
	item->entry.owner = owner;
	item->older = top;
	map_put(&ledger->jobs, job, item);
	list_add(ledger, &item->entry, PHASE_QUEUED);
	*ret_entry = &item->entry;
	return LEDGER_TAKEN;
}

void ledger_ask(struct ledger *ledger, struct ledger_entry *entry, const struct resource_list *asks)
{
	CHECK(!entry->asks && entry->phase != PHASE_ENDED);
	if (asks->n == 0)
		return;
	entry->asks = mem_alloc(asks->n * sizeof(*entry->asks));
	memcpy(entry->asks, asks->at, asks->n * sizeof(*entry->asks));
	entry->ask_count = asks->n;
	if (entry->phase == PHASE_RUNNING)
		resources_take(ledger->offers.at, ledger->offers.n, entry->asks, entry->ask_count);
}

void ledger_stage(struct ledger_entry *entry)
{
	CHECK(entry->phase == PHASE_QUEUED);
	entry->staging = true;
}

void ledger_staged(struct ledger_entry *entry)
{
	entry->staging = false;
}

/* Do the other epochs of its job allow the entry to start? It must be the newest, and no older one may be running. */
static bool alone(const struct ledger *ledger, const struct ledger_entry *entry)
{
	const struct item *item = newest(ledger, entry->job);

	if (&item->entry != entry)
		return false;
	for (item = item->older; item; item = item->older)
		if (item->entry.phase == PHASE_RUNNING)
			return false;
	return true;
}

struct ledger_entry *ledger_next(struct ledger *ledger, int64_t now_ns)
{
	if ((!ledger_has_lease(ledger, now_ns) && !PLANTED(start_after_the_lease)) ||
	    ledger->phases[PHASE_RUNNING].count >= ledger->slots)
		return NULL;
	for (struct ledger_entry *entry = ledger->phases[PHASE_QUEUED].first; entry; entry = entry->next)
		if ((!entry->staging || PLANTED(files_not_awaited)) && alone(ledger, entry) &&
		    (PLANTED(ledger_starts_without_room) ||
		     resources_fit(ledger->offers.at, ledger->offers.n, entry->asks, entry->ask_count)))
			return entry;
	return NULL;
}

struct ledger_entry *ledger_superseded(const struct ledger *ledger, uint64_t job)
{
	struct item *item = newest(ledger, job);

	for (item = item ? item->older : NULL; item; item = item->older)
		if (item->entry.phase == PHASE_QUEUED)
			return &item->entry;
	return NULL;
}

void ledger_started(struct ledger *ledger, struct ledger_entry *entry)
{
	CHECK(entry->phase == PHASE_QUEUED);
	list_remove(ledger, entry);
	list_add(ledger, entry, PHASE_RUNNING);
	resources_take(ledger->offers.at, ledger->offers.n, entry->asks, entry->ask_count);
}

void ledger_ended(struct ledger *ledger, struct ledger_entry *entry, const struct rec_done *result)
{
	CHECK(entry->phase != PHASE_ENDED);
	CHECK(result->job == entry->job && result->epoch == entry->epoch && result->outcome != OUTCOME_NONE);
	if (entry->phase == PHASE_RUNNING)
		resources_give(ledger->offers.at, ledger->offers.n, entry->asks, entry->ask_count);
	list_remove(ledger, entry);
	list_add(ledger, entry, PHASE_ENDED);
	entry->result = *result;
	if (PLANTED(spool_dropped_at_send))
		entry->result.epoch &= ~UINT64_C(2);
}

bool ledger_ack(struct ledger *ledger, uint64_t job, uint64_t epoch, void **ret_owner)
{
	struct item *item = newest(ledger, job), *newer = NULL;

	while (item && item->entry.epoch != epoch) {
		newer = item;
		item = item->older;
	}
	if (!item || item->entry.phase != PHASE_ENDED)
		return false;
	if (newer)
		newer->older = item->older;
	else if (item->older)
		map_put(&ledger->jobs, job, item->older);
	else
		map_remove(&ledger->jobs, job);
	list_remove(ledger, &item->entry);
	*ret_owner = item->entry.owner;
	item_free(item);
	return true;
}

enum ledger_stop ledger_stop(struct ledger *ledger, uint64_t job, uint64_t epoch, struct ledger_entry **ret_entry)
{
	struct ledger_entry *entry = ledger_find(ledger, job, epoch);

	if (!entry || entry->phase == PHASE_ENDED)
		return LEDGER_STOP_NOTHING;
	entry->stopping = true;
	*ret_entry = entry;
	return entry->phase == PHASE_QUEUED ? LEDGER_STOP_DROPPED : LEDGER_STOP_SIGNAL;
}

bool ledger_recall(struct ledger *ledger, uint64_t job, uint64_t epoch, struct ledger_entry **ret_entry)
{
	struct ledger_entry *entry = ledger_find(ledger, job, epoch);

	if (!entry || entry->phase != PHASE_QUEUED)
		return false;
	*ret_entry = entry;
	return true;
}

void ledger_lease(struct ledger *ledger, int64_t until_ns)
{
	if (until_ns > ledger->lease_until_ns)
		ledger->lease_until_ns = until_ns;
}

bool ledger_has_lease(const struct ledger *ledger, int64_t now_ns)
{
	return now_ns < ledger->lease_until_ns;
}

static struct ledger_entry *exclusive_running(const struct ledger *ledger)
{
	struct ledger_entry *entry = ledger->phases[PHASE_RUNNING].first;

	while (entry && (!entry->exclusive || entry->stopping))
		entry = entry->next;
	return entry;
}

int64_t ledger_lease_end(const struct ledger *ledger)
{
	return exclusive_running(ledger) ? ledger->lease_until_ns : TIME_NEVER;
}

struct ledger_entry *ledger_overdue(const struct ledger *ledger, int64_t now_ns)
{
	return ledger_has_lease(ledger, now_ns) || PLANTED(exclusive_outlives_the_lease) ?
	       NULL : exclusive_running(ledger);
}

struct ledger_entry *ledger_first(const struct ledger *ledger, enum attempt_phase phase)
{
	return ledger->phases[phase].first;
}

uint32_t ledger_running(const struct ledger *ledger)
{
	return ledger->phases[PHASE_RUNNING].count;
}

uint32_t ledger_queued(const struct ledger *ledger)
{
	return ledger->phases[PHASE_QUEUED].count;
}

static void check_resources(const struct ledger *ledger)
{
	for (size_t i = 0; i < ledger->offers.n; i++) {
		uint64_t used = 0;

		for (const struct ledger_entry *entry = ledger->phases[PHASE_RUNNING].first; entry; entry = entry->next) {
			const struct resource *ask = resource_find(entry->asks, entry->ask_count, ledger->offers.at[i].name);

			used += ask ? ask->amount : 0;
		}
		CHECK(ledger->offers.at[i].used == used);
	}
}

void ledger_check(const struct ledger *ledger)
{
	size_t listed = 0, chained = 0, cursor = 0;
	uint64_t job;
	void *value;

	for (int phase = PHASE_QUEUED; phase <= PHASE_ENDED; phase++) {
		const struct phase_list *list = &ledger->phases[phase];
		const struct ledger_entry *prev = NULL;
		uint32_t count = 0;

		for (struct ledger_entry *entry = list->first; entry; entry = entry->next) {
			CHECK((int)entry->phase == phase && entry->prev == prev);
			CHECK((phase == PHASE_ENDED) == (entry->result.outcome != OUTCOME_NONE));
			CHECK(ledger_find(ledger, entry->job, entry->epoch) == entry);
			prev = entry;
			count++;
		}
		CHECK(list->last == prev && list->count == count);
		listed += count;
	}
	while (map_next(&ledger->jobs, &cursor, &job, &value)) {
		uint32_t alive = 0;

		for (const struct item *item = value; item; item = item->older) {
			CHECK(item->entry.job == job);
			CHECK(!item->older || item->older->entry.epoch < item->entry.epoch);
			alive += item->entry.phase == PHASE_RUNNING;
			chained++;
		}
		CHECK(alive <= 1);
	}
	CHECK(listed == chained);
	check_resources(ledger);
}
