/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values in scripts: a variable at each place of a shell's grammar, a word in a command without a shell, and the refusals. */
#include <stdio.h>

#include "base/buf.h"
#include "greatest.h"
#include "lang/pipeline.h"
#include "lang/yaml_text.h"

GREATEST_MAIN_DEFS();

static struct arena arena;
static struct pipeline pipeline;
static struct dag_spot spot;
static struct error error;

/* Read a job with this script; its parameter v has this value. */
static enum err read_job(const char *script, const char *value, struct rec_job_spec *ret)
{
	const struct job_defaults defaults = { 0 };
	struct buf yaml = { 0 }, given = { 0 };
	struct slice list[1];
	enum err err;

	arena_free(&arena);
	error = (struct error){ 0 };
	buf_addf(&given, "v=%s", value);
	list[0] = buf_slice(&given);
	buf_add_str(&yaml, "params: {v: a, a-b.c: d, a_b: e}\njobs:\n  a:\n    matrix: {x: [one, two]}\n    run: ");
	yaml_text(&yaml, slice_str(script), 6);
	buf_add_byte(&yaml, '\n');
	err = pipeline_parse(buf_slice(&yaml), (struct slice_list){ list, 1 }, &arena, &pipeline, &spot, &error);
	if (err == ERR_NONE) {
		dagline_job(&pipeline.dag, 1, &defaults, &arena, ret);
		ret->script = arena_copy(&arena, ret->script);
	}
	buf_free(&yaml);
	buf_free(&given);
	return err;
}

#define V "${params.v}"
#define WORD "\"${TITAN_P_v}\""
#define BARE "${TITAN_P_v}"

static const char *const right[][2] = {
	{ "echo " V ";", "echo " WORD ";" },
	{ "a=" V "; b=x" V "y;", "a=" WORD "; b=x" WORD "y;" },
	{ "echo \"a " V " b\" >" V, "echo \"a " BARE " b\" >" WORD },
	{ "echo \"$(cat " V ")\";", "echo \"$(cat " WORD ")\";" },
	{ "echo $(echo \"" V "\" ')' " V ") \"" V "\"", "echo $(echo \"" BARE "\" ')' " WORD ") \"" BARE "\"" },
	{ "echo 'a' " V " \\' " V " \"'\" " V, "echo 'a' " WORD " \\' " WORD " \"'\" " WORD },
	{ "x # don't " V "\necho " V, "x # don't " BARE "\necho " WORD },
	{ "x#y " V ";", "x#y " WORD ";" },
	{ "cat <<END\n'" V "\" $(f " V ")\nEND\necho " V, "cat <<END\n'" BARE "\" $(f " WORD ")\nEND\necho " WORD },
	{ "cat <<'A' <<-B\n'\nA\n\t" V "\n\tB\necho " V, "cat <<'A' <<-B\n'\nA\n\t" BARE "\n\tB\necho " WORD },
	{ "cat <<<" V ";", "cat <<<" WORD ";" },
	{ "echo ${A:-" V "} \"${A:-" V "}\" \"${A#" V "}\"", "echo ${A:-" WORD "} \"${A:-" BARE "}\" \"${A#" WORD "}\"" },
	{ "echo ${#A} $# $$ " V, "echo ${#A} $# $$ " WORD },
	{ "echo \"${A#'}'}\" " V, "echo \"${A#'}'}\" " WORD },
	{ "case " V " in " V "|b) echo " V ";; (c) x;; esac; echo $(case a in a) echo \"" V "\";; b) ;; esac; echo " V ") " V,
	  "case " WORD " in " WORD "|b) echo " WORD ";; (c) x;; esac; echo $(case a in a) echo \"" BARE "\";; b) ;; esac; echo " WORD ") " WORD },
	{ "for i in a " V "; do echo $i; done", "for i in a " WORD "; do echo $i; done" },
	{ "for i in $(ls " V "); do echo $i; done", "for i in $(ls " WORD "); do echo $i; done" },
	{ "f() { echo " V "; }; (f; echo " V ")", "f() { echo " WORD "; }; (f; echo " WORD ")" },
	{ "echo $((1 + (2))) " V, "echo $((1 + (2))) " WORD },
	{ "if test " V " = b; then " V "; fi 2>&1 | cat", "if test " WORD " = b; then " WORD "; fi 2>&1 | cat" },
	{ "echo `date` " V, "echo `date` " WORD },
	{ "echo $'it\\'s' " V, "echo $'it\\'s' " WORD },
	{ "evaluate " V "; echo eval " V, "evaluate " WORD "; echo eval " WORD },
	{ "eval x; echo " V, "eval x; echo " WORD },
	{ "echo ${params.a-b.c} ${params.a_b};", "echo \"${TITAN_PX_a_2Db_2Ec}\" \"${TITAN_P_a_b}\";" },
	{ "echo ${matrix.x};", "echo \"${TITAN_M_x}\";" },
	{ "echo '$\\{params.v}' $\\{{ x }} '$\\\\{matrix.x}' $\\{other};", "echo '${params.v}' ${{ x }} '$\\{matrix.x}' $\\{other};" },
};

