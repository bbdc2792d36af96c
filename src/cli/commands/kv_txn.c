/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan kv txn: several operations in one namespace, done all or none. Each line is a verb, a key, and what the verb takes;
 * the value is the rest of the line. In keys and values \n, \t, \\ and \xHH stand for bytes.
 */
#include <inttypes.h>

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/commands/dry_run.h"
#include "cli/commands/kv.h"
#include "cli/graph/load.h"
#include "cli/session/options.h"
#include "cli/session/output.h"

#define INPUT_MAX (4 * LIMIT_VALUE_REQUEST_MAX)  /* a byte takes at most four when it is escaped */

static const struct column txn_columns[] = {
	{ "key", "KEY", false },
	{ "kind", "KIND", false },
	{ "revision", "REVISION", true },
	{ "number", "NUMBER", true },
	{ "value", "VALUE", false },
	{ "base64", NULL, false },
	{ "dry_run", NULL, false },
};
const struct table kv_txn_table = TABLE_OF(txn_columns);

/* What a line takes behind its key. */
enum takes { TAKES_NOTHING, TAKES_VALUE, TAKES_VERSION, TAKES_VERSION_AND_VALUE, TAKES_NUMBER, TAKES_SPAN };

static const struct {
	const char *word;
	enum value_verb verb;
	enum takes takes;
} verbs[] = {
	{ "get", VALUES_GET, TAKES_NOTHING }, { "set", VALUES_SET, TAKES_VALUE }, { "add", VALUES_ADD, TAKES_VALUE },
	{ "cas", VALUES_CAS, TAKES_VERSION_AND_VALUE }, { "del", VALUES_DEL, TAKES_NOTHING }, { "incr", VALUES_INCR, TAKES_NUMBER },
	{ "sadd", VALUES_SADD, TAKES_VALUE }, { "srem", VALUES_SREM, TAKES_VALUE }, { "touch", VALUES_TOUCH, TAKES_SPAN },
	{ "check", VALUES_CHECK, TAKES_VERSION },
};

/* Cut the next word from the front of the line. */
static struct slice word_take(struct slice *line)
{
	size_t len = 0;
	struct slice word;

	while (len < line->len && line->data[len] != ' ' && line->data[len] != '\t')
		len++;
	word = slice_make(line->data, len);
	len += len < line->len;
	*line = slice_make(line->data + len, line->len - len);
	return word;
}

static int hex_digit(uint8_t byte)
{
	return byte >= '0' && byte <= '9' ? byte - '0' : (byte | 32) >= 'a' && (byte | 32) <= 'f' ? (byte | 32) - 'a' + 10 : -1;
}

static bool unescape(struct slice text, struct arena *arena, struct slice *ret)
{
	uint8_t *out = arena_alloc(arena, text.len + 1);
	size_t len = 0;

	for (size_t i = 0; i < text.len; i++) {
		uint8_t next = i + 1 < text.len ? text.data[i + 1] : 0;

		if (text.data[i] != '\\') {
			out[len++] = text.data[i];
			continue;
		}
		if (next == 'x' && i + 3 < text.len && hex_digit(text.data[i + 2]) >= 0 && hex_digit(text.data[i + 3]) >= 0) {
			out[len++] = (uint8_t)(hex_digit(text.data[i + 2]) << 4 | hex_digit(text.data[i + 3]));
			i += 3;
		} else if (next == 'n' || next == 't' || next == '\\') {
			out[len++] = next == 'n' ? '\n' : next == 't' ? '\t' : '\\';
			i++;
		} else {
			return false;
		}
	}
	*ret = slice_make(out, len);
	return true;
}

static enum err line_wrong(struct cli *cli, size_t number, const char *why)
{
	error_set(&cli->error, ERR_SYNTAX, "line %zu: %s", number, why);
	return error_next(&cli->error, "man titan-kv");
}

static bool version_read(struct slice *line, struct rec_value_op *op)
{
	return text_parse_u64(word_take(line), &op->version) && op->version <= INT64_MAX;
}

static bool rest_read(struct cli *cli, enum takes takes, struct slice line, struct rec_value_op *op)
{
	bool negative = line.len > 0 && line.data[0] == '-';
	int64_t ttl_ms = 0;
	uint64_t number = 1;

	switch (takes) {
	case TAKES_NOTHING:
		return line.len == 0;
	case TAKES_VALUE:
		return unescape(line, &cli->arena, &op->value);
	case TAKES_VERSION:
		return version_read(&line, op) && line.len == 0;
	case TAKES_VERSION_AND_VALUE:
		return version_read(&line, op) && unescape(line, &cli->arena, &op->value);
	case TAKES_NUMBER:
		if (line.len > 0 && (!text_parse_u64(slice_make(line.data + negative, line.len - negative), &number) || number > INT64_MAX))
			return false;
		op->by = negative ? -(int64_t)number : (int64_t)number;
		return true;
	case TAKES_SPAN:
		if (line.len > 0 && parse_span(arena_strdup(&cli->arena, line), "touch", &ttl_ms, &cli->error) != ERR_NONE)
			return false;
		op->ttl_ms = (uint64_t)ttl_ms;
		return true;
	}
	return false;
}

