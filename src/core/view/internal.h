/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that only the files of this folder call. */
#ifndef TITAN_CORE_VIEW_INTERNAL_H
#define TITAN_CORE_VIEW_INTERNAL_H

#include "core/state.h"

/* view_share.c */
uint64_t waiting_at(const struct bound *bound);          /* how many ready jobs wait at the bound */

#endif
