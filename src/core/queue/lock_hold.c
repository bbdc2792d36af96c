/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locks held by people: take, for a time or until dropped, and drop. Each hold is a durable row with a fencing number
 * that only grows.
 */
#include "core/queue/queue.h"

#include "base/planted.h"
#include "base/text.h"
#include "core/queue/internal.h"
#include "core/rows/durable.h"
#include "core/time/time.h"
#include "core/view/tell.h"

static bool owner_good(struct slice owner)
{
	for (size_t i = 0; i < owner.len; i++)
		if (owner.data[i] < 0x20 || owner.data[i] == 0x7f)
			return false;
	return owner.len > 0 && owner.len <= LIMIT_NAME_MAX_LEN;
}

static size_t hold_place(const struct lock *lock, struct slice owner)
{
	size_t at = 0;

	while (at < lock->hold_count && !slice_eq(slice_str(lock->holds[at]->owner), owner))
		at++;
	return at;
}

static void hold_row_put(struct core *core, const struct lock_hold *hold, bool deleted)
{
	struct arena *arena = &core->outbox->arena;
	struct row *row = outbox_row(core->outbox, TABLE_lock_hold);

	row->deleted = deleted;
	row->lock_hold = (struct row_lock_hold){
		.lock = arena_copy(arena, slice_str(hold->lock->name)), .owner = arena_copy(arena, slice_str(hold->owner)),
		.person = arena_copy(arena, slice_str(hold->person)), .reason = arena_copy(arena, slice_str(hold->reason)),
		.shared = hold->shared, .fence = (int64_t)hold->fence, .taken_ms = hold->taken_ms,
		.ttl_ms = hold->ttl_ms, .due_ms = hold->due_ms,
	};
}

static void hold_disarm(struct core *core, struct lock_hold *hold)
{
	if (hold->stamp == 0)
		return;
	map_remove(&core->lock_stamps, hold->stamp);
	hold->stamp = 0;
}

static void hold_arm(struct core *core, struct lock_hold *hold)
{
	if (hold->due_ms == 0)
		return;
	hold->stamp = ++core->lock_stamp;
	map_put(&core->lock_stamps, hold->stamp, hold);
	timer_add_steady(core, TIMER_LOCK, hold->stamp, hold->due_ms);
}

static struct lock_hold *hold_add(struct lock *lock, struct slice owner)
{
	struct lock_hold *hold = mem_zalloc(sizeof(*hold));

	hold->lock = lock;
	hold->owner = mem_text(owner);
	lock->holds = mem_resize(lock->holds, lock->hold_count + 1, sizeof(struct lock_hold *));
	lock->holds[lock->hold_count++] = hold;
	return hold;
}

static void hold_end(struct core *core, struct lock *lock, size_t at)
{
	struct lock_hold *hold = lock->holds[at];

	hold_row_put(core, hold, true);
	lock_hold_free(hold);
	lock->hold_count--;
	memmove(&lock->holds[at], &lock->holds[at + 1], (lock->hold_count - at) * sizeof(struct lock_hold *));
	core->lock_holds--;
	if (!PLANTED(lock_never_offered_again))
		bound_offer(core, &lock->bound);
	lock_tidy(core, lock);
}

static enum err take_busy(struct core *core, const struct lock *lock, bool shared, struct error *error)
{
	struct buf words = { 0 };

	lock_tell(core, lock, NULL, &words);
	if (shared && lock_first_alone(core, lock) != UINT64_MAX)
		buf_add_str(&words, "; a job waits to have the lock alone");
	error_set(error, ERR_BUSY, "lock %s: %.400s", lock->name, buf_cstr(&words));
	buf_free(&words);
	return error_next(error, "titan lock ls");
}

