/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys of a job and of defaults, and the keys inside them. */
#include "lang/pipeline_internal.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "proto/limits.h"
#include "proto/value_name.h"

#define WORDS_MAX 4096                   /* most words in a command, or entries in env */

static enum err template_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	return pipe_template(pipe, node, "an entry", (struct slice){ 0 }, ret);
}

static enum err split_command(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct rec_job_spec spec = { 0 };
	struct slice text;
	enum err err = pipe_template(pipe, value, "command", (struct slice){ 0 }, &text);

	if (err != ERR_NONE)
		return err;
	if (text.len == 0)
		return pipe_fail(pipe, value, ERR_INVALID, "command is empty");
	/* The value of a parameter must never become two words, or shell syntax. */
	if (memmem(value->text.data, value->text.len, "${", 2) != NULL)
		return pipe_fail(pipe, value, ERR_INVALID, "write a command that contains values as a list: command: "
			"[ls, \"${params.x}\"]");
	job_command(text, pipe->reader.arena, &spec);
	if (spec.argv.n == 0)
		return pipe_fail(pipe, value, ERR_INVALID, "this command needs a shell: use run instead of command");
	job->node->words = spec.argv;
	return ERR_NONE;
}

static enum err read_command(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	const struct tree_node *item = value->first;
	size_t code;
	enum err err;

	if (job->node->command.len > 0 || job->node->words.n > 0)
		return pipe_fail(pipe, value, ERR_INVALID, "a job can't have both run and command");
	if (value->kind == TREE_TEXT)
		return split_command(pipe, job, value);
	err = pipe_list(pipe, value, "command", WORDS_MAX, template_item, &job->node->words);
	if (err != ERR_NONE)
		return err;
	if (job->node->words.at[0].len == 0)
		return pipe_fail(pipe, value, ERR_INVALID, "the first word of the command is empty");
	code = pipe_code_word(job->node->words);
	for (size_t i = 0; i < code; i++)
		item = item->next;
	return code > 0 ? pipe_check_code(pipe, item, job->node->words.at[0], item->text) : ERR_NONE;
}

static enum err wrong_shell(struct pipe *pipe, const struct tree_node *value, struct slice text)
{
	static const char *const names[] = { "sh", "bash", "python3" };
	char word[16];
	const char *nearest;

	pipe_fail(pipe, value, ERR_INVALID, "shell must be sh, bash, python3 or the absolute path of an interpreter");
	snprintf(word, sizeof(word), "%.*s", (int)(text.len < sizeof(word) ? text.len : sizeof(word)), (const char *)text.data);
	nearest = text_nearest(word, names, sizeof(names) / sizeof(names[0]));
	if (text.len > 0 && memchr(text.data, ' ', text.len) != NULL)
		error_next(pipe->reader.error, "it takes no options: set them in the script, as in: set -x");
	else if (nearest != NULL)
		error_next(pipe->reader.error, "did you mean '%s'?", nearest);
	else if (text.len > 0 && text.data[0] != '/')
		error_next(pipe->reader.error, "write its whole path, as in: shell: /usr/bin/perl");
	return ERR_INVALID;
}

static enum err read_shell(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice text;
	enum err err = pipe_text(pipe, value, "shell", &text);

	if (err != ERR_NONE)
		return err;
	if (!shell_is_good(text))
		return wrong_shell(pipe, value, text);
	job->node->plain.interpreter = text;
	return ERR_NONE;
}

static enum err read_needs(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	if (job->needs != NULL)
		return pipe_fail(pipe, value, ERR_DUPLICATE, "give either needs or parents, not both");
	job->needs = value;
	return ERR_NONE;
}

static enum err read_when(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	job->when = value;
	return pipe_expect(pipe, value, TREE_TEXT, "when");
}

static enum err read_priority(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	uint64_t priority = 0;
	enum err err = pipe_number(pipe, value, 0, 100, &priority);

	job->node->priority = priority + 1;
	return err;
}

static enum err read_mode(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice text;
	enum exec_mode mode;
	enum err err = pipe_text(pipe, value, "mode", &text);

	if (err != ERR_NONE)
		return err;
	if (!exec_mode_by_name(text, &mode))
		return pipe_fail(pipe, value, ERR_INVALID, "mode must be retry, exclusive or once");
	job->node->mode = (uint64_t)mode + 1;
	return ERR_NONE;
}

