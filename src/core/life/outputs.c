/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What jobs put out. The values of an attempt come with its result and are kept in the job's row, in the same turn, so a job never
 * succeeds without them. An attempt that exits with 0 and put out something wrong, or not all that its job declares, failed.
 */
#include "core/life/life.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/planted.h"
#include "base/text.h"
#include "core/graph/graph.h"
#include "core/life/internal.h"
#include "proto/job_output.h"
#include "proto/output_text.h"

static struct slice sent_outputs(const struct core_input *input, const struct rec_done *done)
{
	for (size_t i = 0; i < input->done.output_count; i++)
		if (input->done.outputs[i].job == done->job && input->done.outputs[i].epoch == done->epoch)
			return input->done.outputs[i].outputs;
	return slice_make(NULL, 0);
}

static bool is_listed(struct slice_list names, struct slice name)
{
	for (size_t i = 0; i < names.n; i++)
		if (slice_eq(names.at[i], name))
			return true;
	return false;
}

static bool is_sent(struct slice outputs, struct slice name, struct arena *arena)
{
	struct rec_job_output output;

	while (job_output_next(&outputs, arena, &output))
		if (slice_eq(output.name, name))
			return true;
	return false;
}

/* What is wrong with these outputs of a job? ret->fault is OUTPUT_NONE if all is right. */
static void find_fault(const struct job *job, const struct rec_job_spec *spec, struct slice outputs, struct arena *arena,
		       struct rec_job_output *ret)
{
	struct slice rest = outputs;
	struct rec_job_output output;

	*ret = (struct rec_job_output){ 0 };
	while (job_output_next(&rest, arena, &output)) {
		*ret = (struct rec_job_output){ .name = output.name, .line = output.line, .fault = output.fault };
		if (output.fault == OUTPUT_NONE && !is_listed(spec->outputs, output.name))
			ret->fault = OUTPUT_UNDECLARED;
		else if (output.fault == OUTPUT_NONE && output.value.len > LIMIT_OUTPUT_VALUE_MAX)
			ret->fault = OUTPUT_LONG;
		if (ret->fault != OUTPUT_NONE)
			return;
	}
	if (rest.len > 0)
		ret->fault = OUTPUT_SYNTAX;
	else if (outputs.len > LIMIT_OUTPUT_JOB_MAX + LIMIT_OUTPUTS_MAX * 32)
		ret->fault = OUTPUT_JOB_FULL;
	else if (outputs.len > 0 && job->run->output_bytes + outputs.len > LIMIT_OUTPUT_RUN_MAX)
		ret->fault = OUTPUT_RUN_FULL;
	for (size_t i = 0; i < spec->outputs.n && ret->fault == OUTPUT_NONE; i++)
		if (!is_sent(outputs, spec->outputs.at[i], arena))
			*ret = (struct rec_job_output){ .name = spec->outputs.at[i], .fault = OUTPUT_MISSING };
}

struct slice outputs_judge(struct core *core, const struct job *job, const struct core_input *input, struct rec_done *done)
{
	struct arena *arena = &core->outbox->arena;
	struct rec_job_output fault;
	struct rec_job_spec spec;
	struct slice outputs;
	struct buf bytes = { 0 };

	if (!job || !(job->flags & JOB_OUTPUTS) || done->outcome != OUTCOME_EXIT)
		return slice_make(NULL, 0);
	outputs = sent_outputs(input, done);
	job_spec_decode(core, job, &spec);
	find_fault(job, &spec, outputs, arena, &fault);
	if (fault.fault == OUTPUT_NONE || PLANTED(outputs_not_judged))
		return outputs;
	/* A failure stays as it is: what a failed attempt put out doesn't count. */
	if (done->code != 0)
		return slice_make(NULL, 0);
	done->outcome = OUTCOME_BAD_OUTPUT;
	done->code = fault.line;
	record_encode(&bytes, REC_job_output, &fault);
	outputs = arena_copy(arena, buf_slice(&bytes));
	buf_free(&bytes);
	return outputs;
}

