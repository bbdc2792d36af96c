/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan asset: files and directories that the master keeps, in versions. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/asset.h"
#include "cli/commands/command.h"
#include "cli/commands/dry_run.h"
#include "cli/commands/object.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/records.h"
#include "proto/limits.h"

#define PUT_TRIES 3

static const struct column asset_columns[] = {
	{ "name", "ASSET", false },
	{ "asset_version", "VERSION", true },
	{ "kind", "KIND", false },
	{ "bytes", "BYTES", true },
	{ "file_count", "FILES", true },
	{ "made", "MADE", false },
	{ "owner", "OWNER", false },
	{ "pinned", "PINNED", false },
	{ "newest", NULL, false },
	{ "hash", NULL, false },
};
const struct table asset_table = TABLE_OF(asset_columns);

static const struct column asset_put_columns[] = {
	{ "name", "ASSET", false },
	{ "asset_version", "VERSION", true },
	{ "changed", "CHANGED", true },
	{ "kind", "KIND", false },
	{ "bytes", "BYTES", true },
	{ "file_count", "FILES", true },
	{ "sent_bytes", "SENT", true },
	{ "hash", NULL, false },
	{ "dry_run", NULL, false },
};
const struct table asset_put_table = TABLE_OF(asset_put_columns);

static const struct column asset_got_columns[] = {
	{ "name", "ASSET", false },
	{ "asset_version", "VERSION", true },
	{ "kind", "KIND", false },
	{ "bytes", "BYTES", true },
	{ "file_count", "FILES", true },
	{ "path", "PATH", false },
};
const struct table asset_got_table = TABLE_OF(asset_got_columns);

static const struct column asset_changed_columns[] = {
	{ "name", "ASSET", false },
	{ "asset_version", "VERSION", true },
	{ "changed", "CHANGED", true },
	{ "dry_run", NULL, false },
};
const struct table asset_changed_table = TABLE_OF(asset_changed_columns);

/* ---- names and versions ---- */

enum err asset_name_read(struct cli *cli, struct slice word, struct asset_name *ret)
{
	const uint8_t *at = memrchr(word.data, '@', word.len);
	struct buf shown = { 0 };

	*ret = (struct asset_name){ .name = slice_make(word.data, at ? (size_t)(at - word.data) : word.len) };
	if (text_is_name(ret->name) &&
	    (!at || (text_parse_u64(slice_make(at + 1, word.len - ret->name.len - 1), &ret->version) && ret->version > 0)))
		return ERR_NONE;
	text_escape(&shown, word, TEXT_KEEP_NONE);
	error_set(&cli->error, ERR_USAGE, "'%.200s' isn't NAME or NAME@VERSION; a name has at most %d letters, digits and _ . -", buf_cstr(&shown),
		  LIMIT_NAME_MAX_LEN);
	buf_free(&shown);
	return error_next(&cli->error, "titan asset ls");
}

/* Call row_cb with each version of the asset; with an empty name, of all assets. */
static enum err each_version(struct cli *cli, struct slice name, void (*row_cb)(void *arg, const struct rec_asset_row *row), void *arg)
{
	struct msg_query query = { .what = QUERY_ASSETS, .job = name };
	enum err err;

	do {
		struct msg_snapshot page;

		err = cli_query(cli, query, &cli->arena, &page);
		for (size_t i = 0; err == ERR_NONE && i < page.assets.n; i++)
			row_cb(arg, &page.assets.at[i]);
		query.cursor = err == ERR_NONE ? page.cursor : 0;
	} while (query.cursor != 0);
	return err;
}

struct finding {
	const struct asset_name *wanted;
	struct rec_asset_row row;
	bool found, asset;               /* the version; the asset has any version */
};

static void find_cb(void *arg, const struct rec_asset_row *row)
{
	struct finding *finding = arg;

	finding->asset = true;
	if (finding->wanted->version ? row->version == finding->wanted->version : row->newest) {
		finding->row = *row;
		finding->found = true;
	}
}

enum err asset_version_find(struct cli *cli, const struct asset_name *wanted, struct rec_asset_row *ret)
{
	struct finding finding = { .wanted = wanted };
	enum err err = each_version(cli, wanted->name, find_cb, &finding);

