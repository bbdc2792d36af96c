/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares jobs of two graphs, setting by setting. The order of jobs, needs and asked resources makes no difference. */
#include "lang/spec_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

size_t spec_stem(struct slice name)
{
	size_t at = name.len;

	if (at < 4 || name.data[--at] != ']')
		return name.len;
	while (at > 0 && name.data[at - 1] >= '0' && name.data[at - 1] <= '9')
		at--;
	return at > 1 && name.data[at - 1] == '[' && at < name.len - 1 ? at - 1 : name.len;
}

void spec_graph_of(const struct pipeline *pipeline, struct arena *arena, struct spec_graph *ret)
{
	const struct job_defaults defaults = { 0 };

	*ret = (struct spec_graph){
		.jobs = arena_zalloc(arena, (size_t)pipeline->dag.job_count + 1, sizeof(*ret->jobs)), .count = pipeline->dag.job_count,
		.name = pipeline->name, .tenant = pipeline->tenant, .concurrency = pipeline->concurrency,
		.max_jobs = pipeline->max_jobs, .env = pipeline->dag.env,
		.outputs = pipeline->outputs,
		.schedule = pipeline->schedule.cron.len > 0 ? &pipeline->schedule : NULL,
	};
	for (uint64_t i = 0; i < ret->count; i++)
		dagline_job(&pipeline->dag, i, &defaults, arena, &ret->jobs[i]);
}

bool spec_graph_of_sub(const struct rec_job_spec *job, struct arena *arena, struct spec_graph *ret)
{
	struct slice bytes = job->sub_jobs, context = job->sub_context;
	struct rec_run_context shared = { 0 };

	*ret = (struct spec_graph){ .name = job->sub_name, .concurrency = job->sub_concurrency, .max_jobs = job->sub_max_jobs,
				     .outputs = job->computes };
	if (job->sub_count > job->sub_jobs.len || (context.len > 0 && record_decode(REC_run_context, &context, arena, &shared, NULL) != ERR_NONE))
		return false;
	ret->env = shared.env;
	ret->jobs = arena_zalloc(arena, (size_t)job->sub_count + 1, sizeof(*ret->jobs));
	for (; ret->count < job->sub_count; ret->count++)
		if (record_decode(REC_job_spec, &bytes, arena, &ret->jobs[ret->count], NULL) != ERR_NONE)
			return false;
	return true;
}

/* ---- finding jobs by name ---- */

void spec_index_make(const struct spec_graph *graph, struct spec_index *ret)
{
	*ret = (struct spec_index){ .graph = graph };
	for (uint64_t i = 0; i < graph->count; i++)
		name_map_put(&ret->names, graph->jobs[i].name, (void *)(uintptr_t)(i + 1));
}

void spec_index_free(struct spec_index *index)
{
	name_map_free(&index->names);
}

uint64_t spec_index_find(const struct spec_index *index, struct slice name)
{
	return (uint64_t)(uintptr_t)name_map_get(&index->names, name) - 1;
}

/* ---- settings ---- */

static int slice_order(const void *a, const void *b)
{
	const struct slice *one = a, *other = b;
	size_t least = one->len < other->len ? one->len : other->len;
	int order = least > 0 ? memcmp(one->data, other->data, least) : 0;

	return order != 0 ? order : (one->len > other->len) - (one->len < other->len);
}

static bool same_lists(const struct slice_list *one, const struct slice_list *other)
{
	for (size_t i = 0; i < one->n && i < other->n; i++)
		if (!slice_eq(one->at[i], other->at[i]))
			return false;
	return one->n == other->n;
}

/* Do both lists have the same texts, in any order? */
static bool same_sets(struct slice_list one, struct slice_list other)
{
	struct slice *both = mem_array(one.n + other.n + 1, sizeof(*both));
	struct slice_list left = { both, one.n }, right = { both + one.n, other.n };
	bool same;

	if (one.n > 0)
		memcpy(left.at, one.at, one.n * sizeof(*both));
	if (other.n > 0)
		memcpy(right.at, other.at, other.n * sizeof(*both));
	qsort(left.at, left.n, sizeof(*both), slice_order);
	qsort(right.at, right.n, sizeof(*both), slice_order);
	same = same_lists(&left, &right);
	mem_free(both);
	return same;
}

static bool same_numbers(const struct u64_list *one, const struct u64_list *other)
{
	return one->n == other->n && (one->n == 0 || memcmp(one->at, other->at, one->n * sizeof(*one->at)) == 0);
}

