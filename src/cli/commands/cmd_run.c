/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan run: makes a run of a graph from the command line, a file or standard input. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/select.h"
#include "cli/commands/command.h"
#include "cli/commands/run.h"
#include "cli/follow/exit_status.h"
#include "cli/follow/failures.h"
#include "cli/follow/follow.h"
#include "cli/follow/wait.h"
#include "cli/graph/into.h"
#include "cli/graph/load.h"
#include "cli/graph/plan.h"
#include "cli/graph/submit.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/records.h"
#include "proto/limits.h"

#define INPUT_MAX (SIZE_MAX / 4)
#define GATES_SOUGHT 10000               /* most jobs looked at to warn of a gate */

struct job_lines {                       /* the jobs of --lines */
	struct slice *lines;
	uint64_t count;
	/* Before their names; with --into, so that they differ from the run's jobs. */
	char prefix[LIMIT_NAME_MAX_LEN + 2];
	const struct job_defaults *defaults;
};

struct dag_source {
	struct dagline dag;
	const struct job_defaults *defaults;
};

static void line_job(const void *arg, uint64_t index, struct arena *scratch, struct rec_job_spec *ret_spec)
{
	const struct job_lines *lines = arg;
	struct rec_job_spec spec = {
		.priority = lines->defaults->priority,
		.retry_max = lines->defaults->retry_max,
		.timeout_ms = lines->defaults->timeout_ms,
		.deadline_ms = lines->defaults->deadline_ms,
		.mode = lines->defaults->mode,
	};
	char name[sizeof(lines->prefix) + 24];

	snprintf(name, sizeof(name), "%s%" PRIu64, lines->prefix, index + 1);
	spec.name = arena_copy(scratch, slice_str(name));
	job_command(lines->lines[index], scratch, &spec);
	*ret_spec = spec;
}

static void dag_job(const void *arg, uint64_t index, struct arena *scratch, struct rec_job_spec *ret_spec)
{
	const struct dag_source *source = arg;

	dagline_job(&source->dag, index, source->defaults, scratch, ret_spec);
}

/* ---- submitting ---- */

static enum err lines_source(struct cli *cli, struct buf *input, struct job_lines *lines)
{
	enum err err = load_stdin(cli, INPUT_MAX, input);
	uint64_t room = 1;
	size_t start = 0;

	if (err != ERR_NONE)
		return err;
	for (size_t i = 0; i < input->len; i++)
		room += input->data[i] == '\n';
	lines->lines = arena_alloc(&cli->arena, room * sizeof(struct slice));
	for (size_t i = 0; i <= input->len; i++) {
		struct slice line = slice_make(input->data + start, i - start);

		if (i < input->len && input->data[i] != '\n')
			continue;
		start = i + 1;
		while (line.len > 0 && strchr(" \t\r", line.data[line.len - 1]) != NULL)
			line.len--;
		if (line.len > LIMIT_COMMAND_MAX)
			return error_set(&cli->error, ERR_TOO_LARGE, "job %" PRIu64 ": the command has more than %d "
				"bytes",
					 lines->count + 1, LIMIT_COMMAND_MAX);
		if (line.len > 0)
			lines->lines[lines->count++] = line;
	}
	if (lines->count == 0)
		return error_set(&cli->error, ERR_INVALID, "standard input has no command");
	if (lines->count > LIMIT_RUN_JOBS_MAX)
		return error_set(&cli->error, ERR_TOO_LARGE, "a run may have at most %d jobs; this one has %" PRIu64,
				 LIMIT_RUN_JOBS_MAX, lines->count);
	return ERR_NONE;
}

static enum err dag_source(struct cli *cli, const struct dag_old *old, struct buf *input, struct dag_source *source)
{
	const char *expression = option_value(cli->invocation, OPT_run_expression);
	struct slice text = slice_str(expression);
	struct dag_spot spot;
	enum err err;

	if (expression == NULL) {
		err = load_stdin(cli, LIMIT_DAG_LINE_MAX, input);
		if (err != ERR_NONE)
			return err;
		text = buf_slice(input);
	}
	err = dagline_parse_into(text, old, &cli->arena, &source->dag, &spot, &cli->error);
	if (err != ERR_NONE && spot.len > 0)
		load_explain(cli, text, expression ? "-e" : "stdin", &spot);
	return err;
}

/* ---- printing the result ---- */

static const struct column accepted_columns[] = {
	{ "run", "run", true },
	{ "job_count", "jobs", true },
	{ "existing", "existing", false },
	{ "state", "state", false },
};
const struct table accepted_table = TABLE_OF(accepted_columns);

