/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of placing: workers with labels and resources, and who has which job. */
#ifndef TITAN_TESTS_CORE_PLACE_H
#define TITAN_TESTS_CORE_PLACE_H

#include "tests/unit/core_rig.h"

/* Split a text into words; the list is in the rig's arena. */
static inline struct slice_list words(struct rig *rig, const char *text)
{
	struct slice_list list = { .at = arena_alloc(&rig->arena, 20 * sizeof(struct slice)) };

	while (*text) {
		size_t len = strcspn(text, " ");

		list.at[list.n++] = slice_str(arena_strdup(&rig->arena, slice_make(text, len)));
		text += len;
		text += strspn(text, " ");
	}
	return list;
}

static inline uint64_t join(struct rig *rig, const char *name, uint64_t slots, const char *labels, const char *offers,
		     const char *pool)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };

	input.hello = (struct input_hello){
		.name = slice_str(name), .instance = slice_str("0123456789abcdef"), .slots = slots, .pid = 9,
		.labels = words(rig, labels), .offers = words(rig, offers), .pool = slice_str(pool) };
	rig_step(rig, &input);
	return input.conn;
}

static inline void load(struct rig *rig, uint64_t conn, uint64_t cpu_permille, uint64_t gpu_permille)
{
	struct core_input input = { .kind = INPUT_HEARTBEAT, .conn = conn };

	input.heartbeat = (struct msg_heartbeat){ .sent_ns = 7, .cpu_permille = cpu_permille, .gpu_permille = gpu_permille };
	rig_step(rig, &input);
}

static inline struct rec_worker_row worker(struct rig *rig, const char *name)
{
	struct rec_worker_row row = { 0 };

	for (uint64_t at = view_worker_after(rig->core, 0); at; at = view_worker_after(rig->core, at))
		if (view_worker(rig->core, at, &rig->arena, &row) && slice_eq(row.name, slice_str(name)))
			return row;
	CHECK(!"a worker of this name");
	return row;
}

/* The name of the worker that has the job, or "". */
static inline const char *holder(struct rig *rig, uint64_t run, const char *name)
{
	struct rec_job_row row = rig_job(rig, rig_named(rig, run, name));

	return row.state == STATE_READY ? "" : arena_strdup(&rig->arena, row.worker);
}

static inline void set(struct rig *rig, enum object_kind kind, enum set_verb verb, const char *name)
{
	rig_set(rig, (struct msg_set){ .kind = kind, .verb = verb, .name = slice_str(name) });
}

/* Submit one job alone and return the name of the worker that gets it. */
static inline const char *given(struct rig *rig, struct rec_job_spec wanted)
{
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "only", "");

	wanted.name = job->name;
	wanted.argv = job->argv;
	*job = wanted;
	return holder(rig, rig_submit(rig, &graph), "only");
}

static inline struct rec_job_spec *graph_on(struct graph *graph, const char *name, const char *worker_name)
{
	struct rec_job_spec *job = graph_job(graph, name, "");

	job->only_worker = slice_str(worker_name);
	return job;
}

static inline void done_after(struct rig *rig, struct rig_attempt attempt, uint64_t run_ms)
{
	struct core_input input = { .kind = INPUT_DONE };
	struct rec_done done = { .job = attempt.job, .epoch = attempt.epoch, .outcome = OUTCOME_EXIT,
		.started_ms = rig->now.wall_ms, .ended_ms = rig->now.wall_ms + 1, .run_ns = run_ms * NS_PER_MS };

	rig_started(rig, attempt);
	input.conn = attempt.conn;
	input.done.at = &done;
	input.done.n = 1;
	rig_step(rig, &input);
}

/* The worker reports the ends of both attempts in one message. */
static inline void done_together(struct rig *rig, struct rig_attempt first, struct rig_attempt second)
{
	struct rec_done done[] = {
		{ .job = first.job, .epoch = first.epoch, .outcome = OUTCOME_EXIT, .ended_ms = 1 },
		{ .job = second.job, .epoch = second.epoch, .outcome = OUTCOME_EXIT, .ended_ms = 1 },
	};
	struct core_input input = { .kind = INPUT_DONE, .conn = first.conn };

	input.done.at = done;
	input.done.n = 2;
	rig_step(rig, &input);
}

static inline void run_short(struct rig *rig, size_t count, uint64_t run_ms, struct rec_job_spec wanted)
{
	for (size_t i = 0; i < count; i++) {
		given(rig, wanted);
		done_after(rig, rig_must_take(rig), run_ms);
	}
}

static inline size_t out_of(struct rig *rig, size_t count, struct rec_job_spec wanted)
{
	struct graph graph = { 0 };
	size_t out = 0;
	uint64_t run;

	for (size_t i = 0; i < count; i++) {
		struct rec_job_spec *job;
		char name[24];

		snprintf(name, sizeof(name), "j%zu", i);
		job = graph_job(&graph, name, "");
		job->asks = wanted.asks;
		job->labels = wanted.labels;
	}
	run = rig_submit(rig, &graph);
	for (size_t i = 0; i < count; i++)
		out += rig_state(rig, view_job_at(rig->core, run, i)) == STATE_ASSIGNED;
	return out;
}

#endif