static bool same_value(const struct setting *setting, const struct rec_job_spec *one, const struct rec_job_spec *other)
{
	const void *a = (const uint8_t *)one + setting->offset, *b = (const uint8_t *)other + setting->offset;

	switch (setting->type) {
	case TYPE_U64:
	case TYPE_I64:
		return memcmp(a, b, sizeof(uint64_t)) == 0;
	case TYPE_BOOL:
		return *(const bool *)a == *(const bool *)b;
	case TYPE_STR:
	case TYPE_BIN:
		return slice_eq(*(const struct slice *)a, *(const struct slice *)b);
	case TYPE_U64S:
		return same_numbers(a, b);
	case TYPE_STRS:
		return same_lists(a, b);
	default:
		return false;
	}
}

/* ---- needs ---- */

struct need {
	struct slice name;
	uint64_t trigger;
};

static int need_order(const void *a, const void *b)
{
	const struct need *one = a, *other = b;
	int order = slice_order(&one->name, &other->name);

	return order != 0 ? order : (one->trigger > other->trigger) - (one->trigger < other->trigger);
}

static struct need *list_needs(const struct spec_graph *graph, const struct rec_job_spec *job)
{
	struct need *needs = mem_array(job->needs.n + 1, sizeof(*needs));

	for (size_t i = 0; i < job->needs.n; i++)
		needs[i] = (struct need){
			.name = job->needs.at[i] < graph->count ? graph->jobs[job->needs.at[i]].name : (struct slice){ 0 },
			.trigger = i < job->triggers.n ? job->triggers.at[i] : TRIGGER_OK,
		};
	qsort(needs, job->needs.n, sizeof(*needs), need_order);
	return needs;
}

static bool same_needs(const struct spec_graph *one, const struct rec_job_spec *a, const struct spec_graph *other, const struct rec_job_spec *b)
{
	struct need *left, *right;
	bool same = a->needs.n == b->needs.n;

	if (!same)
		return false;
	left = list_needs(one, a);
	right = list_needs(other, b);
	for (size_t i = 0; i < a->needs.n && same; i++)
		same = slice_eq(left[i].name, right[i].name) && left[i].trigger == right[i].trigger;
	mem_free(left);
	mem_free(right);
	return same;
}

static struct slice group_name(const struct spec_graph *graph, const struct rec_job_spec *job)
{
	return job->group > 0 && job->group <= graph->count ? graph->jobs[job->group - 1].name : (struct slice){ 0 };
}

/* ---- sub-runs ---- */

static bool same_graph(const struct spec_graph *one, const struct spec_graph *other)
{
	bool *differs = mem_array(setting_count, sizeof(*differs));
	struct spec_index index;
	bool same = one->count == other->count && same_lists(&one->env, &other->env);

	spec_index_make(other, &index);
	for (uint64_t i = 0; i < one->count && same; i++) {
		uint64_t at = spec_index_find(&index, one->jobs[i].name);

		same = at != UINT64_MAX && spec_compare(one, i, other, at, differs) == 0;
	}
	spec_index_free(&index);
	mem_free(differs);
	return same;
}

static bool same_sub(const struct rec_job_spec *one, const struct rec_job_spec *other)
{
	struct arena arena = { 0 };
	struct spec_graph left, right;
	bool same = slice_eq(one->sub_jobs, other->sub_jobs) && slice_eq(one->sub_context, other->sub_context);

	if (!same && spec_graph_of_sub(one, &arena, &left) && spec_graph_of_sub(other, &arena, &right))
		same = same_graph(&left, &right);
	arena_free(&arena);
	return same;
}

size_t spec_compare(const struct spec_graph *one, uint64_t at, const struct spec_graph *other, uint64_t other_at, bool *differs)
{
	const struct rec_job_spec *a = &one->jobs[at], *b = &other->jobs[other_at];
	size_t count = 0;

	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *setting = &setting_table[i];
		const char *field = setting->field;

		if (strcmp(field, "needs") == 0)
			differs[i] = !same_needs(one, a, other, b);
		else if (strcmp(field, "triggers") == 0 || strcmp(field, "sub_context") == 0)
			differs[i] = false;              /* needs and sub_jobs compare these, too */
		else if (strcmp(field, "needs_code") == 0)
			/* needs_code has indices, which may differ; needs_text, which has names, is enough if both have it. */
			differs[i] = (a->needs_text.len == 0 || b->needs_text.len == 0) && !same_value(setting, a, b);
		else if (strcmp(field, "when_code") == 0)
			differs[i] = (a->when.len == 0 || b->when.len == 0) && !same_value(setting, a, b);
		else if (strcmp(field, "group") == 0)
			differs[i] = !slice_eq(group_name(one, a), group_name(other, b));
		else if (strcmp(field, "asks") == 0)
			differs[i] = !same_sets(a->asks, b->asks);
		else if (strcmp(field, "sub_jobs") == 0)
			differs[i] = !same_sub(a, b);
		else
			differs[i] = !same_value(setting, a, b);
		count += differs[i];
	}
	return count;
}