/* Can a job that ended like this have outputs, or a wrong one? */
static bool may_have(const struct job *job, int64_t state, int64_t outcome)
{
	if (job->kind == KIND_GATE || job->kind == KIND_NOOP)
		return state == STATE_SUCCEEDED;
	return (state == STATE_SUCCEEDED && outcome == OUTCOME_EXIT) || (state == STATE_FAILED && outcome == OUTCOME_BAD_OUTPUT);
}

void outputs_offer(const struct job *job, struct slice outputs)
{
	if (job->flags & JOB_LOOP)
		job_outputs_set(job, outputs);
}

void outputs_keep(const struct job *job, struct slice outputs)
{
	if (may_have(job, job->state, job->outcome))
		job_outputs_set(job, outputs);
	else if (job->flags & JOB_LOOP)
		job_outputs_set(job, slice_make(NULL, 0));
}

bool outputs_row_sane(const struct job *job, const struct row_job *row)
{
	return row->outputs.len == 0 || (job->flags & JOB_OUTPUTS && may_have(job, row->state, row->outcome));
}

void outputs_check(const struct job *job)
{
	CHECK(job_outputs(job).len == 0 || may_have(job, job->state, job->outcome));
}

/* ---- outputs of other jobs ---- */

static bool find_value(const struct job *from, struct slice name, struct arena *arena, struct slice *ret)
{
	struct slice rest = job_outputs(from);
	struct rec_job_output output;

	while (job_output_next(&rest, arena, &output)) {
		if (output.fault != OUTPUT_NONE || !slice_eq(output.name, name))
			continue;
		*ret = output.value;
		return true;
	}
	return false;
}

/* Add the value of one job. No variable can have a zero byte. */
static bool add_value(const struct job *from, struct slice output, struct arena *arena, struct buf *text)
{
	struct slice value;

	if (!find_value(from, output, arena, &value) || (value.len > 0 && memchr(value.data, 0, value.len) != NULL))
		return false;
	buf_add_slice(text, value);
	return true;
}

/* Add the values of all jobs of a fan-out, in their order, as a JSON array; null stands for a job without one. */
static bool add_values(const struct core *core, struct run *run, struct slice fan_out, struct slice output, struct arena *arena, struct buf *text)
{
	char name[LIMIT_NAME_MAX_LEN + 16];
	bool first = true;
	uint32_t count = 0;

	buf_add_byte(text, '[');
	for (;; count++) {
		int len = snprintf(name, sizeof(name), "%.*s[%" PRIu32 "]", (int)fan_out.len, (const char *)fan_out.data, count);
		const struct job *from = run_job_named(core, run, slice_make((const uint8_t *)name, (size_t)len));
		struct slice value;

		if (!from)
			break;
		if (count == LIMIT_TAKE_JOBS_MAX || text->len > LIMIT_VARIABLE_MAX)
			return false;
		if (PLANTED(outputs_gap_closed) && !find_value(from, output, arena, &value))
			continue;
		buf_add_str(text, first ? "" : ",");
		first = false;
		if (find_value(from, output, arena, &value))
			text_add_json(text, value);
		else
			buf_add_str(text, "null");
	}
	buf_add_byte(text, ']');
	return count > 0 && text->len <= LIMIT_VARIABLE_MAX;
}

/* The run that is so many levels around this one; NULL: there is none. */
static struct run *run_around(const struct core *core, struct run *run, unsigned levels)
{
	while (run && levels-- > PLANTED(outputs_of_the_same_run)) {
		const struct job *job = run->parent ? job_find(core, run->parent) : NULL;

		run = job ? job->run : NULL;
	}
	return run;
}

/* ---- texts with outputs in them ---- */

