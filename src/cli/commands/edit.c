/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a graph as a pipeline, opens an editor on that text, and reads the edited text like a pipeline file. */
#include "cli/commands/edit.h"

#include <stdio.h>

#include "cli/commands/job_files.h"
#include "cli/graph/load.h"
#include "cli/graph/yaml.h"
#include "cli/session/editor.h"
#include "proto/limits.h"

#define FILE_NAME_MAX (LIMIT_NAME_MAX_LEN + 8)

struct check {
	struct edited_graph *edited;
	char file[FILE_NAME_MAX];
};

static enum err check_text(struct cli *cli, struct slice text, void *arg)
{
	struct check *check = arg;
	struct edited_graph *edited = check->edited;
	struct pipeline *pipeline = &edited->pipeline;
	enum err err = load_pipeline_text(cli, check->file, OPT_run_param, NULL, text, pipeline);

	if (err != ERR_NONE)
		return err;
	if (edited->scheduled && pipeline->schedule.cron.len == 0) {
		error_set(&cli->error, ERR_INVALID, "%s: the key schedule is missing; without it nothing would begin", check->file);
		return error_next(&cli->error, "titan schedule rm %.*s", (int)edited->name.len, (const char *)edited->name.data);
	}
	if (edited->name.len > 0 && !slice_eq(edited->name, pipeline->name)) {
		error_set(&cli->error, ERR_INVALID, "%s: the name must stay '%.*s', because another name is another schedule", check->file,
			  (int)edited->name.len, (const char *)edited->name.data);
		return error_next(&cli->error, "titan schedule add FILE");
	}
	return ERR_NONE;
}

static void edited_job(const void *arg, uint64_t index, struct arena *scratch, struct rec_job_spec *ret_spec)
{
	static const struct job_defaults defaults;
	const struct edited_graph *edited = arg;

	dagline_job(&edited->pipeline.dag, index, &defaults, scratch, ret_spec);
}

/*
 * Make the context of the edited jobs: the original's, with the variables of the edited text. It has no directory, because
 * each job in the text has its directory itself.
 */
static struct slice make_context(struct cli *cli, const struct asked_graph *asked, const struct pipeline *pipeline)
{
	struct rec_run_context context = asked->context;
	struct buf bytes = { 0 };
	struct slice copy;

	context.dir = (struct slice){ 0 };
	context.env = pipeline->dag.env;
	record_encode(&bytes, REC_run_context, &context);
	copy = arena_copy(&cli->arena, buf_slice(&bytes));
	buf_free(&bytes);
	return copy;
}

enum err edit_graph(struct cli *cli, const struct asked_graph *asked, struct edited_graph *edited)
{
	struct check check = { .edited = edited };
	struct job_files files = { 0 };
	struct buf text = { 0 };
	enum err err = graph_yaml(cli, &asked->graph, &text);

	snprintf(check.file, sizeof(check.file), "%.*s.yaml", (int)asked->graph.name.len, (const char *)asked->graph.name.data);
	if (err == ERR_NONE)
		err = editor_edit(cli, check.file, buf_slice(&text), check_text, &check);
	buf_free(&text);
	if (err != ERR_NONE)
		return err;
	edited->source = (struct graph_source){
		.count = edited->pipeline.dag.job_count, .max_jobs = edited->pipeline.max_jobs, .tenant = edited->pipeline.tenant,
		.concurrency = edited->pipeline.concurrency, .job_cb = edited_job, .arg = edited,
	};
	edited->source.context = make_context(cli, asked, &edited->pipeline);
	err = job_files_find(cli, &edited->pipeline.dag, &files);
	if (err == ERR_NONE)
		err = job_files_send(cli, &files);
	job_files_free(&files);
	return err;
}
