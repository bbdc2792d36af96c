/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan artifact: the files that jobs left. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/commands/asset.h"
#include "cli/commands/command.h"
#include "cli/commands/object.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"
#include "proto/limits.h"

static const struct column artifact_columns[] = {
	{ "job", "JOB", false },
	{ "file_count", "FILES", true },
	{ "bytes", "BYTES", true },
	{ "ended", "ENDED", false },
	{ "run", NULL, false },
	{ "name", NULL, false },
	{ "hash", NULL, false },
};
const struct table artifact_table = TABLE_OF(artifact_columns);

static const struct column artifact_file_columns[] = {
	{ "path", "PATH", false },
	{ "kind", "KIND", false },
	{ "bytes", "BYTES", true },
	{ "link_target", "LINK TO", false },
	{ "hash", NULL, false },
	{ "job", NULL, false },
};
const struct table artifact_file_table = TABLE_OF(artifact_file_columns);

static const struct column artifact_got_columns[] = {
	{ "job", "JOB", false },
	{ "file_count", "FILES", true },
	{ "bytes", "BYTES", true },
	{ "path", "PATH", false },
};
const struct table artifact_got_table = TABLE_OF(artifact_got_columns);

/* What the job left. False: nothing. */
static bool left_by(const struct rec_job_row *job, struct arena *arena, struct rec_job_artifacts *ret)
{
	struct slice bytes = job->artifacts;

	return bytes.len > 0 && record_decode(REC_job_artifacts, &bytes, arena, ret, NULL) == ERR_NONE && ret->hash.len == SHA256_SIZE;
}

static void hash_cell(struct records *records, const uint8_t hash[SHA256_SIZE])
{
	char text[SHA256_TEXT_SIZE];

	sha256_text(hash, text);
	records_text(records, arena_copy(records->arena, slice_str(text)));
}

/* ---- ls ---- */

static enum err list_jobs(struct cli *cli, uint64_t run, struct records *records)
{
	struct rec_job_artifacts left;
	struct rec_job_row *jobs;
	size_t count;
	enum err err = cli_query_jobs(cli, run, SIZE_MAX, &cli->arena, &jobs, &count);

	for (size_t i = 0; err == ERR_NONE && i < count; i++) {
		if (!left_by(&jobs[i], &cli->arena, &left))
			continue;
		records_text(records, job_address(&jobs[i], &cli->arena));
		records_number(records, left.files);
		records_number(records, left.size);
		records_time(records, jobs[i].ended_ms);
		records_number(records, jobs[i].run);
		records_text(records, jobs[i].name);
		hash_cell(records, left.hash.data);
	}
	return err;
}

static const char *entry_word(enum entry_kind kind)
{
	switch (kind) {
	case ENTRY_DIR:
		return "directory";
	case ENTRY_PROGRAM:
		return "program";
	case ENTRY_LINK:
		return "link";
	default:
		return "file";
	}
}

static void list_files(struct records *records, const struct manifest *manifest, struct slice job)
{
	for (size_t i = 0; i < manifest->count; i++) {
		const struct manifest_entry *entry = &manifest->at[i];
		bool has_content = entry->kind == ENTRY_FILE || entry->kind == ENTRY_PROGRAM;

		records_text(records, entry->path);
		records_text(records, slice_str(entry_word(entry->kind)));
		if (has_content)
			records_number(records, entry->size);
		else
			records_none(records);
		records_text(records, entry->target);
		if (has_content)
			hash_cell(records, entry->hash);
		else
			records_none(records);
		records_text(records, job);
	}
}

/* Get the row of a job and the manifest of what it left. */
static enum err job_manifest(struct cli *cli, const struct selector *selector, struct rec_job_row *job, struct buf *bytes, struct manifest *ret)
{
	struct rec_job_artifacts left = { 0 };
	enum err err = cli_query_job(cli, selector, &cli->arena, job);

	if (err != ERR_NONE)
		return err;
	if (left_by(job, &cli->arena, &left))
		return asset_fetch_manifest(cli, left.hash, bytes, &cli->arena, ret);
	error_set(&cli->error, ERR_NOT_FOUND, "job %.*s left no files", (int)job_address(job, &cli->arena).len,
		  (const char *)job_address(job, &cli->arena).data);
	return error_next(&cli->error, "titan show %.*s", (int)job_address(job, &cli->arena).len, (const char *)job_address(job, &cli->arena).data);
}

