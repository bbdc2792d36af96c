/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a condition was false: which of its questions about values were, and which values they found. The specification of the job
 * has the questions, and the rows of the jobs that they name have the values, also when the run ended long ago.
 */
#include <inttypes.h>

#include "base/text.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/ask/specs.h"
#include "cli/commands/explain_groups.h"
#include "proto/expr.h"
#include "proto/expr_value.h"
#include "proto/job_output.h"
#include "proto/limits.h"

#define TOLD_MAX 3                       /* questions, and entries of a list, that are told */
#define TEXT_MAX 64                      /* bytes of a value that are told */
#define WIDTH_MAX 64                     /* jobs of a fan-out that are asked for */

struct part {                            /* a part of a question, as text */
	struct buf text;
	bool joined;                     /* it needs parentheses within another part */
};

static void add_value(struct buf *out, const struct expr_value *value)
{
	switch (value->kind) {
	case EXPR_TEXT:
		text_add_json(out, slice_make(value->text.data, value->text.len < TEXT_MAX ? value->text.len : TEXT_MAX));
		buf_add_str(out, value->text.len > TEXT_MAX ? ".." : "");
		break;
	case EXPR_NUMBER:
		buf_addf(out, "%" PRId64, (int64_t)value->number);
		break;
	case EXPR_LIST:
		buf_add_byte(out, '[');
		for (size_t i = 0; i < value->count && i < TOLD_MAX; i++) {
			buf_add_str(out, i > 0 ? ", " : "");
			add_value(out, &value->items[i]);
		}
		buf_add_str(out, value->count > TOLD_MAX ? ", ..]" : "]");
		break;
	default:
		buf_add_str(out, "not there");
		break;
	}
}

struct subject {
	struct cli *cli;
	const struct spec_graph *graph;
	const struct rec_job_spec *spec;
	uint64_t run;
	/* of each need: its row, once it was asked for */
	struct rec_job_row **rows;
};

static void add_job_name(struct buf *out, const struct subject *subject, const struct expr_value_step *name)
{
	struct slice job = subject->graph->jobs[subject->spec->needs.at[name->a]].name;

	/* The first job of a fan-out, NAME[0], stands for all of it. */
	if (name->op == STEP_NAME && name->b > 0)
		job.len = spec_stem(job);
	buf_addf(out, "jobs.%.*s.", (int)job.len, (const char *)job.data);
	if (name->op == STEP_EXIT)
		buf_add_str(out, "exit");
	else
		buf_addf(out, "outputs.%.*s", (int)name->text.len, (const char *)name->text.data);
}

/* ---- values ---- */

static void output_value(const struct rec_job_row *row, struct slice name, struct arena *arena, struct expr_value *ret)
{
	struct slice rest = row->outputs;
	struct rec_job_output output;

	while (job_output_next(&rest, arena, &output))
		if (output.fault == OUTPUT_NONE && slice_eq(output.name, name))
			*ret = (struct expr_value){ .kind = EXPR_TEXT, .text = output.value };
}

/* The rows were asked for before (ask_rows). */
static void name_value(void *arg, const struct expr_value_step *name, struct arena *arena, struct expr_value *ret)
{
	const struct subject *subject = arg;
	const struct rec_job_row *row = subject->rows[name->a];
	struct expr_value *items;

	if (name->op == STEP_EXIT && row->outcome == OUTCOME_EXIT)
		*ret = (struct expr_value){ .kind = EXPR_NUMBER, .number = (double)row->code };
	if (name->op == STEP_EXIT)
		return;
	if (name->b == 0) {
		output_value(row, name->text, arena, ret);
		return;
	}
	items = arena_zalloc(arena, (size_t)name->b, sizeof(*items));
	for (uint64_t i = 0; i < name->b; i++)
		output_value(subject->rows[name->a + i], name->text, arena, &items[i]);
	*ret = (struct expr_value){ .kind = EXPR_LIST, .items = items, .count = (size_t)name->b };
}

/* Ask for the rows of all jobs that the question names. False: one of them hasn't ended, or there are too many to ask for. */
static bool ask_rows(struct subject *subject, struct slice question)
{
	struct expr_value_step step;

	while (expr_value_next(&question, &step)) {
		uint64_t width = step.op == STEP_NAME && step.b > 0 ? step.b : 1;

		if (step.op != STEP_NAME && step.op != STEP_EXIT)
			continue;
		if (width > WIDTH_MAX)
			return false;
		for (uint64_t need = step.a; need < step.a + width; need++) {
			struct selector selector = { subject->run, subject->graph->jobs[subject->spec->needs.at[need]].name };

			if (subject->rows[need])
				continue;
			subject->rows[need] = arena_zalloc(&subject->cli->arena, 1, sizeof(struct rec_job_row));
			if (cli_query_job(subject->cli, &selector, &subject->cli->arena, subject->rows[need]) != ERR_NONE)
				return false;
			if (!state_terminal(job_state_checked(subject->rows[need]->state)))
				return false;
		}
	}
	return true;
}

/* ---- text ---- */

