/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What only the files of this folder call of each other. */
#ifndef TITAN_CORE_VIEW_INTERNAL_H
#define TITAN_CORE_VIEW_INTERNAL_H

#include "core/state.h"

/* view_share.c */
uint64_t waiting_at(const struct bound *bound);          /* view_share.c: how many ready jobs stand there */

#endif
