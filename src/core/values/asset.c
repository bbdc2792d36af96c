/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Assets: names for files and directories, in versions. The core knows the hash of each version, never its content: the
 * master checks that the content is on disk before it asks the core to name it. A version's number is never given to
 * other content while the asset exists: if the newest version is removed, its row stays without a hash.
 */
#include "core/values/values.h"

#include "base/sha256.h"
#include "base/text.h"
#include "core/life/life.h"
#include "core/rows/durable.h"

#define CURSOR_BITS 20                   /* bits of a cursor for the place of the version; the asset's place is above them */

struct asset_version {
	uint64_t number;
	bool gone;                       /* it was removed, and only keeps its number */
	bool pinned;
	uint64_t kind;                   /* enum asset_kind */
	uint8_t hash[SHA256_SIZE];
	uint64_t size, files;
	int64_t made_ms;
};

struct asset {
	char *name, *owner;
	struct asset_version *at;        /* by rising number; at least one */
	size_t count, cap;
};

/* Return the place of the asset in the list, or the place where it belongs. */
static size_t asset_place(const struct core *core, struct slice name, bool *ret_there)
{
	size_t low = 0, high = core->asset_count;

	*ret_there = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct slice other = slice_str(core->assets[middle]->name);
		int order = memcmp(other.data, name.data, other.len < name.len ? other.len : name.len);

		if (order == 0 && other.len == name.len) {
			*ret_there = true;
			return middle;
		}
		if (order < 0 || (order == 0 && other.len < name.len))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct asset *asset_find(const struct core *core, struct slice name)
{
	bool there = false;
	size_t at = name.len > 0 ? asset_place(core, name, &there) : 0;

	return there ? core->assets[at] : NULL;
}

/* The version with this number, 0: the newest one. NULL: there is none. */
static struct asset_version *version_find(const struct asset *asset, uint64_t number)
{
	for (size_t i = asset->count; i > 0; i--) {
		struct asset_version *version = &asset->at[i - 1];

		if (!version->gone && (number == 0 || version->number == number))
			return version;
	}
	return NULL;
}

static void row_put(struct core *core, const struct asset *asset, const struct asset_version *version, bool deleted)
{
	struct row *row = outbox_row(core->outbox, TABLE_asset);
	struct arena *arena = &core->outbox->arena;

	row->deleted = deleted;
	row->asset = (struct row_asset){
		.asset = arena_copy(arena, slice_str(asset->name)), .version = (int64_t)version->number,
		.hash = version->gone ? (struct slice){ 0 } : arena_copy(arena, slice_make(version->hash, SHA256_SIZE)),
		.kind = (int64_t)version->kind, .size = (int64_t)version->size, .files = (int64_t)version->files,
		.owner = arena_copy(arena, slice_str(asset->owner)), .made_ms = version->made_ms, .pinned = version->pinned,
	};
}

static struct asset *asset_add(struct core *core, struct slice name, struct slice owner)
{
	struct asset *asset = mem_zalloc(sizeof(*asset));
	bool there;
	size_t at = asset_place(core, name, &there);

	asset->name = mem_text(name);
	asset->owner = mem_text(owner);
	GROW(core->assets, core->asset_count, core->asset_cap);
	memmove(core->assets + at + 1, core->assets + at, (core->asset_count - at) * sizeof(*core->assets));
	core->assets[at] = asset;
	core->asset_count++;
	return asset;
}

static void asset_free(struct asset *asset)
{
	mem_free(asset->name);
	mem_free(asset->owner);
	mem_free(asset->at);
	mem_free(asset);
}

static struct asset_version *version_add(struct asset *asset, uint64_t number)
{
	GROW(asset->at, asset->count, asset->cap);
	asset->at[asset->count] = (struct asset_version){ .number = number };
	return &asset->at[asset->count++];
}

static void version_drop(struct asset *asset, size_t at)
{
	asset->count--;
	memmove(asset->at + at, asset->at + at + 1, (asset->count - at) * sizeof(*asset->at));
}

static void asset_drop(struct core *core, struct asset *asset)
{
	bool there;
	size_t at = asset_place(core, slice_str(asset->name), &there);

	core->asset_count--;
	memmove(core->assets + at, core->assets + at + 1, (core->asset_count - at) * sizeof(*core->assets));
	asset_free(asset);
}

/* ---- changes ---- */

/* Remove the oldest version that isn't pinned, if there are as many as the asset may have. */
static enum err make_room(struct core *core, struct asset *asset, struct error *error)
{
	if (asset->count < LIMIT_ASSET_VERSIONS)
		return ERR_NONE;
	for (size_t i = 0; i < asset->count; i++) {
		if (asset->at[i].pinned || asset->at[i].gone)
			continue;
		row_put(core, asset, &asset->at[i], true);
		version_drop(asset, i);
		return ERR_NONE;
	}
	error_set(error, ERR_FULL, "asset %s has %d versions, and all of them are pinned", asset->name, LIMIT_ASSET_VERSIONS);
	return error_next(error, "titan asset show %s", asset->name);
}

static enum err asset_put(struct core *core, const struct input_set *input, uint64_t *ret_changed, uint64_t *ret_version, struct error *error)
{
	const struct msg_set *set = &input->set;
	struct asset *asset = asset_find(core, set->name);
	struct asset_version *version = asset ? version_find(asset, 0) : NULL;
	uint8_t hash[SHA256_SIZE];

	if (!sha256_read(set->text, hash) || set->weight < ASSET_FILE || set->weight > ASSET_DIR || set->number > INT64_MAX || set->most > INT64_MAX)
		return error_set(error, ERR_INVALID, "asset %.*s: its content isn't named by sha256: and 64 hexadecimal digits",
				 (int)set->name.len, (const char *)set->name.data);
	if (version && version->kind == set->weight && memcmp(version->hash, hash, SHA256_SIZE) == 0) {
		*ret_version = version->number;  /* the newest version has this content already */
		return ERR_NONE;
	}
	if (!asset && core->asset_count == LIMIT_ASSETS_MAX) {
		error_set(error, ERR_FULL, "there are already %d assets; remove one first", LIMIT_ASSETS_MAX);
		return error_next(error, "titan asset ls");
	}
	if (!asset)
		asset = asset_add(core, set->name, input->person);
	else if (make_room(core, asset, error) != ERR_NONE)
		return error->code;
	*ret_version = asset->count > 0 ? asset->at[asset->count - 1].number + 1 : 1;
	if (asset->count > 0 && asset->at[asset->count - 1].gone) {
		row_put(core, asset, &asset->at[asset->count - 1], true);
		asset->count--;
	}
	version = version_add(asset, *ret_version);
	version->kind = set->weight;
	memcpy(version->hash, hash, SHA256_SIZE);
	version->size = set->number;
	version->files = set->most;
	version->made_ms = core->now.wall_ms;
	row_put(core, asset, version, false);
	*ret_changed = 1;
	return ERR_NONE;
}

static enum err is_pinned(const struct asset *asset, const struct asset_version *version, struct error *error)
{
	error_set(error, ERR_DENIED, "version %llu of asset %s is pinned", (unsigned long long)version->number, asset->name);
	return error_next(error, "titan asset pin --off %s@%llu", asset->name, (unsigned long long)version->number);
}

/* Remove one version, or with number 0 the whole asset. */
static enum err asset_remove(struct core *core, struct asset *asset, uint64_t number, uint64_t *ret_changed, struct error *error)
{
	struct asset_version *version = number ? version_find(asset, number) : NULL;
	size_t at = number ? (size_t)(version - asset->at) : 0;

	if (number == 0) {
		for (size_t i = 0; i < asset->count; i++)
			if (asset->at[i].pinned)
				return is_pinned(asset, &asset->at[i], error);
		for (size_t i = 0; i < asset->count; i++) {
			row_put(core, asset, &asset->at[i], true);
			*ret_changed += !asset->at[i].gone;
		}
		asset_drop(core, asset);
		return ERR_NONE;
	}
	if (version->pinned)
		return is_pinned(asset, version, error);
	*ret_changed = 1;
	row_put(core, asset, version, true);
	if (at + 1 < asset->count) {
		version_drop(asset, at);
	} else if (asset->count > 1) {
		*version = (struct asset_version){ .number = number, .gone = true };
		row_put(core, asset, version, false);
	} else {
		asset_drop(core, asset);
	}
	return ERR_NONE;
}

enum err asset_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, uint64_t *ret_version, struct error *error)
{
	const struct msg_set *set = &input->set;
	struct asset *asset = asset_find(core, set->name);
	struct asset_version *version;

