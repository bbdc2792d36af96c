/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes completion scripts, one function per shell. A command's pattern tells what its arguments can be. */
#include "cli/session/complete.h"

#include "cli/session/help.h"
#include "cli/session/session.h"
#include "proto/commands.h"

/* Collect the lowercase words that the pattern lists, such as "bash|zsh|fish" or a subcommand. */
static void pattern_words(const struct command_info *command, struct buf *out)
{
	const char *at = command->pattern;

	if (command->id == COMMAND_help) {
		size_t count;
		const char *const *topics = help_topics(&count);

		for (int id = 1; id < COMMAND_COUNT; id++)
			buf_addf(out, "%s%s", id > 1 ? " " : "", command_table[id].verb);
		for (size_t i = 0; i < count; i++)
			buf_addf(out, " %s", topics[i]);
		return;
	}
	while (*at != '\0') {
		size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz");

		if (len > 0 && (at == command->pattern || at[-1] == '|' || at[-1] == ' '))
			buf_addf(out, "%s%.*s", out->len ? " " : "", (int)len, at);
		at += len ? len : 1;
	}
}

static bool takes_run(const struct command_info *command)
{
	return strstr(command->pattern, "RUN") != NULL;
}

static bool takes_job(const struct command_info *command)
{
	return strstr(command->pattern, "JOB") != NULL;
}

static bool takes_file(const struct command_info *command)
{
	return strncmp(command->pattern, "FILE", 4) == 0 || strncmp(command->pattern, "[FILE", 5) == 0;
}

/* Write "auto|always|never" as words separated by spaces. */
static void choices(const char *argument, struct buf *out)
{
	for (; *argument != '\0'; argument++)
		buf_add_byte(out, (uint8_t)(*argument == '|' ? ' ' : *argument));
}

static bool has_choices(const struct option_info *option)
{
	return option->argument != NULL && strchr(option->argument, '|') != NULL;
}

/* ---- bash ---- */

static void bash_options(const struct option_info *options, struct buf *out)
{
	for (; options->id != OPT_none; options++)
		buf_addf(out, " --%s", options->word);
}

static void bash_with_argument(const struct option_info *options, struct buf *out)
{
	for (; options->id != OPT_none; options++) {
		if (options->argument == NULL)
			continue;
		buf_addf(out, "%s--%s", out->len ? "|" : "", options->word);
		if (options->letter)
			buf_addf(out, "|-%c", options->letter);
	}
}

static void bash_command(const struct command_info *command, struct buf *out)
{
	struct buf words = { 0 };

	buf_addf(out, "\t%s)\n", command->verb);
	if (command->options->id != OPT_none) {
		buf_add_str(out, "\t\toptions+='");
		bash_options(command->options, out);
		buf_add_str(out, "'\n");
	}
	pattern_words(command, &words);
	if (words.len > 0)
		buf_addf(out, "\t\twords='%s'\n", buf_cstr(&words));
	if (takes_run(command))
		buf_addf(out, "\t\tkind=%s\n", takes_job(command) ? "job" : "run");
	buf_add_str(out, "\t\t;;\n");
	buf_free(&words);
}

/* Write the case patterns that match a verb and an option together. */
static void bash_choices(const struct option_info *options, const char *verb, struct buf *out)
{
	for (; options->id != OPT_none; options++) {
		if (!has_choices(options))
			continue;
		buf_addf(out, "\t%s--%s) COMPREPLY=($(compgen -W '", verb[0] ? verb : "*", options->word);
		choices(options->argument, out);
		buf_add_str(out, "' -- \"$cur\")); return ;;\n");
	}
}