static enum err read_dir(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct matrix_ref fault;
	struct slice text;
	enum err err = pipe_template(pipe, value, "dir", (struct slice){ 0 }, &job->node->dir);

	if (err != ERR_NONE)
		return err;
	if (slice_eq(value->text, slice_str(DIR_PRIVATE)))
		return ERR_NONE;
	/* A word that begins with an axis would have to be checked for each of the axis's values. */
	if (value->text.len < 9 || memcmp(value->text.data, "${matrix.", 9) != 0) {
		if (matrix_expand(&pipe->words, value->text, MATRIX_LONGEST, pipe->reader.arena, &text, &fault) &&
		    text.len > 0 && text.data[0] == '/')
			return ERR_NONE;
	}
	return pipe_fail(pipe, value, ERR_INVALID, "dir must be an absolute path, because the job may run on another machine; or it must be the word private");
}

/* Read a deadline: a span from the submit, or a time. If the job sets either, the pipeline's deadline doesn't apply. */
static enum err deadline(struct pipe *pipe, const struct tree_node *value, struct dag_node *node)
{
	struct slice text;
	enum err err = pipe_text(pipe, value, "a deadline", &text);

	if (err != ERR_NONE || clock_parse_utc(text, &node->deadline_at_ms) == 0)
		return err;
	if (text.len > 0 && (memchr(text.data, 'T', text.len) != NULL || memchr(text.data, '-', text.len) != NULL))
		return pipe_time(pipe, value, &node->deadline_at_ms);
	return pipe_span(pipe, value, &node->deadline_ms);
}

static enum err read_deadline(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return deadline(pipe, value, job->node);
}

enum err pipe_read_deadline(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	(void)job;
	return deadline(pipe, value, &pipe->defaults);
}

static enum err read_always(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_bool(pipe, value, &job->name->always);
}

enum err pipe_read_env(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice_list env = { 0 };
	enum err err = pipe_expect(pipe, value, TREE_MAP, "env");

	if (err != ERR_NONE)
		return err;
	if (value->count > WORDS_MAX)
		return pipe_fail(pipe, value, ERR_TOO_LARGE, "env may have at most %d entries", WORDS_MAX);
	env.at = arena_zalloc(pipe->reader.arena, value->count + 1, sizeof(*env.at));
	for (const struct tree_node *node = value->first; node != NULL; node = node->next) {
		char prefix[LIMIT_NAME_MAX_LEN + 2];

		if (!pipe_is_variable(node->key)) {
			pipe_note(pipe, dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_INVALID,
						 "the name of a variable may have letters, digits and _, and can't begin with "
						 "a digit"), &err);
			continue;
		}
		snprintf(prefix, sizeof(prefix), "%.*s=", (int)node->key.len, (const char *)node->key.data);
		if (strncmp(prefix, "TITAN_", 6) == 0 && !value_name_is_made(node->key))
			pipe_note(pipe, dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_INVALID,
						 "names that begin with TITAN_ are reserved for titan"), &err);
		if (job != NULL && pipe_is_output(pipe, node)) {
			pipe_note(pipe, pipe_read_take(pipe, job, node, node->key), &err);
			continue;
		}
		pipe_note(pipe, pipe_template(pipe, node, "a variable", arena_copy(pipe->reader.arena, slice_str(prefix)),
					      &env.at[env.n++]), &err);
	}
	*(job ? &job->env : &pipe->env) = env;
	return err;
}

/* ---- gates ---- */

static enum err read_count(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_number(pipe, value, 1, LIMIT_GATE_PEOPLE_MAX, &job->node->gate_count);
}

static enum err person_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	enum err err = pipe_text(pipe, node, "a name", ret);

	if (err == ERR_NONE && text_is_team(*ret) && !text_is_person(*ret))
		return pipe_fail(pipe, node, ERR_INVALID, "a team must be given as @NAME, with letters, digits and _ . -");
	return err != ERR_NONE || text_is_team(*ret) ? err : pipe_name_item(pipe, node, ret);
}

/* Does the gate name only people? Then it is known how many may approve. */
static bool names_only_people(const struct dag_node *node)
{
	for (size_t i = 0; i < node->gate_from.n; i++)
		if (text_is_team(node->gate_from.at[i]))
			return false;
	return node->gate_from.n > 0;
}

static enum err read_from(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice_list *from = &job->node->gate_from;
	const struct tree_node *item = value->kind == TREE_LIST ? value->first : value;
	enum err err = pipe_list(pipe, value, "from", LIMIT_GATE_PEOPLE_MAX, person_item, from);

	for (size_t i = 0; err == ERR_NONE && i < from->n; i++, item = item->next)
		for (size_t before = 0; before < i; before++)
			if (slice_eq(from->at[i], from->at[before]))
				return pipe_fail(pipe, item, ERR_DUPLICATE, "'%.*s' is named twice", (int)from->at[i].len,
						 (const char *)from->at[i].data);
	return err;
}