	if (!text_is_name(set->name))
		return error_set(error, ERR_INVALID, "the name of an asset may have letters, digits, _ . -, at most %d", LIMIT_NAME_MAX_LEN);
	if (asset && owner_check(asset->owner, input->own_only, error, "asset '%s'", asset->name) != ERR_NONE)
		return error->code;
	if (set->verb == SET_PUT)
		return asset_put(core, input, ret_changed, ret_version, error);
	version = asset ? version_find(asset, set->number) : NULL;
	if (!asset || (!version && (set->number != 0 || set->verb != SET_REMOVE))) {
		if (asset && set->number != 0)
			error_set(error, ERR_NOT_FOUND, "asset %s has no version %llu", asset->name, (unsigned long long)set->number);
		else
			error_set(error, ERR_NOT_FOUND, "there is no asset '%.*s'", (int)set->name.len, (const char *)set->name.data);
		return error_next(error, "titan asset ls");
	}
	switch (set->verb) {
	case SET_REMOVE:
		return asset_remove(core, asset, set->number, ret_changed, error);
	case SET_PIN:
	case SET_UNPIN:
		*ret_version = version->number;
		*ret_changed = version->pinned != (set->verb == SET_PIN);
		version->pinned = set->verb == SET_PIN;
		if (*ret_changed)
			row_put(core, asset, version, false);
		return ERR_NONE;
	default:
		return error_set(error, ERR_INVALID, "unknown change of an asset: %llu", (unsigned long long)set->verb);
	}
}

