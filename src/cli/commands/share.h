/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the commands about what jobs share: lists, and SET. */
#ifndef TITAN_CLI_SHARE_H
#define TITAN_CLI_SHARE_H

#include "cli/session/cli.h"
#include "cli/show/records.h"

/* Print a list, page by page. add_cb: add a page's rows as cells, and return their number. */
int share_list(struct cli *cli, enum query_what what, const struct column *columns, size_t column_count,
	       size_t (*add_cb)(struct records *records, const struct msg_snapshot *page), const char *none);
/* Print all columns of the one object of that list that the command names: its first cell is the name. */
int share_show(struct cli *cli, enum query_what what, const struct column *columns, size_t column_count,
	       size_t (*add_cb)(struct records *records, const struct msg_snapshot *page));
int share_show_row(struct cli *cli, const struct records *records);      /* the same of rows that were asked for */
/*
 * Prepare the output for programs: the object's name, and how much changed. Call it before the act, so that a wrong
 * template is refused before anything changes.
 */
enum err share_changed_begin(struct cli *cli, struct records *records);
void share_changed(struct cli *cli, struct records *records, struct slice name, uint64_t count);
/* SET the object that is named, then print what: a word for people that says what was done. */
int share_set(struct cli *cli, struct msg_set *set, const char *what);
int share_remove(struct cli *cli, enum object_kind kind, const char *what);

#endif
