/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From argv to a command's function and back to an exit status. */
#include "cli/cli.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"
#include "cli/help.h"
#include "cli/up.h"

static command_run *const commands[COMMAND_COUNT] = {
#define GLOBAL(ident, letter, word, argument, help)
#define COMMAND(ident, verb, group, role, pattern, least, most, help, text) [COMMAND_##ident] = cmd_##ident,
#define OPTION(command, ident, letter, word, argument, help)
#define END(ident)
#include "proto/commands.def"
#undef GLOBAL
#undef COMMAND
#undef OPTION
#undef END
};

static void look_init(struct look *look, const struct settings *settings, int fd)
{
	look->style = settings->style;
	look->quiet = settings->quiet;
	look->format = settings->format;
	look->terminal = isatty(fd) == 1;
	look->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	look->colour = settings->colour == COLOUR_ALWAYS || (settings->colour == COLOUR_AUTO && look->terminal);
}

void cli_error_json(struct cli *cli, const struct error_place *place)
{
	struct buf text = { 0 };
	struct json json;

	json_begin(&json, &text);
	json_object(&json);
	json_key(&json, "error");
	json_object(&json);
	json_key(&json, "code");
	json_string(&json, err_name(cli->error.code));
	json_key(&json, "status");
	json_u64(&json, (uint64_t)err_exit_status(cli->error.code));
	json_key(&json, "text");
	json_text(&json, slice_str(cli->error.text));
	json_key(&json, "next");
	json_string(&json, cli->error.next[0] != '\0' ? cli->error.next : NULL);
	if (place != NULL) {
		json_key(&json, "file");
		json_string(&json, place->file);
		json_key(&json, "line");
		json_u64(&json, place->line);
		json_key(&json, "column");
		json_u64(&json, place->column);
	}
	json_end(&json);
	json_end(&json);
	buf_add_byte(&text, '\n');
	io_write_all(STDERR_FILENO, text.data, text.len);
	buf_free(&text);
}

int cli_fail(struct cli *cli)
{
	struct buf text = { 0 };

	if (cli->error.text[0] != '\0' && cli->err.style == STYLE_JSON) {
		cli_error_json(cli, NULL);
	} else if (cli->error.text[0] != '\0') {
		look_colour(&cli->err, COLOUR_RED, ATTR_BOLD, &text);
		buf_add_str(&text, "titan: ");
		look_plain(&cli->err, &text);
		text_escape(&text, slice_str(cli->error.text), TEXT_KEEP_NONE);
		if (cli->error.next[0] != '\0') {
			buf_add_str(&text, "\n   try: ");
			text_escape(&text, slice_str(cli->error.next), TEXT_KEEP_NONE);
		}
		buf_add_byte(&text, '\n');
		io_write_all(STDERR_FILENO, text.data, text.len);
		buf_free(&text);
	}
	return err_exit_status(cli->error.code);
}

void cli_print(struct cli *cli, struct buf *out)
{
	if (out->len > 0 && io_write_all(STDOUT_FILENO, out->data, out->len) != 0) {
		/* Whoever read our output is gone, or its disk is full: what follows has no use. */
		error_system(&cli->error, errno, "can't write to standard output");
		exit(cli_fail(cli));
	}
	buf_clear(out);
}

void cli_note(struct cli *cli, const char *format, ...)
{
	struct buf line = { 0 }, escaped = { 0 };
	va_list args;

	if (cli->settings.quiet)
		return;
	va_start(args, format);
	buf_addf_args(&line, format, args);
	va_end(args);
	/* Parts of it may have been escaped already, which changes nothing. */
	text_escape(&escaped, buf_slice(&line), TEXT_KEEP_NEWLINE);
	buf_add_byte(&escaped, '\n');
	io_write_all(STDERR_FILENO, escaped.data, escaped.len);
	buf_free(&escaped);
	buf_free(&line);
}

void cli_note_stuck(struct cli *cli)
{
	cli_note(cli, "the store's disk is full: this is what the master has in memory, and not all of it is written; "
		 "see titan status");
}

enum err cli_refuse_in_job(struct cli *cli, const char *may_not, const char *next)
{
	if (cli->settings.socket == NULL)
		return ERR_NONE;
	error_set(&cli->error, ERR_DENIED, "a job reaches its cluster through TITAN_SOCKET, and may not %s", may_not);
	return error_next(&cli->error, "%s", next);
}

bool cli_chatty(const struct cli *cli)
{
	return cli->out.terminal && cli->settings.style == STYLE_HUMAN && !cli->settings.quiet;
}

enum err cli_confirm(struct cli *cli, const char *question)
{
	struct buf words = { 0 };
	char answer[16];

