/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Push back: which jobs a gate may name, and which jobs get the reason. */
#include "base/sha256.h"
#include "proto/expr.h"
#include "tests/unit/core_grow.h"
#include "tests/unit/core_sub.h"

/* Submit a and b, which are done; gate qa, which is open; and c, which needs qa. */
static uint64_t asked(struct rig *rig)
{
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	graph_job(&graph, "other", "");
	graph_job(&graph, "qa", "b")->gate_count = 1;
	graph.jobs[3].argv.n = 0;
	graph_job(&graph, "c", "qa");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_all(rig);
	CHECK(strcmp(rig_state_named(rig, run, "qa"), "approval") == 0);
	return run;
}

static struct slice shown(struct rig *rig, uint64_t run)
{
	return arena_copy(&rig->arena, rig_digest(rig, run, "qa"));
}

static uint64_t loaded_hash(const struct rig *rig)
{
	struct outbox out = { 0 };
	struct error error = { 0 };
	struct core *core = rig_load(rig, rig->now, &out, &error);
	uint64_t hash;

	CHECK(core);
	hash = core_hash(core);
	core_free(core);
	outbox_free(&out);
	return hash;
}

/* The core's hash covers both the reason of a push back and the person who gave it (I17). */
static bool hash_covers(struct rig *rig, struct row_decision *row)
{
	const struct row_decision was = *row;
	uint8_t other[SHA256_SIZE] = { 7 };
	uint64_t hash = loaded_hash(rig), without_reason, without_digest;

	row->reason = slice_str("another");
	without_reason = loaded_hash(rig);
	*row = was;
	row->digest = slice_make(other, SHA256_SIZE);
	without_digest = loaded_hash(rig);
	*row = was;
	return hash == core_hash(rig->core) && hash != without_reason && hash != without_digest;
}

TEST push_back_opens_round_of_earlier_job(void)
{
	struct rig *rig = rig_new();
	uint64_t run = asked(rig);
	struct slice first = shown(rig, run);
	struct rec_job_spec spec;
	struct outgoing last;

	rig->target = "other";
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "'other' isn't a job before the gate"));
	rig->target = "c";
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "'c' isn't before the gate"));
	rig->target = "nope";
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT_EQ(ERR_NOT_FOUND, rig->error.code);
	rig->target = "a";
	rig->shown = first;
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT_EQ(3, rig->ok.count);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "qa"));
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "b"));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "other"));
	ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &last));
	ASSERT_EQ(ERR_NONE, record_decode(REC_job_spec, &last.assign.spec, &rig->arena, &spec, NULL));
	ASSERT_EQ(1, spec.env.n);
	ASSERT(slice_eq(spec.env.at[0], slice_str("TITAN_PUSHBACK=because")));
	ASSERT(hash_covers(rig, &rig->tables[TABLE_decision].at[rig->tables[TABLE_decision].count - 1].row.decision));
	/* A repeated push back changes nothing, also after a restart; another person's is too late. */
	rig_restart(rig);
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT_EQ(0, rig->error.code);
	rig->shown = slice_make(first.data, 8);
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT_EQ(0, rig->error.code);
	rig->shown = slice_make(first.data, 7);  /* which names nothing */
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT_EQ(ERR_PENDING, rig->error.code);
	rig->shown = first;
	ASSERT_EQ(0, rig->ok.count);
	rig_act_as(rig, "ben", 2, ACT_PUSHBACK, run, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_PENDING, "job 1/a hasn't ended: it is assigned"));
	rig->shown = slice_make(NULL, 0);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(2, rig_run_all(rig));
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "qa"));
	rig->shown = first;
	rig_act(rig, ACT_APPROVE, run, "qa", 0);
	ASSERT_EQ(ERR_CHANGED, rig->error.code);
	rig->shown = slice_make(NULL, 0);
	rig_act(rig, ACT_APPROVE, run, "qa", 0);
	ASSERT_EQ(1, rig_run_all(rig));
	ASSERT_EQ(RUN_SUCCEEDED, rig_run_state(rig, run));
	ASSERT_EQ(2, rig->tables[TABLE_decision].count);
	rig_free(rig);
	PASS();
}

static struct rec_job_spec *graph_gate(struct graph *graph, const char *name, const char *needs)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = 1;
	job->argv.n = 0;
	return job;
}

TEST push_back_to_gate_or_fan_out_is_refused(void)
{
	static const char *const not_one[] = { "ok", "part[*]" };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	rig_hello(rig, "w", 2);
	graph_job(&graph, "part[0]", "");
	graph_job(&graph, "part[1]", "");
	graph_gate(&graph, "ok", "part[0] part[1]");
	run = rig_submit(rig, &graph);
	rig_run_all(rig);
	for (size_t i = 0; i < 2; i++) {
		rig->target = not_one[i];
		rig_act(rig, ACT_PUSHBACK, run, "ok", 0);
		ASSERT(rig_error_says(rig, ERR_INVALID, "' must stand for a single job before the gate"));
	}
	rig_free(rig);
	PASS();
}