static int artifact_ls(struct cli *cli)
{
	const char *word = cli->invocation->arg_count > 1 ? cli->invocation->args[1] : cli->settings.socket ? "self" : "last";
	struct manifest manifest = { 0 };
	struct selector selector;
	struct rec_job_row job;
	struct records records;
	struct buf bytes = { 0 }, out = { 0 };
	enum err err = cli_connect(cli);

	if (err == ERR_NONE)
		err = cli_select(cli, word, &selector);
	if (err != ERR_NONE)
		return cli_fail(cli);
	if (selector.job.len > 0)
		records_begin(&records, artifact_file_columns, artifact_file_table.count, &cli->arena);
	else
		records_begin(&records, artifact_columns, artifact_table.count, &cli->arena);
	err = records_check(&records, &cli->out, &cli->error);
	if (err == ERR_NONE && selector.job.len > 0) {
		err = job_manifest(cli, &selector, &job, &bytes, &manifest);
		if (err == ERR_NONE)
			list_files(&records, &manifest, job_address(&job, &cli->arena));
	} else if (err == ERR_NONE) {
		err = list_jobs(cli, selector.run, &records);
	}
	if (err == ERR_NONE) {
		if (records_rows(&records) == 0 && cli_chatty(cli) && selector.job.len == 0)
			cli_note(cli, "no job of run %" PRIu64 " left files", selector.run);
		records_print(&records, &cli->out, &out);
		cli_print(cli, &out);
	}
	buf_free(&out);
	buf_free(&bytes);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}

/* ---- get ---- */

static struct slice last_part(struct slice path)
{
	const uint8_t *slash = path.len > 0 ? memrchr(path.data, '/', path.len) : NULL;

	return slash ? slice_make(slash + 1, path.len - (size_t)(slash + 1 - path.data)) : path;
}

static enum err no_path(struct cli *cli, struct slice path, const struct rec_job_row *job, const char *why)
{
	struct slice address = job_address(job, &cli->arena);
	struct buf shown = { 0 };

	text_escape(&shown, path, TEXT_KEEP_NONE);
	error_set(&cli->error, ERR_NOT_FOUND, "'%.200s' %s %.*s", buf_cstr(&shown), why, (int)address.len, (const char *)address.data);
	buf_free(&shown);
	return error_next(&cli->error, "titan artifact ls %.*s", (int)address.len, (const char *)address.data);
}

/* Keep only what is in this directory of the manifest, with paths from there. */
static enum err cut_manifest(struct cli *cli, struct manifest *manifest, struct slice dir, const struct rec_job_row *job)
{
	size_t kept = 0;

	for (size_t i = 0; i < manifest->count; i++) {
		struct manifest_entry entry = manifest->at[i];

		if (entry.path.len <= dir.len || memcmp(entry.path.data, dir.data, dir.len) != 0 || entry.path.data[dir.len] != '/')
			continue;
		entry.path = slice_make(entry.path.data + dir.len + 1, entry.path.len - dir.len - 1);
		if (entry.kind == ENTRY_LINK && !manifest_link_fits(entry.path, entry.target))
			return no_path(cli, manifest->at[i].path, job, "is a link out of this directory; fetch all files of");
		manifest->at[kept++] = entry;
	}
	manifest->count = kept;
	return ERR_NONE;
}

static const struct manifest_entry *entry_find(const struct manifest *manifest, struct slice path)
{
	for (size_t i = 0; i < manifest->count; i++)
		if (slice_eq(manifest->at[i].path, path))
			return &manifest->at[i];
	return NULL;
}

struct getting {
	struct rec_job_row job;
	struct manifest manifest;
	const char *path;                /* where to write; NULL: not said */
	uint64_t bytes, files;
};

static enum err get_file(struct cli *cli, struct getting *getting, const struct manifest_entry *entry)
{
	const struct rec_asset_row row = {
		.hash = slice_make(entry->hash, SHA256_SIZE), .size = entry->size, .asset = entry->path,
		.kind = entry->kind == ENTRY_PROGRAM ? ASSET_PROGRAM : ASSET_FILE,
	};

	getting->bytes = entry->size;
	getting->files = 1;
	return asset_fetch(cli, &row, getting->path, option_given(cli->invocation, OPT_artifact_force));
}

