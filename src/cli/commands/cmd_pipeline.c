/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan validate and plan: check a pipeline and show it, without a master. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/graph/load.h"
#include "cli/graph/plan.h"
#include "cli/graph/submit.h"
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

int cmd_validate(struct cli *cli)
{
	const char *path = cli->invocation->args[0];
	struct pipeline pipeline;
	struct records records;
	struct buf text = { 0 }, out = { 0 };
	enum err err;

	records_begin(&records, valid_columns, valid_table.count, &cli->arena);
	err = records_check(&records, &cli->out, &cli->error);
	if (err == ERR_NONE)
		err = load_pipeline(cli, path, OPT_validate_param, NULL, &text, &pipeline);
	if (err == ERR_NONE)
		err = check_dates(cli, path, &pipeline.dag);
	if (err == ERR_NONE && cli->settings.style == STYLE_HUMAN) {
		text_escape(&out, slice_str(path), TEXT_KEEP_NONE);
		buf_addf(&out, ": valid, %" PRIu64 " job%s\n", pipeline.dag.job_count,
			 pipeline.dag.job_count == 1 ? "" : "s");
	} else if (err == ERR_NONE) {
		records_text(&records, slice_str(path));
		records_text(&records, pipeline.name);
		records_number(&records, pipeline.dag.job_count);
		records_number(&records, pipeline.max_jobs);
		records_print_one(&records, &cli->out, &out);
	}
	cli_print(cli, &out);
	buf_free(&out);
	buf_free(&text);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}

static void plan_job(const void *arg, uint64_t index, struct arena *scratch, struct rec_job_spec *ret_spec)
{
	const struct job_defaults defaults = { 0 };

	dagline_job(arg, index, &defaults, scratch, ret_spec);
}

int cmd_plan(struct cli *cli)
{
	struct pipeline pipeline;
	struct buf text = { 0 };
	enum err err = load_pipeline(cli, cli->invocation->args[0], OPT_plan_param, NULL, &text, &pipeline);

	if (err == ERR_NONE) {
		struct graph_source source = { .count = pipeline.dag.job_count, .job_cb = plan_job, .arg = &pipeline.dag };

		err = plan_print(cli, &source, option_given(cli->invocation, OPT_plan_all));
	}
	buf_free(&text);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}
