/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Outputs of other jobs that a job finds in its environment: of one job, and of all jobs of a fan-out. */
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
	RUN_TEST(value_with_a_zero_byte_is_no_variable);
	GREATEST_MAIN_END();
}
