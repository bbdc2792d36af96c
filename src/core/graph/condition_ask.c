/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Questions of conditions about values: what jobs put out, and their exit codes. A question is asked when all jobs that it
 * names have ended, so it has one answer until one of them begins a new round. An output that isn't there is a value that
 * isn't there, and a comparison with it is false.
 */
#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/graph/internal.h"
#include "proto/expr.h"
#include "proto/expr_value.h"
#include "proto/job_output.h"
#include "proto/limits.h"

struct asked {
	const struct run *run;
	const struct rec_job_spec *spec; /* NULL: the end of a pass is asked about */
	const struct job *pass;
};

static const struct job *job_of(const struct asked *asked, uint64_t need)
{
	if (!asked->spec)
		return asked->pass;
	return run_job(asked->run, (uint32_t)asked->spec->needs.at[PLANTED(question_of_the_first_need) ? 0 : need]);
}

static void find_output(struct slice rest, struct slice name, struct arena *arena, struct expr_value *ret)
{
	struct rec_job_output output;

	while (job_output_next(&rest, arena, &output))
		if (output.fault == OUTPUT_NONE && slice_eq(output.name, name))
			*ret = (struct expr_value){ .kind = EXPR_TEXT, .text = output.value };
	if (PLANTED(missing_output_is_empty) && ret->kind == EXPR_MISSING)
		*ret = (struct expr_value){ .kind = EXPR_TEXT };
}

static void name_value(void *arg, const struct expr_value_step *name, struct arena *arena, struct expr_value *ret)
{
	const struct asked *asked = arg;
	const struct job *job = job_of(asked, name->a);
	struct expr_value *items;

	if (name->op == STEP_EXIT) {
		if (job->outcome == OUTCOME_EXIT || PLANTED(exit_of_a_signal))
			*ret = (struct expr_value){ .kind = EXPR_NUMBER, .number = job->code };
		return;
	}
	if (name->b == 0) {
		find_output(job_outputs(job), name->text, arena, ret);
		return;
	}
	items = arena_zalloc(arena, (size_t)name->b, sizeof(*items));
	for (uint64_t i = 0; i < name->b; i++)
		find_output(job_outputs(job_of(asked, name->a + i)), name->text, arena, &items[i]);
	*ret = (struct expr_value){ .kind = EXPR_LIST, .items = items, .count = (size_t)name->b };
}

static bool ask(struct asked *asked, struct slice question)
{
	struct expr_world world = { .name_cb = name_value, .arg = asked, .steps = LIMIT_EXPR_ASK_STEPS };
	struct arena arena = { 0 };
	bool yes = expr_value_true(question, &world, &arena);

	arena_free(&arena);
	return yes;
}

bool ask_true(const struct run *run, const struct rec_job_spec *spec, struct slice question)
{
	struct asked asked = { .run = run, .spec = spec };

	return ask(&asked, question);
}

bool ask_pass(const struct job *pass, struct slice question)
{
	struct asked asked = { .run = pass->run, .pass = pass };

	return ask(&asked, question);
}

bool ask_next(struct slice *question, uint64_t *ret_first, uint64_t *ret_count)
{
	struct expr_value_step step;

	while (expr_value_next(question, &step)) {
		if (step.op != STEP_NAME && step.op != STEP_EXIT)
			continue;
		*ret_first = step.a;
		*ret_count = step.op == STEP_NAME && step.b > 0 ? step.b : 1;
		return true;
	}
	return false;
}

bool ask_ready(const struct run *run, const struct rec_job_spec *spec, struct slice question)
{
	uint64_t first, count;

	while (ask_next(&question, &first, &count))
		for (uint64_t i = first; i < first + count; i++)
			if (!state_terminal(run_job(run, (uint32_t)spec->needs.at[i])->state))
				return false;
	return true;
}
