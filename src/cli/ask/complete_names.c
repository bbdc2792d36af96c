/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks the master for names that begin with the typed text. The master does the search, so every answer is small. */
#include "cli/ask/complete_names.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/complete_internal.h"
#include "cli/session/clusters.h"
#include "proto/limits.h"
#include "proto/message.h"
#include "proto/states.h"

#define PAGES_MAX 64

void naming_offer(struct naming *naming, const char *front, struct slice name, const char *help)
{
	struct completion *completion = naming->completion;
	struct buf word = { 0 }, shown = { 0 };
	size_t begun = strlen(completion->begun);

	buf_addf(&word, "%s%.*s", front, (int)name.len, (const char *)name.data);
	text_escape(&shown, buf_slice(&word), TEXT_KEEP_NONE);
	if (naming->count < NAMES_MAX && shown.len == word.len && word.len >= begun && memcmp(word.data, completion->begun, begun) == 0) {
		buf_addf(&completion->words, "%.*s", (int)completion->front_len, completion->front);
		buf_add_slice(&completion->words, buf_slice(&word));
		if (help[0] != '\0') {
			buf_add_byte(&completion->words, '\t');
			text_escape(&completion->words, slice_str(help), TEXT_KEEP_NONE);
		}
		buf_add_byte(&completion->words, '\n');
		naming->count++;
	}
	buf_free(&word);
	buf_free(&shown);
}

/* Is this frame the answer to the request? ret_err: whether the answer is an error. */
static bool answers(struct naming *naming, const struct incoming *frame, uint64_t id, enum opcode op, void *ret, enum err *ret_err)
{
	struct slice body = arena_copy(&naming->arena, frame->body);
	struct msg_error refusal;

	if (frame->op == OP_ERROR && message_decode(OP_ERROR, body, &naming->arena, &refusal, &naming->error) == ERR_NONE) {
		*ret_err = ERR_NOT_FOUND;
		return refusal.id == id || refusal.id == 0;
	}
	if (frame->op != op)
		return false;
	*ret_err = message_decode(op, body, &naming->arena, ret, &naming->error);
	/* Answers begin with the id of their request. */
	return *ret_err != ERR_NONE || *(const uint64_t *)ret == id;
}

enum err naming_call(struct naming *naming, enum opcode op, const void *request, uint64_t id, enum opcode answer, void *ret)
{
	struct incoming frame;
	enum err err = client_send(naming->source->client, op, request, &naming->error);

	while (err == ERR_NONE) {
		int64_t left_ms = (naming->until_ns - clock_mono_ns()) / NS_PER_MS;

		err = left_ms <= 0 ? ERR_TIMEOUT : client_receive(naming->source->client, (int)left_ms, &frame, &naming->error);
		if (err == ERR_NONE && answers(naming, &frame, id, answer, ret, &err))
			return err;
		if (err == ERR_NONE && naming->source->frame_cb)
			naming->source->frame_cb(naming->source->owner, &frame);
	}
	return err;
}

enum err naming_ask(struct naming *naming, struct msg_query query, struct msg_snapshot *ret)
{
	query.id = client_next_id(naming->source->client);
	return naming_call(naming, OP_QUERY, &query, query.id, OP_SNAPSHOT, ret);
}

static void offer_run(struct naming *naming, const struct rec_run_row *run)
{
	char number[24], help[256];

	snprintf(number, sizeof(number), "%llu", (unsigned long long)run->run);
	snprintf(help, sizeof(help), "%.*s, %s", (int)run->name.len, (const char *)run->name.data,
		 run->state < RUN_STATE_COUNT ? run_state_name((enum run_state)run->state) : "?");
	naming_offer(naming, "", slice_str(number), help);
}

static bool run_fits(const struct rec_run_row *run, enum complete_of of)
{
	return of != COMPLETE_FAILED_RUNS || run->state == RUN_FAILED || run->state == RUN_CANCELLED ||
	       (run->counts.n > STATE_FAILED && run->counts.at[STATE_FAILED] > 0);
}

/* Offer the word of a state. Several states may share a word: it is offered for the first of them only. */
static void offer_state(struct naming *naming, int state)
{
	for (int before = 0; before < state; before++)
		if (strcmp(state_table[before].word, state_table[state].word) == 0)
			return;
	naming_offer(naming, "", slice_str(state_table[state].word), "jobs in this state");
}

/* Offer runs: live ones by what their names begin with; of ended ones the newest that fit into one answer. */
static enum err add_runs(struct naming *naming, enum complete_of of)
{
	struct msg_query query = { .what = of == COMPLETE_LIVE_RUNS ? QUERY_NAMES : QUERY_RUNS, .limit = NAMES_MAX };
	struct msg_snapshot answer = { 0 };
	enum err err;