static enum err read_on_timeout(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice text;
	enum err err = pipe_text(pipe, value, "on_timeout", &text);

	if (err != ERR_NONE)
		return err;
	if (!slice_eq(text, slice_str("reject")) && !slice_eq(text, slice_str("approve")))
		return pipe_fail(pipe, value, ERR_INVALID, "on_timeout must be reject or approve");
	job->node->gate_expiry = slice_eq(text, slice_str("approve")) ? GATE_APPROVE : GATE_REJECT;
	return ERR_NONE;
}

static enum err read_message(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	if (!pipe_has_outputs(pipe, value))
		return pipe_text(pipe, value, "message", &job->node->command);
	job->node->command = value->text;
	return pipe_read_text(pipe, job->node, value, "message", (struct slice){ 0 }, &job->node->message_text);
}

static const struct pipe_key approval_keys[] = {
	{ "count", read_count }, { "from", read_from }, { "on_timeout", read_on_timeout }, { "message", read_message },
	{ "fields", pipe_read_fields },
};

const struct pipe_section pipe_section_approval = PIPE_SECTION("approval", approval_keys, "approval.");

static enum err read_approval(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	enum err err = pipe_map(pipe, value, &pipe_section_approval, job);

	job->node->gate = true;
	if (err == ERR_NONE && tree_find(value, "on_timeout") != NULL && job->node->plain.gate_timeout_ms == 0)
		return pipe_fail(pipe, tree_find(value, "on_timeout"), ERR_INVALID, "on_timeout has no effect "
			"without a timeout");
	if (err == ERR_NONE && job->node->gate_expiry == GATE_APPROVE && pipe_fields_needed(job->node)) {
		pipe_fail(pipe, tree_find(value, "on_timeout"), ERR_INVALID, "nobody gives the fields of a gate that expires, so it can't be approved then");
		return error_next(pipe->reader.error, "make all its fields optional, or write on_timeout: reject");
	}
	if (err == ERR_NONE && names_only_people(job->node) && job->node->gate_count > job->node->gate_from.n)
		return pipe_fail(pipe, value, ERR_INVALID, "%llu people must approve, but from lists only %zu",
				 (unsigned long long)job->node->gate_count, job->node->gate_from.n);
	return err;
}

/* ---- reading a whole job ---- */

static enum err read_kind(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice text;
	enum err err = pipe_text(pipe, value, "kind", &text);

	if (err != ERR_NONE)
		return err;
	if (slice_eq(text, slice_str(job_kind_name(KIND_NOOP))))
		job->node->kind = KIND_NOOP;
	else if (slice_eq(text, slice_str(job_kind_name(KIND_SERVICE))))
		job->node->kind = KIND_SERVICE;
	else
		return pipe_fail(pipe, value, ERR_INVALID, "kind must be noop or service, or be left out; run, command, approval "
			"and pipeline determine it otherwise");
	return ERR_NONE;
}

/*
 * matrix, fan_out and shell come first, because they decide which ${..} the other keys may contain. loop comes after outputs, which its
 * condition may name.
 */
static const struct pipe_key job_keys[] = {
	{ "matrix", pipe_read_matrix }, { "fan_out", pipe_read_fan_out }, { "shell", read_shell }, { "run", pipe_read_run }, { "command", read_command },
	{ "pipeline", pipe_read_sub }, { "params", pipe_read_sub_params }, { "needs", read_needs },
	{ "depends", read_needs }, { "depends_on", read_needs }, { "parents", read_needs }, { "when", read_when },
	{ "retry", pipe_read_retry }, { "kind", read_kind }, { "outputs", pipe_read_outputs }, { "loop", pipe_read_loop },
	{ "service", pipe_read_service },
	{ "priority", read_priority }, { "mode", read_mode }, { "env", pipe_read_env },
	{ "dir", read_dir }, { "always", read_always }, { "approval", read_approval },
	{ "crash_limit", pipe_read_crash_limit }, { "continue_on", pipe_read_continue_on }, { "log", pipe_read_log },
	{ "on_worker_death", pipe_read_worker_death }, { "deadline", read_deadline },
	{ "concurrency", pipe_read_concurrency }, { "locks", pipe_read_locks }, { "lock", pipe_read_locks },
	{ "kv", pipe_read_kv }, { "files", pipe_read_files }, { "template", pipe_read_template },
	{ "with", pipe_read_with }, { "artifacts", pipe_read_artifacts }, PIPE_PLACE_KEYS,
};

