/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all of titan kv uses: reading keys and values, requests that are sent again, and cells for bytes. */
#include "cli/commands/dry_run.h"
#include "cli/commands/kv.h"

#include <inttypes.h>

#include "base/rand.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/select.h"
#include "cli/graph/load.h"
#include "cli/session/options.h"
#include "cli/session/output.h"

#define TRIES 5
#define RECONNECT_MS 30000
#define REQUEST_SIZE 16

static enum err no_namespace(struct cli *cli, const char *word)
{
	error_set(&cli->error, ERR_USAGE, "'%s' has no namespace: outside a job a key is cluster:KEY, def/NAME:KEY or run/RUN:KEY", word);
	return error_next(&cli->error, "titan kv --help");
}

/* Read the words before the colon: run, run/RUN, def, def/NAME or cluster. False: they are no namespace. */
static bool read_space(struct cli *cli, struct slice space, struct kv_place *ret, enum err *ret_err)
{
	static const struct { const char *word; uint64_t space; } words[] = {
		{ "run", SPACE_RUN }, { "def", SPACE_DEFINITION }, { "cluster", SPACE_CLUSTER },
	};
	const uint8_t *slash = space.len > 0 ? memchr(space.data, '/', space.len) : NULL;
	size_t len = slash ? (size_t)(slash - space.data) : space.len;
	struct slice name = slash ? slice_make(slash + 1, space.len - len - 1) : slice_make(NULL, 0);

	*ret_err = ERR_NONE;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (slice_eq(slice_make(space.data, len), slice_str(words[i].word)))
			ret->space = words[i].space;
	if (ret->space == 0 || (slash && ret->space == SPACE_CLUSTER))
		return false;
	if (ret->space == SPACE_RUN && slash) {
		char *run = arena_strdup(&cli->arena, name);

		*ret_err = cli_connect(cli);
		if (*ret_err == ERR_NONE)
			*ret_err = cli_select_run(cli, run, &ret->run);
	} else if (slash && !text_is_name(name)) {
		*ret_err = error_set(&cli->error, ERR_USAGE, "'%.*s' isn't the name of a definition", (int)(name.len < 60 ? name.len : 60),
				     (const char *)name.data);
	}
	ret->definition = name;
	return true;
}

enum err kv_read_place(struct cli *cli, const char *word, bool whole, struct kv_place *ret)
{
	bool in_job = cli->settings.socket != NULL;
	const char *colon = word ? strchr(word, ':') : NULL;
	enum err err = ERR_NONE;

	*ret = (struct kv_place){ 0 };
	if (colon && read_space(cli, slice_make(word, (size_t)(colon - word)), ret, &err)) {
		if (err != ERR_NONE)
			return err;
		ret->prefix = slice_make(word, (size_t)(colon - word) + 1);
		ret->key = slice_str(colon + 1);
		if (!in_job && ret->definition.len == 0 && ret->space != SPACE_CLUSTER && ret->run == 0)
			return no_namespace(cli, word);
	} else if (in_job) {
		*ret = (struct kv_place){ .space = SPACE_RUN, .key = slice_str(word) };
	} else if (whole && (!word || !*word)) {
		*ret = (struct kv_place){ .space = SPACE_CLUSTER, .prefix = slice_str("cluster:") };
	} else {
		return no_namespace(cli, word);
	}
	if (ret->key.len > LIMIT_VALUE_KEY_MAX || (ret->key.len == 0 && !whole))
		return error_set(&cli->error, ERR_USAGE, "a key must have 1 to %d bytes; this one has %zu", LIMIT_VALUE_KEY_MAX, ret->key.len);
	return ERR_NONE;
}

struct slice kv_address(struct arena *arena, const struct kv_place *place, struct slice key)
{
	struct buf text = { 0 };
	struct slice copy;

	if (place->prefix.len > 0 && place->space == SPACE_RUN && place->run > 0)
		buf_addf(&text, "run/%" PRIu64 ":", place->run);
	else if (place->prefix.len > 0)
		buf_add_slice(&text, place->prefix);
	else
		buf_add_str(&text, "run:");
	buf_add_slice(&text, key);
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

enum err kv_read_value(struct cli *cli, size_t at, struct slice *ret)
{
	const char *file = option_value(cli->invocation, OPT_kv_file);
	struct buf bytes = { 0 };
	enum err err;

