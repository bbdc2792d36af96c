/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs commands with given input and output: the streams of a process, a line of the REPL, a test. A session runs any
 * number of commands, one after the other. No command ends the process, leaves a signal blocked or keeps state for the
 * next one. But up, master and worker leave processes behind, and dash takes over the terminal.
 */
#ifndef TITAN_CLI_SESSION_H
#define TITAN_CLI_SESSION_H

#include "base/buf.h"

struct sink {
	int (*write_cb)(void *arg, const void *data, size_t len); /* writes all of the data; returns 0 or -errno */
	void *arg;
	bool terminal;                   /* output goes to a terminal */
	unsigned (*columns_cb)(void *arg);       /* returns that terminal's current width; 0, or no function: unknown */
};

struct session {
	struct sink out, err;
	int in_fd;                       /* typed or piped input; -1: none */
	bool asks;                       /* a person can answer questions */
	bool utf8;                       /* both sinks can show UTF-8 */
};

/* Use standard input, output and error of this process, and set its locale. */
void session_of_process(struct session *session);
/* Run one command with the arguments of main(); argv[0] is ignored. Return its exit status. */
int session_run(struct session *session, int argc, char **argv);
/*
 * List the completions of the last word, one per line: verbs, options, their choices and words of a command's pattern.
 * words[0] is the first word after "titan". Names of runs and jobs need a master, so the caller must add them.
 */
void session_complete(const char *const *words, size_t count, struct buf *out);

#endif
