/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See goods_book.h. A content has an entry as long as a version names it or somebody uploaded it or asked for it lately. */
#include "master/goods_book.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "goods/manifest.h"
#include "proto/limits.h"

struct content {
	uint8_t hash[SHA256_SIZE];
	uint32_t refs;                   /* how many versions of assets and artifacts of jobs name it */
	uint32_t owner_count;
	uint32_t *owners;                /* numbers of the principals who may read it */
	int64_t until_ns;                /* it stays until then even if no version names it; monotonic */
};

struct version_ref {
	struct slice key;                /* NAME@VERSION or the words for a job, in the memory of this struct */
	uint8_t hash[SHA256_SIZE];
	bool dir;
	uint8_t text[];
};

struct owner {
	uint32_t number;
	struct slice name;
	uint8_t text[];
};

/* ---- contents and owners ---- */

static struct content *content_find(const struct goods_book *book, const uint8_t hash[SHA256_SIZE])
{
	return name_map_get(&book->contents, slice_make(hash, SHA256_SIZE));
}

static struct content *content_get(struct goods_book *book, const uint8_t hash[SHA256_SIZE])
{
	struct content *content = content_find(book, hash);

	if (content)
		return content;
	content = mem_zalloc(sizeof(*content));
	memcpy(content->hash, hash, SHA256_SIZE);
	name_map_put(&book->contents, slice_make(content->hash, SHA256_SIZE), content);
	return content;
}

static void content_free(struct content *content)
{
	mem_free(content->owners);
	mem_free(content);
}

static uint32_t owner_number(struct goods_book *book, struct slice name)
{
	struct owner *owner = name_map_get(&book->owners, name);

	if (owner)
		return owner->number;
	owner = mem_zalloc(sizeof(*owner) + name.len + 1);
	if (name.len > 0)
		memcpy(owner->text, name.data, name.len);
	owner->name = slice_make(owner->text, name.len);
	owner->number = ++book->owner_count;
	name_map_put(&book->owners, owner->name, owner);
	return owner->number;
}

static bool owns(const struct content *content, uint32_t owner)
{
	for (uint32_t i = 0; i < content->owner_count; i++)
		if (content->owners[i] == owner)
			return true;
	return false;
}

static void own(struct content *content, uint32_t owner)
{
	if (owns(content, owner))
		return;
	content->owners = mem_resize(content->owners, content->owner_count + 1, sizeof(*content->owners));
	content->owners[content->owner_count++] = owner;
}

static void keep_for_now(struct content *content)
{
	content->until_ns = clock_mono_ns() + LIMIT_GOODS_KEPT_S * NS_PER_S;
}

void book_free(struct goods_book *book)
{
	size_t cursor = 0;
	struct slice name;
	uint64_t job;
	void *value;

	while (name_map_next(&book->contents, &cursor, &name, &value))
		content_free(value);
	for (cursor = 0; name_map_next(&book->versions, &cursor, &name, &value);)
		mem_free(value);
	for (cursor = 0; map_next(&book->jobs, &cursor, &job, &value);)
		mem_free(value);
	for (cursor = 0; name_map_next(&book->owners, &cursor, &name, &value);)
		mem_free(value);
	mem_free(book->list);
	name_map_free(&book->contents);
	name_map_free(&book->versions);
	map_free(&book->jobs);
	name_map_free(&book->owners);
}

/* ---- what askers may know ---- */

bool book_has(struct goods_book *book, const struct goods_asker *asker, const uint8_t hash[SHA256_SIZE], uint64_t *ret_size)
{
	struct content *content = content_find(book, hash);

	if (!asker->all && (!content || !owns(content, owner_number(book, asker->name))))
		return false;
	if (!blobs_find(book->blobs, hash, ret_size))
		return false;
	keep_for_now(content_get(book, hash));
	return true;
}

void book_uploaded(struct goods_book *book, const struct goods_asker *asker, const uint8_t hash[SHA256_SIZE])
{
	struct content *content = content_get(book, hash);

	own(content, owner_number(book, asker->name));
	keep_for_now(content);
}

/* ---- manifests ---- */

