/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * See cache.h. The directory has files/, a file for each content, incoming/, what hasn't arrived as a whole, and the file notes: what
 * each file was like when it was verified, in the order of last use. Notes of an earlier boot of the machine may be about bytes that
 * never got to the disk, so such a file is read and hashed again when it is used first. So nothing here needs a sync.
 */
#include "worker/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "proto/limits.h"

#define HEX_SIZE (2 * SHA256_SIZE + 1)
#define READ_BYTES 65536
#define NOTES_SLACK 1024                 /* old notes that the file may have besides those that count */
#define ARRIVING_MAX 16                  /* most unfinished contents */
#define NOTES_MAX ((size_t)1 << 30)

struct note {                            /* a record of the file notes */
	uint8_t hash[SHA256_SIZE];
	uint64_t boot, inode, size;
	int64_t modified_ns;
};

struct cached {
	struct note note;
	unsigned pins;
	struct cached *prev, *next;      /* in the order of last use, the newest last */
};

struct arriving {                        /* a content of which a part has arrived */
	uint8_t hash[SHA256_SIZE];
	struct sha256 sum;               /* of these bytes */
	uint64_t at;
	int fd;
	struct arriving *next;
};

struct cache {
	int dir_fd, files_fd, incoming_fd, notes_fd;
	uint64_t limit, bytes, boot;
	struct name_map known;           /* from a hash to struct cached */
	struct cached *first, *last;
	size_t notes;                    /* records in the file */
	struct arriving *arriving;
};

static void hex_of(const uint8_t hash[SHA256_SIZE], char ret[HEX_SIZE])
{
	for (size_t i = 0; i < SHA256_SIZE; i++)
		snprintf(ret + 2 * i, 3, "%02x", hash[i]);
}

static struct slice key_of(const uint8_t hash[SHA256_SIZE])
{
	return slice_make(hash, SHA256_SIZE);
}

/* ---- what is there ---- */

static void list_add(struct cache *cache, struct cached *cached)
{
	cached->prev = cache->last;
	cached->next = NULL;
	*(cache->last ? &cache->last->next : &cache->first) = cached;
	cache->last = cached;
}

static void list_remove(struct cache *cache, struct cached *cached)
{
	*(cached->prev ? &cached->prev->next : &cache->first) = cached->next;
	*(cached->next ? &cached->next->prev : &cache->last) = cached->prev;
}

static struct cached *known_add(struct cache *cache, const struct note *note)
{
	struct cached *cached = mem_zalloc(sizeof(*cached));

	cached->note = *note;
	name_map_put(&cache->known, key_of(cached->note.hash), cached);
	list_add(cache, cached);
	cache->bytes += note->size;
	return cached;
}

static void known_drop(struct cache *cache, struct cached *cached)
{
	char name[HEX_SIZE];

	hex_of(cached->note.hash, name);
	unlinkat(cache->files_fd, name, 0);
	name_map_remove(&cache->known, key_of(cached->note.hash));
	list_remove(cache, cached);
	cache->bytes -= cached->note.size;
	mem_free(cached);
}

static void note_of(const struct cache *cache, const uint8_t hash[SHA256_SIZE], const struct stat *found, struct note *ret)
{
	*ret = (struct note){
		.boot = cache->boot, .inode = found->st_ino, .size = (uint64_t)found->st_size,
		.modified_ns = (int64_t)found->st_mtim.tv_sec * NS_PER_S + found->st_mtim.tv_nsec,
	};
	memcpy(ret->hash, hash, SHA256_SIZE);
}

