/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes a directory from a manifest. Everything is made below the descriptor of a new directory, and no link is followed;
 * links are made last.
 */
#include "goods/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

static enum err failed(struct error *error, int number, struct slice path)
{
	struct buf shown = { 0 };

	text_escape(&shown, path, TEXT_KEEP_NONE);
	error_system(error, number, "can't make %.300s", buf_cstr(&shown));
	buf_free(&shown);
	return error->code;
}

enum err folder_make_dirs(int dir_fd, const struct manifest *manifest, struct error *error)
{
	for (size_t i = 0; i < manifest->count; i++) {
		char *path = mem_text(manifest->at[i].path);
		int result = manifest->at[i].kind == ENTRY_DIR ? mkdirat(dir_fd, path, 0777) : 0;
		int number = errno;

		mem_free(path);
		if (result < 0)
			return failed(error, number, manifest->at[i].path);
	}
	return ERR_NONE;
}

enum err folder_make_links(int dir_fd, const struct manifest *manifest, struct error *error)
{
	for (size_t i = 0; i < manifest->count; i++) {
		char *path, *target;
		int result, number;

		if (manifest->at[i].kind != ENTRY_LINK)
			continue;
		path = mem_text(manifest->at[i].path);
		target = mem_text(manifest->at[i].target);
		result = symlinkat(target, dir_fd, path);
		number = errno;
		mem_free(path);
		mem_free(target);
		if (result < 0)
			return failed(error, number, manifest->at[i].path);
	}
	return ERR_NONE;
}

int folder_create(int dir_fd, const struct manifest_entry *entry)
{
	struct open_how how = {
		.flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		.mode = entry->kind == ENTRY_PROGRAM ? 0777 : 0666,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	char *path = mem_text(entry->path);
	int fd = (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));

	fd = fd < 0 ? -errno : fd;
	mem_free(path);
	return fd;
}
