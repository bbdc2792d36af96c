/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the parts of the console. */
#ifndef TITAN_CLI_REPL_REPL_INTERNAL_H
#define TITAN_CLI_REPL_REPL_INTERNAL_H

#include "cli/ask/steady_link.h"
#include "cli/repl/typed.h"
#include "cli/repl/notice.h"
#include "cli/repl/repl.h"

struct repl {
	struct session *session;         /* the session in which the console itself reads and writes */
	struct session inner; /* the session in which commands run: it writes to the same place, or to the file of \o */
	const struct repl_options *options;
	struct statedir statedir;
	struct remote_cluster remote;    /* the cluster's master, if it is on another machine */
	char *cluster;                   /* name of the cluster, from \c or -C; NULL: the default cluster */
	const char *host, *key_file;     /* the options -H and --key, until \c; NULL: not given */
	bool expanded, timing, json;     /* \x, \timing, \json */
	int out_fd;                      /* descriptor of the file of \o, or -1 */
	char *last;                      /* text of the last command, for \watch and \e; NULL: none yet */
	char *edited;                    /* text that the editor of \e returned, to be run next */
	bool over;                       /* \q was typed */
	int signals;                     /* descriptor that delivers the blocked signals, or -1 in a script */
	bool moved;                      /* \c has changed the cluster, so the connection must be opened anew */
};

/* repl.c */
void repl_init(struct repl *repl, struct session *session, const struct repl_options *options, const struct statedir *statedir);
void repl_free(struct repl *repl);
/* Run one command; text is what was typed. */
int repl_do(struct repl *repl, const struct typed_line *line, const char *text);
/* Print on standard error, or on standard output if out is set, without escaping. */
void repl_say(struct repl *repl, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Run a program and wait for it. Return its exit status. */
int repl_spawn(struct repl *repl, char *const *argv);
/* Wait this long. False: a signal came. */
bool repl_pause(struct repl *repl, int64_t ms);

/* backslash.c */
int backslash_do(struct repl *repl, const struct typed_line *line);
void backslash_list(struct buf *out);
/* List the backslash commands that begin with the text, one per line. */
void backslash_complete(const char *begun, struct buf *out);

/* terminal.c, script.c */
int terminal_run(struct repl *repl);
int script_run(struct repl *repl);

#endif
