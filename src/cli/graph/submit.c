/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Submits graphs. Jobs are encoded one at a time and sent in frames of about CHUNK_BYTES, so a graph of a million jobs
 * needs little more memory than its source.
 */
#include "cli/graph/submit.h"

#include "cli/ask/ask.h"
#include "proto/input.h"
#include "proto/limits.h"

#define CHUNK_BYTES 524288
#define TRIES 5
#define RECONNECT_MS 30000

struct parcel {
	struct cli *cli;
	const struct graph_source *source;
	uint64_t next;                   /* index of the next job to encode */
	struct buf contents;             /* all contents that the jobs name, as input records */
	struct buf jobs;                 /* jobs that are encoded and not yet sent */
	uint64_t jobs_count;
	struct arena scratch;
};

/* Note which contents the job names, and the jobs of its sub-run. */
static void note_contents(struct parcel *parcel, const struct rec_job_spec *spec)
{
	struct slice inputs = spec->inputs, jobs = spec->sub_jobs;
	struct arena arena = { 0 };
	struct rec_job_spec sub;
	struct rec_input input;

	while (input_next(&inputs, &arena, &input)) {
		if (inputs_have(buf_slice(&parcel->contents), &input))
			continue;
		input.path = input.source = slice_make(NULL, 0);
		record_encode(&parcel->contents, REC_input, &input);
	}
	while (jobs.len > 0 && record_decode(REC_job_spec, &jobs, &arena, &sub, NULL) == ERR_NONE)
		note_contents(parcel, &sub);
	arena_free(&arena);
}

/* Encode jobs until a chunk is full or none are left. */
static enum err fill(struct parcel *parcel)
{
	buf_clear(&parcel->jobs);
	parcel->jobs_count = 0;
	while (parcel->next < parcel->source->count && parcel->jobs.len < CHUNK_BYTES) {
		struct rec_job_spec spec;
		size_t before = parcel->jobs.len;

		arena_reset(&parcel->scratch);
		parcel->source->job_cb(parcel->source->arg, parcel->next, &parcel->scratch, &spec);
		record_encode(&parcel->jobs, REC_job_spec, &spec);
		note_contents(parcel, &spec);
		if (parcel->jobs.len - before > LIMIT_JOB_SPEC_MAX)
			return error_set(&parcel->cli->error, ERR_TOO_LARGE,
					 "job '%.*s' has %zu bytes; at most %d are allowed", (int)spec.name.len,
					 (const char *)spec.name.data, parcel->jobs.len - before, LIMIT_JOB_SPEC_MAX);
		parcel->next++;
		parcel->jobs_count++;
	}
	return ERR_NONE;
}

static enum err send_small(struct parcel *parcel, uint64_t id, struct slice name, const uint8_t *key)
{
	struct msg_submit msg = {
		.key = slice_make(key, SUBMIT_KEY_SIZE),
		.name = name,
		.jobs = buf_slice(&parcel->jobs),
		.count = parcel->jobs_count,
		.max_jobs = parcel->source->max_jobs,
		.tenant = parcel->source->tenant,
		.again = parcel->source->again,
		.into = parcel->source->into,
		.parents = parcel->source->parents,
		.concurrency = parcel->source->concurrency,
		.context = parcel->source->context,
		.revision = parcel->source->revision,
		.inputs = buf_slice(&parcel->contents),
	};
	struct rec_schedule_spec schedule;

	if (parcel->source->schedule) {
		schedule = *parcel->source->schedule;
		msg.schedule.at = &schedule;
		msg.schedule.n = 1;
	}
	return cli_send(parcel->cli, OP_SUBMIT, &msg, id);
}

static enum err send_chunks(struct parcel *parcel, uint64_t id, struct slice name, const uint8_t *key)
{
	struct msg_graph_begin begin = {
		.key = slice_make(key, SUBMIT_KEY_SIZE),
		.name = name,
		.count = parcel->source->count,
		.max_jobs = parcel->source->max_jobs,
		.tenant = parcel->source->tenant,
		.into = parcel->source->into,
		.parents = parcel->source->parents,
		.concurrency = parcel->source->concurrency,
		.context = parcel->source->context,
		.revision = parcel->source->revision,
	};
	struct msg_graph_commit commit = { 0 };
	struct rec_schedule_spec schedule;
	enum err err;

	if (parcel->source->schedule) {
		schedule = *parcel->source->schedule;
		begin.schedule.at = &schedule;
		begin.schedule.n = 1;
	}
	err = cli_send(parcel->cli, OP_GRAPH_BEGIN, &begin, id);

	while (err == ERR_NONE && parcel->jobs_count > 0) {
		struct msg_graph_chunk chunk = { .jobs = buf_slice(&parcel->jobs), .count = parcel->jobs_count };

		err = cli_send(parcel->cli, OP_GRAPH_CHUNK, &chunk, id);
		if (err == ERR_NONE)
			err = fill(parcel);
	}
	commit.inputs = buf_slice(&parcel->contents);
	if (err == ERR_NONE)
		err = cli_send(parcel->cli, OP_GRAPH_COMMIT, &commit, id);
	return err;
}

static enum err submit_once(struct parcel *parcel, struct slice name, const uint8_t *key, struct msg_accepted *ret)
{
	uint64_t id = client_next_id(parcel->cli->client);
	struct msg_ok ok;
	enum err err;

	parcel->next = 0;
	buf_clear(&parcel->contents);
	err = fill(parcel);
	if (err != ERR_NONE)
		return err;
	if (parcel->next == parcel->source->count)
		err = send_small(parcel, id, name, key);
	else
		err = send_chunks(parcel, id, name, key);
	if (err == ERR_NONE && parcel->source->schedule)
		err = cli_answer(parcel->cli, id, OP_OK, &parcel->cli->arena, &ok);
	else if (err == ERR_NONE)
		err = cli_answer(parcel->cli, id, OP_ACCEPTED, &parcel->cli->arena, ret);
	return err;
}

enum err submit_graph(struct cli *cli, const struct graph_source *source, struct slice name,
		      const uint8_t key[SUBMIT_KEY_SIZE], struct msg_accepted *ret)
{
	struct parcel parcel = { .cli = cli, .source = source };
	enum err err = cli_connect(cli);

	for (int try = 1; err == ERR_NONE; try++) {
		err = submit_once(&parcel, name, key, ret);
		if (err != ERR_UNREACHABLE || try == TRIES)
			break;
		/*
		 * The connection is lost, and it isn't known whether the master accepted the graph. Sending it again is
		 * safe because of the submit key.
		 */
		err = cli_reconnect(cli, RECONNECT_MS);
	}
	buf_free(&parcel.contents);
	buf_free(&parcel.jobs);
	arena_free(&parcel.scratch);
	return err;
}
