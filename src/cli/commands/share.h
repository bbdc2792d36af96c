/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the commands about what jobs share: lists of it, and SET. */
#ifndef TITAN_CLI_SHARE_H
#define TITAN_CLI_SHARE_H

#include "cli/session/cli.h"
#include "cli/show/records.h"

const char *share_verb(struct cli *cli);                 /* the command's second word */
bool share_named(struct cli *cli, const char *verb);     /* it is this one, and a name follows */
int share_usage(struct cli *cli, const char *words);
/* add_cb: a page's rows as cells; returns how many. */
int share_list(struct cli *cli, enum query_what what, const struct column *columns, size_t column_count,
	       size_t (*add_cb)(struct records *records, const struct msg_snapshot *page), const char *none);
/* What an act says to programs: its name, and how much it changed. To be begun before the act: a template may be wrong. */
enum err share_changed_begin(struct cli *cli, struct records *records);
void share_changed(struct cli *cli, struct records *records, struct slice name, uint64_t count);
/* SET for the object that is named; "what" is said to people when it is done. */
int share_set(struct cli *cli, struct msg_set *set, const char *what);

#endif
