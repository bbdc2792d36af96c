/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs single commands for terminal, script and dashboard. */
#include "cli/repl/repl_internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "proto/commands.h"

void repl_init(struct repl *repl, struct session *session, const struct repl_options *options, const struct statedir *statedir)
{
	*repl = (struct repl){
		.session = session, .inner = *session, .options = options, .statedir = *statedir, .out_fd = -1, .signals = -1,
		.json = options->json, .cluster = options->cluster ? mem_strdup(options->cluster) : NULL,
		.host = options->host, .key_file = options->key_file,
	};
}

void repl_free(struct repl *repl)
{
	if (repl->out_fd >= 0)
		close(repl->out_fd);
	mem_free(repl->cluster);
	mem_free(repl->last);
	mem_free(repl->edited);
}

void repl_say(struct repl *repl, const char *format, ...)
{
	struct buf line = { 0 };
	va_list args;

	va_start(args, format);
	buf_addf_args(&line, format, args);
	va_end(args);
	repl->session->err.write_cb(repl->session->err.arg, line.data, line.len);
	buf_free(&line);
}

bool repl_pause(struct repl *repl, int64_t ms)
{
	int64_t until = clock_mono_ns() + ms * NS_PER_MS;
	struct pollfd fd = { .fd = repl->signals, .events = POLLIN };
	struct signalfd_siginfo info;

	for (;;) {
		int64_t left = (until - clock_mono_ns() + NS_PER_MS - 1) / NS_PER_MS;
		int ready = left <= 0 ? 0 : poll(&fd, 1, left > INT32_MAX ? INT32_MAX : (int)left);

		if (ready == 0 && clock_mono_ns() >= until)
			return true;
		if (ready > 0 && read(repl->signals, &info, sizeof(info)) == sizeof(info) && info.ssi_signo != SIGWINCH)
			return false;
	}
}

