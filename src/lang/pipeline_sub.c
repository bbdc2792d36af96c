/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the keys pipeline and params of a job whose work is a graph. That graph is in another file, which
 * src/cli/graph/load_sub.c finds, or is written inside the job.
 */
#include "lang/pipeline_internal.h"

#include <stdio.h>

#include "base/text.h"
#include "proto/limits.h"

#define PARAMS_MAX 256

enum err pipe_read_sub(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	enum err err;

	job->node->sub_spot = value->spot;
	if (value->kind == TREE_MAP) {
		/* This isn't the name of a file: a path that isn't empty marks the job as one with a sub-run. */
		job->node->sub_path = job->node->name;
		return pipe_read_inner(pipe, job->node, value);
	}
	job->node->sub_guessed = pipe_is_guess(pipe, value);
	err = pipe_text(pipe, value, "pipeline", &job->node->sub_path);
	if (err == ERR_NONE && job->node->sub_path.len == 0)
		return pipe_fail(pipe, value, ERR_INVALID, "pipeline must be the name of a file");
	return err;
}

/* Read the parameters as NAME=VALUE, like on the command line. */
enum err pipe_read_sub_params(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice_list *given = &job->node->sub_given, *unknown = &job->node->sub_unknown, *taken = &job->node->sub_taken;
	enum err err = pipe_expect(pipe, value, TREE_MAP, "params");

	if (err != ERR_NONE)
		return err;
	if (job->node->sub_path.len == 0)
		return pipe_fail(pipe, value, ERR_INVALID, "a job can have params only together with pipeline");
	if (job->node->subs != NULL)
		return pipe_fail(pipe, value, ERR_INVALID, "params belong to a pipeline in another file, and this one stands here");
	if (value->count > PARAMS_MAX)
		return pipe_fail(pipe, value, ERR_TOO_LARGE, "a pipeline may have at most %d parameters", PARAMS_MAX);
	given->at = arena_zalloc(pipe->reader.arena, value->count + 1, sizeof(*given->at));
	unknown->at = arena_zalloc(pipe->reader.arena, value->count + 1, sizeof(*unknown->at));
	taken->at = arena_zalloc(pipe->reader.arena, value->count + 1, sizeof(*taken->at));
	for (const struct tree_node *node = value->first; node != NULL; node = node->next) {
		char prefix[LIMIT_NAME_MAX_LEN + 2];

		if (pipe_is_guess(pipe, node)) {
			unknown->at[unknown->n++] = node->key;
			continue;
		}
		if (!text_is_name(node->key))
			return dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_INVALID,
					"the name of a parameter may only have letters, digits and _ . -");
		if (pipe_is_output(pipe, node)) {
			err = pipe_read_taken(pipe, job, node, true, &taken->at[taken->n++]);
			if (err != ERR_NONE)
				return err;
			continue;
		}
		snprintf(prefix, sizeof(prefix), "%.*s=", (int)node->key.len, (const char *)node->key.data);
		err = pipe_template(pipe, node, "a parameter", arena_copy(pipe->reader.arena, slice_str(prefix)),
				    &given->at[given->n++]);
		if (err != ERR_NONE)
			return err;
	}
	return ERR_NONE;
}
