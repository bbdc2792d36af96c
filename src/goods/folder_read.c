/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a directory, or what patterns choose of it, into a manifest. Every name is opened below its directory's descriptor and no link
 * is followed.
 */
#include "goods/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/glob.h"
#include "base/mem.h"
#include "base/text.h"
#include "proto/limits.h"

#define READ_BYTES (1u << 17)
#define DEPTH_MAX 128                    /* directories in directories: as many descriptors are open */

struct walk {
	struct arena *arena;
	struct folder *folder;
	size_t cap;
	const char *name;
	struct error *error;
	struct slice_list patterns;      /* n 0: all is wanted */
	bool *used;                      /* for each pattern: it chose something */
};

/* ---- files ---- */

static void mark_make(const struct stat *found, struct folder_mark *ret)
{
	*ret = (struct folder_mark){
		.device = found->st_dev, .inode = found->st_ino, .size = (uint64_t)found->st_size,
		.changed_ns = found->st_ctim.tv_sec * NS_PER_S + found->st_ctim.tv_nsec,
		.modified_ns = found->st_mtim.tv_sec * NS_PER_S + found->st_mtim.tv_nsec,
	};
}

bool folder_changed(int fd, const struct folder_mark *mark)
{
	struct folder_mark now;
	struct stat found;

	if (fstat(fd, &found) < 0)
		return true;
	mark_make(&found, &now);
	return now.device != mark->device || now.inode != mark->inode || now.size != mark->size || now.changed_ns != mark->changed_ns ||
	       now.modified_ns != mark->modified_ns;
}

static enum err failed(struct error *error, enum err code, int number, struct slice name, struct slice path, const char *why)
{
	struct buf shown = { 0 };

	text_escape(&shown, name, TEXT_KEEP_NONE);
	if (path.len > 0) {
		buf_add_byte(&shown, '/');
		text_escape(&shown, path, TEXT_KEEP_NONE);
	}
	if (number != 0)
		error_system(error, number, "%.300s: %s", buf_cstr(&shown), why);
	else
		error_set(error, code, "%.300s: %s", buf_cstr(&shown), why);
	buf_free(&shown);
	return error->code;
}

enum err folder_hash_file(int fd, const char *path, uint8_t ret_hash[SHA256_SIZE], struct folder_mark *ret_mark, struct error *error)
{
	const struct slice none = { 0 };
	struct sha256 hash;
	struct stat found;
	uint64_t size = 0;
	uint8_t *bytes;
	ssize_t got;

	if (fstat(fd, &found) < 0)
		return failed(error, ERR_SYSTEM, errno, slice_str(path), none, "can't be read");
	if (!S_ISREG(found.st_mode))
		return failed(error, ERR_INVALID, 0, slice_str(path), none, "it is no regular file, directory or link");
	mark_make(&found, ret_mark);
	bytes = mem_alloc(READ_BYTES);
	sha256_init(&hash);
	while ((got = pread(fd, bytes, READ_BYTES, (off_t)size)) > 0 || (got < 0 && errno == EINTR)) {
		if (got < 0)
			continue;
		sha256_add(&hash, slice_make(bytes, (size_t)got));
		size += (uint64_t)got;
		if (size > ret_mark->size)
			break;
	}
	mem_free(bytes);
	sha256_end(&hash, ret_hash);
	if (got < 0)
		return failed(error, ERR_SYSTEM, errno, slice_str(path), none, "can't be read");
	if (size != ret_mark->size || folder_changed(fd, ret_mark))
		return failed(error, ERR_CHANGED, 0, slice_str(path), none, "the file changed while it was read; try again when nothing writes to it");
	return ERR_NONE;
}

int folder_open(int dir_fd, struct slice path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	char *text = mem_text(path);
	int fd = (int)syscall(SYS_openat2, dir_fd, text, &how, sizeof(how));

	fd = fd < 0 ? -errno : fd;
	mem_free(text);
	return fd;
}

/* ---- directories ---- */

static struct manifest_entry *add(struct walk *walk, enum entry_kind kind, struct slice path)
{
	struct folder *folder = walk->folder;
	struct manifest_entry *entry;

