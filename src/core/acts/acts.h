/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Acts: what people and jobs did, one row each, put in the turn in which it was done. core_step takes the target's
 * state in words before and after each request, so no verb has to do that itself. A refused request, or one that
 * changes nothing, is no act.
 */
#ifndef TITAN_CORE_ACTS_ACTS_H
#define TITAN_CORE_ACTS_ACTS_H

#include "core/state.h"

/* acts.c */
void acts_before(struct core *core, const struct core_input *input);
/*
 * Check that the target is in the state that the sender of the request expects; call acts_before first. The words of the
 * target's state must be the expected words, or begin with them and go on with a comma.
 */
enum err acts_expected(const struct core *core, const struct core_input *input, struct error *error);
/* Record the act after its step. changed: what the step returned. */
void acts_after(struct core *core, const struct core_input *input, uint64_t changed);
void acts_flush(struct core *core);

/* acts_end.c */
/* Load an act: the latest one alone, or each of several in order. */
enum err load_act(struct core *core, const struct row_act *row, struct error *error);
enum err acts_loaded(const struct core *core, struct error *error);
void acts_check(const struct core *core);
void acts_free(struct core *core);

/* acts_words.c */
#define ACT_WORDS_MAX 256                /* most bytes of a state in words; longer text is cut */

struct act_words {
	uint64_t run;                    /* number of the run acted on; 0: none, or the act begins the run */
	struct slice verb;               /* the act's verb in lower case */
	struct slice reason;
};

void act_words(const struct core_input *input, struct buf *verb, struct act_words *ret);
void act_target_words(const struct core_input *input, uint64_t run, struct buf *out);
/* Describe the target's present state; add nothing if it doesn't exist. */
void act_state_words(struct core *core, const struct core_input *input, uint64_t run, struct buf *out);
/* Add details of the request that no state shows. */
void act_detail_words(const struct core_input *input, struct buf *out);

#endif