	if (of == COMPLETE_LIVE_RUNS)
		query.job = slice_str(naming->completion->begun);
	err = naming_ask(naming, query, &answer);
	for (size_t i = 0; err == ERR_NONE && i < answer.runs.n; i++)
		if (run_fits(&answer.runs.at[i], of))
			offer_run(naming, &answer.runs.at[i]);
	if (of != COMPLETE_LIVE_RUNS)
		naming_offer(naming, "", slice_str("last"), "the newest run");
	/*
	 * The word of a state names all jobs in it. Offer such words once a letter is typed: else they would hide the numbers
	 * of runs.
	 */
	for (int state = 0; naming->completion->begun[0] >= 'A' && state < STATE_COUNT; state++)
		offer_state(naming, state);
	return err;
}

enum err naming_find_run(struct naming *naming, struct slice word, uint64_t *ret_run)
{
	struct msg_snapshot answer = { 0 };
	enum err err;

	if (text_parse_u64(word, ret_run))
		return ERR_NONE;
	if (!slice_eq(word, slice_str("last")))
		return ERR_NOT_FOUND;
	err = naming_ask(naming, (struct msg_query){ .what = QUERY_RUNS, .limit = 1 }, &answer);
	if (err == ERR_NONE && answer.runs.n == 0)
		return ERR_NOT_FOUND;
	*ret_run = err == ERR_NONE ? answer.runs.at[0].run : 0;
	return err;
}

/* Offer the jobs of the run whose names begin with `begun`. Each offer is the text `front`, such as 12/, and a name. */
static enum err add_jobs(struct naming *naming, struct slice run, const char *front, const char *begun)
{
	struct msg_query query = { .what = QUERY_NAMES, .job = slice_str(begun), .limit = NAMES_MAX };
	struct msg_snapshot answer = { 0 };
	struct slice last = { 0 };
	enum err err = naming_find_run(naming, run, &query.run);

	for (int page = 0; err == ERR_NONE && page < PAGES_MAX && naming->count < NAMES_MAX; page++) {
		err = naming_ask(naming, query, &answer);
		if (err == ERR_NOT_FOUND && query.what == QUERY_NAMES) {
			/* The run has left memory: ask the store for all its jobs, page by page. */
			query = (struct msg_query){ .what = QUERY_JOBS, .run = query.run };
			err = ERR_NONE;
			answer.cursor = 0;
			continue;
		}
		for (size_t i = 0; err == ERR_NONE && i < answer.jobs.n; i++) {
			const struct rec_job_row *job = &answer.jobs.at[i];

			/* A large fan-out would be offered once for each page. */
			if (!slice_eq(job->name, last))
				naming_offer(naming, front, job->name, job->state < STATE_COUNT ? state_table[job->state].name : "");
			last = job->name;
		}
		query.cursor = answer.cursor;
		if (query.cursor == 0)
			break;
	}
	return err;
}

/* Complete RUN/JOB behind its slash: offer the jobs of the run that is typed before it. */
static enum err add_jobs_behind(struct naming *naming, const char *slash)
{
	const char *begun = naming->completion->begun;
	char front[64];

	snprintf(front, sizeof(front), "%.*s", (int)(slash + 1 - begun), begun);
	return add_jobs(naming, slice_make(begun, (size_t)(slash - begun)), front, slash + 1);
}

static void offer_address(struct naming *naming, uint64_t run, struct slice job, struct slice about)
{
	char front[32], help[256];

	snprintf(front, sizeof(front), "%llu/", (unsigned long long)run);
	snprintf(help, sizeof(help), "%.*s", (int)about.len, (const char *)about.data);
	naming_offer(naming, front, job, help);
}

/* Offer a token by its name, and also by its id once a dot is typed, as ids have one. */
static void offer_token(struct naming *naming, const struct rec_token_row *token)
{
	char help[LIMIT_TOKEN_ID_MAX + 1];

	snprintf(help, sizeof(help), "%.*s", (int)token->id.len, (const char *)token->id.data);
	naming_offer(naming, "", token->name, help);
	if (strchr(naming->completion->begun, '.'))
		naming_offer(naming, "", token->id, "");
}

/* Offer the rows of a list that is short enough to be read whole. */
static enum err add_rows(struct naming *naming, enum query_what what)
{
	struct msg_query query = { .what = what };
	struct msg_snapshot answer = { 0 };
	enum err err = ERR_NONE;

