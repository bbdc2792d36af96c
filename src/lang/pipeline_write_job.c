/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the keys of a job. write_plain writes the plain settings of proto/spec.def, which need no code of their own. */
#include "lang/pipeline_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/sha256.h"
#include "base/text.h"
#include "lang/demand.h"
#include "lang/failure.h"
#include "lang/log_max.h"
#include "lang/yaml_text.h"
#include "proto/form.h"
#include "proto/input.h"
#include "proto/states.h"

static struct slice kept(struct writer *writer, struct buf *text)
{
	struct slice copy = arena_copy(writer->arena, buf_slice(text));

	buf_free(text);
	return copy;
}

/* Write a time. Milliseconds that are 0 are left out, as people write it. */
static void write_time(struct writer *writer, const char *key, int64_t ms)
{
	char text[CLOCK_TEXT_SIZE];

	clock_format_utc(ms, text);
	if (ms % 1000 == 0 && strlen(text) > 5)
		memcpy(text + strlen(text) - 5, "Z", 2);
	write_text(writer, key, slice_str(text));
}

/* Write the plain settings whose YAML key has this prefix, such as "approval."; "": the keys of the job itself. */
static void write_plain(struct writer *writer, const struct rec_job_spec *job, const char *prefix)
{
	struct rec_job_settings settings;
	size_t len = strlen(prefix);

	settings_of(job, &settings);
	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *setting = &setting_table[i];
		struct buf text = { 0 };

		if (setting->shape == SHAPE_OWN || strncmp(setting->yaml, prefix, len) != 0 || strchr(setting->yaml + len, '.') ||
		    !setting_plain_said(setting, &settings))
			continue;
		if (setting->shape == SHAPE_TIME) {
			write_time(writer, setting->yaml + len, setting_number(setting, &settings));
			continue;
		}
		setting_print(setting, &settings, &text);
		if (setting->shape == SHAPE_TEXT)
			write_template(writer, setting->yaml + len, buf_slice(&text));
		else
			write_text(writer, setting->yaml + len, buf_slice(&text));
		buf_free(&text);
	}
}

/* ---- the work ---- */

bool write_join(struct writer *writer, const struct rec_job_spec *job, struct slice *ret)
{
	struct rec_job_spec again = { 0 };
	struct buf text = { 0 };
	bool same;

	for (size_t i = 0; i < job->argv.n; i++) {
		buf_add_str(&text, i > 0 ? " " : "");
		buf_add_slice(&text, job->argv.at[i]);
	}
	*ret = kept(writer, &text);
	job_command(*ret, writer->arena, &again);
	same = again.argv.n == job->argv.n;
	for (size_t i = 0; i < again.argv.n && same; i++)
		same = slice_eq(again.argv.at[i], job->argv.at[i]);
	return same;
}

/* Write the fields of a gate, NAME: {enum: [VALUE, ...], optional: true} each. */
static void write_fields(struct writer *writer, struct slice_list fields)
{
	struct form_field field;

	write_map(writer, "fields");
	for (size_t i = 0; i < fields.n; i++) {
		if (!form_field_read(fields.at[i], &field))
			continue;
		buf_addf(writer->out, "%*s", (int)writer->indent, "");
		yaml_word(writer->out, field.name);
		buf_addf(writer->out, ": {%s: %s", form_kind_names[field.kind], field.kind == FORM_ENUM ? "[" : "true");
		while (field.values.len > 0) {
			const uint8_t *bar = memchr(field.values.data, '|', field.values.len);
			size_t len = bar ? (size_t)(bar - field.values.data) : field.values.len;

			yaml_word(writer->out, write_escape(slice_make(field.values.data, len), writer->arena));
			buf_add_str(writer->out, bar ? ", " : "]");
			len += bar != NULL;
			field.values = slice_make(field.values.data + len, field.values.len - len);
		}
		buf_add_str(writer->out, field.optional ? ", optional: true}\n" : "}\n");
	}
	writer->indent -= 2;
}

