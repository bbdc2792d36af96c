/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The record of decisions by people on gates and on jobs in state unknown. */
#ifndef TITAN_CLI_DECISIONS_H
#define TITAN_CLI_DECISIONS_H

#include "cli/ask/select.h"
#include "cli/commands/listing.h"
#include "cli/session/cli.h"

extern const struct listing_options approvals_options; /* the list options of titan approvals, for its two lists */
/* Print the decisions on a run, a job or a fan-out; run 0: of all runs. */
enum err decisions_list(struct cli *cli, const struct selector *selector);
/* Get the decisions on one job, newest first. */
enum err decisions_of(struct cli *cli, const struct selector *selector, struct rec_decision **ret, size_t *ret_count);
struct slice decision_text(const struct rec_decision *decision, struct arena *arena);

/* The bytes in hexadecimal, at most the first most of them. */
struct slice hex_text(struct arena *arena, struct slice bytes, size_t most);
bool hex_bytes(struct slice text, uint8_t *ret_bytes);

#endif
