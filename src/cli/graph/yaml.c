/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a graph as a pipeline, reads the text again and compares the two graphs. If they differ, the graph is refused. */
#include "cli/graph/yaml.h"

#include <string.h>

#include "base/mem.h"
#include "proto/limits.h"

static enum err refuse(struct cli *cli, const char *what)
{
	return error_set(&cli->error, ERR_INVALID, "this graph can't be written as a pipeline: %s", what);
}

/* Refuse the graph because a job differs after it was written and read. The error names the first setting that differs. */
static enum err refuse_job(struct cli *cli, struct slice name, const bool *differs)
{
	const char *key = "";

	for (size_t i = 0; i < setting_count && key[0] == '\0'; i++)
		if (differs[i])
			key = setting_table[i].yaml[0] != '\0' ? setting_table[i].yaml : setting_table[i].field;
	return error_set(&cli->error, ERR_INVALID, "this graph can't be written as a pipeline: there is no form for the setting '%s' of job '%.*s'",
			 key, (int)name.len, (const char *)name.data);
}

static bool same_env(struct slice_list one, struct slice_list other)
{
	for (size_t i = 0; i < one.n && i < other.n; i++)
		if (!slice_eq(one.at[i], other.at[i]))
			return false;
	return one.n == other.n;
}

static bool same_schedule(const struct rec_schedule_spec *one, const struct rec_schedule_spec *other)
{
	if (!one || !other)
		return !one == !other;
	return slice_eq(one->cron, other->cron) && slice_eq(one->zone_name, other->zone_name) && one->overlap == other->overlap &&
	       one->catchup == other->catchup && one->catchup_ms == other->catchup_ms;
}

static enum err compare(struct cli *cli, const struct spec_graph *graph, const struct spec_graph *read)
{
	bool *differs;
	struct spec_index index;
	enum err err = ERR_NONE;

	if (!slice_eq(graph->name, read->name) || !slice_eq(graph->tenant, read->tenant) || !slice_eq(graph->concurrency, read->concurrency) ||
	    graph->max_jobs != read->max_jobs || !same_schedule(graph->schedule, read->schedule))
		return refuse(cli, "its name, tenant, limits or schedule have no form in YAML");
	if (!same_env(graph->env, read->env))
		return refuse(cli, "a variable of all jobs has bytes for which YAML has no form");
	if (graph->count != read->count)
		return refuse(cli, "it has jobs whose names only titan gives");
	differs = mem_array(setting_count, sizeof(*differs));
	spec_index_make(read, &index);
	for (uint64_t i = 0; i < graph->count && err == ERR_NONE; i++) {
		uint64_t at = spec_index_find(&index, graph->jobs[i].name);

		if (at == UINT64_MAX)
			err = refuse(cli, "it has jobs whose names only titan gives");
		else if (spec_compare(graph, i, read, at, differs) > 0)
			err = refuse_job(cli, graph->jobs[i].name, differs);
	}
	spec_index_free(&index);
	mem_free(differs);
	return err;
}

enum err graph_yaml(struct cli *cli, const struct spec_graph *graph, struct buf *out)
{
	struct spec_graph read;
	struct pipeline pipeline;
	struct dag_spot spot;
	struct error why = { 0 };

	pipeline_write(graph, &cli->arena, out);
	if (pipeline_parse(buf_slice(out), (struct slice_list){ 0 }, &cli->arena, &pipeline, &spot, &why) != ERR_NONE)
		return refuse(cli, why.text);
	spec_graph_of(&pipeline, &cli->arena, &read);
	return compare(cli, graph, &read);
}
