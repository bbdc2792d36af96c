/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan backup, restore, fsck: copy the store, put a copy back, check a store. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/commands/command.h"
#include "cli/session/output.h"
#include "cli/show/json.h"
#include "cli/show/look.h"
#include "master/fsck.h"
#include "store/backup.h"
#include "store/trailer.h"
#include "store/store.h"

#define PART_SUFFIX ".titan-part"

static enum err make_absolute(struct cli *cli, const char *name, const char *suffix, char path[PATH_MAX])
{
	char here[PATH_MAX] = "";
	int len;

	if (name[0] != '/' && !getcwd(here, sizeof(here)))
		return error_system(&cli->error, errno, "can't find the current directory");
	len = snprintf(path, PATH_MAX, "%s%s%s%s", here, name[0] != '/' ? "/" : "", name, suffix);
	return len < PATH_MAX ? ERR_NONE : error_set(&cli->error, ERR_TOO_LARGE, "the path '%s' is too long", name);
}

static void tell_human(const struct cli *cli, const char *done, const char *path, const struct fsck *fsck, bool file,
		       const char *kept, struct buf *out)
{
	buf_addf(out, "%s %s: ", cli->out.utf8 ? "✓" : "+", done);
	text_escape(out, slice_str(path), TEXT_KEEP_NONE);
	if (fsck->older)
		buf_addf(out, " (version %d: titan up will bring it to the present version and then check the "
			"meaning of its rows)",
			 fsck->version);
	else
		buf_addf(out, " (generation %" PRIu64 ", turn %" PRIu64 ", %" PRIu64 " live run%s, %" PRIu64 " live job%s)",
			 fsck->generation, fsck->turn, fsck->live_runs, fsck->live_runs == 1 ? "" : "s", fsck->live_jobs,
			 fsck->live_jobs == 1 ? "" : "s");
	if (file && !fsck->has_checksum)
		buf_add_str(out, "\n  this file has no checksum, because an older titan made it: changed bytes "
			"may go unnoticed");
	if (kept && kept[0] != '\0') {
		buf_add_str(out, "\n  the old store is kept as ");
		text_escape(out, slice_str(kept), TEXT_KEEP_NONE);
	}
	buf_add_byte(out, '\n');
}

/* Print the result as JSON or text. file: it is a backup, not a store in use, and should have a checksum. */
static void tell(struct cli *cli, const char *done, const char *path, const struct fsck *fsck, bool file,
		 const char *kept)
{
	struct buf out = { 0 };
	struct json json;

	if (cli->settings.style == STYLE_JSON) {
		json_begin(&json, &out);
		json_object(&json);
		json_key(&json, "file");
		json_string(&json, path);
		json_key(&json, "store_version");
		json_u64(&json, (uint64_t)fsck->version);
		json_key(&json, "generation");
		json_u64(&json, fsck->generation);
		json_key(&json, "turn");
		json_u64(&json, fsck->turn);
		json_key(&json, "live_runs");
		json_u64(&json, fsck->live_runs);
		json_key(&json, "live_jobs");
		json_u64(&json, fsck->live_jobs);
		if (file) {
			json_key(&json, "checksum");
			json_bool(&json, fsck->has_checksum);
		}
		if (kept) {
			json_key(&json, "kept");
			json_string(&json, kept);
		}
		json_end(&json);
		buf_add_byte(&out, '\n');
	} else if (!cli->settings.quiet) {
		tell_human(cli, done, path, fsck, file, kept, &out);
	}
	cli_print(cli, &out);
	buf_free(&out);
}

/* ---- backup ---- */

/* Copy a running master's store and check the copy as a restore would. If that fails, remove the part file. */
static enum err copy_checked(struct cli *cli, const char *part, struct fsck *ret_fsck)
{
	struct msg_backup msg = { .path = slice_str(part) };
	struct msg_ok ok;
	enum err err;