TEST a_variable_stands_for_each_value(void)
{
	static const char *const values[] = { "b", "' \"; $(id) `id` \n", "" };

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		for (size_t k = 0; k < 3; k++) {
			struct rec_job_spec spec;

			if (strstr(right[i][0], "then " V) && k == 1)
				continue;
			ASSERT_EQ_FMTm(right[i][0], ERR_NONE, read_job(right[i][0], values[k], &spec), "%d");
			ASSERT_EQm(right[i][0], 0, spec.argv.n);
			if (!slice_eq(spec.script, slice_str(right[i][1]))) {
				printf("%.*s\n", (int)spec.script.len, (const char *)spec.script.data);
				FAILm(right[i][1]);
			}
		}
	PASS();
}

static bool has(struct slice_list list, const char *text)
{
	for (size_t i = 0; i < list.n; i++)
		if (slice_eq(list.at[i], slice_str(text)))
			return true;
	return false;
}

/* Read the only job of a pipeline. */
static enum err read_text(const char *text, struct rec_job_spec *ret)
{
	const struct job_defaults defaults = { 0 };
	enum err err;

	arena_free(&arena);
	error = (struct error){ 0 };
	err = pipeline_parse(slice_str(text), (struct slice_list){ 0 }, &arena, &pipeline, &spot, &error);
	if (err == ERR_NONE)
		dagline_job(&pipeline.dag, 0, &defaults, &arena, ret);
	return err;
}

TEST script_with_an_interpreter_is_never_split_into_words(void)
{
	struct rec_job_spec spec;

	ASSERT_EQ(ERR_NONE, read_text("params: {v: a}\njobs: {a: {shell: bash, run: 'echo ${params.v}'}}", &spec));
	ASSERT(slice_eq(spec.interpreter, slice_str("bash")) && spec.argv.n == 0 && slice_eq(spec.script, slice_str("echo \"${TITAN_P_v}\"")));
	ASSERT_EQ(ERR_NONE, read_text("defaults: {shell: /bin/dash}\nparams: {v: a}\njobs: {a: {run: 'echo ${params.v}'}}", &spec));
	ASSERT(slice_eq(spec.interpreter, slice_str("/bin/dash")) && spec.argv.n == 0 && spec.script.len > 0);
	ASSERT_EQ(ERR_NONE, read_text("defaults: {shell: python3}\njobs: {a: {run: 'print(1)', shell: sh}}", &spec));
	ASSERT(slice_eq(spec.interpreter, slice_str("sh")));
	/* A command has no interpreter, and neither has a gate. */
	ASSERT_EQ(ERR_NONE, read_text("defaults: {shell: bash}\njobs: {a: {command: [ls, /]}}", &spec));
	ASSERT(spec.interpreter.len == 0 && spec.argv.n == 2);
	ASSERT_EQ(ERR_NONE, read_text("defaults: {shell: bash}\njobs: {a: {approval: {message: x}}}", &spec));
	ASSERT(spec.interpreter.len == 0);
	PASS();
}

