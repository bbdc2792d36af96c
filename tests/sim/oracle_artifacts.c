/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The files that a job left are those of the attempt that succeeded, named in a row that is durable with its end. An attempt that exits
 * with 0 without them failed.
 */
#include "oracle.h"

static void artifacts_row(struct sim_world *world, const struct row *any, struct oracle_job *job, const struct outbox *outbox)
{
	const struct row_job *row = &any->job;
	const struct rec_job_spec *spec = any->table == TABLE_job && !any->deleted ? oracle_spec(world, (uint64_t)row->job) : NULL;
	struct rec_job_artifacts left = { 0 };
	struct arena arena = { 0 };
	uint8_t hash[SHA256_SIZE];
	enum sim_artifacts kind;
	struct slice bytes;
	bool own;

	(void)outbox;
	if (!spec)
		return;
	if (spec->artifacts.n == 0) {
		if (row->artifacts.len > 0 || row->outcome == OUTCOME_BAD_ARTIFACTS)
			world_fail(world, "job %u declares no files, and its row has some", (unsigned)row->job);
		return;
	}
	kind = sim_artifacts_kind((uint64_t)row->job, (uint64_t)row->epoch);
	own = kind == SIM_ARTIFACTS_RIGHT || kind == SIM_ARTIFACTS_EARLY;
	bytes = row->artifacts;
	if (bytes.len > 0 && record_decode(REC_job_artifacts, &bytes, &arena, &left, NULL) != ERR_NONE)
		world_fail(world, "the files of job %u can't be read", (unsigned)row->job);
	job->named = left.epoch;
	if (left.hash.len > 0) {
		sim_artifacts_hash((uint64_t)row->job, left.epoch, hash);
		if (!slice_eq(left.hash, slice_make(hash, SHA256_SIZE)))
			world_fail(world, "the row of job %u names files that this attempt didn't leave", (unsigned)row->job);
	}
	if (row->outcome == OUTCOME_BAD_ARTIFACTS && own)
		world_fail(world, "job %u left its files, and it failed because of them", (unsigned)row->job);
	if (row->state == STATE_SUCCEEDED && row->outcome == OUTCOME_EXIT && row->code == 0 &&
	    (!own || left.hash.len == 0 || left.epoch != (uint64_t)row->epoch))
		world_fail(world, "job %u succeeded without the files of its last attempt", (unsigned)row->job);
	arena_free(&arena);
}

const struct oracle_check oracle_artifacts = { .row = artifacts_row };