	if (cli->settings.yes)
		return ERR_NONE;
	if (cli->settings.no_input || isatty(STDIN_FILENO) != 1) {
		error_set(&cli->error, ERR_USAGE, "%s needs a yes, and there is nobody to ask", question);
		if (cli->invocation->option_count > 0)
			return error_next(&cli->error, "the same command with -y");
		for (size_t i = 0; i < cli->invocation->arg_count; i++) {
			buf_add_byte(&words, ' ');
			text_escape(&words, slice_str(cli->invocation->args[i]), TEXT_KEEP_NONE);
		}
		error_next(&cli->error, "titan -y %s%s", cli->invocation->command->verb, buf_cstr(&words));
		buf_free(&words);
		return ERR_USAGE;
	}
	text_escape(&words, slice_str(question), TEXT_KEEP_NONE);
	buf_add_str(&words, "? [y/N] ");
	io_write_all(STDERR_FILENO, words.data, words.len);
	buf_free(&words);
	if (fgets(answer, sizeof(answer), stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y'))
		return ERR_NONE;
	return error_set(&cli->error, ERR_INTERRUPTED, "nothing was done");
}

/* titan alone: the whole console where there is a terminal, else the help, as an error. */
static int bare(struct cli *cli)
{
	struct buf text = { 0 };

	if (isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1) {
		int status = up_start(cli, true);

		return status != 0 ? status : cmd_dash(cli);
	}
	help_overview(&cli->err, &text);
	io_write_all(STDERR_FILENO, text.data, text.len);
	buf_free(&text);
	return err_exit_status(ERR_USAGE);
}

static int help_wanted(struct cli *cli)
{
	struct buf text = { 0 };

	if (cli->invocation->command == NULL)
		help_overview(&cli->out, &text);
	else
		help_command(&cli->out, cli->invocation->command, &text);
	cli_print(cli, &text);
	buf_free(&text);
	return 0;
}

/* Who only reads what titan says of itself needs no home. */
static bool needs_place(const struct invocation *invocation)
{
	if (option_given(invocation, OPT_help) || option_given(invocation, OPT_version))
		return false;
	switch (invocation->command ? invocation->command->id : COMMAND_none) {
	case COMMAND_help:
	case COMMAND_version:
	case COMMAND_completion:
	case COMMAND_wire:
	case COMMAND_demo:               /* makes its own */
		return false;
	default:
		return true;
	}
}

static enum err prepare(struct cli *cli)
{
	enum err err = settings_read(cli->invocation, &cli->settings, &cli->error);
	int found;

	if (err != ERR_NONE)
		return err;
	look_init(&cli->out, &cli->settings, STDOUT_FILENO);
	look_init(&cli->err, &cli->settings, STDERR_FILENO);
	if (cli->settings.timeout_ms >= 0)
		cli->deadline_ns = clock_mono_ns() + cli->settings.timeout_ms * NS_PER_MS;
	found = place_find(cli->settings.cluster, &cli->place);
	if (found == -ENOENT && !needs_place(cli->invocation))
		return ERR_NONE;
	if (found == -EINVAL)
		return error_set(&cli->error, ERR_USAGE, "'%s' can't be a cluster's name: letters, digits and _ . - only",
				 cli->settings.cluster);
	if (found == -ENOENT) {
		error_set(&cli->error, ERR_USAGE, "there is no place for state: neither TITAN_STATE nor HOME is set");
		return error_next(&cli->error, "TITAN_STATE=/some/where titan ...");
	}
	if (found != 0)
		return error_system(&cli->error, -found, "can't find the state directory");
	return ERR_NONE;
}

static int run_command(struct cli *cli)
{
	if (option_given(cli->invocation, OPT_help))
		return help_wanted(cli);
	if (option_given(cli->invocation, OPT_version))
		return cmd_version(cli);
	if (cli->invocation->command == NULL)
		return bare(cli);
	return commands[cli->invocation->command->id](cli);
}

/* Before they are understood: what is wrong with them is told in the way that was asked for. */
static bool wants_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0)
			return true;
	return false;
}

int cli_main(int argc, char **argv)
{
	struct cli cli = { .signal_fd = -1, .deadline_ns = TIME_NEVER };
	struct invocation invocation = { 0 };
	struct settings plain = { 0 };
	int status;

	setlocale(LC_CTYPE, "");
	plain.style = wants_json(argc, argv) ? STYLE_JSON : STYLE_HUMAN;
	look_init(&cli.err, &plain, STDERR_FILENO);
	cli.invocation = &invocation;
	if (invocation_parse(argc, argv, &cli.arena, &invocation, &cli.error) != ERR_NONE ||
	    prepare(&cli) != ERR_NONE)
		status = cli_fail(&cli);
	else
		status = run_command(&cli);
	client_close(cli.client);
	if (cli.signal_fd >= 0)
		close(cli.signal_fd);
	arena_free(&cli.arena);
	return status;
}
