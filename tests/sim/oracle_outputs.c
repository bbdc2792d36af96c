/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an attempt put out is durable together with the end of its job: the row of a job that succeeded has all that the job
 * declares, by the attempt that succeeded. If something is wrong with it, the job failed, and its row says what.
 */
#include "oracle.h"

#include <stdio.h>

#include "base/check.h"
#include "proto/job_output.h"
#include "proto/output_text.h"
#include "proto/spec.h"

static void outputs_row(struct sim_world *world, const struct row *any, struct oracle_job *job, const struct outbox *outbox)
{
	const struct row_job *row = &any->job;
	const struct rec_job_spec *spec = any->table == TABLE_job && !any->deleted ? oracle_spec(world, (uint64_t)row->job) : NULL;
	bool right, done, bad;
	struct buf bytes = { 0 };

	(void)job;
	(void)outbox;
	if (!spec)
		return;
	done = row->state == STATE_SUCCEEDED && row->outcome == OUTCOME_EXIT;
	bad = row->state == STATE_FAILED && row->outcome == OUTCOME_BAD_OUTPUT;
	right = sim_outputs_kind((uint64_t)row->job, (uint64_t)row->epoch) == SIM_OUTPUTS_RIGHT;
	if (spec->gate_fields.n > 0 || spec->computes.n > 0)
		return;                  /* oracle_people.c checks what gates put out, and computed_event what is computed */
	if (spec->outputs.n == 0 && (row->outputs.len > 0 || row->outcome == OUTCOME_BAD_OUTPUT))
		world_fail(world, "job %u declares no outputs, and its row has some", (unsigned)row->job);
	if (row->outputs.len > 0 && !done && !bad)
		world_fail(world, "job %u hasn't put out anything, and its row has outputs", (unsigned)row->job);
	if (spec->outputs.n == 0)
		return;
	if (right && row->outcome == OUTCOME_BAD_OUTPUT)
		world_fail(world, "the outputs of job %u are right, and it failed because of them", (unsigned)row->job);
	if (bad && row->outputs.len == 0)
		world_fail(world, "job %u put out what is wrong, and its row doesn't say what", (unsigned)row->job);
	/* A pass of a loop may meet its condition with any exit code; then the outputs count if they are right. */
	if (done && !right && (row->code == 0 || row->outputs.len > 0))
		world_fail(world, "job %u succeeded, and its outputs are wrong", (unsigned)row->job);
	sim_outputs(spec, (uint64_t)row->job, (uint64_t)row->epoch, &bytes);
	if (done && right && !slice_eq(row->outputs, buf_slice(&bytes)))
		world_fail(world, "job %u succeeded, and its row doesn't have what it put out", (unsigned)row->job);
	buf_free(&bytes);
}

/* ---- outputs that a job finds in its environment ---- */

static uint64_t serial_of(const struct sim_graph *graph, uint64_t first, struct slice name)
{
	for (uint32_t i = 0; i < graph->count; i++)
		if (slice_eq(graph->jobs[i].name, name))
			return first + i;
	return 0;
}

/*
 * Is it known what this job has put out now? The decided state may be ahead of the durable one, so its epoch is only known if
 * both agree. ret_wanted: the value.
 */
static bool value_known(struct sim_world *world, uint64_t from, bool second, char ret_wanted[64])
{
	const struct oracle_job *job = oracle_job(world, from);
	const struct rec_job_spec *spec = oracle_spec(world, from);

	if (job->durable != STATE_SUCCEEDED || job->decided != STATE_SUCCEEDED || job->round != job->round_decided ||
	    job->row.outcome != OUTCOME_EXIT || spec->outputs.n <= second ||
	    sim_outputs_kind(from, (uint64_t)job->row.epoch) != SIM_OUTPUTS_RIGHT)
		return false;
	snprintf(ret_wanted, 64, "%llu.%llu", (unsigned long long)from, (unsigned long long)job->row.epoch);
	return true;
}

