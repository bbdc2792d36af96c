/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why the runs and jobs of a list wait: what explain says, for whole pages. So it takes no steps whose number grows
 * with the cluster: explain's longest searches are left out, and looking for a run's waiting job has a limit.
 */
#include "core/graph/graph.h"
#include "core/view/explain.h"
#include "core/view/view.h"

/* Does a job in this state wait for something? A running job doesn't, and neither does one that has ended. */
static bool waits(enum job_state state)
{
	return state_table[state].kind == KIND_WAITS || state == STATE_ASSIGNED || state == STATE_STOPPING;
}

void view_why_job(const struct core *core, uint64_t serial, struct arena *arena, struct rec_job_row *row)
{
	const struct job *job = job_find(core, serial);

	if (job && waits(job->state))
		explain_job(core, job, true, arena, row);
}

/* The state whose jobs say best what the run waits for: first those that need a person. */
static enum job_state telling_state(const struct run *run)
{
	static const enum job_state order[] = { STATE_UNKNOWN, STATE_APPROVAL, STATE_READY, STATE_DELAYED };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (run->counts[order[i]] > 0)
			return order[i];
	return STATE_COUNT;
}

static const struct job *first_in(const struct run *run, enum job_state state, size_t *steps)
{
	for (const struct job *job = run_job(run, 0); job && *steps > 0; job = job_next(job)) {
		--*steps;
		if (job->state == state)
			return job;
	}
	return NULL;
}

static void tell_run(const struct core *core, const struct run *run, const struct job *job, enum job_state state,
		     struct arena *arena, struct buf *words, struct rec_run_row *row)
{
	uint32_t count = run->counts[state];
	struct rec_job_row told = { 0 };
	struct rec_job_spec spec;
	struct slice bytes;

	if (!job) {
		/* The run is larger than the limit of steps, so tell only how many wait. */
		buf_addf(words, "%u job%s %s: %s", count, count == 1 ? " is" : "s are", state_table[state].name, state_table[state].fact);
		return;
	}
	bytes = job_spec_bytes(job);
	CHECK(record_decode(REC_job_spec, &bytes, arena, &spec, NULL) == ERR_NONE);
	explain_job(core, job, true, arena, &told);
	row->why_code = told.why_code;
	buf_add_slice(words, spec.name);
	if (count > 1)
		buf_addf(words, " and %u more", count - 1);
	buf_add_str(words, ": ");
	buf_add_slice(words, told.why);
}

void view_why_run(const struct core *core, uint64_t number, struct arena *arena, size_t *steps, struct rec_run_row *row)
{
	const struct run *run = run_find(core, number);
	enum job_state state = run && run->ended_ms == 0 ? telling_state(run) : STATE_COUNT;
	struct buf words = { 0 };

	if (run && run->ended_ms == 0 && run->held) {
		row->why_code = REASON_HELD;
		buf_add_str(&words, "a person put a hold on the run");
	} else if (state < STATE_COUNT) {
		tell_run(core, run, first_in(run, state, steps), state, arena, &words, row);
	}
	row->why = arena_copy(arena, buf_slice(&words));
	buf_free(&words);
}