/* Refuse to take a lock again without naming its owner, because two scripts of one person count as two owners. */
static enum err take_again(const struct lock *lock, const struct lock_hold *hold, struct error *error)
{
	error_set(error, ERR_BUSY, "lock %s is already held by %s; to take it again, name its owner", lock->name, hold->owner);
	return error_next(error, "titan lock take %s --owner %s", lock->name, hold->owner);
}

/*
 * May this owner take the lock together with its present holders? The hold at index own, if any, is the owner's and is
 * replaced.
 */
static bool may_take(const struct core *core, const struct lock *lock, size_t own, bool shared)
{
	bool others = lock->bound.active > 0 || lock->hold_count > (own < lock->hold_count);
	bool alone = lock->alone > 0 || (own == lock->hold_count && lock_held_alone(lock));

	if (!others)
		return true;
	return shared && !alone && (own < lock->hold_count || lock_first_alone(core, lock) == UINT64_MAX);
}

static enum err take_check(const struct msg_set *set, struct slice owner, struct error *error)
{
	if (!owner_good(owner))
		return error_set(error, ERR_INVALID, "the owner of a lock must have 1 to %d bytes and no control "
			"characters",
				 LIMIT_NAME_MAX_LEN);
	if (set->words.n > 1 || (set->words.n == 1 && set->words.at[0].len > LIMIT_REASON_MAX))
		return error_set(error, ERR_TOO_LARGE, "a reason may have at most %d bytes", LIMIT_REASON_MAX);
	if (set->span_ms / 1000 > LIMIT_SPAN_MAX_S)
		return error_set(error, ERR_TOO_LARGE, "a lock can be taken for at most ten years");
	return ERR_NONE;
}

static enum err lock_take(struct core *core, const struct input_set *input, struct slice owner, uint64_t *ret_fence,
			  struct error *error)
{
	const struct msg_set *set = &input->set;
	struct lock *lock;
	struct lock_hold *hold;
	size_t own;
	enum err err = take_check(set, owner, error);

	if (err != ERR_NONE)
		return err;
	lock = lock_of(core, set->name);
	own = hold_place(lock, owner);
	if (own < lock->hold_count && set->text.len == 0)
		return take_again(lock, lock->holds[own], error);
	if (!may_take(core, lock, own, set->flag))
		return take_busy(core, lock, set->flag, error);
	if (own == lock->hold_count && core->lock_holds >= LIMIT_LOCK_HOLDS_MAX) {
		lock_tidy(core, lock);
		return error_set(error, ERR_FULL, "people already have %d locks, and no more are allowed", LIMIT_LOCK_HOLDS_MAX);
	}
	if (own == lock->hold_count) {
		hold = hold_add(lock, owner);
		hold->fence = (core->generation << 32) + ++core->fences;
		hold->taken_ms = core->now.wall_ms;
		meta_put(core, "fences", core->fences);
		core->lock_holds++;
	} else {
		hold = lock->holds[own];
		if (hold->stamp)
			timer_stale(core);
		hold_disarm(core, hold);
	}
	mem_free(hold->person);
	mem_free(hold->reason);
	hold->person = mem_text(input->person);
	hold->reason = mem_text(set->words.n ? set->words.at[0] : slice_make(NULL, 0));
	hold->shared = set->flag;
	hold->ttl_ms = (int64_t)set->span_ms;
	if (hold->due_ms == 0 || set->span_ms == 0 || !PLANTED(lock_ends_early))
		hold->due_ms = set->span_ms ? due_after(core, (int64_t)set->span_ms) : 0;
	hold_row_put(core, hold, false);
	hold_arm(core, hold);
	bound_offer(core, &lock->bound);         /* offer the lock to waiting jobs: it may have become shared */
	*ret_fence = hold->fence;
	return ERR_NONE;
}

static enum err lock_drop(struct core *core, const struct msg_set *set, struct slice owner, struct error *error)
{
	struct lock *lock = name_map_get(&core->locks, set->name);
	size_t at = lock ? hold_place(lock, owner) : 0;
	int len = (int)set->name.len;

