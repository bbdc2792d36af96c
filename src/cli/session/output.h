/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Output of commands, and the yes-or-no question to a person. Data goes to standard output, all other text to standard
 * error.
 */
#ifndef TITAN_CLI_OUTPUT_H
#define TITAN_CLI_OUTPUT_H

#include "cli/session/cli.h"

struct dag_spot;

/* Print cli->error on standard error, escaped, or with --json as a JSON value. Return its exit status. */
int cli_fail(struct cli *cli);
/*
 * Print a buffer to standard output and empty it. After a failed write nothing more is printed there: all functions
 * that wait or ask return an error, and the command fails. why (cli_print_or): the error to report; NULL: "can't be
 * written to".
 */
void cli_print(struct cli *cli, struct buf *out);
void cli_print_or(struct cli *cli, struct buf *out, const struct error *why);
void cli_tell(struct cli *cli, struct slice text); /* Print text on standard error without escaping it, also with -q. */
/* Print a line on standard error, escaped, unless -q. */
void cli_note(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * Print cli->error and its place in the text on standard error, and clear its text so that cli_fail prints nothing
 * more.
 */
void load_explain(struct cli *cli, struct slice text, const char *source, const struct dag_spot *spot);
/*
 * Refuse a command that uses a cluster's directory inside a job (ERR_DENIED): a job doesn't know the directory of its
 * cluster, and the default one may be another cluster's. -C or TITAN_STATE allow it. may_not: such as "check the
 * store"; next: the suggested command.
 */
enum err cli_refuse_in_job(struct cli *cli, const char *may_not, const char *next);
/* Ask a yes-or-no question. -y counts as yes. ERR_USAGE: nobody can be asked; ERR_DECLINED: the answer was no. */
enum err cli_confirm(struct cli *cli, const char *question);
/* Print cli->error, then ask the question. False: the answer was no, or nobody can be asked; then nothing was printed. */
bool cli_offer(struct cli *cli, const char *question);
/* Print a note that the data is from the memory of a master that can't write to its store. */
void cli_note_stuck(struct cli *cli);
bool cli_chatty(const struct cli *cli); /* true: human style, standard output is a terminal, and no -q */

#endif
