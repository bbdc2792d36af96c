/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Manifests as bytes: a first line, then for each entry its kind; for files size (8 bytes) and hash (32); the length of the
 * path (2) and the path; for links the length of the target (2) and the target. Numbers are little-endian. Only the one way
 * to write a directory is read.
 */
#include "goods/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "proto/limits.h"

#define PART_MAX 255                     /* bytes in one part of a path, as file systems allow */

static const char first_line[] = "titan directory 1\n";

/* ---- what paths and links may be ---- */

/* Take the next part of a path off its beginning. */
static struct slice part_take(struct slice *path)
{
	const uint8_t *slash = memchr(path->data, '/', path->len);
	size_t len = slash ? (size_t)(slash - path->data) : path->len;
	struct slice part = slice_make(path->data, len);

	len += slash != NULL;
	*path = slice_make(path->data + len, path->len - len);
	return part;
}

static bool part_is_up(struct slice part)
{
	return part.len == 2 && part.data[0] == '.' && part.data[1] == '.';
}

static bool part_fits(struct slice part)
{
	return part.len > 0 && part.len <= PART_MAX && !(part.len == 1 && part.data[0] == '.') && !part_is_up(part);
}

bool manifest_path_fits(struct slice path)
{
	if (path.len == 0 || path.len > LIMIT_MANIFEST_PATH || memchr(path.data, '\0', path.len) || path.data[path.len - 1] == '/')
		return false;
	while (path.len > 0)
		if (!part_fits(part_take(&path)))
			return false;
	return true;
}

static size_t depth_of(struct slice path)
{
	size_t depth = 0;

	for (size_t i = 0; i < path.len; i++)
		depth += path.data[i] == '/';
	return depth;
}

bool manifest_link_fits(struct slice path, struct slice target)
{
	size_t depth = depth_of(path);

	if (target.len == 0 || target.len > LIMIT_MANIFEST_PATH || memchr(target.data, '\0', target.len) || target.data[0] == '/')
		return false;
	while (target.len >= 2 && target.data[0] == '.' && target.data[1] == '.' && (target.len == 2 || target.data[2] == '/')) {
		if (depth-- == 0)
			return false;
		part_take(&target);
	}
	while (target.len > 0)
		if (part_is_up(part_take(&target)))
			return false;
	return true;
}

/* ---- writing ---- */

