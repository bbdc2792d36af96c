/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Completes words by the command table, for all shells and the console. What a word can be follows from the command's
 * pattern and the option's ARGUMENT. The scripts of the shells only call titan completion words.
 */
#include "cli/session/complete.h"

#include <stddef.h>
#include <stdio.h>

#include "cli/session/help.h"
#include "cli/session/session.h"
#include "lang/conf.h"
#include "proto/commands.h"

/* ---- scripts ---- */

static const char bash_script[] =
	"# bash completion of titan: asks titan for the words\n"
	"\n"
	"_titan() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} line front= i\n"
	"\tlocal -a typed=()\n"
	"\tCOMPREPLY=()\n"
	"\t# bash splits words at colons, and inserts only what is behind the last one\n"
	"\tfor ((i = 1; i <= COMP_CWORD; i++)); do\n"
	"\t\tif ((${#typed[@]} > 1)) && [[ ${COMP_WORDS[i]} == : || ${COMP_WORDS[i - 1]} == : ]]; then\n"
	"\t\t\ttyped[-1]+=${COMP_WORDS[i]}\n"
	"\t\telse\n"
	"\t\t\ttyped+=(\"${COMP_WORDS[i]}\")\n"
	"\t\tfi\n"
	"\tdone\n"
	"\t[[ $COMP_WORDBREAKS != *:* ]] || front=${typed[-1]%\"${typed[-1]##*:}\"}\n"
	"\t[[ $cur != [=:] ]] || cur=\n"
	"\twhile IFS= read -r line; do\n"
	"\t\tcase $line in\n"
	"\t\t:files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
	"\t\t:directories) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
	"\t\t*)\n"
	"\t\t\tline=${line%%$'\\t'*}\n"
	"\t\t\tCOMPREPLY+=(\"${line#\"$front\"}\")\n"
	"\t\t\t;;\n"
	"\t\tesac\n"
	"\tdone < <(titan completion words -- \"${typed[@]}\" 2>/dev/null)\n"
	"\tif [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/[:] ]]; then\n"
	"\t\tcompopt -o nospace\n"
	"\tfi\n"
	"}\n"
	"complete -F _titan titan\n";

static const char zsh_script[] =
	"#compdef titan\n"
	"# zsh completion of titan: asks titan for the words\n"
	"\n"
	"_titan() {\n"
	"\tlocal line\n"
	"\tlocal -a found plain shown open\n"
	"\tfound=(\"${(@f)$(titan completion words -- \"${(@Q)words[2,CURRENT-1]}\" \"${(Q)PREFIX}\" 2>/dev/null)}\")\n"
	"\tfor line in $found; do\n"
	"\t\tcase $line in\n"
	"\t\t:files) compset -P '-*='; _files; return ;;\n"
	"\t\t:directories) compset -P '-*='; _files -/; return ;;\n"
	"\t\t*[/\\[:]) open+=(\"$line\") ;;\n"
	"\t\t*)\n"
	"\t\t\tplain+=(\"${line%%$'\\t'*}\")\n"
	"\t\t\tshown+=(\"${line/$'\\t'/  -- }\")\n"
	"\t\t\t;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\t(( ! $#open )) || compadd -S '' -a open\n"
	"\t(( ! $#plain )) || compadd -l -d shown -a plain\n"
	"}\n"
	"\n"
	"# Found by compinit, this file is the function's body; sourced, it only defines it.\n"
	"if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
	"\t_titan \"$@\"\n"
	"else\n"
	"\t(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i -D }\n"
	"\tcompdef _titan titan\n"
	"fi\n";

static const char fish_script[] =
	"# fish completion of titan: asks titan for the words\n"
	"\n"
	"function __titan_words\n"
	"\tset -l before (commandline -opc)\n"
	"\tset -l cur (commandline -ct)\n"
	"\tset -e before[1]\n"
	"\tfor line in (titan completion words -- $before \"$cur\" 2>/dev/null)\n"
	"\t\tswitch $line\n"
	"\t\tcase ':files'\n"
	"\t\t\t__fish_complete_path \"$cur\"\n"
	"\t\tcase ':directories'\n"
	"\t\t\t__fish_complete_directories \"$cur\"\n"
	"\t\tcase '*'\n"
	"\t\t\tprintf '%s\\n' $line\n"
	"\t\tend\n"
	"\tend\n"
	"end\n"
	"\n"
	"complete -c titan -f -a '(__titan_words)'\n";

