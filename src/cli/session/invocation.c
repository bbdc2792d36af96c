/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses argv by the command table, the same way for every command. */
#include <ctype.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/session/guesses.h"
#include "cli/session/options.h"
#include "cli/session/program.h"

#define WORDS_MAX 64

struct parser {
	int argc;
	char *const *argv;
	int at;
	struct invocation result;
};

static const struct option_info *find_letter(const struct option_info *options, char letter)
{
	for (; options->id != OPT_none; options++)
		if (options->letter == letter)
			return options;
	return NULL;
}

static const struct option_info *find_word(const struct option_info *options, const char *word, size_t len)
{
	for (; options->id != OPT_none; options++)
		if (strlen(options->word) == len && memcmp(options->word, word, len) == 0)
			return options;
	return NULL;
}

static const struct option_info *command_options(const struct parser *parser)
{
	static const struct option_info none[] = { { OPT_none, 0, NULL, NULL, NULL } };

	return parser->result.command ? parser->result.command->options : none;
}

static void give_option(struct parser *parser, enum option_id id, const char *value)
{
	parser->result.options[parser->result.option_count++] = (struct given_option){ id, value };
}

static enum err see_help(const struct parser *parser, struct error *error)
{
	if (parser->result.command)
		return error_next(error, "titan %s --help", parser->result.command->verb);
	return error_next(error, "titan --help");
}

/* The commands that have an option of this name, with commas. */
static void commands_with(const char *word, struct buf *out)
{
	for (int id = 1; id < COMMAND_COUNT; id++)
		for (const struct option_info *option = command_table[id].options; option->id != OPT_none; option++)
			if (strcmp(option->word, word) == 0)
				buf_addf(out, "%s%s", out->len > 0 ? ", " : "", command_table[id].verb);
}

static enum err no_earlier_time(const struct parser *parser, struct error *error)
{
	struct buf commands = { 0 };

	commands_with("at", &commands);
	error_set(error, ERR_USAGE, "titan %s has no option --at; the commands that show an earlier time are: %.*s",
		  parser->result.command->verb, (int)commands.len, (const char *)commands.data);
	buf_free(&commands);
	return see_help(parser, error);
}

static enum err unknown_word(const struct parser *parser, const char *word, size_t len, struct error *error)
{
	const char *words[WORDS_MAX];
	const char *nearest;
	char copy[64];
	size_t count = 0;

	snprintf(copy, sizeof(copy), "%.*s", (int)(len < 60 ? len : 60), word);
	if (parser->result.command && strcmp(copy, "at") == 0)
		return no_earlier_time(parser, error);
	for (const struct option_info *option = command_options(parser); option->id != OPT_none; option++)
		words[count++] = option->word;
	for (const struct option_info *option = global_options; option->id != OPT_none; option++)
		words[count++] = option->word;
	nearest = text_nearest(copy, words, count);
	if (nearest != NULL)
		error_set(error, ERR_USAGE, "unknown option --%s; did you mean --%s?", copy, nearest);
	else if (parser->result.command == NULL)
		error_set(error, ERR_USAGE, "unknown option --%s; options of a command must come after the command's name", copy);
	else
		error_set(error, ERR_USAGE, "titan %s has no option --%s", parser->result.command->verb, copy);
	see_help(parser, error);
	return ERR_USAGE;
}

static enum err parse_word(struct parser *parser, struct error *error)
{
	const char *word = parser->argv[parser->at] + 2;
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);
	const struct option_info *option = find_word(command_options(parser), word, len);

	if (option == NULL)
		option = find_word(global_options, word, len);
	if (option == NULL)
		return unknown_word(parser, word, len, error);
	if (option->argument == NULL) {
		if (equals != NULL)
			return error_set(error, ERR_USAGE, "--%s takes no argument", option->word);
		give_option(parser, option->id, NULL);
	} else if (equals != NULL) {
		give_option(parser, option->id, equals + 1);
	} else if (parser->at + 1 < parser->argc) {
		give_option(parser, option->id, parser->argv[++parser->at]);
	} else {
		error_set(error, ERR_USAGE, "--%s needs an argument: %s", option->word, option->argument);
		return see_help(parser, error);
	}
	return ERR_NONE;
}

