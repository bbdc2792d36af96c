/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The states of a job: listed transitions are allowed and no others, and every state can be reached and left. */
#include "proto/states.h"
#include "greatest.h"

TEST only_listed_moves_are_allowed(void)
{
	unsigned allowed = 0;

	for (int from = 0; from < STATE_COUNT; from++)
		for (int event = 0; event < EVENT_COUNT; event++)
			for (int to = 0; to < STATE_COUNT; to++) {
				bool listed = false;

				for (int move = 0; move < MOVE_COUNT; move++)
					listed |= move_table[move].from == (enum job_state)from &&
						  move_table[move].event == (enum job_event)event &&
						  move_table[move].to == (enum job_state)to;
				ASSERT_EQ(listed, state_allows((enum job_state)from, (enum job_event)event,
							       (enum job_state)to));
				allowed += listed;
			}
	ASSERT_EQ_FMT((unsigned)MOVE_COUNT, allowed, "%u");
	PASS();
}

TEST counts(void)
{
	ASSERT_EQ_FMT(16, (int)STATE_COUNT, "%d");
	ASSERT_EQ_FMT(39, (int)EVENT_COUNT, "%d");
	ASSERT_EQ_FMT(114, (int)MOVE_COUNT, "%d");
	PASS();
}

/* The numbers of states are stored, so they never change. */
TEST stored_numbers_stay(void)
{
	static const char *const names[] = {
		"waiting", "delayed", "checking", "approval", "ready", "assigned", "running", "stopping",
		"unknown", "succeeded", "failed", "timed_out", "cancelled", "denied", "quarantined", "skipped",
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ASSERT_STR_EQ(names[i], state_table[i].name);
	PASS();
}

TEST some_moves_that_matter(void)
{
	ASSERT(state_allows(STATE_RUNNING, EVENT_EXITED_OK, STATE_SUCCEEDED));
	/* a running job's process is still alive, so a cancel can't end the job at once */
	ASSERT_FALSE(state_allows(STATE_RUNNING, EVENT_CANCEL, STATE_CANCELLED));
	ASSERT_FALSE(state_allows(STATE_SUCCEEDED, EVENT_EXITED_FAIL, STATE_FAILED));
	ASSERT_EQ_FMT(0u, state_targets(STATE_WAITING, EVENT_EXITED_OK), "%x");
	ASSERT_EQ_FMT(1u << STATE_STOPPING, state_targets(STATE_RUNNING, EVENT_CANCEL), "%x");
	ASSERT_EQ_FMT(0u, state_targets(STATE_COUNT, EVENT_CANCEL), "%x");
	ASSERT_EQ_FMT(0u, state_targets(STATE_RUNNING, EVENT_COUNT), "%x");
	PASS();
}

TEST terminal_is_final_but_for_people(void)
{
	for (int move = 0; move < MOVE_COUNT; move++) {
		const struct move_info *info = &move_table[move];

		if (!state_terminal(info->from))
			continue;
		ASSERT(info->event == EVENT_REOPENED || info->event == EVENT_RELEASED ||
		       info->event == EVENT_DISCARDED);
	}
	for (int state = 0; state < STATE_COUNT; state++) {
		/* a new round: allowed for any state without an attempt except waiting */
		ASSERT_EQ(state_table[state].kind != KIND_HOLDS && state != STATE_WAITING && state != STATE_UNKNOWN,
			  state_allows((enum job_state)state, EVENT_REOPENED, STATE_WAITING));
		/* every state that isn't terminal can be cancelled, except one that is already being stopped */
		if (!state_terminal((enum job_state)state) && state != STATE_STOPPING)
			ASSERT_NEQ(0, state_targets((enum job_state)state, EVENT_CANCEL));
	}
	PASS();
}

TEST every_state_is_reached_and_every_event_used(void)
{
	uint32_t reached = 1u << STATE_WAITING, before;
	uint64_t used = 0;

	do {
		before = reached;
		for (int move = 0; move < MOVE_COUNT; move++) {
			if (reached >> move_table[move].from & 1)
				reached |= 1u << move_table[move].to;
			used |= UINT64_C(1) << move_table[move].event;
			ASSERT_NEQ('\0', move_table[move].reason[0]);
		}
	} while (reached != before);
	ASSERT_EQ_FMT((1u << STATE_COUNT) - 1, reached, "%x");
	ASSERT_EQ((UINT64_C(1) << EVENT_COUNT) - 1, used);
	PASS();
}

TEST tables_are_complete(void)
{
	for (int state = 0; state < STATE_COUNT; state++) {
		const struct state_info *info = &state_table[state];

		ASSERT(info->word && strlen(info->word) <= 6);
		ASSERT_EQ_FMT((size_t)1, strlen(info->ascii), "%zu");
		ASSERT(info->glyph[0] && info->fact[0]);
		for (int other = 0; other < state; other++)
			ASSERT_NEQ(0, strcmp(info->word, state_table[other].word));
	}
	for (int event = 0; event < EVENT_COUNT; event++)
		ASSERT(event_names[event][0] && event_texts[event][0]);
	ASSERT_STR_EQ("run_timeout", event_names[EVENT_RUN_TIMEOUT]);
	PASS();
}

static enum run_state run_of(enum job_state a, enum job_state b)
{
	uint32_t counts[STATE_COUNT] = { 0 };

	counts[a]++;
	counts[b]++;
	return run_state_of(counts, 0);
}

TEST state_of_a_run(void)
{
	static const uint32_t none[STATE_COUNT];

	ASSERT_EQ(RUN_SUCCEEDED, run_state_of(none, 0));
	ASSERT_EQ(RUN_SUCCEEDED, run_of(STATE_SUCCEEDED, STATE_SKIPPED));
	ASSERT_EQ(RUN_SUCCEEDED, run_of(STATE_SKIPPED, STATE_SKIPPED));
	ASSERT_EQ(RUN_CANCELLED, run_of(STATE_CANCELLED, STATE_SUCCEEDED));
	ASSERT_EQ(RUN_FAILED, run_of(STATE_CANCELLED, STATE_FAILED));
	ASSERT_EQ(RUN_FAILED, run_of(STATE_TIMED_OUT, STATE_SUCCEEDED));
	ASSERT_EQ(RUN_FAILED, run_of(STATE_DENIED, STATE_SKIPPED));
	ASSERT_EQ(RUN_FAILED, run_of(STATE_QUARANTINED, STATE_SUCCEEDED));
	ASSERT_EQ(RUN_WAITING, run_of(STATE_WAITING, STATE_FAILED));
	ASSERT_EQ(RUN_WAITING, run_of(STATE_READY, STATE_SUCCEEDED));
	ASSERT_EQ(RUN_WAITING, run_of(STATE_DELAYED, STATE_CHECKING));
	ASSERT_EQ(RUN_WAITING, run_of(STATE_UNKNOWN, STATE_FAILED));
	ASSERT_EQ(RUN_RUNNING, run_of(STATE_RUNNING, STATE_FAILED));
	ASSERT_EQ(RUN_RUNNING, run_of(STATE_ASSIGNED, STATE_WAITING));
	ASSERT_EQ(RUN_RUNNING, run_of(STATE_STOPPING, STATE_CANCELLED));
	ASSERT_EQ(RUN_APPROVAL, run_of(STATE_APPROVAL, STATE_RUNNING));
	PASS();
}

/* A run has ended exactly when all of its jobs have. */
TEST run_ends_with_its_last_job(void)
{
	for (int a = 0; a < STATE_COUNT; a++)
		for (int b = 0; b < STATE_COUNT; b++)
			ASSERT_EQ(state_terminal((enum job_state)a) && state_terminal((enum job_state)b),
				  run_state_terminal(run_of((enum job_state)a, (enum job_state)b)));
	ASSERT_STR_EQ("approval", run_state_name(RUN_APPROVAL));
	ASSERT_STR_EQ("OK", run_state_info(RUN_SUCCEEDED)->word);
	PASS();
}

SUITE(proto_states)
{
	RUN_TEST(only_listed_moves_are_allowed);
	RUN_TEST(counts);
	RUN_TEST(stored_numbers_stay);
	RUN_TEST(some_moves_that_matter);
	RUN_TEST(terminal_is_final_but_for_people);
	RUN_TEST(every_state_is_reached_and_every_event_used);
	RUN_TEST(tables_are_complete);
	RUN_TEST(state_of_a_run);
	RUN_TEST(run_ends_with_its_last_job);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(proto_states);
	GREATEST_MAIN_END();
}
