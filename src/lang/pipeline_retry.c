/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys about a job's failures (retry, crash_limit, continue_on, on_worker_death) and about its output (log). */
#include "lang/pipeline_internal.h"

#include "base/text.h"
#include "lang/failure.h"
#include "lang/log_max.h"
#include "proto/limits.h"


static enum err read_max(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	job->node->retry_said = true;
	return pipe_number(pipe, value, 0, LIMIT_RETRY_MAX, &job->node->retry_max);
}

static enum err read_backoff(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice text;
	enum err err = pipe_text(pipe, value, "a span of time", &text);
	const char *wrong;

	if (err != ERR_NONE)
		return err;
	wrong = backoff_parse(text, &job->node->backoff_ms, &job->node->backoff_max_ms);
	return wrong ? pipe_fail(pipe, value, ERR_INVALID, "%s", wrong) : ERR_NONE;
}

static enum err read_jitter(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	bool jitter = true;
	enum err err = pipe_bool(pipe, value, &jitter);

	job->node->jitter = jitter ? JITTER_ON : JITTER_OFF;
	return err;
}

static enum err cause_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	enum err err = pipe_text(pipe, node, "an end", ret);

	if (err == ERR_NONE && retry_on_bit(*ret) == 0)
		return pipe_fail(pipe, node, ERR_INVALID, "retry.on may only have " RETRY_ON_WORDS);
	return err;
}

static enum err read_on(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice_list words = { 0 };
	enum err err = pipe_list(pipe, value, "on", 4, cause_item, &words);

	for (size_t i = 0; err == ERR_NONE && i < words.n; i++)
		job->node->retry_on |= retry_on_bit(words.at[i]);
	return err;
}

static enum err code_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	uint64_t code;
	enum err err = pipe_number(pipe, node, 1, 255, &code);

	return err != ERR_NONE ? err : pipe_text(pipe, node, "an exit code", ret);
}

static enum err read_codes(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct u64_list *codes = &job->node->retry_codes;
	struct slice_list words = { 0 };
	enum err err;

	if (job->node->retry_on && !(job->node->retry_on & RETRY_ON_EXIT))
		return pipe_fail(pipe, value, ERR_INVALID, "codes select failures by exit code, so on must include "
			"exit");
	err = pipe_list(pipe, value, "codes", LIMIT_RETRY_CODES_MAX, code_item, &words);
	if (err != ERR_NONE)
		return err;
	codes->at = arena_zalloc(pipe->reader.arena, words.n, sizeof(*codes->at));
	for (codes->n = 0; codes->n < words.n; codes->n++)
		text_parse_u64(words.at[codes->n], &codes->at[codes->n]);
	codes_sort(codes);
	return ERR_NONE;
}

static const struct pipe_key retry_keys[] = {
	{ "max", read_max }, { "backoff", read_backoff }, { "jitter", read_jitter }, { "on", read_on },
	{ "codes", read_codes },
};

const struct pipe_section pipe_section_retry = PIPE_SECTION("retry", retry_keys, NULL);

enum err pipe_read_retry(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	if (value->kind == TREE_TEXT)
		return read_max(pipe, job, value);
	return pipe_map(pipe, value, &pipe_section_retry, job);
}

enum err pipe_read_crash_limit(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	return pipe_number(pipe, value, 1, LIMIT_CRASH_LIMIT_MAX, &job->node->crash_limit);
}

static enum err bad_end_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	enum err err = pipe_text(pipe, node, "an end", ret);

	if (err == ERR_NONE && continue_bit(*ret) == 0)
		return pipe_fail(pipe, node, ERR_INVALID, "continue_on may only have " CONTINUE_WORDS);
	return err;
}

enum err pipe_read_continue_on(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice_list words = { 0 };
	enum err err = pipe_list(pipe, value, "continue_on", 3, bad_end_item, &words);

	for (size_t i = 0; err == ERR_NONE && i < words.n; i++)
		job->node->continue_on |= continue_bit(words.at[i]);
	return err;
}

enum err pipe_read_worker_death(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	enum worker_death death = DEATH_ADOPT;
	struct slice text;
	enum err err = pipe_text(pipe, value, "on_worker_death", &text);

	if (err != ERR_NONE)
		return err;
	if (!worker_death_by_name(text, &death))
		return pipe_fail(pipe, value, ERR_INVALID, "on_worker_death must be adopt or kill");
	job->node->worker_death = (uint64_t)death + 1;
	return ERR_NONE;
}

static enum err read_log_max(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice text;
	enum err err = pipe_text(pipe, value, "log", &text);
	const char *wrong;

	if (err != ERR_NONE)
		return err;
	wrong = log_max_parse(text, &job->node->log_max);
	return wrong ? pipe_fail(pipe, value, ERR_INVALID, "%s", wrong) : ERR_NONE;
}

static const struct pipe_key log_keys[] = { { "max", read_log_max } };

const struct pipe_section pipe_section_log = PIPE_SECTION("log", log_keys, NULL);

enum err pipe_read_log(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	if (value->kind == TREE_TEXT)
		return read_log_max(pipe, job, value);
	return pipe_map(pipe, value, &pipe_section_log, job);
}

/* Take from the defaults what the job doesn't set. A job with mode once takes no retries. */
void pipe_default_failure(struct dag_node *node, const struct dag_node *defaults)
{
	if (!node->retry_said && node->mode != EXEC_ONCE + 1) {
		node->retry_said = defaults->retry_said;
		node->retry_max = defaults->retry_max;
	}
	if (node->backoff_ms == 0) {
		node->backoff_ms = defaults->backoff_ms;
		node->backoff_max_ms = defaults->backoff_max_ms;
	}
	if (node->jitter == JITTER_UNSAID)
		node->jitter = defaults->jitter;
	/* Exit codes to retry belong to the list of failures with which they were written. */
	if (node->retry_on == 0 && node->retry_codes.n == 0) {
		node->retry_on = defaults->retry_on;
		node->retry_codes = defaults->retry_codes;
	}
	if (node->crash_limit == 0)
		node->crash_limit = defaults->crash_limit;
	if (node->log_max == 0)
		node->log_max = defaults->log_max;
	if (node->worker_death == 0)
		node->worker_death = defaults->worker_death;
}