const char *complete_script(const char *shell)
{
	if (strcmp(shell, "bash") == 0)
		return bash_script;
	if (strcmp(shell, "zsh") == 0)
		return zsh_script;
	return strcmp(shell, "fish") == 0 ? fish_script : NULL;
}

/* ---- completions from the tables ---- */

static void offer(struct completion *ret, const char *word, size_t len, const char *help)
{
	size_t begun = strlen(ret->begun);

	if (len < begun || memcmp(word, ret->begun, begun) != 0)
		return;
	buf_addf(&ret->words, "%.*s%.*s", (int)ret->front_len, ret->front, (int)len, word);
	if (help[0] != '\0')
		buf_addf(&ret->words, "\t%s", help);
	buf_add_byte(&ret->words, '\n');
}

/* Offer each word of a choice such as a|b|c. */
static void offer_choices(struct completion *ret, const char *choices)
{
	while (*choices != '\0' && *choices != ',') {
		size_t len = strcspn(choices, "|,");

		offer(ret, choices, len, "");
		choices += len + (choices[len] == '|');
	}
}

/* Offer the keys of titan.conf. */
static void offer_settings(struct completion *ret)
{
	for (int key = 0; key < CONF_COUNT; key++)
		offer(ret, conf_table[key].word, strlen(conf_table[key].word), conf_table[key].text);
}

/* Offer the topics of titan help. */
static void offer_topics(struct completion *ret)
{
	size_t count;
	const char *const *topics = help_topics(&count);

	for (int id = 1; id < COMMAND_COUNT; id++)
		offer(ret, command_table[id].verb, strlen(command_table[id].verb), command_table[id].help);
	for (size_t i = 0; i < count; i++)
		offer(ret, topics[i], strlen(topics[i]), "");
}

static void offer_options(struct completion *ret, const struct option_info *options)
{
	const char *begun = ret->begun + strspn(ret->begun, "-");

	if (begun - ret->begun > 2 || (begun - ret->begun == 1 && *begun != '\0'))
		return;                  /* an option typed as a letter, such as -q, is already complete */
	for (; options->id != OPT_none; options++) {
		if (strncmp(options->word, begun, strlen(begun)) == 0)
			buf_addf(&ret->words, "--%s\t%s\n", options->word, options->help);
	}
}

/* ---- completions that need a master or files ---- */

static const struct {
	const char *word;                /* placeholder in the pattern of a command or the ARGUMENT of an option */
	enum complete_of of;
} known_words[] = {
	{ "FILE", COMPLETE_FILES }, { "DIR", COMPLETE_DIRECTORIES }, { "WORKER", COMPLETE_WORKERS }, { "POOL", COMPLETE_POOLS }, { "PATTERN", COMPLETE_TOPICS }, { "ASSET", COMPLETE_ASSETS },
	{ "RUN", COMPLETE_RUNS }, { "SCRIPT", COMPLETE_FILES }, { "ARG", COMPLETE_FILES },
};

static const struct {
	const char *option; /* options whose ARGUMENT this is, because it is only NAME; NULL: all options */
	enum complete_of of;
} known_options[] = {
	{ "cluster", COMPLETE_CLUSTERS }, { "tenant", COMPLETE_TENANTS }, { "pool", COMPLETE_POOLS },
	{ "into", COMPLETE_LIVE_RUNS }, { "only", COMPLETE_JOBS }, { "to", COMPLETE_JOBS }, { "key", COMPLETE_FILES },
	{ "lock", COMPLETE_LOCKS }, { "concurrency", COMPLETE_GROUPS }, { "dump-screen", COMPLETE_FILES },
};

static const struct {
	enum command_id command;
	enum complete_of of;             /* the kind of names that the placeholder stands for */
} known_commands[] = {
	{ COMMAND_cancel, COMPLETE_LIVE_RUNS }, { COMMAND_hold, COMPLETE_LIVE_RUNS }, { COMMAND_release, COMPLETE_LIVE_RUNS },
	{ COMMAND_priority, COMPLETE_LIVE_RUNS }, { COMMAND_watch, COMPLETE_LIVE_RUNS }, { COMMAND_wait, COMPLETE_LIVE_RUNS },
	{ COMMAND_retry, COMPLETE_FAILED_RUNS }, { COMMAND_approve, COMPLETE_GATES }, { COMMAND_reject, COMPLETE_GATES },
	{ COMMAND_pushback, COMPLETE_GATES }, { COMMAND_dlq, COMPLETE_DEAD }, { COMMAND_schedule, COMPLETE_SCHEDULES },
	{ COMMAND_token, COMPLETE_TOKENS }, { COMMAND_cluster, COMPLETE_REMOTES },
	{ COMMAND_kv, COMPLETE_KEYS }, { COMMAND_lock, COMPLETE_LOCKS }, { COMMAND_group, COMPLETE_GROUPS }, { COMMAND_tenant, COMPLETE_TENANTS },
};

