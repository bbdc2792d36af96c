/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a graph as a pipeline: the keys of the graph, then its jobs. The members of a fan-out are written as one job. */
#include "lang/pipeline_write.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "lang/pipeline_matrix.h"
#include "lang/yaml_text.h"
#include "proto/output_text.h"

/* ---- values ---- */

struct slice write_escape(struct slice text, struct arena *arena)
{
	struct matrix_ref ref;
	struct buf out = { 0 };
	struct slice copy;

	if (!matrix_next(text, 0, &ref))
		return text;
	matrix_escape(text, &out);
	copy = arena_copy(arena, buf_slice(&out));
	buf_free(&out);
	return copy;
}

void write_key(struct writer *writer, const char *key)
{
	buf_addf(writer->out, "%*s%s: ", (int)writer->indent, "", key);
}

void write_map(struct writer *writer, const char *key)
{
	buf_addf(writer->out, "%*s%s:\n", (int)writer->indent, "", key);
	writer->indent += 2;
}

void write_true(struct writer *writer, const char *key)
{
	buf_addf(writer->out, "%*s%s: true\n", (int)writer->indent, "", key);
}

void write_text(struct writer *writer, const char *key, struct slice text)
{
	write_key(writer, key);
	yaml_text(writer->out, write_escape(text, writer->arena), writer->indent + 2);
	buf_add_byte(writer->out, '\n');
}

void write_template(struct writer *writer, const char *key, struct slice text)
{
	write_key(writer, key);
	yaml_text(writer->out, writer->templated ? text : write_escape(text, writer->arena), writer->indent + 2);
	buf_add_byte(writer->out, '\n');
}

void write_words(struct writer *writer, const char *key, struct slice_list words)
{
	struct slice_list escaped = { arena_alloc(writer->arena, (words.n + 1) * sizeof(*words.at)), words.n };

	for (size_t i = 0; i < words.n; i++)
		escaped.at[i] = writer->templated ? words.at[i] : write_escape(words.at[i], writer->arena);
	write_key(writer, key);
	yaml_words(writer->out, &escaped);
	buf_add_byte(writer->out, '\n');
}

void write_number(struct writer *writer, const char *key, uint64_t number)
{
	write_key(writer, key);
	buf_addf(writer->out, "%" PRIu64 "\n", number);
}

void write_span(struct writer *writer, const char *key, uint64_t ms)
{
	char text[CLOCK_TEXT_SIZE];

	write_key(writer, key);
	buf_addf(writer->out, "%s\n", clock_write_span((int64_t)ms, text));
}

/* Write VARIABLE: ${jobs.JOB.outputs.NAME} for VARIABLE=[../]JOB/NAME. A job of a graph around is written like one of this graph. */
static void write_take(struct writer *writer, struct slice take)
{
	struct slice variable, job, output;
	struct buf text = { 0 };
	unsigned up;

	if (!take_read(take, &variable, &up, &job, &output))
		return;
	buf_add_str(&text, "${jobs.");
	buf_add_slice(&text, job);
	buf_add_str(&text, ".outputs.");
	buf_add_slice(&text, output);
	buf_add_byte(&text, '}');
	buf_addf(writer->out, "%*s%.*s: ", (int)writer->indent, "", (int)variable.len, (const char *)variable.data);
	yaml_text(writer->out, buf_slice(&text), writer->indent + 2);
	buf_add_byte(writer->out, '\n');
	buf_free(&text);
}

void write_output_text(struct writer *writer, struct slice text)
{
	struct buf out = { 0 }, plain = { 0 };
	struct text_part part;

	do {
		bool more = output_text_next(&text, &part);

		if (more && !part.is_output) {
			buf_add_slice(&plain, part.text);
			continue;
		}
		buf_add_slice(&out, write_escape(buf_slice(&plain), writer->arena));
		buf_clear(&plain);
		if (!more)
			break;
		buf_add_str(&out, "${jobs.");
		buf_add_slice(&out, part.ref.job);
		buf_add_str(&out, ".outputs.");
		buf_add_slice(&out, part.ref.output);
		buf_add_byte(&out, '}');
	} while (true);
	yaml_text(writer->out, buf_slice(&out), writer->indent + 2);
	buf_add_byte(writer->out, '\n');
	buf_free(&out);
	buf_free(&plain);
}

void write_outputs(struct writer *writer, struct slice_list entries)
{
	struct slice name, text;

	if (entries.n == 0)
		return;
	write_map(writer, "outputs");
	for (size_t i = 0; i < entries.n; i++) {
		if (!computed_read(entries.at[i], &name, &text))
			continue;
		buf_addf(writer->out, "%*s", (int)writer->indent, "");
		yaml_word(writer->out, name);
		buf_add_str(writer->out, ": ");
		write_output_text(writer, text);
	}
	writer->indent -= 2;
}

void write_env(struct writer *writer, struct slice_list env, struct slice_list takes)
{
	if (env.n + takes.n == 0)
		return;
	write_map(writer, "env");
	for (size_t i = 0; i < env.n; i++) {
		struct slice entry = env.at[i];
		const uint8_t *equals = entry.len > 0 ? memchr(entry.data, '=', entry.len) : NULL;
		size_t len = equals ? (size_t)(equals - entry.data) : entry.len;
		struct slice value = slice_make(entry.data + len + (equals != NULL), entry.len - len - (equals != NULL));

		buf_addf(writer->out, "%*s", (int)writer->indent, "");
		yaml_word(writer->out, slice_make(entry.data, len));
		buf_add_str(writer->out, ": ");
		yaml_text(writer->out, writer->templated ? value : write_escape(value, writer->arena), writer->indent + 2);
		buf_add_byte(writer->out, '\n');
	}
	for (size_t i = 0; i < takes.n; i++)
		write_take(writer, takes.at[i]);
	writer->indent -= 2;
}