static void write_gate(struct writer *writer, const struct rec_job_spec *job)
{
	bool templated = writer->templated;

	write_map(writer, "approval");
	writer->templated = false;
	if (job->message_text.len > 0) {
		write_key(writer, "message");
		write_output_text(writer, job->message_text);
	} else if (job->gate_message.len > 0) {
		write_text(writer, "message", job->gate_message);
	}
	if (job->gate_count > 1 || (job->gate_message.len == 0 && job->gate_from.n == 0 && job->gate_timeout_ms == 0))
		write_number(writer, "count", job->gate_count);
	if (job->gate_from.n > 0)
		write_words(writer, "from", job->gate_from);
	if (job->gate_fields.n > 0)
		write_fields(writer, job->gate_fields);
	write_plain(writer, job, "approval.");
	if (job->gate_expiry == GATE_APPROVE)
		write_text(writer, "on_timeout", slice_str("approve"));
	writer->templated = templated;
	writer->indent -= 2;
}

static void write_backoff(struct writer *writer, uint64_t first_ms, uint64_t last_ms)
{
	char first[CLOCK_TEXT_SIZE], longest[CLOCK_TEXT_SIZE];

	write_key(writer, "backoff");
	buf_add_str(writer->out, clock_write_span((int64_t)first_ms, first));
	if (last_ms)
		buf_addf(writer->out, "..%s", clock_write_span((int64_t)last_ms, longest));
	buf_add_byte(writer->out, '\n');
}

static void write_codes(struct writer *writer, const char *key, const struct u64_list *codes)
{
	if (codes->n == 0)
		return;
	write_key(writer, key);
	for (size_t i = 0; i < codes->n; i++)
		buf_addf(writer->out, "%s%" PRIu64, i > 0 ? ", " : "[", codes->at[i]);
	buf_add_str(writer->out, "]\n");
}

static void write_service(struct writer *writer, const struct rec_job_spec *job)
{
	if (!job->restart && !job->restart_wait_ms && !job->stable_ms && job->restart_never.n == 0 && !job->loop_ends && !job->loop_ms) {
		write_true(writer, "service");
		return;
	}
	write_map(writer, "service");
	if (job->restart)
		write_text(writer, "restart", slice_str(restart_name(job->restart)));
	if (job->restart_wait_ms)
		write_backoff(writer, job->restart_wait_ms, job->restart_wait_max_ms);
	write_plain(writer, job, "service.");
	write_codes(writer, "no_restart_exit", &job->restart_never);
	if (job->loop_ends || job->loop_ms) {
		write_map(writer, "crash_loop");
		if (job->loop_ends)
			write_number(writer, "n", job->loop_ends);
		if (job->loop_ms)
			write_span(writer, "in", job->loop_ms);
		writer->indent -= 2;
	}
	writer->indent -= 2;
}

static void write_work(struct writer *writer, const struct rec_job_spec *job)
{
	struct slice command;

	if (job->kind == KIND_NOOP)
		write_text(writer, "kind", slice_str(job_kind_name(KIND_NOOP)));
	if (job->kind == KIND_SERVICE)
		write_service(writer, job);
	if (job->kind == KIND_NOOP)
		write_outputs(writer, job->computes);
	if (job->gate_count > 0)
		write_gate(writer, job);
	if (job->sub_count > 0)
		write_sub(writer, job);
	if (job->script.len > 0)
		write_template(writer, "run", job->script);
	else if (job->argv.n > 0 && !writer->templated && write_join(writer, job, &command))
		write_text(writer, "run", command);
	else if (job->argv.n > 0)
		write_words(writer, "command", job->argv);
}

/* ---- needs ---- */

/*
 * Write a condition such as "2 of (a, b)" or "all of (a, b)" as a map, and any other condition as it is. A comma inside quotes
 * or parentheses doesn't end an item of the list.
 */
static void write_needs_text(struct writer *writer, struct slice text)
{
	struct slice_list parts = { .n = 0 };
	const uint8_t *of = memmem(text.data, text.len, " of (", 5);
	struct slice count = slice_make(text.data, of ? (size_t)(of - text.data) : 0);
	uint64_t number;
	size_t depth = 0, start = count.len + 5;
	bool quoted = false;

	if (!of || text.data[text.len - 1] != ')' || (!text_parse_u64(count, &number) && !slice_eq(count, slice_str("all")))) {
		write_text(writer, "needs", text);
		return;
	}
	parts.at = arena_alloc(writer->arena, text.len * sizeof(*parts.at));
	for (size_t i = start; i < text.len; i++) {
		uint8_t byte = text.data[i];

		quoted ^= byte == '\'';
		if ((byte != ',' || depth > 0 || quoted) && i + 1 < text.len) {
			depth += !quoted && byte == '(';
			depth -= !quoted && byte == ')' && depth > 0;
			continue;
		}
		parts.at[parts.n++] = slice_make(text.data + start, i - start);
		start = i + 2;
	}
	write_map(writer, "needs");
	buf_addf(writer->out, "%*sany: %.*s\n", (int)writer->indent, "", (int)count.len, (const char *)count.data);
	write_words(writer, "of", parts);
	writer->indent -= 2;
}