static enum err get_dir(struct cli *cli, struct getting *getting)
{
	manifest_sum(&getting->manifest, &getting->bytes, &getting->files);
	if (strcmp(getting->path, "-") != 0)
		return asset_fetch_entries(cli, &getting->manifest, getting->path);
	error_set(&cli->error, ERR_USAGE, "a directory can't be written to standard output");
	return error_next(&cli->error, "titan artifact get RUN/JOB PATH -o -");
}

static enum err get(struct cli *cli, struct getting *getting, struct slice inside)
{
	const struct manifest_entry *entry;

	while (inside.len > 0 && inside.data[inside.len - 1] == '/')
		inside.len--;
	if (!getting->path)
		getting->path = arena_strdup(&cli->arena, last_part(inside.len > 0 ? inside : getting->job.name));
	if (inside.len == 0)
		return get_dir(cli, getting);
	entry = entry_find(&getting->manifest, inside);
	if (!entry)
		return no_path(cli, inside, &getting->job, "isn't among the files of");
	if (entry->kind == ENTRY_LINK)
		return no_path(cli, inside, &getting->job, "is a link; fetch what it points to, or all files of");
	if (entry->kind != ENTRY_DIR)
		return get_file(cli, getting, entry);
	if (cut_manifest(cli, &getting->manifest, inside, &getting->job) != ERR_NONE)
		return cli->error.code;
	return get_dir(cli, getting);
}

static void got_print(struct cli *cli, const struct getting *getting)
{
	struct slice address = job_address(&getting->job, &cli->arena);
	struct records records;
	struct buf out = { 0 };

	records_begin(&records, artifact_got_columns, artifact_got_table.count, &cli->arena);
	records_text(&records, address);
	records_number(&records, getting->files);
	records_number(&records, getting->bytes);
	records_text(&records, slice_str(getting->path));
	if (cli->out.style != STYLE_HUMAN) {
		records_print_one(&records, &cli->out, &out);
		cli_print(cli, &out);
	} else if (cli_chatty(cli)) {
		text_escape(&out, slice_str(getting->path), TEXT_KEEP_NONE);
		cli_note(cli, "%" PRIu64 " file%s of %.*s: %s", getting->files, getting->files == 1 ? "" : "s", (int)address.len,
			 (const char *)address.data, buf_cstr(&out));
	}
	buf_free(&out);
}

static int artifact_get(struct cli *cli)
{
	struct getting getting = { .path = option_value(cli->invocation, OPT_artifact_output) };
	bool print = getting.path && strcmp(getting.path, "-") == 0;
	struct buf bytes = { 0 };
	struct selector selector;
	struct records check;
	enum err err;

	records_begin(&check, artifact_got_columns, artifact_got_table.count, &cli->arena);
	if (print && cli->out.style != STYLE_HUMAN) {
		error_set(&cli->error, ERR_USAGE, "-o - writes the file to standard output, so --json, --plain and --format can't be given");
		return cli_fail(cli);
	}
	if (records_check(&check, &cli->out, &cli->error) != ERR_NONE || cli_connect(cli) != ERR_NONE ||
	    cli_select(cli, cli->invocation->args[1], &selector) != ERR_NONE)
		return cli_fail(cli);
	if (selector.job.len == 0) {
		error_set(&cli->error, ERR_USAGE, "'%.200s' names a run; name the job whose files are wanted", cli->invocation->args[1]);
		error_next(&cli->error, "titan artifact ls %" PRIu64, selector.run);
		return cli_fail(cli);
	}
	err = job_manifest(cli, &selector, &getting.job, &bytes, &getting.manifest);
	if (err == ERR_NONE)
		err = get(cli, &getting, slice_str(cli->invocation->arg_count > 2 ? cli->invocation->args[2] : ""));
	if (err == ERR_NONE && !print)
		got_print(cli, &getting);
	buf_free(&bytes);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}

int cmd_artifact(struct cli *cli)
{
	static const struct object_verb verbs[] = {
		{ "ls", 0, 1, "[RUN[/JOB]]", artifact_ls }, { "get", 1, 2, "RUN/JOB [PATH]", artifact_get },
	};

	return object_run(cli, verbs, sizeof(verbs) / sizeof(verbs[0]));
}
