/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the parts of titan dlq. */
#ifndef TITAN_CLI_DLQ_H
#define TITAN_CLI_DLQ_H

#include "cli/ask/select.h"
#include "cli/commands/listing.h"
#include "cli/session/cli.h"
#include "proto/message.h"

struct dead_letters {                         /* dead letters in the order received, that of the newest job first */
	struct rec_dead_row *at;
	size_t count, room;
};

/* Ask for dead letters. Run 0 means all runs, an empty job all jobs. */
enum err dead_letters_ask(struct cli *cli, const struct selector *selector, struct dead_letters *dead_letters);
/* Ask for the dead letter of the job RUN/JOB (target), and for the specification of that job. */
enum err dead_letter_ask(struct cli *cli, const char *target, struct rec_dead_row *ret_dead_letter, struct rec_job_spec *ret_spec);
struct slice dead_letter_address(const struct rec_dead_row *dead_letter, struct arena *arena);
struct slice dead_letter_outcome(const struct rec_dead_row *dead_letter, struct arena *arena);

/* dlq_ls.c: titan dlq ls */
extern const struct listing_options dlq_options;
int dlq_ls(struct cli *cli);

/* dlq_edit.c: titan dlq requeue JOB --edit */
int dlq_edit(struct cli *cli);

#endif
