/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of gates: which values a vote may have, and what becomes of them. */
#include "proto/job_output.h"
#include "tests/unit/core_place.h"

static struct slice_list fields_of(struct rig *rig, const char *first, const char *second)
{
	struct slice_list list = { arena_zalloc(&rig->arena, 2, sizeof(struct slice)), second ? 2 : 1 };

	list.at[0] = slice_str(first);
	if (second)
		list.at[1] = slice_str(second);
	return list;
}

/* Submit a gate "ok" with fields, and a job behind it that uses one. */
static uint64_t submit(struct rig *rig, uint64_t count, const char *first, const char *second)
{
	struct graph graph = { 0 };
	struct rec_job_spec *gate = graph_job(&graph, "ok", "");

	gate->argv.n = 0;
	gate->gate_count = count;
	gate->gate_fields = fields_of(rig, first, second);
	graph_job(&graph, "user", "ok")->takes = words(rig, "V=ok/v");
	return rig_submit(rig, &graph);
}

static void approve(struct rig *rig, const char *person, uint64_t principal, uint64_t run, const char *given)
{
	rig->given = words(rig, given);
	rig_act_as(rig, person, principal, ACT_APPROVE, run, "ok", 0);
}

/* What the gate has put out, as "v=a|n=|". */
static const char *put_out(struct rig *rig, uint64_t run)
{
	struct rec_job_row row = { 0 };
	struct rec_job_output output;
	struct buf text = { 0 };
	const char *copy;
	struct slice rest;

	CHECK(view_job(rig->core, rig_named(rig, run, "ok"), VIEW_FULL, &rig->arena, &row));
	rest = row.outputs;
	while (job_output_next(&rest, &rig->arena, &output)) {
		buf_add_slice(&text, output.name);
		buf_add_byte(&text, '=');
		buf_add_slice(&text, output.value);
		buf_add_byte(&text, '|');
	}
	copy = arena_strdup(&rig->arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

static bool has_text(struct slice_list list, const char *text)
{
	for (size_t i = 0; i < list.n; i++)
		if (slice_eq(list.at[i], slice_str(text)))
			return true;
	return false;
}

TEST values_become_outputs(void)
{
	struct rig *rig = rig_new();
	struct outgoing frame;
	struct rec_job_spec spec;
	struct slice bytes;
	uint64_t run = submit(rig, 1, "v enum a|b", "n? number");

	join(rig, "w", 1, "", "", "");
	ASSERT_STR_EQ("", put_out(rig, run));
	approve(rig, "ben", 2, run, "v=b");
	ASSERT_EQ(1, rig->ok.count);
	ASSERT_STR_EQ("v=b|n=|", put_out(rig, run));
	ASSERT_EQ(1, rig_frames(rig, OP_ASSIGN, &frame));
	bytes = frame.assign.spec;
	ASSERT_EQ(ERR_NONE, record_decode(REC_job_spec, &bytes, &rig->arena, &spec, NULL));
	ASSERT(has_text(spec.env, "V=b"));
	rig_restart(rig);
	ASSERT_STR_EQ("v=b|n=|", put_out(rig, run));
	rig_free(rig);
	PASS();
}

TEST wrong_values_decide_nothing(void)
{
	struct rig *rig = rig_new();
	uint64_t run = submit(rig, 1, "v enum a|b", "n? number");

	approve(rig, "ben", 2, run, "");
	ASSERT(rig_error_says(rig, ERR_INVALID, "gate 1/ok wasn't approved: field v isn't given; it must be a or b"));
	approve(rig, "ben", 2, run, "v=c");
	ASSERT(rig_error_says(rig, ERR_INVALID, "field v must be a or b, not 'c'"));
	rig->given = words(rig, "v=a");
	rig_act_as(rig, "ben", 2, ACT_REJECT, run, "ok", 0);
	ASSERT(rig_error_says(rig, ERR_INVALID, "only an approval can have values"));
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
	ASSERT_EQ(0, rig->tables[TABLE_decision].count);
	rig_free(rig);
	PASS();
}

TEST votes_agree_on_their_values(void)
{
	struct rig *rig = rig_new();
	uint64_t run = submit(rig, 2, "v enum a|b", NULL);

	approve(rig, "ben", 2, run, "v=a");
	ASSERT_EQ(1, rig->ok.count);
	approve(rig, "cid", 3, run, "v=b");
	ASSERT(rig_error_says(rig, ERR_INVALID, "an earlier vote gave v=a, and all votes must give the same values"));
	rig_restart(rig);
	approve(rig, "cid", 3, run, "v=b");
	ASSERT(rig_error_says(rig, ERR_INVALID, "an earlier vote gave v=a"));
	/* A vote that is alone can be corrected; the same vote again changes nothing. */
	approve(rig, "ben", 2, run, "v=b");
	ASSERT_EQ(1, rig->ok.count);
	approve(rig, "ben", 2, run, "v=b");
	ASSERT_EQ(0, rig->ok.count);
	ASSERT_EQ(1, rig->tables[TABLE_decision].count);
	approve(rig, "cid", 3, run, "v=b");
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "ok"));
	ASSERT_STR_EQ("v=b|", put_out(rig, run));
	rig_free(rig);
	PASS();
}

