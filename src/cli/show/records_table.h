/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows for people: aligned tables, and lines "key  value". Included by records.c and its neighbours only. */
#ifndef TITAN_CLI_RECORDS_TABLE_H
#define TITAN_CLI_RECORDS_TABLE_H

#include "cli/show/records.h"

#define TABLE_GAP 2                      /* spaces between two columns */

size_t table_last(const struct records *records);          /* returns the last column that has a heading */
void table_begin(struct printing *printing, const struct records *records, struct buf *out);
void table_rows(const struct printing *printing, const struct records *records, struct buf *out);
void table_fields(const struct records *records, size_t row, const struct look *look, struct buf *out);

/*
 * Choose which of the measured columns are shown in a terminal of so many columns, and how wide they are. Sets
 * printing->widths and printing->left_out. Only a terminal narrower than two characters is too narrow.
 */
void table_fit(struct printing *printing, const struct records *records);

#endif
