/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Texts in which outputs of jobs can stand: the question of a gate, the outputs of a noop and those of the pipeline. They are
 * kept in the form of proto/output_text.h, because their values are only known when the jobs have run.
 */
#include "lang/pipeline_internal.h"

#include "base/text.h"
#include "proto/limits.h"
#include "proto/output_text.h"

/* Note the output that a reference stands for, and add it to the text. */
static enum err add_output(struct pipe *pipe, struct dag_node *user, const struct tree_node *node, const struct matrix_ref *ref, struct buf *out)
{
	struct dag_take take = { 0 };
	enum err err = pipe_read_ref(pipe, node, ref, &take);

	if (err != ERR_NONE)
		return err;
	if (user->take_count == LIMIT_TAKES_MAX)
		return dag_fail(&pipe->reader, take.spot.at, take.spot.len, ERR_TOO_LARGE, "at most %d outputs of others may be used here",
				LIMIT_TAKES_MAX);
	dag_take_add(&pipe->reader, user, &take);
	buf_add_str(out, "${");
	output_ref_add(out, &(struct output_ref){ take.up, take.job, take.output });
	buf_add_byte(out, '}');
	return ERR_NONE;
}

static enum err add_ref(struct pipe *pipe, struct dag_node *user, const struct tree_node *node, const struct matrix_ref *ref, struct buf *out)
{
	struct dag_spot spot = pipe_part_spot(pipe, node, ref->at, ref->len);
	struct slice_list values = matrix_values(&pipe->words, ref);

	if (ref->kind == REF_LITERAL) {
		buf_add_str(out, "$$");
		output_text_plain(out, ref->name);
		return ERR_NONE;
	}
	if (ref->kind == FAULT_OUTPUT || matrix_taken(&pipe->words, ref).len > 0)
		return add_output(pipe, user, node, ref, out);
	if (ref->kind == FAULT_AXIS || values.n == 0)
		return dag_fail(&pipe->reader, spot.at, spot.len, ERR_INVALID, "no value of a matrix can stand here");
	output_text_plain(out, values.at[0]);
	return ERR_NONE;
}

bool pipe_has_outputs(const struct pipe *pipe, const struct tree_node *node)
{
	struct matrix_ref ref;

	for (size_t from = 0; node->kind == TREE_TEXT && matrix_next(node->text, from, &ref); from = ref.at + ref.len)
		if (ref.kind == FAULT_OUTPUT || matrix_taken(&pipe->words, &ref).len > 0)
			return true;
	return false;
}

enum err pipe_read_text(struct pipe *pipe, struct dag_node *user, const struct tree_node *node, const char *what, struct slice lead,
			struct slice *ret)
{
	enum err err = pipe_check_refs(pipe, node, what);
	struct buf out = { 0 };
	struct matrix_ref ref;
	size_t from = 0;

	buf_add_slice(&out, lead);
	while (err == ERR_NONE && matrix_next(node->text, from, &ref)) {
		output_text_plain(&out, slice_make(node->text.data + from, ref.at - from));
		err = add_ref(pipe, user, node, &ref, &out);
		from = ref.at + ref.len;
	}
	if (err == ERR_NONE && from < node->text.len)
		output_text_plain(&out, slice_make(node->text.data + from, node->text.len - from));
	if (err == ERR_NONE && out.len > LIMIT_COMMAND_MAX)
		err = pipe_fail(pipe, node, ERR_TOO_LARGE, "a text may have at most %d bytes", LIMIT_COMMAND_MAX);
	*ret = arena_copy(pipe->reader.arena, buf_slice(&out));
	buf_free(&out);
	return err;
}

enum err pipe_read_computed(struct pipe *pipe, struct dag_node *user, const struct tree_node *value, struct slice_list *ret)
{
	enum err first = pipe_expect(pipe, value, TREE_MAP, "outputs");

	if (first != ERR_NONE)
		return first;
	if (value->count == 0 || value->count > LIMIT_OUTPUTS_MAX)
		return pipe_fail(pipe, value, ERR_INVALID, "outputs must have 1 to %d entries", LIMIT_OUTPUTS_MAX);
	ret->at = arena_zalloc(pipe->reader.arena, value->count, sizeof(*ret->at));
	for (const struct tree_node *node = value->first; node != NULL; node = node->next) {
		struct buf lead = { 0 };

		if (!text_is_name(node->key)) {
			pipe_note(pipe, dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_INVALID,
						 "the name of an output may only have letters, digits and _ . -, and must begin with a letter, a digit or _"),
				  &first);
			continue;
		}
		buf_add_slice(&lead, node->key);
		buf_add_byte(&lead, '=');
		pipe_note(pipe, pipe_read_text(pipe, user, node, "an output", buf_slice(&lead), &ret->at[ret->n++]), &first);
		buf_free(&lead);
	}
	return first;
}
