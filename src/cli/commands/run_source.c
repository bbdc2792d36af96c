/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides where titan run gets its jobs from. If a word could mean two things it is refused: nothing is guessed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands/run.h"
#include "cli/graph/load.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/session/program.h"

static enum err fail_both(struct cli *cli, const char *word)
{
	error_set(&cli->error, ERR_USAGE, "%s may be a pipeline (by its name) or a script (it is executable)", word);
	return error_next(&cli->error, "titan run - <%s    for the pipeline, or: titan run -- %s%s    for the script", word,
			  strchr(word, '/') ? "" : "./", word);
}

static bool on_path(const char *word)
{
	const char *path = getenv("PATH");
	char file[4096];

	while (path != NULL && *path != '\0') {
		size_t len = strcspn(path, ":");

		if (len > 0 && (size_t)snprintf(file, sizeof(file), "%.*s/%s", (int)len, path, word) < sizeof(file) &&
		    access(file, X_OK) == 0)
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

static enum err fail_neither(struct cli *cli, const char *word)
{
	static const char *const ends[] = { ".yaml", ".yml" };
	struct stat info;

	if (stat(word, &info) == 0 && S_ISDIR(info.st_mode)) {
		error_set(&cli->error, ERR_USAGE, "%s is a directory; titan run needs a pipeline or a script", word);
		return ERR_USAGE;
	}
	if (stat(word, &info) == 0) {
		error_set(&cli->error, ERR_USAGE, "%s is neither a pipeline, whose name ends in .yaml or .yml, nor an "
			"executable script", word);
		return error_next(&cli->error, "chmod +x %s    for a script, or: titan run - <%s    for a pipeline", word, word);
	}
	error_set(&cli->error, ERR_NOT_FOUND, "there is no pipeline and no script '%s' here", word);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		char file[4096];

		if ((size_t)snprintf(file, sizeof(file), "%s%s", word, ends[i]) < sizeof(file) && access(file, F_OK) == 0)
			return error_next(&cli->error, "titan run %s", file);
	}
	if (on_path(word))
		error_next(&cli->error, "titan run -- %s    for the command", word);
	return ERR_NOT_FOUND;
}

static enum err check_script(struct cli *cli, const char *word)
{
	struct stat info;

	if (stat(word, &info) != 0) {
		int why = errno;

		error_system(&cli->error, why, "can't run %s", word);
		cli->error.code = why == ENOENT || why == ENOTDIR ? ERR_NOT_FOUND : ERR_USAGE;
		return cli->error.code;
	}
	if (S_ISDIR(info.st_mode))
		return fail_neither(cli, word);
	return access(word, X_OK) == 0 ? ERR_NONE : fail_neither(cli, word);
}

/* Would titan run take this word as one of its own options? */
static bool is_own_option(const struct command_info *command, const char *word)
{
	for (const struct option_info *option = command->options; option->id != OPT_none; option++) {
		size_t len = strlen(option->word);

		if (word[0] == '-' && word[1] == '-' && strncmp(word + 2, option->word, len) == 0 &&
		    (word[2 + len] == '\0' || word[2 + len] == '='))
			return true;
		if (word[0] == '-' && option->letter != 0 && word[1] == option->letter && word[2] == '\0')
			return true;
	}
	return false;
}

/* Print a note if an option for the program is also an option of titan run, which may have been meant. */
static void note_own_options(struct cli *cli)
{
	const struct invocation *invocation = cli->invocation;

	for (size_t i = 1; i < invocation->arg_count; i++) {
		if (!is_own_option(invocation->command, invocation->args[i]))
			continue;
		cli_note(cli, "%s goes to %s; options of titan run stand before the script", invocation->args[i],
			 invocation->args[0]);
		return;
	}
}

static enum err read_file(struct cli *cli, enum run_source *ret)
{
	const struct invocation *invocation = cli->invocation;
	const char *word = invocation->args[0];
	enum err err;

	switch (program_kind(word)) {
	case PROGRAM_BOTH:
		return fail_both(cli, word);
	case PROGRAM_NEITHER:
		return fail_neither(cli, word);
	case PROGRAM_SCRIPT:
		*ret = FROM_SCRIPT;
		err = check_script(cli, word);
		if (err == ERR_NONE)
			note_own_options(cli);
		return err;
	default:
		*ret = strcmp(word, "-") == 0 || strcmp(word, LOAD_STDIN) == 0 ? FROM_STDIN : FROM_PIPELINE;
	}
	if (invocation->arg_count == 1)
		return ERR_NONE;
	error_set(&cli->error, ERR_USAGE, "titan run: unexpected argument '%s'; a pipeline has parameters instead",
		  invocation->args[1]);
	return error_next(&cli->error, "titan run -p NAME=VALUE %s", word);
}

enum err run_source_read(struct cli *cli, enum run_source *ret)
{
	const struct invocation *invocation = cli->invocation;
	bool expression = option_given(invocation, OPT_run_expression), lines = option_given(invocation, OPT_run_lines);
	bool again = option_given(invocation, OPT_run_again), words = invocation->arg_count > 0;
	int sources = expression + lines + again + words;

	if (sources == 0 && invocation->plain_from == 0) {
		error_set(&cli->error, ERR_USAGE, "there is no command behind --");
		return error_next(&cli->error, "titan run -- echo hello");
	}
	if (sources != 1) {
		error_set(&cli->error, ERR_USAGE, "give one of FILE, SCRIPT, -- CMD, -e DAG, --lines, --again RUN and -%s",
			  sources > 1 ? ", not several" : "");
		return error_next(&cli->error, "titan run -e \"a -> b; a='echo one'; b='echo two'\"");
	}
	*ret = expression ? FROM_LINE : lines ? FROM_LINES : again ? FROM_AGAIN : FROM_COMMAND;
	return words && invocation->plain_from != 0 ? read_file(cli, ret) : ERR_NONE;
}