int repl_spawn(struct repl *repl, char *const *argv)
{
	sigset_t none;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (repl->cluster)
			setenv("TITAN_CLUSTER", repl->cluster, 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0) {
		repl_say(repl, "titan: can't start %s: %s\n", argv[0], strerror(errno));
		return err_exit_status(ERR_SYSTEM);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_shell(struct repl *repl, struct slice command)
{
	const char *shell = getenv("SHELL");
	char *text = mem_text(command);
	char *with[] = { (char *)(shell && shell[0] ? shell : "/bin/sh"), (char[]){ "-c" }, text, NULL };
	int status;

	if (text[strspn(text, " \t")] == '\0')
		with[1] = NULL;          /* ! without a command starts a shell */
	status = repl_spawn(repl, with);
	mem_free(text);
	return status;
}

/* Return 1 if the word titan stands in front, as in a pasted command line. */
static size_t begins_with_titan(const char *const *words, size_t count)
{
	return count > 1 && strcmp(words[0], "titan") == 0;
}

/* Is the command refused in the console, because it never ends or is the console itself? */
static bool is_refused(const char *const *words, size_t count)
{
	return strcmp(words[0], "repl") == 0 || strcmp(words[0], "master") == 0 ||
	       (strcmp(words[0], "worker") == 0 && (count < 2 || strcmp(words[1], "start") == 0 || words[1][0] == '-'));
}

static bool is_end(const struct typed_line *line)
{
	return line->count == 1 && (strcmp(line->words[0], "exit") == 0 || strcmp(line->words[0], "quit") == 0);
}

static bool chooses_style(const char *word)
{
	return strcmp(word, "--json") == 0 || strcmp(word, "--plain") == 0 || strncmp(word, "--format", 8) == 0;
}

/* Put the text into an unnamed file that a command reads as its standard input. */
static int input_fd(struct slice text)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd >= 0 && (io_write_all(fd, text.data, text.len) != 0 || lseek(fd, 0, SEEK_SET) != 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int run_words(struct repl *repl, const struct typed_line *line)
{
	struct session *session = &repl->inner;
	char **argv = mem_array(line->count + 8, sizeof(*argv));
	bool styled = false;
	int argc = 0, status, in_fd = session->in_fd;

	argv[argc++] = (char *)"titan";
	if (repl->host && repl->key_file) {
		argv[argc++] = (char *)"-H";
		argv[argc++] = (char *)repl->host;
		argv[argc++] = (char *)"--key";
		argv[argc++] = (char *)repl->key_file;
	} else if (repl->cluster) {
		argv[argc++] = (char *)"-C";
		argv[argc++] = repl->cluster;
	}
	for (size_t i = 0; i < line->count; i++)
		styled |= chooses_style(line->words[i]);
	if (repl->json && !styled)
		argv[argc++] = (char *)"--json";
	/* Skip a typed "titan" in front: people paste whole command lines. */
	for (size_t i = begins_with_titan(line->words, line->count); i < line->count; i++)
		argv[argc++] = (char *)line->words[i];
	argv[argc] = NULL;
	if (line->has_input)
		session->in_fd = input_fd(line->input);
	status = session_run(session, argc, argv);
	if (line->has_input && session->in_fd >= 0)
		close(session->in_fd);
	session->in_fd = in_fd;
	mem_free(argv);
	return status;
}

static int run_command(struct repl *repl, const struct typed_line *line, const char *text)
{
	int64_t began = clock_mono_ns();
	size_t verb = begins_with_titan(line->words, line->count);
	char *copy = mem_strdup(text);
	int status;

	mem_free(repl->last);
	repl->last = copy;
	if (is_refused(line->words + verb, line->count - verb)) {
		repl_say(repl, "titan: %s doesn't run in the console, because the console would never get its prompt back\n   try: !titan %s\n",
			 line->words[verb], line->words[verb]);
		return err_exit_status(ERR_USAGE);
	}
	repl->inner.expanded = repl->expanded;
	status = run_words(repl, line);
	if (repl->timing)
		repl_say(repl, "Time: %.1f ms\n", (double)(clock_mono_ns() - began) / (double)NS_PER_MS);
	return status;
}

int repl_do(struct repl *repl, const struct typed_line *line, const char *text)
{
	switch (line->kind) {
	case TYPED_EMPTY:
		return 0;
	case TYPED_SHELL:
		return run_shell(repl, line->input);
	case TYPED_BACKSLASH:
		return backslash_do(repl, line);
	case TYPED_COMMAND:
		break;
	}
	if (is_end(line)) {
		repl->over = true;
		return 0;
	}
	return run_command(repl, line, text);
}

/* ---- one command at a time ---- */

struct repl *repl_new(struct session *session, const struct repl_options *options, const struct statedir *statedir,
		      const struct remote_cluster *remote)
{
	struct repl *repl = mem_alloc(sizeof(*repl));

	repl_init(repl, session, options, statedir);
	repl->remote = *remote;
	return repl;
}

void repl_delete(struct repl *repl)
{
	if (repl)
		repl_free(repl);
	mem_free(repl);
}

/* Does the command start an editor, or draw on the whole screen? */
static bool needs_terminal(const struct typed_line *line)
{
	size_t verb = begins_with_titan(line->words, line->count);

	if (strcmp(line->words[verb], "dash") == 0 || (line->count > verb + 1 && strcmp(line->words[verb + 1], "edit") == 0))
		return true;
	for (size_t i = verb; i < line->count; i++)
		if (strcmp(line->words[i], "--edit") == 0)
			return true;
	return false;
}

static enum repl_way way_of(const struct typed_line *line)
{
	switch (line->kind) {
	case TYPED_EMPTY:
		return REPL_NOTHING;
	case TYPED_SHELL:
		return REPL_TERMINAL;
	case TYPED_BACKSLASH:
		if (strcmp(line->words[0], "\\e") == 0)
			return REPL_TERMINAL;
		return strcmp(line->words[0], "\\watch") == 0 ? REPL_LINES : REPL_AT_ONCE;
	case TYPED_COMMAND:
		return is_end(line) ? REPL_AT_ONCE : needs_terminal(line) ? REPL_TERMINAL : REPL_LINES;
	}
	return REPL_NOTHING;
}

enum repl_way repl_way_of(const char *text)
{
	struct arena arena = { 0 };
	struct typed_line line;
	enum repl_way way = typed_take(text, &arena, &line) ? way_of(&line) : REPL_OPEN;

	arena_free(&arena);
	return way;
}

/* Give the commands this session's input and output, but leave them the file of \o. */
static void use_session(struct repl *repl, struct session *session)
{
	struct sink file = repl->inner.out;

	repl->session = session;
	repl->inner = *session;
	if (repl->out_fd >= 0)
		repl->inner.out = file;
}

int repl_one(struct repl *repl, struct session *session, const char *text)
{
	struct arena arena = { 0 };
	struct typed_line line;
	char *edited;
	int status = 0;

	use_session(repl, session);
	if (typed_take(text, &arena, &line))
		status = repl_do(repl, &line, text);
	arena_free(&arena);
	edited = repl->edited;
	repl->edited = NULL;
	if (edited)
		status = repl_one(repl, session, edited);
	mem_free(edited);
	return status;
}

void repl_remember(struct repl *repl, const char *text)
{
	if (text[strspn(text, " \t")] == '\\')
		return;
	mem_free(repl->last);
	repl->last = mem_strdup(text);
}

bool repl_is_over(const struct repl *repl)
{
	return repl->over;
}