static struct slice need_word(struct writer *writer, const struct rec_job_spec *job, size_t at)
{
	struct slice name = writer->graph->jobs[job->needs.at[at]].name;
	uint64_t trigger = at < job->triggers.n ? job->triggers.at[at] : TRIGGER_OK;
	struct buf text = { 0 };

	buf_add(&text, name.data, spec_stem(name));
	if (trigger == TRIGGER_FAILED)
		buf_add_str(&text, ":failed");
	else if (trigger == TRIGGER_DONE && !(job->final || job->always))
		buf_add_str(&text, ":done");
	else if (trigger == TRIGGER_OK && (job->final || job->always))
		buf_add_str(&text, ":ok");
	return kept(writer, &text);
}

static void write_needs(struct writer *writer, const struct rec_job_spec *job)
{
	struct slice_list words = { arena_alloc(writer->arena, (job->needs.n + 1) * sizeof(struct slice)), 0 };
	bool templated = writer->templated;

	if (job->needs_text.len > 0) {
		write_needs_text(writer, job->needs_text);
		return;
	}
	for (size_t i = 0; i < job->needs.n; i++) {
		uint64_t trigger = i < job->triggers.n ? job->triggers.at[i] : TRIGGER_OK;
		const struct rec_job_spec *parent = job->needs.at[i] < writer->graph->count ? &writer->graph->jobs[job->needs.at[i]] : NULL;
		struct slice word;

		/* Leave out what a reader adds itself: the needs of a condition, and those of a final job on all other jobs. */
		if (!parent || trigger == TRIGGER_EXPR || (job->final && !parent->final && trigger == TRIGGER_DONE))
			continue;
		word = need_word(writer, job, i);
		if (words.n == 0 || !slice_eq(words.at[words.n - 1], word))
			words.at[words.n++] = word;
	}
	writer->templated = false;
	if (words.n > 0)
		write_words(writer, "needs", words);
	writer->templated = templated;
}

/* ---- failures ---- */

