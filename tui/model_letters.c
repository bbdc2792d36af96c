/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dead letters of the cluster, one entry for each run that has any: failures that no person has dealt with, also those
 * of runs that are older than the runs in the model. The master's answers arrive in pages; the list changes when the
 * last page is here.
 */
#include "base/mem.h"
#include "tui/model_internal.h"

static void letters_free(struct letters *letters)
{
	for (size_t i = 0; i < letters->count; i++) {
		mem_free((void *)letters->at[i]->name.data);
		mem_free((void *)letters->at[i]->job.data);
		mem_free(letters->at[i]);
	}
	mem_free(letters->at);
	map_free(&letters->by_run);
	*letters = (struct letters){ 0 };
}

void model_free_letters(struct model *model)
{
	letters_free(&model->letters);
	letters_free(&model->letters_next);
}

const struct tui_letter *model_letter(const struct model *model, uint64_t run)
{
	return map_get(&model->letters.by_run, run);
}

static void letter_put(struct letters *letters, const struct rec_dead_row *row)
{
	struct tui_letter *letter = map_get(&letters->by_run, row->run);

	letters->all++;
	if (letter) {
		letter->count++;
		return;
	}
	if (letters->count == letters->cap) {
		letters->cap = letters->cap ? letters->cap * 2 : 16;
		letters->at = mem_resize(letters->at, letters->cap, sizeof *letters->at);
	}
	letter = mem_zalloc(sizeof *letter);
	*letter = (struct tui_letter){
		.run = row->run, .count = 1, .died_ms = row->died_ms, .code = row->code, .index = (uint32_t)row->index,
		.name = slice_make(mem_text(row->run_name), row->run_name.len), .job = slice_make(mem_text(row->name), row->name.len),
		.state = row->state == STATE_TIMED_OUT ? STATE_TIMED_OUT : STATE_FAILED,
		.outcome = row->outcome < OUTCOME_COUNT ? (enum outcome)row->outcome : OUTCOME_NONE,
	};
	letters->at[letters->count++] = letter;
	map_put(&letters->by_run, letter->run, letter);
}

void model_begin_letters(struct model *model)
{
	letters_free(&model->letters_next);
	model->letters_stale = false;
}

bool model_apply_letters(struct model *model, const struct msg_snapshot *msg)
{
	struct letters *next = &model->letters_next;

	for (size_t i = 0; i < msg->dead.n; i++)
		if (msg->dead.at[i].run != 0)
			letter_put(next, &msg->dead.at[i]);
	next->more = msg->cursor != 0;
	if (next->more && next->all < MODEL_LETTERS_MAX)
		return false;
	letters_free(&model->letters);
	model->letters = *next;
	*next = (struct letters){ 0 };
	model_count(model);
	return true;
}

void model_count_letters(const struct model *model, struct totals *totals)
{
	for (size_t i = 0; i < model->letters.count; i++)
		totals->old_failures += !model_run(model, model->letters.at[i]->run);
	totals->more_failures = model->letters.more;
}
