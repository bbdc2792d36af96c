/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes jobs from the names of a graph; prints errors for people. */
#include "lang/dagline.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/check.h"
#include "base/text.h"
#include "lang/dag_expr.h"
#include "lang/pipeline_matrix.h"
#include "proto/input.h"
#include "proto/output_text.h"

#define LINE_SHOWN 100                   /* most cells of a line that are shown with an error */

void job_command(struct slice command, struct arena *arena, struct rec_job_spec *spec)
{
	struct buf words = { 0 };
	size_t count = 0;

	if (text_split_plain(command, &words, &count) && count > 0) {
		struct slice copy = arena_copy(arena, buf_slice(&words));

		spec->argv.at = arena_zalloc(arena, count, sizeof(struct slice));
		spec->argv.n = count;
		for (size_t i = 0; i < count; i++) {
			size_t len = strnlen((const char *)copy.data, copy.len);

			spec->argv.at[i] = slice_make(copy.data, len);
			if (i + 1 < count)
				copy = slice_make(copy.data + len + 1, copy.len - len - 1);
		}
	} else {
		spec->script = command;
	}
	buf_free(&words);
}

static struct slice text_make(struct arena *arena, const char *prefix, struct slice value)
{
	size_t len = strlen(prefix);
	uint8_t *copy = arena_alloc(arena, len + value.len + 1);

	memcpy(copy, prefix, len);
	if (value.len > 0)
		memcpy(copy + len, value.data, value.len);
	return slice_make(copy, len + value.len);
}

static bool is_named(const struct slice_list *env, struct slice entry)
{
	const uint8_t *equals = entry.len > 0 ? memchr(entry.data, '=', entry.len) : NULL;
	size_t len = equals ? (size_t)(equals + 1 - entry.data) : entry.len;

	for (size_t i = 0; i < env->n; i++)
		if (env->at[i].len >= len && memcmp(env->at[i].data, entry.data, len) == 0)
			return true;
	return false;
}

/* Add a variable of the job, unless the command line sets it for all jobs. */
static void env_add(const struct job_defaults *defaults, struct slice entry, struct slice_list *env)
{
	if (!is_named(&defaults->env, entry))
		env->at[env->n++] = entry;
}

static void job_env(const struct dag_node *node, uint64_t place, const struct job_defaults *defaults,
		    struct arena *arena, struct slice_list *env)
{
	size_t count = node->env.n + (node->fan ? 3 : 0);

	if (count == 0)
		return;
	env->at = arena_zalloc(arena, count, sizeof(struct slice));
	for (size_t i = 0; i < node->env.n; i++)
		env_add(defaults, node->env.at[i], env);
	if (node->fan) {
		char number[24];
		struct slice item;

		snprintf(number, sizeof(number), "%" PRIu64, place);
		item = node->items.n ? node->items.at[place] : slice_str(number);
		env->at[env->n++] = text_make(arena, "TITAN_INDEX=", slice_str(number));
		env->at[env->n++] = text_make(arena, "TITAN_ITEM=", item);
		env_add(defaults, text_make(arena, "i=", item), env);
	}
}

struct slice dag_context(const struct dagline *dag, const struct job_defaults *defaults, struct arena *arena)
{
	struct rec_run_context context = {
		.dir = defaults->dir, .machine = defaults->machine, .here_dir = defaults->here_dir, .here_boot = defaults->here_boot,
		.here_view = defaults->here_view, .here_device = defaults->here_device, .here_inode = defaults->here_inode,
		.here_source = defaults->here_source,
	};
	struct slice_list *env = &context.env;
	size_t own = dag ? dag->env.n : 0;
	struct buf bytes = { 0 };
	struct slice copy;

	if (defaults->dir.len == 0 && defaults->machine.len == 0 && defaults->env.n + own == 0)
		return slice_make(NULL, 0);
	env->at = arena_zalloc(arena, defaults->env.n + own + 1, sizeof(*env->at));
	for (size_t i = 0; i < defaults->env.n; i++)
		if (!is_named(env, defaults->env.at[i]))
			env->at[env->n++] = defaults->env.at[i];
	for (size_t i = 0; i < own; i++)
		if (!is_named(env, dag->env.at[i]))
			env->at[env->n++] = dag->env.at[i];
	context.here_env.at = arena_zalloc(arena, defaults->here_env.n + 1, sizeof(*env->at));
	for (size_t i = 0; i < defaults->here_env.n; i++)
		if (!is_named(env, defaults->here_env.at[i]))
			context.here_env.at[context.here_env.n++] = defaults->here_env.at[i];
	record_encode(&bytes, REC_run_context, &context);
	copy = arena_copy(arena, buf_slice(&bytes));
	buf_free(&bytes);
	return copy;
}

