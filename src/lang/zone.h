/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The changes of a time zone, in the form that schedules store: read from this machine's zone files when a schedule is
 * added.
 */
#ifndef TITAN_LANG_ZONE_H
#define TITAN_LANG_ZONE_H

#include "base/arena.h"
#include "proto/error.h"

/* Is this the name of a zone? Without zone files any well-formed name is accepted. */
bool zone_may_be(struct slice name);
/* Compile the zone's changes from ten years ago to the end of 2099 (see base/cron.h); empty for UTC. */
enum err zone_compile(struct slice name, struct arena *arena, struct slice *ret, struct error *error);

#endif
