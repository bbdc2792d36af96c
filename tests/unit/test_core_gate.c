/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gates: how many approvals they need, and which fields are refused. */
#include "tests/unit/core_rig.h"

static struct rec_job_spec *graph_gate(struct graph *graph, const char *name, const char *needs, uint64_t count,
				       bool command)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = count;
	job->gate_message = slice_str("Ship it?");
	if (!command)
		job->argv.n = 0;
	return job;
}

/* Number of rows about this job that the last turn published. */
static size_t told(const struct rig *rig, uint64_t job)
{
	size_t count = 0;

	for (size_t i = 0; i < rig->out.change_count; i++)
		count += rig->out.changes[i].kind == CHANGED_JOB && rig->out.changes[i].id == job;
	return count;
}

TEST a_gate_waits_for_enough_people(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, gate;

	graph_job(&graph, "a", "");
	graph_gate(&graph, "ok", "a", 2, false);
	graph_job(&graph, "b", "ok");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	gate = rig_named(rig, run, "ok");
	rig_act(rig, ACT_APPROVE, run, "ok", 0);
	ASSERT(rig_error_says(rig, ERR_PENDING, "gate 1/ok isn't waiting for approval: it is waiting"));
	rig_run_one(rig, 0);
	ASSERT_EQ(RUN_APPROVAL, rig_run_state(rig, run));
	ASSERT_EQ(gate, view_gate_after(rig->core, 0));
	ASSERT_EQ(0, view_gate_after(rig->core, gate));
	rig_act(rig, ACT_APPROVE, run, "", 0);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_EQ(1, told(rig, gate));
	rig_act(rig, ACT_APPROVE, run, "ok", 0);
	ASSERT_EQ(0, rig->ok.count);
	ASSERT_EQ(0, told(rig, gate));
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
	rig_restart(rig);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(1, rig_job(rig, gate).gate_have);
	ASSERT_EQ(2, rig_job(rig, gate).gate_count);
	rig_act(rig, ACT_APPROVE, run, "ok", 0);
	ASSERT_EQ(0, rig->ok.count);
	rig_act_as(rig, "ben", 2, ACT_APPROVE, run, "ok", 0);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "ok"));
	ASSERT_EQ(3, rig_run_one(rig, 0));
	ASSERT_EQ(2, rig->tables[TABLE_decision].count);
	rig_act_as(rig, "ben", 2, ACT_REJECT, run, "ok", 0);
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "already ended"));
	rig_free(rig);
	PASS();
}

/* A job in state unknown doesn't show the votes of its gate: they were given before the job ran. */
TEST unknown_job_shows_no_votes_of_its_gate(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, conn = rig_hello(rig, "w", 1);

	graph_gate(&graph, "ok", "", 1, true)->mode = EXEC_ONCE;
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_APPROVE, run, "ok", 0);
	rig_started(rig, rig_must_take(rig));
	rig_gone(rig, conn);
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_STR_EQ("unknown", rig_state_named(rig, run, "ok"));
	rig_restart(rig);
	ASSERT_EQ(0, (int)rig_job(rig, rig_named(rig, run, "ok")).gate_have);
	rig_free(rig);
	PASS();
}

TEST one_rejection_denies(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_gate(&graph, "ok", "", 3, true);
	graph_job(&graph, "b", "ok");
	graph_job(&graph, "c", "ok-");
	run = rig_submit(rig, &graph);
	rig_act_as(rig, "ben", 2, ACT_REJECT, run, "ok", 0);
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_STR_EQ("denied", rig_state_named(rig, run, "ok"));
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "b"));
	ASSERT_STR_EQ("ready", rig_state_named(rig, run, "c"));
	/* In a new round the gate is decided anew. */
	rig_act(rig, ACT_RETRY, run, "ok", RETRY_FROM);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
	ASSERT_EQ(0, rig_job(rig, 1).gate_have);
	rig_free(rig);
	PASS();
}

static struct msg_set approver(const char *name)
{
	return (struct msg_set){ .kind = OBJECT_TOKEN, .verb = SET_PUT, .name = slice_str(name), .text = slice_str(name),
				 .number = ROLE_BIT(APPROVER), .secret = slice_str("sealed") };
}

/*
 * The submitter may approve only if nobody else can. A person whom the gate doesn't name doesn't count as somebody
 * else.
 */
