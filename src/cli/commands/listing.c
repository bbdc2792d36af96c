/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options that all lists share. For long lists the master applies some of them itself (ask/query.h). */
#include "cli/commands/listing.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "proto/limits.h"

#define MORE_ROWS 4                      /* factor for the limit in the suggested next command */

enum err listing_read(struct cli *cli, const struct listing_options *options, struct records *records, struct listing *ret)
{
	const struct invocation *invocation = cli->invocation;
	uint64_t limit = cli->out.style == STYLE_HUMAN ? LISTING_ROWS : UINT64_MAX;
	struct listing listing = { .options = options };
	enum err err;

	if (options->all != OPT_none && option_given(invocation, options->all))
		limit = UINT64_MAX;
	if ((err = option_number(invocation, options->limit, 1, INT32_MAX, &limit, &cli->error)) != ERR_NONE)
		return err;
	if (options->since != OPT_none &&
	    ((err = option_when(invocation, options->since, &listing.since_ms, &cli->error)) != ERR_NONE ||
	     (err = option_when(invocation, options->until, &listing.until_ms, &cli->error)) != ERR_NONE))
		return err;
	if (listing.until_ms != 0 && listing.since_ms >= listing.until_ms)
		return error_set(&cli->error, ERR_USAGE, "--until must be later than --since, so nothing can match");
	listing.name = slice_str(options->name != OPT_none ? option_value(invocation, options->name) : NULL);
	if (listing.name.len > LIMIT_NAME_MAX_LEN)
		return error_set(&cli->error, ERR_USAGE, "--name may have at most %d bytes", LIMIT_NAME_MAX_LEN);
	listing.limit = limit;
	listing.sort = options->sort != OPT_none ? option_value(invocation, options->sort) : NULL;
	if (listing.sort && (err = records_sort(records, listing.sort, &cli->error)) != ERR_NONE)
		return err;
	err = listing_where(cli, options->where, records, &listing.where);
	*ret = listing;
	return err;
}

enum err listing_where(struct cli *cli, enum option_id option, const struct records *records, struct where *ret)
{
	const char *text = option != OPT_none ? option_value(cli->invocation, option) : NULL;
	struct dag_spot spot;
	enum err err;

	*ret = (struct where){ 0 };
	if (text == NULL)
		return ERR_NONE;
	err = where_read(ret, text, records->columns, records->column_count, cli_now_ms(cli), &cli->arena, &spot, &cli->error);
	if (err != ERR_NONE)
		load_explain(cli, slice_str(text), "--where", &spot);
	return err;
}

enum err listing_refuse(struct cli *cli, const struct listing_options *options, const char *action)
{
	const enum option_id ids[] = {
		options->limit, options->all, options->name, options->since, options->until, options->sort, options->where,
	};
	const char *verb = cli->invocation->command->verb;

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (ids[i] != OPT_none && option_given(cli->invocation, ids[i])) {
			error_set(&cli->error, ERR_USAGE, "titan %s %s takes none of the options of titan %s ls", verb, action, verb);
			return error_next(&cli->error, "titan help %s", verb);
		}
	return ERR_NONE;
}

bool listing_matches(const struct listing *listing, struct slice name, int64_t wall_ms)
{
	if (listing->name.len > 0 && !text_matches(listing->name, name))
		return false;
	return wall_ms == 0 || (wall_ms >= listing->since_ms && (listing->until_ms == 0 || wall_ms < listing->until_ms));
}

bool listing_keeps(struct listing *listing, struct records *records)
{
	bool keeps = where_keeps(&listing->where, records);

	if (keeps)
		records->cell_count -= records->column_count;
	return keeps;
}

bool listing_keep(struct listing *listing, struct records *records)
{
	if (listing->where.text.len == 0)
		return true;
	if (!where_keeps(&listing->where, records))
		return false;
	if (listing->shown == listing->limit && !listing->sort) {
		records->cell_count -= records->column_count;
		listing->cut = true;
		return false;
	}
	listing->shown++;
	return true;
}

bool listing_wants(struct listing *listing)
{
	/* Whether a row counts is only known when it was added (listing_keep). */
	if (listing->where.text.len > 0)
		return !listing->cut;
	if (listing->shown == listing->limit && !listing->sort) {
		listing->cut = true;
		return false;
	}
	listing->shown++;
	return true;
}

enum err listing_sort(struct cli *cli, struct listing *listing, struct records *records)
{
	enum err err = listing->sort ? records_sort(records, listing->sort, &cli->error) : ERR_NONE;

	if (err == ERR_NONE && listing->shown > listing->limit) {
		listing->cut = true;
		listing->shown = listing->limit;
		records_keep(records, (size_t)listing->limit);
	}
	return err;
}

/* Add a word, quoted for a shell if necessary. */
static void word_add(struct buf *text, const char *word)
{
	bool quote = word[0] == '\0' || strpbrk(word, " \t*?[]{}()<>|&;$`\"\\!#~'") != NULL;

	buf_add_str(text, quote ? " '" : " ");
	text_escape(text, slice_str(word), TEXT_KEEP_NONE);
	buf_add_str(text, quote ? "'" : "");
}

/* The command as the person typed it, without --limit, to suggest it with another limit. */
static void command_again(const struct cli *cli, const struct listing *listing, struct buf *text)
{
	const struct invocation *invocation = cli->invocation;

	buf_addf(text, "titan %s", invocation->command->verb);
	for (size_t i = 0; i < invocation->arg_count; i++)
		word_add(text, invocation->args[i]);
	for (size_t i = 0; i < invocation->option_count; i++) {
		const struct given_option *given = &invocation->options[i];
		const struct option_info *info = invocation->command->options;

		while (info->id != OPT_none && info->id != given->id)
			info++;
		if (info->id == OPT_none || info->id == listing->options->limit)
			continue;
		buf_addf(text, " --%s", info->word);
		if (given->value)
			word_add(text, given->value);
	}
}

void listing_tell(struct cli *cli, const struct listing *listing, const char *what)
{
	struct buf text = { 0 };

	if (listing->where.spent)
		cli_note(cli, "--where took too many steps for some rows, which aren't in the list");
	if (!listing->cut)
		return;
	command_again(cli, listing, &text);
	buf_addf(&text, " --limit %" PRIu64, listing->shown == 1 ? MORE_ROWS : listing->limit * MORE_ROWS);
	if (listing->lines > 0 && listing->lines < listing->total)
		cli_note(cli, "%" PRIu64 " of %" PRIu64 " lines shown; in all there are %" PRIu64 " %ss: %s", listing->shown, listing->lines,
			 listing->total, what, buf_cstr(&text));
	else if (listing->lines > 0)
		cli_note(cli, "%" PRIu64 " of %" PRIu64 " %ss shown: %s", listing->shown, listing->lines, what, buf_cstr(&text));
	else if (listing->shown == 1)
		cli_note(cli, "there is more than this one %s: %s", what, buf_cstr(&text));
	else
		cli_note(cli, "there are more than these %" PRIu64 " %ss: %s", listing->shown, what, buf_cstr(&text));
	buf_free(&text);
}
