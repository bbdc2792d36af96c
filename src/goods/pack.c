/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packs: small contents that came in one message, in one file with one sync. A pack has a head with hash and size of each
 * content, then the contents. It never changes; its file goes when none of its contents is wanted any more. The heads of all
 * packs are in memory.
 */
#include "goods/blobs_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "proto/limits.h"

static const char first_line[] = "titan pack 1\n";
#define HEAD_SIZE (sizeof(first_line) - 1 + 4)
#define ITEM_SIZE (SHA256_SIZE + 4)

static void add_u32(struct buf *out, uint32_t number)
{
	for (unsigned i = 0; i < 4; i++)
		buf_add_byte(out, (uint8_t)(number >> (8 * i)));
}

static uint32_t take_u32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* ---- packs in memory ---- */

const struct packed *packed_find(const struct blobs *blobs, const uint8_t hash[SHA256_SIZE])
{
	return name_map_get(&blobs->packed, slice_make(hash, SHA256_SIZE));
}

static void pack_free(struct pack *pack)
{
	mem_free(pack->at);
	mem_free(pack);
}

void packs_free(struct blobs *blobs)
{
	while (blobs->packs) {
		struct pack *next = blobs->packs->next;

		pack_free(blobs->packs);
		blobs->packs = next;
	}
	name_map_free(&blobs->packed);
}

/* A content that another pack has too is found there. */
static void pack_enter(struct blobs *blobs, struct pack *pack)
{
	for (uint32_t i = 0; i < pack->count; i++) {
		struct packed *packed = &pack->at[i];

		if (packed_find(blobs, packed->hash))
			continue;
		name_map_put(&blobs->packed, slice_make(packed->hash, SHA256_SIZE), packed);
		pack->live++;
	}
	pack->next = blobs->packs;
	blobs->packs = pack;
}

/* ---- loading ---- */

/* Read the head of a pack; NULL: it isn't a whole pack. */
static struct pack *pack_parse(struct slice bytes, uint64_t file_size)
{
	uint64_t offset, count;
	struct pack *pack;

	if (bytes.len < HEAD_SIZE || memcmp(bytes.data, first_line, sizeof(first_line) - 1) != 0)
		return NULL;
	count = take_u32(bytes.data + sizeof(first_line) - 1);
	offset = HEAD_SIZE + count * ITEM_SIZE;
	if (count == 0 || count > LIMIT_GOODS_ITEMS_MAX || offset > bytes.len)
		return NULL;
	pack = mem_zalloc(sizeof(*pack));
	pack->at = mem_zalloc(count * sizeof(*pack->at));
	for (; pack->count < count; pack->count++) {
		const uint8_t *item = bytes.data + HEAD_SIZE + pack->count * ITEM_SIZE;
		uint32_t size = take_u32(item + SHA256_SIZE);

		if (size > LIMIT_GOODS_SMALL || offset + size > file_size)
			break;
		pack->at[pack->count] = (struct packed){ .pack = pack, .offset = (uint32_t)offset, .size = size };
		memcpy(pack->at[pack->count].hash, item, SHA256_SIZE);
		offset += size;
	}
	if (pack->count == count && offset == file_size)
		return pack;
	pack_free(pack);
	return NULL;
}

static struct pack *pack_load(const struct blobs *blobs, const char *name)
{
	size_t most = HEAD_SIZE + LIMIT_GOODS_ITEMS_MAX * ITEM_SIZE;
	int fd = openat(blobs->packs_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct pack *pack = NULL;
	struct buf head = { 0 };
	struct stat found;
	ssize_t got;

	if (fd < 0)
		return NULL;
	got = pread(fd, buf_reserve(&head, most), most, 0);
	if (got > 0 && fstat(fd, &found) == 0)
		pack = pack_parse(slice_make(head.data, (size_t)got), (uint64_t)found.st_size);
	if (pack) {
		memcpy(pack->name, name, HEX_SIZE);
		pack->made_s = found.st_mtime;
	}
	close(fd);
	buf_free(&head);
	return pack;
}

enum err packs_load(struct blobs *blobs, struct error *error)
{
	int fd = openat(blobs->packs_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!list) {
		error_system(error, errno, "can't list %s/packs", blobs->dir);
		if (fd >= 0)
			close(fd);
		return error->code;
	}
	while ((entry = readdir(list))) {
		struct pack *pack;

		if (strchr(entry->d_name, '.') && entry->d_name[0] != '.') {
			unlinkat(fd, entry->d_name, 0);  /* a pack that was being written when the master ended */
			continue;
		}
		pack = strlen(entry->d_name) == HEX_SIZE - 1 ? pack_load(blobs, entry->d_name) : NULL;

		if (pack)
			pack_enter(blobs, pack);
		else if (entry->d_name[0] != '.')
			log_warn_limited("%s/packs/%s isn't a whole pack; it is left as it is", blobs->dir, entry->d_name);
	}
	closedir(list);
	return ERR_NONE;
}

/* ---- writing ---- */

static enum err check_items(const struct rec_goods_small *items, size_t count, struct error *error)
{
	uint8_t digest[SHA256_SIZE];
	char text[SHA256_TEXT_SIZE];
	size_t bytes = 0;

