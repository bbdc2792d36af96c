/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan pool, titan topic: which workers belong together, what they can do, and which topics lead to them. */
#include <string.h>

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/command.h"
#include "cli/commands/dry_run.h"
#include "cli/commands/object.h"
#include "cli/commands/share.h"
#include "cli/commands/workers.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/records.h"
#include "proto/limits.h"

#define COLUMNS(table) table, sizeof(table) / sizeof(table[0])

static const struct column pool_columns[] = {
	{ "name", "POOL", false },
	{ "state", "STATE", false },
	{ "worker_count", "WORKERS", true },
	{ "up", "UP", true },
	{ "busy", "BUSY", true },
	{ "slots", "SLOTS", true },
	{ "provides", "PROVIDES", false },
};
const struct table pool_table = TABLE_OF(pool_columns);

static const struct column topic_columns[] = {
	{ "name", "TOPIC", false },
	{ "pool", "POOL", false },
};
const struct table topic_table = TABLE_OF(topic_columns);

/* --- SET --- */

/* Is the pool already as the SET wants it? */
static bool pool_is(const struct rec_pool_row *pool, const struct msg_set *set)
{
	uint64_t state = set->verb == SET_PAUSE ? POOL_INACTIVE : set->verb == SET_DRAIN ? POOL_DRAINING : POOL_ACTIVE;
	bool same = !set->flag || pool->provides.n == set->words.n;

	if (set->verb == SET_REMOVE)
		return pool->state == POOL_ACTIVE && pool->provides.n == 0;
	if (set->verb == SET_PUT)
		state = set->number > 0 ? set->number - 1 : pool->state;
	for (size_t i = 0; same && set->flag && i < set->words.n; i++) {
		bool found = false;

		for (size_t k = 0; k < pool->provides.n; k++)
			found = found || slice_eq(pool->provides.at[k], set->words.at[i]);
		same = found;
	}
	return same && pool->state == state;
}

/* Would the SET change anything? What isn't listed is a pool without settings, or no mapping. */
static enum err would_change(struct cli *cli, const struct msg_set *set, uint64_t *ret)
{
	struct msg_query query = { .what = set->kind == OBJECT_POOL ? QUERY_POOLS : QUERY_TOPICS };
	struct msg_snapshot page;

	*ret = set->verb != SET_RESUME && set->verb != SET_REMOVE;
	do {
		enum err err = cli_query(cli, query, &cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		for (size_t i = 0; i < page.pools.n; i++)
			if (slice_eq(page.pools.at[i].name, set->name))
				*ret = !pool_is(&page.pools.at[i], set);
		for (size_t i = 0; i < page.topics.n; i++)
			if (slice_eq(page.topics.at[i].topic, set->name))
				*ret = set->verb == SET_REMOVE || !slice_eq(page.topics.at[i].pool, set->text);
		query.cursor = page.cursor;
	} while (query.cursor != 0);
	return ERR_NONE;
}

/* Send the SET, or only say whether it would change anything. done: the result for people. */
static int apply(struct cli *cli, struct msg_set *set, const char *done)
{
	bool dry = dry_run_wanted(cli);
	struct records records;
	struct msg_ok ok = { 0 };
	struct buf out = { 0 };
	enum err err;

	set->name = slice_str(cli->invocation->args[1]);
	records_begin(&records, place_set_table.columns, place_set_table.count, &cli->arena);
	err = records_check(&records, &cli->out, &cli->error);
	if (err == ERR_NONE)
		err = cli_connect(cli);
	if (err == ERR_NONE)
		err = dry ? would_change(cli, set, &ok.count) : cli_call(cli, OP_SET, set, OP_OK, &cli->arena, &ok);
	if (err != ERR_NONE)
		return cli_fail(cli);
	records_text(&records, set->name);
	records_number(&records, ok.count);
	records_bool(&records, dry);
	if (dry || cli->out.style == STYLE_JSON || cli->out.style == STYLE_FORMAT) {
		records_print(&records, &cli->out, &out);
		cli_print(cli, &out);
	} else if (cli_chatty(cli)) {
		text_escape(&out, set->name, TEXT_KEEP_NONE);
		cli_note(cli, "%s: %s%s", buf_cstr(&out), done, ok.count ? "" : " already");
	}
	buf_free(&out);
	if (dry)
		dry_run_tell(cli, ok.count, cli->invocation->command->verb, "changed");
	return 0;
}

/* --- pools --- */

static size_t add_pools(struct records *records, const struct msg_snapshot *page)
{
	for (size_t i = 0; i < page->pools.n; i++) {
		const struct rec_pool_row *pool = &page->pools.at[i];

		records_text(records, pool->name);
		records_text(records, slice_str(pool_state_name((enum pool_state)pool->state)));
		records_number(records, pool->workers);
		records_number(records, pool->up);
		records_number(records, pool->busy);
		records_number(records, pool->slots);
		records_texts(records, pool->provides);
	}
	return page->pools.n;
}

static int pool_ls(struct cli *cli)
{
	return share_list(cli, QUERY_POOLS, COLUMNS(pool_columns), add_pools, "there is no pool, because no worker has ever connected");
}

static int pool_show(struct cli *cli)
{
	return share_show(cli, QUERY_POOLS, COLUMNS(pool_columns), add_pools);
}

/* Read CAP,...; the word none stands for no capability. */
static enum err read_provides(struct cli *cli, struct msg_set *set)
{
	const char *text = option_value(cli->invocation, OPT_pool_provide);
	struct slice *words = arena_zalloc(&cli->arena, LIMIT_CAPABILITIES_MAX, sizeof(*words));
	size_t count = 0;

