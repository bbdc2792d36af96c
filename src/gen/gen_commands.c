/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands and options as mdoc: SYNOPSIS, lists of options, list of commands, exit statuses. */
#include "proto/commands.h"

#include <ctype.h>

#include "gen/gen.h"

static void dashes(const struct option_info *option, bool with_word, struct buf *out)
{
	if (option->letter)
		buf_addf(out, "Fl %c", option->letter);
	if (option->letter && option->argument)
		buf_addf(out, " Ar %s", option->argument);
	if (option->letter && !with_word)
		return;
	buf_addf(out, "%sFl -%s", option->letter ? " , " : "", option->word);
	if (option->argument)
		buf_addf(out, " Ar %s", option->argument);
}

/* Write a word of a usage pattern: -e, --lines, -, |, DAG, dump, a|b|c, [FILE]. */
static void pattern_word(const char *word, size_t len, struct buf *out)
{
	if (len > 2 && word[0] == '[') {
		buf_add_str(out, "Op ");
		pattern_word(word + 1, len - 2, out);
	} else if (len == 1 && word[0] == '|') {
		buf_add_byte(out, '|');
	} else if (word[0] == '-' && len > 1) {
		buf_addf(out, "Fl %.*s", (int)len - 1, word + 1);
	} else {
		buf_add_str(out, isupper((unsigned char)word[0]) ? "Ar " : "Cm ");
		for (size_t i = 0; i < len; i++)
			buf_addf(out, word[i] == '|' ? " | " : "%c", word[i]);
	}
}

void gen_synopsis(const char *verb, struct buf *out)
{
	const struct command_info *command = command_find(verb);
	const char *at;

	if (command == NULL)
		return;
	buf_addf(out, ".Nm titan %s\n", verb);
	for (const struct option_info *option = command->options; option->id != OPT_none; option++) {
		/* Leave out options that the pattern already shows. */
		if (command->id == COMMAND_run && (option->id == OPT_run_expression || option->id == OPT_run_lines))
			continue;
		buf_add_str(out, ".Op ");
		dashes(option, false, out);
		buf_add_byte(out, '\n');
	}
	at = command->pattern;
	if (*at == '\0')
		return;
	buf_add_byte(out, '.');
	while (*at != '\0') {
		size_t len = strcspn(at, " ");

		if (at != command->pattern)
			buf_add_byte(out, ' ');
		pattern_word(at, len, out);
		at += len + strspn(at + len, " ");
	}
	buf_add_byte(out, '\n');
}

void gen_options(const char *verb, struct buf *out)
{
	const struct command_info *command = command_find(verb);
	const struct option_info *option = command ? command->options : global_options;

	if (option->id == OPT_none)
		return;
	buf_add_str(out, ".Bl -tag -width Ds\n");
	for (; option->id != OPT_none; option++) {
		buf_add_str(out, ".It ");
		dashes(option, true, out);
		buf_add_byte(out, '\n');
		gen_sentence(option->help, out);
	}
	buf_add_str(out, ".El\n");
}

void gen_examples(const char *verb, struct buf *out)
{
	const struct command_info *command = command_find(verb);

	for (const char *const *line = command ? command->examples : NULL; line && *line != NULL; line++) {
		buf_add_str(out, ".Dl ");
		for (const char *at = *line; *at != '\0'; at++) {
			/* mdoc would turn quotes into typographic ones, and a word -- into a dash. */
			if (strncmp(at, "-- ", 3) == 0) {
				buf_add_str(out, "\\-\\-");
				at++;
			} else if (*at == '\'' || *at == '"' || *at == '\\') {
				buf_add_str(out, *at == '\'' ? "\\(aq" : *at == '"' ? "\\(dq" : "\\e");
			} else {
				buf_add_byte(out, (uint8_t)*at);
			}
		}
		buf_add_byte(out, '\n');
	}
}

void gen_commands(struct buf *out)
{
	for (int group = 0; group < GROUP_COUNT; group++) {
		buf_addf(out, ".Ss %s\n.Bl -tag -width completion\n", command_groups[group]);
		for (int id = 1; id < COMMAND_COUNT; id++) {
			if ((int)command_table[id].group != group)
				continue;
			buf_addf(out, ".It Xr titan-%s 1\n", command_table[id].verb);
			gen_sentence(command_table[id].help, out);
		}
		buf_add_str(out, ".El\n");
	}
}

void gen_exits(struct buf *out)
{
	static const enum err codes[] = {
#define ERROR(name, wire, exit_status, again, text) ERR_##name,
#include "proto/errors.def"
#undef ERROR
	};
	const size_t count = sizeof(codes) / sizeof(codes[0]);

	buf_add_str(out, ".Bl -tag -width Ds\n");
	for (int status = 0; status < 256; status++) {
		bool any = false;

		for (size_t i = 0; i < count; i++) {
			if (err_exit_status(codes[i]) != status)
				continue;
			if (!any)
				buf_addf(out, ".It %d\n", status);
			else
				buf_add_str(out, ";\n");
			gen_text(status == 0 ? "all is well" : err_text(codes[i]), out);
			any = true;
		}
		if (any)
			buf_add_str(out, ".\n");
	}
	buf_add_str(out, ".El\n");
}
