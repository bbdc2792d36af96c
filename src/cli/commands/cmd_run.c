/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan run: makes a run of a graph or a command from the command line, a file or standard input. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/select.h"
#include "cli/commands/command.h"
#include "cli/commands/edit.h"
#include "cli/commands/job_files.h"
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

struct job_lines {                       /* the jobs of --lines */
	struct slice *lines;
	uint64_t count;
	/* Prefix of the jobs' names; with --into it makes them differ from the names of the run's jobs. */
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
	char name[sizeof(lines->prefix) + 24];
	struct rec_job_spec spec;

	run_default_spec(lines->defaults, &spec);
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

static enum err dag_source(struct cli *cli, const struct dag_old *old, struct slice text, const char *what,
			   struct dag_source *source)
{
	return load_line(cli, text, what, old, &source->dag);
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
			 accepted->jobs, accepted->existing ? " (an earlier command with the same key had added them)" : "", accepted->run);
	} else if (cli_chatty(cli)) {
		buf_addf(&out, "run %" PRIu64 " (%" PRIu64 " job%s%s)", accepted->run, accepted->jobs,
			 accepted->jobs == 1 ? "" : "s", accepted->existing ? ", already accepted from an earlier command with the same key" : "");
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
			records_none(&records);          /* the status of the run is known only with --wait */
		records_print_one(&records, &cli->out, &out);
	}
	/* Say in the error that the run was accepted; otherwise a person might submit it again. */
	error_set(&why, ERR_SYSTEM, "run %" PRIu64 " was accepted, but its number can't be written to standard "
		"output", accepted->run);
	error_next(&why, "titan show %" PRIu64, accepted->run);
	cli_print_or(cli, &out, &why);
	buf_free(&out);
}

static enum err check_format(struct cli *cli)
{
	struct records records;