static void print_accepted(struct cli *cli, const struct msg_accepted *accepted, const enum run_state *state)
{
	bool into = option_given(cli->invocation, OPT_run_into);
	struct buf out = { 0 };
	struct records records;
	struct error why = { 0 };

	if (cli_chatty(cli) && into) {
		buf_addf(&out, "run %" PRIu64 " has %" PRIu64 " jobs now%s  next: titan watch %" PRIu64 "\n", accepted->run,
			 accepted->jobs, accepted->existing ? " (they were already added before)" : "", accepted->run);
	} else if (cli_chatty(cli)) {
		buf_addf(&out, "run %" PRIu64 " (%" PRIu64 " job%s%s)", accepted->run, accepted->jobs,
			 accepted->jobs == 1 ? "" : "s", accepted->existing ? ", already accepted before" : "");
		buf_addf(&out, "  next: titan watch %" PRIu64 "\n", accepted->run);
	} else if (cli->settings.style == STYLE_HUMAN || cli->settings.style == STYLE_PLAIN) {
		buf_addf(&out, "%" PRIu64 "\n", accepted->run);
	} else {
		records_begin(&records, accepted_columns, accepted_table.count, &cli->arena);
		records_number(&records, accepted->run);
		records_number(&records, accepted->jobs);
		records_bool(&records, accepted->existing);
		if (state)
			records_state(&records, run_state_info(*state), run_state_name(*state));
		else
			records_none(&records);          /* it is known only with --wait */
		records_print_one(&records, &cli->out, &out);
	}
	/* Say that the run was accepted: otherwise a person may submit it again because of the error. */
	error_set(&why, ERR_SYSTEM, "run %" PRIu64 " was accepted, but its number can't be written to standard "
		"output", accepted->run);
	error_next(&why, "titan show %" PRIu64, accepted->run);
	cli_print_or(cli, &out, &why);
	buf_free(&out);
}

static enum err check_format(struct cli *cli)
{
	struct records records;

	records_begin(&records, accepted_columns, accepted_table.count, &cli->arena);
	return records_check(&records, &cli->out, &cli->error);
}

static int wait_submitted(struct cli *cli, const struct msg_accepted *accepted)
{
	bool late = cli->settings.style == STYLE_JSON || cli->settings.style == STYLE_FORMAT;
	enum run_state state = RUN_WAITING;
	enum err err;

	if (!late)
		print_accepted(cli, accepted, NULL);
	err = wait_runs(cli, &accepted->run, 1, &state);
	/* Programs get one value, printed after the wait, even after an error: the run's number must not be lost. */
	if (late)
		print_accepted(cli, accepted, &state);
	if (err == ERR_NONE && state == RUN_FAILED && !option_given(cli->invocation, OPT_run_propagate))
		tell_failures(cli, accepted->run);
	if (err == ERR_NONE)
		return run_exit_status(cli, accepted->run, state);
	if (err == ERR_INTERRUPTED || err == ERR_TIMEOUT || err == ERR_PENDING) {
		cli_note(cli, "still running: titan watch %" PRIu64 ", stop: titan cancel %" PRIu64, accepted->run,
			 accepted->run);
		return err_exit_status(err);
	}
	return cli_fail(cli);
}

/* Warn of a gate with named approvers: the submitter may not approve it, and no other user reaches this cluster. */
static void warn_of_gates(struct cli *cli, const struct graph_source *source)
{
	struct arena arena = { 0 };

	for (uint64_t i = 0; source->job_cb == dag_job && i < source->count && i < GATES_SOUGHT; i++) {
		struct rec_job_spec spec;

		arena_reset(&arena);
		source->job_cb(source->arg, i, &arena, &spec);
		if (spec.gate_from.n == 0)
			continue;
		cli_note(cli, "warning: gate '%.*s' names people who may approve, but you can't approve your own run "
			"and nobody else can reach this cluster: the gate can only be rejected or expire", (int)spec.name.len, (const char *)spec.name.data);
		break;
	}
	arena_free(&arena);
}

static int submit(struct cli *cli, const struct graph_source *source, struct slice name, const uint8_t *key)
{
	struct msg_accepted accepted;

	if (check_format(cli) != ERR_NONE || submit_graph(cli, source, name, key, &accepted) != ERR_NONE)
		return cli_fail(cli);
	warn_of_gates(cli, source);
	if (option_given(cli->invocation, OPT_run_follow))
		return follow_command(cli, accepted.run);
	if (option_given(cli->invocation, OPT_run_wait))
		return wait_submitted(cli, &accepted);
	print_accepted(cli, &accepted, NULL);
	return 0;
}

static bool is_file(const struct cli *cli)
{
	const struct invocation *invocation = cli->invocation;

	return invocation->arg_count > 0 && strcmp(invocation->args[0], "-") != 0;
}

/*
 * With --into, give the jobs of --lines a prefix: the run's name, or part of the submit key, so a repeat gives the
 * same.
 */
static void name_lines(const struct cli *cli, struct slice name, const uint8_t *key, struct job_lines *lines)
{
	if (!option_given(cli->invocation, OPT_run_into))
		return;
	if (name.len > 0)
		snprintf(lines->prefix, sizeof(lines->prefix), "%.*s-", (int)name.len, (const char *)name.data);
	else
		snprintf(lines->prefix, sizeof(lines->prefix), "lines-%02x%02x%02x%02x-", key[0], key[1], key[2], key[3]);
}

