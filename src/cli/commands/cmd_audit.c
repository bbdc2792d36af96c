/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan audit: checks and exports the chain of acts. Each act has a hash over itself and over the hash of the act before it,
 * so a changed, missing, inserted or moved act breaks the chain. A person who can write the store could also compute all
 * hashes anew. To notice that, keep a hash of the newest act (the head) elsewhere and give it to --head.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/commands/command.h"
#include "cli/commands/object.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/records.h"
#include "core/acts/chain.h"
#include "store/backup.h"
#include "store/store.h"
#include "store/tables.h"

#define PORTION 1000                     /* acts that are printed together */

static const struct column audit_columns[] = {
	{ "act", "newest act", true },
	{ "hash", "its hash", false },
	{ "act_count", "acts", true },
	{ "first_act", "from act", true },
};
const struct table audit_table = TABLE_OF(audit_columns);

static const struct column audit_act_columns[] = {
	{ "act", "ACT", true },
	{ "time", "WHEN", false },
	{ "person", "WHO", false },
	{ "verb", "WHAT", false },
	{ "target", "ON", false },
	{ "hash", "HASH", false },
	{ "turn", NULL, true },
	{ "principal", NULL, true },
	{ "key", NULL, false },
	{ "origin", NULL, false },
	{ "by_job", NULL, true },
	{ "run", NULL, true },
	{ "before", NULL, false },
	{ "after", NULL, false },
	{ "message", NULL, false },
	{ "previous_hash", NULL, false },
};
const struct table audit_act_table = TABLE_OF(audit_act_columns);

struct walk {                            /* a walk through all acts, the oldest first */
	struct cli *cli;
	uint64_t first, last, count;
	uint8_t head[SHA256_SIZE];       /* hash of the last act */
	const char *wanted;              /* a hash that was kept elsewhere; NULL: none */
	bool found;                      /* an act has the wanted hash */
	/* only for titan audit export */
	bool exports;
	int64_t since_ms;
	struct printing printing;
	struct records records;
	struct arena arena;
	struct buf out;
};

