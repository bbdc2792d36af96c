/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Outputs of other jobs that a job finds in its environment: of one job, and of all jobs of a fan-out. */
#include "proto/job_output.h"
#include "proto/spec.h"
#include "tests/unit/core_place.h"
#include "tests/unit/core_sub.h"

static struct rec_job_spec *putting(struct rig *rig, struct graph *graph, const char *name)
{
	struct rec_job_spec *job = graph_job(graph, arena_strdup(&rig->arena, slice_str(name)), "");

	job->outputs = words(rig, "v");
	job->continue_on = CONTINUE_FAILED;
	return job;
}

/* Start the next attempt and let it exit, with this output unless it is NULL. */
static void put_out(struct rig *rig, const char *value, size_t len, uint64_t code)
{
	struct rec_job_output output = { .name = slice_str("v"), .value = slice_make((const uint8_t *)value, len), .line = 1 };
	struct core_input input = { .kind = INPUT_DONE };
	struct rec_attempt_outputs outputs = { 0 };
	struct rig_attempt attempt;
	struct buf bytes = { 0 };
	struct rec_done done;

	CHECK(rig_take(rig, &attempt));
	rig_started(rig, attempt);
	done = (struct rec_done){ .job = attempt.job, .epoch = attempt.epoch, .outcome = OUTCOME_EXIT, .code = code, .started_ms = rig->now.wall_ms,
				  .ended_ms = rig->now.wall_ms + 3 };
	outputs = (struct rec_attempt_outputs){ .job = attempt.job, .epoch = attempt.epoch };
	if (value)
		record_encode(&bytes, REC_job_output, &output);
	outputs.outputs = buf_slice(&bytes);
	input.conn = attempt.conn;
	input.done.at = &done;
	input.done.n = 1;
	input.done.outputs = &outputs;
	input.done.output_count = 1;
	rig_step(rig, &input);
	buf_free(&bytes);
}

/* The variable of the attempt that was just assigned; NULL: it has none of this name. */
static const char *variable(struct rig *rig, const char *name)
{
	struct outgoing frame;
	struct rec_job_spec spec;
	struct slice bytes;

	CHECK(rig_frames(rig, OP_ASSIGN, &frame) == 1);
	bytes = frame.assign.spec;
	CHECK(record_decode(REC_job_spec, &bytes, &rig->arena, &spec, NULL) == ERR_NONE);
	for (size_t i = 0; i < spec.env.n; i++)
		if (spec.env.at[i].len > strlen(name) && memcmp(spec.env.at[i].data, name, strlen(name)) == 0)
			return arena_strdup(&rig->arena, slice_make(spec.env.at[i].data + strlen(name), spec.env.at[i].len - strlen(name)));
	return NULL;
}

TEST values_of_a_fan_out_are_an_array_in_their_order(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	putting(rig, &graph, "f[0]");
	putting(rig, &graph, "f[1]");
	putting(rig, &graph, "f[2]");
	graph_job(&graph, "user", "f[0] f[1] f[2]")->takes = words(rig, "A=f/v B=f[1]/v C=f/none D=g/v");
	CHECK(rig_submit(rig, &graph));
	join(rig, "w", 1, "", "", "");
	put_out(rig, "a\"\0\n", 4, 0);
	put_out(rig, NULL, 0, 1);
	put_out(rig, "", 0, 0);
	ASSERT_STR_EQ("[\"a\\\"\\u0000\\n\",null,\"\"]", variable(rig, "A="));
	rig_free(rig);
	PASS();
}

TEST array_that_no_variable_can_hold_is_missing(void)
{
	static char longest[LIMIT_OUTPUT_VALUE_MAX];

	memset(longest, 'x', sizeof(longest));
	for (size_t extra = 0; extra < 2; extra++) {
		/* A=["..","..."]: the variable and 7 bytes around the two values. */
		size_t second = LIMIT_VARIABLE_MAX - 2 - 7 - sizeof(longest) + extra;
		struct rig *rig = rig_new();
		struct graph graph = { 0 };
		const char *found;

		putting(rig, &graph, "f[0]");
		putting(rig, &graph, "f[1]");
		graph_job(&graph, "user", "f[0] f[1]")->takes = words(rig, "A=f/v");
		CHECK(rig_submit(rig, &graph));
		join(rig, "w", 1, "", "", "");
		put_out(rig, longest, sizeof(longest), 0);
		put_out(rig, longest, second, 0);
		found = variable(rig, "A=");
		ASSERT_EQ(extra == 0, found != NULL);
		ASSERT(!found || strlen(found) == LIMIT_VARIABLE_MAX - 2);
		rig_free(rig);
	}
	PASS();
}