static void bash_script(struct buf *out)
{
	struct buf words = { 0 };

	buf_add_str(out, "# bash completion of titan, generated from its command table\n"
			 "\n"
			 "_titan_runs() { titan \"${cluster[@]}\" ls --limit 50 --format '{run}' 2>/dev/null; echo last; }\n"
			 "_titan_jobs() { titan \"${cluster[@]}\" show \"$1\" --format '{job}' 2>/dev/null; }\n"
			 "\n"
			 "_titan() {\n"
			 "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb= i words= kind=\n"
			 "\tlocal -a cluster=()\n"
			 "\tlocal options='");
	bash_options(global_options, &words);
	buf_add_slice(out, slice_make(words.data + 1, words.len - 1));
	buf_clear(&words);
	bash_with_argument(global_options, &words);
	buf_addf(out, "'\n"
		      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		      "\t\tcase ${COMP_WORDS[i]} in\n"
		      "\t\t-C|--cluster) cluster=(-C \"${COMP_WORDS[++i]}\") ;;\n"
		      "\t\t%s) ((i++)) ;;\n"
		      "\t\t-*) ;;\n"
		      "\t\t*) verb=${COMP_WORDS[i]}; break ;;\n"
		      "\t\tesac\n"
		      "\tdone\n"
		      "\tcase $verb in\n"
		      "\t'') words='", buf_cstr(&words));
	for (int id = 1; id < COMMAND_COUNT; id++)
		buf_addf(out, "%s%s", id > 1 ? " " : "", command_table[id].verb);
	buf_add_str(out, "' ;;\n");
	for (int id = 1; id < COMMAND_COUNT; id++)
		bash_command(&command_table[id], out);
	buf_add_str(out, "\tesac\n"
			 "\tcase $verb$prev in\n");
	bash_choices(global_options, "", out);
	for (int id = 1; id < COMMAND_COUNT; id++)
		bash_choices(command_table[id].options, command_table[id].verb, out);
	buf_add_str(out, "\t*--dir) COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n"
			 "\t*--dump-screen) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n"
			 "\tesac\n"
			 "\tif [[ $cur == -* ]]; then\n"
			 "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
			 "\telif [[ -n $kind && -n $words && -n $verb && $COMP_CWORD -eq $((i + 1)) ]]; then\n"
			 "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
			 "\telif [[ $kind == job && $cur == */* ]]; then\n"
			 "\t\tCOMPREPLY=($(compgen -W \"$(_titan_jobs \"${cur%%/*}\")\" -- \"$cur\"))\n"
			 "\telif [[ -n $kind ]]; then\n"
			 "\t\tCOMPREPLY=($(compgen -W \"$(_titan_runs)\" -- \"$cur\"))\n"
			 "\telif [[ -n $words ]]; then\n"
			 "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
			 "\telse\n"
			 "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
			 "\tfi\n"
			 "}\n"
			 "complete -F _titan titan\n");
	buf_free(&words);
}

/* ---- zsh ---- */

/* Write text quoted twice: for '..' of the shell and for [..] of _arguments. */
static void zsh_text(const char *text, struct buf *out)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			buf_add_str(out, "'\\''");
		else if (*text == '[' || *text == ']' || *text == ':')
			buf_addf(out, "\\%c", *text);
		else
			buf_add_byte(out, (uint8_t)*text);
	}
}

static void zsh_options(const struct option_info *options, struct buf *out)
{
	for (; options->id != OPT_none; options++) {
		const char *equals = options->argument ? "=" : "";

		if (options->letter)
			buf_addf(out, "\t\t'(-%c --%s)'{-%c%s,--%s%s}'[", options->letter, options->word, options->letter,
				 options->argument ? "+" : "", options->word, equals);
		else
			buf_addf(out, "\t\t'--%s%s[", options->word, equals);
		zsh_text(options->help, out);
		buf_add_byte(out, ']');
		if (options->argument) {
			buf_addf(out, ":%s:", has_choices(options) ? "value" : options->argument);
			if (has_choices(options)) {
				buf_add_byte(out, '(');
				choices(options->argument, out);
				buf_add_byte(out, ')');
			} else if (strcmp(options->argument, "DIR") == 0) {
				buf_add_str(out, "_files -/");
			} else if (strcmp(options->argument, "FILE") == 0) {
				buf_add_str(out, "_files");
			}
		}
		buf_add_str(out, "'\n");
	}
}

static void zsh_arguments(const struct command_info *command, struct buf *out)
{
	struct buf words = { 0 };

	pattern_words(command, &words);
	if (takes_run(command) && words.len > 0)
		buf_addf(out, "\t\t'1:what:(%s)'\n", buf_cstr(&words));
	if (takes_run(command))
		buf_addf(out, "\t\t'*:run:%s'\n", takes_job(command) ? "_titan_jobs" : "_titan_runs");
	else if (words.len > 0)
		buf_addf(out, "\t\t'1:argument:(%s)'\n", buf_cstr(&words));
	if (takes_file(command))
		buf_add_str(out, "\t\t'1:file:_files'\n");
	if (command->id == COMMAND_wire)
		buf_add_str(out, "\t\t'2:file:_files'\n");
	buf_free(&words);
}

