/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that only the files of checks call. */
#ifndef TITAN_CORE_CHECK_H
#define TITAN_CORE_CHECK_H

#include "core/state.h"

/* check_bound.c */
void check_ready(const struct core *core);

#endif
