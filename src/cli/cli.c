/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From argv to a command's function and back to an exit status. */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"
#include "cli/conf_files.h"
#include "cli/help.h"
#include "cli/up.h"

static command_fn *const commands[COMMAND_COUNT] = {
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

static void look_init(struct look *look, const struct settings *settings, const struct session *session, const struct sink *sink)
{
	look->style = settings->style;
	look->quiet = settings->quiet;
	look->format = settings->format;
	look->terminal = sink->terminal;
	look->utf8 = session->utf8;
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
	cli_tell(cli, buf_slice(&text));
	buf_free(&text);
}

int cli_fail(struct cli *cli)
{
	struct buf text = { 0 };

	/* Once, be it that the command gave up for it and says so, too. */
	if (cli->output->lost) {
		cli->error = cli->output->why;
		if (cli->output->told)
			return err_exit_status(cli->error.code);
		cli->output->told = true;
	}
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
		cli_tell(cli, buf_slice(&text));
		buf_free(&text);
	}
	return err_exit_status(cli->error.code);
}

void cli_tell(struct cli *cli, struct slice text)
{
	if (text.len > 0)
		cli->session->err.write_cb(cli->session->err.arg, text.data, text.len);
}

void cli_print_or(struct cli *cli, struct buf *out, const struct error *why)
{
	struct lost_output *output = cli->output;
	int result = 0;

	if (out->len > 0 && !output->lost)
		result = cli->session->out.write_cb(cli->session->out.arg, out->data, out->len);
	if (result != 0) {
		output->lost = true;
		error_system(&output->why, -result, "%s", why ? why->text : "can't write to standard output");
		if (why)
			error_next(&output->why, "%s", why->next);
	}
	buf_clear(out);
}

void cli_print(struct cli *cli, struct buf *out)
{
	cli_print_or(cli, out, NULL);
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
	cli_tell(cli, buf_slice(&escaped));
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

/* The whole line is taken: the next question, or the next command, begins behind it. */
static bool answered_yes(int fd)
{
	char first = '\0', byte;

	while (read(fd, &byte, 1) == 1 && byte != '\n')
		first = first == '\0' ? byte : first;
	return first == 'y' || first == 'Y';
}

enum err cli_confirm(struct cli *cli, const char *question)
{
	struct buf words = { 0 };

	if (cli->settings.yes)
		return ERR_NONE;
	if (cli->settings.no_input || !cli->session->asks) {
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
	cli_tell(cli, buf_slice(&words));
	buf_free(&words);
	if (answered_yes(cli->session->in_fd))
		return ERR_NONE;
	return error_set(&cli->error, ERR_INTERRUPTED, "nothing was done");
}

/* titan alone: the whole console where there is a terminal, else the help, as an error. */
static int bare(struct cli *cli)
{
	struct buf text = { 0 };

	if (cli->session->asks && cli->session->out.terminal) {
		int status = up_start(cli, true);

		return status != 0 ? status : cmd_dash(cli);
	}
	help_overview(&cli->err, &text);
	cli_tell(cli, buf_slice(&text));
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

/* A guardian that has taken over its worker lives, whatever became of the files meanwhile: it goes on without them. */
static enum err unless_renewed(struct cli *cli, enum err err)
{
	if (err == ERR_NONE || !settings_renewed())
		return err;
	cli_fail(cli);
	cli->error = (struct error){ 0 };
	return ERR_NONE;
}

/* What holds for one cluster is for its master and workers. */
static bool serves_cluster(const struct invocation *invocation)
{
	enum command_id id = invocation->command ? invocation->command->id : COMMAND_up;

	return id == COMMAND_up || id == COMMAND_master || (id == COMMAND_worker && invocation->arg_count == 0);
}

static enum err prepare(struct cli *cli, struct conf_files *files)
{
	enum err err = needs_place(cli->invocation) ? unless_renewed(cli, conf_read_files(cli, files)) : ERR_NONE;
	int found;

	if (err == ERR_NONE)
		err = settings_read(cli->invocation, &cli->settings, &cli->error);
	if (err != ERR_NONE)
		return err;
	look_init(&cli->out, &cli->settings, cli->session, &cli->session->out);
	look_init(&cli->err, &cli->settings, cli->session, &cli->session->err);
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
	if (needs_place(cli->invocation) && serves_cluster(cli->invocation))
		return unless_renewed(cli, conf_read_cluster(cli, files));
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

/* What was pressed and not read any more must not end whoever runs the next command. */
static void release_signals(struct cli *cli)
{
	struct signalfd_siginfo info;

	if (cli->signal_fd < 0)
		return;
	while (read(cli->signal_fd, &info, sizeof(info)) == sizeof(info))
		;
	close(cli->signal_fd);
	sigprocmask(SIG_SETMASK, &cli->signals_before, NULL);
}

int session_run(struct session *session, int argc, char **argv)
{
	struct lost_output output = { 0 };
	struct cli cli = { .session = session, .output = &output, .signal_fd = -1, .deadline_ns = TIME_NEVER };
	struct invocation invocation = { 0 };
	struct settings plain = { 0 };
	struct conf_files files = { 0 };
	int status;

	plain.style = wants_json(argc, argv) ? STYLE_JSON : STYLE_HUMAN;
	look_init(&cli.err, &plain, session, &session->err);
	cli.invocation = &invocation;
	if (invocation_parse(argc, argv, &cli.arena, &invocation, &cli.error) == ERR_NONE) {
		invocation.conf = &files;
		status = prepare(&cli, &files) == ERR_NONE ? run_command(&cli) : cli_fail(&cli);
	} else {
		status = cli_fail(&cli);
	}
	if (output.lost)
		status = cli_fail(&cli);
	client_close(cli.client);
	release_signals(&cli);
	arena_free(&cli.arena);
	return status;
}
