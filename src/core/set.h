/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Acts on objects that aren't runs. */
#ifndef TITAN_CORE_SET_H
#define TITAN_CORE_SET_H

#include "core/state.h"

/* set.c */
uint64_t set_step(struct core *core, const struct core_input *input);

#endif
