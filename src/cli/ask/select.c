/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a word that must stand for one run or job. targets.c reads words that may stand for several, and calls this
 * file for words that name one.
 */
#include "cli/ask/select.h"

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/targets.h"
#include "proto/limits.h"

static enum err select_last(struct cli *cli, uint64_t *ret_run)
{
	struct arena arena = { 0 };
	struct msg_snapshot snapshot = { 0 };
	struct msg_query query = { .what = QUERY_RUNS, .limit = 1 };
	enum err err = cli_connect(cli);

	/* A job that asks gets no runs of other people, so a page may be empty: ask for the next page. */
	while (err == ERR_NONE && snapshot.runs.n == 0) {
		err = cli_query(cli, query, &arena, &snapshot);
		query.cursor = snapshot.cursor;
		if (query.cursor == 0)
			break;
	}
	if (err == ERR_NONE && snapshot.runs.n == 0) {
		err = error_set(&cli->error, ERR_NOT_FOUND, "there is no run yet");
		error_next(&cli->error, "titan run -e \"hello; hello='echo hello'\"");
	}
	if (err == ERR_NONE)
		*ret_run = snapshot.runs.at[0].run;
	arena_free(&arena);
	return err;
}

/* Read a selector that may stand for several, for a command that needs exactly one. */
static enum err select_only(struct cli *cli, const char *text, struct selector *ret)
{
	struct targets targets;
	struct buf first = { 0 };
	enum err err = cli_connect(cli);

	if (err == ERR_NONE)
		err = cli_targets(cli, &text, 1, REACH_EVERY, &targets);
	if (err != ERR_NONE)
		return err;
	*ret = targets.at[0];
	if (targets.count == 1)
		return ERR_NONE;
	buf_addf(&first, "%llu", (unsigned long long)ret->run);
	if (ret->job.len > 0)
		buf_addf(&first, "/%.*s", (int)ret->job.len, (const char *)ret->job.data);
	error_set(&cli->error, ERR_USAGE, "'%s' stands for %zu %s, but this command needs one, such as %s", text, targets.count,
		  ret->job.len > 0 ? "jobs" : "runs", buf_cstr(&first));
	buf_free(&first);
	return error_next(&cli->error, "titan ls %s", text);
}

enum err cli_select(struct cli *cli, const char *text, struct selector *ret)
{
	return selector_is_many(text) ? select_only(cli, text, ret) : cli_select_named(cli, text, ret);
}

enum err cli_select_named(struct cli *cli, const char *text, struct selector *ret)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	struct selector selector = { 0 };
	enum err err;

	if (len == 4 && memcmp(text, "last", 4) == 0) {
		err = select_last(cli, &selector.run);
		if (err != ERR_NONE)
			return err;
	} else if (len == 4 && memcmp(text, "self", 4) == 0) {
		if (cli->settings.own_run == NULL || !text_parse_u64(slice_str(cli->settings.own_run), &selector.run))
			return error_set(&cli->error, ERR_USAGE, "self means the run of the job that calls titan, but this command doesn't run in a job");
	} else {
		bool digits = text_parse_u64(slice_make(text, len), &selector.run) && selector.run <= INT64_MAX;

		if (!digits || selector.run == 0) {
			error_set(&cli->error, ERR_USAGE, "'%s' is neither a run (4127, last, self) nor a job (4127/load)", text);
			return text_is_name(slice_str(text)) ? error_next(&cli->error, "titan ls run=%s, or last/%s for a job", text, text) :
							       error_next(&cli->error, "titan help selectors");
		}
	}
	if (slash != NULL) {
		selector.job = slice_str(slash + 1);
		if (selector.job.len == 0 || selector.job.len > LIMIT_NAME_MAX_LEN + 24)
			return error_set(&cli->error, ERR_USAGE, "'%s' has no job name after the /", text);
	}
	*ret = selector;
	return ERR_NONE;
}

/* Read the index range of encode[3-5]. Return the length of the name before it; 0: the word has no range. */
static size_t read_members(struct slice wanted, uint64_t *ret_first, uint64_t *ret_last)
{
	const uint8_t *open, *end, *dash;

	if (wanted.len == 0)
		return 0;
	open = memchr(wanted.data, '[', wanted.len);
	end = wanted.data + wanted.len;
	if (open == NULL || end - open < 4 || end[-1] != ']')
		return 0;
	dash = memchr(open, '-', (size_t)(end - open));
	if (dash == NULL || !text_parse_u64(slice_make(open + 1, (size_t)(dash - open - 1)), ret_first) ||
	    !text_parse_u64(slice_make(dash + 1, (size_t)(end - dash - 2)), ret_last))
		return 0;
	return (size_t)(open - wanted.data);
}

static bool is_member(struct slice name, struct slice fan, uint64_t first, uint64_t last)
{
	uint64_t number;

	return name.len > fan.len + 2 && memcmp(name.data, fan.data, fan.len) == 0 && name.data[fan.len] == '[' &&
	       text_parse_u64(slice_make(name.data + fan.len + 1, name.len - fan.len - 2), &number) && number >= first &&
	       number <= last;
}

bool selector_names(const struct selector *selector, struct slice name)
{
	struct slice wanted = selector->job;
	uint64_t first, last;
	size_t fan = read_members(wanted, &first, &last);

	if (fan > 0)
		return is_member(name, slice_make(wanted.data, fan), first, last);
	if (wanted.len > 3 && memcmp(wanted.data + wanted.len - 3, "[*]", 3) == 0)
		wanted.len -= 3;
	else if (wanted.len == 0 || slice_eq(wanted, name))
		return true;
	return name.len > wanted.len && name.data[wanted.len] == '[' && memcmp(name.data, wanted.data, wanted.len) == 0;
}

enum err cli_select_run(struct cli *cli, const char *text, uint64_t *ret_run)
{
	struct selector selector;
	enum err err = cli_select(cli, text, &selector);

	if (err != ERR_NONE)
		return err;
	if (selector.job.len > 0)
		return error_set(&cli->error, ERR_USAGE, "'%s' is a job, but a run is needed here", text);
	*ret_run = selector.run;
	return ERR_NONE;
}
