/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key service: true, or how the process of a service is started again. */
#include "lang/pipeline_internal.h"

#include "base/text.h"
#include "lang/failure.h"
#include "proto/limits.h"

static enum err read_restart(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice text;
	enum err err = pipe_text(pipe, value, "restart", &text);

	if (err != ERR_NONE)
		return err;
	if (!restart_by_name(text, &job->node->service.restart))
		return pipe_fail(pipe, value, ERR_INVALID, "restart must be " RESTART_WORDS);
	return ERR_NONE;
}

static enum err read_backoff(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct dag_service *service = &job->node->service;
	struct slice text;
	enum err err = pipe_text(pipe, value, "a span of time", &text);
	const char *wrong;

	if (err != ERR_NONE)
		return err;
	wrong = backoff_parse(text, &service->wait_ms, &service->wait_max_ms);
	return wrong ? pipe_fail(pipe, value, ERR_INVALID, "%s", wrong) : ERR_NONE;
}

static enum err code_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	uint64_t code;
	enum err err = pipe_number(pipe, node, 0, 255, &code);

	return err != ERR_NONE ? err : pipe_text(pipe, node, "an exit code", ret);
}

static enum err read_no_restart_exit(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct u64_list *codes = &job->node->service.never;
	struct slice_list words = { 0 };
	enum err err = pipe_list(pipe, value, "no_restart_exit", LIMIT_RETRY_CODES_MAX, code_item, &words);

	if (err != ERR_NONE)
		return err;
	codes->at = arena_zalloc(pipe->reader.arena, words.n, sizeof(*codes->at));
	for (codes->n = 0; codes->n < words.n; codes->n++)
		text_parse_u64(words.at[codes->n], &codes->at[codes->n]);
	codes_sort(codes);
	return ERR_NONE;
}

static enum err read_ends(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_number(pipe, value, 2, LIMIT_SERVICE_ENDS_MAX, &job->node->service.loop_ends);
}

static enum err read_within(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_span(pipe, value, &job->node->service.loop_ms);
}

static const struct pipe_key loop_keys[] = { { "n", read_ends }, { "in", read_within } };

const struct pipe_section pipe_section_crash_loop = PIPE_SECTION("crash_loop", loop_keys, NULL);

static enum err read_crash_loop(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_map(pipe, value, &pipe_section_crash_loop, job);
}

static const struct pipe_key service_keys[] = {
	{ "restart", read_restart }, { "backoff", read_backoff }, { "no_restart_exit", read_no_restart_exit },
	{ "crash_loop", read_crash_loop },
};

const struct pipe_section pipe_section_service = PIPE_SECTION("service", service_keys, "service.");

enum err pipe_read_service(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	bool yes = true;
	enum err err = value->kind == TREE_TEXT ? pipe_bool(pipe, value, &yes) : pipe_map(pipe, value, &pipe_section_service, job);

	if (yes)
		job->node->kind = KIND_SERVICE;
	return err;
}
