/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of locks: jobs that want them, people who take them, and who has them. */
#ifndef TITAN_TESTS_CORE_LOCK_H
#define TITAN_TESTS_CORE_LOCK_H

#include "proto/reasons.h"
#include "tests/unit/core_rig.h"

static inline uint64_t submit(struct rig *rig, enum exec_mode mode, const char *one, const char *other)
{
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "j", "");
	struct slice *texts = arena_alloc(&graph.arena, 2 * sizeof(*texts));

	texts[0] = slice_str(one);
	texts[1] = slice_str(other);
	job->mode = mode;
	job->locks = (struct slice_list){ texts, other ? 2 : 1 };
	return rig_submit(rig, &graph);
}

static inline uint64_t wants(struct rig *rig, const char *lock)
{
	return submit(rig, EXEC_EXCLUSIVE, lock, NULL);
}

static inline uint64_t lock_act(struct rig *rig, enum set_verb verb, const char *lock, const char *owner, bool shared,
				uint64_t ttl_ms)
{
	rig_set(rig, (struct msg_set){ .kind = OBJECT_LOCK, .verb = verb, .name = slice_str(lock), .text = slice_str(owner),
				       .flag = shared, .span_ms = ttl_ms });
	return rig->ok.number;
}

/* Take the next assigned job and return the number of its run; 0: no job was assigned. */
static inline uint64_t given_run(struct rig *rig, struct rig_attempt *ret_attempt)
{
	*ret_attempt = (struct rig_attempt){ 0 };
	return rig_take(rig, ret_attempt) ? rig_job(rig, ret_attempt->job).run : 0;
}

static inline const char *why(struct rig *rig, uint64_t run)
{
	struct rec_job_row row = { 0 };
	uint64_t job = rig_named(rig, run, "j");

	CHECK(view_job(rig->core, job, VIEW_BRIEF, &rig->arena, &row));
	CHECK(view_explain(rig->core, job, &rig->arena, &row));
	return row.why_code == REASON_LOCKED ? arena_strdup(&rig->arena, row.why) : "";
}

static inline size_t lock_rows(struct rig *rig, struct rec_lock_row *rows)
{
	uint64_t cursor = 0;
	size_t count = 0;

	while ((cursor = view_lock(rig->core, cursor, &rig->arena, &rows[count])))
		count++;
	return count;
}

#endif