static void zsh_script(struct buf *out)
{
	buf_add_str(out, "#compdef titan\n"
			 "# zsh completion of titan, generated from its command table\n"
			 "\n"
			 "_titan_runs() { compadd -- ${(f)\"$(titan ls --limit 50 --format '{run}' 2>/dev/null)\"} last }\n"
			 "\n"
			 "_titan_jobs() {\n"
			 "\tif [[ $PREFIX == */* ]]; then\n"
			 "\t\tcompadd -- ${(f)\"$(titan show ${PREFIX%%/*} --format '{job}' 2>/dev/null)\"}\n"
			 "\telse\n"
			 "\t\t_titan_runs\n"
			 "\tfi\n"
			 "}\n"
			 "\n"
			 "_titan_commands() {\n"
			 "\tlocal -a commands=(\n");
	for (int id = 1; id < COMMAND_COUNT; id++) {
		buf_addf(out, "\t\t'%s:", command_table[id].verb);
		zsh_text(command_table[id].help, out);
		buf_add_str(out, "'\n");
	}
	buf_add_str(out, "\t)\n"
			 "\t_describe command commands\n"
			 "}\n"
			 "\n"
			 "_titan() {\n"
			 "\tlocal context state line curcontext=$curcontext\n"
			 "\tlocal -a every=(\n");
	zsh_options(global_options, out);
	buf_add_str(out, "\t)\n"
			 "\t_arguments -C $every '1:command:_titan_commands' '*::argument:->arguments'\n"
			 "\t[[ $state == arguments ]] || return\n"
			 "\tcase $words[1] in\n");
	for (int id = 1; id < COMMAND_COUNT; id++) {
		struct buf lines = { 0 };

		zsh_options(command_table[id].options, &lines);
		zsh_arguments(&command_table[id], &lines);
		buf_addf(out, "\t%s) _arguments $every", command_table[id].verb);
		/* End each line with a backslash: the list is one command. */
		for (size_t i = 0; i < lines.len; i++) {
			if (i == 0 || lines.data[i - 1] == '\n')
				buf_add_str(out, " \\\n");
			if (lines.data[i] != '\n')
				buf_add_byte(out, lines.data[i]);
		}
		buf_free(&lines);
		buf_add_str(out, "\n\t\t;;\n");
	}
	buf_add_str(out, "\tesac\n"
			 "}\n"
			 "\n"
			 "_titan \"$@\"\n");
}

/* ---- fish ---- */

static void fish_text(const char *text, struct buf *out)
{
	buf_add_byte(out, '\'');
	for (; *text != '\0'; text++) {
		if (*text == '\'' || *text == '\\')
			buf_add_byte(out, '\\');
		buf_add_byte(out, (uint8_t)*text);
	}
	buf_add_byte(out, '\'');
}

static void fish_options(const struct option_info *options, const char *verb, struct buf *out)
{
	for (; options->id != OPT_none; options++) {
		buf_add_str(out, "complete -c titan");
		if (verb)
			buf_addf(out, " -n '__fish_seen_subcommand_from %s'", verb);
		if (options->letter)
			buf_addf(out, " -s %c", options->letter);
		buf_addf(out, " -l %s", options->word);
		if (options->argument && strcmp(options->argument, "DIR") == 0)
			buf_add_str(out, " -x -a '(__fish_complete_directories)'");
		else if (options->argument)
			buf_add_str(out, strcmp(options->argument, "FILE") == 0 ? " -r -F" : " -x");
		if (has_choices(options)) {
			buf_add_str(out, " -a '");
			choices(options->argument, out);
			buf_add_byte(out, '\'');
		}
		buf_add_str(out, " -d ");
		fish_text(options->help, out);
		buf_add_byte(out, '\n');
	}
}

