/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of titan run: which ones exclude each other, what they set for every job, and the submit key. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/rand.h"
#include "base/text.h"
#include "cli/commands/decisions.h"
#include "cli/commands/run.h"
#include "cli/graph/submit.h"
#include "cli/session/cli.h"
#include "cli/session/options.h"
#include "lang/demand.h"
#include "lang/label.h"
#include "proto/limits.h"

/* ---- options for every job ---- */

static enum err read_env(struct cli *cli, struct job_defaults *defaults)
{
	const struct invocation *invocation = cli->invocation;

	defaults->env.at = arena_zalloc(&cli->arena, invocation->option_count + 1, sizeof(struct slice));
	for (size_t i = 0; i < invocation->option_count; i++) {
		const char *value = invocation->options[i].value;

		if (invocation->options[i].id != OPT_run_env)
			continue;
		if (value[0] == '\0' || value[0] == '=')
			return error_set(&cli->error, ERR_USAGE, "--env: '%s' must have the form NAME or NAME=VALUE", value);
		if (strncmp(value, "TITAN_", 6) == 0)
			return error_set(&cli->error, ERR_USAGE, "--env: %s: names that begin with TITAN_ are "
				"reserved for titan", value);
		if (strchr(value, '=') == NULL && (value = here_variable(cli, value)) == NULL)
			return cli->error.code;
		defaults->env.at[defaults->env.n++] = slice_str(value);
	}
	return ERR_NONE;
}

static enum err read_dir(struct cli *cli, struct job_defaults *defaults)
{
	const char *dir = option_value(cli->invocation, OPT_run_dir);
	char resolved[PATH_MAX];

	if (option_given(cli->invocation, OPT_run_private)) {
		if (dir != NULL)
			return error_set(&cli->error, ERR_USAGE, "--private and --dir exclude each other");
		defaults->dir = slice_str(DIR_PRIVATE);
		return ERR_NONE;
	}
	if (dir == NULL)
		return ERR_NONE;
	/* Don't check an absolute path: the worker may be on another machine. */
	if (dir[0] == '/') {
		defaults->dir = slice_str(dir);
		return ERR_NONE;
	}
	if (realpath(dir, resolved) == NULL) {
		error_system(&cli->error, errno, "--dir: %s", dir);
		cli->error.code = ERR_USAGE;
		return ERR_USAGE;
	}
	defaults->dir = arena_copy(&cli->arena, slice_str(resolved));
	return ERR_NONE;
}

static enum err read_labels(struct cli *cli, struct job_defaults *defaults)
{
	const struct invocation *invocation = cli->invocation;
	struct error why = { 0 };

	defaults->labels.at = arena_zalloc(&cli->arena, invocation->option_count + 1, sizeof(struct slice));
	for (size_t i = 0; i < invocation->option_count; i++) {
		const char *label = invocation->options[i].value;

		if (invocation->options[i].id != OPT_run_label)
			continue;
		if (label_parse(slice_str(label), &cli->arena, &defaults->labels.at[defaults->labels.n++], &why) != ERR_NONE)
			return error_set(&cli->error, ERR_USAGE, "--label: %s", why.text);
	}
	return ERR_NONE;
}

static enum err read_pool(struct cli *cli, struct job_defaults *defaults)
{
	const struct invocation *invocation = cli->invocation;

	defaults->topic = slice_str(option_value(invocation, OPT_run_topic));
	defaults->requires.at = arena_zalloc(&cli->arena, invocation->option_count + 1, sizeof(struct slice));
	for (size_t i = 0; i < invocation->option_count; i++) {
		struct slice capability = slice_str(invocation->options[i].value);

		if (invocation->options[i].id != OPT_run_requires)
			continue;
		if (!text_is_name(capability))
			return error_set(&cli->error, ERR_USAGE, "--requires: '%s': expected a name of letters, digits and _ . -",
					 invocation->options[i].value);
		defaults->requires.at[defaults->requires.n++] = capability;
	}
	if (defaults->requires.n > LIMIT_CAPABILITIES_MAX)
		return error_set(&cli->error, ERR_USAGE, "--requires: a job may require at most %d capabilities", LIMIT_CAPABILITIES_MAX);
	return ERR_NONE;
}