void asset_words(const struct core *core, const struct msg_set *set, struct buf *out)
{
	const struct asset *asset = asset_find(core, set->name);
	const struct asset_version *version = asset ? version_find(asset, set->verb == SET_PUT ? 0 : set->number) : NULL;

	if (version)
		buf_addf(out, "version %llu, %llu bytes, of %s%s", (unsigned long long)version->number, (unsigned long long)version->size,
			 asset->owner, version->pinned ? ", pinned" : "");
}

/* ---- loading, hash ---- */

/* Versions are loaded by name and rising number; only the last one can be gone. */
enum err load_asset(struct core *core, const struct row_asset *row, struct error *error)
{
	struct asset *asset = asset_find(core, row->asset);
	const struct asset_version *last = asset ? &asset->at[asset->count - 1] : NULL;
	struct asset_version *version;

	if (!text_is_name(row->asset) || row->version < 1 || (row->hash.len != 0 && row->hash.len != SHA256_SIZE) || row->size < 0 || row->kind < 0 ||
	    row->kind > ASSET_DIR ||
	    row->files < 0 || (last && (last->gone || last->number >= (uint64_t)row->version)) ||
	    (asset && !slice_eq(slice_str(asset->owner), row->owner)))
		return error_set(error, ERR_STORE_TRUST, "an asset has a bad name, version or hash, or is stored twice");
	if (!asset)
		asset = asset_add(core, row->asset, row->owner);
	version = version_add(asset, (uint64_t)row->version);
	version->gone = row->hash.len == 0;
	if (row->hash.len > 0)
		memcpy(version->hash, row->hash.data, SHA256_SIZE);
	version->kind = (uint64_t)row->kind;
	version->size = (uint64_t)row->size;
	version->files = (uint64_t)row->files;
	version->made_ms = row->made_ms;
	version->pinned = row->pinned != 0;
	return ERR_NONE;
}

void assets_free(struct core *core)
{
	for (size_t i = 0; i < core->asset_count; i++)
		asset_free(core->assets[i]);
	mem_free(core->assets);
}

uint64_t assets_hash(const struct core *core)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < core->asset_count; i++) {
		const struct asset *asset = core->assets[i];

		hash = hash_bytes(asset->name, strlen(asset->name), hash);
		hash = hash_bytes(asset->owner, strlen(asset->owner), hash);
		for (size_t at = 0; at < asset->count; at++) {
			const struct asset_version *version = &asset->at[at];

			hash = hash_bytes(version->hash, SHA256_SIZE, hash);
			hash = hash_u64(hash + hash_u64(version->number) + version->size + version->files);
			hash = hash_u64(hash + hash_u64((uint64_t)version->made_ms) + version->gone + 2 * version->pinned + 4 * version->kind);
		}
	}
	return hash;
}

/* ---- for the master ---- */

bool view_asset_owner(const struct core *core, struct slice name, struct slice *ret_owner)
{
	const struct asset *asset = asset_find(core, name);

	if (asset)
		*ret_owner = slice_str(asset->owner);
	return asset != NULL;
}

uint64_t view_asset(const struct core *core, struct slice name, uint64_t cursor, struct rec_asset_row *ret_row)
{
	size_t at = (size_t)(cursor >> CURSOR_BITS), place = (size_t)(cursor & ((1u << CURSOR_BITS) - 1));
	bool there = true;

	if (name.len > 0 && cursor == 0)
		at = asset_place(core, name, &there);
	for (; there && at < core->asset_count; at++, place = 0) {
		const struct asset *asset = core->assets[at];

		if (name.len > 0 && !slice_eq(slice_str(asset->name), name))
			break;
		for (; place < asset->count; place++) {
			const struct asset_version *version = &asset->at[place];

			if (version->gone)
				continue;
			*ret_row = (struct rec_asset_row){
				.asset = slice_str(asset->name), .version = version->number, .hash = slice_make(version->hash, SHA256_SIZE),
				.kind = version->kind, .size = version->size, .files = version->files, .owner = slice_str(asset->owner),
				.made_ms = version->made_ms, .pinned = version->pinned, .newest = version == version_find(asset, 0),
			};
			return (uint64_t)at << CURSOR_BITS | (place + 1);
		}
	}
	return 0;
}