	if (err != ERR_NONE)
		return err;
	*ret = finding.row;
	if (finding.found && ret->hash.len == SHA256_SIZE)
		return ERR_NONE;
	if (finding.asset) {
		error_set(&cli->error, ERR_NOT_FOUND, "asset %.*s has no version %llu", (int)wanted->name.len, (const char *)wanted->name.data,
			  (unsigned long long)wanted->version);
		return error_next(&cli->error, "titan asset ls %.*s", (int)wanted->name.len, (const char *)wanted->name.data);
	}
	error_set(&cli->error, ERR_NOT_FOUND, "there is no asset '%.*s'", (int)wanted->name.len, (const char *)wanted->name.data);
	return error_next(&cli->error, "titan asset ls");
}

static const char *kind_word(uint64_t kind)
{
	return kind == ASSET_DIR ? "directory" : kind == ASSET_PROGRAM ? "program" : "file";
}

static void hash_cell(struct records *records, const uint8_t hash[SHA256_SIZE])
{
	char text[SHA256_TEXT_SIZE];

	sha256_text(hash, text);
	records_text(records, arena_copy(records->arena, slice_str(text)));
}

/* ---- ls, show ---- */

struct listing {
	struct records *records;
	bool all;                        /* all versions, not only the newest */
};

static void list_cb(void *arg, const struct rec_asset_row *row)
{
	const struct listing *listing = arg;
	struct records *records = listing->records;

	if ((!listing->all && !row->newest) || row->hash.len != SHA256_SIZE)
		return;
	records_text(records, row->asset);
	records_number(records, row->version);
	records_text(records, slice_str(kind_word(row->kind)));
	records_number(records, row->size);
	records_number(records, row->files);
	records_time(records, row->made_ms);
	records_text(records, row->owner);
	records_bool(records, row->pinned);
	records_bool(records, row->newest);
	hash_cell(records, row->hash.data);
}

static int asset_ls(struct cli *cli)
{
	struct asset_name name = { 0 };
	struct records records;
	struct listing listing = { &records, cli->invocation->arg_count > 1 };
	struct buf out = { 0 };

	records_begin(&records, asset_columns, asset_table.count, &cli->arena);
	if ((listing.all && asset_name_read(cli, slice_str(cli->invocation->args[1]), &name) != ERR_NONE) ||
	    records_check(&records, &cli->out, &cli->error) != ERR_NONE || cli_connect(cli) != ERR_NONE ||
	    each_version(cli, name.name, list_cb, &listing) != ERR_NONE)
		return cli_fail(cli);
	if (listing.all && records_rows(&records) == 0) {
		struct rec_asset_row row;

		asset_version_find(cli, &name, &row);
		return cli_fail(cli);
	}
	if (records_rows(&records) == 0 && cli_chatty(cli))
		cli_note(cli, "there are no assets; titan asset put FILE keeps a file");
	records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	return 0;
}

