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

/* Is the command refused in the console, because it never ends or is the console itself? */
static bool is_refused(const char *const *words, size_t count)
{
	return strcmp(words[0], "repl") == 0 || strcmp(words[0], "master") == 0 ||
	       (strcmp(words[0], "worker") == 0 && (count < 2 || strcmp(words[1], "start") == 0 || words[1][0] == '-'));
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

static int run_words(struct session *session, const char *cluster, bool json, const struct typed_line *line)
{
	char **argv = mem_array(line->count + 6, sizeof(*argv));
	bool styled = false;
	int argc = 0, status, in_fd = session->in_fd;

	argv[argc++] = (char *)"titan";
	if (cluster) {
		argv[argc++] = (char *)"-C";
		argv[argc++] = (char *)cluster;
	}
	for (size_t i = 0; i < line->count; i++)
		styled |= chooses_style(line->words[i]);
	if (json && !styled)
		argv[argc++] = (char *)"--json";
	/* Skip a typed "titan" in front: people paste whole command lines. */
	for (size_t i = line->count > 1 && strcmp(line->words[0], "titan") == 0; i < line->count; i++)
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
	char *copy = mem_strdup(text);
	int status;

	mem_free(repl->last);
	repl->last = copy;
	if (is_refused(line->words, line->count)) {
		repl_say(repl, "titan: %s doesn't run in the console, because the console would never get its prompt back\n   try: !titan %s\n",
			 line->words[0], line->words[0]);
		return err_exit_status(ERR_USAGE);
	}
	repl->inner.expanded = repl->expanded;
	status = run_words(&repl->inner, repl->cluster, repl->json, line);
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
	if (line->count == 1 && (strcmp(line->words[0], "exit") == 0 || strcmp(line->words[0], "quit") == 0)) {
		repl->over = true;
		return 0;
	}
	return run_command(repl, line, text);
}

int repl_run_text(struct session *session, const char *cluster, const char *text, bool *ret_whole)
{
	struct arena arena = { 0 };
	struct typed_line line;
	int status = 0;

	*ret_whole = typed_take(text, &arena, &line) && line.kind == TYPED_COMMAND && !is_refused(line.words, line.count);
	if (*ret_whole)
		status = run_words(session, cluster, false, &line);
	arena_free(&arena);
	return status;
}
