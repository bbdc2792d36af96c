/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Remembers what changed in the latest turns, so that a subscriber that returns is sent only that. A mark names a turn
 * of this process. Marks of another process aren't accepted, because its turns may have been different.
 */
#include "master/internal.h"

#include "base/mem.h"
#include "base/rand.h"

#define TURN_BITS 40                     /* low bits of a mark: the turn; the rest names the process */
#define TURN_MASK ((UINT64_C(1) << TURN_BITS) - 1)

struct recent_change {
	struct changed changed;
	uint64_t turn;
};

struct recent {
	struct recent_change *ring;
	size_t cap, first, count;
	uint64_t lost;                   /* all changes after this turn are in the ring */
	uint64_t newest;                 /* number of the last turn added */
	uint64_t process;                /* this process's number, above the bits of a turn; never 0 */
};

struct recent *recent_new(size_t cap)
{
	struct recent *recent = mem_zalloc(sizeof(*recent));

	recent->cap = cap ? cap : LIMIT_RECENT_CHANGES;
	recent->ring = mem_zalloc(recent->cap * sizeof(*recent->ring));
	rand_system(&recent->process, sizeof(recent->process));
	recent->process = (recent->process | UINT64_C(1) << TURN_BITS) & ~TURN_MASK;
	return recent;
}

void recent_free(struct recent *recent)
{
	if (!recent)
		return;
	mem_free(recent->ring);
	mem_free(recent);
}

static void add(struct recent *recent, const struct changed *changed, uint64_t turn)
{
	if (recent->count == recent->cap) {
		recent->lost = recent->ring[recent->first].turn;
		recent->first = (recent->first + 1) % recent->cap;
		recent->count--;
	}
	recent->ring[(recent->first + recent->count++) % recent->cap] =
		(struct recent_change){ .changed = *changed, .turn = turn };
}

void recent_add(struct recent *recent, const struct outbox *outbox)
{
	if (recent->newest == 0)
		recent->lost = outbox->turn - 1;
	for (size_t i = 0; i < outbox->change_count; i++)
		add(recent, &outbox->changes[i], outbox->turn);
	recent->newest = outbox->turn;
}

uint64_t recent_turn(const struct recent *recent)
{
	return recent->newest;
}

uint64_t recent_mark(const struct recent *recent, uint64_t turn)
{
	return recent->process | (turn & TURN_MASK);
}

bool recent_knows(const struct recent *recent, uint64_t mark, uint64_t *ret_turn)
{
	uint64_t turn = mark & TURN_MASK;

	if ((mark & ~TURN_MASK) != recent->process || turn < recent->lost || turn > recent->newest)
		return false;
	*ret_turn = turn;
	return true;
}

const struct changed *recent_before(const struct recent *recent, uint64_t turn, size_t *back)
{
	const struct recent_change *change;

	if (*back == recent->count)
		return NULL;
	++*back;
	change = &recent->ring[(recent->first + recent->count - *back) % recent->cap];
	return change->turn > turn ? &change->changed : NULL;
}