static struct rec_job_spec *gate_job(struct graph *graph, const char *name, const char *needs, uint64_t count)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = count;
	job->argv.n = 0;
	return job;
}

/* A repeated push back with another digest isn't a repetition, so it is refused. */
TEST repeated_push_back_on_other_digest_is_refused(void)
{
	uint8_t other[SHA256_SIZE] = { 1, 2, 3 };
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	gate_job(&graph, "qa", "a", 1);
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig->target = "a";
	rig->shown = arena_copy(&rig->arena, rig_digest(rig, run, "qa"));
	for (int times = 0; times < 2; times++) {
		rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
		ASSERT_EQ(ERR_NONE, rig->error.code);
	}
	rig->shown = slice_make(other, sizeof(other));
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_PENDING, "job 1/a hasn't ended: it is assigned"));
	rig_free(rig);
	PASS();
}

/*
 * A gate that needs one of two parents may be open while the other parent is still queued: that one can't be pushed
 * back.
 */
TEST push_back_to_queued_job_is_refused(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct buf code = { 0 };
	struct rec_job_spec *gate;
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "")->only_worker = slice_str("other");
	gate = gate_job(&graph, "qa", "a b", 1);
	gate->triggers.at[0] = gate->triggers.at[1] = TRIGGER_EXPR;
	expr_put(&code, (struct expr_step){ EXPR_STATE, 0, 2, 1u << STATE_SUCCEEDED });
	expr_put(&code, (struct expr_step){ EXPR_GATE, 1, 2, 0 });
	gate->needs_code = buf_slice(&code);
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	buf_free(&code);
	rig_run_one(rig, 0);
	rig->target = "b";
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_PENDING, "hasn't ended: it is ready"));
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "qa"));
	rig_free(rig);
	PASS();
}

/* The gate is in its third round, the job that was sent back in its second. */
TEST pushback_reason_is_shown_in_later_rounds_of_gate(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "");
	gate_job(&graph, "qa", "a", 1);
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_act(rig, ACT_REJECT, run, "qa", 0);
	rig_act(rig, ACT_RETRY, run, "qa", RETRY_FROM);
	rig->target = "a";
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	ASSERT_EQ(1, rig->ok.count > 0);
	ASSERT(slice_eq(slice_str("because"), rig_job(rig, rig_named(rig, run, "a")).pushback));
	rig_restart(rig);
	ASSERT(slice_eq(slice_str("because"), rig_job(rig, rig_named(rig, run, "a")).pushback));
	rig_free(rig);
	PASS();
}

/*
 * Every try of a job that was sent back gets the reason in its environment, because nothing else would tell a later
 * try.
 */
TEST each_try_gets_pushback_reason(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct outgoing frame;
	struct rec_job_spec spec;
	struct slice bytes;
	uint64_t run;

	graph_job(&graph, "a", "")->retry_max = 1;
	gate_job(&graph, "qa", "a", 1);
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig->target = "a";
	rig_act(rig, ACT_PUSHBACK, run, "qa", 0);
	for (int try_no = 1; try_no <= 2; try_no++) {
		ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &frame));
		bytes = frame.assign.spec;
		ASSERT_EQ(ERR_NONE, record_decode(REC_job_spec, &bytes, &rig->arena, &spec, NULL));
		ASSERT(spec.env.n == 1 && slice_eq(spec.env.at[0], slice_str("TITAN_PUSHBACK=because")));
		rig_run_one(rig, 1);
		rig_pass(rig, 2000);
	}
	rig_free(rig);
	PASS();
}

static struct rec_job_spec *gate_of_one(struct graph *graph, const char *name, const char *needs)
{
	struct rec_job_spec *job = graph_job(graph, name, needs);

	job->gate_count = 1;
	job->argv.n = 0;
	return job;
}

static bool told_why(struct rig *rig, const struct outgoing *frame)
{
	struct slice bytes = frame->assign.spec;
	struct rec_job_spec spec;

	CHECK(record_decode(REC_job_spec, &bytes, &rig->arena, &spec, NULL) == ERR_NONE);
	return spec.env.n > 0 && slice_eq(spec.env.at[0], slice_str("TITAN_PUSHBACK=because"));
}