static int compare_paths(struct slice a, struct slice b)
{
	int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_cb(const void *a, const void *b)
{
	const struct manifest_entry *left = a, *right = b;

	return compare_paths(left->path, right->path);
}

static void add_number(struct buf *out, uint64_t number, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		buf_add_byte(out, (uint8_t)(number >> (8 * i)));
}

static enum err refuse(struct error *error, struct slice path, const char *why)
{
	struct buf shown = { 0 };

	text_escape(&shown, path, TEXT_KEEP_NONE);
	error_set(error, ERR_INVALID, "%.300s: %s", buf_cstr(&shown), why);
	buf_free(&shown);
	return error->code;
}

/* Find the directory in which this path lies among the sorted entries before it. */
static bool parent_is_there(const struct manifest *manifest, size_t count, struct slice path)
{
	struct manifest_entry key = { .path = path };
	const struct manifest_entry *found;

	while (key.path.len > 0 && key.path.data[key.path.len - 1] != '/')
		key.path.len--;
	if (key.path.len == 0)
		return true;
	key.path.len--;
	found = bsearch(&key, manifest->at, count, sizeof(key), compare_cb);
	return found && found->kind == ENTRY_DIR;
}

/* Check entry number at, of which all earlier ones were checked. */
static enum err check_entry(const struct manifest *manifest, size_t at, struct error *error)
{
	const struct manifest_entry *entry = &manifest->at[at];

	if (!manifest_path_fits(entry->path))
		return refuse(error, entry->path, "a path must be relative and may have no empty part and no part . or ..");
	if (at > 0 && compare_paths(manifest->at[at - 1].path, entry->path) >= 0)
		return refuse(error, entry->path, "the paths of a directory must be sorted, and none may be there twice");
	if (!parent_is_there(manifest, at, entry->path))
		return refuse(error, entry->path, "the path lies in no directory of the manifest");
	if (entry->kind == ENTRY_LINK && !manifest_link_fits(entry->path, entry->target))
		return refuse(error, entry->path, "the link leaves the directory, is absolute, or has .. in its middle");
	return ERR_NONE;
}

enum err manifest_write(struct manifest *manifest, struct buf *out, struct error *error)
{
	if (manifest->count > LIMIT_MANIFEST_ENTRIES)
		return error_set(error, ERR_TOO_LARGE, "the directory has %zu entries; at most %d are allowed", manifest->count,
				 LIMIT_MANIFEST_ENTRIES);
	if (manifest->count > 0)
		qsort(manifest->at, manifest->count, sizeof(*manifest->at), compare_cb);
	buf_add(out, first_line, sizeof(first_line) - 1);
	for (size_t i = 0; i < manifest->count; i++) {
		const struct manifest_entry *entry = &manifest->at[i];

		if (check_entry(manifest, i, error) != ERR_NONE)
			return error->code;
		buf_add_byte(out, (uint8_t)entry->kind);
		if (entry->kind == ENTRY_FILE || entry->kind == ENTRY_PROGRAM) {
			add_number(out, entry->size, 8);
			buf_add(out, entry->hash, SHA256_SIZE);
		}
		add_number(out, entry->path.len, 2);
		buf_add_slice(out, entry->path);
		if (entry->kind == ENTRY_LINK) {
			add_number(out, entry->target.len, 2);
			buf_add_slice(out, entry->target);
		}
	}
	if (out->len > LIMIT_MANIFEST_MAX)
		return error_set(error, ERR_TOO_LARGE, "the manifest of the directory takes %zu bytes; at most %d are allowed", out->len,
				 LIMIT_MANIFEST_MAX);
	return ERR_NONE;
}

/* ---- reading ---- */

static bool take(struct slice *rest, size_t len, const uint8_t **ret)
{
	if (rest->len < len)
		return false;
	*ret = rest->data;
	*rest = slice_make(rest->data + len, rest->len - len);
	return true;
}

static bool take_number(struct slice *rest, size_t bytes, uint64_t *ret)
{
	const uint8_t *at;

	*ret = 0;
	if (!take(rest, bytes, &at))
		return false;
	for (size_t i = 0; i < bytes; i++)
		*ret |= (uint64_t)at[i] << (8 * i);
	return true;
}

static bool take_text(struct slice *rest, struct slice *ret)
{
	const uint8_t *at;
	uint64_t len;

	if (!take_number(rest, 2, &len) || !take(rest, (size_t)len, &at))
		return false;
	*ret = slice_make(at, (size_t)len);
	return true;
}

static bool take_entry(struct slice *rest, struct manifest_entry *ret)
{
	const uint8_t *kind, *hash;

	*ret = (struct manifest_entry){ 0 };
	if (!take(rest, 1, &kind))
		return false;
	ret->kind = (enum entry_kind)*kind;
	if (ret->kind == ENTRY_FILE || ret->kind == ENTRY_PROGRAM) {
		if (!take_number(rest, 8, &ret->size) || ret->size > INT64_MAX || !take(rest, SHA256_SIZE, &hash))
			return false;
		memcpy(ret->hash, hash, SHA256_SIZE);
	} else if (ret->kind != ENTRY_DIR && ret->kind != ENTRY_LINK) {
		return false;
	}
	return take_text(rest, &ret->path) && (ret->kind != ENTRY_LINK || take_text(rest, &ret->target));
}

static bool skip_first_line(struct slice *rest)
{
	const uint8_t *line;

	return take(rest, sizeof(first_line) - 1, &line) && memcmp(line, first_line, sizeof(first_line) - 1) == 0;
}

enum err manifest_read(struct slice bytes, struct arena *arena, struct manifest *ret, struct error *error)
{
	struct slice rest = bytes;
	struct manifest_entry entry;
	size_t count = 0;
	uint64_t sum = 0;

	*ret = (struct manifest){ 0 };
	if (bytes.len > LIMIT_MANIFEST_MAX || !skip_first_line(&rest))
		return error_set(error, ERR_INVALID, "the content isn't the manifest of a directory");
	for (struct slice left = rest; left.len > 0; count++)
		if (count == LIMIT_MANIFEST_ENTRIES || !take_entry(&left, &entry))
			return error_set(error, ERR_INVALID, "entry %zu of the directory's manifest is malformed, or one too many", count + 1);
	ret->at = arena_alloc(arena, (count + 1) * sizeof(*ret->at));
	while (rest.len > 0 && take_entry(&rest, &ret->at[ret->count])) {
		if (check_entry(ret, ret->count, error) != ERR_NONE)
			return error->code;
		sum += ret->at[ret->count].size;
		if (sum > INT64_MAX)
			return error_set(error, ERR_INVALID, "the files of the directory's manifest are larger than any disk");
		ret->count++;
	}
	return ERR_NONE;
}

void manifest_sum(const struct manifest *manifest, uint64_t *ret_bytes, uint64_t *ret_files)
{
	*ret_bytes = 0;
	*ret_files = 0;
	for (size_t i = 0; i < manifest->count; i++) {
		*ret_bytes += manifest->at[i].size;
		*ret_files += manifest->at[i].kind == ENTRY_FILE || manifest->at[i].kind == ENTRY_PROGRAM;
	}
}