	if (option_given(cli->invocation, OPT_run_follow))
		return follow_check(cli);
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
	/*
	 * Programs get one value, printed after the wait even if an error follows: the run's number must not be lost.
	 */
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

/* Is the output of the jobs printed on standard output? Then nothing else may be. */
static bool wants_output(const struct cli *cli, enum run_source source)
{
	const struct invocation *invocation = cli->invocation;
	bool alone = source == FROM_SCRIPT || source == FROM_COMMAND;

	if (cli->settings.style == STYLE_JSON || cli->settings.style == STYLE_FORMAT || option_given(invocation, OPT_run_into))
		return false;
	return option_given(invocation, OPT_run_keep_order) ||
	       (alone && (option_given(invocation, OPT_run_follow) || option_given(invocation, OPT_run_propagate)));
}

static int follow_output(struct cli *cli, uint64_t run)
{
	cli_note(cli, "run %" PRIu64, run);
	return follow_command(cli, run, FOLLOW_OUTPUT);
}

static int submit(struct cli *cli, enum run_source from, const struct graph_source *source, struct slice name,
		  const uint8_t *key)
{
	struct msg_accepted accepted;

	if (check_format(cli) != ERR_NONE || submit_graph(cli, source, name, key, &accepted) != ERR_NONE)
		return cli_fail(cli);
	if (wants_output(cli, from))
		return follow_output(cli, accepted.run);
	if (option_given(cli->invocation, OPT_run_follow))
		return follow_command(cli, accepted.run, FOLLOW_CHANGES);
	if (option_given(cli->invocation, OPT_run_wait))
		return wait_submitted(cli, &accepted);
	print_accepted(cli, &accepted, NULL);
	return 0;
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

/* Refuse a pipeline with --into that sets concurrency or a tenant, because those belong to the run. */
static enum err check_added(struct cli *cli, const char *path, const struct pipeline *pipeline)
{
	const char *what = pipeline->max_jobs > 0 || pipeline->concurrency.len > 0 ? "concurrency" : pipeline->tenant.len > 0 ? "tenant" : NULL;

	if (what == NULL || !option_given(cli->invocation, OPT_run_into))
		return ERR_NONE;
	return error_set(&cli->error, ERR_INVALID, "%s: leave out %s, because with --into the existing run keeps its own",
			 path, what);
}

struct run_input {
	enum run_source from;
	struct job_defaults defaults;
	struct into into;
	const struct dag_old *old;       /* the run to which jobs are added; NULL: a new run */
	uint8_t key[SUBMIT_KEY_SIZE];
	struct buf text;                 /* the text that the jobs' slices point into until the jobs are submitted */
	struct job_lines lines;
	struct dag_source dag;
	struct program program;
	struct job_files files;
};

static enum err lines_graph(struct cli *cli, struct run_input *input, struct graph_source *source, struct slice *name)
{
	enum err err = lines_source(cli, &input->text, &input->lines);

	if (err != ERR_NONE)
		return err;
	name_lines(cli, *name, input->key, &input->lines);
	*source = (struct graph_source){ .count = input->lines.count, .job_cb = line_job, .arg = &input->lines };
	*name = name->len ? *name : slice_str("lines");
	return ERR_NONE;
}

static enum err pipeline_graph(struct cli *cli, struct run_input *input, struct graph_source *source, struct slice *name)
{
	const char *word = cli->invocation->args[0], *path = strcmp(word, "-") == 0 ? "stdin" : word;
	struct pipeline pipeline;
	enum err err;

	if (input->from == FROM_STDIN)
		err = load_pipeline_text(cli, path, OPT_run_param, input->old, buf_slice(&input->text), &pipeline);
	else
		err = load_pipeline(cli, path, OPT_run_param, input->old, &input->text, &pipeline);
	if (err == ERR_NONE)
		err = check_added(cli, path, &pipeline);
	if (err != ERR_NONE)
		return err;
	input->dag.dag = pipeline.dag;
	*source = (struct graph_source){ .count = pipeline.dag.job_count, .max_jobs = pipeline.max_jobs,
					 .tenant = pipeline.tenant, .concurrency = pipeline.concurrency, .job_cb = dag_job,
					 .arg = &input->dag };
	*name = name->len ? *name : pipeline.name;
	return ERR_NONE;
}

static enum err line_graph(struct cli *cli, struct run_input *input, struct graph_source *source, struct slice *name)
{
	bool typed = input->from == FROM_LINE;
	struct slice text = typed ? slice_str(option_value(cli->invocation, OPT_run_expression)) : buf_slice(&input->text);
	enum err err;

	if (!typed && option_given(cli->invocation, OPT_run_param))
		return error_set(&cli->error, ERR_USAGE, "-p works only with a pipeline, and standard input has a graph on "
			"one line");
	err = dag_source(cli, input->old, text, typed ? "-e" : "stdin", &input->dag);
	if (err != ERR_NONE)
		return err;
	*source = (struct graph_source){ .count = input->dag.dag.job_count, .job_cb = dag_job, .arg = &input->dag };
	*name = name->len ? *name : input->dag.dag.nodes[0]->name;
	return ERR_NONE;
}

static enum err program_graph(struct cli *cli, struct run_input *input, struct graph_source *source, struct slice *name)
{
	enum err err = run_program_read(cli, input->from, &input->program);

	if (err != ERR_NONE)
		return err;
	*source = (struct graph_source){ .count = 1, .job_cb = run_program_job, .arg = &input->program };
	*name = name->len ? *name : input->program.name;
	return ERR_NONE;
}

static enum err read_graph(struct cli *cli, struct run_input *input, struct graph_source *source, struct slice *name)
{
	enum err err;

	switch (input->from) {
	case FROM_LINES:
		return lines_graph(cli, input, source, name);
	case FROM_PIPELINE:
		return pipeline_graph(cli, input, source, name);
	case FROM_STDIN:
		err = load_stdin(cli, LIMIT_PIPELINE_MAX, &input->text);
		if (err != ERR_NONE)
			return err;
		return pipeline_begins(buf_slice(&input->text)) ? pipeline_graph(cli, input, source, name)
								: line_graph(cli, input, source, name);
	case FROM_SCRIPT:
	case FROM_COMMAND:
		return program_graph(cli, input, source, name);
	default:
		return line_graph(cli, input, source, name);
	}
}

static int run_graph(struct cli *cli, struct run_input *input, struct slice name)
{
	struct graph_source source;

	input->dag.defaults = input->lines.defaults = input->program.defaults = &input->defaults;
	if (read_graph(cli, input, &source, &name) != ERR_NONE ||
	    option_number(cli->invocation, OPT_run_max_jobs, 1, LIMIT_RUN_JOBS_MAX, &source.max_jobs, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	source.context = dag_context(&input->dag.dag, &input->defaults, &cli->arena);
	if (option_given(cli->invocation, OPT_run_tenant))
		source.tenant = slice_str(option_value(cli->invocation, OPT_run_tenant));
	if (input->old) {
		source.into = input->old->run;
		source.parents = input->dag.dag.parents;
		name = slice_make(NULL, 0);
	}
	if (!option_given(cli->invocation, OPT_run_dry_run))
		return job_files_find(cli, &input->dag.dag, &input->files) == ERR_NONE && job_files_send(cli, &input->files) == ERR_NONE ?
		       submit(cli, input->from, &source, name, input->key) : cli_fail(cli);
	return plan_print(cli, &source, false) == ERR_NONE ? 0 : cli_fail(cli);
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
	return submit(cli, FROM_AGAIN, &source, name, input->key);
}

/* Let a person edit the graph of an earlier run, and submit the edited graph. */
static int run_edited(struct cli *cli, const struct run_input *input, struct slice name)
{
	struct asked_graph asked;
	struct edited_graph edited = { 0 };
	char what[32];
	uint64_t run;

	if (cli_connect(cli) != ERR_NONE || cli_select_run(cli, option_value(cli->invocation, OPT_run_again), &run) != ERR_NONE ||
	    cli_query_graph(cli, run, NULL, &asked) != ERR_NONE)
		return cli_fail(cli);
	snprintf(what, sizeof(what), "run %" PRIu64, run);
	if (graph_unmasked(cli, &asked, what) != ERR_NONE || edit_graph(cli, &asked, &edited) != ERR_NONE)
		return cli_fail(cli);
	return submit(cli, FROM_AGAIN, &edited.source, name.len > 0 ? name : edited.pipeline.name, input->key);
}

int cmd_run(struct cli *cli)
{
	const char *name = option_value(cli->invocation, OPT_run_name);
	const char *tenant = option_value(cli->invocation, OPT_run_tenant);
	struct run_input input = { 0 };
	int status;

	if (run_source_read(cli, &input.from) != ERR_NONE || run_check_usage(cli, input.from) != ERR_NONE ||
	    run_read_defaults(cli, input.from, &input.defaults) != ERR_NONE ||
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
	if (input.from == FROM_AGAIN && option_given(cli->invocation, OPT_run_edit))
		return run_edited(cli, &input, slice_str(name));
	if (input.from == FROM_AGAIN)
		return run_again(cli, &input, slice_str(name));
	if (begin_into(cli, &input) != ERR_NONE)
		return cli_fail(cli);
	if (job_files_option(cli, &input.files) == ERR_NONE) {
		input.defaults.inputs = buf_slice(&input.files.inputs);
		status = run_graph(cli, &input, slice_str(name));
	} else {
		status = cli_fail(cli);
	}
	buf_free(&input.text);
	job_files_free(&input.files);
	return status;
}
