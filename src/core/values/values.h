/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values: keys and bytes that jobs and people keep in the namespace of a run, of a definition or of the cluster. All are
 * in memory and durable. Each request that changes some gets the next revision; its number is the version of each key
 * that it changed, so no two changes share a version. The generation of the store is in the upper bits of a revision:
 * after a restore all revisions are higher than before.
 */
#ifndef TITAN_CORE_VALUES_VALUES_H
#define TITAN_CORE_VALUES_VALUES_H

#include "core/state.h"
#include "core/view/view.h"

#define REVISION_BITS 40                 /* bits of a revision that count; the generation - 1 is above them */

/* space.c */
void values_free(struct core *core);
/* The run is pruned: forget its values and delete their rows. Returns how many rows that are. */
uint64_t values_forget_run(struct core *core, uint64_t run);
uint64_t values_hash(const struct core *core);
void values_check(const struct core *core);

/* request.c */
uint64_t values_step(struct core *core, const struct core_input *input);
/* Is the request an act: does a person change values of a definition or of the cluster? */
bool values_is_act(const struct core_input *input);
/* Write the keys of the request, or the version of the only one, for an act. */
void values_target_words(const struct core_input *input, struct buf *out);
void values_state_words(const struct core *core, const struct core_input *input, struct buf *out);

/* repeated.c: changes with a request key */
void repeated_free(struct core *core);
enum err load_value_request(struct core *core, const struct row_value_request *row, struct error *error);

/* asset.c */
enum err asset_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, uint64_t *ret_version, struct error *error);
void asset_words(const struct core *core, const struct msg_set *set, struct buf *out);
enum err load_asset(struct core *core, const struct row_asset *row, struct error *error);
void assets_free(struct core *core);
uint64_t assets_hash(const struct core *core);

/* end.c: values that end by themselves, loading, the end of a turn */
void value_ended(struct core *core, uint64_t stamp);
enum err load_value_space(struct core *core, const struct row_value_space *row, struct error *error);
enum err load_value(struct core *core, const struct row_value *row, struct error *error);
void values_resume(struct core *core);
void values_flush(struct core *core);

#endif
