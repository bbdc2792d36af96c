/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The key files of a job and of the defaults. What the words stand for isn't known here: a path is relative to the pipeline's file, and
 * a bare word is an asset. Whoever submits the pipeline finds out, and fills in the inputs.
 */
#include "lang/pipeline_internal.h"

#include "base/sha256.h"
#include "proto/input.h"
#include "proto/limits.h"

bool dag_file_is_path(struct slice src)
{
	return src.len > 0 && (src.data[0] == '.' || memchr(src.data, '/', src.len));
}

/* The name in the job's directory of a file that is given none: the last part of a path, or an asset's name. */
static struct slice default_name(struct slice src)
{
	const uint8_t *end;
	size_t from;

	if (!dag_file_is_path(src)) {
		end = memchr(src.data, '@', src.len);
		return slice_make(src.data, end ? (size_t)(end - src.data) : src.len);
	}
	while (src.len > 1 && src.data[src.len - 1] == '/')
		src.len--;
	for (from = src.len; from > 0 && src.data[from - 1] != '/'; from--)
		continue;
	return slice_make(src.data + from, src.len - from);
}

/* Read content, size and kind, by which titan graph --yaml writes a file: it is known by its content alone. */
static enum err read_content(struct pipe *pipe, const struct tree_node *node, struct dag_file *file)
{
	struct slice text = { 0 };
	enum err err = pipe_text(pipe, node, "content", &text);

	file->known = true;
	if (err == ERR_NONE && !sha256_read(text, file->hash))
		err = pipe_fail(pipe, node, ERR_INVALID, "content must be sha256: and 64 hexadecimal digits");
	return err;
}

static enum err read_file_kind(struct pipe *pipe, const struct tree_node *node, struct dag_file *file)
{
	static const struct { const char *word; enum asset_kind kind; } kinds[] = { { "file", ASSET_FILE }, { "program", ASSET_PROGRAM }, { "directory", ASSET_DIR } };
	struct slice text = { 0 };
	enum err err = pipe_text(pipe, node, "kind", &text);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (slice_eq(text, slice_str(kinds[i].word)))
			file->kind = kinds[i].kind;
	if (err == ERR_NONE && file->kind == 0)
		err = pipe_fail(pipe, node, ERR_INVALID, "the kind of a file must be file, program or directory");
	return err;
}

static enum err read_word(struct pipe *pipe, const struct tree_node *node, struct dag_file *file)
{
	if (slice_eq(node->key, slice_str("src")))
		return pipe_text(pipe, node, "src", &file->src);
	if (slice_eq(node->key, slice_str("as")))
		return pipe_text(pipe, node, "as", &file->as);
	if (slice_eq(node->key, slice_str("write")))
		return pipe_bool(pipe, node, &file->writable);
	if (slice_eq(node->key, slice_str("content")))
		return read_content(pipe, node, file);
	if (slice_eq(node->key, slice_str("size")))
		return pipe_number(pipe, node, 0, INT64_MAX, &file->size);
	if (slice_eq(node->key, slice_str("kind")))
		return read_file_kind(pipe, node, file);
	return dag_fail(&pipe->reader, node->key_spot.at, node->key_spot.len, ERR_UNKNOWN_NAME, "unknown key '%.*s'; the keys of a file are src, as and write",
			(int)(node->key.len < LIMIT_NAME_MAX_LEN ? node->key.len : LIMIT_NAME_MAX_LEN), (const char *)node->key.data);
}

static enum err read_file(struct pipe *pipe, const struct tree_node *node, struct dag_file *file)
{
	enum err err = ERR_NONE;

	file->spot = node->spot;
	if (node->kind != TREE_MAP)
		err = pipe_text(pipe, node, "a file", &file->src);
	for (const struct tree_node *key = node->kind == TREE_MAP ? node->first : NULL; key && err == ERR_NONE; key = key->next)
		err = read_word(pipe, key, file);
	if (err != ERR_NONE)
		return err;
	if (file->src.len == 0 && !file->known)
		return pipe_fail(pipe, node, ERR_INVALID, "a file needs a path or an asset: {src: ./data.csv, as: data.csv}");
	if (file->known && (file->kind == 0 || file->as.len == 0))
		return pipe_fail(pipe, node, ERR_INVALID, "a file with content also needs as, size and kind");
	if (file->as.len == 0)
		file->as = default_name(file->src);
	if (!input_path_fits(file->as))
		return pipe_fail(pipe, node, ERR_INVALID, "'%.*s' can't be the name of a file: it must be relative, have no . and .. in it, and not begin with " INPUT_OWN,
				 (int)(file->as.len < LIMIT_NAME_MAX_LEN ? file->as.len : LIMIT_NAME_MAX_LEN), (const char *)file->as.data);
	return ERR_NONE;
}

/* Does one of the files before have this name, or a place inside this one or around it? */
static enum err check_name(struct pipe *pipe, const struct tree_node *node, const struct dag_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (inputs_collide(files[i].as, files[count].as))
			return pipe_fail(pipe, node, ERR_DUPLICATE, "two files would be at '%.*s'; give one of them another name: {src: %.*s, as: NAME}",
					 (int)files[i].as.len, (const char *)files[i].as.data, (int)(files[count].src.len < LIMIT_NAME_MAX_LEN ? files[count].src.len : LIMIT_NAME_MAX_LEN),
					 (const char *)files[count].src.data);
	return ERR_NONE;
}

/* If all files are known by their contents, nobody has to find out what they are. */
static void make_inputs(struct pipe *pipe, struct dag_node *node)
{
	struct buf inputs = { 0 };
	bool known = true;

	for (size_t i = 0; i < node->file_count; i++) {
		const struct dag_file *file = &node->files[i];
		const struct rec_input input = {
			.path = file->as, .hash = slice_make(file->hash, sizeof(file->hash)), .size = file->size, .kind = file->kind,
			.writable = file->writable, .source = file->src,
		};

		known = known && file->known;
		record_encode(&inputs, REC_input, &input);
	}
	if (known)
		node->inputs = arena_copy(pipe->reader.arena, buf_slice(&inputs));
	buf_free(&inputs);
}

enum err pipe_read_files(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	const struct tree_node *item = value->kind == TREE_LIST ? value->first : value;
	struct dag_node *to = job->node;
	enum err first = ERR_NONE;

	to->files = arena_zalloc(pipe->reader.arena, LIMIT_INPUTS_MAX, sizeof(*to->files));
	for (; item; item = value->kind == TREE_LIST ? item->next : NULL) {
		enum err err;

		if (to->file_count == LIMIT_INPUTS_MAX) {
			pipe_note(pipe, pipe_fail(pipe, item, ERR_TOO_LARGE, "a job may have at most %d files; put them into a directory", LIMIT_INPUTS_MAX), &first);
			break;
		}
		err = read_file(pipe, item, &to->files[to->file_count]);
		if (err == ERR_NONE)
			err = check_name(pipe, item, to->files, to->file_count);
		pipe_note(pipe, err, &first);
		to->file_count += err == ERR_NONE;
	}
	make_inputs(pipe, to);
	return first;
}
