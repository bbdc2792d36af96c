/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * See job_files.h. Files are read and hashed first, and uploaded before the submit as far as the master lacks them. Assets are the
 * master's already: a job gets the version that is the newest at the submit.
 */
#include "cli/commands/job_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "proto/input.h"
#include "proto/limits.h"

/* ---- paths and assets ---- */

/* Read a file or directory, once for all jobs that have it. */
static enum err read_path(struct cli *cli, const char *path, struct job_files *files, struct rec_input *ret)
{
	const struct asset_source *source = NULL;
	struct asset_source *made;
	enum err err;

	for (size_t i = 0; i < files->count && !source; i++)
		if (strcmp(files->sources[i]->path, path) == 0)
			source = files->sources[i];
	if (!source) {
		source = made = mem_zalloc(sizeof(*made));
		files->sources = mem_resize(files->sources, files->count + 1, sizeof(struct asset_source *));
		files->sources[files->count++] = made;
		err = asset_read(cli, arena_strdup(&cli->arena, slice_str(path)), made);
		if (err != ERR_NONE)
			return err;
	}
	ret->hash = slice_make(source->hash, SHA256_SIZE);
	ret->kind = source->kind;
	ret->size = source->kind == ASSET_DIR ? source->manifest_bytes.len : source->bytes;
	return ERR_NONE;
}

/* Of a directory the master knows the size of its files; that of its manifest comes with its first byte. */
static enum err ask_size(struct cli *cli, struct rec_input *input)
{
	struct msg_goods_read read = { .hash = input->hash, .limit = 1 };
	struct arena arena = { 0 };
	struct msg_goods_data data;
	enum err err = cli_call(cli, OP_GOODS_READ, &read, OP_GOODS_DATA, &arena, &data);

	if (err == ERR_NONE)
		input->size = data.size;
	arena_free(&arena);
	return err;
}

static enum err find_asset(struct cli *cli, const struct dag_file *file, struct rec_input *ret)
{
	struct rec_asset_row row = { 0 };
	struct buf source = { 0 };
	struct asset_name name;
	enum err err = asset_name_read(cli, file->src, &name);

	if (err == ERR_NONE)
		err = cli_connect(cli);
	if (err == ERR_NONE)
		err = asset_version_find(cli, &name, &row);
	if (err != ERR_NONE)
		return err;
	ret->hash = row.hash;
	ret->kind = row.kind;
	ret->size = row.size;
	buf_add_slice(&source, name.name);
	buf_addf(&source, "@%llu", (unsigned long long)row.version);
	ret->source = arena_copy(&cli->arena, buf_slice(&source));
	buf_free(&source);
	return row.kind == ASSET_DIR ? ask_size(cli, ret) : ERR_NONE;
}

/* ---- --file ---- */

static struct slice last_part(struct slice path)
{
	size_t from;

	while (path.len > 1 && path.data[path.len - 1] == '/')
		path.len--;
	for (from = path.len; from > 0 && path.data[from - 1] != '/'; from--)
		continue;
	return slice_make(path.data + from, path.len - from);
}

static enum err fail_name(struct cli *cli, const char *word, struct slice name, const char *why)
{
	struct buf shown = { 0 };

	text_escape(&shown, name, TEXT_KEEP_NONE);
	error_set(&cli->error, ERR_USAGE, "--file %.200s: '%.200s': %s", word, buf_cstr(&shown), why);
	buf_free(&shown);
	return error_next(&cli->error, "titan run --file FILE=NAME ...");
}

/* Read one FILE or FILE=NAME. A file whose own name has a = in it needs a name. */
static enum err read_option(struct cli *cli, const char *word, struct job_files *files)
{
	const char *equals = strrchr(word, '=');
	const char *path = arena_strdup(&cli->arena, equals ? slice_make(word, (size_t)(equals - word)) : slice_str(word));
	struct rec_input input = { .path = equals ? slice_str(equals + 1) : last_part(slice_str(word)), .source = slice_str(path) };
	struct slice wrong;
	const char *fault;
	enum err err;

	if (!input_path_fits(input.path))
		return fail_name(cli, word, input.path, "the name of a file must be relative, have no . and .. in it, and not begin with " INPUT_OWN);
	err = read_path(cli, path, files, &input);
	if (err != ERR_NONE && access(path, F_OK) < 0 && errno == ENOENT)
		err = cli->error.code = ERR_NOT_FOUND;
	if (err != ERR_NONE)
		return err;
	record_encode(&files->inputs, REC_input, &input);
	fault = inputs_fault(buf_slice(&files->inputs), &wrong);
	return fault ? fail_name(cli, word, input.path, fault) : ERR_NONE;
}

