/* SPDX-License-Identifier: GPL-3.0-or-later */
/* states.def as enums and a matrix. A move listed twice doesn't compile, because enum move would repeat a name. */
#ifndef TITAN_PROTO_STATES_H
#define TITAN_PROTO_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum job_state {
#define STATE(NAME, name, word, glyph, ascii, colour, attribute, kind, fact) STATE_##NAME,
#include "proto/states.def"
#undef STATE
	STATE_COUNT
};

/* Shown instead of a state: a fact about the job that people look for more than for the state. */
enum state_flag {
#define FLAG(NAME, name, word, glyph, ascii, colour, attribute, kind, fact) FLAG_##NAME,
#include "proto/states.def"
#undef FLAG
	FLAG_COUNT
};

enum job_event {
#define EVENT(NAME, name, what) EVENT_##NAME,
#include "proto/states.def"
#undef EVENT
	EVENT_COUNT
};

enum move {
#define MOVE(FROM, EVENT, TO, reason) MOVE_##FROM##_##EVENT##_##TO,
#include "proto/states.def"
#undef MOVE
	MOVE_COUNT
};

enum state_kind { KIND_WAITS, KIND_HOLDS, KIND_TERMINAL };
enum colour { COLOUR_DEFAULT, COLOUR_RED, COLOUR_GREEN, COLOUR_YELLOW, COLOUR_BLUE, COLOUR_MAGENTA, COLOUR_CYAN };
enum attribute { ATTR_PLAIN, ATTR_BOLD, ATTR_DIM, ATTR_REVERSE, ATTR_UNDERLINE };

struct state_info {
	const char *name;        /* name in commands and JSON, such as "timed_out" */
	const char *word;        /* word on screens, such as "TIME" */
	const char *glyph;
	const char *ascii;
	enum colour colour;
	enum attribute attribute;
	enum state_kind kind;
	const char *fact;
};

struct move_info {
	enum job_state from;
	enum job_event event;
	enum job_state to;
	const char *reason;
};

extern const struct state_info state_table[STATE_COUNT];
extern const struct state_info flag_table[FLAG_COUNT];
extern const char *const event_names[EVENT_COUNT];
extern const char *const event_texts[EVENT_COUNT];
extern const struct move_info move_table[MOVE_COUNT];

/*
 * What a word stands for: the word of a state or flag on screens, such as RETRY, or the name of a state. Letters may be
 * small. Returns false if no state or flag has it.
 */
bool state_word(const char *word, size_t len, uint32_t *ret_states, uint32_t *ret_flags);

/* Return the states to which this event may lead, as one bit for each; 0 if the event isn't allowed in this state. */
uint32_t state_targets(enum job_state from, enum job_event event);

/* May this event lead from one state to the other? One look-up, because each change of a job's state is checked. */
bool state_allows(enum job_state from, enum job_event event, enum job_state to);

static inline bool state_terminal(enum job_state state)
{
	return state_table[state].kind == KIND_TERMINAL;
}

static inline bool state_needs_eyes(unsigned state)
{
	return state == STATE_FAILED || state == STATE_TIMED_OUT || state == STATE_DENIED ||
	       state == STATE_QUARANTINED || state == STATE_UNKNOWN;
}

/* The groups of states that people ask for. */
enum state_group { STATES_WAIT, STATES_QUEUE, STATES_RUN, STATES_OK, STATES_FAIL, STATES_OTHER, STATE_GROUPS };

/* A job that was given to a worker counts as queued, because it doesn't run yet. */
static inline enum state_group state_group(enum job_state state)
{
	if (state_needs_eyes(state))
		return STATES_FAIL;
	if (state == STATE_READY || state == STATE_ASSIGNED)
		return STATES_QUEUE;
	if (state == STATE_SUCCEEDED)
		return STATES_OK;
	return state_table[state].kind == KIND_WAITS ? STATES_WAIT : state_table[state].kind == KIND_HOLDS ? STATES_RUN : STATES_OTHER;
}

/* The states of a run. The state of a run is the first one that applies, in this order. */
#define RUN_STATES(X) \
	X(APPROVAL, "approval", APPROVAL) \
	X(RUNNING, "running", RUNNING) \
	X(WAITING, "waiting", WAITING) \
	X(FAILED, "failed", FAILED) \
	X(CANCELLED, "cancelled", CANCELLED) \
	X(SUCCEEDED, "succeeded", SUCCEEDED)

enum run_state {
#define X(NAME, name, like) RUN_##NAME,
	RUN_STATES(X)
#undef X
	RUN_STATE_COUNT
};

/*
 * Compute a run's state from the numbers of its jobs in each state; forgiven: how many bad ends count as good
 * ones. An empty run has succeeded.
 */
enum run_state run_state_of(const uint32_t counts[STATE_COUNT], uint32_t forgiven);
/* Return word, glyph and colour of the job state that corresponds to this run state. */
const struct state_info *run_state_info(enum run_state state);
const char *run_state_name(enum run_state state);

static inline bool run_state_terminal(enum run_state state)
{
	return state >= RUN_FAILED;
}

#endif
