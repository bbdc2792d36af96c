/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checks of a job's specification, made once when its graph is admitted; all later code relies on them. Errors name
 * the job and the field.
 */
#include "core/graph/internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/glob.h"
#include "base/text.h"
#include "core/life/life.h"
#include "core/queue/queue.h"
#include "proto/form.h"
#include "proto/input.h"
#include "proto/label.h"
#include "proto/output_text.h"

#define NOT_BEFORE_MAX_MS INT64_C(253402300799999)

struct spec_check {
	const struct rec_job_spec *spec;
	uint32_t index, count;           /* the job's index in the run, and the number of jobs in the run */
	uint32_t start;                  /* index of the first job of the same submit */
	struct error *error;
};

static enum err spec_refused(const struct spec_check *check, enum err code, const char *field,
			     const char *why)
{
	struct slice name = check->spec->name;

	return error_set(check->error, code, "job %u '%.*s': %s: %s", check->index,
			 (int)(name.len > LIMIT_NAME_MAX_LEN ? LIMIT_NAME_MAX_LEN : name.len),
			 (const char *)name.data, field, why);
}

static bool has_nul(struct slice text)
{
	return text.len > 0 && memchr(text.data, 0, text.len) != NULL;
}

/* A sub-run's job has a graph as its work, so settings for workers or people are refused. */
static enum err spec_check_subrun(const struct spec_check *check)
{
	const struct rec_job_spec *spec = check->spec;
	struct error why;

	if (spec->argv.n > 0 || spec->script.len > 0 || spec->gate_count > 0)
		return spec_refused(check, ERR_INVALID, "sub_jobs", "the job also has a command or is a gate; a job "
			"can have only one of these");
	if (spec->concurrency.n > 0 || spec->locks.n > 0)
		return spec_refused(check, ERR_INVALID, "concurrency", "a job with a sub-run can't name groups or locks, because the sub-run's jobs could wait for them; name them in those jobs");
	if (spec->labels.n > 0 || spec->asks.n > 0 || spec->prefer.n > 0 || spec->prefer_worker.len > 0 ||
	    spec->only_worker.len > 0 || spec->pool.len > 0 || spec->requires.n > 0 || spec->topic.len > 0 || spec->affinity != AFFINITY_NONE || spec->worker_death != 0 ||
	    spec->mode != EXEC_RETRY || spec->env.n > 0 || spec->dir.len > 0)
		return spec_refused(check, ERR_INVALID, "sub_jobs", "a job with a sub-run needs no worker; set these fields in the jobs of the sub-run");
	if (spec->sub_count > LIMIT_RUN_JOBS_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "sub_count", "the number is larger than the most jobs of a run");
	if (spec->sub_max_jobs > LIMIT_RUN_JOBS_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "sub_max_jobs", "the number is larger than the most jobs of a run");
	if (context_check(spec->sub_context, &why) != ERR_NONE)
		return spec_refused(check, why.code, "sub_context", why.text);
	return ERR_NONE;
}

/* For older kinds, each check below refuses settings without use; for newer kinds the table of settings does. */
static enum err spec_check_kind(const struct spec_check *check)
{
	const struct setting *useless;

	if (check->spec->kind == KIND_UNSAID)
		return ERR_NONE;
	if (check->spec->kind >= KIND_COUNT)
		return spec_refused(check, ERR_INVALID, "kind", "there is no such kind of job");
	useless = setting_without_use(check->spec, (enum job_kind)check->spec->kind);
	if (useless)
		return spec_refused(check, ERR_INVALID, useless->field, "this field has no effect in a job of this "
			"kind");
	return ERR_NONE;
}

static enum err spec_check_command(const struct spec_check *check)
{
	const struct rec_job_spec *spec = check->spec;
	size_t len = spec->script.len;