TEST no_value_is_put_into_other_languages_than_sh(void)
{
	static const char *const others[] = { "python3", "/usr/bin/perl", "/usr/bin/env", "/usr/bin/fish", "/x/python3.12" };
	static const char *const shells[] = { "sh", "bash", "/usr/bin/zsh", "/bin/busybox/ash", "/bin/ksh" };
	struct rec_job_spec spec;
	char text[160];

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		snprintf(text, sizeof(text), "params: {v: a}\njobs:\n  a: {shell: %s, run: 'x(\"${params.v}\") # ${params.v}'}", others[i]);
		ASSERT_EQ_FMTm(others[i], ERR_INVALID, read_text(text, &spec), "%d");
		ASSERTm(error.text, strstr(error.text, "no value can be put into a script of") && strstr(error.next, "env:"));
		snprintf(text, sizeof(text), "params: {v: a}\njobs:\n  a: {shell: %s, env: {V: '${params.v}'}, run: 'x $\\{params.v}'}", others[i]);
		ASSERT_EQ_FMTm(error.text, ERR_NONE, read_text(text, &spec), "%d");
		ASSERT(slice_eq(spec.script, slice_str("x ${params.v}")) && has(spec.env, "V=a") && spec.env.n == 1);
	}
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		snprintf(text, sizeof(text), "params: {v: a}\njobs:\n  a: {shell: %s, run: 'x ${params.v}'}", shells[i]);
		ASSERT_EQ_FMTm(error.text, ERR_NONE, read_text(text, &spec), "%d");
		ASSERT(slice_eq(spec.script, slice_str("x \"${TITAN_P_v}\"")));
	}
	PASS();
}

TEST value_is_no_part_of_an_interpreters_argument(void)
{
	static const char *const code[] = {
		"command: [sh, -c, 'rm ${params.v}']", "command: [/usr/bin/bash, -eu, -o, pipefail, -c, 'rm ${params.v}', x]",
		"command: [python3, -u, -c, 'print(\"${params.v}\")']", "command: [perl, -e, 'print \"${params.v}\"']",
		"command: [sh, -ec, 'a $\\{params.v} ${params.v}']", "run: 'sh -c \"rm ${params.v}\"'",
	};
	static const char *const data[] = {
		"command: [sh, -c, 'rm \"$1\"', sh, '${params.v}']", "command: [sh, -c, '${params.v}']", "command: [sh, '${params.v}x', -c, 'a${params.v}']",
		"command: [grep, -c, 'a ${params.v}']", "command: [sh, -c, 'rm $\\{params.v}']", "command: [sh, -c]", "run: 'sh x -c \"a ${params.v}\"'",
		"command: [bash, -o, -c, 'x${params.v}']",
	};
	struct rec_job_spec spec;
	char text[160];

	for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++) {
		snprintf(text, sizeof(text), "params: {v: a}\njobs:\n  a: {%s}", code[i]);
		ASSERT_EQ_FMTm(code[i], ERR_INVALID, read_text(text, &spec), "%d");
		ASSERTm(error.text, strstr(error.text, "would run this value as a part of its code") && spot.len == strlen(V));
	}
	for (size_t i = 0; i < sizeof(data) / sizeof(data[0]); i++) {
		snprintf(text, sizeof(text), "params: {v: a}\njobs:\n  a: {%s}", data[i]);
		ASSERT_EQ_FMTm(data[i], ERR_NONE, read_text(text, &spec), "%d");
	}
	PASS();
}

TEST each_variable_is_in_the_environment_once(void)
{
	struct rec_job_spec spec;

	ASSERT_EQ(ERR_NONE, read_job("echo " V " \"" V "\" ${params.a-b.c} ${params.a_b} ${matrix.x};", "${matrix.x}' $(id)", &spec));
	ASSERT(has(spec.env, "TITAN_P_v=${matrix.x}' $(id)") && has(spec.env, "TITAN_PX_a_2Db_2Ec=d"));
	ASSERT(has(spec.env, "TITAN_P_a_b=e") && has(spec.env, "TITAN_M_x=two"));
	ASSERT_EQ_FMT((size_t)(4 + 3), spec.env.n, "%zu");
	PASS();
}

