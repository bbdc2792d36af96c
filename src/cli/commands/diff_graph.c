/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compares the specifications of two runs. The names of variables are shown and their values never are: values may be secret,
 * and people often send such a list to somebody else.
 */
#include "cli/commands/diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "lang/demand.h"
#include "lang/failure.h"
#include "lang/log_max.h"

static struct slice kept(struct arena *arena, struct buf *text)
{
	struct slice copy = arena_copy(arena, buf_slice(text));

	buf_free(text);
	return copy;
}

/* ---- what a setting is called ---- */

static const char *setting_name(const struct setting *setting)
{
	static const char *const names[][2] = {
		{ "triggers", "needs" }, { "needs_code", "needs" }, { "needs_text", "needs" }, { "when_code", "when" },
		{ "group", "fan_out" }, { "group_parallel", "max_parallel" }, { "group_fail_fast", "fail_fast" },
		{ "backoff_max_ms", "retry.backoff" }, { "deadline_at_ms", "deadline" }, { "final", "finally" },
		{ "loop_code", "loop.until" }, { "sub_count", "pipeline" }, { "sub_name", "pipeline" }, { "sub_max_jobs", "pipeline" },
		{ "sub_concurrency", "pipeline" }, { "sub_context", "pipeline" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(setting->field, names[i][0]) == 0)
			return names[i][1];
	return setting->yaml[0] != '\0' ? setting->yaml : setting->field;
}

/* ---- the value of a setting as text ---- */

static void add_list(struct buf *out, struct slice_list list, const char *between)
{
	for (size_t i = 0; i < list.n; i++) {
		buf_add_str(out, i > 0 ? between : "");
		buf_add_slice(out, list.at[i]);
	}
}

static void add_needs(struct buf *out, const struct spec_graph *graph, const struct rec_job_spec *job)
{
	static const char *const triggers[] = { "", ":failed", ":done", "" };
	struct slice last = { 0 };

	if (job->needs_text.len > 0) {
		buf_add_slice(out, job->needs_text);
		return;
	}
	for (size_t i = 0; i < job->needs.n; i++) {
		struct slice name = job->needs.at[i] < graph->count ? graph->jobs[job->needs.at[i]].name : (struct slice){ 0 };
		uint64_t trigger = i < job->triggers.n ? job->triggers.at[i] : TRIGGER_OK;

		name.len = spec_stem(name);
		if (slice_eq(name, last))
			continue;
		buf_add_str(out, last.len > 0 ? ", " : "");
		buf_add_slice(out, name);
		buf_add_str(out, triggers[trigger < 4 ? trigger : 0]);
		last = name;
	}
}

/* Write the value of a setting that people read in another form than it is stored in. False: this isn't such a setting. */
static bool add_own(struct buf *out, const char *field, const struct spec_graph *graph, const struct rec_job_spec *job, struct arena *arena)
{
	static const char *const affinities[] = { "", "parent", "sticky" };

	if (strcmp(field, "needs") == 0 || strncmp(field, "needs_", 6) == 0)
		add_needs(out, graph, job);
	else if (strcmp(field, "when_code") == 0)
		buf_add_slice(out, job->when);
	else if (strcmp(field, "loop_code") == 0)
		buf_add_slice(out, job->loop_until);
	else if (strcmp(field, "argv") == 0)
		add_list(out, job->argv, " ");
	else if (strcmp(field, "asks") == 0)
		add_list(out, demand_shown(job->asks, arena), ", ");
	else if (strcmp(field, "priority") == 0)
		buf_addf(out, "%" PRIu64, job->priority > 0 ? job->priority - 1 : 50);
	else if (strcmp(field, "mode") == 0)
		buf_add_str(out, exec_mode_name(job->mode < EXEC_MODE_COUNT ? (enum exec_mode)job->mode : EXEC_RETRY));
	else if (strcmp(field, "continue_on") == 0)
		continue_words(job->continue_on, out);
	else if (strcmp(field, "log_max") == 0 && job->log_max > 0)
		log_max_text(job->log_max, out);
	else if (strcmp(field, "kind") == 0)
		buf_add_str(out, job->kind ? job_kind_name(spec_kind(job)) : "");
	else if (strcmp(field, "affinity") == 0)
		buf_add_str(out, job->affinity < 3 ? affinities[job->affinity] : "");
	else if (strcmp(field, "backoff_exact") == 0)
		buf_add_str(out, job->backoff_exact ? "false" : "true");
	else if (strncmp(field, "sub_", 4) == 0)
		buf_addf(out, "%.*s, %" PRIu64 " job%s", (int)job->sub_name.len, (const char *)job->sub_name.data, job->sub_count, job->sub_count == 1 ? "" : "s");
	else if (strcmp(field, "group") == 0)
		buf_add_str(out, job->group > 0 ? "limited" : "");
	else
		return false;
	return true;
}

static void add_span(struct buf *out, uint64_t ms)
{
	char text[CLOCK_TEXT_SIZE];

	if (ms > 0)
		buf_add_str(out, clock_write_span((int64_t)ms, text));
}

static struct slice value_text(const struct setting *setting, const struct spec_graph *graph, const struct rec_job_spec *job, struct arena *arena)
{
	const void *at = (const uint8_t *)job + setting->offset;
	size_t len = strlen(setting->field);
	char time[CLOCK_TEXT_SIZE];
	struct buf out = { 0 };

	if (!setting_is_said(setting, job) && strncmp(setting->field, "needs_", 6) != 0 && strcmp(setting->field, "when_code") != 0)
		return (struct slice){ 0 };
	if (add_own(&out, setting->field, graph, job, arena))
		return kept(arena, &out);
	if (setting->type == TYPE_STRS)
		add_list(&out, *(const struct slice_list *)at, ", ");
	else if (setting->type == TYPE_STR)
		buf_add_slice(&out, *(const struct slice *)at);
	else if (setting->type == TYPE_BOOL)
		buf_add_str(&out, "true");
	else if (setting->type == TYPE_I64)
		buf_add_str(&out, clock_format_utc(*(const int64_t *)at, time));
	else if (setting->type == TYPE_U64 && len > 3 && strcmp(setting->field + len - 3, "_ms") == 0)
		add_span(&out, *(const uint64_t *)at);
	else if (setting->type == TYPE_U64)
		buf_addf(&out, "%" PRIu64, *(const uint64_t *)at);
	else if (setting->type == TYPE_U64S)
		for (size_t i = 0; i < ((const struct u64_list *)at)->n; i++)
			buf_addf(&out, "%s%" PRIu64, i > 0 ? ", " : "", ((const struct u64_list *)at)->at[i]);
	return kept(arena, &out);
}

/* ---- variables ---- */

static struct slice name_of(struct slice entry)
{
	const uint8_t *equals = entry.len > 0 ? memchr(entry.data, '=', entry.len) : NULL;

	return slice_make(entry.data, equals ? (size_t)(equals - entry.data) : entry.len);
}

/* Find a variable. If the list has several entries of this name, the first one counts, as it does for the job. */
static const struct slice *find_variable(const struct slice_list *env, struct slice name)
{
	for (size_t i = 0; i < env->n; i++)
		if (slice_eq(name_of(env->at[i]), name))
			return &env->at[i];
	return NULL;
}

static void diff_env(const struct slice_list *one, const struct slice_list *other, bool masked, struct slice job, struct diff_list *list)
{
	for (int side = 0; side < 2; side++) {
		const struct slice_list *own = side == 0 ? one : other, *others = side == 0 ? other : one;

		for (size_t i = 0; i < own->n; i++) {
			struct slice name = name_of(own->at[i]);
			const struct slice *twin = find_variable(others, name);
			char what[LIMIT_NAME_MAX_LEN + 1];

			if (find_variable(own, name) != &own->at[i] || (twin && (side == 1 || masked || slice_eq(*twin, own->at[i]))))
				continue;
			snprintf(what, sizeof(what), "%.*s", (int)name.len, (const char *)name.data);
			if (twin)
				diff_add(list, job, DIFF_VARIABLE, what, slice_str("a value"), slice_str("another"));
			else
				diff_add(list, job, DIFF_VARIABLE, what, slice_str(side == 0 ? "set" : ""), slice_str(side == 0 ? "" : "set"));
		}
	}
}

/* ---- jobs ---- */

static void diff_job(const struct diff_side *one, uint64_t at, const struct diff_side *other, uint64_t other_at, bool *differs,
		     struct diff_list *list)
{
	const struct spec_graph *left = &one->asked.graph, *right = &other->asked.graph;
	const struct rec_job_spec *a = &left->jobs[at], *b = &right->jobs[other_at];

	if (spec_compare(left, at, right, other_at, differs) == 0)
		return;
	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *setting = &setting_table[i];
		const char *name = setting_name(setting);

		if (!differs[i])
			continue;
		if (strcmp(setting->field, "env") == 0) {
			diff_env(&a->env, &b->env, one->asked.masked || other->asked.masked, a->name, list);
			continue;
		}
		/* Several fields, such as needs and triggers, are one setting for people: list it once. */
		if (list->count > 0 && slice_eq(list->at[list->count - 1].name, a->name) && slice_eq(list->at[list->count - 1].what, slice_str(name)))
			continue;
		diff_add(list, a->name, DIFF_SETTING, name, value_text(setting, left, a, list->arena), value_text(setting, right, b, list->arena));
	}
}

