/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the output of commands, escaped and styled, and remembers if output is lost. */
#include "cli/session/output.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/session/cli.h"
#include "cli/show/json.h"
#include "cli/show/look.h"
#include "lang/dagline.h"

struct error_place {
	const char *file;
	uint64_t line, column;           /* line and column of the error, both counted from 1 */
};

/* Print the error as JSON. place: the error's place in a parsed text, or NULL. */
static void error_json(struct cli *cli, const struct error_place *place)
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

	/* Report lost output once, even if the command also fails because of it and reports another error. */
	if (cli->output->lost) {
		cli->error = cli->output->why;
		if (cli->output->told)
			return err_exit_status(cli->error.code);
		cli->output->told = true;
	}
	if (cli->error.text[0] != '\0' && cli->err.style == STYLE_JSON) {
		error_json(cli, NULL);
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
		output->reader_left = result == -EPIPE;
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

/* With --json a note is a JSON value of its own, for programs that read standard error. */
static void note_json(struct cli *cli, struct slice line)
{
	struct buf text = { 0 };
	struct json json;

	json_begin(&json, &text);
	json_object(&json);
	json_key(&json, "note");
	json_text(&json, line);
	json_end(&json);
	buf_add_byte(&text, '\n');
	cli_tell(cli, buf_slice(&text));
	buf_free(&text);
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
	/* Parts may have been escaped already; escaping again changes nothing. */
	text_escape(&escaped, buf_slice(&line), TEXT_KEEP_NEWLINE);
	if (cli->err.style == STYLE_JSON) {
		note_json(cli, buf_slice(&escaped));
	} else {
		buf_add_byte(&escaped, '\n');
		cli_tell(cli, buf_slice(&escaped));
	}
	buf_free(&escaped);
	buf_free(&line);
}

void cli_note_stuck(struct cli *cli)
{
	cli_note(cli, "the disk of the store is full: this answer comes from memory, and some of it may not be on "
		"disk; see titan status");
}

void load_explain(struct cli *cli, struct slice text, const char *source, const struct dag_spot *spot)
{
	struct buf name = { 0 }, shown = { 0 };

	if (cli->err.style == STYLE_JSON) {
		struct error_place place = { .file = source };

		dagline_place(text, spot, &place.line, &place.column);
		error_json(cli, &place);
		cli->error.text[0] = '\0';
		return;
	}
	text_escape(&name, slice_str(source), TEXT_KEEP_NONE);
	dagline_explain(text, buf_cstr(&name), spot, &cli->error, &shown);
	cli_tell(cli, buf_slice(&shown));
	cli->error.text[0] = '\0';
	buf_free(&shown);
	buf_free(&name);
}

enum err cli_refuse_in_job(struct cli *cli, const char *may_not, const char *next)
{
	if (cli->settings.socket == NULL)
		return ERR_NONE;
	error_set(&cli->error, ERR_DENIED, "a job reaches its cluster only through TITAN_SOCKET, so it may not %s", may_not);
	return error_next(&cli->error, "%s", next);
}

bool cli_chatty(const struct cli *cli)
{
	return cli->out.terminal && cli->settings.style == STYLE_HUMAN && !cli->settings.quiet;
}

/* Read an answer up to the end of its line, so that the next question or command doesn't read the rest. */
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
		error_set(&cli->error, ERR_USAGE, "%s must be confirmed, but there is no terminal to ask on", question);
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
	return error_set(&cli->error, ERR_DECLINED, "nothing was changed");
}

bool cli_offer(struct cli *cli, const char *question)
{
	if (cli->settings.yes || cli->settings.no_input || !cli->session->asks)
		return false;
	cli_fail(cli);
	cli->error.text[0] = '\0';
	cli_tell(cli, slice_str(question));
	cli_tell(cli, slice_str("? [y/N] "));
	return answered_yes(cli->session->in_fd);
}
