/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who has a lock, for people: in words and as rows. The jobs are searched among the active and unknown ones when
 * somebody asks.
 */
#include "core/view/tell.h"

#include "base/text.h"
#include "core/graph/graph.h"
#include "core/people/people.h"
#include "core/place/place.h"
#include "core/queue/queue.h"
#include "core/time/time.h"
#include "core/view/internal.h"
#include "core/view/view.h"

#define JOBS_SHOWN 64                    /* most jobs listed as holders of a lock */
#define INDEX_BITS 24                    /* low bits of a cursor name the holder, the bits above name the lock */

/* --- jobs that have a lock --- */

struct finding {
	const struct lock *lock;
	const struct job *jobs[JOBS_SHOWN];
	size_t count;
};

static void find_job(struct finding *finding, const struct job *job)
{
	const struct lane *lane = job_lane(job);

	for (size_t i = 0; i < lane->claim_count && finding->count < JOBS_SHOWN; i++)
		if (lane->claims[i].bound == &finding->lock->bound)
			finding->jobs[finding->count++] = job;
}

static void find_jobs(const struct core *core, const struct lock *lock, struct finding *ret_finding)
{
	struct finding finding = { .lock = lock };

	for (size_t i = 0; i < core->worker_count && finding.count < lock->bound.active; i++)
		for (size_t at = 0; at < core->workers[i]->held_count; at++)
			find_job(&finding, core->workers[i]->held[at].job);
	for (const struct gate *gate = gate_after(core, 0); gate && finding.count < lock->bound.active;
	     gate = gate_after(core, gate->job)) {
		const struct job *job = job_find(core, gate->job);

		if (job->state == STATE_UNKNOWN)
			find_job(&finding, job);
	}
	*ret_finding = finding;
}

static struct slice job_name(const struct job *job, struct arena *arena)
{
	struct slice bytes = job_spec_bytes(job);
	struct rec_job_spec spec;

	CHECK(record_decode(REC_job_spec, &bytes, arena, &spec, NULL) == ERR_NONE);
	return spec.name;
}

/* --- in words --- */

static void tell_hold(const struct core *core, const struct lock_hold *hold, struct buf *words)
{
	buf_add_str(words, hold->owner);
	if (strcmp(hold->person, hold->owner) != 0)
		buf_addf(words, " (%s)", hold->person);
	if (hold->reason[0])
		buf_addf(words, ", because '%.200s',", hold->reason);
	buf_addf(words, " has it%s ", hold->shared ? ", shared," : "");
	if (hold->due_ms == 0) {
		buf_add_str(words, "until the person drops it");
		return;
	}
	buf_add_str(words, "for another ");
	text_add_span(words, hold->due_ms > steady_ms(core) ? hold->due_ms - steady_ms(core) : 0);
}

static void tell_job(const struct job *job, struct buf *words)
{
	struct arena arena = { 0 };
	struct slice name = job_name(job, &arena);

	buf_addf(words, "job %llu/%.*s", (unsigned long long)job->run->number, (int)name.len, (const char *)name.data);
	arena_free(&arena);
	if (job->state == STATE_UNKNOWN)
		buf_add_str(words, ", which a person has to settle,");
}

/*
 * Return the job that keeps out a job that would share the lock: a better one that waits to have it alone. NULL:
 * none.
 */
static const struct job *waits_before(const struct core *core, const struct lock *lock, const struct job *job)
{
	uint64_t first = lock_first_alone(core, lock);

	if (!job || !lane_shares(job_lane(job), &lock->bound) || first >= ready_key(job))
		return NULL;
	return ready_job(core, first);
}

void lock_tell(const struct core *core, const struct lock *lock, const struct job *job, struct buf *words)
{
	const struct job *before = waits_before(core, lock, job);
	uint64_t more = lock->bound.active + lock->hold_count;
	struct finding finding;

	if (job)
		buf_addf(words, "the job needs lock %s%s: ", lock->name, lane_shares(job_lane(job), &lock->bound) ? ", shared" : "");
	if (more == 0) {                 /* nobody holds the lock, so it keeps nobody out */
		buf_add_str(words, "nobody has it");
		return;
	}
	find_jobs(core, lock, &finding);
	if (lock->hold_count > 0) {
		tell_hold(core, lock->holds[0], words);
	} else {
		tell_job(finding.jobs[0], words);
		buf_addf(words, " has it%s until the job's attempt is gone", lock->alone ? "" : ", shared,");
	}
	if (more > 1)
		buf_addf(words, ", and %llu more", (unsigned long long)more - 1);
	if (!before)
		return;
	buf_add_str(words, "; ");
	tell_job(before, words);
	buf_add_str(words, " waits to have the lock alone, and comes first");
}

/* --- rows --- */

static void row_of_hold(const struct core *core, const struct lock_hold *hold, struct rec_lock_row *row)
{
	row->shared = hold->shared;
	row->owner = slice_str(hold->owner);
	row->person = slice_str(hold->person);
	row->reason = slice_str(hold->reason);
	row->fence = hold->fence;
	row->taken_ms = hold->taken_ms;
	row->until_ms = due_wall_ms(core, hold->due_ms);
}

/* Make the row of the holder at this index; people come before jobs. Return false at the end. */
static bool row_of_lock(const struct core *core, const struct lock *lock, uint64_t at, struct arena *arena,
			struct rec_lock_row *ret_row)
{
	struct rec_lock_row row = { .name = slice_str(lock->name), .waiting = waiting_at(&lock->bound) };
	struct finding finding;

	if (at < lock->hold_count) {
		row_of_hold(core, lock->holds[at], &row);
		*ret_row = row;
		return true;
	}
	at -= lock->hold_count;
	if (at >= lock->bound.active || at >= JOBS_SHOWN)
		return false;
	find_jobs(core, lock, &finding);
	CHECK(at < finding.count);
	row.job = job_serial(finding.jobs[at]);
	row.run = finding.jobs[at]->run->number;
	row.job_name = job_name(finding.jobs[at], arena);
	row.shared = lane_shares(job_lane(finding.jobs[at]), &lock->bound);
	row.taken_ms = finding.jobs[at]->started_ms;
	if (at + 1 == JOBS_SHOWN)
		row.others = lock->bound.active - JOBS_SHOWN;
	*ret_row = row;
	return true;
}

uint64_t view_lock(const struct core *core, uint64_t cursor, struct arena *arena, struct rec_lock_row *ret_row)
{
	uint64_t at = cursor & ((UINT64_C(1) << INDEX_BITS) - 1);
	size_t slot = (size_t)(cursor >> INDEX_BITS), next = slot;
	struct slice name;
	void *value;

	for (; name_map_next(&core->locks, &next, &name, &value); slot = next, at = 0)
		if (row_of_lock(core, value, at, arena, ret_row))
			return (uint64_t)slot << INDEX_BITS | (at + 1);
	return 0;
}