	if (spec->argv.n > 0 && spec->script.len > 0)
		return spec_refused(check, ERR_INVALID, "argv", "the job also has a script; a job can have only one "
			"of these");
	if (spec->sub_count > 0)
		return spec_check_subrun(check);
	if (spec->argv.n == 0 && spec->script.len == 0 && spec->gate_count == 0 && spec->kind != KIND_NOOP)
		return spec_refused(check, ERR_INVALID, "argv", "the job has neither argv nor script");
	if (spec->argv.n > 0 && spec->argv.at[0].len == 0)
		return spec_refused(check, ERR_INVALID, "argv", "the command is empty");
	if (spec->sub_jobs.len > 0 || spec->sub_name.len > 0 || spec->sub_max_jobs > 0 || spec->sub_concurrency.len > 0 ||
	    spec->sub_context.len > 0)
		return spec_refused(check, ERR_INVALID, "sub_count", "the job has fields of a sub-run but no sub-run");
	if (has_nul(spec->script))
		return spec_refused(check, ERR_INVALID, "script", "the text contains a zero byte");
	for (size_t i = 0; i < spec->argv.n; i++) {
		if (has_nul(spec->argv.at[i]))
			return spec_refused(check, ERR_INVALID, "argv", "an argument contains a zero byte");
		len += spec->argv.at[i].len + 1;
	}
	if (len > LIMIT_COMMAND_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "argv",
				    "the command is too long; put it into a file");
	return ERR_NONE;
}

static enum err spec_check_shell(const struct spec_check *check)
{
	const struct rec_job_spec *spec = check->spec;

	if (spec->interpreter.len == 0)
		return ERR_NONE;
	if (spec->script.len == 0)
		return spec_refused(check, ERR_INVALID, "interpreter", "only a job with a script can have an interpreter");
	if (!shell_is_good(spec->interpreter))
		return spec_refused(check, ERR_INVALID, "interpreter", "the interpreter must be sh, bash, python3 or an absolute path without blanks");
	return ERR_NONE;
}

static enum err spec_check_input(const struct spec_check *check)
{
	struct slice input = check->spec->stdin_text;

	if (input.len > LIMIT_STDIN_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "stdin", "the text for the job's standard input has more than 64 KiB; let the job read a file");
	if (input.len > 0 && memchr(input.data, 0, input.len) != NULL)
		return spec_refused(check, ERR_INVALID, "stdin", "the text for the job's standard input has a zero byte; let the job read a file");
	return ERR_NONE;
}

static enum err spec_check_env(const struct spec_check *check)
{
	const struct rec_job_spec *spec = check->spec;
	const char *fault = env_fault(&spec->env);

	if (has_nul(spec->dir))
		return spec_refused(check, ERR_INVALID, "dir", "the text contains a zero byte");
	return fault ? spec_refused(check, ERR_INVALID, "env", fault) : ERR_NONE;
}