static void job_needs(const struct dagline *dag, const struct dag_node *node, struct arena *arena,
		      struct rec_job_spec *spec)
{
	size_t count = 0, at = 0;
	bool all_ok = true;

	for (size_t i = 0; i < node->need_count; i++) {
		count += dag->nodes[node->needs[i].parent]->width;
		all_ok = all_ok && node->needs[i].trigger == TRIGGER_OK;
	}
	if (count == 0)
		return;
	spec->needs.at = arena_zalloc(arena, count, sizeof(uint64_t));
	spec->needs.n = count;
	if (!all_ok) {
		spec->triggers.at = arena_zalloc(arena, count, sizeof(uint64_t));
		spec->triggers.n = count;
	}
	for (size_t i = 0; i < node->need_count; i++) {
		const struct dag_node *parent = dag->nodes[node->needs[i].parent];

		for (uint64_t k = 0; k < parent->width; k++, at++) {
			spec->needs.at[at] = (parent->old ? dag->job_count + parent->old_first : parent->first) + k;
			if (!all_ok)
				spec->triggers.at[at] = node->needs[i].trigger;
		}
	}
}

static void job_conditions(const struct dagline *dag, const struct dag_node *node, struct arena *arena,
			   struct rec_job_spec *spec)
{
	if (node->needs_expr != NULL)
		spec->needs_code = dag_expr_code(dag, node, node->needs_expr, arena);
	if (node->when_expr != NULL)
		spec->when_code = dag_expr_code(dag, node, node->when_expr, arena);
	spec->needs_text = node->needs_text;
	spec->when = node->when;
}

static const struct dag_node *node_of(const struct dagline *dag, uint64_t index)
{
	size_t low = 0, high = dag->node_count;

	CHECK(index < dag->job_count);
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (dag->nodes[middle]->first <= index)
			low = middle;
		else
			high = middle;
	}
	return dag->nodes[low];
}

struct slice dag_sub_bytes(const struct dag_sub *sub, const struct job_defaults *defaults, struct arena *arena)
{
	struct job_defaults inner = *defaults;
	struct buf bytes = { 0 };
	struct slice copy;

	/* A job in a sub-run gets these settings from the job whose work the sub-run is. */
	inner.priority = 0;
	inner.deadline_ms = 0;
	for (uint64_t i = 0; i < sub->dag.job_count; i++) {
		struct arena scratch = { 0 };
		struct rec_job_spec spec;

		dagline_job(&sub->dag, i, &inner, &scratch, &spec);
		record_encode(&bytes, REC_job_spec, &spec);
		arena_free(&scratch);
	}
	copy = arena_copy(arena, buf_slice(&bytes));
	buf_free(&bytes);
	return copy;
}

static void job_failure(const struct dag_node *node, struct rec_job_spec *spec)
{
	spec->backoff_ms = node->backoff_ms;
	spec->backoff_max_ms = node->backoff_max_ms;
	spec->backoff_exact = node->jitter == JITTER_OFF;
	spec->retry_on = node->retry_on;
	spec->retry_codes = node->retry_codes;
	if (node->group_parallel || node->group_fail_fast) {
		spec->group = node->first + 1;
		spec->group_parallel = node->group_parallel;
		spec->group_fail_fast = node->group_fail_fast;
	}
}

/*
 * The context of a sub-run; empty: the run's context applies. A sub-run has one of its own only if its file or the
 * run's file sets variables.
 */
static struct slice sub_context(const struct dagline *dag, const struct dag_sub *sub, const struct job_defaults *defaults,
				struct arena *arena)
{
	const uint8_t empty_map = 0x80;
	struct slice bytes;

	if (dag->env.n == 0 && sub->dag.env.n == 0)
		return slice_make(NULL, 0);
	bytes = dag_context(&sub->dag, defaults, arena);
	return bytes.len > 0 ? bytes : arena_copy(arena, slice_make(&empty_map, 1));
}