static enum err read_manifest(struct goods_book *book, const uint8_t hash[SHA256_SIZE], struct buf *bytes, struct arena *arena,
			      struct manifest *ret, struct error *error)
{
	uint64_t size;
	enum err err;

	/* One byte more than a manifest may have, so that a larger content is refused. */
	err = blobs_read(book->blobs, hash, 0, LIMIT_MANIFEST_MAX + 1, bytes, &size, error);
	return err != ERR_NONE ? err : manifest_read(buf_slice(bytes), arena, ret, error);
}

static enum err missing(const uint8_t hash[SHA256_SIZE], struct error *error)
{
	char text[SHA256_TEXT_SIZE];

	sha256_text(hash, text);
	return error_set(error, ERR_NOT_FOUND, "the content %s wasn't uploaded, or its upload was too long ago", text);
}

static bool has_content(const struct manifest_entry *entry)
{
	return entry->kind == ENTRY_FILE || entry->kind == ENTRY_PROGRAM;
}

enum err book_check(struct goods_book *book, const struct goods_asker *asker, const uint8_t hash[SHA256_SIZE], bool dir,
		    struct goods_sum *ret_sum, struct error *error)
{
	struct manifest manifest;
	struct buf bytes = { 0 };
	struct arena arena = { 0 };
	uint64_t size;
	enum err err;

	if (!book_has(book, asker, hash, &size))
		return missing(hash, error);
	*ret_sum = (struct goods_sum){ size, 1, size };
	if (!dir)
		return ERR_NONE;
	err = read_manifest(book, hash, &bytes, &arena, &manifest, error);
	for (size_t i = 0; err == ERR_NONE && i < manifest.count; i++) {
		const struct manifest_entry *entry = &manifest.at[i];

		if (!has_content(entry))
			continue;
		if (!book_has(book, asker, entry->hash, &size))
			err = missing(entry->hash, error);
		else if (size != entry->size)
			err = error_set(error, ERR_INVALID, "the directory's manifest has a wrong size for one of its files");
	}
	if (err == ERR_NONE)
		manifest_sum(&manifest, &ret_sum->bytes, &ret_sum->files);
	arena_free(&arena);
	buf_free(&bytes);
	return err;
}

static int hash_order(const void *one, const void *other)
{
	return memcmp(one, other, SHA256_SIZE);
}

/* Make the list of the hashes of a manifest's files; an unreadable manifest has none. */
static void list_hashes(struct goods_book *book, const uint8_t hash[SHA256_SIZE])
{
	struct manifest manifest = { 0 };
	struct buf bytes = { 0 };
	struct arena arena = { 0 };
	struct error error;

	mem_free(book->list);
	book->list_count = 0;
	if (read_manifest(book, hash, &bytes, &arena, &manifest, &error) != ERR_NONE)
		manifest.count = 0;
	book->list = mem_alloc((manifest.count + 1) * SHA256_SIZE);
	for (size_t i = 0; i < manifest.count; i++)
		if (has_content(&manifest.at[i]))
			memcpy(book->list + book->list_count++ * SHA256_SIZE, manifest.at[i].hash, SHA256_SIZE);
	qsort(book->list, book->list_count, SHA256_SIZE, hash_order);
	memcpy(book->listed, hash, SHA256_SIZE);
	arena_free(&arena);
	buf_free(&bytes);
}

bool book_lists(struct goods_book *book, const uint8_t manifest[SHA256_SIZE], const uint8_t hash[SHA256_SIZE])
{
	if (!book->list || memcmp(book->listed, manifest, SHA256_SIZE) != 0)
		list_hashes(book, manifest);
	return bsearch(hash, book->list, book->list_count, SHA256_SIZE, hash_order) != NULL;
}

/* ---- versions of assets ---- */

static void content_drop(struct goods_book *book, struct content *content)
{
	name_map_remove(&book->contents, slice_make(content->hash, SHA256_SIZE));
	blobs_remove(book->blobs, content->hash);
	content_free(content);
}

static void ref_one(struct goods_book *book, const uint8_t hash[SHA256_SIZE], uint32_t owner, bool more)
{
	struct content *content = more ? content_get(book, hash) : content_find(book, hash);

	if (more) {
		content->refs++;
		own(content, owner);
	} else if (content && content->refs > 0 && --content->refs == 0 && content->until_ns <= clock_mono_ns()) {
		content_drop(book, content);
	}
}