static bool has_word(const char *text, const char *word)
{
	const char *at = strstr(text, word);
	size_t len = strlen(word);

	for (; at; at = strstr(at + 1, word))
		if ((at == text || at[-1] < 'A' || at[-1] > 'Z') && (at[len] < 'A' || at[len] > 'Z'))
			return true;
	return false;
}

static enum complete_of word_means(const char *text)
{
	for (size_t i = 0; i < sizeof(known_words) / sizeof(known_words[0]); i++)
		if (has_word(text, known_words[i].word))
			return known_words[i].of;
	return COMPLETE_NONE;
}

static enum complete_of argument_means(const struct option_info *option)
{
	for (size_t i = 0; i < sizeof(known_options) / sizeof(known_options[0]); i++)
		if (strcmp(option->word, known_options[i].option) == 0)
			return known_options[i].of;
	return word_means(option->argument);
}

/* What a placeholder of the command's pattern stands for, such as RUN or NAME. */
static enum complete_of command_means(const struct command_info *command, const char *word)
{
	bool names = has_word(word, "RUN") || (command->id == COMMAND_kv && (has_word(word, "KEY") || has_word(word, "PREFIX") || has_word(word, "NAMESPACE"))) || has_word(word, "NAME") || has_word(word, "TOKEN");

	for (size_t i = 0; names && i < sizeof(known_commands) / sizeof(known_commands[0]); i++)
		if (known_commands[i].command == command->id)
			return known_commands[i].of;
	return word_means(word);
}

/* ---- reading the typed words ---- */

static const struct option_info *option_of(const struct option_info *options, const char *word)
{
	size_t len = strcspn(word, "=");

	for (; options->id != OPT_none; options++)
		if ((strncmp(word, "--", 2) == 0 && strlen(options->word) == len - 2 && memcmp(word + 2, options->word, len - 2) == 0) ||
		    (word[0] == '-' && options->letter != '\0' && word[1] == options->letter && word[2] == '\0'))
			return options;
	return NULL;
}

/* Find a global option, or one of the command if command isn't NULL. */
static const struct option_info *option_named(const struct command_info *command, const char *word)
{
	const struct option_info *option = command ? option_of(command->options, word) : NULL;

	return option ? option : option_of(global_options, word);
}

#define ARGUMENTS_MAX 4

struct typed {
	const struct command_info *command;
	const struct option_info *before; /* the option before the last word, whose argument that word is; or NULL */
	const char *arguments[ARGUMENTS_MAX];    /* the first ones */
	size_t count;                            /* of all arguments */
	bool ended;                              /* by -- */
};

static void take_word(struct typed *typed, const char *word, struct completion *ret)
{
	const struct option_info *option = typed->before;
	const char *equals = strchr(word, '=');

	if (option && strcmp(word, "=") == 0)
		return;                          /* bash splits --option=value into three words */
	typed->before = NULL;
	if (option) {
		ret->cluster = option->id == OPT_cluster ? word : ret->cluster;
	} else if (!typed->ended && strcmp(word, "--") == 0) {
		typed->ended = true;
	} else if (!typed->ended && word[0] == '-' && word[1] != '\0') {
		option = option_named(typed->command, word);
		if (option && option->id == OPT_cluster && equals)
			ret->cluster = equals + 1;
		typed->before = option && option->argument && !(equals && word[1] == '-') ? option : NULL;
	} else if (!typed->command) {
		typed->command = command_find(word);
	} else if (typed->count++ < ARGUMENTS_MAX) {
		typed->arguments[typed->count - 1] = word;
	}
}

static void complete_value(const struct option_info *option, struct completion *ret)
{
	const char *comma = strrchr(ret->begun, ',');

	/* In a list such as a,b complete the word after the last comma. */
	if (comma && strstr(option->argument, ",...")) {
		ret->front = ret->begun - ret->front_len;
		ret->front_len += (size_t)(comma + 1 - ret->begun);
		ret->begun = comma + 1;
	}
	if (strchr(option->argument, '|'))
		offer_choices(ret, option->argument);
	ret->of = argument_means(option);
	ret->jobs = has_word(option->argument, "JOB");
}

