/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan graph: the graph of a run, of a pipeline or of a line, as lanes, for Graphviz, or as data. */
#include <stdio.h>

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/select.h"
#include "cli/ask/specs.h"
#include "cli/commands/command.h"
#include "cli/commands/job_files.h"
#include "cli/graph/load.h"
#include "cli/graph/picture.h"
#include "cli/graph/yaml.h"
#include "cli/session/output.h"
#include "cli/session/session.h"
#include "cli/show/records.h"

static const struct column graph_columns[] = {
	{ "name", "JOB", false },
	{ "state", "STATE", false },
	{ "needs", "NEEDS", false },
	{ "index", NULL, true },
};
const struct table graph_table = TABLE_OF(graph_columns);

static struct slice need_text(struct slice name, enum trigger trigger, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice copy;

	if (trigger != TRIGGER_FAILED && trigger != TRIGGER_DONE)
		return name;
	buf_add_slice(&text, name);
	buf_add_str(&text, trigger == TRIGGER_FAILED ? ":failed" : ":done");
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

/* For programs nothing is folded. Jobs of a pipeline file have no state. */
static void add_rows(const struct picture *picture, struct records *records)
{
	const struct tui_graph *graph = &picture->graph;

	for (size_t i = 0; i < graph->count; i++) {
		const struct tui_job *job = &graph->jobs[i];
		struct slice_list needs = { .n = 0 };

		if (job->job == 0)
			continue;
		needs.at = arena_zalloc(records->arena, job->need_count + 1, sizeof(*needs.at));
		for (uint32_t k = 0; k < job->need_count; k++)
			if (job->needs[k] < graph->count)
				needs.at[needs.n++] = need_text(graph->jobs[job->needs[k]].name, (enum trigger)picture->triggers[i][k],
								records->arena);
		records_text(records, job->name);
		if (picture->run != 0)
			records_state(records, &state_table[graph->states[i]], state_table[graph->states[i]].name);
		else
			records_none(records);
		records_texts(records, needs);
		records_number(records, i);
	}
}

static void print_picture(struct cli *cli, struct picture *picture)
{
	struct records records;
	struct buf out = { 0 };

	if (option_given(cli->invocation, OPT_graph_all))
		picture_unfold(picture);
	if (option_given(cli->invocation, OPT_graph_dot)) {
		picture_dot(picture, &out);
	} else if (cli->out.style == STYLE_HUMAN) {
		picture_lanes(picture, &cli->out, &out);
	} else {
		records_begin(&records, graph_columns, graph_table.count, &cli->arena);
		add_rows(picture, &records);
		records_print(&records, &cli->out, &out);
	}
	cli_print(cli, &out);
	buf_free(&out);
}

static bool is_run(const char *text)
{
	uint64_t number;

	return strcmp(text, "last") == 0 || strcmp(text, "self") == 0 || text_parse_u64(slice_str(text), &number);
}

static enum err check_options(struct cli *cli, const char *line)
{
	bool dot = option_given(cli->invocation, OPT_graph_dot), yaml = option_given(cli->invocation, OPT_graph_yaml);
	struct records records;

	if ((cli->invocation->arg_count == 1) == (line != NULL)) {
		error_set(&cli->error, ERR_USAGE, "name one graph: a run, a file, or a line with -e");
		return error_next(&cli->error, "titan graph last");
	}
	if (dot && yaml)
		return error_set(&cli->error, ERR_USAGE, "--dot and --yaml are two formats; give one of them");
	if ((dot || yaml) && cli->out.style != STYLE_HUMAN)
		return error_set(&cli->error, ERR_USAGE, "--%s is a format of its own; leave out --json, --plain and --format", dot ? "dot" : "yaml");
	records_begin(&records, graph_columns, graph_table.count, &cli->arena);
	return records_check(&records, &cli->out, &cli->error);
}

/* Read the graph from the one-line form or, if line is NULL, from a file, whose text must live as long as the pipeline. */
static enum err read_pipeline(struct cli *cli, const char *line, const char *path, struct buf *text, struct pipeline *ret)
{
	enum err err;

	if (!line)
		return load_pipeline(cli, strcmp(path, "-") == 0 ? LOAD_STDIN : path, OPT_graph_param, NULL, text, ret);
	err = load_line(cli, slice_str(line), "-e", NULL, &ret->dag);
	if (err == ERR_NONE)
		ret->name = ret->dag.nodes[0]->name;
	return err;
}

static void tell_directory(struct cli *cli, const struct asked_graph *asked)
{
	struct buf dir = { 0 };
	bool any = false;

	for (uint64_t i = 0; i < asked->graph.count; i++)
		any = any || (asked->graph.jobs[i].dir.len == 0 && KIND_BIT(spec_kind(&asked->graph.jobs[i])) & FOR_WORK);
	if (asked->context.here_dir.len > 0 && any && cli_chatty(cli)) {
		text_escape(&dir, asked->context.here_dir, TEXT_KEEP_NONE);
		cli_note(cli, "jobs without dir ran in %s; those of a file run in its directory", buf_cstr(&dir));
	}
	buf_free(&dir);
}

static enum err print_yaml(struct cli *cli, uint64_t run, const struct pipeline *pipeline)
{
	struct asked_graph asked = { 0 };
	struct spec_graph graph;
	struct buf out = { 0 };
	char what[40];
	enum err err = ERR_NONE;

	if (pipeline && job_files_any(&pipeline->dag)) {
		error_set(&cli->error, ERR_INVALID, "this pipeline names files, whose contents only a run has");
		return error_next(&cli->error, "titan graph --yaml RUN");
	}
	if (pipeline) {
		spec_graph_of(pipeline, &cli->arena, &graph);
	} else {
		snprintf(what, sizeof(what), "run %llu", (unsigned long long)run);
		err = cli_query_graph(cli, run, NULL, &asked);
		if (err == ERR_NONE)
			err = graph_unmasked(cli, &asked, what);
		graph = asked.graph;
	}
	if (err == ERR_NONE)
		err = graph_yaml(cli, &graph, &out);
	if (err == ERR_NONE) {
		cli_print(cli, &out);
		tell_directory(cli, &asked);
	}
	buf_free(&out);
	return err;
}

static enum err draw(struct cli *cli, uint64_t run, const struct pipeline *pipeline, struct slice name)
{
	struct picture picture = { 0 };
	enum err err = ERR_NONE;

	if (pipeline)
		picture_of_dag(&pipeline->dag, name, &picture);
	else
		err = picture_of_run(cli, run, &picture);
	if (err == ERR_NONE)
		print_picture(cli, &picture);
	picture_free(&picture);
	return err;
}

int cmd_graph(struct cli *cli)
{
	const char *line = option_value(cli->invocation, OPT_graph_expression);
	const char *what = cli->invocation->arg_count > 0 ? cli->invocation->args[0] : "";
	bool yaml = option_given(cli->invocation, OPT_graph_yaml), of_run = !line && is_run(what);
	struct pipeline pipeline = { 0 };
	struct buf text = { 0 };
	uint64_t run = 0;
	enum err err = check_options(cli, line);

	if (err == ERR_NONE && of_run && (err = cli_connect(cli)) == ERR_NONE)
		err = cli_select_run(cli, what, &run);
	else if (err == ERR_NONE)
		err = read_pipeline(cli, line, what, &text, &pipeline);
	if (err == ERR_NONE && yaml)
		err = print_yaml(cli, run, of_run ? NULL : &pipeline);
	else if (err == ERR_NONE)
		err = draw(cli, run, of_run ? NULL : &pipeline, line ? slice_str("line") : pipeline.name);
	buf_free(&text);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}