	if (folder->manifest.count == walk->cap) {
		walk->cap = walk->cap ? 2 * walk->cap : 256;
		folder->manifest.at = mem_resize(folder->manifest.at, walk->cap, sizeof(*folder->manifest.at));
	}
	entry = &folder->manifest.at[folder->manifest.count++];
	*entry = (struct manifest_entry){ .kind = kind, .path = path };
	return entry;
}

static enum err refuse(struct walk *walk, enum err code, int number, struct slice path, const char *why)
{
	return failed(walk->error, code, number, slice_str(walk->name), path, why);
}

static enum err add_link(struct walk *walk, int dir_fd, const char *name, struct slice path)
{
	char target[LIMIT_MANIFEST_PATH + 1];
	ssize_t len = readlinkat(dir_fd, name, target, sizeof(target));
	struct slice text = slice_make(target, len > 0 ? (size_t)len : 0);

	if (len < 0)
		return refuse(walk, ERR_SYSTEM, errno, path, "the link can't be read");
	if (!manifest_link_fits(path, text))
		return refuse(walk, ERR_INVALID, 0, path, "the link leaves the directory, is absolute, or has .. in its middle");
	add(walk, ENTRY_LINK, path)->target = arena_copy(walk->arena, text);
	return ERR_NONE;
}

static enum err add_file(struct walk *walk, int dir_fd, const char *name, struct slice path)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct manifest_entry *entry;
	struct buf shown = { 0 };
	struct folder_mark mark;
	struct stat found;

	if (fd < 0 || fstat(fd, &found) < 0) {
		refuse(walk, ERR_SYSTEM, errno, path, "can't be read");
		if (fd >= 0)
			close(fd);
		return walk->error->code;
	}
	entry = add(walk, found.st_mode & S_IXUSR ? ENTRY_PROGRAM : ENTRY_FILE, path);
	buf_addf(&shown, "%s/%.*s", walk->name, (int)path.len, (const char *)path.data);
	if (folder_hash_file(fd, buf_cstr(&shown), entry->hash, &mark, walk->error) == ERR_NONE)
		entry->size = mark.size;
	buf_free(&shown);
	close(fd);
	return walk->error->code;
}

/* ---- patterns ---- */

static struct slice pattern_of(const struct walk *walk, size_t at)
{
	return slice_make(walk->patterns.at[at].data + 1, walk->patterns.at[at].len - 1);
}

static bool takes_out(const struct walk *walk, size_t at)
{
	return walk->patterns.at[at].data[0] == '-';
}

/* Is the path wanted? */
static bool is_chosen(const struct walk *walk, struct slice path)
{
	for (size_t at = walk->patterns.n; at > 0; at--)
		if (glob_matches(pattern_of(walk, at - 1), path))
			return !takes_out(walk, at - 1);
	return walk->patterns.n == 0;
}

/* Note which patterns choose this path, which is in the manifest now. */
static void note_chosen(const struct walk *walk, struct slice path)
{
	for (size_t at = 0; at < walk->patterns.n; at++)
		if (!walk->used[at] && !takes_out(walk, at) && glob_matches(pattern_of(walk, at), path))
			walk->used[at] = true;
}

/* Can something in this directory be wanted? */
static bool is_reached(const struct walk *walk, struct slice path)
{
	for (size_t at = 0; at < walk->patterns.n; at++)
		if (!takes_out(walk, at) && glob_reaches(pattern_of(walk, at), path))
			return true;
	return walk->patterns.n == 0;
}

static bool is_of_titan(const struct walk *walk, const char *name, unsigned depth)
{
	return walk->patterns.n > 0 && depth == 0 && strncmp(name, ".titan-", 7) == 0;
}

/* ---- walking ---- */

static enum err walk_dir(struct walk *walk, int fd, struct slice path, unsigned depth);

static enum err add_dir(struct walk *walk, int dir_fd, const char *name, struct slice path, unsigned depth)
{
	size_t before = walk->folder->manifest.count;
	enum err err;
	int fd;

	if (!is_reached(walk, path))
		return ERR_NONE;
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return refuse(walk, ERR_SYSTEM, errno, path, "the directory can't be read");
	add(walk, ENTRY_DIR, path);
	err = walk_dir(walk, fd, path, depth + 1);
	if (err != ERR_NONE || walk->folder->manifest.count > before + 1)
		return err;
	if (is_chosen(walk, path))
		note_chosen(walk, path);
	else
		walk->folder->manifest.count = before;
	return ERR_NONE;
}

