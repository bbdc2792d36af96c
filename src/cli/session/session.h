/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs commands with given input and output: those of a process, of a line in the REPL, or of a test. A session runs
 * any number of commands one after another. No command ends the process, leaves a signal blocked or keeps state for the
 * next one. But up, master and worker leave processes behind, and dash takes over the terminal.
 */
#ifndef TITAN_CLI_SESSION_H
#define TITAN_CLI_SESSION_H

#include "base/buf.h"

struct sink {
	int (*write_cb)(void *arg, const void *data, size_t len); /* writes all of the data; returns 0 or -errno */
	void *arg;
	bool terminal;                   /* output goes to a terminal */
	bool lines;                      /* that terminal only takes lines: nothing can be drawn over what it shows */
	unsigned (*columns_cb)(void *arg);       /* returns the width of that terminal; 0, or no function: unknown */
};

struct session {
	struct sink out, err;
	int in_fd;                       /* typed or piped input; -1: none */
	bool asks;                       /* a person can answer questions */
	bool utf8;                       /* both outputs of the session can show UTF-8 */
	bool interrupts;                 /* Ctrl-C ends the running command, never this process */
	bool expanded;                   /* print each field of a row on a line of its own */
};

/* Use standard input, output and error of this process, and set its locale. */
void session_of_process(struct session *session);
/* Run one command with the arguments of main(); argv[0] is ignored. Return its exit status. */
int session_run(struct session *session, int argc, char **argv);

/* Kinds of names that the last word can be, and that only the master or the file system knows. */
enum complete_of {
	COMPLETE_NONE, COMPLETE_FILES, COMPLETE_DIRECTORIES, COMPLETE_CLUSTERS, COMPLETE_REMOTES,
	COMPLETE_RUNS, COMPLETE_LIVE_RUNS, COMPLETE_FAILED_RUNS, COMPLETE_GATES, COMPLETE_DEAD, COMPLETE_WORKERS,
	COMPLETE_POOLS, COMPLETE_SCHEDULES, COMPLETE_LOCKS, COMPLETE_GROUPS, COMPLETE_TENANTS, COMPLETE_TOKENS, COMPLETE_TOPICS,
	COMPLETE_ASSETS,
	COMPLETE_KEYS, /* keys of values, with their namespaces */
	COMPLETE_JOBS, /* names of the jobs of the run that completion.about names */
};

struct completion {
	struct buf words; /* "WORD" or "WORD<tab>HELP", one per line: the completions that the tables know */
	enum complete_of of;             /* the kind of names that the caller must add */
	bool jobs;                       /* if names of runs are added, RUN/JOB is allowed too */
	const char *begun;               /* the part of the last word to complete; points into the words given */
	const char *front;               /* text before the completed part in the same word, such as --file= */
	size_t front_len;
	const char *about;               /* the command's first argument, RUN or RUN/JOB; NULL: not typed yet */
	const char *cluster;             /* the cluster that the words name; NULL: none */
};

/*
 * Complete the last word: verbs, options, their choices, and words of a command's pattern. words[0] is the first word
 * after "titan". complete_add (cli/ask/complete_names.h) adds the names that only a master knows.
 */
void session_complete(const char *const *words, size_t count, struct completion *ret);
void completion_free(struct completion *completion);

#endif