static enum err read_asks(struct cli *cli, struct job_defaults *defaults)
{
	static const struct {
		enum option_id id;
		const char *name;
	} asks[] = { { OPT_run_cpus, RESOURCE_CPUS }, { OPT_run_memory, RESOURCE_MEMORY }, { OPT_run_gpus, RESOURCE_GPUS } };

	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		const char *amount = option_value(cli->invocation, asks[i].id);
		struct error why = { 0 };

		if (amount != NULL && demand_add(&defaults->asks, &cli->arena, slice_str(asks[i].name), slice_str(amount), &why) != ERR_NONE)
			return error_set(&cli->error, ERR_USAGE, "--%s: '%s': %s", asks[i].name, amount, why.text);
	}
	return read_labels(cli, defaults) == ERR_NONE ? read_pool(cli, defaults) : cli->error.code;
}

enum err run_read_defaults(struct cli *cli, enum run_source source, struct job_defaults *defaults)
{
	const struct invocation *invocation = cli->invocation;
	const char *mode = option_value(invocation, OPT_run_mode);
	uint64_t priority = 0;
	int64_t timeout_ms = 0, deadline_ms = 0;
	enum err err;

	if ((err = read_env(cli, defaults)) != ERR_NONE || (err = read_dir(cli, defaults)) != ERR_NONE ||
	    (err = read_asks(cli, defaults)) != ERR_NONE ||
	    (err = option_number(invocation, OPT_run_retry, 0, LIMIT_RETRY_MAX, &defaults->retry_max, &cli->error)) !=
		    ERR_NONE ||
	    (err = option_number(invocation, OPT_run_priority, 0, 100, &priority, &cli->error)) != ERR_NONE ||
	    (err = option_span(invocation, OPT_run_job_timeout, &timeout_ms, &cli->error)) != ERR_NONE ||
	    (err = option_span(invocation, OPT_run_deadline, &deadline_ms, &cli->error)) != ERR_NONE)
		return err;
	if (option_given(invocation, OPT_run_priority))
		defaults->priority = priority + 1;
	if (mode != NULL && !exec_mode_by_name(slice_str(mode), &defaults->mode))
		return error_set(&cli->error, ERR_USAGE, "--mode: '%s' must be retry, exclusive or once", mode);
	here_read(cli, source == FROM_PIPELINE ? invocation->args[0] : NULL, option_given(invocation, OPT_run_env_all), defaults);
	here_identify(cli, defaults);
	defaults->timeout_ms = (uint64_t)timeout_ms;
	defaults->deadline_ms = (uint64_t)deadline_ms;
	return ERR_NONE;
}

/* ---- options for the submit ---- */

enum err run_read_key(struct cli *cli, uint8_t key[SUBMIT_KEY_SIZE])
{
	const char *text = option_value(cli->invocation, OPT_run_key);

	if (text == NULL) {
		rand_system(key, SUBMIT_KEY_SIZE);
		return ERR_NONE;
	}
	if (strlen(text) != 2 * SUBMIT_KEY_SIZE || !hex_bytes(slice_str(text), key))
		return error_set(&cli->error, ERR_USAGE, "--submit-key must have %d hex digits", 2 * SUBMIT_KEY_SIZE);
	return ERR_NONE;
}

/* ---- options that exclude each other ---- */

