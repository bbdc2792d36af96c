/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the model. */
#ifndef TITAN_TUI_MODEL_INTERNAL_H
#define TITAN_TUI_MODEL_INTERNAL_H

#include "tui/model.h"

/* Does a row make an event? Rows of a snapshot don't, those of a delta do. */
enum change { CHANGE_QUIET, CHANGE_TOLD };

void model_put_run(struct model *model, const struct rec_run_row *row, enum change change, int64_t now_ms);
void model_put_worker(
	struct model *model, const struct rec_worker_row *row, enum change change, int64_t now_ms);
void model_put_job(struct model *model, const struct rec_job_row *row, enum change change, int64_t now_ms);
/* Count the totals anew. */
void model_count(struct model *model);
void model_count_letters(const struct model *model, struct totals *totals);
void model_free_run(struct tui_run *run);
void model_free_worker(struct tui_worker *worker);
void model_free_gates(struct model *model);
void model_free_letters(struct model *model);
/* Remove runs and workers that the latest snapshot didn't have. */
void model_sweep(struct model *model);
/* The one shared copy of a name; NULL for an empty one. */
const struct slice *model_name(struct model *model, struct slice name);
void model_tell(struct model *model, int64_t at_ms, const struct state_info *look, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* The text escaped, cut to size, with a NUL. */
const char *model_plain(struct slice text, char *out, size_t size);

#endif
