/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The files that jobs leave. A running attempt names their manifest after it has uploaded all contents, and the name is in the job's row
 * before the attempt ends. It counts only if that attempt is the one that ends the job, with success; an attempt that
 * exits with 0 and named none failed. The names of earlier attempts stay in the row until another one replaces them, but nobody sees them.
 */
#include "core/life/life.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/planted.h"
#include "base/sha256.h"
#include "core/graph/graph.h"
#include "core/life/internal.h"
#include "core/rows/durable.h"
#include "proto/input.h"
#include "proto/limits.h"

static void record_set(const struct job *job, const struct rec_job_artifacts *record)
{
	struct buf bytes = { 0 };

	record_encode(&bytes, REC_job_artifacts, record);
	job_artifacts_set(job, buf_slice(&bytes));
	buf_free(&bytes);
}

static bool record_get(const struct job *job, struct arena *arena, struct rec_job_artifacts *ret)
{
	struct slice bytes = job_artifacts(job);

	return bytes.len > 0 && record_decode(REC_job_artifacts, &bytes, arena, ret, NULL) == ERR_NONE;
}

static bool declares(struct core *core, const struct job *job)
{
	struct rec_job_spec spec;

	if (!(job->flags & JOB_OUTPUTS))
		return false;
	job_spec_decode(core, job, &spec);
	return spec.artifacts.n > 0;
}

void artifacts_step(struct core *core, const struct core_input *input)
{
	const struct input_artifacts *said = &input->artifacts;
	struct job *job = job_find(core, said->caller.job);
	const struct run *run;
	struct error error;

	if (caller_check(core, &said->caller, &run, &error) != ERR_NONE) {
		error_send(core, input->conn, input->request, &error, false);
		return;
	}
	if (!declares(core, job)) {
		error_set(&error, ERR_INVALID, "the job declares no artifacts");
		error_next(&error, "add artifacts: {out: [PATTERN]} to the job in its pipeline");
		error_send(core, input->conn, input->request, &error, false);
		return;
	}
	record_set(job, &(struct rec_job_artifacts){
		.epoch = job->epoch, .hash = said->hash, .size = said->size, .files = said->files,
		.manifest_size = said->manifest_size, .fault = said->fault,
		.owner = slice_str(run->owner),
	});
	job_touch(core, job, true);
	outbox_frame(core->outbox, input->conn, OP_OK)->ok = (struct msg_ok){ .id = input->request, .count = 1 };
}

void artifacts_judge(struct core *core, const struct job *job, struct rec_done *done)
{
	struct rec_job_artifacts record;

	if (done->outcome != OUTCOME_EXIT || done->code != 0 || !declares(core, job))
		return;
	if (!record_get(job, &core->outbox->arena, &record) ||
	    (record.epoch != job->epoch && !PLANTED(artifacts_of_an_earlier_try))) {
		record = (struct rec_job_artifacts){
			.epoch = job->epoch, .owner = slice_str(job->run->owner),
			.fault = slice_str("the job ended before its worker had kept the files; a worker of an older version can't keep any"),
		};
		record_set(job, &record);
	}
	if (record.hash.len == 0 && !PLANTED(artifacts_not_judged))
		done->outcome = OUTCOME_BAD_ARTIFACTS;
}

/* ---- files of other jobs ---- */

/* Add what a job left, if it has succeeded, to the inputs of another. */
static void add_input(const struct job *from, struct slice name, struct slice dir, struct arena *arena, struct buf *out)
{
	struct rec_job_artifacts left;

	if (from->state != STATE_SUCCEEDED || !record_get(from, arena, &left) || left.epoch != from->epoch || left.hash.len == 0)
		return;
	record_encode(out, REC_input, &(struct rec_input){
		.path = dir, .hash = left.hash, .size = left.manifest_size, .kind = ASSET_DIR, .source = name,
	});
}

/* Add what the jobs of a fan-out left, each in a directory with its index as name. */
static void add_inputs(const struct core *core, struct run *run, struct slice fan_out, struct slice dir, struct arena *arena, struct buf *out)
{
	char name[LIMIT_NAME_MAX_LEN + 16], path[LIMIT_INPUT_PATH + 16];

	/* One more than an attempt may have, so that too many are an error and none is left out. */
	for (uint32_t index = 0; index <= LIMIT_INPUTS_MAX; index++) {
		int len = snprintf(name, sizeof(name), "%.*s[%" PRIu32 "]", (int)fan_out.len, (const char *)fan_out.data, index);
		int path_len = snprintf(path, sizeof(path), "%.*s/%" PRIu32, (int)dir.len, (const char *)dir.data, index);
		const struct job *from = run_job_named(core, run, slice_make(name, (size_t)len));

		if (!from)
			return;
		add_input(from, slice_make(name, (size_t)len), slice_make(path, (size_t)path_len), arena, out);
	}
}

struct slice artifacts_inputs(const struct core *core, const struct job *job, struct arena *arena)
{
	struct slice bytes = job_spec_bytes(job), inputs;
	struct rec_job_spec spec;
	struct buf out = { 0 };

	if (!(job->flags & JOB_TAKES))
		return slice_make(NULL, 0);
	CHECK(record_decode(REC_job_spec, &bytes, arena, &spec, NULL) == ERR_NONE);
	for (size_t i = 0; i < spec.artifacts_in.n; i++) {
		struct slice name, dir;
		const struct job *from;

		CHECK(in_read(spec.artifacts_in.at[i], &name, &dir));
		from = run_job_named(core, job->run, name);
		if (from)
			add_input(from, name, dir.len > 0 ? dir : slice_str("."), arena, &out);
		else
			add_inputs(core, job->run, name, dir.len > 0 ? dir : name, arena, &out);
	}
	inputs = arena_copy(arena, buf_slice(&out));
	buf_free(&out);
	return inputs;
}

/* ---- checks ---- */

bool artifacts_row_sane(const struct job *job, const struct row_job *row)
{
	struct rec_job_artifacts record;
	struct slice bytes = row->artifacts;
	struct arena arena = { 0 };
	bool sane;

	if (bytes.len == 0)
		return true;
	sane = (job->flags & JOB_OUTPUTS) && record_decode(REC_job_artifacts, &bytes, &arena, &record, NULL) == ERR_NONE &&
	       (record.hash.len == 0 || record.hash.len == SHA256_SIZE) && record.epoch <= (uint64_t)row->epoch;
	arena_free(&arena);
	return sane;
}

/* A job that succeeded by its own process has the files that it declares. */
void artifacts_check(const struct job *job)
{
	struct rec_job_artifacts record = { 0 };
	struct rec_job_spec spec;
	struct arena arena = { 0 };
	struct slice bytes;

	if (!(job->flags & JOB_OUTPUTS) || job->state != STATE_SUCCEEDED || job->outcome != OUTCOME_EXIT || job->code != 0)
		return;
	bytes = job_spec_bytes(job);
	CHECK(record_decode(REC_job_spec, &bytes, &arena, &spec, NULL) == ERR_NONE);
	CHECK(spec.artifacts.n == 0 || (record_get(job, &arena, &record) && record.epoch == job->epoch && record.hash.len == SHA256_SIZE));
	arena_free(&arena);
}