/* The parent of a job that was sent back is also being run again; the job gets the reason once it is assigned. */
TEST waiting_job_gets_pushback_reason_once_assigned(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct outgoing frame;
	uint64_t run;

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	gate_of_one(&graph, "ok", "b");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	ASSERT_EQ(2, rig_run_all(rig));
	rig_act(rig, ACT_RETRY, run, "a", RETRY_ONLY);
	rig->target = "b";
	rig_act(rig, ACT_PUSHBACK, run, "ok", 0);
	ASSERT_EQ(0, rig->errors);
	ASSERT_STR_EQ("waiting", rig_state_named(rig, run, "b"));
	rig_run_one(rig, 0);
	ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &frame));
	ASSERT_EQ(2, frame.assign.job);
	ASSERT(told_why(rig, &frame));
	rig_free(rig);
	PASS();
}

TEST attempt_gets_whole_pushback_reason(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct core_input input = { .kind = INPUT_ACT, .conn = 1000000, .request = 77 };
	char reason[LIMIT_REASON_MAX], told[sizeof("TITAN_PUSHBACK=") + LIMIT_REASON_MAX];
	struct outgoing frame;
	struct rec_job_spec spec;
	struct slice bytes;
	uint64_t run;

	memset(reason, 'x', sizeof(reason));
	memcpy(told, "TITAN_PUSHBACK=", 15);
	memset(told + 15, 'x', sizeof(reason));
	graph_job(&graph, "a", "");
	gate_of_one(&graph, "ok", "a");
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	input.act = (struct input_act){ .verb = ACT_PUSHBACK, .run = run, .job = slice_str("ok"), .target = slice_str("a"),
		.text = slice_make(reason, sizeof(reason)), .principal = 1, .person = slice_str("ana"),
		.digest = rig_digest(rig, run, "ok") };
	rig_step(rig, &input);
	ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &frame));
	bytes = frame.assign.spec;
	ASSERT_EQ(ERR_NONE, record_decode(REC_job_spec, &bytes, &rig->arena, &spec, NULL));
	ASSERT(spec.env.n == 1 && slice_eq(spec.env.at[0], slice_make(told, 15 + sizeof(reason))));
	rig_free(rig);
	PASS();
}

/* A push back to a job that is skipped again keeps no reason, because nobody runs the job. */
TEST push_back_to_job_skipped_again_keeps_no_reason(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *gate;
	uint64_t run;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "repair", "a-");
	gate = graph_job(&graph, "gate", "repair*");
	gate->gate_count = 1;
	gate->argv.n = 0;
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "gate"));
	rig->target = "repair";
	rig_act(rig, ACT_PUSHBACK, run, "gate", 0);
	ASSERT_EQ(ERR_NONE, rig->error.code);
	ASSERT_STR_EQ("skipped", rig_state_named(rig, run, "repair"));
	ASSERT_EQ(0, rig_job(rig, rig_named(rig, run, "repair")).pushback.len);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "gate"));
	rig_free(rig);
	PASS();
}

/*
 * A gate that runs in any case (always) stays open in a sub-run that was told to end, but no job before it may begin
 * again.
 */
TEST push_back_in_ending_sub_run_is_refused(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 }, inner = { 0 };
	struct rec_job_spec *gate;
	uint64_t run, sub;

	graph_job(&inner, "work", "");
	gate = graph_job(&inner, "qa", "work*");
	gate->argv.n = 0;
	gate->gate_count = 1;
	gate->always = ALWAYS_RUN;
	sub_job(&graph, "sub", "", &inner);
	rig_hello(rig, "w", 1);
	run = rig_submit(rig, &graph);
	sub = child_of(rig, run, "sub");
	rig_run_one(rig, 0);
	rig_cancel(rig, run, "");
	ASSERT_STR_EQ("stopping", rig_state_named(rig, run, "sub"));
	ASSERT_STR_EQ("approval", rig_state_named(rig, sub, "qa"));
	rig->target = "work";
	rig->shown = shown(rig, sub);
	rig_act(rig, ACT_PUSHBACK, sub, "qa", 0);
	ASSERT(rig_error_says(rig, ERR_TERMINAL, "no longer waits for the run"));
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, sub, "work"));
	rig_free(rig);
	PASS();
}

SUITE(gate_pushback)
{
	RUN_TEST(push_back_opens_round_of_earlier_job);
	RUN_TEST(push_back_to_gate_or_fan_out_is_refused);
	RUN_TEST(repeated_push_back_on_other_digest_is_refused);
	RUN_TEST(push_back_to_queued_job_is_refused);
	RUN_TEST(pushback_reason_is_shown_in_later_rounds_of_gate);
	RUN_TEST(each_try_gets_pushback_reason);
	RUN_TEST(waiting_job_gets_pushback_reason_once_assigned);
	RUN_TEST(attempt_gets_whole_pushback_reason);
	RUN_TEST(push_back_to_job_skipped_again_keeps_no_reason);
	RUN_TEST(push_back_in_ending_sub_run_is_refused);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(gate_pushback);
	GREATEST_MAIN_END();
}
