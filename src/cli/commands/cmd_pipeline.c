/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan validate and plan: check a pipeline and show it, without a master. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/graph/load.h"
#include "cli/graph/plan.h"
#include "cli/graph/submit.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/records.h"

static const struct column valid_columns[] = {
	{ "file", "file", false },
	{ "name", "name", false },
	{ "job_count", "jobs", true },
	{ "max_jobs", NULL, true },
};
const struct table valid_table = TABLE_OF(valid_columns);

/* Refuse jobs whose deadline has passed: they could only time out. */
static enum err check_dates(struct cli *cli, const char *path, const struct dagline *dag)
{
	for (size_t i = 0; i < dag->node_count; i++) {
		const struct dag_node *node = dag->nodes[i];
		char time[CLOCK_TEXT_SIZE];

		if (node->deadline_at_ms != 0 && node->deadline_at_ms < clock_wall_ms())
			return error_set(&cli->error, ERR_INVALID, "%s: the deadline of job '%.*s' is in the past: "
				"%s", path,
					 (int)node->name.len, (const char *)node->name.data,
					 clock_format_utc(node->deadline_at_ms, time));
	}
	return ERR_NONE;
}

static bool has_team(const struct conf *conf, struct slice name)
{
	for (size_t i = 0; i < conf->team_count; i++)
		if (slice_eq(conf->teams[i].name, name))
			return true;
	return false;
}

/*
 * Refuse gates that name a team that titan.conf doesn't have. Only the files of the master count: without teams here, or
 * with a master on another machine, nothing is known.
 */
static enum err check_teams(struct cli *cli, const char *path, const struct dagline *dag)
{
	const struct conf *conf = conf_setting(cli->invocation->conf, CONF_teams);
	struct buf known = { 0 };

	if (conf == NULL || cli->remote.address[0] != '\0')
		return ERR_NONE;
	for (size_t i = 0; i < conf->team_count; i++)
		buf_addf(&known, "%s@%.*s", i > 0 ? ", " : "", (int)conf->teams[i].name.len, (const char *)conf->teams[i].name.data);
	for (size_t i = 0; i < dag->node_count; i++) {
		const struct slice_list *from = &dag->nodes[i]->gate_from;

		for (size_t at = 0; at < from->n; at++)
			if (text_is_team(from->at[at]) && !has_team(conf, slice_make(from->at[at].data + 1, from->at[at].len - 1)))
				error_set(&cli->error, ERR_UNKNOWN_NAME, "%s: gate '%.*s' names team %.*s, which isn't in titan.conf; the teams there: %s",
					  path, (int)dag->nodes[i]->name.len, (const char *)dag->nodes[i]->name.data,
					  (int)from->at[at].len, (const char *)from->at[at].data, buf_cstr(&known));
	}
	buf_free(&known);
	return cli->error.code;
}

/* Read a graph on one line, or a pipeline. */
static enum err read_graph(struct cli *cli, const char *path, struct buf *text, struct pipeline *ret)
{
	enum err err = load_file(cli, path, text);

	if (err != ERR_NONE)
		return err;
	if (strcmp(path, LOAD_STDIN) != 0 || pipeline_begins(buf_slice(text)))
		return load_check(cli, path, OPT_validate_param, buf_slice(text), ret);
	ret->name = slice_str("line");
	return load_line(cli, buf_slice(text), path, NULL, &ret->dag);
}

/* Check one file, and add its row. */
static enum err validate(struct cli *cli, const char *path, struct records *records, struct buf *out)
{
	struct pipeline pipeline = { 0 };
	struct buf text = { 0 };
	enum err err = read_graph(cli, path, &text, &pipeline);

	if (err == ERR_NONE)
		err = check_dates(cli, path, &pipeline.dag);
	if (err == ERR_NONE)
		err = check_teams(cli, path, &pipeline.dag);
	if (err == ERR_NONE && cli->settings.style == STYLE_HUMAN) {
		text_escape(out, slice_str(path), TEXT_KEEP_NONE);
		buf_addf(out, ": valid, %" PRIu64 " job%s\n", pipeline.dag.job_count,
			 pipeline.dag.job_count == 1 ? "" : "s");
	} else if (err == ERR_NONE) {
		records_text(records, slice_str(path));
		records_text(records, pipeline.name);
		records_number(records, pipeline.dag.job_count);
		records_number(records, pipeline.max_jobs);
	}
	buf_free(&text);
	return err;
}

int cmd_validate(struct cli *cli)
{
	const struct invocation *invocation = cli->invocation;
	struct records records;
	struct buf out = { 0 };
	int status = 0;

	records_begin(&records, valid_columns, valid_table.count, &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	for (size_t i = 0; i < invocation->arg_count; i++) {
		const char *path = strcmp(invocation->args[i], "-") == 0 ? LOAD_STDIN : invocation->args[i];

		if (validate(cli, path, &records, &out) == ERR_NONE)
			continue;
		/* The other files are checked all the same; the first error decides the exit status. */
		status = status != 0 ? (cli_fail(cli), status) : cli_fail(cli);
	}
	if (cli->settings.style != STYLE_HUMAN)
		records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	return status;
}

static void plan_job(const void *arg, uint64_t index, struct arena *scratch, struct rec_job_spec *ret_spec)
{
	const struct job_defaults defaults = { 0 };

	dagline_job(arg, index, &defaults, scratch, ret_spec);
}

static enum err plan_graph(struct cli *cli, struct buf *text, struct pipeline *ret)
{
	const struct invocation *invocation = cli->invocation;
	const char *line = option_value(invocation, OPT_plan_expression);

	if (line == NULL && invocation->arg_count == 0) {
		error_set(&cli->error, ERR_USAGE, "titan plan needs a pipeline");
		return error_next(&cli->error, "titan plan FILE, or: titan plan -e 'DAG'");
	}
	if (line == NULL)
		return load_pipeline(cli, strcmp(invocation->args[0], "-") == 0 ? LOAD_STDIN : invocation->args[0],
				     OPT_plan_param, NULL, text, ret);
	if (invocation->arg_count > 0)
		return error_set(&cli->error, ERR_USAGE, "titan plan shows a FILE or the line of -e, not both");
	return load_line(cli, slice_str(line), "-e", NULL, &ret->dag);
}

int cmd_plan(struct cli *cli)
{
	struct pipeline pipeline = { 0 };
	struct buf text = { 0 };
	enum err err = plan_graph(cli, &text, &pipeline);

	if (err == ERR_NONE)
		err = check_teams(cli, cli->invocation->arg_count > 0 ? cli->invocation->args[0] : "-e", &pipeline.dag);
	if (err == ERR_NONE) {
		struct graph_source source = { .count = pipeline.dag.job_count, .job_cb = plan_job, .arg = &pipeline.dag };

		err = plan_print(cli, &source, option_given(cli->invocation, OPT_plan_all));
	}
	buf_free(&text);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}
