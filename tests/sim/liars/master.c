/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What happens to the master among liars: time passes, its clock is set, it is killed and restarted, ended runs leave
 * its memory.
 */
#include "tests/sim/liars/liars.h"

#include "tests/unit/core_prune.h"

void master_waits(struct liars *liars)
{
	static const int64_t spans_ms[] = { 1, 10, 100, 999, 1000, LIMIT_HEARTBEAT_MS, LIMIT_LEASE_MS, LIMIT_GRACE_MS, 60000 };
	int64_t ms = spans_ms[below(liars, sizeof(spans_ms) / sizeof(*spans_ms))];

	if (below(liars, 200) == 0)
		ms = LIMIT_SPAN_MAX_S * INT64_C(1000);
	tell(liars, "%lld ms pass", (long long)ms);
	rig_pass(liars->rig, ms);
}

/* Set the wall clock by up to three years back or forth, within the range of valid times. */
void master_clock(struct liars *liars)
{
	int64_t most_ms = INT64_C(100000000000), wall_ms = liars->rig->now.wall_ms;

	wall_ms += (int64_t)below(liars, 2 * (uint64_t)most_ms) - most_ms;
	if (wall_ms < 0 || wall_ms > INT64_C(9000000000000))
		wall_ms = 0;
	liars->rig->now.wall_ms = wall_ms;
	tell(liars, "the clock says %lld", (long long)wall_ms);
	rig_pass(liars->rig, 0);
}

/* Change the rows of some jobs as if they had lived long: epoch, round and tries are near their limits. */
static void wear(struct liars *liars)
{
	const int64_t epochs_most = INT64_C(0xffff0000), low = INT64_C(0xffffffff);
	struct rig_rows *jobs = &liars->rig->tables[TABLE_job];

	for (size_t i = 0; i < jobs->count; i++) {
		struct row_job *job = &jobs->at[i].row.job;

		if (job->round < 60000 && chance(liars, 50))
			job->round = UINT16_MAX - (int64_t)below(liars, 3);
		if (job->tries > 0 && chance(liars, 10))
			job->tries = UINT16_MAX;
		if (job->epoch > 0 && (job->epoch & low) < epochs_most && (job->tries == UINT16_MAX || chance(liars, 50)))
			job->epoch = (job->epoch & ~low) | epochs_most;
	}
}

void master_restarts(struct liars *liars)
{
	struct rig *rig = liars->rig;
	bool reboot = chance(liars, 40);

	if (reboot) {
		rig->config.boot_id++;
		rig->now.boot_ns = (int64_t)below(liars, 100) * NS_PER_S;
		rig->now.mono_ns = rig->now.boot_ns;
		if (chance(liars, 30))
			rig->now.wall_ms = (int64_t)below(liars, chance(liars, 50) ? 100 : 2000000000000);
	}
	if (liars->worn)
		wear(liars);
	tell(liars, "the master is killed%s; the clock says %lld", reboot ? ", and its machine restarts" : "",
	     (long long)rig->now.wall_ms);
	rig_restart(rig);
	memset(liars->conns, 0, sizeof(liars->conns));
}

/* Let ended runs leave memory, and sometimes prune one from the store. */
void master_sweeps(struct liars *liars)
{
	uint64_t run = any_run(liars);
	const struct row *row = rig_run_row(liars->rig, (int64_t)run);

	if (!row || row->run.ended_ms == 0 || chance(liars, 70)) {
		core_sweep(liars->rig->core, UINT64_MAX);
		return;
	}
	tell(liars, "run %llu is pruned", (unsigned long long)run);
	prune(liars->rig, (int64_t)run);
}