static void diff_number(struct diff_list *list, const char *what, uint64_t before, uint64_t after)
{
	char one[24], other[24];

	if (before == after)
		return;
	snprintf(one, sizeof(one), "%" PRIu64, before);
	snprintf(other, sizeof(other), "%" PRIu64, after);
	diff_add(list, (struct slice){ 0 }, DIFF_SETTING, what, before ? arena_copy(list->arena, slice_str(one)) : (struct slice){ 0 },
		 after ? arena_copy(list->arena, slice_str(other)) : (struct slice){ 0 });
}

static void diff_texts(struct diff_list *list, const char *what, struct slice before, struct slice after)
{
	if (!slice_eq(before, after))
		diff_add(list, (struct slice){ 0 }, DIFF_SETTING, what, before, after);
}

static struct slice directory(const struct rec_run_context *context)
{
	return context->dir.len > 0 ? context->dir : context->here_dir;
}

void diff_graphs(const struct diff_side *one, const struct diff_side *other, struct diff_list *list)
{
	const struct rec_run_context *left = &one->asked.context, *right = &other->asked.context;
	bool masked = one->asked.masked || other->asked.masked;
	bool *differs = mem_array(setting_count, sizeof(*differs));
	struct spec_index before, after;

	diff_texts(list, "name", one->asked.graph.name, other->asked.graph.name);
	diff_texts(list, "tenant", one->asked.graph.tenant, other->asked.graph.tenant);
	diff_texts(list, "concurrency", one->asked.graph.concurrency, other->asked.graph.concurrency);
	diff_number(list, "max_jobs", one->asked.graph.max_jobs, other->asked.graph.max_jobs);
	diff_texts(list, "dir", directory(left), directory(right));
	diff_env(&left->env, &right->env, masked, (struct slice){ 0 }, list);
	diff_env(&left->here_env, &right->here_env, masked, (struct slice){ 0 }, list);
	spec_index_make(&one->asked.graph, &before);
	spec_index_make(&other->asked.graph, &after);
	for (uint64_t i = 0; i < one->asked.graph.count; i++) {
		struct slice name = one->asked.graph.jobs[i].name;
		uint64_t at = spec_index_find(&after, name);

		if (at == UINT64_MAX)
			diff_add(list, name, DIFF_JOB, "job", slice_str("there"), (struct slice){ 0 });
		else
			diff_job(one, i, other, at, differs, list);
	}
	for (uint64_t i = 0; i < other->asked.graph.count; i++)
		if (spec_index_find(&before, other->asked.graph.jobs[i].name) == UINT64_MAX)
			diff_add(list, other->asked.graph.jobs[i].name, DIFF_JOB, "job", (struct slice){ 0 }, slice_str("there"));
	spec_index_free(&before);
	spec_index_free(&after);
	mem_free(differs);
}