	if (cli->invocation->arg_count > at && file)
		return error_set(&cli->error, ERR_USAGE, "give only one of VALUE and --file");
	if (cli->invocation->arg_count > at) {
		*ret = slice_str(cli->invocation->args[at]);
		return ERR_NONE;
	}
	err = file ? load_file(cli, file, &bytes) : load_stdin(cli, LIMIT_VALUE_MAX, &bytes);
	if (err == ERR_NONE && bytes.len > LIMIT_VALUE_MAX)
		err = error_set(&cli->error, ERR_TOO_LARGE, "a value may have at most %d bytes; this one has %zu", LIMIT_VALUE_MAX, bytes.len);
	*ret = arena_copy(&cli->arena, buf_slice(&bytes));
	buf_free(&bytes);
	return err;
}

bool kv_changes(const struct rec_value_op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ops[i].verb != VALUES_GET && ops[i].verb != VALUES_CHECK && ops[i].verb != VALUES_LIST && ops[i].verb != VALUES_MEMBERS)
			return true;
	return false;
}

enum err kv_call(struct cli *cli, const struct kv_place *place, const struct rec_value_op *given, size_t count, struct msg_valued *ret)
{
	struct rec_value_op *ops = arena_alloc(&cli->arena, (count + 1) * sizeof(*ops));
	struct msg_values msg = { .space = place->space, .run = place->run, .definition = place->definition, .ops = { ops, count } };
	uint8_t request[REQUEST_SIZE];
	enum err err = cli_connect(cli);

	memcpy(ops, given, count * sizeof(*ops));
	if (dry_run_wanted(cli) && kv_changes(ops, count)) {
		ops[msg.ops.n++] = (struct rec_value_op){ .verb = VALUES_DRY_RUN, .key = ops[0].key };
	} else if (kv_changes(ops, count)) {
		rand_system(request, sizeof(request));
		msg.request = slice_make(request, sizeof(request));
	}
	for (int try = 1; err == ERR_NONE; try++) {
		err = cli_call(cli, OP_VALUES, &msg, OP_VALUED, &cli->arena, ret);
		if (err != ERR_UNREACHABLE || try == TRIES)
			break;
		/* It isn't known whether the change was made. Sending it again is safe because of its request key. */
		err = cli_reconnect(cli, RECONNECT_MS);
	}
	return err;
}

void kv_dry_tell(struct cli *cli, bool changes)
{
	if (dry_run_wanted(cli) && cli->out.style == STYLE_HUMAN)
		cli_note(cli, changes ? "dry run: this change would be made; nothing was changed" : "dry run: nothing would change");
}

/* ---- cells ---- */

const char *kv_kind_word(uint64_t kind)
{
	static const char *const words[] = {
		[VALUE_NONE] = "deleted", [VALUE_BYTES] = "bytes", [VALUE_INTEGER] = "integer", [VALUE_SET] = "set",
	};

	return kind < sizeof(words) / sizeof(words[0]) ? words[kind] : "unknown";
}

/* Is it UTF-8 without zero bytes? */
static bool is_text(struct slice bytes)
{
	while (bytes.len > 0) {
		uint32_t code;
		int width;
		size_t len = text_next(bytes, &code, &width);

		if (bytes.data[0] == 0 || (code == 0xfffd && memcmp(bytes.data, "\xef\xbf\xbd", len < 3 ? len : 3) != 0))
			return false;
		bytes = slice_make(bytes.data + len, bytes.len - len);
	}
	return true;
}

static struct slice base64(struct slice bytes, struct arena *arena)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t *out = arena_alloc(arena, (bytes.len + 2) / 3 * 4 + 1);
	size_t len = 0;

	for (size_t at = 0; at < bytes.len; at += 3) {
		size_t left = bytes.len - at;
		uint32_t group = (uint32_t)bytes.data[at] << 16 | (left > 1 ? (uint32_t)bytes.data[at + 1] << 8 : 0) |
				 (left > 2 ? bytes.data[at + 2] : 0u);

		out[len++] = (uint8_t)digits[group >> 18];
		out[len++] = (uint8_t)digits[group >> 12 & 63];
		out[len++] = left > 1 ? (uint8_t)digits[group >> 6 & 63] : '=';
		out[len++] = left > 2 ? (uint8_t)digits[group & 63] : '=';
	}
	return slice_make(out, len);
}

void kv_value_cells(struct records *records, struct slice value, bool there)
{
	if (!there) {
		records_none(records);
		records_none(records);
	} else if (is_text(value)) {
		records_text(records, value);
		records_none(records);
	} else {
		records_none(records);
		records_text(records, base64(value, records->arena));
	}
}