/* Set the specification of a job that is a sub-run. The defaults apply to the jobs inside it. */
static void job_sub(const struct dagline *dag, const struct dag_node *node, uint64_t place, const struct job_defaults *defaults,
		    struct arena *arena, struct rec_job_spec *spec)
{
	const struct dag_sub *sub = node->subs ? &node->subs[place % node->sub_count] : NULL;

	spec->sub_name = sub ? sub->name : node->sub_path;
	spec->retry_max = node->retry_max;
	job_failure(node, spec);
	if (!sub)
		return;
	spec->sub_jobs = dag_sub_bytes(sub, defaults, arena);
	spec->sub_context = sub_context(dag, sub, defaults, arena);
	spec->sub_count = sub->dag.job_count;
	spec->sub_max_jobs = sub->max_jobs;
	spec->sub_concurrency = sub->concurrency;
	spec->computes = sub->outputs;
}

/* The files of the command line, and those of the job with other names. */
static struct slice job_inputs(const struct dag_node *node, const struct job_defaults *defaults, struct arena *arena)
{
	struct slice rest = node->inputs, copy;
	struct buf all = { 0 };
	struct rec_input input;

	if (rest.len == 0 || defaults->inputs.len == 0)
		return rest.len > 0 ? rest : defaults->inputs;
	while (input_next(&rest, arena, &input))
		if (!inputs_have_path(defaults->inputs, input.path))
			record_encode(&all, REC_input, &input);
	buf_add_slice(&all, defaults->inputs);
	copy = arena_copy(arena, buf_slice(&all));
	buf_free(&all);
	return copy;
}

/* Set the parts of a specification that only jobs with a process have. */
static void job_work(const struct dag_node *node, uint64_t place, const struct job_defaults *defaults,
		     struct arena *arena, struct rec_job_spec *spec)
{
	if (node->words.n > 0)
		spec->argv = node->words;
	else if (spec->interpreter.len > 0)
		spec->script = node->command;
	else
		job_command(node->command, arena, spec);
	job_env(node, place, defaults, arena, &spec->env);
	spec->dir = node->dir;
	spec->mode = node->mode ? node->mode - 1 : (uint64_t)defaults->mode;
	spec->retry_max = node->retry_max || node->retry_said ? node->retry_max : defaults->retry_max;
	if (spec->timeout_ms == 0)
		spec->timeout_ms = defaults->timeout_ms;
	spec->crash_limit = node->crash_limit;
	spec->log_max = node->log_max;
	spec->worker_death = node->worker_death ? node->worker_death - 1 : DEATH_ADOPT;
	spec->labels = node->labels.n > 0 ? node->labels : defaults->labels;
	demand_spec(&node->placing, spec);
	if (spec->asks.n == 0)
		spec->asks = defaults->asks;
	if (spec->requires.n == 0)
		spec->requires = defaults->requires;
	if (spec->topic.len == 0)
		spec->topic = defaults->topic;
	spec->concurrency = node->concurrency;
	spec->locks = node->locks;
	spec->kv_read = node->kv_read;
	spec->kv_write = node->kv_write;
	spec->outputs = node->outputs;
	spec->inputs = job_inputs(node, defaults, arena);
	spec->artifacts = node->artifacts;
	/*
	 * A job with locks must not run twice at the same time. An explicit mode: retry with locks was refused earlier.
	 */
	if (spec->locks.n > 0 && spec->mode == EXEC_RETRY)
		spec->mode = EXEC_EXCLUSIVE;
	job_failure(node, spec);
}

/* Set what only services have, and drop the defaults of jobs that are meant to end. */
static void job_service(const struct dag_node *node, struct rec_job_spec *spec)
{
	const struct dag_service *service = &node->service;

	spec->retry_max = spec->crash_limit = spec->timeout_ms = spec->dispatch_timeout_ms = 0;
	spec->backoff_ms = spec->backoff_max_ms = spec->retry_on = 0;
	spec->backoff_exact = false;
	spec->retry_codes.n = 0;
	if (node->mode == 0 && spec->mode == EXEC_ONCE)
		spec->mode = EXEC_RETRY;
	spec->restart = service->restart;
	spec->restart_wait_ms = service->wait_ms;
	spec->restart_wait_max_ms = service->wait_max_ms;
	spec->restart_never = service->never;
	spec->loop_ends = service->loop_ends;
	spec->loop_ms = service->loop_ms;
}