TEST command_without_a_shell_has_each_value_in_one_word(void)
{
	struct rec_job_spec spec;

	ASSERT_EQ(ERR_NONE, read_job("go " V " -o\"" V " x\"${matrix.x} 'a b' ${params.a_b}", "a 'b' ${matrix.x}; $(id)", &spec));
	ASSERT(spec.argv.n == 5 && spec.script.len == 0);
	ASSERT(slice_eq(spec.argv.at[1], slice_str("a 'b' ${matrix.x}; $(id)")));
	ASSERT(slice_eq(spec.argv.at[2], slice_str("-oa 'b' ${matrix.x}; $(id) xtwo")));
	ASSERT(slice_eq(spec.argv.at[3], slice_str("a b")) && slice_eq(spec.argv.at[4], slice_str("e")));
	ASSERT_EQ(ERR_NONE, read_job("go '$''{params.v}' " V, "", &spec));
	ASSERT(spec.argv.n == 3 && slice_eq(spec.argv.at[1], slice_str("${params.v}")) && spec.argv.at[2].len == 0);
	PASS();
}

static const char *const wrong[][2] = {
	{ "echo '" V "';", "between single quotes" },
	{ "echo 'a " V "'", "between single quotes" },
	{ "echo $'" V "'", "between single quotes" },
	{ "cat <<'E'\n" V "\nE\n", "end word is quoted" },
	{ "cat <<\\E\n" V "\nE\n", "end word is quoted" },
	{ "cat <<" V "\nE\n", "end word of a here-document" },
	{ "echo `cat " V "`", "backquotes" },
	{ "echo \"`cat " V "`\"", "backquotes" },
	{ "echo $((1 + " V "))", "computes" },
	{ "echo \"$(( (2) * " V "))\"", "computes" },
	{ "if ((" V " > 1)); then x; fi", "computes" },
	{ "echo $[" V "]", "computes" },
	{ "echo ${a:" V ":1}", "computes" },
	{ "echo ${a[" V "]}", "computes" },
	{ "a[" V "]=1;", "computes" },
	{ "echo \\" V ";", "backslash" },
	{ "echo \"\\" V "\"", "backslash" },
	{ "echo ${" V "}", "name of a variable" },
	{ "echo ${A_" V "}", "name of a variable" },
	{ "eval echo " V, "eval" },
	{ "command eval \"echo " V "\"", "eval" },
	{ "cd x && trap \"rm " V "\" EXIT", "eval" },
	{ "for i in " V "; do echo $i; done", "one pass" },
	{ "$(((((((((((((((((((((((((((((((((((((((((((((((((((((( " V, "computes" },
	{ "((((x) ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( " V, "computes" },
	{ "( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( ( " V, "too deeply" },
};

TEST places_where_no_value_can_stand_are_refused(void)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct rec_job_spec spec;

		ASSERT_EQ_FMTm(wrong[i][0], ERR_INVALID, read_job(wrong[i][0], "b", &spec), "%d");
		ASSERTm(wrong[i][0], strstr(error.text, wrong[i][1]) != NULL && error.next[0] != '\0' && spot.len == strlen(V));
	}
	PASS();
}

TEST several_words_are_no_command(void)
{
	struct rec_job_spec spec;

	ASSERT_EQ(ERR_NONE, read_job("x; " V " -a", "make", &spec));
	ASSERT_EQ(ERR_INVALID, read_job("x; " V " -a", "make -j2", &spec));
	ASSERT(strstr(error.next, "$COMMAND") != NULL);
	ASSERT_EQ(ERR_INVALID, read_job(V, "make -j2", &spec));
	ASSERT_EQ(ERR_NONE, read_job("x; ./" V " -a", "make -j2", &spec));
	PASS();
}

TEST values_fit_into_the_environment(void)
{
	struct buf value = { 0 };
	struct rec_job_spec spec;

	while (value.len < 131072 - sizeof("TITAN_P_v="))
		buf_add_byte(&value, 'x');
	ASSERT_EQ(ERR_NONE, read_job("echo " V "; echo \"" V V "\"", buf_cstr(&value), &spec));
	ASSERT_EQ(ERR_NONE, read_job("echo " V, buf_cstr(&value), &spec));
	buf_add_byte(&value, 'x');
	ASSERT_EQ(ERR_TOO_LARGE, read_job("echo " V "; x", buf_cstr(&value), &spec));
	ASSERT(strstr(error.next, "file") != NULL && spot.len == strlen(V));
	ASSERT_EQ(ERR_NONE, read_job("echo " V, buf_cstr(&value), &spec));
	ASSERT_EQ(ERR_TOO_LARGE, read_job("echo 123456789012345" V, buf_cstr(&value), &spec));
	buf_free(&value);
	PASS();
}

