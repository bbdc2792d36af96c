/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reasons.def as an enum: what why_code of a job_row means. 0 means none. */
#ifndef TITAN_PROTO_REASONS_H
#define TITAN_PROTO_REASONS_H

#include <stdint.h>

enum reason {
	REASON_NONE,
#define REASON(NAME, name, text) REASON_##NAME,
#include "proto/reasons.def"
#undef REASON
	REASON_COUNT
};

/* Return name or text of a reason; "none" and "" for unknown numbers. */
const char *reason_name(uint64_t reason);
const char *reason_text(uint64_t reason);

#endif
