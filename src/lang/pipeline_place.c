/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The keys about where a job runs. Resources may be in the job itself or under worker. If worker is just a name, the
 * job runs on that worker only.
 */
#include "lang/pipeline_internal.h"

#include "base/text.h"
#include "lang/label.h"
#include "proto/limits.h"

static enum err ask(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value, struct slice name)
{
	struct error why = { 0 };
	struct slice text;
	enum err err = pipe_text(pipe, value, "an amount", &text);

	if (err != ERR_NONE)
		return err;
	if (demand_add(&job->node->placing.asks, pipe->reader.arena, name, text, &why) != ERR_NONE)
		return pipe_fail(pipe, value, why.code, "%s", why.text);
	return ERR_NONE;
}

enum err pipe_read_cpus(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return ask(pipe, job, value, slice_str(RESOURCE_CPUS));
}

enum err pipe_read_memory(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return ask(pipe, job, value, slice_str(RESOURCE_MEMORY));
}

enum err pipe_read_gpus(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return ask(pipe, job, value, slice_str(RESOURCE_GPUS));
}

enum err pipe_read_resources(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	enum err err = pipe_expect(pipe, value, TREE_MAP, "resources");

	for (const struct tree_node *node = value->first; node != NULL && err == ERR_NONE; node = node->next) {
		if (resource_is_own(node->key))
			return dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_INVALID,
					"'%.*s' is a key of the job, not of its resources", (int)node->key.len,
					(const char *)node->key.data);
		if (!resource_is_name(node->key))
			return dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_INVALID,
					"the name of a resource may have letters, digits and _ . -, at most %d", RESOURCE_NAME_SIZE - 1);
		err = ask(pipe, job, node, node->key);
	}
	return err;
}

/* Read a requirement. In a matrix it may differ between jobs; then it is read when the value of each job is known. */
static enum err label_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	struct error why = { 0 };
	enum err err = pipe_template(pipe, node, "an entry", (struct slice){ 0 }, ret);

	if (err == ERR_NONE && ret->len > 0 && memmem(ret->data, ret->len, "${matrix.", 9) != NULL)
		return ERR_NONE;
	if (err == ERR_NONE && label_parse(*ret, pipe->reader.arena, ret, &why) != ERR_NONE)
		return pipe_fail(pipe, node, why.code, "%s", why.text);
	return err;
}

static enum err prefer_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	struct error why = { 0 };
	enum err err = pipe_text(pipe, node, "an entry", ret);

	if (err == ERR_NONE && label_parse(*ret, pipe->reader.arena, ret, &why) != ERR_NONE)
		return pipe_fail(pipe, node, why.code, "%s", why.text);
	return err;
}

enum err pipe_read_labels(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	if (job->node->labels.n > 0)
		return pipe_fail(pipe, value, ERR_DUPLICATE, "labels are given twice, in the job and under worker");
	return pipe_list(pipe, value, "labels", LIMIT_LABELS_MAX, label_item, &job->node->labels);
}

enum err pipe_read_prefer(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_list(pipe, value, "prefer", LIMIT_LABELS_MAX, prefer_item, &job->node->placing.prefer);
}

enum err pipe_read_requires(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_list(pipe, value, "requires", LIMIT_CAPABILITIES_MAX, pipe_name_item, &job->node->placing.requires);
}

enum err pipe_read_prefer_worker(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_name_item(pipe, value, &job->node->placing.prefer_worker);
}

static enum err read_only_worker(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_name_item(pipe, value, &job->node->placing.only_worker);
}

static enum err read_pool_name(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_name_item(pipe, value, &job->node->placing.pool);
}

static enum err read_pool_hard(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_bool(pipe, value, &job->node->placing.pool_hard);
}

static const struct pipe_key pool_keys[] = { { "name", read_pool_name }, { "hard", read_pool_hard } };

static const struct pipe_section pipe_section_pool = PIPE_SECTION("pool", pool_keys, NULL);

enum err pipe_read_pool(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	enum err err;

	if (value->kind == TREE_TEXT)
		return read_pool_name(pipe, job, value);
	err = pipe_map(pipe, value, &pipe_section_pool, job);
	if (err == ERR_NONE && job->node->placing.pool.len == 0)
		return pipe_fail(pipe, value, ERR_INVALID, "pool needs a name: pool: {name: NAME, hard: true}");
	return err;
}

static enum err read_affinity_to(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct error why = { 0 };
	struct slice text;
	enum err err = pipe_text(pipe, value, "affinity", &text);

	if (err == ERR_NONE && demand_affinity(text, &job->node->placing.affinity, &why) != ERR_NONE)
		return pipe_fail(pipe, value, why.code, "%s", why.text);
	return err;
}

static enum err read_affinity_hard(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_bool(pipe, value, &job->node->placing.affinity_hard);
}

static const struct pipe_key affinity_keys[] = { { "to", read_affinity_to }, { "hard", read_affinity_hard } };

static const struct pipe_section pipe_section_affinity = PIPE_SECTION("affinity", affinity_keys, NULL);

enum err pipe_read_affinity(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	enum err err;

	if (value->kind == TREE_TEXT)
		return read_affinity_to(pipe, job, value);
	err = pipe_map(pipe, value, &pipe_section_affinity, job);
	if (err == ERR_NONE && job->node->placing.affinity == AFFINITY_NONE)
		return pipe_fail(pipe, value, ERR_INVALID, "affinity needs the key to: affinity: {to: parent, hard: "
			"true}");
	return err;
}

static const struct pipe_key worker_keys[] = {
	{ "labels", pipe_read_labels }, { "name", read_only_worker }, { "prefer", pipe_read_prefer }, { "cpus", pipe_read_cpus },
	{ "memory", pipe_read_memory }, { "mem", pipe_read_memory }, { "gpus", pipe_read_gpus }, { "resources", pipe_read_resources },
};

const struct pipe_section pipe_section_worker = PIPE_SECTION("worker", worker_keys, NULL);

enum err pipe_read_worker(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	if (value->kind == TREE_TEXT)
		return read_only_worker(pipe, job, value);
	return pipe_map(pipe, value, &pipe_section_worker, job);
}
