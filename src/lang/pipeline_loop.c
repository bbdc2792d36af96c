/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key loop: the condition that ends it, the largest number of passes, and the delay between passes. */
#include "lang/dag_expr.h"
#include "lang/pipeline_internal.h"

#include "proto/limits.h"


static enum err read_until(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct dag_expr *expr = NULL;
	enum err err = pipe_read_expr(pipe, job, value, "until", true, &expr);

	if (err != ERR_NONE)
		return err;
	job->node->loop_code = dag_expr_own_code(expr, pipe->reader.arena);
	job->node->loop_until = dag_expr_own_text(expr, pipe->reader.arena);
	return ERR_NONE;
}

static enum err read_max(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_number(pipe, value, 1, LIMIT_LOOP_PASSES_MAX, &job->node->loop_max);
}

static enum err read_on_max(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice text;
	enum err err = pipe_text(pipe, value, "on_max", &text);

	if (err != ERR_NONE)
		return err;
	if (!slice_eq(text, slice_str("fail")) && !slice_eq(text, slice_str("ok")))
		return pipe_fail(pipe, value, ERR_INVALID, "on_max must be fail or ok");
	job->node->loop_on_max = slice_eq(text, slice_str("ok")) ? LOOP_MAX_OK : LOOP_MAX_FAIL;
	return ERR_NONE;
}

static const struct pipe_key loop_keys[] = {
	{ "until", read_until }, { "max", read_max }, { "on_max", read_on_max },
};

const struct pipe_section pipe_section_loop = PIPE_SECTION("loop", loop_keys, "loop.");

enum err pipe_read_loop(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	enum err err = pipe_map(pipe, value, &pipe_section_loop, job);

	if (err == ERR_NONE && (job->node->loop_max == 0 || job->node->loop_code.len == 0))
		return pipe_fail(pipe, value, ERR_INVALID, "a loop needs until and max: {until: ok, max: 10}");
	return err;
}

/* Check the loop, once the job has its defaults. */
enum err pipe_check_loop(struct pipe *pipe, const struct pipe_job *job, const struct tree_node *value)
{
	const struct tree_node *loop = tree_find(value, "loop");

	if (loop == NULL || job->node->mode != EXEC_ONCE + 1)
		return ERR_NONE;
	return dag_fail(&pipe->reader, loop->key_spot.at, loop->key_spot.len, ERR_INVALID,
			"a job whose mode is once can't be a loop");
}
