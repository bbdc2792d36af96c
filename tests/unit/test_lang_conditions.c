/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conditions over states, exit codes and outputs: the code that they become, the text that is shown for them, and that this
 * text means the same. tests/fixtures/wrong-pipelines.txt has the errors.
 */
#include <inttypes.h>
#include <stdio.h>

#include "greatest.h"
#include "lang/pipeline.h"
#include "proto/expr.h"
#include "proto/expr_value.h"
#include "proto/limits.h"

static struct arena arena;
static struct error error;
static struct rec_job_spec spec;

#define GRAPH \
	"params: {env: prod, n: \"12\"}\n" \
	"jobs:\n" \
	"  a: {run: x, outputs: [v, w.x]}\n" \
	"  b.c: {run: x, outputs: [v]}\n" \
	"  fan: {run: x, fan_out: 2, outputs: [v]}\n"

static enum err read_pipeline(const char *text, uint64_t index)
{
	const struct job_defaults defaults = { 0 };
	struct pipeline pipeline;
	struct dag_spot spot;
	enum err err;

	error = (struct error){ 0 };
	err = pipeline_parse(slice_str(text), (struct slice_list){ 0 }, &arena, &pipeline, &spot, &error);
	if (err == ERR_NONE)
		dagline_job(&pipeline.dag, index, &defaults, &arena, &spec);
	return err;
}

static enum err read_when(const char *when)
{
	char text[1024];

	snprintf(text, sizeof(text), GRAPH "  it:\n    run: x\n    when: >-\n      %s\n", when);
	return read_pipeline(text, 4);
}

static void add_question(struct buf *out, struct slice question)
{
	static const char *const words[] = {
		"", "true", "false", "text", "number", "name", "exit", "list", "==", "<", "<=", ">", ">=", "in", "glob", "matches", "+", "-",
		"not", "all", "any", "has", "size",
	};
	struct expr_value_step step;

	while (expr_value_next(&question, &step)) {
		buf_addf(out, "%s ", words[step.op]);
		if (step.op == STEP_NAME || step.op == STEP_EXIT)
			buf_addf(out, "%" PRIu64 "+%" PRIu64 " ", step.a, step.b);
	}
}

/* The code of the condition in words. */
static const char *coded(struct slice code)
{
	static const char *const words[] = { "", "true", "false", "state", "code", "not", "gate", "ask" };
	static struct buf out;
	struct expr_step step;

	buf_clear(&out);
	while (expr_next(&code, &step)) {
		buf_addf(&out, "%s ", words[step.op]);
		if (step.op != EXPR_ASK)
			continue;
		buf_add_str(&out, "( ");
		add_question(&out, expr_asked(&code, &step));
		buf_add_str(&out, ") ");
	}
	return buf_cstr(&out);
}

static const struct { const char *when, *code, *shown; } right[] = {
	{ "jobs.a.outputs.v == \"yes\"", "ask ( name 0+0 text == ) ", "jobs.a.outputs.v == 'yes'" },
	{ "jobs.a.outputs.w.x != 3", "ask ( name 0+0 number == not ) ", "jobs.a.outputs.w.x != 3" },
	{ "jobs.b.c.outputs.v > 0.5", "ask ( name 0+0 number > ) ", "jobs.b.c.outputs.v > 0.5" },
	{ "jobs.a.outputs.v < jobs.b.c.outputs.v", "ask ( name 0+0 name 1+0 < ) ", "jobs.a.outputs.v < jobs.b.c.outputs.v" },
	{ "jobs.a.outputs.v + 1 - jobs.b.c.exit >= 2", "ask ( name 0+0 number + exit 1+0 - number >= ) ",
	  "((jobs.a.outputs.v + 1) - jobs.b.c.exit) >= 2" },
	{ "jobs.a.outputs.v in [\"x\", 3, true]", "ask ( name 0+0 text number true list in ) ", "jobs.a.outputs.v in ['x', 3, true]" },
	{ "\"x\" in jobs.fan.outputs.v", "ask ( text name 0+2 in ) ", "'x' in jobs.fan.outputs.v" },
	{ "size(jobs.fan.outputs.v) == 2 and a", "ask ( name 1+2 size number == ) state gate ", "size(jobs.fan.outputs.v) == 2 && a" },
	{ "not has(jobs.a.outputs.v) or b.c:failed", "ask ( name 0+0 has ) not state gate ", "!has(jobs.a.outputs.v) || b.c:failed" },
	{ "jobs.a.outputs.v glob \"v1.*\"", "ask ( name 0+0 text glob ) ", "jobs.a.outputs.v glob 'v1.*'" },
	{ "jobs.a.outputs.v == true", "ask ( name 0+0 true == ) ", "jobs.a.outputs.v == true" },
	{ "has(jobs.a.exit)", "ask ( exit 0+0 has ) ", "has(jobs.a.exit)" },
	{ "jobs.a.exit in [3, 4]", "ask ( exit 0+0 number number list in ) ", "jobs.a.exit in [3, 4]" },
	{ "jobs.a.exit == 3", "code ", "a.code == 3" },
	{ "jobs.a.exit != 3", "code not ", "a.code != 3" },
	{ "jobs.a.state == ok", "state ", "a" },
	{ "jobs.a.state == \"failed\"", "state ", "a:failed" },
	{ "jobs.a.state != ok", "state not ", "!a" },
	{ "jobs.fan.state == ok", "state gate ", "fan" },
	{ "jobs.b.c.state in [ok, skipped]", "state ", "jobs.b.c.state in [ok, skipped]" },
	{ "params.env == \"prod\"", "true ", "'prod' == 'prod'" },
	{ "params.n > 9", "true ", "'12' > 9" },
	{ "params.env matches \"^p\"", "true ", "'prod' matches '^p'" },
	{ "params.env glob \"s*\" or params.env in [\"prod\"]", "false true gate ", "'prod' glob 's*' || 'prod' in ['prod']" },
	{ "jobs.a.outputs.v == params.env", "ask ( name 0+0 text == ) ", "jobs.a.outputs.v == 'prod'" },
	{ "not (a and b.c)", "state state gate not ", "!(a && b.c)" },
	{ "not a and b.c.ok", "state not state gate ", "!a && b.c" },
};