/* Is this an output of this job? */
static bool value_is_of(struct slice found, uint64_t from)
{
	char lead[32];

	snprintf(lead, sizeof(lead), "%llu.", (unsigned long long)from);
	return found.len > strlen(lead) && memcmp(found.data, lead, strlen(lead)) == 0;
}

static void check_one(struct sim_world *world, uint64_t serial, uint64_t from, bool second, struct slice found)
{
	const struct rec_job_spec *spec = oracle_spec(world, from);
	char wanted[64];

	if (!spec)
		return;
	if (found.len > 0 && spec->outputs.n <= second)
		world_fail(world, "job %u finds an output of job %u, which declares none of that name", (unsigned)serial, (unsigned)from);
	if (found.len > 0 && !value_is_of(found, from))
		world_fail(world, "job %u finds what another job than %u put out", (unsigned)serial, (unsigned)from);
	if (value_known(world, from, second, wanted) && !slice_eq(found, slice_str(wanted)))
		world_fail(world, "job %u doesn't find what job %u put out", (unsigned)serial, (unsigned)from);
}

/* Take the next element off a JSON array of plain strings and nulls; empty for null. False: it isn't one. */
static bool take_element(struct slice *rest, bool first, struct slice *ret)
{
	const uint8_t *end;

	if (rest->len < 2 || rest->data[0] != (first ? '[' : ','))
		return false;
	*rest = slice_make(rest->data + 1, rest->len - 1);
	*ret = slice_make(NULL, 0);
	if (rest->len >= 4 && memcmp(rest->data, "null", 4) == 0) {
		*rest = slice_make(rest->data + 4, rest->len - 4);
		return true;
	}
	end = rest->data[0] == '"' ? memchr(rest->data + 1, '"', rest->len - 1) : NULL;
	if (!end)
		return false;
	*ret = slice_make(rest->data + 1, (size_t)(end - rest->data - 1));
	*rest = slice_make(end + 1, (size_t)(rest->data + rest->len - end - 1));
	return true;
}

/* Check what a job finds of all jobs of a fan-out. */
static void check_all(struct sim_world *world, uint64_t serial, const struct sim_graph *graph, uint64_t first, struct slice name,
		      struct slice found)
{
	uint64_t from;
	char text[48];

	for (uint32_t i = 0;; i++) {
		struct slice value;

		snprintf(text, sizeof(text), "%.*s[%u]", (int)name.len, (const char *)name.data, i);
		from = serial_of(graph, first, slice_str(text));
		if (!from && i > 0 && !slice_eq(found, slice_str("]")))
			world_fail(world, "job %u doesn't find one value for each job of a fan-out", (unsigned)serial);
		if (!from)
			return;
		if (!take_element(&found, i == 0, &value))
			world_fail(world, "job %u finds no array of the outputs of a fan-out", (unsigned)serial);
		check_one(world, serial, from, false, value);
	}
}

/* Check one variable of an attempt. */
static void check_take(struct sim_world *world, const struct rec_assign *assign, struct slice take, const struct slice_list *env)
{
	struct slice variable, name, output, found = { 0 };
	uint64_t first = 0, from, serial = assign->job, run = assign->run;
	const struct sim_graph *graph;
	unsigned up;

	if (!take_read(take, &variable, &up, &name, &output))
		world_fail(world, "job %u uses an output that can't be read", (unsigned)serial);
	for (size_t i = 0; i < env->n; i++)
		if (env->at[i].len > 2 && memcmp(env->at[i].data, take.data, 3) == 0)
			found = slice_make(env->at[i].data + 3, env->at[i].len - 3);
	for (; up > 0; up--) {
		const struct row *row = disk_get(&world->disk, TABLE_run, run);

		/* The sub-run may have begun in this turn. */
		if (!row || !row->run.parent)
			return;
		serial = (uint64_t)row->run.parent;
		run = (uint64_t)row->run.parent_run;
	}
	graph = oracle_graph(world, serial, &first);
	from = graph ? serial_of(graph, first, name) : 0;
	if (from)
		check_one(world, assign->job, from, slice_eq(output, slice_str("second")), found);
	else if (graph)
		check_all(world, assign->job, graph, first, name, found);
}