TEST value_with_a_zero_byte_is_no_variable(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	putting(rig, &graph, "a");
	graph_job(&graph, "user", "a")->takes = words(rig, "A=a/v");
	CHECK(rig_submit(rig, &graph));
	join(rig, "w", 1, "", "", "");
	put_out(rig, "x\0y", 3, 0);
	ASSERT(variable(rig, "A=") == NULL);
	rig_free(rig);
	PASS();
}

TEST job_of_a_sub_run_finds_outputs_of_the_runs_around(void)
{
	struct rig *rig = rig_new();
	struct graph inner = { 0 }, deep = { 0 }, graph = { 0 };

	graph_job(&deep, "d", "")->takes = words(rig, "A=../../a/v B=../a/v C=a/v D=../../../a/v E=../i/v");
	putting(rig, &inner, "i");
	sub_job(&inner, "deeper", "i", &deep);
	putting(rig, &graph, "a");
	sub_job(&graph, "sub", "a", &inner);
	CHECK(rig_submit(rig, &graph));
	join(rig, "w", 1, "", "", "");
	put_out(rig, "outer", 5, 0);
	put_out(rig, "inner", 5, 0);
	ASSERT_STR_EQ("outer", variable(rig, "A="));
	ASSERT_STR_EQ("inner", variable(rig, "E="));
	ASSERT(variable(rig, "B=") == NULL && variable(rig, "C=") == NULL && variable(rig, "D=") == NULL);
	rig_free(rig);
	PASS();
}

/* The outputs of a job that ended, as "v=x|". */
static const char *outputs_of(struct rig *rig, uint64_t run, const char *name)
{
	struct rec_job_row row = { 0 };
	struct rec_job_output output;
	struct buf text = { 0 };
	const char *copy;
	struct slice rest;

	CHECK(view_job(rig->core, rig_named(rig, run, name), VIEW_FULL, &rig->arena, &row));
	rest = row.outputs;
	while (job_output_next(&rest, &rig->arena, &output))
		buf_addf(&text, "%.*s=%.*s|", (int)output.name.len, (const char *)output.name.data, (int)output.value.len,
			 (const char *)output.value.data);
	copy = arena_strdup(&rig->arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

TEST noops_and_sub_runs_compute_outputs(void)
{
	struct rig *rig = rig_new();
	struct graph inner = { 0 }, graph = { 0 };
	struct rec_job_spec *job;
	uint64_t run;

	putting(rig, &inner, "i");
	job = sub_job(&graph, "sub", "", &inner);
	job->computes = words(rig, "w=<${i/v}$$> x=${i/none} y=plain");
	job = graph_job(&graph, "noop", "sub");
	job->argv.n = 0;
	job->kind = KIND_NOOP;
	job->computes = words(rig, "n=${sub/w}${sub/y}");
	graph_job(&graph, "user", "noop")->takes = words(rig, "A=noop/n B=sub/x");
	run = rig_submit(rig, &graph);
	CHECK(run);
	join(rig, "w", 1, "", "", "");
	put_out(rig, "in", 2, 0);
	ASSERT_STR_EQ("<in$>plain", variable(rig, "A="));
	ASSERT(variable(rig, "B=") == NULL);
	ASSERT_STR_EQ("w=<in$>|y=plain|", outputs_of(rig, run, "sub"));
	rig_restart(rig);
	ASSERT_STR_EQ("w=<in$>|y=plain|", outputs_of(rig, run, "sub"));
	ASSERT_STR_EQ("n=<in$>plain|", outputs_of(rig, run, "noop"));
	rig_free(rig);
	PASS();
}

TEST sub_run_with_a_long_output_fails(void)
{
	static char longest[LIMIT_OUTPUT_VALUE_MAX];
	struct rig *rig = rig_new();
	struct graph inner = { 0 }, graph = { 0 };
	struct rec_job_row row = { 0 };
	struct rec_job_output output;
	uint64_t run;

	memset(longest, 'x', sizeof(longest));
	putting(rig, &inner, "i");
	sub_job(&graph, "sub", "", &inner)->computes = words(rig, "a=1 w=${i/v}-");
	run = rig_submit(rig, &graph);
	join(rig, "w", 1, "", "", "");
	put_out(rig, longest, sizeof(longest), 0);
	ASSERT(view_job(rig->core, rig_named(rig, run, "sub"), VIEW_FULL, &rig->arena, &row));
	ASSERT_EQ(STATE_FAILED, (int)row.state);
	ASSERT_EQ(OUTCOME_BAD_OUTPUT, (int)row.outcome);
	ASSERT(job_output_next(&row.outputs, &rig->arena, &output));
	ASSERT_EQ(OUTPUT_LONG, (int)output.fault);
	ASSERT(slice_eq(output.name, slice_str("w")));
	rig_free(rig);
	PASS();
}

TEST question_has_outputs(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *gate;
	uint64_t run;

	putting(rig, &graph, "a");
	gate = graph_job(&graph, "ok", "a");
	gate->argv.n = 0;
	gate->gate_count = 1;
	gate->gate_message = slice_str("as written");
	gate->message_text = slice_str("deploy ${a/v}${a/none} for $$5?");
	run = rig_submit(rig, &graph);
	join(rig, "w", 1, "", "", "");
	put_out(rig, "1.2", 3, 0);
	ASSERT(slice_eq(slice_str("deploy 1.2(no value) for $5?"), rig_job(rig, rig_named(rig, run, "ok")).gate_message));
	rig_act_as(rig, "ben", 2, ACT_APPROVE, run, "ok", 0);
	ASSERT_STR_EQ("succeeded", rig_state_named(rig, run, "ok"));
	rig_free(rig);
	PASS();
}

static bool computes_is_refused(const char *entries, bool noop)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "n", "");
	bool refused;

	if (noop) {
		job->argv.n = 0;
		job->kind = KIND_NOOP;
	}
	job->computes = words(rig, entries);
	refused = !rig_submit(rig, &graph);
	rig_free(rig);
	return refused;
}

