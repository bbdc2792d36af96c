/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The error about an unknown key. It names the key that the author may have meant: one with a similar spelling, one that
 * belongs to another map, or the one that stands for a word of another tool.
 */
#include "lang/pipeline_internal.h"

#include <stdio.h>

#include "base/text.h"

#define KEYS_MAX 64
#define WORD_SHOWN 60
#define FEW_KEYS 12                      /* a map with no more keys has all of them listed */

/* Words of other tools, and what stands for them here. */
static const struct foreign_word {
	const struct pipe_section *section;
	const char *words, *instead;     /* words: separated by | */
} foreign_words[] = {
	{ &pipe_section_job, "script|cmd|exec|bash|sh|shell_command|runs", "run: 'COMMAND'" },
	{ &pipe_section_job, "args|argv|entrypoint|cmdline", "command: [PROGRAM, ARGUMENT, ...]" },
	{ &pipe_section_job, "if|condition|only_if|unless", "when: CONDITION, such as when: build.failed" },
	{ &pipe_section_job, "rules|only|except", "when: CONDITION" },
	{ &pipe_section_job, "cwd|workdir|working_dir|working_directory|working-directory|chdir|directory", "dir: /PATH" },
	{ &pipe_section_job, "environment|variables|vars", "env: {NAME: VALUE}" },
	{ &pipe_section_pipeline, "environment|variables|vars", "env: {NAME: VALUE}" },
	{ &pipe_section_job, "allow_failure|continue_on_error|continue-on-error|ignore_errors|ignore_failure",
	  "continue_on: [failed]" },
	{ &pipe_section_job, "steps|stages|tasks", "run: | with one command in each line, or one job for each step" },
	{ &pipe_section_pipeline, "steps|stages|tasks|nodes|dag|stage|workflow", "jobs: with one entry for each job" },
	{ &pipe_section_pipeline, "on|trigger|triggers|cron|when", "schedule: {cron: \"0 3 * * *\"}" },
	{ &pipe_section_job, "on|trigger|triggers", "when: or needs: in a job, or schedule: in the pipeline" },
	{ &pipe_section_job, "after|dependencies|upstream|wait_for|needs_jobs", "needs: [JOB, ...]" },
	{ &pipe_section_job, "strategy|for_each|foreach|with_items|parallel|each", "matrix: {NAME: [VALUE, ...]}" },
	{ &pipe_section_job, "retries|attempts|max_retries|max_attempts", "retry: {max: 3}" },
	{ &pipe_section_job, "timeout-minutes|timeout_minutes|timeout_seconds|time_limit|max_wait_seconds", "timeout: 10m" },
	{ &pipe_section_job, "runs-on|runs_on|tags|node_selector|nodeSelector|agents|agent", "labels: [LABEL]" },
	{ &pipe_section_job, "image|container|docker", "run: docker run IMAGE COMMAND; jobs are processes here" },
	{ &pipe_section_job, "uses|plugin|skill|action", "run: 'COMMAND', or pipeline: FILE for a graph of another file" },
	{ &pipe_section_job, "manual|approve|input|hitl|hitl_message", "approval: {message: QUESTION} in a job of its own" },
	{ &pipe_section_job, "label", "labels: [LABEL]" },
	{ &pipe_section_pipeline, "parameters|inputs|arguments", "params: {NAME: {default: VALUE}}" },
	{ &pipe_section_pipeline, "default", "defaults: {retry: 2}" },
	{ &pipe_section_pipeline, "after_script|always|cleanup|on_exit|teardown", "finally: {JOB: {run: COMMAND}}" },
	{ &pipe_section_job, "after_script|cleanup|on_failure|on_success|on_exit", "a job of its own, under finally: or with when:" },
};

/* Keys that are planned: they are refused by name, so that nobody looks for a spelling error. */
static const char *const later_keys[] = { "secrets", "compensate", "notify" };

/* The keys that a beginner wants first, for maps with many. */
static const char few_job_keys[] = "run, command, pipeline or approval; needs, when, matrix, env, dir, retry, timeout, worker";