/* Is the file as it was when it was verified, in whichever boot that was? */
static bool is_unchanged(const struct cache *cache, const struct note *note)
{
	char name[HEX_SIZE];
	struct stat found;
	struct note now;

	hex_of(note->hash, name);
	if (fstatat(cache->files_fd, name, &found, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(found.st_mode))
		return false;
	note_of(cache, note->hash, &found, &now);
	return now.inode == note->inode && now.size == note->size && now.modified_ns == note->modified_ns;
}

/* ---- notes ---- */

static int notes_rewrite(struct cache *cache)
{
	struct buf bytes = { 0 };
	int result;

	for (const struct cached *cached = cache->first; cached; cached = cached->next)
		buf_add(&bytes, &cached->note, sizeof(cached->note));
	result = io_write_file(cache->dir_fd, "notes.new", bytes.data ? bytes.data : (const uint8_t *)"", bytes.len, 0600);
	buf_free(&bytes);
	if (result == 0 && renameat(cache->dir_fd, "notes.new", cache->dir_fd, "notes") < 0)
		result = -errno;
	if (result < 0)
		return result;
	if (cache->notes_fd >= 0)
		close(cache->notes_fd);
	cache->notes_fd = openat(cache->dir_fd, "notes", O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	cache->notes = cache->known.count;
	return cache->notes_fd < 0 ? -errno : 0;
}

/* Without a note a content is fetched again after the next start; that is all. */
static void note_write(struct cache *cache, const struct cached *cached)
{
	if (cache->notes_fd < 0 || (cache->notes > 2 * cache->known.count + NOTES_SLACK && notes_rewrite(cache) < 0) ||
	    io_write_all(cache->notes_fd, &cached->note, sizeof(cached->note)) < 0)
		log_warn_limited("the cache of files can't write its notes: %s", strerror(errno));
	cache->notes++;
}

static void notes_read(struct cache *cache)
{
	struct buf bytes = { 0 };

	if (io_read_file(cache->dir_fd, "notes", NOTES_MAX, &bytes) < 0)
		buf_clear(&bytes);
	for (size_t at = 0; at + sizeof(struct note) <= bytes.len; at += sizeof(struct note)) {
		struct cached *cached;
		struct note note;

		memcpy(&note, bytes.data + at, sizeof(note));
		cached = name_map_get(&cache->known, key_of(note.hash));
		if (cached) {
			cache->bytes += note.size - cached->note.size;
			cached->note = note;
			list_remove(cache, cached);
			list_add(cache, cached);
		} else {
			known_add(cache, &note);
		}
	}
	buf_free(&bytes);
}

/* Forget contents whose files aren't as noted, and remove files without a note. */
static void sweep(struct cache *cache)
{
	int fd = openat(cache->files_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct cached *next;
	const struct dirent *entry;

	for (struct cached *cached = cache->first; cached; cached = next) {
		next = cached->next;
		if (!is_unchanged(cache, &cached->note))
			known_drop(cache, cached);
	}
	while (dir && (entry = readdir(dir))) {
		uint8_t hash[SHA256_SIZE];
		char text[SHA256_TEXT_SIZE];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(text, sizeof(text), "sha256:%.64s", entry->d_name);
		if (strlen(entry->d_name) != HEX_SIZE - 1 || !sha256_read(slice_str(text), hash) || !name_map_get(&cache->known, key_of(hash)))
			unlinkat(cache->files_fd, entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* ---- opening ---- */

static int open_below(int dir_fd, const char *name)
{
	int fd;

	if (mkdirat(dir_fd, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int cache_open(const char *dir, uint64_t limit, struct cache **ret)
{
	struct cache *cache = mem_zalloc(sizeof(*cache));
	int result = 0;

	*cache = (struct cache){ .limit = limit, .boot = clock_boot_id(), .files_fd = -1, .incoming_fd = -1, .notes_fd = -1 };
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		result = -errno;
	cache->dir_fd = result == 0 ? open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	if (result == 0 && cache->dir_fd < 0)
		result = -errno;
	if (result == 0) {
		io_remove_tree(cache->dir_fd, "incoming");
		result = cache->files_fd = open_below(cache->dir_fd, "files");
	}
	if (result >= 0)
		result = cache->incoming_fd = open_below(cache->dir_fd, "incoming");
	if (result >= 0) {
		notes_read(cache);
		sweep(cache);
		result = notes_rewrite(cache);
	}
	if (result < 0) {
		cache_close(cache);
		return result;
	}
	*ret = cache;
	return 0;
}

static void arriving_drop(struct cache *cache, struct arriving *part)
{
	struct arriving **at = &cache->arriving;
	char name[HEX_SIZE];

	while (*at != part)
		at = &(*at)->next;
	*at = part->next;
	hex_of(part->hash, name);
	unlinkat(cache->incoming_fd, name, 0);
	close(part->fd);
	sha256_drop(&part->sum);
	mem_free(part);
}

void cache_close(struct cache *cache)
{
	const int fds[] = { cache ? cache->dir_fd : -1, cache ? cache->files_fd : -1, cache ? cache->incoming_fd : -1, cache ? cache->notes_fd : -1 };
	struct cached *next;

	if (!cache)
		return;
	while (cache->arriving)
		arriving_drop(cache, cache->arriving);
	for (struct cached *cached = cache->first; cached; cached = next) {
		next = cached->next;
		mem_free(cached);
	}
	name_map_free(&cache->known);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	mem_free(cache);
}

/* ---- finding ---- */

static int open_content(const struct cache *cache, const struct cached *cached)
{
	char name[HEX_SIZE];
	int fd;

	hex_of(cached->note.hash, name);
	fd = openat(cache->files_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Read and hash the file, whose note is of an earlier boot. */
static bool is_verified(struct cache *cache, struct cached *cached)
{
	uint8_t *bytes = mem_alloc(READ_BYTES), digest[SHA256_SIZE];
	int fd = open_content(cache, cached);
	struct sha256 sum;
	ssize_t got = -1;

	sha256_init(&sum);
	while (fd >= 0 && ((got = read(fd, bytes, READ_BYTES)) > 0 || (got < 0 && errno == EINTR)))
		if (got > 0)
			sha256_add(&sum, slice_make(bytes, (size_t)got));
	sha256_end(&sum, digest);
	mem_free(bytes);
	if (fd >= 0)
		close(fd);
	return got == 0 && memcmp(digest, cached->note.hash, SHA256_SIZE) == 0;
}

struct cached *cache_find(struct cache *cache, const uint8_t hash[SHA256_SIZE], uint64_t size)
{
	struct cached *cached = name_map_get(&cache->known, key_of(hash));
	char text[SHA256_TEXT_SIZE];

	if (!cached || cached->note.size != size)
		return NULL;
	if (!is_unchanged(cache, &cached->note) || (cached->note.boot != cache->boot && !is_verified(cache, cached))) {
		sha256_text(hash, text);
		log_warn_limited("the file of %s in the cache was changed; it is fetched again", text);
		if (cached->pins == 0)
			known_drop(cache, cached);
		return NULL;
	}
	cached->note.boot = cache->boot;
	if (cache->last != cached) {
		list_remove(cache, cached);
		list_add(cache, cached);
		note_write(cache, cached);
	}
	return cached;
}

void cache_pin(struct cached *cached)
{
	cached->pins++;
}

void cache_unpin(struct cached *cached)
{
	CHECK(cached->pins > 0);
	cached->pins--;
}

uint64_t cache_bytes(const struct cache *cache)
{
	return cache->bytes;
}

int cache_read(struct cache *cache, const struct cached *cached, struct buf *out)
{
	char name[HEX_SIZE];

	hex_of(cached->note.hash, name);
	return io_read_file(cache->files_fd, name, (size_t)cached->note.size, out);
}

/* ---- room ---- */

static uint64_t disk_free(const struct cache *cache)
{
	struct statvfs disk;

	if (fstatvfs(cache->files_fd, &disk) < 0)
		return UINT64_MAX;
	return (uint64_t)(geteuid() == 0 ? disk.f_bfree : disk.f_bavail) * disk.f_frsize;
}

/* Remove what wasn't used for longest until so many more bytes are allowed and fit on the disk. */
static void make_room(struct cache *cache, uint64_t bytes)
{
	struct cached *next;

	for (struct cached *cached = cache->first; cached; cached = next) {
		next = cached->next;
		if (cache->bytes + bytes <= cache->limit && disk_free(cache) >= bytes + LIMIT_GOODS_FREE)
			return;
		if (cached->pins == 0)
			known_drop(cache, cached);
	}
}

void cache_trim(struct cache *cache)
{
	make_room(cache, 0);
}

/* ---- placing ---- */

static int copy_bytes(int from, int to)
{
	uint8_t *bytes;
	ssize_t got;
	int result = 0;

	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	while ((got = copy_file_range(from, NULL, to, NULL, (size_t)1 << 30, 0)) > 0)
		continue;
	if (got == 0)
		return 0;
	/* The file system can't copy: read and write, from where it stopped. */
	bytes = mem_alloc(READ_BYTES);
	while (result == 0 && ((got = read(from, bytes, READ_BYTES)) > 0 || (got < 0 && errno == EINTR)))
		if (got > 0)
			result = io_write_all(to, bytes, (size_t)got);
	if (result == 0 && got < 0)
		result = -errno;
	mem_free(bytes);
	return result;
}

static int copy_to(struct cache *cache, const struct cached *cached, const struct cache_place *place)
{
	int from = open_content(cache, cached), to, result;

	if (from < 0)
		return from;
	to = openat(place->dir_fd, place->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	result = to < 0 ? -errno : copy_bytes(from, to);
	if (result == 0 && place->uid != (uid_t)-1 && fchown(to, place->uid, place->gid) < 0)
		result = -errno;
	if (result == 0 && fchmod(to, place->mode) < 0)
		result = -errno;
	if (to >= 0 && close(to) < 0 && result == 0)
		result = -errno;
	close(from);
	return result;
}

int cache_put_at(struct cache *cache, const struct cached *cached, const struct cache_place *place)
{
	char name[HEX_SIZE];

	hex_of(cached->note.hash, name);
	if (!place->own && linkat(cache->files_fd, name, place->dir_fd, place->path, 0) == 0)
		return 0;
	/* Too many names, another file system, or a kernel that forbids it: a copy does as well. */
	return !place->own && (errno == EEXIST || errno == ENOENT || errno == ENOSPC) ? -errno : copy_to(cache, cached, place);
}

/* ---- arriving ---- */

static struct arriving *arriving_find(const struct cache *cache, const uint8_t hash[SHA256_SIZE])
{
	struct arriving *part = cache->arriving;

	while (part && memcmp(part->hash, hash, SHA256_SIZE) != 0)
		part = part->next;
	return part;
}

uint64_t cache_arrived(const struct cache *cache, const uint8_t hash[SHA256_SIZE])
{
	const struct arriving *part = arriving_find(cache, hash);

	return part ? part->at : 0;
}

/* Give up the oldest of too many unfinished contents. */
static void arriving_limit(struct cache *cache)
{
	struct arriving *oldest = cache->arriving;
	unsigned count = 0;

	for (struct arriving *part = cache->arriving; part; part = part->next, count++)
		oldest = part;
	if (count >= ARRIVING_MAX)
		arriving_drop(cache, oldest);
}

static int arriving_begin(struct cache *cache, const uint8_t hash[SHA256_SIZE], uint64_t size, struct arriving **ret)
{
	struct arriving *part = arriving_find(cache, hash);
	char name[HEX_SIZE];
	int fd;

	if (part)
		arriving_drop(cache, part);
	arriving_limit(cache);
	make_room(cache, size);
	if (disk_free(cache) < size + LIMIT_GOODS_FREE)
		return -ENOSPC;
	hex_of(hash, name);
	fd = openat(cache->incoming_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	part = mem_zalloc(sizeof(*part));
	memcpy(part->hash, hash, SHA256_SIZE);
	sha256_init(&part->sum);
	part->fd = fd;
	part->next = cache->arriving;
	cache->arriving = *ret = part;
	return 0;
}

/* All bytes have arrived: verify them and give the file its place. */
static int arriving_end(struct cache *cache, struct arriving *part)
{
	struct cached *old = name_map_get(&cache->known, key_of(part->hash));
	uint8_t digest[SHA256_SIZE];
	char name[HEX_SIZE];
	struct stat made;
	struct note note;
	int result = 0;

	sha256_end(&part->sum, digest);
	hex_of(part->hash, name);
	if (memcmp(digest, part->hash, SHA256_SIZE) != 0)
		result = -EBADMSG;
	else if (fchmod(part->fd, 0444) < 0 || renameat(cache->incoming_fd, name, cache->files_fd, name) < 0 || fstat(part->fd, &made) < 0)
		result = -errno;
	if (result < 0)
		return result;
	note_of(cache, part->hash, &made, &note);
	if (old) {
		cache->bytes += note.size - old->note.size;
		old->note = note;
	} else {
		old = known_add(cache, &note);
	}
	note_write(cache, old);
	return 0;
}

int cache_add(struct cache *cache, const uint8_t hash[SHA256_SIZE], uint64_t size, uint64_t offset, struct slice data)
{
	struct arriving *part = offset > 0 ? arriving_find(cache, hash) : NULL;
	int result = offset == 0 ? arriving_begin(cache, hash, size, &part) : 0;

	if (result < 0)
		return result;
	if (!part)
		return -EBADMSG;
	if (part->at != offset || data.len > size - offset)
		result = -EBADMSG;
	if (result == 0)
		result = io_write_all(part->fd, data.data, data.len);
	if (result == 0) {
		sha256_add(&part->sum, data);
		part->at += data.len;
		if (part->at < size)
			return 0;
		result = arriving_end(cache, part);
	}
	arriving_drop(cache, part);
	return result < 0 ? result : 1;
}
