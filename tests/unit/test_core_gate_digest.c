/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The digest of a gate changes with whatever a person was shown. */
#include "tests/unit/core_grow.h"

struct told {                            /* how the gate's parent ended, and what comes after the gate */
	enum outcome outcome;
	uint64_t code;
	bool late;                       /* the parent job was already out of time when it ended this way */
	bool lost;                       /* the parent's first attempt was lost with its worker */
	enum trigger behind;
};

/* The digest of a gate with one parent; only the parent's end differs between calls. */
static void digest_of(struct told told, uint8_t ret_digest[32])
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *gate;
	struct slice shown;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->timeout_ms = 1000;
	gate = graph_job(&graph, "gate", "a*");
	gate->gate_count = 1;
	gate->argv.n = 0;
	graph_job(&graph, "b", "gate")->triggers.at[0] = told.behind;
	run = rig_submit(rig, &graph);
	if (told.lost) {
		rig_started(rig, rig_must_take(rig));
		rig_hello(rig, "w", 1);
		rig_pass(rig, 5000);
	}
	rig_started(rig, rig->assigned[rig->assigned_first]);
	if (told.late)
		rig_pass(rig, 1000);
	rig_done(rig, rig_must_take(rig), told.outcome, told.code);
	CHECK(rig_state(rig, rig_named(rig, run, "gate")) == STATE_APPROVAL);
	shown = rig_digest(rig, run, "gate");
	CHECK(shown.len == 32);
	memcpy(ret_digest, shown.data, 32);
	rig_free(rig);
}

/* Any difference in the parents or children gives another digest. */
TEST digest_changes_with_parents_and_children(void)
{
	static const struct told cases[] = {
		{ OUTCOME_EXIT, 0, false, false, TRIGGER_OK }, { OUTCOME_EXIT, 1, false, false, TRIGGER_OK },
		{ OUTCOME_EXIT, 2, false, false, TRIGGER_OK }, { OUTCOME_SIGNAL, 2, false, false, TRIGGER_OK },
		{ OUTCOME_SIGNAL, 2, true, false, TRIGGER_OK }, { OUTCOME_EXIT, 0, false, true, TRIGGER_OK },
		{ OUTCOME_EXIT, 0, false, false, TRIGGER_DONE }, { OUTCOME_EXIT, 0, false, false, TRIGGER_FAILED },
	};
	uint8_t digests[sizeof(cases) / sizeof(cases[0])][32], again[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		digest_of(cases[i], digests[i]);
		digest_of(cases[i], again);
		ASSERT(memcmp(again, digests[i], 32) == 0);
		for (size_t k = 0; k < i; k++)
			ASSERT(memcmp(digests[k], digests[i], 32) != 0);
	}
	PASS();
}

SUITE(digests_of_gates)
{
	RUN_TEST(digest_changes_with_parents_and_children);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(digests_of_gates);
	GREATEST_MAIN_END();
}
