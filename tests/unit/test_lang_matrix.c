/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of a matrix and of parameters in texts of jobs: replaced everywhere, once, and up to a length. */
#include <stdio.h>

#include "base/buf.h"
#include "greatest.h"
#include "lang/pipeline.h"
#include "proto/limits.h"

GREATEST_MAIN_DEFS();

static struct arena arena;
static struct pipeline pipeline;
static struct dag_spot spot;
static struct error error;

static enum err parse_with(const char *text, const char *given)
{
	struct slice list[] = { slice_str(given ? given : "") };

	arena_free(&arena);
	error = (struct error){ 0 };
	return pipeline_parse(slice_str(text), (struct slice_list){ list, given != NULL }, &arena, &pipeline, &spot, &error);
}

static struct rec_job_spec job(uint64_t index)
{
	const struct job_defaults defaults = { 0 };
	struct rec_job_spec spec;

	dagline_job(&pipeline.dag, index, &defaults, &arena, &spec);
	return spec;
}

static bool has(struct slice_list list, const char *text)
{
	for (size_t i = 0; i < list.n; i++)
		if (slice_eq(list.at[i], slice_str(text)))
			return true;
	return false;
}

TEST every_text_of_a_job_has_its_values(void)
{
	struct rec_job_spec spec;

	ASSERT_EQ_FMTm(error.text, ERR_NONE, parse_with("jobs:\n"
		"  a:\n"
		"    matrix: {x: [one, two], y: [p, q]}\n"
		"    run: \"echo ${matrix.x} ${matrix.y}\"\n"
		"    env: {X: \"${matrix.x}\"}\n"
		"    dir: \"/tmp/${matrix.y}\"\n"
		"    worker: {labels: [\"l-${matrix.y}\"]}\n"
		"    concurrency: \"c-${matrix.x}\"\n"
		"    locks: [\"k-${matrix.y}\"]\n", NULL), "%d");
	ASSERT_EQ(4, pipeline.dag.job_count);
	for (uint64_t i = 0; i < 4; i++) {
		const char *x = i / 2 ? "two" : "one", *y = i % 2 ? "q" : "p";
		char text[64];

		spec = job(i);
		ASSERT(spec.argv.n == 3 && slice_eq(spec.argv.at[1], slice_str(x)) && slice_eq(spec.argv.at[2], slice_str(y)));
		snprintf(text, sizeof(text), "X=%s", x);
		ASSERTm("env", has(spec.env, text));
		snprintf(text, sizeof(text), "/tmp/%s", y);
		ASSERTm("dir", slice_eq(spec.dir, slice_str(text)));
		snprintf(text, sizeof(text), "l-%s", y);
		ASSERTm("labels", has(spec.labels, text));
		snprintf(text, sizeof(text), "c-%s", x);
		ASSERTm("concurrency", has(spec.concurrency, text));
		snprintf(text, sizeof(text), "k-%s", y);
		ASSERTm("locks", has(spec.locks, text));
	}
	PASS();
}

/* A parameter's value isn't searched for further references, whatever it contains. */
TEST value_that_was_put_in_is_not_searched_again(void)
{
	struct rec_job_spec spec;

	ASSERT_EQ_FMTm(error.text, ERR_NONE, parse_with("params: {p: a}\n"
		"env: {E: \"${params.p}\"}\n"
		"jobs:\n"
		"  a:\n"
		"    matrix: {x: [one, two]}\n"
		"    run: \"echo ${params.p}; echo ${matrix.x}\"\n"
		"    env: {F: \"${params.p}\"}\n", "p=${matrix.x}"), "%d");
	spec = job(1);
	ASSERT(slice_eq(spec.script, slice_str("echo \"${TITAN_P_p}\"; echo \"${TITAN_M_x}\"")));
	ASSERTm("of the script", has(spec.env, "TITAN_P_p=${matrix.x}") && has(spec.env, "TITAN_M_x=two"));
	ASSERTm("of the pipeline", has(pipeline.dag.env, "E=${matrix.x}"));
	ASSERTm("of the job", has(spec.env, "F=${matrix.x}"));
	PASS();
}

/* Parse a text that contains a value of a hundred bytes this many times. */
static enum err parse_long(const char *values, size_t times)
{
	struct buf text = { 0 };
	enum err err;

	buf_addf(&text, "jobs:\n  a:\n    matrix: {x: [%s]}\n    run: \"", values);
	for (size_t i = 0; i < times; i++)
		buf_add_str(&text, "${matrix.x}");
	buf_add_str(&text, "\"\n");
	err = parse_with(buf_cstr(&text), NULL);
	buf_free(&text);
	return err;
}

#define TEN     "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

TEST command_is_as_long_as_it_may_be_with_its_longest_value(void)
{
	const size_t most = LIMIT_COMMAND_MAX / 100;
	static const char *const orders[] = { HUNDRED, HUNDRED ", b", "b, " HUNDRED, "b, " HUNDRED ", c" };

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		ASSERT_EQ_FMTm(error.text, ERR_NONE, parse_long(orders[i], most), "%d");
		ASSERTm(orders[i], parse_long(orders[i], most + 1) != ERR_NONE);
	}
	PASS();
}

SUITE(lang_matrix)
{
	RUN_TEST(every_text_of_a_job_has_its_values);
	RUN_TEST(value_that_was_put_in_is_not_searched_again);
	RUN_TEST(command_is_as_long_as_it_may_be_with_its_longest_value);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(lang_matrix);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
