/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A time zone's changes, as a schedule keeps them: taken from this machine's zone files when it is added. */
#ifndef TITAN_LANG_ZONE_H
#define TITAN_LANG_ZONE_H

#include "base/arena.h"
#include "proto/error.h"

/* Whether it is the name of a zone; without zone files any that looks like one. */
bool zone_may_be(struct slice name);
/* From ten years ago to the end of 2099 (base/cron.h); nothing for UTC. */
enum err zone_compile(struct slice name, struct arena *arena, struct slice *ret, struct error *error);

#endif