/* Count a version's contents, or stop counting them. Of a directory the files come first, because their hashes are in its manifest. */
static void ref(struct goods_book *book, const struct version_ref *version, uint32_t owner, bool more)
{
	struct manifest manifest = { 0 };
	struct buf bytes = { 0 };
	struct arena arena = { 0 };
	struct error error;

	if (version->dir && read_manifest(book, version->hash, &bytes, &arena, &manifest, &error) != ERR_NONE)
		log_warn("%.*s: its directory can't be read: %s", (int)version->key.len, (const char *)version->key.data, error.text);
	for (size_t i = 0; i < manifest.count; i++)
		if (has_content(&manifest.at[i]))
			ref_one(book, manifest.at[i].hash, owner, more);
	ref_one(book, version->hash, owner, more);
	arena_free(&arena);
	buf_free(&bytes);
}

static struct version_ref *ref_new(struct slice key, const uint8_t hash[SHA256_SIZE], bool dir)
{
	struct version_ref *made = mem_zalloc(sizeof(*made) + key.len);

	memcpy(made->text, key.data, key.len);
	made->key = slice_make(made->text, key.len);
	memcpy(made->hash, hash, SHA256_SIZE);
	made->dir = dir;
	return made;
}

void book_put(struct goods_book *book, struct slice version, struct slice owner, const uint8_t hash[SHA256_SIZE], bool dir)
{
	struct version_ref *known = name_map_get(&book->versions, version);

	if (known)
		return;                  /* only its pin changed */
	known = ref_new(version, hash, dir);
	name_map_put(&book->versions, known->key, known);
	ref(book, known, owner_number(book, owner), true);
}

void book_remove(struct goods_book *book, struct slice version)
{
	struct version_ref *known = name_map_remove(&book->versions, version);

	if (!known)
		return;
	ref(book, known, 0, false);
	mem_free(known);
}

/* ---- artifacts of jobs ---- */

void book_put_job(struct goods_book *book, uint64_t job, struct slice owner, const uint8_t hash[SHA256_SIZE])
{
	struct version_ref *before = map_get(&book->jobs, job), *made;
	struct buf key = { 0 };

	if (before && memcmp(before->hash, hash, SHA256_SIZE) == 0)
		return;
	buf_addf(&key, "job number %llu", (unsigned long long)job);
	made = ref_new(buf_slice(&key), hash, true);
	buf_free(&key);
	/* First the new ones, so that what both have stays. */
	ref(book, made, owner_number(book, owner), true);
	book_remove_job(book, job);
	map_put(&book->jobs, job, made);
}

void book_remove_job(struct goods_book *book, uint64_t job)
{
	struct version_ref *known = map_remove(&book->jobs, job);

	if (!known)
		return;
	ref(book, known, 0, false);
	mem_free(known);
}

/* ---- sweeping ---- */

static bool wanted_cb(void *arg, const uint8_t hash[SHA256_SIZE])
{
	const struct goods_book *book = arg;
	const struct content *content = content_find(book, hash);

	return content && (content->refs > 0 || content->until_ns > clock_mono_ns());
}

/* Forget the entries of contents that are no longer kept. */
static void forget_old(struct goods_book *book)
{
	struct content **old = mem_alloc((book->contents.count + 1) * sizeof(struct content *));
	int64_t now_ns = clock_mono_ns();
	size_t cursor = 0, count = 0;
	struct slice hash;
	void *value;

	while (name_map_next(&book->contents, &cursor, &hash, &value)) {
		struct content *content = value;

		if (content->refs == 0 && content->until_ns <= now_ns)
			old[count++] = content;
	}
	for (size_t i = 0; i < count; i++)
		content_drop(book, old[i]);
	mem_free(old);
}

uint64_t book_sweep(struct goods_book *book)
{
	int64_t kept_from = clock_wall_ms() / 1000 - LIMIT_GOODS_KEPT_S;

	forget_old(book);
	return blobs_sweep(book->blobs, kept_from, wanted_cb, book);
}