static int asset_show(struct cli *cli)
{
	struct column columns[sizeof(asset_columns) / sizeof(asset_columns[0])];
	struct rec_asset_row row;
	struct asset_name name;
	struct records records;
	struct listing listing = { &records, true };
	struct buf out = { 0 };

	memcpy(columns, asset_columns, sizeof(asset_columns));
	for (size_t i = 0; i < asset_table.count; i++)
		columns[i].title = columns[i].key;
	records_begin(&records, columns, asset_table.count, &cli->arena);
	if (asset_name_read(cli, slice_str(cli->invocation->args[1]), &name) != ERR_NONE || records_check(&records, &cli->out, &cli->error) != ERR_NONE ||
	    cli_connect(cli) != ERR_NONE || asset_version_find(cli, &name, &row) != ERR_NONE)
		return cli_fail(cli);
	list_cb(&listing, &row);
	records_print_one(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	return 0;
}

/* ---- put ---- */

struct put {
	const struct asset_source *source;
	struct slice name;
	uint64_t version, sent;          /* version 0: not known yet */
	bool changed, dry;
};

/* Does the newest version have this content already? */
static enum err put_dry(struct cli *cli, struct put *put)
{
	const struct asset_name name = { .name = put->name };
	struct rec_asset_row row;
	enum err err = asset_version_find(cli, &name, &row);

	if (err != ERR_NONE && err != ERR_NOT_FOUND)
		return err;
	put->changed = err == ERR_NOT_FOUND || row.kind != put->source->kind || memcmp(row.hash.data, put->source->hash, SHA256_SIZE) != 0;
	put->version = put->changed ? 0 : row.version;
	return ERR_NONE;
}

/* Upload the content, then name it. If the master has dropped some of it meanwhile, upload that again. */
static enum err put_send(struct cli *cli, struct put *put)
{
	char hash[SHA256_TEXT_SIZE];
	enum err err = ERR_NOT_FOUND;
	struct msg_ok ok = { 0 };

	sha256_text(put->source->hash, hash);
	for (int tries = 0; err == ERR_NOT_FOUND && tries < PUT_TRIES; tries++) {
		struct msg_set set = {
			.kind = OBJECT_ASSET, .verb = SET_PUT, .name = put->name, .text = slice_str(hash), .weight = put->source->kind,
		};
		uint64_t sent;

		err = asset_send(cli, put->source, &sent);
		put->sent += sent;
		if (err != ERR_NONE)
			return err;
		err = cli_call(cli, OP_SET, &set, OP_OK, &cli->arena, &ok);
	}
	put->version = ok.number;
	put->changed = ok.count > 0;
	return err;
}

static void put_print(struct cli *cli, const struct put *put)
{
	struct records records;
	struct buf out = { 0 };

	records_begin(&records, asset_put_columns, asset_put_table.count, &cli->arena);
	records_text(&records, put->name);
	if (put->version)
		records_number(&records, put->version);
	else
		records_none(&records);
	records_number(&records, put->changed);
	records_text(&records, slice_str(kind_word(put->source->kind)));
	records_number(&records, put->source->bytes);
	records_number(&records, put->source->files);
	records_number(&records, put->sent);
	hash_cell(&records, put->source->hash);
	records_bool(&records, put->dry);
	if (cli->out.style != STYLE_HUMAN || put->dry) {
		records_print_one(&records, &cli->out, &out);
	} else {
		buf_addf(&out, "%.*s@%llu\n", (int)put->name.len, (const char *)put->name.data, (unsigned long long)put->version);
		if (!put->changed && cli_chatty(cli))
			cli_note(cli, "the newest version has this content already");
	}
	cli_print(cli, &out);
	buf_free(&out);
	if (put->dry)
		dry_run_tell(cli, put->changed, "asset", "put");
}

/* The name of an asset is the last part of the path, unless it was given. */
static enum err put_name(struct cli *cli, struct slice *ret)
{
	const char *path = cli->invocation->args[1];
	char absolute[PATH_MAX], *last = absolute;
	struct buf shown = { 0 };

	if (cli->invocation->arg_count > 2)
		*ret = slice_str(cli->invocation->args[2]);
	else if (realpath(path, absolute))
		*ret = arena_copy(&cli->arena, slice_str((last = strrchr(absolute, '/')) ? last + 1 : absolute));
	else
		*ret = slice_str("unreadable");  /* reading it gives the error */
	if (text_is_name(*ret))
		return ERR_NONE;
	text_escape(&shown, *ret, TEXT_KEEP_NONE);
	error_set(&cli->error, ERR_USAGE, "'%.200s' isn't a name for an asset; use at most %d letters, digits and _ . -", buf_cstr(&shown),
		  LIMIT_NAME_MAX_LEN);
	buf_free(&shown);
	return error_next(&cli->error, "titan asset put FILE NAME");
}

static int asset_put(struct cli *cli)
{
	struct asset_source source = { .fd = -1 };
	struct put put = { .source = &source, .dry = option_given(cli->invocation, OPT_asset_dry) };
	struct records check;
	enum err err;

	records_begin(&check, asset_put_columns, asset_put_table.count, &cli->arena);
	err = records_check(&check, &cli->out, &cli->error);
	if (err == ERR_NONE)
		err = put_name(cli, &put.name);
	if (err == ERR_NONE)
		err = asset_read(cli, cli->invocation->args[1], &source);
	if (err == ERR_NONE)
		err = cli_connect(cli);
	if (err == ERR_NONE)
		err = put.dry ? put_dry(cli, &put) : put_send(cli, &put);
	if (err == ERR_NONE)
		put_print(cli, &put);
	asset_source_free(&source);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}

/* ---- get ---- */

static void got_print(struct cli *cli, const struct rec_asset_row *row, const char *path)
{
	struct records records;
	struct buf out = { 0 };

	records_begin(&records, asset_got_columns, asset_got_table.count, &cli->arena);
	records_text(&records, row->asset);
	records_number(&records, row->version);
	records_text(&records, slice_str(kind_word(row->kind)));
	records_number(&records, row->size);
	records_number(&records, row->files);
	records_text(&records, slice_str(path));
	if (cli->out.style != STYLE_HUMAN) {
		records_print_one(&records, &cli->out, &out);
		cli_print(cli, &out);
	} else if (cli_chatty(cli)) {
		text_escape(&out, slice_str(path), TEXT_KEEP_NONE);
		cli_note(cli, "%.*s@%llu is in %s", (int)row->asset.len, (const char *)row->asset.data, (unsigned long long)row->version, buf_cstr(&out));
	}
	buf_free(&out);
}

static int asset_get(struct cli *cli)
{
	const char *path = option_value(cli->invocation, OPT_asset_output);
	bool print = path && strcmp(path, "-") == 0;
	struct rec_asset_row row;
	struct asset_name name;
	struct records check;

	records_begin(&check, asset_got_columns, asset_got_table.count, &cli->arena);
	if (print && cli->out.style != STYLE_HUMAN) {
		error_set(&cli->error, ERR_USAGE, "-o - writes the content to standard output, so --json, --plain and --format can't be given");
		return cli_fail(cli);
	}
	if (asset_name_read(cli, slice_str(cli->invocation->args[1]), &name) != ERR_NONE || records_check(&check, &cli->out, &cli->error) != ERR_NONE ||
	    cli_connect(cli) != ERR_NONE || asset_version_find(cli, &name, &row) != ERR_NONE)
		return cli_fail(cli);
	if (!path)
		path = arena_strdup(&cli->arena, name.name);
	if (asset_fetch(cli, &row, path, option_given(cli->invocation, OPT_asset_force)) != ERR_NONE)
		return cli_fail(cli);
	if (!print)
		got_print(cli, &row, path);
	return 0;
}

/* ---- rm, pin ---- */

static void count_cb(void *arg, const struct rec_asset_row *row)
{
	uint64_t *count = arg;

	*count += row->hash.len > 0;
}

static int change(struct cli *cli, enum set_verb verb, const char *done)
{
	bool dry = option_given(cli->invocation, OPT_asset_dry);
	struct msg_set set = { .kind = OBJECT_ASSET, .verb = verb };
	struct rec_asset_row row = { 0 };
	struct msg_ok ok = { .count = 1 };
	struct asset_name name;
	struct records records;
	struct buf out = { 0 };

	records_begin(&records, asset_changed_columns, asset_changed_table.count, &cli->arena);
	if (asset_name_read(cli, slice_str(cli->invocation->args[1]), &name) != ERR_NONE || records_check(&records, &cli->out, &cli->error) != ERR_NONE ||
	    cli_connect(cli) != ERR_NONE || asset_version_find(cli, &name, &row) != ERR_NONE)
		return cli_fail(cli);
	set.name = name.name;
	set.number = verb == SET_REMOVE ? name.version : row.version;
	if (dry && set.number == 0) {
		ok.count = 0;
		if (each_version(cli, set.name, count_cb, &ok.count) != ERR_NONE)
			return cli_fail(cli);
	} else if (dry) {
		ok.count = verb == SET_REMOVE || row.pinned != (verb == SET_PIN);
	} else if (cli_call(cli, OP_SET, &set, OP_OK, &cli->arena, &ok) != ERR_NONE) {
		return cli_fail(cli);
	}
	records_text(&records, set.name);
	if (set.number)
		records_number(&records, set.number);
	else
		records_none(&records);
	records_number(&records, ok.count);
	records_bool(&records, dry);
	if (dry || cli->out.style == STYLE_JSON || cli->out.style == STYLE_FORMAT) {
		records_print_one(&records, &cli->out, &out);
		cli_print(cli, &out);
	} else if (cli_chatty(cli)) {
		cli_note(cli, "%s: %s%s", cli->invocation->args[1], done, ok.count ? "" : " already");
	}
	buf_free(&out);
	if (dry)
		dry_run_tell(cli, ok.count, "version", done);
	return 0;
}

static int asset_rm(struct cli *cli)
{
	return change(cli, SET_REMOVE, "removed");
}

static int asset_pin(struct cli *cli)
{
	bool off = option_given(cli->invocation, OPT_asset_off);

	return change(cli, off ? SET_UNPIN : SET_PIN, off ? "unpinned" : "pinned");
}

int cmd_asset(struct cli *cli)
{
	static const struct object_verb verbs[] = {
		{ "ls", 0, 1, "[ASSET]", asset_ls }, { "show", 1, 1, "ASSET", asset_show }, { "put", 1, 2, "FILE [NAME]", asset_put },
		{ "get", 1, 1, "ASSET", asset_get }, { "rm", 1, 1, "ASSET", asset_rm }, { "pin", 1, 1, "ASSET", asset_pin },
	};

	return object_run(cli, verbs, sizeof(verbs) / sizeof(verbs[0]));
}