/* Refuse a pipeline with --into that sets concurrency or a tenant: those are the run's to set. */
static enum err check_added(struct cli *cli, const struct pipeline *pipeline)
{
	const char *what = pipeline->max_jobs > 0 || pipeline->concurrency.len > 0 ? "concurrency" : pipeline->tenant.len > 0 ? "tenant" : NULL;

	if (what == NULL || !option_given(cli->invocation, OPT_run_into))
		return ERR_NONE;
	return error_set(&cli->error, ERR_INVALID, "%s: %s belongs to the run that jobs are added to; leave it out",
			 cli->invocation->args[0], what);
}

struct run_input {
	struct job_defaults defaults;
	struct into into;
	const struct dag_old *old;       /* the run to which jobs are added; NULL: a new run */
	uint8_t key[SUBMIT_KEY_SIZE];
	struct buf text;                 /* texts of the jobs point into it until they are submitted */
};

static int run_graph(struct cli *cli, struct run_input *input, struct slice name)
{
	struct dag_source dag = { .defaults = &input->defaults };
	struct job_lines lines = { .defaults = &input->defaults };
	struct graph_source source;

	if (option_given(cli->invocation, OPT_run_lines)) {
		if (lines_source(cli, &input->text, &lines) != ERR_NONE)
			return cli_fail(cli);
		name_lines(cli, name, input->key, &lines);
		source = (struct graph_source){ .count = lines.count, .job_cb = line_job, .arg = &lines };
		name = name.len ? name : slice_str("lines");
	} else if (is_file(cli)) {
		struct pipeline pipeline;

		if (load_pipeline(cli, cli->invocation->args[0], OPT_run_param, input->old, &input->text, &pipeline) != ERR_NONE ||
		    check_added(cli, &pipeline) != ERR_NONE)
			return cli_fail(cli);
		dag.dag = pipeline.dag;
		source = (struct graph_source){ .count = dag.dag.job_count, .max_jobs = pipeline.max_jobs,
						.tenant = pipeline.tenant, .concurrency = pipeline.concurrency, .job_cb = dag_job, .arg = &dag };
		name = name.len ? name : pipeline.name;
	} else {
		if (dag_source(cli, input->old, &input->text, &dag) != ERR_NONE)
			return cli_fail(cli);
		source = (struct graph_source){ .count = dag.dag.job_count, .job_cb = dag_job, .arg = &dag };
		name = name.len ? name : dag.dag.nodes[0]->name;
	}
	source.context = dag_context(&dag.dag, &input->defaults, &cli->arena);
	if (option_given(cli->invocation, OPT_run_tenant))
		source.tenant = slice_str(option_value(cli->invocation, OPT_run_tenant));
	if (input->old) {
		source.into = input->old->run;
		source.parents = dag.dag.parents;
		name = slice_make(NULL, 0);
	}
	if (!option_given(cli->invocation, OPT_run_dry_run))
		return submit(cli, &source, name, input->key);
	return plan_print(cli, &source) == ERR_NONE ? 0 : cli_fail(cli);
}

static enum err begin_into(struct cli *cli, struct run_input *input)
{
	const char *into = option_value(cli->invocation, OPT_run_into);

	if (into == NULL)
		return ERR_NONE;
	if (into_begin(cli, into, &input->into) != ERR_NONE)
		return cli->error.code;
	input->into.old.arg = &input->into;
	input->old = &input->into.old;
	return ERR_NONE;
}

/* Submit the graph of an earlier run again; the master has that graph. */
static int run_again(struct cli *cli, const struct run_input *input, struct slice name)
{
	struct graph_source source = { 0 };

	if (cli_connect(cli) != ERR_NONE ||
	    cli_select_run(cli, option_value(cli->invocation, OPT_run_again), &source.again) != ERR_NONE)
		return cli_fail(cli);
	return submit(cli, &source, name, input->key);
}

int cmd_run(struct cli *cli)
{
	const char *name = option_value(cli->invocation, OPT_run_name);
	const char *tenant = option_value(cli->invocation, OPT_run_tenant);
	struct run_input input = { 0 };
	int status;

	if (run_check_usage(cli) != ERR_NONE || run_read_defaults(cli, &input.defaults) != ERR_NONE ||
	    run_read_key(cli, input.key) != ERR_NONE)
		return cli_fail(cli);
	if (name != NULL && !text_is_name(slice_str(name))) {
		error_set(&cli->error, ERR_USAGE, "--name: '%s' isn't a valid name; use only letters, digits and _ . "
			"-", name);
		return cli_fail(cli);
	}
	if (tenant != NULL && !text_is_name(slice_str(tenant))) {
		error_set(&cli->error, ERR_USAGE, "--tenant: '%s' isn't a valid name; use only letters, digits and _ "
			". -", tenant);
		return cli_fail(cli);
	}
	if (option_given(cli->invocation, OPT_run_again))
		return run_again(cli, &input, slice_str(name));
	if (begin_into(cli, &input) != ERR_NONE)
		return cli_fail(cli);
	status = run_graph(cli, &input, slice_str(name));
	buf_free(&input.text);
	return status;
}
