/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The context that all jobs of a graph share, and a job's own settings: of two with one name the first counts. */
#include "base/check.h"
#include "greatest.h"
#include "lang/pipeline.h"
#include "proto/spec.h"

static struct arena arena;
static struct pipeline pipeline;

static bool parse(const char *text)
{
	struct dag_spot spot;
	struct error error;

	return pipeline_parse(slice_str(text), (struct slice_list){ 0 }, &arena, &pipeline, &spot, &error) == ERR_NONE;
}

static struct rec_run_context context_of(struct slice bytes)
{
	struct rec_run_context context = { 0 };

	CHECK(bytes.len > 0 && record_decode(REC_run_context, &bytes, &arena, &context, NULL) == ERR_NONE && bytes.len == 0);
	return context;
}

/* The job's specification as its worker has it, completed with the context. */
static struct rec_job_spec whole(const struct dagline *dag, uint64_t index, const struct job_defaults *defaults)
{
	struct slice bytes = dag_context(dag, defaults, &arena);
	struct rec_job_spec spec;
	struct rec_run_context context;

	dagline_job(dag, index, defaults, &arena, &spec);
	if (bytes.len > 0) {
		context = context_of(bytes);
		spec_complete(&spec, &context, &arena);
	}
	return spec;
}

static const char *value(const struct rec_job_spec *spec, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < spec->env.n; i++)
		if (spec->env.at[i].len > len && memcmp(spec->env.at[i].data, name, len) == 0 && spec->env.at[i].data[len] == '=')
			return arena_strdup(&arena, slice_make(spec->env.at[i].data + len + 1, spec->env.at[i].len - len - 1));
	return "";
}

TEST nothing_said_is_no_context(void)
{
	const struct job_defaults none = { 0 };

	ASSERT(parse("jobs:\n  a: {run: x, env: {A: '1'}, dir: /d}\n"));
	ASSERT_EQ(0, dag_context(&pipeline.dag, &none, &arena).len);
	ASSERT_EQ(0, dag_context(NULL, &none, &arena).len);
	PASS();
}

TEST the_command_line_is_before_the_job_before_the_pipeline(void)
{
	struct slice env[] = { slice_str("A=line"), slice_str("A=twice") };
	const struct job_defaults defaults = { .env = { env, 2 }, .dir = slice_str("/line") };
	struct rec_job_spec spec;

	ASSERT(parse("env: {A: pipe, B: pipe}\n"
		     "jobs:\n  a: {run: x, env: {A: job, B: job, C: job}, dir: /own}\n  b: {run: y}\n"));
	spec = whole(&pipeline.dag, 0, &defaults);
	ASSERT_EQ(3, spec.env.n);
	ASSERT_STR_EQ("line", value(&spec, "A"));
	ASSERT_STR_EQ("job", value(&spec, "B"));
	ASSERT_STR_EQ("job", value(&spec, "C"));
	ASSERT(slice_eq(spec.dir, slice_str("/own")));
	spec = whole(&pipeline.dag, 1, &defaults);
	ASSERT_EQ(2, spec.env.n);
	ASSERT(slice_eq(spec.dir, slice_str("/line")));
	dagline_job(&pipeline.dag, 1, &defaults, &arena, &spec);
	ASSERT(spec.env.n == 0 && spec.dir.len == 0);
	PASS();
}

TEST the_submitters_variables_are_behind_all_others(void)
{
	struct slice line[] = { slice_str("A=line") };
	struct slice here[] = { slice_str("A=here"), slice_str("B=here"), slice_str("C=here"), slice_str("D=here") };
	struct job_defaults defaults = { .env = { line, 1 }, .machine = slice_str("m"), .here_dir = slice_str("/here"),
					 .here_env = { here, 4 } };
	struct rec_job_spec spec;

	ASSERT(parse("env: {B: pipe}\njobs:\n  a: {run: x, env: {C: job}}\n  b: {run: y, dir: private}\n"));
	spec = whole(&pipeline.dag, 0, &defaults);
	ASSERT_EQ(4, spec.env.n);
	ASSERT_STR_EQ("line", value(&spec, "A"));
	ASSERT_STR_EQ("pipe", value(&spec, "B"));
	ASSERT_STR_EQ("job", value(&spec, "C"));
	ASSERT_STR_EQ("here", value(&spec, "D"));
	ASSERT(slice_eq(spec.dir, slice_str("/here")));
	spec = whole(&pipeline.dag, 1, &defaults);
	ASSERT(slice_eq(spec.dir, slice_str(DIR_PRIVATE)));
	defaults.dir = slice_str("/line");
	spec = whole(&pipeline.dag, 0, &defaults);
	ASSERT(slice_eq(spec.dir, slice_str("/line")));
	PASS();
}

TEST a_job_adds_to_what_is_shared(void)
{
	struct slice shared[40], own[40];
	struct rec_run_context context = { .env = { shared, 40 } };

	/* Short lists are searched linearly and long ones by hash; both must find the same. */
	for (size_t n = 0; n <= 40; n += 20) {
		struct rec_job_spec spec = { .env = { own, n } };

		for (size_t i = 0; i < 40; i++) {
			char text[32];

			snprintf(text, sizeof(text), "N%zu=shared", i);
			shared[i] = arena_copy(&arena, slice_str(text));
			snprintf(text, sizeof(text), "N%zu=own", i * 2);
			own[i] = arena_copy(&arena, slice_str(text));
		}
		spec_complete(&spec, &context, &arena);
		ASSERT_EQ_FMT(40 + n - (n < 20 ? n : 20), spec.env.n, "%zu");
		ASSERT_STR_EQ(n > 2 ? "own" : "shared", value(&spec, "N4"));
		ASSERT_STR_EQ("shared", value(&spec, "N3"));
	}
	PASS();
}

SUITE(lang_context)
{
	RUN_TEST(nothing_said_is_no_context);
	RUN_TEST(the_command_line_is_before_the_job_before_the_pipeline);
	RUN_TEST(the_submitters_variables_are_behind_all_others);
	RUN_TEST(a_job_adds_to_what_is_shared);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(lang_context);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