static int number_order(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

/* Check for duplicate needs when they aren't sorted: an added job has its needs on earlier jobs behind its own. */
static enum err spec_check_twice(const struct spec_check *check)
{
	const struct u64_list *needs = &check->spec->needs;
	uint64_t *sorted = mem_array(needs->n, sizeof(*sorted));
	bool twice = false;

	memcpy(sorted, needs->at, needs->n * sizeof(*sorted));
	qsort(sorted, needs->n, sizeof(*sorted), number_order);
	for (size_t i = 1; i < needs->n; i++)
		twice = twice || sorted[i - 1] == sorted[i];
	mem_free(sorted);
	return twice ? spec_refused(check, ERR_DUPLICATE, "needs", "the list names a job twice") : ERR_NONE;
}

static enum err spec_check_needs(const struct spec_check *check)
{
	const struct rec_job_spec *spec = check->spec;
	bool ordered = true;
	uint64_t least = 0;
	char why[96];

	if (spec->needs.n > LIMIT_JOB_PARENTS_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "needs",
				    "the job has too many dependencies; put a noop job in between");
	if (spec->triggers.n != 0 && spec->triggers.n != spec->needs.n)
		return spec_refused(check, ERR_INVALID, "triggers", "triggers must have as many entries as needs");
	for (size_t i = 0; i < spec->needs.n; i++) {
		uint64_t parent = spec->needs.at[i];

		if (parent >= check->count) {
			snprintf(why, sizeof(why), "no job %llu; the graph has %u jobs, counted from 0",
				 (unsigned long long)parent, check->count);
			return spec_refused(check, ERR_INVALID, "needs", why);
		}
		if (parent == check->index)
			return spec_refused(check, ERR_CYCLE, "needs", "the job needs itself");
		ordered = ordered && parent >= least;
		least = parent + 1;
		if (spec->triggers.n > 0 && spec->triggers.at[i] > TRIGGER_EXPR)
			return spec_refused(check, ERR_INVALID, "triggers", "unknown trigger");
		if (spec->triggers.n > 0 && spec->triggers.at[i] == TRIGGER_EXPR && spec->needs_code.len == 0 &&
		    spec->when_code.len == 0)
			return spec_refused(check, ERR_INVALID, "triggers", "the trigger is EXPR, but there is no "
				"expression");
	}
	return ordered ? ERR_NONE : spec_check_twice(check);
}

static enum err spec_check_code(const struct spec_check *check, const char *field, struct slice code)
{
	struct error why;

	if (code.len == 0 || expr_check(code, check->spec->needs.n, &why) == ERR_NONE)
		return ERR_NONE;
	return spec_refused(check, ERR_INVALID, field, why.text);
}

static enum err spec_check_conditions(const struct spec_check *check)
{
	const struct rec_job_spec *spec = check->spec;
	enum err err = spec_check_code(check, "needs_code", spec->needs_code);

	if (err == ERR_NONE)
		err = spec_check_code(check, "when_code", spec->when_code);
	if (err == ERR_NONE && spec->when.len > LIMIT_EXPR_BYTES_MAX)
		err = spec_refused(check, ERR_TOO_LARGE, "when", "the text is too long");
	if (err == ERR_NONE && spec->needs_text.len > LIMIT_EXPR_BYTES_MAX)
		err = spec_refused(check, ERR_TOO_LARGE, "needs_text", "the text is too long");
	return err;
}

static enum err spec_check_form(const struct spec_check *check)
{
	const struct slice_list *fields = &check->spec->gate_fields;
	struct form_field field, before;

	if (fields->n > 0 && spec_kind(check->spec) != KIND_GATE)
		return spec_refused(check, ERR_INVALID, "gate_fields", "only a gate that runs nothing can have fields");
	if (fields->n > LIMIT_FORM_FIELDS_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "gate_fields", "too many");
	for (size_t i = 0; i < fields->n; i++) {
		if (!form_field_read(fields->at[i], &field))
			return spec_refused(check, ERR_INVALID, "gate_fields",
					    "a field must be NAME text, NAME number or NAME enum VALUE|VALUE, with ? behind the name of one that may be left out");
		for (size_t at = 0; at < i; at++)
			if (form_field_read(fields->at[at], &before) && slice_eq(before.name, field.name))
				return spec_refused(check, ERR_DUPLICATE, "gate_fields", "the list names a field twice");
		if (!field.optional && check->spec->gate_expiry == GATE_APPROVE)
			return spec_refused(check, ERR_INVALID, "gate_fields",
					    "a gate that is approved when it expires can't have a field that must be given");
	}
	return ERR_NONE;
}

static enum err spec_check_gate(const struct spec_check *check)
{
	const struct rec_job_spec *spec = check->spec;
	size_t teams = 0;

	if (spec->gate_count == 0) {
		if (spec->gate_from.n > 0 || spec->gate_fields.n > 0 || spec->gate_timeout_ms > 0 || spec->gate_expiry > 0 || spec->gate_message.len > 0)
			return spec_refused(check, ERR_INVALID, "gate_count", "the job has fields of a gate but "
				"isn't a gate");
		return ERR_NONE;
	}
	if (spec->gate_count > LIMIT_GATE_PEOPLE_MAX || spec->gate_from.n > LIMIT_GATE_PEOPLE_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "gate_count", "too many people");
	for (size_t i = 0; i < spec->gate_from.n; i++) {
		teams += text_is_team(spec->gate_from.at[i]);
		if (text_is_team(spec->gate_from.at[i]) && !text_is_person(spec->gate_from.at[i]))
			return spec_refused(check, ERR_INVALID, "gate_from", "a team must be given as @NAME, with letters, digits and _ . -");
		for (size_t j = 0; j < i; j++)
			if (slice_eq(spec->gate_from.at[i], spec->gate_from.at[j]))
				return spec_refused(check, ERR_DUPLICATE, "gate_from", "the list names a person or team twice");
	}
	/* teams_check counts the members of teams. */
	if (spec->gate_from.n > 0 && teams == 0 && spec->gate_count > spec->gate_from.n)
		return spec_refused(check, ERR_INVALID, "gate_from", "fewer people are listed than must approve");
	if (spec->gate_expiry > GATE_APPROVE)
		return spec_refused(check, ERR_INVALID, "gate_expiry", "no such value");
	if (spec->gate_expiry != 0 && spec->gate_timeout_ms == 0)
		return spec_refused(check, ERR_INVALID, "gate_expiry", "this field has no effect, because the gate has no time-out");
	if (spec->gate_message.len > LIMIT_REASON_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "gate_message", "the text is too long");
	return spec_check_form(check);
}

static enum err spec_check_failure(const struct spec_check *check)
{
	const struct rec_job_spec *spec = check->spec;
	uint64_t first = spec->backoff_ms ? spec->backoff_ms : LIMIT_RETRY_BACKOFF_MS;

	if (spec->retry_max > LIMIT_RETRY_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "retry_max", "too many retries");
	if (spec->mode == EXEC_ONCE && spec->retry_max > 0)
		return spec_refused(check, ERR_INVALID, "retry_max", "a job in mode once can't be retried");
	if (spec->backoff_ms / 1000 > LIMIT_SPAN_MAX_S || spec->backoff_max_ms / 1000 > LIMIT_SPAN_MAX_S)
		return spec_refused(check, ERR_TOO_LARGE, "backoff_ms", "longer than ten years");
	if (spec->backoff_max_ms > 0 && spec->backoff_max_ms < first)
		return spec_refused(check, ERR_INVALID, "backoff_max_ms", "the longest wait before a retry is shorter than the first wait");
	if (spec->retry_on > RETRY_ON_ALL)
		return spec_refused(check, ERR_INVALID, "retry_on", "there is no such kind of failure");
	if (spec->retry_codes.n > LIMIT_RETRY_CODES_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "retry_codes", "too many");
	if (spec->retry_codes.n > 0 && spec->retry_on && !(spec->retry_on & RETRY_ON_EXIT))
		return spec_refused(check, ERR_INVALID, "retry_codes", "retry_on doesn't include exits");
	for (size_t i = 0; i < spec->retry_codes.n; i++)
		if (spec->retry_codes.at[i] < 1 || spec->retry_codes.at[i] > 255 ||
		    (i > 0 && spec->retry_codes.at[i] <= spec->retry_codes.at[i - 1]))
			return spec_refused(check, ERR_INVALID, "retry_codes", "exit codes must be from 1 to 255 and "
				"ascending");
	if (spec->crash_limit > LIMIT_CRASH_LIMIT_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "crash_limit", "too many");
	if (spec->always > ALWAYS_PAST_DEADLINE)
		return spec_refused(check, ERR_INVALID, "always", "the value must be 0, 1 or 2");
	if (spec->continue_on > CONTINUE_ALL)
		return spec_refused(check, ERR_INVALID, "continue_on", "there is no such kind of failure");
	if (spec->worker_death > DEATH_KILL)
		return spec_refused(check, ERR_INVALID, "worker_death", "no such value");
	return ERR_NONE;
}

static enum err spec_check_labels(const struct spec_check *check, const char *field, struct slice_list labels)
{
	struct label_want want;
	size_t bytes = 0;

	for (size_t i = 0; i < labels.n; i++) {
		bytes += labels.at[i].len;
		if (!label_want_read(labels.at[i], &want))
			return spec_refused(check, ERR_INVALID, field, "not a requirement on labels; it must be KEY, !KEY, KEY=VALUE, "
				"KEY!=VALUE, KEY in (A,B) or KEY notin (A,B)");
	}
	if (labels.n > LIMIT_LABELS_MAX || bytes > LIMIT_LABELS_BYTES_MAX)
		return spec_refused(check, ERR_TOO_LARGE, field, "too many requirements on labels");
	return ERR_NONE;
}

static enum err spec_check_placing(const struct spec_check *check)
{
	const struct rec_job_spec *spec = check->spec;
	const struct slice names[] = { spec->prefer_worker, spec->only_worker, spec->pool };
	struct resource_list asks;
	struct error why;

	asks.n = 0;                      /* set only the count: most jobs ask for nothing, and the list is large */
	if (spec->asks.n > 0 && resources_read(spec->asks, &asks, &why) != ERR_NONE)
		return spec_refused(check, why.code, "asks", why.text);
	for (size_t i = 0; i < asks.n; i++)
		if (asks.at[i].amount == 0)
			return spec_refused(check, ERR_INVALID, "asks", "the amount of a resource is 0");
	if (spec_check_labels(check, "labels", spec->labels) != ERR_NONE || spec_check_labels(check, "prefer", spec->prefer) != ERR_NONE)
		return check->error->code;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].len > 0 && !text_is_name(names[i]))
			return spec_refused(check, ERR_INVALID, "worker", "the name of a worker or pool may only "
				"have letters, digits and _ . -");
	if (spec->topic.len > 0 && !text_is_name(spec->topic))
		return spec_refused(check, ERR_INVALID, "topic", "a topic may only have letters, digits and _ . -");
	if (spec->requires.n > LIMIT_CAPABILITIES_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "requires", "too many capabilities");
	for (size_t i = 0; i < spec->requires.n; i++)
		if (!text_is_name(spec->requires.at[i]))
			return spec_refused(check, ERR_INVALID, "requires", "a capability may only have letters, digits and _ . -");
	if (spec->pool_hard && spec->pool.len == 0)
		return spec_refused(check, ERR_INVALID, "pool_hard", "no pool is named");
	if (spec->affinity > AFFINITY_STICKY || (spec->affinity_hard && spec->affinity == AFFINITY_NONE))
		return spec_refused(check, ERR_INVALID, "affinity", "no such affinity");
	return ERR_NONE;
}