	if (text == NULL)
		return ERR_NONE;
	set->flag = true;
	set->verb = SET_PUT;
	for (const char *at = text; strcmp(text, "none") != 0;) {
		size_t len = strcspn(at, ",");

		if (!text_is_name(slice_make(at, len)))
			return error_set(&cli->error, ERR_USAGE, "--provide: expected names of letters, digits and _ . - with commas between them, or none");
		if (count == LIMIT_CAPABILITIES_MAX)
			return error_set(&cli->error, ERR_USAGE, "--provide: a pool may provide at most %d capabilities", LIMIT_CAPABILITIES_MAX);
		words[count++] = slice_make(at, len);
		if (at[len] == '\0')
			break;
		at += len + 1;
	}
	set->words = (struct slice_list){ words, count };
	return ERR_NONE;
}

static int pool_set(struct cli *cli)
{
	static const struct {
		const char *word;
		enum set_verb verb;
		enum pool_state state;
	} states[] = { { "active", SET_RESUME, POOL_ACTIVE }, { "draining", SET_DRAIN, POOL_DRAINING }, { "inactive", SET_PAUSE, POOL_INACTIVE } };
	const char *word = cli->invocation->arg_count > 2 ? cli->invocation->args[2] : NULL;
	struct msg_set set = { .kind = OBJECT_POOL };

	for (size_t i = 0; word && i < sizeof(states) / sizeof(states[0]); i++)
		if (strcmp(word, states[i].word) == 0) {
			set.verb = states[i].verb;
			set.number = states[i].state + 1;
		}
	if (word && set.number == 0) {
		error_set(&cli->error, ERR_USAGE, "titan pool set: '%s' must be active, draining or inactive", word);
		return object_usage(cli);
	}
	if (read_provides(cli, &set) != ERR_NONE)
		return object_usage(cli);
	if (!word && !set.flag) {
		error_set(&cli->error, ERR_USAGE, "titan pool set: give a state, --provide or both");
		return object_usage(cli);
	}
	return apply(cli, &set, word ? word : "provides that");
}

static int pool_rm(struct cli *cli)
{
	struct msg_set set = { .kind = OBJECT_POOL, .verb = SET_REMOVE };

	return apply(cli, &set, "without settings");
}

int cmd_pool(struct cli *cli)
{
	static const struct object_verb verbs[] = {
		{ "ls", 0, 0, "", pool_ls }, { "show", 1, 1, "POOL", pool_show },
		{ "set", 1, 2, "POOL [active|draining|inactive] [--provide CAP,...]", pool_set }, { "rm", 1, 1, "POOL", pool_rm },
	};

	return object_run(cli, verbs, sizeof(verbs) / sizeof(verbs[0]));
}

/* --- topics --- */

static size_t add_topics(struct records *records, const struct msg_snapshot *page)
{
	for (size_t i = 0; i < page->topics.n; i++) {
		records_text(records, page->topics.at[i].topic);
		records_text(records, page->topics.at[i].pool);
	}
	return page->topics.n;
}

static int topic_ls(struct cli *cli)
{
	return share_list(cli, QUERY_TOPICS, COLUMNS(topic_columns), add_topics, "no topic is mapped to a pool");
}

static int topic_show(struct cli *cli)
{
	return share_show(cli, QUERY_TOPICS, COLUMNS(topic_columns), add_topics);
}

static int topic_set(struct cli *cli)
{
	struct msg_set set = { .kind = OBJECT_TOPIC, .verb = SET_PUT, .text = slice_str(cli->invocation->args[2]) };

	return apply(cli, &set, "mapped");
}

static int topic_rm(struct cli *cli)
{
	struct msg_set set = { .kind = OBJECT_TOPIC, .verb = SET_REMOVE };

	return apply(cli, &set, "no longer mapped");
}

int cmd_topic(struct cli *cli)
{
	static const struct object_verb verbs[] = {
		{ "ls", 0, 0, "", topic_ls }, { "show", 1, 1, "PATTERN", topic_show }, { "set", 2, 2, "PATTERN POOL", topic_set },
		{ "rm", 1, 1, "PATTERN", topic_rm },
	};

	return object_run(cli, verbs, sizeof(verbs) / sizeof(verbs[0]));
}