const struct pipe_section pipe_section_job = PIPE_SECTION("a job", job_keys, "");

static const struct pipe_key defaults_keys[] = {
	{ "retry", pipe_read_retry }, { "shell", read_shell }, { "priority", read_priority },
	{ "mode", read_mode }, { "crash_limit", pipe_read_crash_limit },
	{ "log", pipe_read_log }, { "on_worker_death", pipe_read_worker_death }, { "files", pipe_read_files }, PIPE_PLACE_KEYS,
};

const struct pipe_section pipe_section_defaults = PIPE_SECTION("defaults", defaults_keys, "");

enum err pipe_read_defaults(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct pipe_job defaults = { .node = &pipe->defaults };

	(void)job;
	return pipe_map(pipe, value, &pipe_section_defaults, &defaults);
}

static enum job_kind node_kind(const struct dag_node *node)
{
	if (node->kind != KIND_UNSAID)
		return (enum job_kind)node->kind;
	if (node->gate)
		return KIND_GATE;
	return node->sub_path.len > 0 ? KIND_SUBRUN : node->words.n > 0 ? KIND_COMMAND : KIND_SCRIPT;
}

/* The full name of a setting with a short key; other keys are their own names. */
static struct slice setting_word(struct slice key)
{
	static const char *const others[][2] = {
		{ "cpus", "resources" }, { "memory", "resources" }, { "gpus", "resources" }, { "lock", "locks" },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (slice_eq(key, slice_str(others[i][0])))
			return slice_str(others[i][1]);
	return key;
}

/* Is this key useless for a job of this kind? */
static bool key_has_no_use(struct slice key, enum job_kind kind)
{
	struct slice word = setting_word(key);
	bool known = false;

	for (size_t i = 0; i < setting_count; i++) {
		struct slice yaml = slice_str(setting_table[i].yaml);

		if (yaml.len < word.len || memcmp(yaml.data, word.data, word.len) != 0 ||
		    (yaml.len > word.len && yaml.data[word.len] != '.'))
			continue;
		if (setting_table[i].kinds & KIND_BIT(kind))
			return false;
		known = true;
	}
	return known || (kind == KIND_GATE && (slice_eq(key, slice_str("matrix")) || slice_eq(key, slice_str("fan_out"))));
}

/* Refuse settings that mean nothing for the job's kind, such as those of a process in a gate. */
static enum err check_use(struct pipe *pipe, const struct pipe_job *job, const struct tree_node *value)
{
	static const char *const leads[KIND_COUNT] = {
		[KIND_GATE] = "a job with approval can't run anything",
		[KIND_SUBRUN] = "a job with pipeline can't run anything else",
		[KIND_NOOP] = "a job whose kind is noop can't run anything",
		[KIND_SERVICE] = "a service is meant to stay up",
	};
	enum job_kind kind = node_kind(job->node);

	for (const struct tree_node *node = value->first; leads[kind] && node != NULL; node = node->next)
		if (key_has_no_use(node->key, kind))
			return dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_INVALID,
					"%s: the key '%.*s' has no effect there", leads[kind], (int)node->key.len,
					(const char *)node->key.data);
	return ERR_NONE;
}

/* Defaults of jobs that are meant to end don't apply to services. */
static void drop_defaults(struct dag_node *node)
{
	node->retry_said = false;
	node->retry_max = node->backoff_ms = node->backoff_max_ms = node->retry_on = node->crash_limit = 0;
	node->jitter = JITTER_UNSAID;
	node->retry_codes.n = 0;
	node->plain.timeout_ms = node->plain.dispatch_timeout_ms = 0;
}

