/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the commands that list gates and decide on them. */
#ifndef TITAN_CLI_APPROVALS_H
#define TITAN_CLI_APPROVALS_H

#include "cli/session/cli.h"
#include "cli/show/records.h"

/* The rows of titan approvals. */
void gate_rows_begin(struct records *records, struct arena *arena);
void gate_rows_add(struct records *records, const struct rec_job_row *job);

/* Approve all gates that the arguments stand for, after a question. Return the exit status. */
int approve_many(struct cli *cli, const struct msg_act *act);

#endif
