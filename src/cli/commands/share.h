/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the commands about tenants and groups: lists, and SET requests. */
#ifndef TITAN_CLI_SHARE_H
#define TITAN_CLI_SHARE_H

#include "cli/session/cli.h"
#include "cli/show/records.h"

/* Print a list, page by page. add_cb: add a page's rows as cells, and return their number. */
int share_list(struct cli *cli, enum query_what what, const struct column *columns, size_t column_count,
	       size_t (*add_cb)(struct records *records, const struct msg_snapshot *page), const char *none);
/* Print all columns of the one object that the command names; the first cell of a row is the object's name. */
int share_show(struct cli *cli, enum query_what what, const struct column *columns, size_t column_count,
	       size_t (*add_cb)(struct records *records, const struct msg_snapshot *page));
/* Like share_show, with rows that were already read. */
int share_show_row(struct cli *cli, const struct records *records);
/*
 * Prepare the output for programs: the object's name, and how much changed. Call it before the act, so that a wrong
 * template is refused before anything changes.
 */
enum err share_changed_begin(struct cli *cli, struct records *records);
void share_changed(struct cli *cli, struct records *records, struct slice name, uint64_t count);
/* Send SET for the named object, then print the result. what: the result for people, such as "changed". */
int share_set(struct cli *cli, struct msg_set *set, const char *what);
int share_remove(struct cli *cli, enum object_kind kind, const char *what);

#endif
