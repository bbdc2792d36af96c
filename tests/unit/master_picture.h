/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For tests of subscriptions: the picture of runs and jobs that a subscriber of the master builds up. Include once per
 * program.
 */
#ifndef TITAN_MASTER_PICTURE_H
#define TITAN_MASTER_PICTURE_H

#include "proto/metrics.h"
#include "master_box.h"

#define JOBS_MAX 40000
#define SUB_ID   50

/* A subscriber's picture: the jobs' states by index, and the run's row. */
struct picture {
	uint64_t states[JOBS_MAX];
	uint64_t jobs;
	uint64_t run_state, succeeded;
	uint64_t worker_done, workers;
	bool complete, cut;
	size_t deltas, rows;             /* rows of runs */
	uint64_t turn;                   /* number of the turn in the newest delta */
	uint64_t needs;                  /* number of dependencies in all job rows received so far */
	uint64_t jobs_wanted, last;      /* last: the serial number of the job with index jobs_wanted - 1 */
	uint64_t mark;                   /* mark with which the subscriber can resume */
	size_t snapshots, job_rows, open;        /* open: deltas that were followed by another part of the same turn */
};

static struct picture picture;

static inline void see_jobs(const struct rec_job_row *rows, size_t count)
{
	picture.job_rows += count;
	for (size_t i = 0; i < count; i++) {
		picture.needs += rows[i].needs.n;
		picture.last = rows[i].index == picture.jobs_wanted - 1 ? rows[i].job : picture.last;
		picture.states[rows[i].index] = rows[i].state;
		if (rows[i].index >= picture.jobs)
			picture.jobs = rows[i].index + 1;
	}
}

static inline void see_runs(const struct rec_run_row *rows, size_t count)
{
	if (count == 0)
		return;
	picture.rows += count;
	picture.run_state = rows[count - 1].state;
	picture.succeeded = rows[count - 1].counts.at[STATE_SUCCEEDED];
}

static inline void see_workers(const struct rec_worker_row *rows, size_t count)
{
	picture.workers += count;
	if (count > 0)
		picture.worker_done = rows[0].done;
}

/* Receive the next SNAPSHOT or DELTA and apply it to the picture. */
static inline bool watch(struct peer *peer)
{
	struct frame frame;
	struct msg_snapshot snapshot;
	struct msg_delta delta;

	if (!peer_frame(peer, &frame))
		return false;
	arena_reset(&peer->arena);
	if (frame.opcode == OP_SNAPSHOT) {
		if (message_decode(OP_SNAPSHOT, frame.body, &peer->arena, &snapshot, NULL) != ERR_NONE)
			return false;
		see_jobs(snapshot.jobs.at, snapshot.jobs.n);
		see_runs(snapshot.runs.at, snapshot.runs.n);
		see_workers(snapshot.workers.at, snapshot.workers.n);
		picture.complete = snapshot.cursor == 0;
		picture.snapshots++;
		picture.mark = snapshot.resume ? snapshot.resume : picture.mark;
		return snapshot.id == SUB_ID;
	}
	if (frame.opcode != OP_DELTA || message_decode(OP_DELTA, frame.body, &peer->arena, &delta, NULL) != ERR_NONE)
		return false;
	see_jobs(delta.jobs.at, delta.jobs.n);
	see_runs(delta.runs.at, delta.runs.n);
	see_workers(delta.workers.at, delta.workers.n);
	picture.deltas++;
	picture.turn = delta.turn;
	picture.open += delta.resume == 0 && !delta.cut;
	picture.mark = delta.resume ? delta.resume : picture.mark;
	if (delta.cut) {
		picture.cut = true;
		picture.complete = false;
	}
	return delta.id == SUB_ID;
}

static inline bool subscribe(struct peer *peer, enum query_what what, uint64_t run)
{
	struct msg_subscribe msg = { .id = SUB_ID, .what = what, .run = run };

	memset(&picture, 0, sizeof(picture));
	return peer_send(peer, OP_SUBSCRIBE, &msg);
}

static inline bool submit_as(struct peer *client, const char *key, size_t count, bool chain)
{
	struct msg_accepted accepted;

	return peer_submit(client, key, "watched", count, chain) && peer_expect(client, OP_ACCEPTED, &accepted);
}

static inline bool submit(struct peer *client, size_t count, bool chain)
{
	return submit_as(client, "key-key-key-key1", count, chain);
}

/* Submit a graph in chunks, because it doesn't fit into one frame. */
static inline bool submit_large(struct peer *client, size_t count)
{
	struct msg_graph_begin begin = {
		.id = 1, .key = slice_str("key-key-key-key1"), .name = slice_str("large"), .count = count,
	};
	struct msg_graph_commit commit = { .id = 1 };
	struct msg_accepted accepted;
	bool ok = peer_send(client, OP_GRAPH_BEGIN, &begin);

	for (size_t at = 0; ok && at < count; at += 10000) {
		struct buf jobs = { 0 };
		struct msg_graph_chunk chunk = { .id = 1, .count = 10000 };

		graph_encode(&jobs, at, 10000, false);
		chunk.jobs = buf_slice(&jobs);
		ok = peer_send(client, OP_GRAPH_CHUNK, &chunk);
		buf_free(&jobs);
	}
	return ok && peer_send(client, OP_GRAPH_COMMIT, &commit) && peer_expect(client, OP_ACCEPTED, &accepted);
}

/* Add jobs with these numbers in their names to run 1; the first one needs a job of the run. */
static inline bool add_jobs(struct peer *client, size_t from, size_t count)
{
	struct slice parents[1] = { slice_str("job0") };
	struct msg_submit msg = { .id = 9, .key = slice_str("key-key-key-keyA"), .count = count, .into = 1 };
	struct rec_job_spec first = { .name = slice_str("first"), .script = slice_str("true") };
	struct msg_accepted accepted;
	uint64_t need = count;
	struct buf jobs = { 0 };
	bool ok;

	msg.parents.at = parents;
	msg.parents.n = 1;
	first.needs.at = &need;
	first.needs.n = 1;
	record_encode(&jobs, REC_job_spec, &first);
	graph_encode(&jobs, from, count - 1, false);
	msg.jobs = buf_slice(&jobs);
	ok = peer_send(client, OP_SUBMIT, &msg) && peer_expect(client, OP_ACCEPTED, &accepted);
	buf_free(&jobs);
	return ok && accepted.jobs == from + count;
}

static inline uint64_t metric_of(const struct msg_snapshot *answer, enum metric metric)
{
	for (size_t i = 0; i < answer->metrics.n; i++)
		if (answer->metrics.at[i].metric == metric)
			return answer->metrics.at[i].value;
	return 0;
}

#endif