static void fish_script(struct buf *out)
{
	struct buf words = { 0 };

	buf_add_str(out, "# fish completion of titan, generated from its command table\n"
			 "\n"
			 "function __titan_runs\n"
			 "\ttitan ls --limit 50 --format '{run}\\t{name} {state}' 2>/dev/null\n"
			 "\techo last\n"
			 "end\n"
			 "\n"
			 "function __titan_jobs\n"
			 "\tset -l run (string split -m 1 / -- (commandline -ct))\n"
			 "\tif set -q run[2]\n"
			 "\t\ttitan show $run[1] --format '{job}\\t{state}' 2>/dev/null\n"
			 "\telse\n"
			 "\t\t__titan_runs\n"
			 "\tend\n"
			 "end\n"
			 "\n"
			 "complete -c titan -f\n");
	fish_options(global_options, NULL, out);
	for (int id = 1; id < COMMAND_COUNT; id++) {
		const struct command_info *command = &command_table[id];

		buf_addf(out, "complete -c titan -n __fish_use_subcommand -a %s -d ", command->verb);
		fish_text(command->help, out);
		buf_add_byte(out, '\n');
		fish_options(command->options, command->verb, out);
		buf_clear(&words);
		pattern_words(command, &words);
		if (takes_run(command) && words.len > 0)
			buf_addf(out, "complete -c titan -n '__fish_seen_subcommand_from %s' -a '%s'\n", command->verb,
				 buf_cstr(&words));
		if (takes_run(command))
			buf_addf(out, "complete -c titan -n '__fish_seen_subcommand_from %s' -a '(%s)'\n", command->verb,
				 takes_job(command) ? "__titan_jobs" : "__titan_runs");
		else if (words.len > 0)
			buf_addf(out, "complete -c titan -n '__fish_seen_subcommand_from %s' -a '%s'\n", command->verb,
				 buf_cstr(&words));
		if (takes_file(command) || command->id == COMMAND_wire)
			buf_addf(out, "complete -c titan -n '__fish_seen_subcommand_from %s' -F\n", command->verb);
	}
	buf_free(&words);
}

bool complete_script(const char *shell, struct buf *out)
{
	if (strcmp(shell, "bash") == 0)
		bash_script(out);
	else if (strcmp(shell, "zsh") == 0)
		zsh_script(out);
	else if (strcmp(shell, "fish") == 0)
		fish_script(out);
	else
		return false;
	return true;
}

/* ---- completion within a session ---- */

static void offer(const char *word, size_t len, const char *begun, struct buf *out)
{
	if (len >= strlen(begun) && memcmp(word, begun, strlen(begun)) == 0)
		buf_addf(out, "%.*s\n", (int)len, word);
}

/* Offer those words of a list, separated by this character, that begin with begun. */
static void offer_words(const char *words, char apart, const char *begun, struct buf *out)
{
	while (*words != '\0') {
		const char *end = strchrnul(words, apart);

		offer(words, (size_t)(end - words), begun, out);
		words = *end != '\0' ? end + 1 : end;
	}
}

static void offer_options(const struct option_info *options, const char *begun, struct buf *out)
{
	const char *word = begun + strspn(begun, "-");

	if (word - begun > 2 || (word - begun == 1 && *word != '\0'))
		return;                  /* a single letter is already complete */
	for (; options->id != OPT_none; options++)
		if (strncmp(options->word, word, strlen(word)) == 0)
			buf_addf(out, "--%s\n", options->word);
}

static const struct option_info *option_of(const struct option_info *options, const char *word)
{
	for (; options->id != OPT_none; options++)
		if ((strncmp(word, "--", 2) == 0 && strcmp(word + 2, options->word) == 0) ||
		    (word[0] == '-' && options->letter != '\0' && word[1] == options->letter && word[2] == '\0'))
			return options;
	return NULL;
}

/* Find an option of the command (may be NULL) or a global one. */
static const struct option_info *option_named(const struct command_info *command, const char *word)
{
	const struct option_info *option = command ? option_of(command->options, word) : NULL;

	return option ? option : option_of(global_options, word);
}

void session_complete(const char *const *words, size_t count, struct buf *out)
{
	const struct command_info *command = NULL;
	const struct option_info *before = NULL;
	const char *begun = count > 0 ? words[count - 1] : "";
	struct buf list = { 0 };

	for (size_t i = 0; i + 1 < count; i++) {
		bool is_value = before && before->argument;

		before = NULL;
		if (is_value)
			continue;
		if (words[i][0] == '-')
			before = option_named(command, words[i]);
		else if (!command)
			command = command_find(words[i]);
	}
	if (before && before->argument) {
		if (has_choices(before))
			offer_words(before->argument, '|', begun, out);
	} else if (begun[0] == '-') {
		if (command)
			offer_options(command->options, begun, out);
		offer_options(global_options, begun, out);
	} else if (!command) {
		for (int id = 1; id < COMMAND_COUNT; id++)
			offer(command_table[id].verb, strlen(command_table[id].verb), begun, out);
	} else {
		pattern_words(command, &list);
		offer_words(buf_cstr(&list), ' ', begun, out);
	}
	buf_free(&list);
}