static void write_retry(struct writer *writer, const struct rec_job_spec *job)
{
	static const struct {
		uint64_t bit;
		const char *word;
	} ends[] = { { RETRY_ON_EXIT, "exit" }, { RETRY_ON_SIGNAL, "signal" }, { RETRY_ON_SPAWN, "spawn" }, { RETRY_ON_TIMEOUT, "timeout" } };

	if (!job->retry_max && !job->backoff_ms && !job->backoff_exact && !job->retry_on && job->retry_codes.n == 0)
		return;
	write_map(writer, "retry");
	if (job->retry_max)
		write_number(writer, "max", job->retry_max);
	if (job->backoff_ms)
		write_backoff(writer, job->backoff_ms, job->backoff_max_ms);
	if (job->backoff_exact)
		buf_addf(writer->out, "%*sjitter: false\n", (int)writer->indent, "");
	if (job->retry_on) {
		write_key(writer, "on");
		buf_add_byte(writer->out, '[');
		for (size_t i = 0, count = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
			if (job->retry_on & ends[i].bit)
				buf_addf(writer->out, "%s%s", count++ > 0 ? ", " : "", ends[i].word);
		buf_add_str(writer->out, "]\n");
	}
	write_codes(writer, "codes", &job->retry_codes);
	writer->indent -= 2;
}

static void write_failures(struct writer *writer, const struct rec_job_spec *job)
{
	struct buf text = { 0 };

	write_retry(writer, job);
	if (job->crash_limit)
		write_number(writer, "crash_limit", job->crash_limit);
	if (job->worker_death == DEATH_KILL)
		write_text(writer, "on_worker_death", slice_str("kill"));
	if (job->continue_on) {
		continue_words(job->continue_on, &text);
		write_key(writer, "continue_on");
		buf_addf(writer->out, "[%s]\n", buf_cstr(&text));
	}
	if (job->log_max) {
		buf_clear(&text);
		log_max_text(job->log_max, &text);
		write_text(writer, "log", buf_slice(&text));
	}
	buf_free(&text);
	if (job->deadline_at_ms)
		write_time(writer, "deadline", job->deadline_at_ms);
	else if (job->deadline_ms && (job->deadline_ms != writer->deadline_ms || job->always == ALWAYS_RUN))
		write_span(writer, "deadline", job->deadline_ms);
}

/* ---- place, groups, locks and loop ---- */

static void write_asks(struct writer *writer, struct slice_list asks)
{
	bool others = false;

	asks = demand_shown(asks, writer->arena);
	for (int own = 1; own >= 0; own--) {
		for (size_t i = 0; i < asks.n; i++) {
			const uint8_t *equals = memchr(asks.at[i].data, '=', asks.at[i].len);
			struct slice name = slice_make(asks.at[i].data, equals ? (size_t)(equals - asks.at[i].data) : 0);

			if (!equals || resource_is_own(name) != (own == 1))
				continue;
			if (own == 0 && !others)
				write_map(writer, "resources");
			others = others || own == 0;
			buf_addf(writer->out, "%*s%.*s: %.*s\n", (int)writer->indent, "", (int)name.len, (const char *)name.data,
				 (int)(asks.at[i].len - name.len - 1), (const char *)equals + 1);
		}
	}
	writer->indent -= others ? 2 : 0;
}

static void write_place(struct writer *writer, const struct rec_job_spec *job)
{
	static const char *const affinities[] = { [AFFINITY_PARENT] = "parent", [AFFINITY_STICKY] = "sticky" };

	if (job->labels.n > 0 || job->only_worker.len > 0) {
		write_map(writer, "worker");
		if (job->labels.n > 0)
			write_words(writer, "labels", job->labels);
		if (job->only_worker.len > 0)
			write_text(writer, "name", job->only_worker);
		writer->indent -= 2;
	}
	write_asks(writer, job->asks);
	if (job->prefer.n > 0)
		write_words(writer, "prefer", job->prefer);
	if (job->requires.n > 0)
		write_words(writer, "requires", job->requires);
	if (job->prefer_worker.len > 0)
		write_text(writer, "prefer_worker", job->prefer_worker);
	if (job->pool.len > 0) {
		write_map(writer, "pool");
		write_text(writer, "name", job->pool);
		if (job->pool_hard)
			write_true(writer, "hard");
		writer->indent -= 2;
	}
	if (job->affinity == AFFINITY_PARENT || job->affinity == AFFINITY_STICKY) {
		write_map(writer, "affinity");
		write_text(writer, "to", slice_str(affinities[job->affinity]));
		if (job->affinity_hard)
			write_true(writer, "hard");
		writer->indent -= 2;
	}
}

/* Write a list of NAME or NAME=VALUE as maps: NAME has the key `first`, VALUE the key `second`. */
static void write_pairs(struct writer *writer, const char *key, struct slice_list list, const char *first, const char *second)
{
	if (list.n == 0)
		return;
	write_map(writer, key);
	for (size_t i = 0; i < list.n; i++) {
		struct slice text = list.at[i];
		const uint8_t *equals = memrchr(text.data, '=', text.len);
		size_t len = equals ? (size_t)(equals - text.data) : text.len;

		buf_addf(writer->out, "%*s- {%s: ", (int)writer->indent - 2, "", first);
		yaml_word(writer->out, slice_make(text.data, len));
		if (equals) {
			buf_addf(writer->out, ", %s: ", second);
			yaml_word(writer->out, slice_make(equals + 1, text.len - len - 1));
		}
		buf_add_str(writer->out, "}\n");
	}
	writer->indent -= 2;
}

static void write_kv(struct writer *writer, const struct rec_job_spec *job)
{
	if (job->kv_read.n == 0 && job->kv_write.n == 0)
		return;
	write_map(writer, "kv");
	if (job->kv_read.n > 0)
		write_words(writer, "read", job->kv_read);
	if (job->kv_write.n > 0)
		write_words(writer, "write", job->kv_write);
	writer->indent -= 2;
}

/* Write the files by their contents, so that the pipeline has the same ones wherever it is submitted. */
static void write_files(struct writer *writer, const struct rec_job_spec *job)
{
	struct slice rest = job->inputs;
	char text[SHA256_TEXT_SIZE];
	struct rec_input input;

	if (job->inputs.len == 0)
		return;
	write_map(writer, "files");
	while (input_next(&rest, writer->arena, &input)) {
		sha256_text(input.hash.data, text);
		buf_addf(writer->out, "%*s- {as: ", (int)writer->indent - 2, "");
		yaml_word(writer->out, write_escape(input.path, writer->arena));
		if (input.source.len > 0) {
			buf_add_str(writer->out, ", src: ");
			yaml_word(writer->out, write_escape(input.source, writer->arena));
		}
		buf_addf(writer->out, ", content: '%s', size: %llu, kind: %s%s}\n", text, (unsigned long long)input.size,
			 input.kind == ASSET_DIR ? "directory" : input.kind == ASSET_PROGRAM ? "program" : "file", input.writable ? ", write: true" : "");
	}
	writer->indent -= 2;
}

/* Write the jobs whose artifacts the job gets: JOB, or {job: JOB, as: DIR}. */
static void write_artifacts_in(struct writer *writer, const struct rec_job_spec *job)
{
	write_map(writer, "in");
	for (size_t i = 0; i < job->artifacts_in.n; i++) {
		struct slice text = job->artifacts_in.at[i];
		const uint8_t *equals = memchr(text.data, '=', text.len);
		size_t len = equals ? (size_t)(equals - text.data) : text.len;
		bool dir = len + 1 < text.len;

		buf_addf(writer->out, "%*s- %s", (int)writer->indent - 2, "", dir ? "{job: " : "");
		yaml_word(writer->out, slice_make(text.data, len));
		if (dir) {
			buf_add_str(writer->out, ", as: ");
			yaml_word(writer->out, slice_make(equals + 1, text.len - len - 1));
		}
		buf_add_str(writer->out, dir ? "}\n" : "\n");
	}
	writer->indent -= 2;
}

/* Write the patterns of artifacts as a pipeline file has them. */
static void write_artifacts(struct writer *writer, const struct rec_job_spec *job)
{
	if (job->artifacts.n == 0 && job->artifacts_in.n == 0)
		return;
	write_map(writer, "artifacts");
	if (job->artifacts_in.n > 0)
		write_artifacts_in(writer, job);
	if (job->artifacts.n == 0) {
		writer->indent -= 2;
		return;
	}
	write_map(writer, "out");
	for (size_t i = 0; i < job->artifacts.n; i++) {
		struct slice glob = slice_make(job->artifacts.at[i].data + 1, job->artifacts.at[i].len - 1);
		uint8_t sign = job->artifacts.at[i].data[0];
		struct buf text = { 0 };

		if (sign == '-')
			buf_add_byte(&text, '!');
		buf_add_slice(&text, glob);
		buf_addf(writer->out, "%*s- %s", (int)writer->indent - 2, "", sign == '?' ? "{glob: " : "");
		yaml_word(writer->out, writer->templated ? buf_slice(&text) : write_escape(buf_slice(&text), writer->arena));
		buf_add_str(writer->out, sign == '?' ? ", optional: true}\n" : "\n");
		buf_free(&text);
	}
	writer->indent -= 4;
}

static void write_loop(struct writer *writer, const struct rec_job_spec *job)
{
	if (job->loop_max == 0)
		return;
	write_map(writer, "loop");
	write_text(writer, "until", job->loop_until);
	write_number(writer, "max", job->loop_max);
	write_plain(writer, job, "loop.");
	if (job->loop_on_max == LOOP_MAX_OK)
		write_text(writer, "on_max", slice_str("ok"));
	writer->indent -= 2;
}

void write_job(struct writer *writer, const struct rec_job_spec *job)
{
	bool implied = job->mode == EXEC_EXCLUSIVE && job->locks.n > 0;

	write_work(writer, job);
	write_plain(writer, job, "");
	write_needs(writer, job);
	if (job->when.len > 0)
		write_text(writer, "when", job->when);
	if (job->always != ALWAYS_NO && !job->final)
		write_true(writer, "always");
	write_loop(writer, job);
	write_env(writer, job->env, job->takes);
	if (job->dir.len > 0)
		write_template(writer, "dir", job->dir);
	if (job->priority > 0)
		write_number(writer, "priority", job->priority - 1);
	if (job->mode != EXEC_RETRY && !implied && job->mode < EXEC_MODE_COUNT)
		write_text(writer, "mode", slice_str(exec_mode_name((enum exec_mode)job->mode)));
	write_failures(writer, job);
	write_place(writer, job);
	write_pairs(writer, "concurrency", job->concurrency, "group", "max_jobs");
	write_pairs(writer, "locks", job->locks, "name", "mode");
	write_kv(writer, job);
	write_files(writer, job);
	if (job->outputs.n > 0)
		write_words(writer, "outputs", job->outputs);
	write_artifacts(writer, job);
}