static bool changes_jobs(const struct invocation *invocation)
{
	static const enum option_id changes[] = {
		OPT_run_param, OPT_run_dry_run, OPT_run_dir, OPT_run_private, OPT_run_env, OPT_run_env_all, OPT_run_retry, OPT_run_job_timeout, OPT_run_deadline,
		OPT_run_priority, OPT_run_mode, OPT_run_tenant, OPT_run_into, OPT_run_max_jobs, OPT_run_cpus, OPT_run_memory, OPT_run_gpus,
		OPT_run_label, OPT_run_file, OPT_run_requires, OPT_run_topic,
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		if (option_given(invocation, changes[i]))
			return true;
	return false;
}

/* Is the output of jobs printed unchanged? Then nothing else may be printed on standard output. */
static enum err check_order(struct cli *cli)
{
	const struct invocation *invocation = cli->invocation;

	if (!option_given(invocation, OPT_run_keep_order))
		return ERR_NONE;
	if (!option_given(invocation, OPT_run_follow) && !option_given(invocation, OPT_run_wait))
		return error_set(&cli->error, ERR_USAGE, "--keep-order needs --wait or --follow");
	if (cli->settings.style == STYLE_JSON || cli->settings.style == STYLE_FORMAT)
		return error_set(&cli->error, ERR_USAGE, "--keep-order prints the output of jobs unchanged, so --json "
			"and --format can't be used");
	if (option_given(invocation, OPT_run_into))
		return error_set(&cli->error, ERR_USAGE, "leave out --keep-order: it prints the output of a new run, and --into adds to an existing one");
	return ERR_NONE;
}

/* Check options about the run as a whole. */
static enum err check_run(struct cli *cli, enum run_source source)
{
	const struct invocation *invocation = cli->invocation;
	bool into = option_given(invocation, OPT_run_into), jobs = option_given(invocation, OPT_run_max_jobs);

	if (into && option_given(invocation, OPT_run_tenant))
		return error_set(&cli->error, ERR_USAGE, "leave out --tenant: with --into, added jobs belong to the tenant of their run");
	if (into && jobs)
		return error_set(&cli->error, ERR_USAGE, "leave out --max-jobs: with --into, the existing run keeps its limit");
	if (jobs && (source == FROM_SCRIPT || source == FROM_COMMAND))
		return error_set(&cli->error, ERR_USAGE, "--max-jobs limits the jobs of a run, and this run has only one");
	if (into && option_given(invocation, OPT_run_name) && source != FROM_LINES && source != FROM_SCRIPT &&
	    source != FROM_COMMAND)
		return error_set(&cli->error, ERR_USAGE, "--name: with --into, a name is only possible with --lines, "
			"a script or a command, where it names the jobs");
	return ERR_NONE;
}

enum err run_check_usage(struct cli *cli, enum run_source source)
{
	const struct invocation *invocation = cli->invocation;
	enum err err = check_order(cli);

	if (err != ERR_NONE)
		return err;
	if (option_given(invocation, OPT_run_follow) && option_given(invocation, OPT_run_wait))
		return error_set(&cli->error, ERR_USAGE, "--follow already waits for the end; leave out --wait");
	if (option_given(invocation, OPT_run_param) && source != FROM_PIPELINE && source != FROM_STDIN)
		return error_set(&cli->error, ERR_USAGE, "-p works only with a pipeline; elsewhere use variables of the "
			"shell");
	if (option_given(invocation, OPT_run_propagate) && !option_given(invocation, OPT_run_follow) &&
	    !option_given(invocation, OPT_run_wait))
		return error_set(&cli->error, ERR_USAGE, "--propagate needs --wait or --follow");
	if (option_given(invocation, OPT_run_edit) && source != FROM_AGAIN) {
		error_set(&cli->error, ERR_USAGE, "--edit needs --again RUN; a file can be edited before it is run");
		return error_next(&cli->error, "titan run --again last --edit");
	}
	if (source == FROM_AGAIN && changes_jobs(invocation))
		return error_set(&cli->error, ERR_USAGE, "--again submits an unchanged graph; only --name, --submit-key, "
			"--follow, --wait, --keep-order and --propagate can be given with it");
	return check_run(cli, source);
}