/* Write the question as it reads in a pipeline. The stack of parts is as deep as its code is long at most. */
static void add_question(struct buf *out, const struct subject *subject, struct slice question)
{
	static const char *const between[EXPR_VALUE_OP_COUNT] = {
		[STEP_EQ] = " == ", [STEP_LT] = " < ", [STEP_LE] = " <= ", [STEP_GT] = " > ", [STEP_GE] = " >= ", [STEP_IN] = " in ",
		[STEP_GLOB] = " glob ", [STEP_ADD] = " + ", [STEP_SUB] = " - ", [STEP_ALL] = " and ", [STEP_ANY] = " or ", [STEP_LIST] = ", ",
	};
	static const char *const before[EXPR_VALUE_OP_COUNT] = {
		[STEP_NOT] = "not ", [STEP_HAS] = "has(", [STEP_SIZE] = "size(", [STEP_LIST] = "[",
	};
	struct part *stack = arena_zalloc(&subject->cli->arena, question.len + 1, sizeof(*stack));
	struct expr_value_step step;
	size_t depth = 0;

	while (expr_value_next(&question, &step)) {
		size_t count = expr_value_taken(&step);
		struct part part = { .joined = between[step.op] != NULL && step.op != STEP_LIST };

		buf_add_str(&part.text, before[step.op] ? before[step.op] : "");
		depth -= count;
		for (size_t i = 0; i < count; i++) {
			struct part *of = &stack[depth + i];
			bool closed = of->joined && (part.joined || step.op == STEP_NOT);

			buf_addf(&part.text, "%s%s", i > 0 ? between[step.op] : "", closed ? "(" : "");
			buf_add_slice(&part.text, buf_slice(&of->text));
			buf_add_str(&part.text, closed ? ")" : "");
			buf_free(&of->text);
		}
		if (step.op == STEP_NAME || step.op == STEP_EXIT)
			add_job_name(&part.text, subject, &step);
		else if (step.op == STEP_TEXT)
			add_value(&part.text, &(struct expr_value){ .kind = EXPR_TEXT, .text = step.text });
		else if (step.op == STEP_NUMBER)
			buf_add_slice(&part.text, step.text);
		else if (step.op == STEP_TRUE || step.op == STEP_FALSE)
			buf_add_str(&part.text, step.op == STEP_TRUE ? "true" : "false");
		else if (step.op == STEP_HAS || step.op == STEP_SIZE || step.op == STEP_LIST)
			buf_add_byte(&part.text, step.op == STEP_LIST ? ']' : ')');
		stack[depth++] = part;
	}
	buf_add_slice(out, buf_slice(&stack[0].text));
	buf_free(&stack[0].text);
}

static void add_values(struct buf *out, struct subject *subject, struct slice question)
{
	struct expr_value_step step;
	unsigned told = 0;

	while (expr_value_next(&question, &step)) {
		struct expr_value value = { 0 };

		if ((step.op != STEP_NAME && step.op != STEP_EXIT) || told++ >= TOLD_MAX)
			continue;
		name_value(subject, &step, &subject->cli->arena, &value);
		buf_add_str(out, told > 1 ? ", " : ": ");
		add_job_name(out, subject, &step);
		buf_add_str(out, " is ");
		add_value(out, &value);
	}
}

/* Tell of a question that is false. */
static bool tell_question(struct buf *out, struct subject *subject, struct slice question)
{
	struct expr_world world = { .name_cb = name_value, .arg = subject, .steps = LIMIT_EXPR_ASK_STEPS };

	if (!ask_rows(subject, question) || expr_value_true(question, &world, &subject->cli->arena))
		return false;
	buf_add_str(out, "; ");
	add_question(out, subject, question);
	buf_add_str(out, world.spent ? " takes too many steps" : " is false");
	add_values(out, subject, question);
	return true;
}

static const struct rec_job_spec *spec_named(const struct spec_graph *graph, struct slice name)
{
	for (uint64_t i = 0; i < graph->count; i++)
		if (slice_eq(graph->jobs[i].name, name))
			return &graph->jobs[i];
	return NULL;
}

struct slice explain_condition(struct cli *cli, const struct rec_job_row *job, struct slice cause)
{
	struct asked_graph asked;
	struct subject subject = { .cli = cli, .graph = &asked.graph, .run = job->run };
	struct buf out = { 0 };
	struct expr_step step;
	struct slice code, told;
	unsigned count = 0;

	if (cli_query_graph(cli, job->run, NULL, &asked) != ERR_NONE)
		return cause;
	subject.spec = spec_named(&asked.graph, job->name);
	if (!subject.spec || expr_check(subject.spec->when_code, subject.spec->needs.n, NULL) != ERR_NONE)
		return cause;
	buf_add_slice(&out, cause);
	subject.rows = arena_zalloc(&cli->arena, subject.spec->needs.n + 1, sizeof(*subject.rows));
	for (code = subject.spec->when_code; count < TOLD_MAX && expr_next(&code, &step);)
		if (step.op == EXPR_ASK)
			count += tell_question(&out, &subject, expr_asked(&code, &step));
	told = arena_copy(&cli->arena, buf_slice(&out));
	buf_free(&out);
	return told;
}
