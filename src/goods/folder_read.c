/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a directory into a manifest. Every name is opened below its directory's descriptor and no link is followed. */
#include "goods/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
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

static enum err walk_dir(struct walk *walk, int fd, struct slice path, unsigned depth);

static enum err add_dir(struct walk *walk, int dir_fd, const char *name, struct slice path, unsigned depth)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return refuse(walk, ERR_SYSTEM, errno, path, "the directory can't be read");
	add(walk, ENTRY_DIR, path);
	return walk_dir(walk, fd, path, depth + 1);
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
	if (path.len > LIMIT_MANIFEST_PATH)
		return refuse(walk, ERR_TOO_LARGE, 0, path, "the path is too long");
	if (walk->folder->manifest.count == LIMIT_MANIFEST_ENTRIES)
		return refuse(walk, ERR_TOO_LARGE, 0, path, "the directory has too many files");
	if (fstatat(dir_fd, name, &found, AT_SYMLINK_NOFOLLOW) < 0)
		return refuse(walk, ERR_SYSTEM, errno, path, "can't be read");
	if (S_ISDIR(found.st_mode))
		return add_dir(walk, dir_fd, name, path, depth);
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

enum err folder_read(int dir_fd, const char *name, struct arena *arena, struct folder *ret, struct error *error)
{
	struct walk walk = { .arena = arena, .folder = ret, .name = name, .error = error };
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*ret = (struct folder){ 0 };
	error_clear(error);
	if (fd < 0)
		return refuse(&walk, ERR_SYSTEM, errno, (struct slice){ 0 }, "the directory can't be read");
	return walk_dir(&walk, fd, (struct slice){ 0 }, 0);
}

void folder_free(struct folder *folder)
{
	mem_free(folder->manifest.at);
	*folder = (struct folder){ 0 };
}