static enum err spec_check_numbers(const struct spec_check *check)
{
	const struct rec_job_spec *spec = check->spec;

	if (spec->group > check->count || (spec->group > 0 && spec->group <= check->start))
		return spec_refused(check, ERR_INVALID, "group", "no such job");
	if (spec->group == 0 && (spec->group_parallel > 0 || spec->group_fail_fast))
		return spec_refused(check, ERR_INVALID, "group", "this field has no effect, because the job is in no fan-out");
	if (spec->group_parallel > LIMIT_RUN_JOBS_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "group_parallel", "the number is larger than the most jobs of a run");
	if (spec->priority > PRIORITY_MAX + 1)
		return spec_refused(check, ERR_INVALID, "priority", "the priority must be from 0 to 100");
	if (spec->log_max != 0 && spec->log_max != LOG_LOSSLESS &&
	    (spec->log_max < LIMIT_LOG_MAX_MIN || spec->log_max > (uint64_t)LIMIT_LOG_MAX_GIB << 30))
		return spec_refused(check, ERR_INVALID, "log_max", "the size must be from 4 KiB to 1 TiB");
	if (spec->mode >= EXEC_MODE_COUNT)
		return spec_refused(check, ERR_INVALID, "mode", "no such mode");
	/*
	 * The deadline of an added job counts from the run's submit, which may be long ago, or seem so by a wrong
	 * clock.
	 */
	if (spec->deadline_ms / 1000 / (check->start > 0 ? LATE_SPANS : 1) > LIMIT_SPAN_MAX_S)
		return spec_refused(check, ERR_TOO_LARGE, "deadline_ms", "longer than ten years");
	if (spec->deadline_at_ms < 0 || spec->deadline_at_ms > NOT_BEFORE_MAX_MS)
		return spec_refused(check, ERR_INVALID, "deadline_at_ms", "the time must be within the years 1970 to "
			"9999");
	return ERR_NONE;
}