	if (unlink(part) < 0 && errno != ENOENT)
		return error_system(&cli->error, errno, "can't remove %s", part);
	err = cli_call(cli, OP_BACKUP, &msg, OP_OK, &cli->arena, &ok);
	if (err != ERR_NONE)
		return err;
	err = backup_complete(part, &cli->error);
	if (err == ERR_NONE)
		err = trailer_write(part, &cli->error);
	if (err == ERR_NONE)
		err = fsck_store(part, false, ret_fsck, &cli->error);
	if (err != ERR_NONE)
		unlink(part);
	return err;
}

/* Reserve a name for the backup: a new file, or one that may be overwritten. Never the store itself. */
static enum err reserve(struct cli *cli, const char *path, bool *ret_reserved)
{
	char store[PATH_MAX], question[PATH_MAX + 32];
	struct stat own, there;
	enum err err = backup_reserve(path, &cli->error);

	*ret_reserved = err == ERR_NONE;
	if (err != ERR_NONE && err != ERR_DUPLICATE)
		error_next(&cli->error, "titan backup FILE, in an existing directory that you may write to");
	if (err != ERR_DUPLICATE)
		return err;
	if (lstat(path, &there) < 0 || !S_ISREG(there.st_mode))
		return error_set(&cli->error, ERR_INVALID, "%s exists and isn't a regular file", path);
	if (stat(statedir_path(&cli->statedir, "titan.db", store), &own) == 0 && own.st_dev == there.st_dev &&
	    own.st_ino == there.st_ino)
		return error_set(&cli->error, ERR_INVALID, "%s is the store itself", path);
	snprintf(question, sizeof(question), "overwriting %s", path);
	cli->error = (struct error){ 0 };
	return cli_confirm(cli, question);
}

static bool has_entries(const struct statedir *statedir, const char *name)
{
	char path[PATH_MAX];
	DIR *dir = opendir(statedir_path(statedir, name, path));
	const struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return found;
}

/* Say what the backup doesn't have, and where it is. Errors don't matter: the backup is complete. */
static void tell_of_rest(struct cli *cli)
{
	char path[PATH_MAX];

	if (cli->settings.style != STYLE_HUMAN)
		return;
	if (has_entries(&cli->statedir, "goods/blobs") || has_entries(&cli->statedir, "goods/packs"))
		cli_note(cli, "the contents of assets, artifacts and files of jobs aren't in the backup: copy %s, too (titan-backup(1))",
			 statedir_path(&cli->statedir, "goods", path));
	if (access(statedir_path(&cli->statedir, "titan.key", path), F_OK) == 0)
		cli_note(cli, "tokens are encrypted with the key in %s: keep a copy of that file, too", path);
}

int cmd_backup(struct cli *cli)
{
	const char *name = cli->invocation->args[0];
	char path[PATH_MAX], part[PATH_MAX];
	bool reserved = false;
	struct fsck fsck;
	enum err err = make_absolute(cli, name, "", path);

	if (err == ERR_NONE)
		err = make_absolute(cli, name, PART_SUFFIX, part);
	if (err != ERR_NONE || cli_connect(cli) != ERR_NONE || reserve(cli, path, &reserved) != ERR_NONE)
		return cli_fail(cli);
	err = copy_checked(cli, part, &fsck);
	if (err == ERR_NONE)
		err = backup_place(part, path, &cli->error);
	if (err != ERR_NONE) {
		unlink(part);
		if (reserved)
			unlink(path);
		return cli_fail(cli);
	}
	tell(cli, "backup", path, &fsck, true, NULL);
	tell_of_rest(cli);
	return 0;
}

/* ---- restore ---- */

/* Check a backup. If it is damaged, suggest another backup. */
static enum err fsck_other(struct cli *cli, const char *path, struct fsck *ret_fsck)
{
	enum err err = fsck_store(path, false, ret_fsck, &cli->error);