static void job_takes(const struct dag_node *node, struct arena *arena, struct rec_job_spec *spec)
{
	if (node->take_count == 0)
		return;
	spec->takes.at = arena_zalloc(arena, node->take_count, sizeof(struct slice));
	for (size_t i = 0; i < node->take_count; i++) {
		const struct dag_take *take = &node->takes[i];
		struct buf text = { 0 };

		if (take->variable.len == 0)
			continue;
		buf_add_slice(&text, take->variable);
		buf_add_byte(&text, '=');
		output_ref_add(&text, &(struct output_ref){ take->up, take->job, take->output });
		spec->takes.at[spec->takes.n++] = arena_copy(arena, buf_slice(&text));
		buf_free(&text);
	}
}

/* Set how many levels around the job of an output is: the graphs around were looked through after the text was read. */
static void place_ref(const struct dag_node *node, struct output_ref *ref)
{
	for (size_t i = 0; ref->up == 0 && i < node->take_count; i++)
		if (slice_eq(node->takes[i].job, ref->job) && slice_eq(node->takes[i].output, ref->output) && !node->takes[i].found)
			ref->up = node->takes[i].up;
}

/* Complete a text with outputs of jobs. */
static struct slice job_text(const struct dag_node *node, struct slice text, struct arena *arena)
{
	struct buf out = { 0 };
	struct text_part part;
	struct slice copy;

	while (output_text_next(&text, &part)) {
		if (!part.is_output) {
			output_text_plain(&out, part.text);
			continue;
		}
		place_ref(node, &part.ref);
		buf_add_str(&out, "${");
		output_ref_add(&out, &part.ref);
		buf_add_byte(&out, '}');
	}
	copy = arena_copy(arena, buf_slice(&out));
	buf_free(&out);
	return copy;
}

static void job_computes(const struct dag_node *node, struct arena *arena, struct rec_job_spec *spec)
{
	if (node->computes.n == 0)
		return;
	spec->computes.at = arena_zalloc(arena, node->computes.n, sizeof(struct slice));
	for (size_t i = 0; i < node->computes.n; i++)
		spec->computes.at[spec->computes.n++] = job_text(node, node->computes.at[i], arena);
}

static void job_ins(const struct dag_node *node, struct arena *arena, struct rec_job_spec *spec)
{
	spec->artifacts_in.at = arena_zalloc(arena, node->in_count + 1, sizeof(struct slice));
	for (size_t i = 0; i < node->in_count; i++) {
		struct buf text = { 0 };

		buf_add_slice(&text, node->ins[i].job);
		buf_add_byte(&text, '=');
		buf_add_slice(&text, node->ins[i].dir);
		spec->artifacts_in.at[spec->artifacts_in.n++] = arena_copy(arena, buf_slice(&text));
		buf_free(&text);
	}
}

/* How "always" applies to the job. If the job has its run's deadline, that deadline doesn't end it. */
static enum always job_always(const struct dag_node *node, const struct job_defaults *defaults)
{
	bool said = !node->deadline_of_run && (node->deadline_ms != 0 || node->deadline_at_ms != 0);

	if (!node->always)
		return ALWAYS_NO;
	return !said && (node->deadline_of_run || defaults->deadline_ms != 0) ? ALWAYS_PAST_DEADLINE : ALWAYS_RUN;
}

void dagline_job(const struct dagline *dag, uint64_t index, const struct job_defaults *defaults,
		 struct arena *arena, struct rec_job_spec *ret_spec)
{
	const struct dag_node *node = node_of(dag, index);
	uint64_t place = index - node->first;
	struct rec_job_spec spec = { .name = node->name };
	struct dag_node filled;