static struct slice hex(struct slice bytes, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice copy;

	for (size_t i = 0; i < bytes.len; i++)
		buf_addf(&text, "%02x", bytes.data[i]);
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

/* ---- rows ---- */

static void flush(struct walk *walk)
{
	printing_rows(&walk->printing, &walk->records, &walk->out);
	cli_print(walk->cli, &walk->out);
	records_clear(&walk->records);
	arena_reset(&walk->arena);
}

static void number_or_none(struct records *records, int64_t number)
{
	if (number != 0)
		records_number(records, (uint64_t)number);
	else
		records_none(records);
}

/* Add the act's key. A submit may have a submit key of 16 bytes, shown as hex; other acts have the id of a token. */
static void add_key(struct records *records, const struct row_act *act)
{
	bool bytes = act->key_id.len == 16 && slice_eq(act->verb, slice_str("submit"));

	records_text(records, bytes ? hex(act->key_id, records->arena) : arena_copy(records->arena, act->key_id));
}

static void export_act(struct walk *walk, const struct row_act *act)
{
	struct records *records = &walk->records;
	struct arena *arena = &walk->arena;

	records_number(records, (uint64_t)act->act);
	records_time(records, act->wall_ms);
	records_text(records, arena_copy(arena, act->name));
	records_text(records, arena_copy(arena, act->verb));
	records_text(records, arena_copy(arena, act->target));
	records_text(records, hex(act->hash, arena));
	records_number(records, (uint64_t)act->turn);
	records_number(records, (uint64_t)act->principal);
	add_key(records, act);
	records_text(records, arena_copy(arena, act->origin));
	number_or_none(records, act->by_job);
	number_or_none(records, act->run);
	records_text(records, arena_copy(arena, act->before));
	records_text(records, arena_copy(arena, act->after));
	records_text(records, arena_copy(arena, act->reason));
	records_text(records, hex(act->previous, arena));
	if (records_rows(records) == PORTION && !printing_measures(&walk->cli->out))
		flush(walk);
}

static enum err act_cb(const struct row *row, void *arg, struct error *error)
{
	struct walk *walk = arg;
	const struct row_act *act = &row->act;
	enum err err = act_follows(act, walk->last, walk->last ? walk->head : NULL, error);
	struct slice text;

	if (err != ERR_NONE)
		return err;
	if (walk->count++ == 0)
		walk->first = (uint64_t)act->act;
	walk->last = (uint64_t)act->act;
	memcpy(walk->head, act->hash.data, SHA256_SIZE);
	text = hex(act->hash, &walk->cli->arena);
	walk->found |= walk->wanted && slice_eq(text, slice_str(walk->wanted));
	if (walk->exports && act->wall_ms >= walk->since_ms)
		export_act(walk, act);
	return ERR_NONE;
}

/* ---- the store ---- */

static enum err walk_store(struct walk *walk, const char *path)
{
	const struct store_options options = { .path = path, .inspect = true };
	struct error *error = &walk->cli->error;
	struct store *store = NULL;
	uint64_t counted = 0;
	enum err err = store_open(&options, &store, error);

	if (err == ERR_NONE && store_version(store) != STORE_VERSION)
		err = error_set(error, ERR_VERSION, "an older titan wrote the store; titan up brings it to the present version");
	if (err == ERR_NONE)
		err = store_acts(store, act_cb, walk, &counted, error);
	if (err == ERR_NONE && counted != walk->last)
		err = counted > walk->last ?
			error_set(error, ERR_STORE_TRUST, "act %" PRIu64 " is missing: the newest act there is act %" PRIu64, counted,
				  walk->last) :
			error_set(error, ERR_STORE_TRUST, "act %" PRIu64 " was added: the master did act %" PRIu64 " last", walk->last, counted);
	store_close(store);
	return err;
}

/* Let the master write a backup, and walk through that: no other process may open the store of a running master. */
static enum err walk_copy(struct walk *walk)
{
	struct cli *cli = walk->cli;
	char part[PATH_MAX], name[64];
	struct msg_backup msg;
	struct msg_ok ok;
	enum err err;

	snprintf(name, sizeof(name), "titan.db-audit-%ld", (long)getpid());
	msg = (struct msg_backup){ .path = slice_str(statedir_path(&cli->statedir, name, part)) };
	if (unlink(part) < 0 && errno != ENOENT)
		return error_system(&cli->error, errno, "can't remove %s", part);
	err = cli_call(cli, OP_BACKUP, &msg, OP_OK, &cli->arena, &ok);
	if (err == ERR_NONE)
		err = backup_complete(part, &cli->error);
	if (err == ERR_NONE)
		err = walk_store(walk, part);
	unlink(part);
	return err;
}

static enum err walk_acts(struct walk *walk)
{
	struct cli *cli = walk->cli;
	char path[PATH_MAX];
	enum err err = cli_refuse_in_job(cli, "check its acts", "titan -C CLUSTER audit");

	if (err != ERR_NONE)
		return err;
	if (access(statedir_path(&cli->statedir, "titan.db", path), F_OK) != 0)
		return error_set(&cli->error, ERR_NOT_FOUND, "there is no store %s", path);
	err = cli_connect(cli);
	if (err == ERR_NONE) {
		err = walk_copy(walk);
	} else if (err == ERR_UNREACHABLE) {
		cli->error = (struct error){ 0 };
		err = walk_store(walk, path);
	}
	if (err == ERR_STORE_TRUST)
		error_next(&cli->error, "titan restore FILE, with a backup from before that");
	return err;
}

/* ---- verbs ---- */

static int tell(const struct walk *walk)
{
	struct cli *cli = walk->cli;
	struct records records;
	struct buf out = { 0 };

	records_begin(&records, audit_columns, audit_table.count, &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	records_number(&records, walk->last);
	records_text(&records, walk->count > 0 ? hex(slice_make(walk->head, SHA256_SIZE), &cli->arena) : (struct slice){ 0 });
	records_number(&records, walk->count);
	records_number(&records, walk->first);
	records_print_one(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	return 0;
}

static enum err head_check(struct cli *cli, const char *wanted)
{
	if (!wanted || (strlen(wanted) == 2 * SHA256_SIZE && strspn(wanted, "0123456789abcdef") == 2 * SHA256_SIZE))
		return ERR_NONE;
	error_set(&cli->error, ERR_USAGE, "--head: expected a hash of %d digits from 0 to f, as titan audit head prints it", 2 * SHA256_SIZE);
	return error_next(&cli->error, "titan audit --help");
}

static int audit_verify(struct cli *cli)
{
	struct walk walk = { .cli = cli, .wanted = option_value(cli->invocation, OPT_audit_head) };

	if (head_check(cli, walk.wanted) != ERR_NONE || walk_acts(&walk) != ERR_NONE)
		return cli_fail(cli);
	if (walk.wanted && !walk.found) {
		error_set(&cli->error, ERR_STORE_TRUST, "no act has the hash %.12s...: the acts were written anew after it was printed, or "
			  "the act was pruned; acts %" PRIu64 " to %" PRIu64 " are there", walk.wanted, walk.first, walk.last);
		error_next(&cli->error, "titan history --verb prune");
		return cli_fail(cli);
	}
	return tell(&walk);
}

static int audit_head(struct cli *cli)
{
	struct walk walk = { .cli = cli };

	return walk_acts(&walk) == ERR_NONE ? tell(&walk) : cli_fail(cli);
}

static int audit_export(struct cli *cli)
{
	struct walk walk = { .cli = cli, .exports = true, .printing = { .look = &cli->out } };
	bool table = printing_measures(&cli->out);
	enum err err = option_when(cli->invocation, OPT_audit_since, &walk.since_ms, &cli->error);

	records_begin(&walk.records, audit_act_columns, audit_act_table.count, &walk.arena);
	if (err == ERR_NONE)
		err = records_check(&walk.records, &cli->out, &cli->error);
	if (err == ERR_NONE && !table)
		printing_begin(&walk.printing, &walk.records, &walk.out);
	if (err == ERR_NONE)
		err = walk_acts(&walk);
	if (err == ERR_NONE && table)
		records_print(&walk.records, &cli->out, &walk.out);
	if (err == ERR_NONE && !table) {
		printing_rows(&walk.printing, &walk.records, &walk.out);
		printing_end(&walk.printing, &walk.out);
	}
	if (err == ERR_NONE)
		cli_print(cli, &walk.out);
	buf_free(&walk.out);
	arena_free(&walk.arena);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}

int cmd_audit(struct cli *cli)
{
	static const struct object_verb verbs[] = {
		{ "verify", 0, 0, "", audit_verify }, { "export", 0, 0, "", audit_export }, { "head", 0, 0, "", audit_head },
	};

	return object_run(cli, verbs, sizeof(verbs) / sizeof(verbs[0]));
}