static bool key_is_known(const struct pipe_section *section, struct slice word)
{
	return pipe_key_find(section, word) || pipe_setting_find(section, word);
}

static bool is_one_of(struct slice word, const char *words)
{
	for (const char *at = words;;) {
		size_t len = strcspn(at, "|");

		if (slice_eq(word, slice_make(at, len)))
			return true;
		if (at[len] == '\0')
			return false;
		at += len + 1;
	}
}

static const char *foreign_word(const struct pipe_section *section, struct slice word)
{
	for (size_t i = 0; i < sizeof(foreign_words) / sizeof(foreign_words[0]); i++)
		if (foreign_words[i].section == section && is_one_of(word, foreign_words[i].words))
			return foreign_words[i].instead;
	return NULL;
}

static bool is_later(struct slice word)
{
	for (size_t i = 0; i < sizeof(later_keys) / sizeof(later_keys[0]); i++)
		if (slice_eq(word, slice_str(later_keys[i])))
			return true;
	return false;
}

/* List the kinds of map that have this key, to which its author may have thought it belongs. */
static void add_places(struct buf *places, struct slice word)
{
	static const struct pipe_section *const sections[] = {
		&pipe_section_pipeline, &pipe_section_job, &pipe_section_defaults, &pipe_section_matrix, &pipe_section_retry,
		&pipe_section_loop, &pipe_section_approval, &pipe_section_concurrency, &pipe_section_schedule,
		&pipe_section_worker, &pipe_section_log, &pipe_section_kv, &pipe_section_artifacts, &pipe_section_service, &pipe_section_crash_loop,
	};

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (key_is_known(sections[i], word))
			buf_addf(places, "%s%s", places->len > 0 ? ", " : "", sections[i]->what);
}

static size_t section_words(const struct pipe_section *section, const char *words[KEYS_MAX])
{
	size_t count = 0;

	for (; count < section->count; count++)
		words[count] = section->keys[count].word;
	for (size_t i = 0; i < setting_count && count < KEYS_MAX; i++) {
		const char *word = strrchr(setting_table[i].yaml, '.');

		word = word ? word + 1 : setting_table[i].yaml;
		if (pipe_setting_find(section, slice_str(word)) == &setting_table[i])
			words[count++] = word;
	}
	return count;
}

static void list_known(struct buf *known, const struct pipe_section *section, const char *const *words, size_t count)
{
	if (section == &pipe_section_job) {
		buf_add_str(known, few_job_keys);
		return;
	}
	for (size_t i = 0; i < count && i < FEW_KEYS; i++)
		buf_addf(known, "%s%s", i > 0 ? ", " : "", words[i]);
	if (count > FEW_KEYS)
		buf_add_str(known, "...");
}

enum err pipe_unknown_key(struct pipe *pipe, const struct tree_node *node, const struct pipe_section *section)
{
	const char *words[KEYS_MAX];
	size_t count = section_words(section, words), unused;
	const char *foreign = foreign_word(section, node->key), *nearest = NULL;
	char copy[WORD_SHOWN + 1];
	struct buf places = { 0 }, known = { 0 };
	enum err err;

	snprintf(copy, sizeof(copy), "%.*s", (int)text_clip(node->key, WORD_SHOWN, &unused), (const char *)node->key.data);
	if (is_later(node->key))
		return dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_UNKNOWN_NAME,
				"this version doesn't have the key '%s' yet", copy);
	add_places(&places, node->key);
	list_known(&known, section, words, count);
	if (foreign == NULL && places.len == 0)
		nearest = text_nearest(copy, words, count);
	err = dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_UNKNOWN_NAME,
		       places.len > 0 || nearest || foreign ? "unknown key '%s'" : "unknown key '%s'; known here: %s", copy,
		       buf_cstr(&known));
	if (foreign != NULL)
		error_next(pipe->reader.error, "write %s", foreign);
	else if (places.len > 0)
		error_next(pipe->reader.error, "it isn't allowed in %s; it is allowed in: %s", section->what, buf_cstr(&places));
	else if (nearest != NULL)
		error_next(pipe->reader.error, "did you mean '%s'?", nearest);
	buf_free(&places);
	buf_free(&known);
	return err;
}