TEST conditions_become_code_and_text(void)
{
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		struct slice code;
		const char *shown;

		read_when(right[i].when);
		ASSERT_STR_EQm(right[i].when, "", error.text);
		ASSERT_EQm(right[i].when, ERR_NONE, expr_check(spec.when_code, spec.needs.n, &error));
		ASSERT_STR_EQm(right[i].when, right[i].code, coded(spec.when_code));
		code = spec.when_code;
		shown = arena_strdup(&arena, spec.when);
		ASSERT_STR_EQm(right[i].when, right[i].shown, shown);
		read_when(shown);
		ASSERT_STR_EQm(shown, "", error.text);
		ASSERT_EQm(shown, true, slice_eq(code, spec.when_code));
		arena_free(&arena);
	}
	PASS();
}

/* Jobs with such names keep their old meaning. */
TEST names_of_jobs_come_first(void)
{
	ASSERT_EQ(ERR_NONE, read_pipeline("jobs:\n  not: {run: x}\n  in: {run: x}\n  jobs.a.state: {run: x}\n"
					  "  it: {run: x, when: not && in || !jobs.a.state}\n", 3));
	ASSERT_STR_EQ("state state gate state not gate ", coded(spec.when_code));
	ASSERT_EQ(ERR_NONE, read_pipeline("jobs:\n  not: {run: x}\n  it: {run: x, when: not not}\n", 1));
	ASSERT_STR_EQ("state not ", coded(spec.when_code));
	arena_free(&arena);
	PASS();
}

TEST loops_ask_what_the_pass_put_out(void)
{
	ASSERT_EQ(ERR_NONE, read_pipeline("jobs:\n  it: {run: x, loop: {until: outputs.v == \"x\" and code == 0 or failed, max: 3}, outputs: [v]}\n", 0));
	ASSERT_STR_EQ("ask ( name 0+0 text == ) code gate state gate ", coded(spec.loop_code));
	ASSERT_STR_EQ("(outputs.v == 'x' && code == 0) || failed", arena_strdup(&arena, spec.loop_until));
	arena_free(&arena);
	PASS();
}

TEST too_many_questions_are_refused(void)
{
	struct buf text = { 0 };

	buf_add_str(&text, GRAPH "  it: {run: x, when: 'has(jobs.a.outputs.v)");
	for (int i = 0; i < LIMIT_EXPR_ASKS_MAX; i++)
		buf_add_str(&text, " or has(jobs.a.outputs.v)");
	buf_add_str(&text, "'}\n");
	ASSERT_EQ(ERR_TOO_LARGE, read_pipeline(buf_cstr(&text), 4));
	ASSERT_STR_EQ("a condition may ask at most 64 questions about values", error.text);
	buf_free(&text);
	arena_free(&arena);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(conditions_become_code_and_text);
	RUN_TEST(names_of_jobs_come_first);
	RUN_TEST(loops_ask_what_the_pass_put_out);
	RUN_TEST(too_many_questions_are_refused);
	GREATEST_MAIN_END();
}
