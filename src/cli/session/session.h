/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where commands come from and what they say goes to: a process with its three streams, a line of the REPL, a test.
 * A session runs any number of commands, one after the other. None ends the process, leaves a signal blocked or
 * remembers anything of the one before; up, master and worker leave processes, and dash takes the terminal.
 */
#ifndef TITAN_CLI_SESSION_H
#define TITAN_CLI_SESSION_H

#include "base/buf.h"

struct sink {
	int (*write_cb)(void *arg, const void *data, size_t len);        /* all of it; 0, or -errno */
	void *arg;
	bool terminal;                   /* a person looks at it as it comes */
	unsigned (*columns_cb)(void *arg);       /* of that terminal now; 0, or NULL: unknown */
};

struct session {
	struct sink out, err;
	int in_fd;                       /* what a person types, or a file that is piped in; -1: nothing */
	bool asks;                       /* there is a person to answer questions */
	bool utf8;                       /* both sinks take it */
};

/* Standard input, output and error of this process, whose locale it sets. */
void session_of_process(struct session *session);
/* One command, as main() gets it: argv[0] is skipped. Its exit status. */
int session_run(struct session *session, int argc, char **argv);
/*
 * What the last of these words could become: verbs, options, their choices and the words of a pattern, one a line.
 * words[0] is the first behind "titan". Names of runs and jobs are the caller's: they need a master.
 */
void session_complete(const char *const *words, size_t count, struct buf *out);

#endif