enum err job_files_option(struct cli *cli, struct job_files *files)
{
	const struct invocation *invocation = cli->invocation;
	enum err err = ERR_NONE;

	for (size_t i = 0; i < invocation->option_count && err == ERR_NONE; i++)
		if (invocation->options[i].id == OPT_run_file)
			err = read_option(cli, invocation->options[i].value, files);
	return err;
}

/* ---- files of a pipeline ---- */

/* Is there a file of this name beside the pipeline, which its author may have meant? */
static bool is_beside(const struct dag_file *file)
{
	const char *slash = file->text_name ? strrchr(file->text_name, '/') : NULL;
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%.*s%.*s", slash ? (int)(slash + 1 - file->text_name) : 0, file->text_name ? file->text_name : "",
			   (int)file->src.len, (const char *)file->src.data);

	return len > 0 && (size_t)len < sizeof(path) && access(path, F_OK) == 0;
}

static enum err find_one(struct cli *cli, const struct dag_file *file, struct job_files *files, struct rec_input *input)
{
	enum err err;

	if (file->known) {
		input->hash = slice_make(file->hash, sizeof(file->hash));
		input->kind = file->kind;
		input->size = file->size;
		return ERR_NONE;
	}
	if (dag_file_is_path(file->src)) {
		const char *path = file->path ? file->path : arena_strdup(&cli->arena, file->src);

		return read_path(cli, path, files, input);
	}
	err = find_asset(cli, file, input);
	if (err == ERR_NOT_FOUND && is_beside(file))
		error_next(&cli->error, "write ./%.*s for the file of that name", (int)file->src.len, (const char *)file->src.data);
	return err;
}

static enum err find_all(struct cli *cli, struct dag_node *node, struct job_files *files)
{
	struct buf inputs = { 0 };
	enum err err = ERR_NONE;

	for (size_t i = 0; i < node->file_count && err == ERR_NONE; i++) {
		const struct dag_file *file = &node->files[i];
		struct rec_input input = { .path = file->as, .source = file->src, .writable = file->writable };

		err = find_one(cli, file, files, &input);
		if (err == ERR_NONE)
			record_encode(&inputs, REC_input, &input);
		else if (file->text_name)
			load_explain(cli, file->text, file->text_name, &file->spot);
	}
	node->inputs = arena_copy(&cli->arena, buf_slice(&inputs));
	buf_free(&inputs);
	return err;
}

enum err job_files_find(struct cli *cli, struct dagline *dag, struct job_files *files)
{
	enum err err = ERR_NONE;

	for (size_t i = 0; i < dag->node_count && err == ERR_NONE; i++) {
		struct dag_node *node = dag->nodes[i];

		/* The jobs of one pipeline that have the files of its defaults share the list. */
		for (size_t before = 0; before < i && node->file_count > 0 && node->inputs.len == 0; before++)
			if (dag->nodes[before]->files == node->files)
				node->inputs = dag->nodes[before]->inputs;
		if (node->file_count > 0 && node->inputs.len == 0)
			err = find_all(cli, node, files);
		for (uint32_t sub = 0; sub < node->sub_count && err == ERR_NONE; sub++)
			err = job_files_find(cli, &node->subs[sub].dag, files);
	}
	return err;
}

bool job_files_any(const struct dagline *dag)
{
	bool any = false;

	for (size_t i = 0; i < dag->node_count && !any; i++) {
		const struct dag_node *node = dag->nodes[i];

		any = node->file_count > 0;
		for (uint32_t sub = 0; sub < node->sub_count && !any; sub++)
			any = job_files_any(&node->subs[sub].dag);
	}
	return any;
}

/* ---- upload ---- */

enum err job_files_send(struct cli *cli, const struct job_files *files)
{
	enum err err = files->count > 0 ? cli_connect(cli) : ERR_NONE;
	uint64_t sent;

	for (size_t i = 0; i < files->count && err == ERR_NONE; i++)
		err = asset_send(cli, files->sources[i], &sent);
	return err;
}

void job_files_free(struct job_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		asset_source_free(files->sources[i]);
		mem_free(files->sources[i]);
	}
	mem_free(files->sources);
	buf_free(&files->inputs);
}