TEST wrong_computed_outputs_are_refused(void)
{
	ASSERT_FALSE(computes_is_refused("a=${../x/y}$$ b=", true));
	ASSERT(computes_is_refused("a=x", false));
	ASSERT(computes_is_refused("a", true) && computes_is_refused("=x", true) && computes_is_refused("a=$", true));
	ASSERT(computes_is_refused("a=$x", true) && computes_is_refused("a=${x}", true) && computes_is_refused("a=${x/y", true));
	ASSERT(computes_is_refused("a=1 a=2", true));
	PASS();
}

/* Is this output refused when the job that uses it is submitted? */
static bool is_refused(struct slice take)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	bool refused;

	graph_job(&graph, "user", "")->takes = (struct slice_list){ &take, 1 };
	refused = !rig_submit(rig, &graph) && rig_error_says(rig, ERR_INVALID, "an output must be given as VARIABLE=JOB/OUTPUT");
	rig_free(rig);
	return refused;
}

TEST output_of_no_job_is_refused(void)
{
	static char text[4096];
	size_t len = (size_t)snprintf(text, sizeof(text), "A=%0*d/v", LIMIT_NAME_MAX_LEN, 0);

	ASSERT_FALSE(is_refused(slice_make((const uint8_t *)text, len)));
	len = (size_t)snprintf(text, sizeof(text), "A=%0*d/v", LIMIT_NAME_MAX_LEN + 1, 0);
	ASSERT(is_refused(slice_make((const uint8_t *)text, len)));
	ASSERT(is_refused(slice_str("A=/v")) && is_refused(slice_str("A=a b/v")) && is_refused(slice_str("A=a")) && is_refused(slice_str("a/v")));
	ASSERT(is_refused(slice_str("A=../../../../../../../../../a/v")) && is_refused(slice_str("A=../v")));
	ASSERT_FALSE(is_refused(slice_str("A=../../../../../../../../a/v")));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(values_of_a_fan_out_are_an_array_in_their_order);
	RUN_TEST(array_that_no_variable_can_hold_is_missing);
	RUN_TEST(job_of_a_sub_run_finds_outputs_of_the_runs_around);
	RUN_TEST(output_of_no_job_is_refused);
	RUN_TEST(noops_and_sub_runs_compute_outputs);
	RUN_TEST(sub_run_with_a_long_output_fails);
	RUN_TEST(question_has_outputs);
	RUN_TEST(wrong_computed_outputs_are_refused);
	RUN_TEST(value_with_a_zero_byte_is_no_variable);
	GREATEST_MAIN_END();
}
