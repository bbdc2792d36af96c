/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loops: a job that runs pass after pass until its condition holds or it had its most passes. A pass consists of
 * attempts of the same job, so the graph doesn't change, and each attempt has its own epoch and log. Tries and
 * crashes are counted anew in each pass. The number of finished passes is in the job's row, written in the turn in
 * which a pass ends, so a restart neither loses nor repeats a pass. The job itself ends once.
 */
#include "core/life/life.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/internal.h"
#include "core/people/people.h"
#include "core/time/time.h"

/*
 * Begin the next pass. A sub-run's next pass waits at least 1 ms, because a sub-run can end in the turn in which it
 * began and would loop for ever within that turn.
 */
static void again(struct core *core, struct job *job, const struct rec_job_spec *spec)
{
	int64_t wait_ms = (int64_t)spec->loop_delay_ms;

	if (wait_ms == 0 && job_is_subrun(job))
		wait_ms = 1;
	attempt_keep(core, job, core->now.wall_ms);
	job_extra(job)->passes++;
	if (!PLANTED(loop_keeps_its_tries)) {
		job->tries = 0;
		job->crashes = 0;
		job->interrupted = 0;
	}
	if (wait_ms == 0) {
		job_move(core, job, EVENT_AGAIN, STATE_READY);
		return;
	}
	job_move(core, job, EVENT_AGAIN, STATE_DELAYED);
	due_arm(core, job, TIMER_DUE, due_after(core, wait_ms),
		PLANTED(date_ignored_between_passes) ? 0 : spec->not_before_ms);
}

/* Check whether the job's sub-run was cancelled on its own: then no other pass is wanted. */
static bool child_cancelled(const struct job *job, enum job_state end)
{
	return job_is_subrun(job) && end == STATE_FAILED && job->outcome == OUTCOME_EXIT && job->code == SUBRUN_CANCELLED;
}

bool loop_holds(const struct job *job, const struct rec_job_spec *spec, enum job_state end)
{
	return job->flags & JOB_LOOP && !child_cancelled(job, end) && pass_meets(job, end, spec->loop_code);
}

static void pass_over(struct core *core, struct job *job, enum job_state end)
{
	struct rec_job_spec spec;
	bool holds;

	job_spec_decode(core, job, &spec);
	holds = loop_holds(job, &spec, end);
	if (!holds && job_passes(job) + !PLANTED(loop_one_pass_too_many) < spec.loop_max) {
		again(core, job, &spec);
		return;
	}
	job->stop_cause = EVENT_ENOUGH;
	job_move(core, job, EVENT_ENOUGH, holds || spec.loop_on_max == LOOP_MAX_OK ? STATE_SUCCEEDED : STATE_FAILED);
}

void attempt_over(struct core *core, struct job *job, enum job_event event, enum job_state end)
{
	if (job->flags & JOB_LOOP && !child_cancelled(job, end))
		pass_over(core, job, end);
	else
		job_move(core, job, event, end);
}

bool loop_row_sane(const struct job *job, const struct row_job *row)
{
	struct slice bytes = job_spec_bytes(job);
	struct arena arena = { 0 };
	struct rec_job_spec spec;

	if (!(job->flags & JOB_LOOP) || row->passes == 0)
		return row->passes == 0;
	CHECK(record_decode(REC_job_spec, &bytes, &arena, &spec, NULL) == ERR_NONE);
	arena_free(&arena);
	return (uint64_t)row->passes < spec.loop_max;    /* the cast turns a negative number into a huge one */
}

/* --- variables in the environment of a pass --- */

/* Return the innermost loop around a job: the job itself, or the parent job of a run around it; or NULL. */
static const struct job *loop_around(const struct core *core, const struct job *job)
{
	while (job && !(job->flags & JOB_LOOP))
		job = job->run->parent ? job_find(core, job->run->parent) : NULL;
	return job;
}

static struct slice pushback_variable(const struct core *core, const struct job *job, struct arena *arena)
{
	struct buf bytes = { 0 };
	struct slice copy;

	buf_add_str(&bytes, "TITAN_PUSHBACK=");
	buf_add_slice(&bytes, pushback_reason(core, job));
	copy = arena_copy(arena, buf_slice(&bytes));
	buf_free(&bytes);
	return copy;
}

static struct slice iteration_variable(const struct job *loop, struct arena *arena)
{
	struct buf bytes = { 0 };
	struct slice copy;

	buf_addf(&bytes, "TITAN_ITERATION=%u", job_passes(loop) + 1);
	copy = arena_copy(arena, buf_slice(&bytes));
	buf_free(&bytes);
	return copy;
}

