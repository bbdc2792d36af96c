/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/text.h"
#include "store/store.h"

#define SUFFIX "-mark"
#define DIGITS 20

static const char *path_of(const char *database_path, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s" SUFFIX, database_path);
	return path;
}

enum err mark_open(struct mark *mark, const char *database_path, struct error *error)
{
	char path[PATH_MAX];

	mark->fd = open(path_of(database_path, path), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (mark->fd >= 0)
		return ERR_NONE;
	error_system(error, errno, "can't open %s, which names the last acknowledged turn", path);
	return error_next(error, "ls -ld %s", path);
}

/* Write the mark. If the disk has no room for it, the older mark stays, which is true as well. */
void mark_set(struct mark *mark, uint64_t turn)
{
	char text[DIGITS + 2];

	snprintf(text, sizeof(text), "%0*" PRIu64 "\n", DIGITS, turn);
	if (mark->fd >= 0 && pwrite(mark->fd, text, DIGITS + 1, 0) < 0)
		errno = 0;
}

void mark_close(struct mark *mark)
{
	if (mark->fd >= 0)
		close(mark->fd);
	mark->fd = -1;
}

/* Read the turn of the mark. 0: there is no mark, or a power cut has left the file empty. */
static enum err read_mark(const char *path, uint64_t *ret_turn, struct error *error)
{
	struct buf text = { 0 };
	int result = io_read_file(AT_FDCWD, path, DIGITS + 1, &text);
	enum err err = ERR_NONE;
	size_t zeros = 0;

	*ret_turn = 0;
	while (zeros < text.len && text.data[zeros] == 0)
		zeros++;
	if (result < 0 && result != -ENOENT)
		err = error_system(error, -result, "can't read %s, which names the last acknowledged turn", path);
	else if (result == 0 && zeros < text.len &&
		 (text.len != DIGITS + 1 || !text_parse_u64(slice_make(text.data, DIGITS), ret_turn)))
		err = error_set(error, ERR_STORE, "%s doesn't contain the number of a turn", path);
	if (err != ERR_NONE)
		error_next(error, "ls -ld %s", path);
	buf_free(&text);
	return err;
}

enum err mark_agrees(const char *database_path, uint64_t turn, struct error *error)
{
	char path[PATH_MAX];
	uint64_t acknowledged;
	enum err err = read_mark(path_of(database_path, path), &acknowledged, error);

	if (err != ERR_NONE || acknowledged <= turn)
		return err;
	error_set(error, ERR_STORE_TRUST, "the store %s ends with turn %" PRIu64 ", but turn %" PRIu64 " was acknowledged: somebody damaged, emptied or replaced the store or its write-ahead log", database_path, turn, acknowledged);
	if (turn == 0)                   /* an empty store has no turns, so it can't have those up to the mark */
		return store_hint(database_path, error);
	return error_next(error, "titan restore FILE with a backup; or, to go on without the lost turns, titan "
		"restore %s",
			  database_path);
}

enum err mark_remove(const char *database_path, struct error *error)
{
	char path[PATH_MAX];

	if (unlink(path_of(database_path, path)) == 0 || errno == ENOENT)
		return ERR_NONE;
	return error_system(error, errno, "can't remove %s", path);
}
