/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes a job of a script or command. Its words are sent to the worker as a list and never go through a shell, so
 * quotes, spaces and newlines in them stay as they are.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands/run.h"
#include "cli/session/options.h"
#include "proto/limits.h"

/* Make a script's path absolute: the job may run in another directory. */
static enum err full_path(struct cli *cli, const char *word, struct slice *ret)
{
	char here[PATH_MAX];
	struct buf path = { 0 };

	if (word[0] == '/') {
		*ret = slice_str(word);
		return ERR_NONE;
	}
	if (getcwd(here, sizeof(here)) == NULL)
		return error_system(&cli->error, errno, "can't find the current directory");
	while (word[0] == '.' && word[1] == '/')
		for (word += 2; word[0] == '/'; word++)
			continue;
	buf_addf(&path, "%s/%s", strcmp(here, "/") == 0 ? "" : here, word);
	*ret = arena_copy(&cli->arena, buf_slice(&path));
	buf_free(&path);
	return ERR_NONE;
}

enum err run_program_read(struct cli *cli, enum run_source source, struct program *ret)
{
	const struct invocation *invocation = cli->invocation;
	const char *name = option_value(invocation, OPT_run_name), *slash = strrchr(invocation->args[0], '/');
	size_t len = 0;

	ret->argv.n = invocation->arg_count;
	ret->argv.at = arena_zalloc(&cli->arena, ret->argv.n, sizeof(struct slice));
	for (size_t i = 0; i < ret->argv.n; i++) {
		ret->argv.at[i] = slice_str(invocation->args[i]);
		len += ret->argv.at[i].len + 1;
	}
	if (ret->argv.at[0].len == 0)
		return error_set(&cli->error, ERR_USAGE, "the command behind -- is empty");
	if (len > LIMIT_COMMAND_MAX)
		return error_set(&cli->error, ERR_TOO_LARGE, "the command has more than %d bytes; put it into a script",
				 LIMIT_COMMAND_MAX);
	/* The program's name becomes the run's name, or with --into the job's name. */
	ret->name = slice_str(slash ? slash + 1 : invocation->args[0]);
	if (name != NULL && option_given(invocation, OPT_run_into))
		ret->name = slice_str(name);
	if (!text_is_name(ret->name))
		ret->name = slice_str("command");
	return source == FROM_SCRIPT ? full_path(cli, invocation->args[0], &ret->argv.at[0]) : ERR_NONE;
}

void run_default_spec(const struct job_defaults *defaults, struct rec_job_spec *ret_spec)
{
	*ret_spec = (struct rec_job_spec){
		.priority = defaults->priority,
		.retry_max = defaults->retry_max,
		.timeout_ms = defaults->timeout_ms,
		.deadline_ms = defaults->deadline_ms,
		.mode = defaults->mode,
		.labels = defaults->labels,
		.asks = defaults->asks,
		.inputs = defaults->inputs,
		.requires = defaults->requires,
		.topic = defaults->topic,
	};
}

void run_program_job(const void *arg, uint64_t index, struct arena *scratch, struct rec_job_spec *ret_spec)
{
	const struct program *program = arg;

	(void)index;
	(void)scratch;
	run_default_spec(program->defaults, ret_spec);
	ret_spec->name = program->name;
	ret_spec->argv = program->argv;
}