/*
 * A worker of the version before doesn't know the setting shell, and would give the script to sh. It gets the interpreter as a
 * command, with the script behind -c, where the interpreter has that option.
 */
static void shell_before(struct rec_job_spec *spec, struct arena *arena)
{
	static const char sorry[] = "echo \"titan: the worker $TITAN_WORKER is too old to start $0; upgrade it\" >&2; exit 126";
	bool known = shell_reads_sh(spec->interpreter) || slice_eq(spec->interpreter, slice_str("python3"));
	struct slice *words = arena_alloc(arena, (SHELL_WORDS_MAX + 2) * sizeof(*words));
	size_t count = known ? shell_words(spec->interpreter, words) : shell_words(slice_str("/bin/sh"), words);

	words[count++] = slice_str("-c");
	words[count++] = known ? spec->script : slice_str(sorry);
	if (!known)
		words[count++] = spec->interpreter;
	spec->argv = (struct slice_list){ words, count };
	spec->script = spec->interpreter = slice_make(NULL, 0);
}

/* The version before doesn't know inputs: there the job fails and says why, rather than run without its files. */
static void inputs_before(struct rec_job_spec *spec, struct arena *arena)
{
	static const char sorry[] = "echo \"titan: the worker $TITAN_WORKER is too old to fetch the job's files; upgrade it\" >&2; exit 126";
	struct slice *words = arena_alloc(arena, 3 * sizeof(*words));

	words[0] = slice_str("/bin/sh");
	words[1] = slice_str("-c");
	words[2] = slice_str(sorry);
	spec->argv = (struct slice_list){ words, 3 };
	spec->script = spec->interpreter = spec->inputs = spec->stdin_text = slice_make(NULL, 0);
}

/*
 * A worker of the version before doesn't know the setting stdin: a shell writes the text into the pipe from which the command
 * reads.
 */
static void input_before(struct rec_job_spec *spec, struct arena *arena)
{
	const struct slice lead[] = {
		slice_str("/bin/sh"), slice_str("-c"), slice_str("printf %s \"$0\" | \"$@\""), spec->stdin_text, slice_str("/bin/sh"), slice_str("-c"), spec->script,
	};
	size_t count = spec->argv.n > 0 ? 4 : 7;
	struct slice *words = arena_alloc(arena, (count + spec->argv.n) * sizeof(*words));

	memcpy(words, lead, count * sizeof(*words));
	if (spec->argv.n > 0)
		memcpy(words + count, spec->argv.at, spec->argv.n * sizeof(*words));
	spec->argv = (struct slice_list){ words, count + spec->argv.n };
	spec->script = spec->stdin_text = slice_make(NULL, 0);
}

/* titan's variables go first: of equal names in an environment the first one counts. */
struct slice attempt_spec(struct core *core, const struct job *job, bool whole, bool before)
{
	const struct job *loop = job->flags & JOB_LOOP || job->run->parent ? loop_around(core, job) : NULL;
	struct arena *arena = &core->outbox->arena;
	struct rec_job_spec spec;
	struct buf bytes = { 0 };
	struct slice_list env;
	struct slice copy;

	whole = whole && job_context(job);
	if (!loop && !(job->flags & (JOB_PUSHED | JOB_TAKES)) && !whole && !before)
		return job_spec_bytes(job);
	job_spec_decode(core, job, &spec);
	if (before && (spec.inputs.len > 0 || spec.artifacts_in.n > 0))
		inputs_before(&spec, arena);
	else if (before && spec.interpreter.len > 0)
		shell_before(&spec, arena);
	if (before && spec.stdin_text.len > 0)
		input_before(&spec, arena);
	env.n = 0;
	env.at = arena_alloc(arena, (spec.env.n + spec.takes.n + 2) * sizeof(*env.at));
	if (job->flags & JOB_PUSHED)
		env.at[env.n++] = pushback_variable(core, job, arena);
	if (loop)
		env.at[env.n++] = iteration_variable(loop, arena);
	outputs_add(core, job, &spec, arena, &env);
	if (spec.env.n > 0)
		memcpy(env.at + env.n, spec.env.at, spec.env.n * sizeof(*env.at));
	env.n += spec.env.n;
	spec.env = env;
	if (whole)
		context_complete(blob_slice(job_context(job)), (enum job_kind)job->kind, arena, &spec);
	record_encode(&bytes, REC_job_spec, &spec);
	copy = arena_copy(arena, buf_slice(&bytes));
	buf_free(&bytes);
	return copy;
}