/* Is the word one of the choices in a pattern such as a|b|c? */
static bool among(const char *choices, const char *word)
{
	size_t len;

	for (; *choices != '\0'; choices += len + (choices[len] == '|')) {
		len = strcspn(choices, "|");
		if (strlen(word) == len && memcmp(choices, word, len) == 0)
			return true;
		if (choices[len] == '\0')
			break;
	}
	return false;
}

/* Follow one form of the command's arguments, such as "set POOL active|draining", and offer what can come next. */
static void complete_way(const struct typed *typed, const char *way, struct completion *ret)
{
	char word[64] = "";

	for (size_t at = 0; at <= typed->count && at <= ARGUMENTS_MAX; at++) {
		size_t len = strcspn(way, " ");

		if (len > 0 && len < sizeof(word)) {
			size_t skip = strspn(way, "[");

			snprintf(word, sizeof(word), "%.*s", (int)(len - skip), way + skip);
			if (word[0] >= 'a')
				word[strcspn(word, "]")] = '\0';
			way += len + (way[len] == ' ');
		} else if (!strstr(word, "...")) {
			return;                  /* this form of the arguments has no further one */
		}
		if (at < typed->count && word[0] >= 'a' && !among(word, typed->arguments[at]))
			return;
	}
	if (word[0] >= 'a') {
		offer_choices(ret, word);
	} else if (word[0] >= 'A') {
		enum complete_of of = command_means(typed->command, word);

		/* Another form of the arguments may say what the word is. */
		if (of != COMPLETE_NONE)
			ret->of = of;
		ret->jobs |= has_word(word, "JOB");
	}
}

static void complete_argument(const struct typed *typed, struct completion *ret)
{
	const struct command_info *command = typed->command;
	const char *at = command->pattern;

	if (command->id == COMMAND_help && typed->count == 0)
		offer_topics(ret);
	if (command->id == COMMAND_config)
		offer_settings(ret);
	/* After `add` comes a name that doesn't exist yet, so none is offered. */
	if ((command->id == COMMAND_token || command->id == COMMAND_cluster) && typed->count > 0 && strcmp(typed->arguments[0], "add") == 0)
		return;
	if (command->id == COMMAND_schedule && typed->count == 1 && strcmp(typed->arguments[0], "add") == 0) {
		ret->of = COMPLETE_FILES;
		return;
	}
	/* The forms of the arguments are separated by " | ". */
	while (*at != '\0') {
		const char *end = strstr(at, " | ");
		char way[128];

		snprintf(way, sizeof(way), "%.*s", (int)(end ? end - at : (ptrdiff_t)strlen(at)), at);
		/* In a form that begins with an option, the words after it need that option, so they aren't offered. */
		if (way[0] != '-')
			complete_way(typed, way, ret);
		at = end ? end + 3 : at + strlen(at);
	}
}

void session_complete(const char *const *words, size_t count, struct completion *ret)
{
	struct typed typed = { 0 };
	const char *begun = count > 0 ? words[count - 1] : "", *equals = strchr(begun, '=');

	*ret = (struct completion){ .begun = begun, .front = begun };
	for (size_t i = 0; i + 1 < count; i++)
		take_word(&typed, words[i], ret);
	ret->about = typed.count > 0 ? typed.arguments[0] : NULL;
	if (typed.before) {
		ret->begun = strcmp(begun, "=") == 0 ? "" : begun;
		complete_value(typed.before, ret);
	} else if (!typed.ended && strncmp(begun, "--", 2) == 0 && equals) {
		const struct option_info *option = option_named(typed.command, begun);

		ret->begun = equals + 1;
		ret->front_len = (size_t)(equals + 1 - begun);
		if (option && option->argument)
			complete_value(option, ret);
	} else if (!typed.ended && begun[0] == '-') {
		if (typed.command)
			offer_options(ret, typed.command->options);
		offer_options(ret, global_options);
	} else if (typed.command) {
		complete_argument(&typed, ret);
	} else {
		for (int id = 1; id < COMMAND_COUNT; id++)
			offer(ret, command_table[id].verb, strlen(command_table[id].verb), command_table[id].help);
	}
}

void completion_free(struct completion *completion)
{
	buf_free(&completion->words);
}