	if (err == ERR_STORE || err == ERR_STORE_TRUST)
		error_next(&cli->error, "titan fsck with another backup; this one can't be restored");
	return err;
}

int cmd_restore(struct cli *cli)
{
	char from[PATH_MAX], path[PATH_MAX];
	struct restored restored;
	struct fsck fsck;
	enum err err = cli_refuse_in_job(cli, "replace its store", "titan -C CLUSTER restore FILE");
	int made;

	if (err == ERR_NONE)
		err = make_absolute(cli, cli->invocation->args[0], "", from);
	if (err != ERR_NONE)
		return cli_fail(cli);
	made = statedir_make(&cli->statedir);
	if (made != 0) {
		error_state_dir(&cli->error, -made, cli->statedir.dir);
		return cli_fail(cli);
	}
	if (access(from, F_OK) != 0)
		error_set(&cli->error, ERR_NOT_FOUND, "there is no file %s", from);
	else if (fsck_other(cli, from, &fsck) == ERR_NONE)
		store_restore(from, statedir_path(&cli->statedir, "titan.db", path), &restored, &cli->error);
	if (cli->error.code != ERR_NONE)
		return cli_fail(cli);
	fsck.generation = restored.generation;
	tell(cli, "restored", path, &fsck, true, restored.kept);
	if (cli_chatty(cli))
		cli_note(cli, "next: titan up");
	return 0;
}

/* ---- fsck ---- */

/* Copy a running master's store and check the copy. It is made beside the store, or in TMPDIR if that has no room. */
static enum err fsck_copy(struct cli *cli, struct fsck *ret_fsck)
{
	const char *temp = getenv("TMPDIR");
	char part[PATH_MAX], dir[PATH_MAX], name[64];
	enum err err;

	snprintf(name, sizeof(name), "titan.db-fsck-%ld", (long)getpid());
	err = copy_checked(cli, statedir_path(&cli->statedir, name, part), ret_fsck);
	unlink(part);
	if (err != ERR_FULL)
		return err;
	snprintf(dir, sizeof(dir), "%s/titan-fsck-XXXXXX", temp && temp[0] == '/' ? temp : "/tmp");
	if (mkdtemp(dir)) {
		snprintf(part, sizeof(part), "%.*s/titan.db", PATH_MAX - 16, dir);
		cli->error = (struct error){ 0 };
		err = copy_checked(cli, part, ret_fsck);
		unlink(part);
		rmdir(dir);
	}
	if (err == ERR_FULL)
		error_next(&cli->error, "TMPDIR=DIR titan fsck, where DIR has enough space; or titan down first, "
			"then no copy is needed");
	return err;
}

int cmd_fsck(struct cli *cli)
{
	bool other = cli->invocation->arg_count > 0;
	char path[PATH_MAX];
	struct fsck fsck;
	enum err err = ERR_NONE;

	if (other)
		err = make_absolute(cli, cli->invocation->args[0], "", path);
	else
		err = cli_refuse_in_job(cli, "check its store", "titan fsck FILE, or titan -C CLUSTER fsck");
	if (err == ERR_NONE && !other)
		statedir_path(&cli->statedir, "titan.db", path);
	if (err != ERR_NONE)
		return cli_fail(cli);
	if (access(path, F_OK) != 0) {
		error_set(&cli->error, ERR_NOT_FOUND, "there is no store %s", path);
		return cli_fail(cli);
	}
	err = other ? ERR_UNREACHABLE : cli_connect(cli);
	if (err == ERR_NONE) {
		err = fsck_copy(cli, &fsck);
	} else if (err == ERR_UNREACHABLE) {
		cli->error = (struct error){ 0 };
		err = other ? fsck_other(cli, path, &fsck) : fsck_store(path, true, &fsck, &cli->error);
	}
	if (err != ERR_NONE)
		return cli_fail(cli);
	tell(cli, "whole", path, &fsck, other, NULL);
	return 0;
}