static void outputs_given(struct sim_world *world, const struct rec_assign *assign, struct oracle_job *job)
{
	const struct rec_job_spec *spec = oracle_spec(world, job->job);
	struct slice bytes = assign->spec;
	struct arena arena = { 0 };
	struct rec_job_spec given;

	if (!spec || spec->takes.n == 0)
		return;
	if (record_decode(REC_job_spec, &bytes, &arena, &given, NULL) != ERR_NONE)
		world_fail(world, "the specification of job %u can't be read", (unsigned)job->job);
	for (size_t i = 0; i < spec->takes.n; i++)
		check_take(world, assign, spec->takes.at[i], &given.env);
	arena_free(&arena);
}

/* ---- outputs that are computed ---- */

/* Write what a job has put out now, as its row says: the first output. False: nothing. */
static bool first_now(struct sim_world *world, uint64_t serial, struct buf *out)
{
	const struct rec_job_spec *spec = serial ? oracle_spec(world, serial) : NULL;
	const struct row *row = serial ? disk_get(&world->disk, TABLE_job, serial) : NULL;

	if (!spec || !row || spec->outputs.n == 0 || row->job.state != STATE_SUCCEEDED || row->job.outcome != OUTCOME_EXIT ||
	    sim_outputs_kind(serial, (uint64_t)row->job.epoch) != SIM_OUTPUTS_RIGHT)
		return false;
	buf_addf(out, "%llu.%llu", (unsigned long long)serial, (unsigned long long)row->job.epoch);
	return true;
}

/* The job of whose output a noop or a sub-run computes its own. */
static uint64_t computed_from(struct sim_world *world, const struct row_job *row, const struct rec_job_spec *spec, struct slice name)
{
	const struct row *child = spec->kind == KIND_NOOP ? NULL : disk_get(&world->disk, TABLE_run, (uint64_t)row->child);
	const struct sim_graph *graph;
	uint64_t first;

	if (child)
		return (uint64_t)child->run.first;
	graph = oracle_graph(world, (uint64_t)row->job, &first);
	return graph && spec->kind == KIND_NOOP ? serial_of(graph, first, name) : 0;
}

/* Check what a noop or a job with a sub-run puts out when it succeeds: what the job that it names has put out at that time. */
static void computed_event(struct sim_world *world, const struct rec_event *event, struct oracle_job *job, const struct rec_job_spec *spec,
			   int64_t wall_ms)
{
	const struct row *row = disk_get(&world->disk, TABLE_job, event->job);
	struct slice name, text, rest;
	struct buf wanted = { 0 };
	struct arena arena = { 0 };
	struct rec_job_output output = { 0 };
	struct text_part part;
	bool any;

	(void)wall_ms;
	if (!spec || spec->computes.n == 0 || event->to != STATE_SUCCEEDED || !row || row->job.state != STATE_SUCCEEDED ||
	    row->job.round != job->event_round)
		return;
	CHECK(computed_read(spec->computes.at[0], &name, &text));
	while (output_text_next(&text, &part) && !part.is_output)
		buf_add_slice(&wanted, part.text);
	any = first_now(world, computed_from(world, &row->job, spec, part.ref.job), &wanted);
	rest = row->job.outputs;
	if (job_output_next(&rest, &arena, &output) != any || (any && !slice_eq(output.value, buf_slice(&wanted))))
		world_fail(world, "job %u succeeded, and doesn't put out what it computes", (unsigned)event->job);
	buf_free(&wanted);
	arena_free(&arena);
}

const struct oracle_check oracle_outputs = { .event = computed_event, .row = outputs_row, .given = outputs_given };