static enum err parse_letters(struct parser *parser, struct error *error)
{
	for (const char *letters = parser->argv[parser->at] + 1; *letters != '\0'; letters++) {
		const struct option_info *option = find_letter(command_options(parser), *letters);

		if (option == NULL)
			option = find_letter(global_options, *letters);
		if (option == NULL) {
			char shown[8];

			snprintf(shown, sizeof(shown), isprint((unsigned char)*letters) ? "%c" : "\\x%02x",
				 (unsigned char)*letters);
			if (parser->result.command == NULL)
				error_set(error, ERR_USAGE, "unknown option -%s; options of a command must come after the command's name",
					  shown);
			else
				error_set(error, ERR_USAGE, "titan %s has no option -%s",
					  parser->result.command->verb, shown);
			return see_help(parser, error);
		}
		if (option->argument == NULL) {
			give_option(parser, option->id, NULL);
			continue;
		}
		if (letters[1] != '\0') {
			give_option(parser, option->id, letters + 1);
		} else if (parser->at + 1 < parser->argc) {
			give_option(parser, option->id, parser->argv[++parser->at]);
		} else {
			error_set(error, ERR_USAGE, "-%c needs an argument: %s", *letters, option->argument);
			return see_help(parser, error);
		}
		return ERR_NONE;
	}
	return ERR_NONE;
}

static enum err parse_verb(struct parser *parser, struct error *error)
{
	const char *verb = parser->argv[parser->at];
	const struct guess *guess = guess_command(verb);
	const char *words[COMMAND_COUNT];
	const char *nearest;
	size_t count = 0;

	parser->result.command = command_find(verb);
	if (parser->result.command != NULL)
		return ERR_NONE;
	if (guess != NULL) {
		error_set(error, ERR_USAGE, "unknown command '%s'; %s", verb, guess->text);
		return error_next(error, "%s", guess->next);
	}
	for (int id = 1; id < COMMAND_COUNT; id++)
		if (!guess_destroys(command_table[id].verb))
			words[count++] = command_table[id].verb;
	nearest = text_nearest(verb, words, count);
	if (nearest != NULL)
		error_set(error, ERR_USAGE, "unknown command '%s'; did you mean '%s'?", verb, nearest);
	else
		error_set(error, ERR_USAGE, "unknown command '%s'", verb);
	return see_help(parser, error);
}

static enum err check_arguments(const struct parser *parser, struct error *error)
{
	const struct command_info *command = parser->result.command;
	size_t count = parser->result.arg_count;

	if (command == NULL || option_given(&parser->result, OPT_help))
		return ERR_NONE;
	if (count < (size_t)command->least) {
		error_set(error, ERR_USAGE, "titan %s needs %s", command->verb, command->pattern);
		return see_help(parser, error);
	}
	if (command->most >= 0 && count > (size_t)command->most) {
		error_set(error, ERR_USAGE, "titan %s: unexpected argument '%s'", command->verb,
			  parser->result.args[command->most]);
		return see_help(parser, error);
	}
	return ERR_NONE;
}

/* Did the last argument name a script? Then the words after it are the script's arguments. */
static bool begins_script(const struct parser *parser)
{
	const struct invocation *result = &parser->result;
	enum program_kind kind;

	if (result->command == NULL || result->arg_count != 1 || strstr(result->command->pattern, "SCRIPT [ARG...]") == NULL)
		return false;
	kind = program_kind(result->args[0]);
	return kind == PROGRAM_SCRIPT || kind == PROGRAM_BOTH;
}

enum err invocation_parse(int argc, char *const *argv, struct arena *arena, struct invocation *ret,
			  struct error *error)
{
	struct parser parser = { .argc = argc, .argv = argv, .result.plain_from = SIZE_MAX };
	bool ended = false;
	size_t room = 1;

	/* In combined letters such as -qy each letter is an option. */
	for (int i = 1; i < argc; i++)
		room += argv[i][0] == '-' && argv[i][1] != '-' ? strlen(argv[i]) : 1;
	parser.result.options = arena_zalloc(arena, room, sizeof(struct given_option));
	parser.result.args = arena_zalloc(arena, (size_t)argc + 1, sizeof(char *));
	for (parser.at = 1; parser.at < argc; parser.at++) {
		const char *text = argv[parser.at];
		enum err err = ERR_NONE;

		if (!ended && strcmp(text, "--") == 0) {
			ended = true;
			parser.result.plain_from = parser.result.arg_count;
		} else if (!ended && text[0] == '-' && text[1] == '-') {
			err = parse_word(&parser, error);
		} else if (!ended && text[0] == '-' && text[1] != '\0') {
			err = parse_letters(&parser, error);
		} else if (parser.result.command == NULL) {
			err = parse_verb(&parser, error);
		} else {
			parser.result.args[parser.result.arg_count++] = text;
			ended = ended || begins_script(&parser);
		}
		if (err != ERR_NONE)
			return ERR_USAGE;
	}
	enum err err = check_arguments(&parser, error);
	if (err != ERR_NONE)
		return ERR_USAGE;
	*ret = parser.result;
	return ERR_NONE;
}
