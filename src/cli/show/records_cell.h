/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes one cell of a record in the styles that records.c prints. */
#ifndef TITAN_CLI_RECORDS_CELL_H
#define TITAN_CLI_RECORDS_CELL_H

#include "cli/show/json.h"
#include "cli/show/look.h"
#include "cli/show/records.h"

void cell_plain(const struct record_cell *cell, struct buf *out);       /* Write the exact value, without decoration. */
/* Write the cell as people see it, but without colours. A bar is made to fit this width; no other cell is. */
void cell_human(const struct look *look, const struct record_cell *cell, size_t width, struct buf *out);
void cell_json(const struct record_cell *cell, struct json *json);
bool cell_has_nothing(const struct record_cell *cell);

#endif
