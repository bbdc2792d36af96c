/* SPDX-License-Identifier: GPL-3.0-or-later */
/* states.def as tables. A move that isn't listed there isn't allowed. */
#include "proto/states.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

const struct state_info state_table[STATE_COUNT] = {
#define STATE(NAME, name, word, glyph, ascii, colour, attribute, kind, fact) \
	[STATE_##NAME] = { #name, word, glyph, ascii, COLOUR_##colour, ATTR_##attribute, KIND_##kind, fact },
#include "proto/states.def"
#undef STATE
};

const struct state_info flag_table[FLAG_COUNT] = {
#define FLAG(NAME, name, word, glyph, ascii, colour, attribute, kind, fact) \
	[FLAG_##NAME] = { #name, word, glyph, ascii, COLOUR_##colour, ATTR_##attribute, KIND_##kind, fact },
#include "proto/states.def"
#undef FLAG
};

const char *const event_names[EVENT_COUNT] = {
#define EVENT(NAME, name, what) [EVENT_##NAME] = #name,
#include "proto/states.def"
#undef EVENT
};

const char *const event_texts[EVENT_COUNT] = {
#define EVENT(NAME, name, what) [EVENT_##NAME] = what,
#include "proto/states.def"
#undef EVENT
};

const struct move_info move_table[MOVE_COUNT] = {
#define MOVE(FROM, EVENT, TO, reason) \
	[MOVE_##FROM##_##EVENT##_##TO] = { STATE_##FROM, EVENT_##EVENT, STATE_##TO, reason },
#include "proto/states.def"
#undef MOVE
};

/* One byte for each move instead of one bit, so that each MOVE row can initialise its own element. */
static const uint8_t allowed[STATE_COUNT][EVENT_COUNT][STATE_COUNT] = {
#define MOVE(FROM, EVENT, TO, reason) [STATE_##FROM][EVENT_##EVENT][STATE_##TO] = 1,
#include "proto/states.def"
#undef MOVE
};

bool state_allows(enum job_state from, enum job_event event, enum job_state to)
{
	return (unsigned)from < STATE_COUNT && (unsigned)event < EVENT_COUNT && (unsigned)to < STATE_COUNT &&
	       allowed[from][event][to] != 0;
}

uint32_t state_targets(enum job_state from, enum job_event event)
{
	uint32_t targets = 0;

	if ((unsigned)from >= STATE_COUNT || (unsigned)event >= EVENT_COUNT)
		return 0;
	for (unsigned to = 0; to < STATE_COUNT; to++)
		targets |= (uint32_t)allowed[from][event][to] << to;
	return targets;
}

static bool word_is(const char *text, const char *word, size_t len)
{
	return strlen(text) == len && strncasecmp(text, word, len) == 0;
}

bool state_word(const char *word, size_t len, uint32_t *ret_states, uint32_t *ret_flags)
{
	*ret_states = *ret_flags = 0;
	for (unsigned state = 0; state < STATE_COUNT; state++)
		if (word_is(state_table[state].word, word, len) || word_is(state_table[state].name, word, len))
			*ret_states |= 1U << state;
	for (unsigned flag = 0; flag < FLAG_COUNT; flag++)
		if (word_is(flag_table[flag].word, word, len))
			*ret_flags |= 1U << flag;
	return (*ret_states | *ret_flags) != 0;
}

static const struct {
	const char *name;
	enum job_state like;
} run_table[RUN_STATE_COUNT] = {
#define X(NAME, name, like) [RUN_##NAME] = { name, STATE_##like },
	RUN_STATES(X)
#undef X
};

enum run_state run_state_of(const uint32_t counts[STATE_COUNT], uint32_t forgiven)
{
	bool waits = false;

	if (counts[STATE_APPROVAL] > 0)
		return RUN_APPROVAL;
	for (unsigned state = 0; state < STATE_COUNT; state++) {
		if (counts[state] > 0 && state_table[state].kind == KIND_HOLDS)
			return RUN_RUNNING;
		waits |= counts[state] > 0 && state_table[state].kind == KIND_WAITS;
	}
	if (waits)
		return RUN_WAITING;
	if (counts[STATE_FAILED] + counts[STATE_TIMED_OUT] + counts[STATE_DENIED] + counts[STATE_QUARANTINED] > forgiven)
		return RUN_FAILED;
	return counts[STATE_CANCELLED] > 0 ? RUN_CANCELLED : RUN_SUCCEEDED;
}

const struct state_info *run_state_info(enum run_state state)
{
	return &state_table[run_table[state].like];
}

const char *run_state_name(enum run_state state)
{
	return run_table[state].name;
}