/* ---- jobs ---- */

/* Return how many jobs, from this one on, are members of one fan-out; 0: this job isn't the first member of one. */
static uint64_t fan_width(const struct spec_graph *graph, uint64_t at)
{
	struct slice first = graph->jobs[at].name;
	size_t stem = spec_stem(first);
	uint64_t count = 0;

	if (stem == first.len)
		return 0;
	while (at + count < graph->count) {
		struct slice name = graph->jobs[at + count].name;
		uint64_t number;

		if (spec_stem(name) != stem || memcmp(name.data, first.data, stem) != 0 ||
		    !text_parse_u64(slice_make(name.data + stem + 1, name.len - stem - 2), &number) || number != count)
			break;
		count++;
	}
	return count;
}

static void write_one(struct writer *writer, uint64_t at, uint64_t width)
{
	struct write_fan fan = { .job = writer->graph->jobs[at] };

	if (width > 0)
		write_fan_make(&writer->graph->jobs[at], width, writer, &fan);
	buf_addf(writer->out, "%*s", (int)writer->indent, "");
	yaml_word(writer->out, fan.job.name);
	buf_add_str(writer->out, ":\n");
	writer->indent += 2;
	writer->templated = width > 0;
	if (width > 0)
		write_fan(writer, &fan);
	write_job(writer, &fan.job);
	writer->templated = false;
	writer->indent -= 2;
}

static void write_jobs(struct writer *writer, const char *key, bool final)
{
	bool any = false;

	for (uint64_t at = 0, width; at < writer->graph->count; at += width > 0 ? width : 1) {
		width = fan_width(writer->graph, at);
		if (writer->graph->jobs[at].final != final)
			continue;
		if (!any)
			write_map(writer, key);
		any = true;
		write_one(writer, at, width);
	}
	writer->indent -= any ? 2 : 0;
}

/* ---- the pipeline ---- */

/* Return the deadline of the pipeline; 0: not known. Only jobs with ALWAYS_PAST_DEADLINE surely have it from the pipeline. */
static uint64_t common_deadline(const struct spec_graph *graph)
{
	for (uint64_t i = 0; i < graph->count; i++)
		if (graph->jobs[i].always == ALWAYS_PAST_DEADLINE)
			return graph->jobs[i].deadline_ms;
	return 0;
}

static void write_concurrency(struct writer *writer)
{
	const struct spec_graph *graph = writer->graph;
	const uint8_t *equals = graph->concurrency.len > 0 ? memchr(graph->concurrency.data, '=', graph->concurrency.len) : NULL;
	size_t len = equals ? (size_t)(equals - graph->concurrency.data) : graph->concurrency.len;

	if (graph->max_jobs == 0 && graph->concurrency.len == 0)
		return;
	write_map(writer, "concurrency");
	if (graph->max_jobs > 0)
		write_number(writer, "max_jobs", graph->max_jobs);
	if (len > 0)
		write_text(writer, "group", slice_make(graph->concurrency.data, len));
	if (equals)
		write_text(writer, "max_runs", slice_make(equals + 1, graph->concurrency.len - len - 1));
	writer->indent -= 2;
}

static void write_schedule(struct writer *writer)
{
	static const char *const overlaps[] = { "skip", "queue", "allow" }, *const catchups[] = { "skip", "one", "all" };
	const struct rec_schedule_spec *spec = writer->graph->schedule;

	if (!spec)
		return;
	write_map(writer, "schedule");
	write_text(writer, "cron", spec->cron);
	if (spec->zone_name.len > 0)
		write_text(writer, "tz", spec->zone_name);
	if (spec->overlap > 0 && spec->overlap < 3)
		write_text(writer, "overlap", slice_str(overlaps[spec->overlap]));
	if (spec->catchup == CATCHUP_SPAN)
		write_span(writer, "catchup", spec->catchup_ms);
	else if (spec->catchup > 0 && spec->catchup < 3)
		write_text(writer, "catchup", slice_str(catchups[spec->catchup]));
	writer->indent -= 2;
}

static void write_graph(struct writer *writer)
{
	const struct spec_graph *graph = writer->graph;

	writer->deadline_ms = common_deadline(graph);
	if (graph->name.len > 0)
		write_text(writer, "name", graph->name);
	if (graph->tenant.len > 0)
		write_text(writer, "tenant", graph->tenant);
	write_schedule(writer);
	write_concurrency(writer);
	if (writer->deadline_ms > 0)
		write_span(writer, "deadline", writer->deadline_ms);
	write_env(writer, graph->env, (struct slice_list){ 0 });
	write_jobs(writer, "jobs", false);
	write_jobs(writer, "finally", true);
	write_outputs(writer, graph->outputs);
}

void write_sub(struct writer *writer, const struct rec_job_spec *job)
{
	struct spec_graph graph;
	struct writer inner = *writer;

	if (!spec_graph_of_sub(job, writer->arena, &graph))
		return;
	write_map(writer, "pipeline");
	inner.graph = &graph;
	inner.indent += 2;
	inner.templated = false;
	write_graph(&inner);
	writer->indent -= 2;
}

void pipeline_write(const struct spec_graph *graph, struct arena *arena, struct buf *out)
{
	struct writer writer = { .graph = graph, .arena = arena, .out = out };

	write_graph(&writer);
}