TEST no_value_has_a_zero_byte(void)
{
	static const char *const texts[] = {
		"params: {v: \"a\\0b\"}\njobs: {a: {run: \"echo ${params.v}\"}}",
		"jobs: {a: {run: \"echo ${matrix.x}; x\", matrix: {x: [a, \"\\0\"]}}}",
		"jobs: {a: {run: echo, fan_out: [a, \"\\0\"]}}",
		"jobs: {a: {run: echo, env: {A: \"\\0\"}}}",
		"jobs: {a: {run: \"echo \\0\"}}",
	};
	struct slice given[] = { slice_make("v=\0", 3) };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ASSERT_EQ_FMTm(texts[i], ERR_INVALID, pipeline_parse(slice_str(texts[i]), (struct slice_list){ 0 }, &arena, &pipeline, &spot, &error), "%d");
		ASSERTm(error.text, strstr(error.text, "NUL"));
	}
	ASSERT_EQ(ERR_INVALID, pipeline_parse(slice_str("params: {v: a}\njobs: {a: {run: \"echo ${params.v}\"}}"), (struct slice_list){ given, 1 },
					      &arena, &pipeline, &spot, &error));
	ASSERT(strstr(error.text, "zero byte") && strstr(error.next, "file"));
	PASS();
}

/* An output has no value yet: the specification says which one goes into which variable. */
TEST outputs_of_other_jobs_become_variables(void)
{
	static const char text[] = "jobs:\n"
		"  a.b: {outputs: [v, x-y], run: x}\n"
		"  c: {needs: [a.b], run: x}\n"
		"  d:\n"
		"    needs: [c]\n"
		"    env: {V: \"${jobs.a.b.outputs.v}\"}\n"
		"    run: go ${jobs.a.b.outputs.v} \"${jobs.a.b.outputs.x-y}\"\n";
	const struct job_defaults defaults = { 0 };
	struct rec_job_spec spec;

	arena_free(&arena);
	ASSERT_EQ_FMTm(error.text, ERR_NONE, pipeline_parse(slice_str(text), (struct slice_list){ 0 }, &arena, &pipeline, &spot, &error), "%d");
	dagline_job(&pipeline.dag, 0, &defaults, &arena, &spec);
	ASSERT(spec.outputs.n == 2 && slice_eq(spec.outputs.at[1], slice_str("x-y")) && spec.takes.n == 0);
	dagline_job(&pipeline.dag, 2, &defaults, &arena, &spec);
	ASSERT(slice_eq(spec.script, slice_str("go \"${TITAN_O_a_2Eb__v?}\" \"${TITAN_O_a_2Eb__x_2Dy?}\"")));
	ASSERT(spec.env.n == 0 && spec.takes.n == 3);
	ASSERT(has(spec.takes, "TITAN_O_a_2Eb__v=a.b/v") && has(spec.takes, "TITAN_O_a_2Eb__x_2Dy=a.b/x-y") && has(spec.takes, "V=a.b/v"));
	PASS();
}

SUITE(lang_shell)
{
	RUN_TEST(outputs_of_other_jobs_become_variables);
	RUN_TEST(a_variable_stands_for_each_value);
	RUN_TEST(script_with_an_interpreter_is_never_split_into_words);
	RUN_TEST(no_value_is_put_into_other_languages_than_sh);
	RUN_TEST(value_is_no_part_of_an_interpreters_argument);
	RUN_TEST(each_variable_is_in_the_environment_once);
	RUN_TEST(command_without_a_shell_has_each_value_in_one_word);
	RUN_TEST(places_where_no_value_can_stand_are_refused);
	RUN_TEST(several_words_are_no_command);
	RUN_TEST(values_fit_into_the_environment);
	RUN_TEST(no_value_has_a_zero_byte);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(lang_shell);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
