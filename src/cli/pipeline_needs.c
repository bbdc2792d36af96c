/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What jobs need becomes edges: names are looked up once all jobs are known. */
#include "cli/pipeline_internal.h"

#include "base/text.h"
#include "proto/limits.h"

struct need {                            /* as written, and where */
	struct slice text;
	struct dag_spot spot;
};

static int cut(struct slice text)
{
	return (int)(text.len < LIMIT_NAME_MAX_LEN ? text.len : LIMIT_NAME_MAX_LEN);
}

static bool trigger_by_name(struct slice word, enum trigger *ret)
{
	static const char *const words[] = { "ok", "failed", "done" };

	for (size_t i = 0; i < 3; i++) {
		if (slice_eq(word, slice_str(words[i]))) {
			*ret = (enum trigger)i;
			return true;
		}
	}
	return false;
}

static enum err unknown_need(struct pipe *pipe, const struct pipe_job *job, const struct need *need)
{
	size_t best = need->text.len < 4 ? 2 : 3;
	struct slice child = job->node->name;
	const struct dag_name *nearest = NULL;
	enum err err = dag_fail(&pipe->reader, need->spot.at, need->spot.len, ERR_UNKNOWN_NAME,
				"job '%.*s' needs '%.*s', which does not exist", (int)child.len,
				(const char *)child.data, cut(need->text), (const char *)need->text.data);

	for (size_t i = 0; i < pipe->reader.name_count; i++) {
		const struct dag_name *name = pipe->reader.list[i];
		size_t distance = text_distance(need->text, name->node.name, best);

		if (distance < best && name != job->name) {
			best = distance;
			nearest = name;
		}
	}
	if (nearest != NULL)
		error_next(pipe->reader.error, "did you mean '%.*s'?", (int)nearest->node.name.len,
			   (const char *)nearest->node.name.data);
	return err;
}

static enum err add_need(struct pipe *pipe, const struct pipe_job *job, const struct dag_name *parent,
			 const struct need *need, enum trigger trigger, bool said)
{
	const struct dag_edge edge = { parent->index, job->name->index, trigger, said, need->spot.at };

	if (parent == job->name)
		return dag_fail(&pipe->reader, need->spot.at, need->spot.len, ERR_CYCLE, "job '%.*s' needs itself",
				(int)parent->node.name.len, (const char *)parent->node.name.data);
	if (!dag_add_edge(&pipe->reader, &edge))
		return dag_fail(&pipe->reader, need->spot.at, need->spot.len, ERR_TOO_LARGE,
				"a pipeline has at most %d dependencies", DAG_EDGES_MAX);
	/* Names and jobs are in the same order. */
	pipe->jobs[parent->index].wanted_by = job->name->index + 1;
	return ERR_NONE;
}

/* "a", "a.ok", "a.failed", "a.done": a name may have dots itself, so the whole is looked for first. */
static enum err join_name(struct pipe *pipe, const struct pipe_job *job, const struct need *need)
{
	const struct dag_name *parent = name_map_get(&pipe->reader.names, need->text);
	const uint8_t *dot = need->text.len ? memrchr(need->text.data, '.', need->text.len) : NULL;
	size_t before = dot ? (size_t)(dot - need->text.data) : 0;
	struct slice word;
	enum trigger trigger;

	if (parent != NULL)
		return add_need(pipe, job, parent, need, TRIGGER_OK, false);
	if (dot == NULL)
		return unknown_need(pipe, job, need);
	word = slice_make(dot + 1, need->text.len - before - 1);
	parent = name_map_get(&pipe->reader.names, slice_make(need->text.data, before));
	if (parent == NULL && trigger_by_name(word, &trigger)) {
		struct need name = *need;

		name.text.len = before;
		return unknown_need(pipe, job, &name);
	}
	if (parent == NULL)
		return unknown_need(pipe, job, need);
	if (!trigger_by_name(word, &trigger))
		return dag_fail(&pipe->reader, need->spot.at, need->spot.len, ERR_UNKNOWN_NAME,
				"a result is .ok, .failed or .done, not '.%.*s'", cut(word), (const char *)word.data);
	return add_need(pipe, job, parent, need, trigger, true);
}

static bool is_blank(uint8_t byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n';
}

