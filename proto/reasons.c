/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names and texts of the reasons. */
#include "proto/reasons.h"

static const struct {
	const char *name, *text;
} reasons[REASON_COUNT] = {
	[REASON_NONE] = { "none", "" },
#define REASON(NAME, name, text) [REASON_##NAME] = { #name, text },
#include "proto/reasons.def"
#undef REASON
};

const char *reason_name(uint64_t reason)
{
	return reasons[reason < REASON_COUNT ? reason : REASON_NONE].name;
}

const char *reason_text(uint64_t reason)
{
	return reasons[reason < REASON_COUNT ? reason : REASON_NONE].text;
}