	if (count == 0 || count > LIMIT_GOODS_ITEMS_MAX)
		return error_set(error, ERR_INVALID, "a pack must have from 1 to %d files", LIMIT_GOODS_ITEMS_MAX);
	for (size_t i = 0; i < count; i++) {
		bytes += items[i].data.len;
		if (items[i].data.len > LIMIT_GOODS_SMALL || bytes > LIMIT_GOODS_PACK_MAX || items[i].hash.len != SHA256_SIZE)
			return error_set(error, ERR_INVALID, "a pack or a file in it is too large, or has no hash");
		sha256_of(items[i].data, digest);
		if (memcmp(digest, items[i].hash.data, SHA256_SIZE) == 0)
			continue;
		sha256_text(items[i].hash.data, text);
		return error_set(error, ERR_INVALID, "the uploaded content doesn't have the hash %s that was given for it", text);
	}
	return ERR_NONE;
}

static void pack_write(const struct rec_goods_small *items, const size_t *wanted, size_t count, struct buf *out)
{
	buf_add(out, first_line, sizeof(first_line) - 1);
	add_u32(out, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		buf_add_slice(out, items[wanted[i]].hash);
		add_u32(out, (uint32_t)items[wanted[i]].data.len);
	}
	for (size_t i = 0; i < count; i++)
		buf_add_slice(out, items[wanted[i]].data);
}

enum err blobs_pack(struct blobs *blobs, const struct rec_goods_small *items, size_t count, struct error *error)
{
	enum err err = check_items(items, count, error);
	size_t *wanted, left = 0;
	struct buf bytes = { 0 };
	uint8_t digest[SHA256_SIZE];
	char name[HEX_SIZE];
	uint64_t size;
	int result;

	if (err != ERR_NONE)
		return err;
	wanted = mem_zalloc(count * sizeof(*wanted));
	for (size_t i = 0; i < count; i++)
		if (!blobs_find(blobs, items[i].hash.data, &size))
			wanted[left++] = i;
	if (left > 0)
		err = blobs_room(blobs, LIMIT_GOODS_PACK_MAX, error);
	if (left > 0 && err == ERR_NONE) {
		struct pack *pack;

		pack_write(items, wanted, left, &bytes);
		sha256_of(buf_slice(&bytes), digest);
		hex_of(digest, name);
		result = io_write_file(blobs->packs_fd, name, bytes.data, bytes.len, 0600);
		if (result < 0)
			err = blobs_failed(blobs, -result, "write a pack", error);
		pack = err == ERR_NONE ? pack_load(blobs, name) : NULL;
		if (pack)
			pack_enter(blobs, pack);
		else if (err == ERR_NONE)
			err = error_system(error, EIO, "can't read back a pack in %s", blobs->dir);
	}
	mem_free(wanted);
	buf_free(&bytes);
	return err;
}

/* ---- reading ---- */

enum err packed_read(const struct blobs *blobs, const struct packed *packed, struct buf *out, struct error *error)
{
	int fd = openat(blobs->packs_fd, packed->pack->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	uint8_t digest[SHA256_SIZE];
	ssize_t got;

	if (fd < 0)
		return error_system(error, errno, "can't read the pack %s in %s", packed->pack->name, blobs->dir);
	got = pread(fd, buf_reserve(out, packed->size + 1), packed->size, packed->offset);
	close(fd);
	if (got == (ssize_t)packed->size)
		out->len += packed->size;
	sha256_of(buf_slice(out), digest);
	if (got == (ssize_t)packed->size && memcmp(digest, packed->hash, SHA256_SIZE) == 0)
		return ERR_NONE;
	return error_set(error, ERR_DAMAGED, "the pack %s/packs/%s is damaged", blobs->dir, packed->pack->name);
}

/* ---- removing ---- */

static void pack_drop(struct blobs *blobs, struct pack *pack)
{
	struct pack **at = &blobs->packs;

	while (*at != pack)
		at = &(*at)->next;
	*at = pack->next;
	if (unlinkat(blobs->packs_fd, pack->name, 0) < 0 && errno != ENOENT)
		log_warn_limited("can't remove %s/packs/%s: %s", blobs->dir, pack->name, strerror(errno));
	pack_free(pack);
}

bool packed_remove(struct blobs *blobs, const uint8_t hash[SHA256_SIZE])
{
	struct packed *packed = name_map_remove(&blobs->packed, slice_make(hash, SHA256_SIZE));
	struct pack *pack = packed ? packed->pack : NULL;

	if (pack && --pack->live == 0)
		pack_drop(blobs, pack);
	return pack != NULL;
}

uint64_t packs_sweep(struct blobs *blobs, int64_t kept_from, bool (*wanted_cb)(void *arg, const uint8_t hash[SHA256_SIZE]), void *arg)
{
	uint64_t removed = 0;

	for (struct pack *pack = blobs->packs, *next; pack; pack = next) {
		next = pack->next;
		if (pack->made_s >= kept_from)
			continue;
		for (uint32_t i = 0; i < pack->count; i++) {
			struct packed *packed = &pack->at[i];

			if (packed_find(blobs, packed->hash) != packed || wanted_cb(arg, packed->hash))
				continue;
			name_map_remove(&blobs->packed, slice_make(packed->hash, SHA256_SIZE));
			pack->live--;
			removed++;
		}
		if (pack->live == 0)
			pack_drop(blobs, pack);
	}
	return removed;
}