	if (lock && at < lock->hold_count) {
		if (lock->holds[at]->stamp)
			timer_stale(core);
		hold_disarm(core, lock->holds[at]);
		hold_end(core, lock, at);
		return ERR_NONE;
	}
	error_set(error, ERR_NOT_FOUND, "%.*s doesn't have lock %.*s", (int)(owner.len < 60 ? owner.len : 60),
		  (const char *)owner.data, len, (const char *)set->name.data);
	return error_next(error, "titan lock ls");
}

enum err lock_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, uint64_t *ret_fence,
		  struct error *error)
{
	struct slice owner = input->set.text.len > 0 ? input->set.text : input->person;
	enum err err;

	if (!text_is_name(input->set.name))
		return error_set(error, ERR_INVALID, "the name of a lock may have letters, digits, _ . -, at most %d", LIMIT_NAME_MAX_LEN);
	switch (input->set.verb) {
	case SET_TAKE:
		err = lock_take(core, input, owner, ret_fence, error);
		break;
	case SET_DROP:
		err = lock_drop(core, &input->set, owner, error);
		break;
	default:
		return error_set(error, ERR_INVALID, "unknown change of a lock: %llu",
				 (unsigned long long)input->set.verb);
	}
	*ret_changed = err == ERR_NONE;
	return err;
}

void lock_expired(struct core *core, uint64_t stamp)
{
	struct lock_hold *hold = map_get(&core->lock_stamps, stamp);
	struct lock *lock = hold->lock;
	size_t at = 0;

	while (lock->holds[at] != hold)
		at++;
	hold_disarm(core, hold);
	hold_end(core, lock, at);
}

enum err load_lock_hold(struct core *core, const struct row_lock_hold *row, struct error *error)
{
	uint64_t newest = (core->generation << 32) + core->fences;
	struct lock_hold *hold;
	struct lock *lock;

	if (!text_is_name(row->lock) || !owner_good(row->owner) || row->shared < 0 || row->shared > 1 || row->fence < 1 ||
	    (uint64_t)row->fence > newest || row->ttl_ms < 0 || row->ttl_ms / 1000 > LIMIT_SPAN_MAX_S || row->due_ms < 0 ||
	    !row->ttl_ms != !row->due_ms)
		return error_set(error, ERR_STORE_TRUST, "a stored lock contradicts itself");
	lock = lock_of(core, row->lock);
	if (hold_place(lock, row->owner) < lock->hold_count || (lock->hold_count > 0 && (!row->shared || lock_held_alone(lock))))
		return error_set(error, ERR_STORE_TRUST, "lock %s: its stored owners exclude each other", lock->name);
	hold = hold_add(lock, row->owner);
	hold->person = mem_text(row->person);
	hold->reason = mem_text(row->reason);
	hold->shared = row->shared != 0;
	hold->fence = (uint64_t)row->fence;
	hold->taken_ms = row->taken_ms;
	hold->ttl_ms = row->ttl_ms;
	hold->due_ms = row->due_ms;
	core->lock_holds++;
	return ERR_NONE;
}

/*
 * Arm the holds' timers once all rows are loaded and the steady clock is set. Return false if holders exclude each
 * other.
 */
bool locks_resume(struct core *core)
{
	size_t cursor = 0;
	struct slice name;
	void *value;

	while (name_map_next(&core->locks, &cursor, &name, &value)) {
		struct lock *lock = value;

		if (!lock_sane(lock))
			return false;
		for (size_t i = 0; i < lock->hold_count; i++) {
			struct lock_hold *hold = lock->holds[i];

			/* After a reboot the wall clock may differ: never hold longer than the time asked for. */
			if (hold->due_ms > due_after(core, hold->ttl_ms)) {
				hold->due_ms = due_after(core, hold->ttl_ms);
				hold_row_put(core, hold, false);
			}
			hold_arm(core, hold);
		}
	}
	return true;
}
