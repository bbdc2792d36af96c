/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks. A job has its locks from assignment until its attempt is known to have ended, so also while it is unknown. A
 * person has a lock until it is dropped or expires. An exclusive holder excludes everybody else. A job takes all its
 * locks together or none, so no lock is held while waiting for another.
 *
 * Jobs that want a lock alone wait apart from those that share it. While the lock is held, a job waiting to have it
 * alone keeps out sharing jobs that rank behind it; so its turn comes.
 */
#include "core/queue/queue.h"

#include "base/planted.h"
#include "base/text.h"
#include "core/place/place.h"
#include "core/queue/internal.h"

bool lock_read(struct slice text, struct slice *ret_name, bool *ret_shared)
{
	const uint8_t *equals = text.len ? memchr(text.data, '=', text.len) : NULL;
	size_t len = equals ? (size_t)(equals - text.data) : text.len;

	if (!text_is_name(slice_make(text.data, len)))
		return false;
	if (equals && !slice_eq(slice_make(equals + 1, text.len - len - 1), slice_str("shared")))
		return false;
	*ret_name = slice_make(text.data, len);
	*ret_shared = equals != NULL;
	return true;
}

struct lock *lock_of(struct core *core, struct slice name)
{
	struct lock *lock = name_map_get(&core->locks, name);

	if (lock)
		return lock;
	lock = mem_zalloc(sizeof(*lock));
	lock->bound.kind = BOUND_LOCK;
	lock->name = mem_text(name);
	name_map_put(&core->locks, slice_str(lock->name), lock);
	return lock;
}

void lock_hold_free(struct lock_hold *hold)
{
	mem_free(hold->owner);
	mem_free(hold->person);
	mem_free(hold->reason);
	mem_free(hold);
}

static void lock_free(struct lock *lock)
{
	for (size_t i = 0; i < lock->hold_count; i++)
		lock_hold_free(lock->holds[i]);
	mem_free(lock->holds);
	bound_free(&lock->bound);
	mem_free(lock->name);
	mem_free(lock);
}

void lock_tidy(struct core *core, struct lock *lock)
{
	if (lock->users > 0 || lock->hold_count > 0)
		return;
	name_map_remove(&core->locks, slice_str(lock->name));
	lock_free(lock);
}

void locks_free(struct core *core)
{
	size_t cursor = 0;
	struct slice name;
	void *value;

	while (name_map_next(&core->locks, &cursor, &name, &value))
		lock_free(value);
	name_map_free(&core->locks);
	map_free(&core->lock_stamps);
}

/* --- who may have a lock --- */

/*
 * Return the key of the best job that waits to have the lock alone and whose class a worker serves; UINT64_MAX if
 * there is none.
 */
uint64_t lock_first_alone(const struct core *core, const struct lock *lock)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < lock->bound.stand_count; i++) {
		const struct stand *stand = &lock->bound.stands[i];

		if (!stand->shared && stand->count > 0 && stand->at[0]->key < first &&
		    class_served(core, core->classes[stand->class_at]))
			first = stand->at[0]->key;
	}
	return first;
}

bool lock_held_alone(const struct lock *lock)
{
	return lock->alone > 0 || (lock->hold_count > 0 && !lock->holds[0]->shared);
}

bool lock_blocked(const struct core *core, const struct lock *lock, bool shared, uint64_t key)
{
	if (lock->bound.active == 0 && (lock->hold_count == 0 || PLANTED(lock_of_people_ignored)))
		return false;
	return !shared || (lock_held_alone(lock) && !PLANTED(lock_shared_beside_one_alone)) ||
	       lock_first_alone(core, lock) < key;
}

void locks_offer(struct core *core)
{
	size_t cursor = 0;
	struct slice name;
	void *value;

	if (core->locks_offered == core->serving)
		return;
	core->locks_offered = core->serving;
	while (name_map_next(&core->locks, &cursor, &name, &value))
		bound_offer(core, &((struct lock *)value)->bound);
}

/* --- rows --- */

bool lock_sane(const struct lock *lock)
{
	bool shared = true;

	for (size_t i = 0; i < lock->hold_count; i++)
		shared = shared && lock->holds[i]->shared;
	if (lock->alone > 0 || !shared)
		return lock->bound.active + lock->hold_count == 1;
	return true;
}

uint64_t locks_hash(const struct core *core)
{
	uint64_t sum = core->fences;
	size_t cursor = 0;
	struct slice name;
	void *value;

	while (name_map_next(&core->locks, &cursor, &name, &value)) {
		const struct lock *lock = value;

		for (size_t i = 0; i < lock->hold_count; i++) {
			const struct lock_hold *hold = lock->holds[i];
			uint64_t hash = hash_bytes(name.data, name.len, hold->fence << 1 | hold->shared);

			hash = hash_bytes(hold->owner, strlen(hold->owner), hash);
			hash = hash_bytes(hold->person, strlen(hold->person), hash);
			hash = hash_bytes(hold->reason, strlen(hold->reason), hash);
			sum += hash_u64(hash ^ (uint64_t)hold->due_ms) + hash_u64((uint64_t)(hold->taken_ms + hold->ttl_ms));
		}
	}
	return sum;
}