	if (node->matrix != NULL) {
		matrix_fill(node, place, arena, &filled);
		node = &filled;
	}
	if (node->fan) {
		char suffix[24];

		snprintf(suffix, sizeof(suffix), "[%" PRIu64 "]", place);
		spec.name = text_make(arena, arena_strdup(arena, node->name), slice_str(suffix));
	}
	job_needs(dag, node, arena, &spec);
	job_conditions(dag, node, arena, &spec);
	spec.priority = node->priority ? node->priority : defaults->priority;
	spec.kind = node->kind;
	settings_give(&node->plain, &spec);
	spec.continue_on = node->continue_on;
	spec.final = node->final;
	spec.loop_max = node->loop_max;
	spec.loop_code = node->loop_code;
	spec.loop_until = node->loop_until;
	spec.loop_on_max = node->loop_on_max;
	spec.deadline_ms = node->deadline_ms;
	spec.deadline_at_ms = node->deadline_at_ms;
	if (node->deadline_ms == 0 && node->deadline_at_ms == 0)
		spec.deadline_ms = defaults->deadline_ms;
	spec.always = job_always(node, defaults);
	if (node->gate) {
		spec.gate_count = node->gate_count ? node->gate_count : 1;
		spec.gate_from = node->gate_from;
		spec.gate_fields = node->gate_fields;
		spec.gate_expiry = node->gate_expiry;
		spec.gate_message = node->command;
		spec.message_text = job_text(node, node->message_text, arena);
	} else if (node->sub_path.len > 0) {
		job_sub(dag, node, place, defaults, arena, &spec);
	} else if (node->kind == KIND_NOOP) {
		job_computes(node, arena, &spec);
	} else {
		job_work(node, place, defaults, arena, &spec);
		job_takes(node, arena, &spec);
		if (node->kind == KIND_SERVICE)
			job_service(node, &spec);
		job_ins(node, arena, &spec);
	}
	*ret_spec = spec;
}

/* Return the line that contains offset at; *ret_start: offset of the line. */
static struct slice shown_line(struct slice text, size_t at, size_t *ret_line, size_t *ret_start)
{
	/* The data of an empty text may be NULL. */
	const uint8_t *data = text.len > 0 ? text.data : (const uint8_t *)"";
	size_t start = 0, end = at, line = 1;

	for (size_t i = 0; i < at; i++) {
		if (text.data[i] == '\n') {
			start = i + 1;
			line++;
		}
	}
	while (end < text.len && text.data[end] != '\n')
		end++;
	if (end > at && text.data[end - 1] == '\r')
		end--;
	*ret_line = line;
	*ret_start = start;
	return slice_make(data + start, end - start);
}

void dagline_place(struct slice text, const struct dag_spot *spot, uint64_t *ret_line, uint64_t *ret_column)
{
	size_t at = spot->at < text.len ? spot->at : text.len, line_no, line_start;

	shown_line(text, at, &line_no, &line_start);
	*ret_line = line_no;
	*ret_column = at - line_start + 1;
}

void dagline_explain(struct slice text, const char *source, const struct dag_spot *spot,
		     const struct error *error, struct buf *out)
{
	size_t at = spot->at < text.len ? spot->at : text.len;
	size_t line_no, line_start, skipped = 0, indent, marks, unused;
	struct slice line = shown_line(text, at, &line_no, &line_start);
	struct slice before = slice_make(line.data, at - line_start);
	struct buf shown = { 0 }, lead = { 0 };

	/* Cut the beginning of a long line, up to a little before the error. */
	if (before.len > LINE_SHOWN / 2) {
		skipped = before.len - LINE_SHOWN / 2;
		while (skipped < before.len && (before.data[skipped] & 0xc0) == 0x80)
			skipped++;
	}
	buf_addf(out, "%s:%zu:%zu: error: ", source, line_no, at - line_start + 1);
	text_escape(out, slice_str(error->text), TEXT_KEEP_NONE);
	text_escape(&lead, slice_make(before.data + skipped, before.len - skipped), TEXT_KEEP_NONE);
	text_escape(&shown, slice_make(line.data + skipped, line.len - skipped), TEXT_KEEP_NONE);
	indent = text_width(buf_slice(&lead));
	marks = spot->len < line.len - before.len ? spot->len : line.len - before.len;
	buf_clear(&lead);
	text_escape(&lead, slice_make(line.data + before.len, marks), TEXT_KEEP_NONE);
	marks = text_width(buf_slice(&lead));
	buf_addf(out, "\n  %3zu | ", line_no);
	buf_add(out, shown.data, text_clip(buf_slice(&shown), LINE_SHOWN, &unused));
	buf_addf(out, "\n      | %*s^", (int)indent, "");
	for (size_t i = 1; i < marks && indent + i < LINE_SHOWN; i++)
		buf_add_byte(out, '~');
	if (error->next[0] != '\0') {
		buf_add_str(out, " ");
		text_escape(out, slice_str(error->next), TEXT_KEEP_NONE);
	}
	buf_add_byte(out, '\n');
	buf_free(&lead);
	buf_free(&shown);
}
