/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks a store like a master at its start: loads the rows into a core, which checks and counts them. */
#include "master/fsck.h"

#include "base/clock.h"
#include "core/core.h"
#include "core/view/view.h"
#include "proto/limits.h"
#include "store/trailer.h"
#include "store/store.h"
#include "store/tables.h"

static enum err load_cb(const struct row *row, void *arg, struct error *error)
{
	return core_load_row(arg, row, error);
}

static enum err load(struct store *store, struct fsck *fsck, struct error *error)
{
	const struct core_config config = {
		.cluster = slice_str("fsck"), .seed = 1, .heartbeat_ms = LIMIT_HEARTBEAT_MS,
		.lease_ms = LIMIT_LEASE_MS, .grace_ms = LIMIT_GRACE_MS,
	};
	struct core *core = core_new(&config);
	struct outbox outbox = { 0 };
	struct core_totals totals;
	enum err err = store_load(store, load_cb, core, error);

	if (err == ERR_NONE)
		err = core_load_end(core, clock_now(), &outbox, error);
	if (err == ERR_NONE) {
		core_check(core);
		view_totals(core, &totals);
		fsck->generation = totals.generation;
		fsck->turn = totals.turn;
		fsck->live_runs = totals.live_runs;
		fsck->live_jobs = totals.live_jobs;
	}
	outbox_free(&outbox);
	core_free(core);
	return err;
}

enum err fsck_store(const char *path, bool in_use, struct fsck *ret_fsck, struct error *error)
{
	const struct store_options options = { .path = path, .inspect = true };
	struct fsck fsck = { 0 };
	struct store *store = NULL;
	/*
	 * Read the trailer before the database is opened: closing another descriptor of the file would drop its
	 * lock. A store in use has no trailer.
	 */
	enum err err = in_use ? ERR_NONE : trailer_check(path, &fsck.has_checksum, error);

	if (err == ERR_NONE)
		err = store_open(&options, &store, error);
	if (err == ERR_NONE)
		err = store_check(store, error);
	if (err == ERR_NONE) {
		fsck.version = store_version(store);
		fsck.older = fsck.version < STORE_VERSION;
		if (!fsck.older)
			err = load(store, &fsck, error);
	}
	if (err == ERR_STORE_TRUST)
		store_hint(path, error);
	if (err == ERR_NONE && in_use)
		err = store_agrees(store, error);
	store_close(store);
	if (err == ERR_NONE)
		*ret_fsck = fsck;
	return err;
}