static enum err add_name(struct walk *walk, int dir_fd, const char *name, struct slice parent, unsigned depth)
{
	struct slice path = slice_str(name);
	struct buf joined = { 0 };
	struct stat found;

	if (parent.len > 0) {
		buf_add_slice(&joined, parent);
		buf_add_byte(&joined, '/');
	}
	buf_add_str(&joined, name);
	path = arena_copy(walk->arena, buf_slice(&joined));
	buf_free(&joined);
	if (is_of_titan(walk, name, depth))
		return ERR_NONE;
	if (path.len > LIMIT_MANIFEST_PATH)
		return refuse(walk, ERR_TOO_LARGE, 0, path, "the path is too long");
	if (walk->folder->manifest.count == LIMIT_MANIFEST_ENTRIES)
		return refuse(walk, ERR_TOO_LARGE, 0, path, "the directory has too many files");
	if (fstatat(dir_fd, name, &found, AT_SYMLINK_NOFOLLOW) < 0)
		return refuse(walk, ERR_SYSTEM, errno, path, "can't be read");
	if (S_ISDIR(found.st_mode))
		return add_dir(walk, dir_fd, name, path, depth);
	if (!is_chosen(walk, path))
		return ERR_NONE;
	note_chosen(walk, path);
	if (S_ISLNK(found.st_mode))
		return add_link(walk, dir_fd, name, path);
	if (S_ISREG(found.st_mode))
		return add_file(walk, dir_fd, name, path);
	return refuse(walk, ERR_INVALID, 0, path, "it is no regular file, directory or link");
}

/* Add all that is in the directory, and close it. */
static enum err walk_dir(struct walk *walk, int fd, struct slice path, unsigned depth)
{
	DIR *list = depth < DEPTH_MAX ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	enum err err = ERR_NONE;

	if (!list) {
		err = depth < DEPTH_MAX ? refuse(walk, ERR_SYSTEM, errno, path, "the directory can't be read") :
					  refuse(walk, ERR_TOO_LARGE, 0, path, "it lies in too many directories");
		close(fd);
		return err;
	}
	while (err == ERR_NONE && (errno = 0, entry = readdir(list)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			err = add_name(walk, dirfd(list), entry->d_name, path, depth);
	if (err == ERR_NONE && errno != 0)
		err = refuse(walk, ERR_SYSTEM, errno, path, "the directory can't be read");
	closedir(list);
	return err;
}

static enum err read_from(struct walk *walk, int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*walk->folder = (struct folder){ 0 };
	error_clear(walk->error);
	if (fd < 0)
		return refuse(walk, ERR_SYSTEM, errno, (struct slice){ 0 }, "the directory can't be read");
	return walk_dir(walk, fd, (struct slice){ 0 }, 0);
}

enum err folder_read(int dir_fd, const char *name, struct arena *arena, struct folder *ret, struct error *error)
{
	struct walk walk = { .arena = arena, .folder = ret, .name = name, .error = error };

	return read_from(&walk, dir_fd);
}

enum err folder_read_chosen(int dir_fd, const char *name, struct slice_list patterns, struct arena *arena, struct folder *ret,
			    struct error *error)
{
	struct walk walk = { .arena = arena, .folder = ret, .name = name, .error = error, .patterns = patterns };
	enum err err;

	walk.used = arena_zalloc(arena, patterns.n + 1, sizeof(*walk.used));
	err = read_from(&walk, dir_fd);
	for (size_t at = 0; err == ERR_NONE && at < patterns.n; at++) {
		struct buf shown = { 0 };

		if (patterns.at[at].data[0] != '+' || walk.used[at])
			continue;
		text_escape(&shown, pattern_of(&walk, at), TEXT_KEEP_NONE);
		err = error_set(error, ERR_NOT_FOUND, "no file matches '%.300s'", buf_cstr(&shown));
		buf_free(&shown);
	}
	return err;
}

void folder_free(struct folder *folder)
{
	mem_free(folder->manifest.at);
	*folder = (struct folder){ 0 };
}