#define CHECK_OWN(field) false
/* spec_check_input() has the bound of stdin_text. */
#define CHECK_TEXT(field) (&spec->field != &spec->stdin_text && spec->field.len > LIMIT_REASON_MAX)
#define CHECK_SPAN(field) (spec->field / 1000 > LIMIT_SPAN_MAX_S)
#define CHECK_TIME(field) (spec->field < 0 || spec->field > NOT_BEFORE_MAX_MS)
#define BOUND_OWN ""
#define BOUND_TEXT "the text is too long"
#define BOUND_SPAN "longer than ten years"
#define BOUND_TIME "the time must be within the years 1970 to 9999"

/* Check the settings of a plain shape, by the table of settings. */
static enum err spec_check_plain(const struct spec_check *check)
{
	const struct rec_job_spec *spec = check->spec;

#define SETTING(TYPE, key, field, YAML, LINE, SHAPE, KINDS, DEFAULT, wire, text) \
	if (CHECK_##SHAPE(field)) \
		return spec_refused(check, SHAPE_##SHAPE == SHAPE_TIME ? ERR_INVALID : ERR_TOO_LARGE, #field, BOUND_##SHAPE);
#include "proto/spec.def"
#undef SETTING
	return ERR_NONE;
}

static enum err spec_check_loop(const struct spec_check *check)
{
	const struct rec_job_spec *spec = check->spec;
	struct error why;

	if (spec->loop_max == 0) {
		if (spec->loop_code.len > 0 || spec->loop_until.len > 0 || spec->loop_delay_ms > 0 || spec->loop_on_max > 0)
			return spec_refused(check, ERR_INVALID, "loop_max", "the job has fields of a loop but isn't "
				"a loop");
		return ERR_NONE;
	}
	if (spec->loop_max > LIMIT_LOOP_PASSES_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "loop_max", "too many passes");
	if (spec->mode == EXEC_ONCE)
		return spec_refused(check, ERR_INVALID, "loop_max", "a job in mode once can't be a loop");
	if (spec->argv.n == 0 && spec->script.len == 0 && spec->sub_count == 0)
		return spec_refused(check, ERR_INVALID, "loop_max", "a gate or noop job runs nothing, so it can't be a loop");
	if (spec->loop_code.len == 0)
		return spec_refused(check, ERR_INVALID, "loop_code", "the condition that ends the loop is missing");
	if (expr_check(spec->loop_code, 1, &why) != ERR_NONE)
		return spec_refused(check, ERR_INVALID, "loop_code", why.text);
	if (spec->loop_until.len > LIMIT_EXPR_BYTES_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "loop_until", "the text is too long");
	if (spec->loop_on_max > LOOP_MAX_OK)
		return spec_refused(check, ERR_INVALID, "loop_on_max", "no such value");
	return ERR_NONE;
}

static enum err spec_check_groups(const struct spec_check *check)
{
	const struct slice_list *texts = &check->spec->concurrency;
	struct slice names[LIMIT_JOB_GROUPS_MAX];
	uint32_t stated;

	if (texts->n > LIMIT_JOB_GROUPS_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "concurrency", "too many groups");
	for (size_t i = 0; i < texts->n; i++) {
		if (!concurrency_read(texts->at[i], &names[i], &stated))
			return spec_refused(check, ERR_INVALID, "concurrency",
					    "a group must be given as NAME or NAME=LIMIT, with letters, digits and _ "
					    ". -");
		for (size_t before = 0; before < i; before++)
			if (slice_eq(names[before], names[i]))
				return spec_refused(check, ERR_DUPLICATE, "concurrency", "the list names a group twice");
	}
	return ERR_NONE;
}

static enum err spec_check_kv(const struct spec_check *check)
{
	const struct slice_list lists[] = { check->spec->kv_read, check->spec->kv_write };

	for (size_t list = 0; list < 2; list++) {
		if (lists[list].n > LIMIT_VALUE_GRANTS_MAX)
			return spec_refused(check, ERR_TOO_LARGE, list ? "kv_write" : "kv_read", "too many");
		for (size_t i = 0; i < lists[list].n; i++)
			if (!values_grant_good(lists[list].at[i]))
				return spec_refused(check, ERR_INVALID, list ? "kv_write" : "kv_read",
						    "each must be def:PREFIX or cluster:PREFIX");
	}
	return ERR_NONE;
}

static enum err spec_check_locks(const struct spec_check *check)
{
	const struct slice_list *texts = &check->spec->locks;
	struct slice names[LIMIT_JOB_LOCKS_MAX];
	bool shared;

	if (texts->n > LIMIT_JOB_LOCKS_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "locks", "too many");
	/* With mode retry a lost job might still run at its worker while the next job holds the lock. */
	if (texts->n > 0 && check->spec->mode == EXEC_RETRY)
		return spec_refused(check, ERR_INVALID, "locks", "a job with locks must have mode exclusive or once");
	for (size_t i = 0; i < texts->n; i++) {
		if (!lock_read(texts->at[i], &names[i], &shared))
			return spec_refused(check, ERR_INVALID, "locks",
					    "a lock must be given as NAME or NAME=shared, with letters, digits and _ "
					    ". -");
		for (size_t before = 0; before < i; before++)
			if (slice_eq(names[before], names[i]))
				return spec_refused(check, ERR_DUPLICATE, "locks", "the list names a lock twice");
	}
	return ERR_NONE;
}

static enum err spec_check_outputs(const struct spec_check *check)
{
	const struct slice_list *names = &check->spec->outputs;

	if (names->n > 0 && !(KIND_BIT(spec_kind(check->spec)) & FOR_WORK))
		return spec_refused(check, ERR_INVALID, "outputs", "only commands and scripts put out values");
	if (names->n > LIMIT_OUTPUTS_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "outputs", "too many");
	for (size_t i = 0; i < names->n; i++) {
		if (!text_is_name(names->at[i]))
			return spec_refused(check, ERR_INVALID, "outputs", "a name may only have letters, digits and _ . -");
		for (size_t before = 0; before < i; before++)
			if (slice_eq(names->at[before], names->at[i]))
				return spec_refused(check, ERR_DUPLICATE, "outputs", "the list names an output twice");
	}
	return ERR_NONE;
}

static enum err spec_check_inputs(const struct spec_check *check)
{
	struct slice path;
	const char *fault = inputs_fault(check->spec->inputs, &path);

	if (check->spec->inputs.len > 0 && !(KIND_BIT(spec_kind(check->spec)) & FOR_WORK))
		return spec_refused(check, ERR_INVALID, "inputs", "only commands and scripts can have files");
	return fault ? spec_refused(check, ERR_INVALID, "inputs", fault) : ERR_NONE;
}

static enum err spec_check_computes(const struct spec_check *check)
{
	const struct slice_list *entries = &check->spec->computes;
	enum job_kind kind = spec_kind(check->spec);
	struct slice name, before, text;

	if (entries->n > 0 && kind != KIND_NOOP && kind != KIND_SUBRUN)
		return spec_refused(check, ERR_INVALID, "computes", "only noops and jobs with a sub-run compute outputs");
	if (entries->n > LIMIT_OUTPUTS_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "computes", "too many");
	for (size_t i = 0; i < entries->n; i++) {
		if (!computed_good(entries->at[i]) || !computed_read(entries->at[i], &name, &text))
			return spec_refused(check, ERR_INVALID, "computes", "an output must be given as NAME=TEXT, with ${JOB/OUTPUT} for an output of a job and $$ for a dollar");
		for (size_t at = 0; at < i; at++)
			if (computed_read(entries->at[at], &before, &text) && slice_eq(before, name))
				return spec_refused(check, ERR_DUPLICATE, "computes", "the list names an output twice");
	}
	if (check->spec->message_text.len > 0 && (kind != KIND_GATE || !output_text_good(check->spec->message_text)))
		return spec_refused(check, ERR_INVALID, "message_text", "it must be the question of a gate, with ${JOB/OUTPUT} for an output of a job and $$ for a dollar");
	return ERR_NONE;
}

/* Check the patterns: each has its sign, and one of them chooses files. */
static enum err spec_check_artifacts(const struct spec_check *check)
{
	const struct slice_list *globs = &check->spec->artifacts;
	bool chooses = globs->n == 0;

	if (globs->n > 0 && !(KIND_BIT(spec_kind(check->spec)) & FOR_WORK))
		return spec_refused(check, ERR_INVALID, "artifacts", "only commands and scripts leave files");
	if (globs->n > LIMIT_ARTIFACT_GLOBS_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "artifacts", "too many");
	for (size_t i = 0; i < globs->n; i++) {
		struct slice glob = globs->at[i];

		if (glob.len < 2 || !memchr("+?-", glob.data[0], 3) || !glob_fits(slice_make(glob.data + 1, glob.len - 1)))
			return spec_refused(check, ERR_INVALID, "artifacts", "a pattern must be relative and have no empty part and no part . or ..");
		chooses = chooses || glob.data[0] != '-';
	}
	return chooses ? ERR_NONE : spec_refused(check, ERR_INVALID, "artifacts", "all patterns leave files out, and none chooses any");
}

static enum err spec_check_artifacts_in(const struct spec_check *check)
{
	const struct slice_list *ins = &check->spec->artifacts_in;
	struct slice job, dir;

	if (ins->n > 0 && !(KIND_BIT(spec_kind(check->spec)) & FOR_WORK))
		return spec_refused(check, ERR_INVALID, "artifacts_in", "only commands and scripts can have files");
	if (ins->n > LIMIT_ARTIFACTS_IN_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "artifacts_in", "too many");
	for (size_t i = 0; i < ins->n; i++)
		if (!in_read(ins->at[i], &job, &dir))
			return spec_refused(check, ERR_INVALID, "artifacts_in", "a job whose artifacts are wanted must be given as JOB= or JOB=DIR, DIR relative, with no part . or ..");
	return ERR_NONE;
}

static enum err spec_check_takes(const struct spec_check *check)
{
	const struct slice_list *takes = &check->spec->takes;
	struct slice variable, from, output;
	unsigned up;

	if (takes->n > LIMIT_TAKES_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "takes", "too many");
	for (size_t i = 0; i < takes->n; i++)
		if (!take_read(takes->at[i], &variable, &up, &from, &output))
			return spec_refused(check, ERR_INVALID, "takes", "an output must be given as VARIABLE=JOB/OUTPUT, with ../ before JOB for each level of runs around");
	return ERR_NONE;
}

static enum err spec_check_service(const struct spec_check *check)
{
	const struct rec_job_spec *spec = check->spec;

	if (spec->kind != KIND_SERVICE)
		return spec->restart || spec->restart_wait_ms || spec->restart_wait_max_ms || spec->stable_ms || spec->restart_never.n > 0 ||
		       spec->loop_ends || spec->loop_ms ?
			spec_refused(check, ERR_INVALID, "restart", "the job has fields of a service but isn't a service") : ERR_NONE;
	if (spec->mode == EXEC_ONCE)
		return spec_refused(check, ERR_INVALID, "mode", "a service can't have mode once, because it is started again");
	if (spec->restart > RESTART_NEVER)
		return spec_refused(check, ERR_INVALID, "restart", "no such value");
	if (spec->restart_wait_ms / 1000 > LIMIT_SPAN_MAX_S || spec->restart_wait_max_ms / 1000 > LIMIT_SPAN_MAX_S || spec->loop_ms / 1000 > LIMIT_SPAN_MAX_S)
		return spec_refused(check, ERR_TOO_LARGE, "restart_wait_ms", "longer than ten years");
	if (spec->restart_wait_max_ms > 0 && spec->restart_wait_max_ms < (spec->restart_wait_ms ? spec->restart_wait_ms : LIMIT_SERVICE_WAIT_MS))
		return spec_refused(check, ERR_INVALID, "restart_wait_max_ms", "the longest wait before a restart is shorter than the first wait");
	if (spec->loop_ends == 1 || spec->loop_ends > LIMIT_SERVICE_ENDS_MAX)
		return spec_refused(check, ERR_INVALID, "loop_ends", "the number of ends that make a crash loop must be from 2 to 20");
	if (spec->restart_never.n > LIMIT_RETRY_CODES_MAX)
		return spec_refused(check, ERR_TOO_LARGE, "restart_never", "too many");
	for (size_t i = 0; i < spec->restart_never.n; i++)
		if (spec->restart_never.at[i] > 255 || (i > 0 && spec->restart_never.at[i] <= spec->restart_never.at[i - 1]))
			return spec_refused(check, ERR_INVALID, "restart_never", "exit codes must be from 0 to 255 and ascending");
	return ERR_NONE;
}

enum err spec_check(const struct rec_job_spec *spec, uint32_t index, const struct extent *extent, struct error *error)
{
	struct spec_check check = {
		.spec = spec, .index = index, .start = extent->start, .count = extent->start + extent->count,
		.error = error,
	};
	enum err err;

	if (!text_is_job_name(spec->name))
		return spec_refused(&check, ERR_INVALID, "name",
				    "a name must have letters, digits, _ . - and begin with a letter, digit or _; "
				    "[NUMBER] may follow");
	err = spec_check_kind(&check);
	if (err == ERR_NONE)
		err = spec_check_command(&check);
	if (err == ERR_NONE)
		err = spec_check_plain(&check);
	if (err == ERR_NONE)
		err = spec_check_shell(&check);
	if (err == ERR_NONE)
		err = spec_check_input(&check);
	if (err == ERR_NONE)
		err = spec_check_env(&check);
	if (err == ERR_NONE)
		err = spec_check_needs(&check);
	if (err == ERR_NONE)
		err = spec_check_conditions(&check);
	if (err == ERR_NONE)
		err = spec_check_numbers(&check);
	if (err == ERR_NONE)
		err = spec_check_failure(&check);
	if (err == ERR_NONE)
		err = spec_check_placing(&check);
	if (err == ERR_NONE)
		err = spec_check_groups(&check);
	if (err == ERR_NONE)
		err = spec_check_locks(&check);
	if (err == ERR_NONE)
		err = spec_check_kv(&check);
	if (err == ERR_NONE)
		err = spec_check_outputs(&check);
	if (err == ERR_NONE)
		err = spec_check_computes(&check);
	if (err == ERR_NONE)
		err = spec_check_artifacts(&check);
	if (err == ERR_NONE)
		err = spec_check_artifacts_in(&check);
	if (err == ERR_NONE)
		err = spec_check_takes(&check);
	if (err == ERR_NONE)
		err = spec_check_inputs(&check);
	if (err == ERR_NONE)
		err = spec_check_gate(&check);
	if (err == ERR_NONE)
		err = spec_check_loop(&check);
	if (err == ERR_NONE)
		err = spec_check_service(&check);
	return err;
}