TEST new_round_has_no_values(void)
{
	struct rig *rig = rig_new();
	uint64_t run = submit(rig, 1, "v enum a|b", NULL);

	approve(rig, "ben", 2, run, "v=a");
	rig->given = (struct slice_list){ 0 };
	rig_act(rig, ACT_RETRY, run, "ok", RETRY_FROM);
	ASSERT_STR_EQ("approval", rig_state_named(rig, run, "ok"));
	ASSERT_STR_EQ("", put_out(rig, run));
	approve(rig, "ben", 2, run, "v=b");
	ASSERT_STR_EQ("v=b|", put_out(rig, run));
	rig_free(rig);
	PASS();
}

static enum err refused(struct rig *rig, struct rec_job_spec spec)
{
	struct graph graph = { 0 };
	struct rec_job_spec *gate = graph_job(&graph, "ok", "");

	spec.name = gate->name;
	*gate = spec;
	rig->error = (struct msg_error){ 0 };
	rig_submit(rig, &graph);
	return (enum err)rig->error.code;
}

TEST wrong_fields_are_refused(void)
{
	struct rig *rig = rig_new();
	struct slice command = slice_str("x");
	struct rec_job_spec none = { .gate_count = 1, .gate_fields = fields_of(rig, "v enum", NULL) };
	struct rec_job_spec twice = { .gate_count = 1, .gate_fields = fields_of(rig, "v text", "v? number") };
	struct rec_job_spec expires = { .gate_count = 1, .gate_timeout_ms = 9, .gate_expiry = GATE_APPROVE, .gate_fields = fields_of(rig, "v text", NULL) };
	struct rec_job_spec runs = { .gate_count = 1, .argv = { &command, 1 }, .gate_fields = fields_of(rig, "v text", NULL) };

	ASSERT_EQ(ERR_INVALID, refused(rig, none));
	ASSERT_EQ(ERR_DUPLICATE, refused(rig, twice));
	ASSERT_EQ(ERR_INVALID, refused(rig, expires));
	ASSERT_EQ(ERR_INVALID, refused(rig, runs));
	rig_free(rig);
	PASS();
}

/* A gate whose fields are optional may be approved by its expiry: then all are empty texts. */
TEST expired_gate_puts_out_empty_texts(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *gate = graph_job(&graph, "ok", "");
	uint64_t run;

	gate->argv.n = 0;
	gate->gate_count = 1;
	gate->gate_timeout_ms = 5;
	gate->gate_expiry = GATE_APPROVE;
	gate->gate_fields = fields_of(rig, "v? text", NULL);
	graph_job(&graph, "user", "ok");
	run = rig_submit(rig, &graph);
	rig_pass(rig, 5);
	ASSERT_STR_EQ("v=|", put_out(rig, run));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(values_become_outputs);
	RUN_TEST(wrong_values_decide_nothing);
	RUN_TEST(votes_agree_on_their_values);
	RUN_TEST(new_round_has_no_values);
	RUN_TEST(wrong_fields_are_refused);
	RUN_TEST(expired_gate_puts_out_empty_texts);
	GREATEST_MAIN_END();
}