/* Add what an output is; false: there is none. */
static bool add_ref(const struct core *core, struct run *run, const struct output_ref *ref, struct arena *arena, struct buf *text)
{
	struct run *around = run_around(core, run, ref->up);
	const struct job *from = around ? run_job_named(core, around, ref->job) : NULL;
	struct slice value;

	if (!from)
		return around && add_values(core, around, ref->job, ref->output, arena, text);
	if (!find_value(from, ref->output, arena, &value))
		return false;
	buf_add_slice(text, value);
	return true;
}

bool outputs_expand(const struct core *core, struct run *run, struct slice text, const char *missing, struct arena *arena, struct buf *out)
{
	struct text_part part;
	bool whole = true;

	while (output_text_next(&text, &part)) {
		struct buf value = { 0 };

		if (!part.is_output)
			buf_add_slice(out, part.text);
		else if (add_ref(core, run, &part.ref, arena, &value))
			buf_add_slice(out, buf_slice(&value));
		else if (missing)
			buf_add_str(out, missing);
		else
			whole = false;
		buf_free(&value);
	}
	return whole;
}

struct slice outputs_compute(struct core *core, const struct job *job, struct run *run, enum output_fault *ret_fault)
{
	struct arena *arena = &core->outbox->arena;
	struct slice encoded = job_spec_bytes(job), kept;
	struct buf bytes = { 0 }, value = { 0 };
	struct rec_job_spec spec;

	*ret_fault = OUTPUT_NONE;
	if (!(job->flags & JOB_OUTPUTS))
		return slice_make(NULL, 0);
	CHECK(record_decode(REC_job_spec, &encoded, arena, &spec, NULL) == ERR_NONE);
	for (size_t i = 0; i < spec.computes.n && *ret_fault == OUTPUT_NONE; i++) {
		struct rec_job_output output = { 0 };
		struct slice text;

		computed_read(spec.computes.at[i], &output.name, &text);
		buf_clear(&value);
		if (!outputs_expand(core, run, text, NULL, arena, &value))
			continue;
		output.value = buf_slice(&value);
		if (value.len > LIMIT_OUTPUT_VALUE_MAX)
			*ret_fault = OUTPUT_LONG;
		else if (bytes.len + value.len > LIMIT_OUTPUT_JOB_MAX)
			*ret_fault = OUTPUT_JOB_FULL;
		else if (job->run->output_bytes + bytes.len + value.len > LIMIT_OUTPUT_RUN_MAX)
			*ret_fault = OUTPUT_RUN_FULL;
		if (*ret_fault != OUTPUT_NONE) {
			buf_clear(&bytes);
			output.value = slice_make(NULL, 0);
			output.fault = *ret_fault;
		}
		record_encode(&bytes, REC_job_output, &output);
	}
	kept = arena_copy(arena, buf_slice(&bytes));
	buf_free(&bytes);
	buf_free(&value);
	return PLANTED(outputs_not_computed) ? slice_make(NULL, 0) : kept;
}

void outputs_add(struct core *core, const struct job *job, const struct rec_job_spec *spec, struct arena *arena, struct slice_list *env)
{
	size_t bytes = 0;

	for (size_t i = 0; i < spec->takes.n; i++) {
		struct slice variable, name, output;
		const struct job *from;
		struct buf text = { 0 };
		struct run *run;
		unsigned up;
		bool found;

		CHECK(take_read(spec->takes.at[i], &variable, &up, &name, &output));
		buf_add_slice(&text, variable);
		buf_add_byte(&text, '=');
		run = run_around(core, job->run, up);
		from = run ? run_job_named(core, run, name) : NULL;
		found = from ? add_value(from, output, arena, &text) : run && add_values(core, run, name, output, arena, &text);
		bytes += found ? text.len : 0;
		if (found && bytes <= LIMIT_OUTPUT_JOB_MAX && !PLANTED(outputs_not_given))
			env->at[env->n++] = arena_copy(arena, buf_slice(&text));
		buf_free(&text);
	}
}
