/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dead.def as an enum: why a job has a dead letter. 0 means none. */
#ifndef TITAN_PROTO_DEAD_H
#define TITAN_PROTO_DEAD_H

#include <stdint.h>

enum dead_reason {
	DEAD_NONE,
#define DEAD(NAME, name, text) DEAD_##NAME,
#include "proto/dead.def"
#undef DEAD
	DEAD_COUNT
};

/* Return name or text of a reason of dead letters; "none" and "" for unknown numbers. */
const char *dead_name(uint64_t reason);
const char *dead_text(uint64_t reason);

#endif
