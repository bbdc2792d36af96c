/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Commands from a file or a pipe: there is no prompt, and the first error ends the script. Each command runs as soon as
 * it is complete.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/repl/repl_internal.h"

struct script {
	struct repl *repl;
	struct buf text;                 /* text that was read but hasn't run yet */
	uint64_t line;                   /* line number at which that text begins */
	int status;                      /* exit status of the first command that failed */
	bool stopped;
};

static uint64_t lines_in(const uint8_t *text, size_t len)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	return lines;
}

static void failed(struct script *script, uint64_t line, int status)
{
	struct repl *repl = script->repl;

	if (script->status == 0)
		script->status = status;
	if (repl->options->keep_going) {
		repl_say(repl, "titan: the command on line %llu ended with exit status %d\n", (unsigned long long)line, status);
		return;
	}
	repl_say(repl, "titan: the script stopped at line %llu, whose command ended with exit status %d\n   try: titan repl -k, which goes on\n",
		 (unsigned long long)line, status);
	script->stopped = true;
}

/* Run the first command of the text. False: it isn't complete. */
static bool run_first(struct script *script, bool ended)
{
	struct repl *repl = script->repl;
	struct arena arena = { 0 };
	struct typed_line line;
	char *typed;
	int status;
	bool whole = typed_take(buf_cstr(&script->text), &arena, &line);
	uint64_t number = script->line + lines_in(script->text.data, line.skipped);

	/* The text ends in the middle of a command or line, and more of it is still to come. */
	if (!ended && (!whole || script->text.data[line.len - 1] != '\n')) {
		arena_free(&arena);
		return false;
	}
	if (!whole) {
		repl_say(repl, "titan: line %llu: a quote, a brace or a <<WORD input isn't closed\n", (unsigned long long)number);
		failed(script, number, err_exit_status(ERR_USAGE));
		script->stopped = true;
	} else {
		typed = mem_text(slice_make(script->text.data + line.skipped, line.len - line.skipped));
		status = repl_do(repl, &line, typed);
		mem_free(typed);
		if (status != 0)
			failed(script, number, status);
	}
	script->line += lines_in(script->text.data, line.len);
	buf_drop(&script->text, line.len);
	arena_free(&arena);
	return whole;
}

/* Run all complete commands. A command ends with its line, so the last line waits for its newline. */
static void run_whole(struct script *script, bool ended)
{
	while (!script->stopped && !script->repl->over && script->text.len > 0 &&
	       (ended || memchr(script->text.data, '\n', script->text.len)))
		if (!run_first(script, ended))
			return;
}

int script_run(struct repl *repl)
{
	struct script script = { .repl = repl, .line = 1 };
	int fd = repl->session->in_fd;

	repl->inner.in_fd = -1;          /* commands mustn't read the rest of the script as their input */
	repl->inner.asks = false;
	while (!script.stopped && !repl->over) {
		ssize_t got = read(fd, buf_reserve(&script.text, 65536), 65536);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			repl_say(repl, "titan: can't read the script: %s\n", strerror(errno));
			script.status = err_exit_status(ERR_SYSTEM);
		}
		script.text.len += got > 0 ? (size_t)got : 0;
		if (got > 0 && memchr(buf_cstr(&script.text), '\0', script.text.len)) {
			repl_say(repl, "titan: the script contains a zero byte, so it isn't text\n");
			script.status = err_exit_status(ERR_USAGE);
			break;
		}
		run_whole(&script, got <= 0);
		if (got <= 0)
			break;
	}
	buf_free(&script.text);
	return script.status;
}