static enum err line_read(struct cli *cli, size_t number, struct slice line, struct rec_value_op *op)
{
	struct slice word = word_take(&line), key = word_take(&line);

	*op = (struct rec_value_op){ 0 };
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (!slice_eq(word, slice_str(verbs[i].word)))
			continue;
		op->verb = verbs[i].verb;
		if (!unescape(key, &cli->arena, &op->key) || op->key.len == 0)
			return line_wrong(cli, number, "the key is missing, or has a wrong escape");
		if (!rest_read(cli, verbs[i].takes, line, op))
			return line_wrong(cli, number, "what follows the key is wrong, or has a wrong escape");
		return ERR_NONE;
	}
	return line_wrong(cli, number, "the first word must be get, set, add, cas, del, incr, sadd, srem, touch or check");
}

static enum err lines_read(struct cli *cli, struct slice text, struct rec_value_op *ops, size_t *ret_count)
{
	enum err err = ERR_NONE;
	size_t number = 0;

	*ret_count = 0;
	while (text.len > 0 && err == ERR_NONE) {
		const uint8_t *newline = memchr(text.data, '\n', text.len);
		size_t len = newline ? (size_t)(newline - text.data) : text.len;
		struct slice line = slice_make(text.data, len);

		len += newline != NULL;
		text = slice_make(text.data + len, text.len - len);
		number++;
		if (line.len == 0 || line.data[0] == '#')
			continue;
		if (*ret_count == LIMIT_VALUE_OPS_MAX)
			return error_set(&cli->error, ERR_TOO_LARGE, "there are more than %d operations", LIMIT_VALUE_OPS_MAX);
		err = line_read(cli, number, line, &ops[(*ret_count)++]);
	}
	if (err == ERR_NONE && *ret_count == 0)
		return error_set(&cli->error, ERR_USAGE, "there is no operation; each line is one, such as: set KEY VALUE");
	return err;
}

static void add_rows(struct cli *cli, struct records *records, const struct kv_place *place, const struct msg_valued *valued)
{
	for (size_t i = 0; i < valued->rows.n; i++) {
		const struct rec_value_row *row = &valued->rows.at[i];

		records_text(records, kv_address(&cli->arena, place, row->key));
		records_text(records, slice_str(kv_kind_word(row->kind)));
		if (row->version > 0 && row->version <= valued->revision)
			records_number(records, row->version);
		else
			records_none(records);
		records_number(records, (uint64_t)row->number);
		kv_value_cells(records, row->value, row->value.len > 0 && row->kind != VALUE_SET);
		records_bool(records, dry_run_wanted(cli));
	}
}

int kv_txn(struct cli *cli)
{
	const char *file = option_value(cli->invocation, OPT_kv_file);
	struct rec_value_op *ops = arena_alloc(&cli->arena, LIMIT_VALUE_OPS_MAX * sizeof(*ops));
	struct records records;
	struct kv_place place;
	struct msg_valued valued;
	struct buf bytes = { 0 }, out = { 0 };
	size_t count = 0;
	enum err err;

	records_begin(&records, txn_columns, kv_txn_table.count, &cli->arena);
	err = records_check(&records, &cli->out, &cli->error);
	if (err == ERR_NONE)
		err = kv_read_place(cli, cli->invocation->arg_count > 1 ? cli->invocation->args[1] : NULL, true, &place);
	if (err == ERR_NONE && place.key.len > 0)
		err = error_set(&cli->error, ERR_USAGE, "titan kv txn takes a namespace alone, such as cluster:; the keys stand in the lines");
	if (err == ERR_NONE)
		err = file ? load_file(cli, file, &bytes) : load_stdin(cli, INPUT_MAX, &bytes);
	if (err == ERR_NONE)
		err = lines_read(cli, buf_slice(&bytes), ops, &count);
	if (err == ERR_NONE)
		err = kv_call(cli, &place, ops, count, &valued);
	buf_free(&bytes);
	if (err != ERR_NONE)
		return cli_fail(cli);
	add_rows(cli, &records, &place, &valued);
	records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	kv_dry_tell(cli, kv_changes(ops, count));
	return 0;
}