/* A part of an entry, without the blanks around it. */
static struct need part_of(const struct tree_node *node, struct slice text, size_t from, size_t to)
{
	bool written = node->spot.len == text.len;
	struct need need;

	while (from < to && is_blank(text.data[from]))
		from++;
	while (to > from && is_blank(text.data[to - 1]))
		to--;
	need.text = slice_make(text.data + from, to - from);
	need.spot = written ? (struct dag_spot){ node->spot.at + from, to > from ? to - from : 1 } : node->spot;
	return need;
}

/* A name, or "a.ok && b.done". */
static enum err join_text(struct pipe *pipe, const struct pipe_job *job, const struct tree_node *node)
{
	struct slice text;
	size_t from = 0;
	enum err err = pipe_text(pipe, node, "what a job needs", &text);

	if (err != ERR_NONE)
		return err;
	if (text.len == 0)
		return pipe_fail(pipe, node, ERR_INVALID, "a job's name is expected here");
	for (size_t i = 0; i <= text.len; i++) {
		bool more = i + 1 < text.len && text.data[i] == '&' && text.data[i + 1] == '&';
		struct need need;

		if (i < text.len && (text.data[i] == '|' || text.data[i] == '!' || text.data[i] == '('))
			return pipe_fail(pipe, node, ERR_INVALID,
					 "conditions are joined by && alone: a.ok && b.done; there is no || ! or ( yet");
		if (i < text.len && !more)
			continue;
		need = part_of(node, text, from, i);
		if (need.text.len == 0)
			return pipe_fail(pipe, node, ERR_SYNTAX, "a job's name is missing beside &&");
		err = join_name(pipe, job, &need);
		if (err != ERR_NONE)
			return err;
		i += more;
		from = i + 1;
	}
	return ERR_NONE;
}

/* {a: ok, b: failed} */
static enum err join_map(struct pipe *pipe, const struct pipe_job *job, const struct tree_node *map)
{
	for (const struct tree_node *node = map->first; node != NULL; node = node->next) {
		struct need need = { node->key, node->key_spot };
		const struct dag_name *parent = name_map_get(&pipe->reader.names, node->key);
		enum trigger trigger;
		struct slice word;
		enum err err;

		if (parent == NULL)
			return unknown_need(pipe, job, &need);
		err = pipe_text(pipe, node, "a result", &word);
		if (err == ERR_NONE && !trigger_by_name(word, &trigger))
			err = pipe_fail(pipe, node, ERR_UNKNOWN_NAME, "a result is ok, failed or done, not '%.*s'", cut(word),
					(const char *)word.data);
		if (err == ERR_NONE)
			err = add_need(pipe, job, parent, &need, trigger, true);
		if (err != ERR_NONE)
			return err;
	}
	return ERR_NONE;
}

static enum err join_job(struct pipe *pipe, const struct pipe_job *job)
{
	enum err err = ERR_NONE;

	if (job->needs->kind == TREE_TEXT)
		return join_text(pipe, job, job->needs);
	if (job->needs->kind == TREE_MAP)
		return join_map(pipe, job, job->needs);
	for (const struct tree_node *item = job->needs->first; item != NULL && err == ERR_NONE; item = item->next)
		err = join_text(pipe, job, item);
	return err;
}

/*
 * A job that may be skipped early is no sign that others have ended: each of them is waited for, but those
 * of which the job says itself what it wants.
 */
static enum err join_final(struct pipe *pipe, const struct pipe_job *job)
{
	const struct need need = { job->node->name, job->name->spot };
	enum err err = ERR_NONE;

	for (size_t i = 0; i < pipe->job_count && err == ERR_NONE; i++)
		if (!pipe->jobs[i].final && pipe->jobs[i].wanted_by != job->name->index + 1)
			err = add_need(pipe, job, pipe->jobs[i].name, &need, TRIGGER_DONE, true);
	return err;
}

enum err pipe_join(struct pipe *pipe)
{
	enum err err = ERR_NONE;

	for (size_t i = 0; i < pipe->job_count && err == ERR_NONE; i++) {
		const struct pipe_job *job = &pipe->jobs[i];

		if (job->needs != NULL)
			err = join_job(pipe, job);
		if (err == ERR_NONE && job->final)
			err = join_final(pipe, job);
	}
	return err;
}
