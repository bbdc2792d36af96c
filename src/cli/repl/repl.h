/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan repl: reads commands from a terminal or a script and runs them in sessions of this process. Commands are
 * written as in a shell, without the word titan.
 */
#ifndef TITAN_CLI_REPL_H
#define TITAN_CLI_REPL_H

#include "base/statedir.h"
#include "cli/session/clusters.h"
#include "cli/session/session.h"

struct repl_options {
	const char *cluster;             /* the cluster's name as typed; NULL: the default cluster */
	const char *host, *key_file;     /* the options -H and --key; NULL: not given */
	bool stays;                      /* \c can't choose another cluster */
	bool json;                       /* commands print JSON */
	bool quiet;                      /* no notices */
	bool keep_going;                 /* a script continues after an error */
};

/* Run the console and return the exit status: in a script, that of the first command that failed. */
int repl_run(struct session *session, const struct repl_options *options, const struct statedir *statedir,
	     const struct remote_cluster *remote);

/*
 * A console whose commands come one at a time, such as the dashboard's command line. It keeps the last command and the
 * settings of commands with a backslash.
 */
struct repl;

enum repl_way {                          /* how a command wants to run */
	REPL_NOTHING,                    /* not at all: the text is empty */
	REPL_OPEN,                       /* not at all: a quote or a brace isn't closed */
	REPL_AT_ONCE,                    /* it changes a setting of the console, and ends at once */
	REPL_LINES,                      /* it prints lines, and can take any time */
	REPL_TERMINAL                    /* it needs the terminal: it is or starts a shell, an editor or the dashboard */
};

struct repl *repl_new(struct session *session, const struct repl_options *options, const struct statedir *statedir,
		      const struct remote_cluster *remote);
void repl_delete(struct repl *repl);
enum repl_way repl_way_of(const char *text);
/* Run the first command of the text with the input and output of this session. Return its exit status. */
int repl_one(struct repl *repl, struct session *session, const char *text);
/* Note the text as the last command, because another process runs it. */
void repl_remember(struct repl *repl, const char *text);
bool repl_is_over(const struct repl *repl);      /* was the console's end typed? */

#endif
