/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names and texts of the reasons of dead letters. */
#include "proto/dead.h"

static const struct {
	const char *name, *text;
} reasons[DEAD_COUNT] = {
	[DEAD_NONE] = { "none", "" },
#define DEAD(NAME, name, text) [DEAD_##NAME] = { #name, text },
#include "proto/dead.def"
#undef DEAD
};

const char *dead_name(uint64_t reason)
{
	return reasons[reason < DEAD_COUNT ? reason : DEAD_NONE].name;
}

const char *dead_text(uint64_t reason)
{
	return reasons[reason < DEAD_COUNT ? reason : DEAD_NONE].text;
}
