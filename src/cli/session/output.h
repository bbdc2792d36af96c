/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a command says, and the one question that it asks a person. Data goes to standard output, everything else
 * to standard error.
 */
#ifndef TITAN_CLI_OUTPUT_H
#define TITAN_CLI_OUTPUT_H

#include "cli/session/cli.h"

struct dag_spot;

/* The error on standard error, escaped, or as one JSON value with --json; its exit status. */
int cli_fail(struct cli *cli);
/*
 * To standard output; empties the buffer. When that is gone nothing more is printed, whatever waits or asks from then on
 * returns an error, and the command fails. why: what to say of it; NULL: that it can't be written to.
 */
void cli_print(struct cli *cli, struct buf *out);
void cli_print_or(struct cli *cli, struct buf *out, const struct error *why);
void cli_tell(struct cli *cli, struct slice text);       /* to standard error, as it is; also with -q */
/* A line on standard error, escaped, unless -q. */
void cli_note(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* cli->error with its place, on standard error; cli_fail has nothing to add then. */
void load_explain(struct cli *cli, struct slice text, const char *source, const struct dag_spot *spot);
/*
 * For commands that go by a cluster's directory. A job knows none, and the default one would be another cluster's:
 * ERR_DENIED inside a job, unless -C or TITAN_STATE names a cluster. may_not: "check the store"; next: the command.
 */
enum err cli_refuse_in_job(struct cli *cli, const char *may_not, const char *next);
/* -y, or a person's yes on the terminal; ERR_USAGE where nobody can be asked, ERR_INTERRUPTED for a no. */
enum err cli_confirm(struct cli *cli, const char *question);
/* What was shown is from the memory of a master that can't write. */
void cli_note_stuck(struct cli *cli);
bool cli_chatty(const struct cli *cli);                  /* human style, standard output a terminal, no -q */

#endif