TEST submitter_approves_only_while_alone(void)
{
	struct slice from[] = { slice_str("ana"), slice_str("ben") };

	for (int named = 0; named < 2; named++) {
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		struct rec_job_spec *job = graph_gate(&graph, "ok", "", 1, false);
		struct msg_set viewer = approver("dan"), past = approver("ben");
		uint64_t run;

		if (named)
			job->gate_from = (struct slice_list){ .at = from, .n = 2 };
		viewer.number = ROLE_BIT(VIEWER);
		past.span_ms = 1000;
		rig_set(rig, viewer);
		rig_set(rig, past);
		rig_set(rig, named ? approver("cem") : approver("ana"));
		run = rig_submit(rig, &graph);
		rig_act(rig, ACT_APPROVE, run, "ok", 0);
		ASSERT(rig_error_says(rig, ERR_DENIED, "ana submitted run 1, and so can't approve gate ok: ben must"));
		rig_wait(rig, 2000);
		rig_act(rig, ACT_APPROVE, run, "ok", 0);
		ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "ok"));
		ASSERT_EQ(1, rig->tables[TABLE_decision].at[0].row.decision.self);
		rig_free(rig);
	}
	PASS();
}

TEST gate_counts_votes_of_people_named_but_submitter(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct slice from[] = { slice_str("ana"), slice_str("ben") };
	struct rec_job_spec *job = graph_gate(&graph, "ok", "", 1, true);
	uint64_t run;

	job->gate_from = (struct slice_list){ .at = from, .n = 2 };
	rig_hello(rig, "w", 1);
	rig_set(rig, approver("ben"));
	run = rig_submit(rig, &graph);
	rig_act_as(rig, "cem", 3, ACT_APPROVE, run, "ok", 0);
	ASSERT(rig_error_says(rig, ERR_DENIED, "gate 1/ok can't be decided by cem: the pipeline names other people"));
	rig_act(rig, ACT_APPROVE, run, "ok", 0);
	ASSERT(rig_error_says(rig, ERR_DENIED, "ana submitted run 1, and so can't approve gate ok: ben must"));
	rig_act_as(rig, "ben", 2, ACT_APPROVE, run, "ok", 0);
	ASSERT_EQ(1, rig->ok.count);
	/* A later failure doesn't open the gate again. */
	ASSERT_EQ(1, rig_run_one(rig, 0));
	rig_free(rig);
	PASS();
}

static enum err refused(struct rig *rig, void (*spoil)(struct rec_job_spec *job))
{
	struct graph graph = { 0 };

	spoil(graph_gate(&graph, "x", "", 1, true));
	rig_submit(rig, &graph);
	return (enum err)rig->error.code;
}

static struct slice twice[2];

static void no_gate(struct rec_job_spec *job) { job->gate_count = 0; }
static void too_many(struct rec_job_spec *job) { job->gate_count = LIMIT_GATE_PEOPLE_MAX + 1; }
static void never(struct rec_job_spec *job) { job->gate_expiry = GATE_APPROVE; }
static void early(struct rec_job_spec *job) { job->not_before_ms = -1; }
static void same(struct rec_job_spec *job) { job->gate_from = (struct slice_list){ .at = twice, .n = 2 }; }
static void few(struct rec_job_spec *job)
{
	same(job);
	job->gate_from.n = 1;
	job->gate_count = 2;
}

TEST gate_fields_that_contradict_are_refused(void)
{
	struct rig *rig = rig_new();

	twice[0] = twice[1] = slice_str("ana");
	ASSERT_EQ(ERR_INVALID, refused(rig, no_gate));
	ASSERT_EQ(ERR_TOO_LARGE, refused(rig, too_many));
	ASSERT_EQ(ERR_INVALID, refused(rig, never));
	ASSERT_EQ(ERR_INVALID, refused(rig, early));
	ASSERT_EQ(ERR_DUPLICATE, refused(rig, same));
	ASSERT_EQ(ERR_INVALID, refused(rig, few));
	rig_free(rig);
	PASS();
}

SUITE(gates)
{
	RUN_TEST(a_gate_waits_for_enough_people);
	RUN_TEST(unknown_job_shows_no_votes_of_its_gate);
	RUN_TEST(one_rejection_denies);
	RUN_TEST(submitter_approves_only_while_alone);
	RUN_TEST(gate_counts_votes_of_people_named_but_submitter);
	RUN_TEST(gate_fields_that_contradict_are_refused);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(gates);
	GREATEST_MAIN_END();
}