	for (int page = 0; err == ERR_NONE && page < PAGES_MAX && (page == 0 || query.cursor != 0); page++) {
		err = naming_ask(naming, query, &answer);
		if (err != ERR_NONE)
			break;
		for (size_t i = 0; i < answer.jobs.n; i++)
			offer_address(naming, answer.jobs.at[i].run, answer.jobs.at[i].name, answer.jobs.at[i].gate_message);
		for (size_t i = 0; i < answer.dead.n; i++)
			offer_address(naming, answer.dead.at[i].run, answer.dead.at[i].name, answer.dead.at[i].run_name);
		for (size_t i = 0; i < answer.workers.n; i++)
			naming_offer(naming, "", answer.workers.at[i].name, "");
		for (size_t i = 0; i < answer.pools.n; i++)
			naming_offer(naming, "", answer.pools.at[i].name, "");
		for (size_t i = 0; i < answer.topics.n; i++)
			naming_offer(naming, "", answer.topics.at[i].topic, "");
		for (size_t i = 0; i < answer.assets.n; i++)
			if (answer.assets.at[i].newest)
				naming_offer(naming, "", answer.assets.at[i].asset, "");
		for (size_t i = 0; i < answer.schedules.n; i++)
			naming_offer(naming, "", answer.schedules.at[i].name, "");
		for (size_t i = 0; i < answer.locks.n; i++)
			naming_offer(naming, "", answer.locks.at[i].name, "");
		for (size_t i = 0; i < answer.groups.n; i++)
			naming_offer(naming, "", answer.groups.at[i].name, "");
		for (size_t i = 0; i < answer.tenants.n; i++)
			naming_offer(naming, "", answer.tenants.at[i].name, "");
		for (size_t i = 0; i < answer.tokens.n; i++)
			offer_token(naming, &answer.tokens.at[i]);
		query.cursor = answer.cursor;
	}
	return err;
}

/* Clusters are the directories beside this cluster's. */
static void add_clusters(struct naming *naming)
{
	char parent[PATH_MAX];
	char *slash;
	DIR *directory;

	snprintf(parent, sizeof(parent), "%s", naming->source->statedir->dir);
	slash = strrchr(parent, '/');
	if (slash == NULL)
		return;
	*slash = '\0';
	directory = opendir(parent);
	for (struct dirent *entry; directory && (entry = readdir(directory));)
		if (entry->d_type == DT_DIR && text_is_name(slice_str(entry->d_name)))
			naming_offer(naming, "", slice_str(entry->d_name), "");
	if (directory)
		closedir(directory);
}

/* Offer the names that titan cluster add gave to clusters of other machines. */
static enum err add_remotes(struct naming *naming)
{
	const char **names;
	size_t count;
	enum err err = clusters_list(&naming->arena, &names, &count, &naming->error);

	for (size_t i = 0; err == ERR_NONE && i < count; i++)
		naming_offer(naming, "", slice_str(names[i]), "on another machine");
	return err;
}

bool complete_asks(const struct completion *completion)
{
	return completion->of >= COMPLETE_RUNS;
}

static enum err add(struct naming *naming)
{
	static const enum query_what lists[] = {
		[COMPLETE_GATES] = QUERY_GATES, [COMPLETE_DEAD] = QUERY_DEAD, [COMPLETE_WORKERS] = QUERY_WORKERS,
		[COMPLETE_POOLS] = QUERY_POOLS, [COMPLETE_SCHEDULES] = QUERY_SCHEDULES, [COMPLETE_LOCKS] = QUERY_LOCKS,
		[COMPLETE_GROUPS] = QUERY_GROUPS, [COMPLETE_TENANTS] = QUERY_TENANTS,
		[COMPLETE_TOKENS] = QUERY_TOKENS, [COMPLETE_TOPICS] = QUERY_TOPICS, [COMPLETE_ASSETS] = QUERY_ASSETS,
	};
	struct completion *completion = naming->completion;
	const char *slash = strchr(completion->begun, '/');

	switch (completion->of) {
	case COMPLETE_NONE:
	case COMPLETE_FILES:
	case COMPLETE_DIRECTORIES:
		return ERR_NONE;
	case COMPLETE_CLUSTERS:
		add_clusters(naming);
		return add_remotes(naming);
	case COMPLETE_REMOTES:
		return add_remotes(naming);
	case COMPLETE_JOBS:
		if (completion->about == NULL)
			return ERR_NONE;
		return add_jobs(naming, slice_make(completion->about, strcspn(completion->about, "/")), "", completion->begun);
	case COMPLETE_KEYS:
		return naming_add_keys(naming);
	case COMPLETE_RUNS:
	case COMPLETE_LIVE_RUNS:
	case COMPLETE_FAILED_RUNS:
		if (slash && completion->jobs)
			return add_jobs_behind(naming, slash);
		return add_runs(naming, completion->of);
	default:
		return add_rows(naming, lists[completion->of]);
	}
}

enum err complete_add(const struct complete_source *source, struct completion *completion)
{
	struct naming naming = {
		.source = source, .completion = completion, .until_ns = clock_mono_ns() + source->ms * NS_PER_MS,
	};
	enum err err = ERR_NONE;

	if (source->client || !complete_asks(completion))
		err = add(&naming);
	arena_free(&naming.arena);
	return err == ERR_NOT_FOUND || err == ERR_TIMEOUT ? ERR_NONE : err;
}