static enum err give_defaults(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	const struct dag_node *defaults = &pipe->defaults;
	struct dag_node *node = job->node;

	if (node->priority == 0)
		node->priority = defaults->priority;
	if (node->deadline_ms == 0 && node->deadline_at_ms == 0) {
		node->deadline_ms = defaults->deadline_ms;
		node->deadline_at_ms = defaults->deadline_at_ms;
		node->deadline_of_run = node->deadline_ms != 0 || node->deadline_at_ms != 0;
	}
	if (!(KIND_BIT(node_kind(node)) & FOR_WORK))
		return ERR_NONE;
	if (node->words.n > 0 && tree_find(value, "shell") != NULL && tree_find(value, "command") != NULL)
		return pipe_fail(pipe, tree_find(value, "shell"), ERR_INVALID, "a command is started without a shell; give the script as run");
	if (node->mode == 0 && !(node->locks.n > 0 && defaults->mode == EXEC_RETRY + 1) &&
	    !(node->kind == KIND_SERVICE && defaults->mode == EXEC_ONCE + 1))
		node->mode = defaults->mode;
	if (node->mode == EXEC_ONCE + 1 && node->retry_max > 0)
		return pipe_fail(pipe, tree_find(value, "retry"), ERR_INVALID,
				 "a job whose mode is once can't be retried");
	pipe_default_failure(node, defaults);
	settings_fill(&node->plain, &defaults->plain, IN_DEFAULTS);
	if (node->kind == KIND_SERVICE)
		drop_defaults(node);
	if (node->words.n > 0)
		node->plain.interpreter.len = 0;
	demand_default(&node->placing, &defaults->placing);
	if (!node->files) {
		node->files = defaults->files;
		node->file_count = defaults->file_count;
		node->inputs = defaults->inputs;
	}
	if (node->labels.n == 0) {
		node->labels = defaults->labels;
		if (job->matrix != NULL)
			job->matrix->labels_fixed = true;
	}
	return ERR_NONE;
}

static enum err new_job(struct pipe *pipe, const struct tree_node *value, struct pipe_job **ret)
{
	struct slice key = value->key;
	struct dag_name *name;

	if (!text_is_name(key))
		return dag_fail(&pipe->reader, value->key_spot.at, value->key_spot.len, ERR_INVALID,
				"the name of a job may only have letters, digits and _ . -, and must begin with a "
				"letter, a digit or _");
	if (name_map_get(&pipe->reader.names, key) != NULL)
		return dag_fail(&pipe->reader, value->key_spot.at, value->key_spot.len, ERR_DUPLICATE,
				"job '%.*s' already exists under jobs", (int)key.len, (const char *)key.data);
	name = dag_name_get(&pipe->reader, key, value->key_spot);
	name->assigned = &name->node;
	if (pipe->job_count == pipe->job_room) {
		pipe->job_room = pipe->job_room ? pipe->job_room * 2 : 16;
		pipe->jobs = mem_resize(pipe->jobs, pipe->job_room, sizeof(*pipe->jobs));
	}
	pipe->jobs[pipe->job_count] = (struct pipe_job){ .node = &name->node, .name = name };
	*ret = &pipe->jobs[pipe->job_count++];
	return ERR_NONE;
}

/* The variables of the job: of two with the same name, the first counts. */
static struct slice_list all_env(struct pipe *pipe, const struct pipe_job *job)
{
	struct slice_list all = { .n = job->made.n + job->env.n };

	if (job->made.n == 0 || job->env.n == 0)
		return job->made.n > 0 ? job->made : job->env;
	all.at = arena_zalloc(pipe->reader.arena, all.n, sizeof(*all.at));
	memcpy(all.at, job->made.at, job->made.n * sizeof(*all.at));
	memcpy(all.at + job->made.n, job->env.at, job->env.n * sizeof(*all.at));
	return all;
}

enum err pipe_read_job(struct pipe *pipe, const struct tree_node *value, bool final)
{
	const struct dag_matrix outer = pipe->words;
	struct pipe_job *job = NULL;
	enum err err = new_job(pipe, value, &job);

	if (err != ERR_NONE)
		return err;
	job->final = final;
	pipe->words.axis_count = 0;
	pipe->axes_unknown = false;
	err = pipe_use_template(pipe, job, &value);
	job->params = pipe->words.params;
	job->param_count = pipe->words.param_count;
	if (err == ERR_NONE)
		err = pipe_map(pipe, value, &pipe_section_job, job);
	if (err == ERR_NONE)
		err = check_use(pipe, job, value);
	if (err == ERR_NONE)
		err = give_defaults(pipe, job, value);
	if (err == ERR_NONE)
		err = pipe_check_loop(pipe, job, value);
	pipe->words = outer;
	pipe->words.axis_count = 0;
	pipe->axes_unknown = false;
	if (err != ERR_NONE)
		return err;
	if (KIND_BIT(node_kind(job->node)) & FOR_SCRIPT && job->node->command.len == 0 && job->node->words.n == 0)
		return dag_fail(&pipe->reader, value->key_spot.at, value->key_spot.len, ERR_INVALID,
				"job '%.*s' needs one of run, command, pipeline and approval", (int)value->key.len,
				(const char *)value->key.data);
	if (KIND_BIT(node_kind(job->node)) & FOR_WORK)
		job->node->env = all_env(pipe, job);
	job->name->always = job->name->always || final;
	job->node->final = final;
	return ERR_NONE;
}
