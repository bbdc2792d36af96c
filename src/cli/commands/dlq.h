/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the parts of titan dlq. */
#ifndef TITAN_CLI_DLQ_H
#define TITAN_CLI_DLQ_H

#include "cli/session/cli.h"
#include "proto/message.h"

/* Ask for the dead letter of the job RUN/JOB (target), and for the specification of that job. */
enum err dead_letter_ask(struct cli *cli, const char *target, struct rec_dead_row *ret_dead_letter, struct rec_job_spec *ret_spec);

/* dlq_edit.c: titan dlq requeue JOB --edit */
int dlq_edit(struct cli *cli);

#endif
