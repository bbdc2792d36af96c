/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Acts: what people and jobs did, a row each, in the turn in which it was done. core_step asks for the words before and
 * behind each step that people and jobs ask for, so no verb has to think of it. A request that is refused, or that changes
 * nothing, is no act.
 */
#ifndef TITAN_CORE_ACTS_ACTS_H
#define TITAN_CORE_ACTS_ACTS_H

#include "core/state.h"

/* acts.c */
void acts_before(struct core *core, const struct core_input *input);
void acts_after(struct core *core, const struct core_input *input, uint64_t changed);    /* as the step returned */
void acts_flush(struct core *core);

/* acts_end.c */
enum err load_act(struct core *core, const struct row_act *row, struct error *error);    /* the latest, or several in order */
enum err acts_loaded(const struct core *core, struct error *error);
void acts_check(const struct core *core);
void acts_free(struct core *core);

/* acts_words.c */
#define ACT_WORDS_MAX 256                /* bytes of what was before, or is after; more is cut */

struct act_words {
	uint64_t run;                    /* that it is done to; 0: none, or one that begins with it */
	struct slice verb;               /* lower case */
	struct slice reason;
};

void act_words(const struct core_input *input, struct buf *verb, struct act_words *ret);
void act_target_words(const struct core_input *input, uint64_t run, struct buf *out);
/* The target as it is now; nothing: it isn't there. */
void act_state_words(struct core *core, const struct core_input *input, uint64_t run, struct buf *out);
/* What the request said besides, and no state shows. */
void act_detail_words(const struct core_input *input, struct buf *out);

#endif
