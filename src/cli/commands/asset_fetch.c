/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Downloads: reads the contents of a version, several requests ahead, checks each by its hash, and lets the file or directory
 * appear under its name only when it is whole.
 */
#include "cli/commands/asset.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/rand.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/session/output.h"
#include "goods/folder.h"
#include "proto/limits.h"

#define AHEAD_MAX 8                      /* most unanswered requests */
#define ANSWER_MS 60000

struct wanted {                          /* a content to fetch */
	const uint8_t *hash;
	uint64_t size;
	const struct manifest_entry *entry;      /* its file in the directory; NULL: the only file, or the manifest */
};

struct fetch {
	struct cli *cli;
	const struct wanted *wanted;
	size_t count;
	size_t ask_at, take_at;          /* the content that is asked for next, and the one whose answer comes next */
	uint64_t ask_offset, take_offset;
	size_t ahead;
	uint64_t id;
	int dir_fd, fd;                  /* the new directory; the file that is being written, -1: none */
	struct buf *memory;              /* where to put the content instead of into a file; NULL: into files */
	bool print;                      /* print the content on standard output */
	struct sha256 hash;
};

/* ---- one content after the other ---- */

static enum err write_failed(struct fetch *fetch, int number)
{
	const struct manifest_entry *entry = fetch->wanted[fetch->take_at].entry;
	struct buf shown = { 0 };

	if (entry)
		text_escape(&shown, entry->path, TEXT_KEEP_NONE);
	error_system(&fetch->cli->error, number, "can't write %.300s", entry ? buf_cstr(&shown) : "the file");
	buf_free(&shown);
	return fetch->cli->error.code;
}

static enum err content_begin(struct fetch *fetch)
{
	const struct wanted *wanted = &fetch->wanted[fetch->take_at];

	if (wanted->entry) {
		int fd = folder_create(fetch->dir_fd, wanted->entry);

		if (fd < 0)
			return write_failed(fetch, -fd);
		fetch->fd = fd;
	}
	sha256_init(&fetch->hash);
	return ERR_NONE;
}

static enum err content_end(struct fetch *fetch)
{
	const struct wanted *wanted = &fetch->wanted[fetch->take_at];
	uint8_t digest[SHA256_SIZE];
	char text[SHA256_TEXT_SIZE];
	int result = 0;

	sha256_end(&fetch->hash, digest);
	if (wanted->entry) {
		result = close(fetch->fd);
		fetch->fd = -1;
	}
	if (result < 0)
		return write_failed(fetch, errno);
	fetch->take_at++;
	fetch->take_offset = 0;
	if (memcmp(digest, wanted->hash, SHA256_SIZE) == 0)
		return ERR_NONE;
	sha256_text(wanted->hash, text);
	return error_set(&fetch->cli->error, ERR_DAMAGED, "the content %s is damaged on the master's disk", text);
}

static enum err take_data(struct fetch *fetch, const struct msg_goods_data *data)
{
	const struct wanted *wanted = &fetch->wanted[fetch->take_at];
	struct buf copy = { 0 };
	enum err err = ERR_NONE;
	int result = 0;

	if (data->size != wanted->size || data->offset != fetch->take_offset || data->data.len == 0 ||
	    data->data.len > wanted->size - fetch->take_offset)
		return error_set(&fetch->cli->error, ERR_INTERNAL, "the master sent another piece than it was asked for");
	if (fetch->take_offset == 0)
		err = content_begin(fetch);
	if (err != ERR_NONE)
		return err;
	sha256_add(&fetch->hash, data->data);
	if (fetch->memory) {
		buf_add_slice(fetch->memory, data->data);
	} else if (fetch->print) {
		buf_add_slice(&copy, data->data);
		cli_print(fetch->cli, &copy);
		buf_free(&copy);
	} else {
		result = io_write_all(fetch->fd, data->data.data, data->data.len);
	}
	if (result < 0)
		return write_failed(fetch, -result);
	fetch->take_offset += data->data.len;
	return fetch->take_offset < wanted->size ? ERR_NONE : content_end(fetch);
}

/* Make the empty contents that come next, for which nothing is asked. */
static enum err take_empty(struct fetch *fetch)
{
	enum err err = ERR_NONE;

	while (err == ERR_NONE && fetch->take_at < fetch->count && fetch->wanted[fetch->take_at].size == 0) {
		err = content_begin(fetch);
		if (err == ERR_NONE)
			err = content_end(fetch);
	}
	return err;
}

/* ---- requests ---- */

static enum err ask_ahead(struct fetch *fetch)
{
	while (fetch->ahead < AHEAD_MAX && fetch->ask_at < fetch->count) {
		const struct wanted *wanted = &fetch->wanted[fetch->ask_at];
		struct msg_goods_read read = { .hash = slice_make(wanted->hash, SHA256_SIZE), .offset = fetch->ask_offset };

		fetch->ask_offset += LIMIT_GOODS_CHUNK;
		if (fetch->ask_offset >= wanted->size) {
			fetch->ask_at++;
			fetch->ask_offset = 0;
		}
		if (wanted->size == 0)
			continue;
		if (cli_send(fetch->cli, OP_GOODS_READ, &read, fetch->id) != ERR_NONE)
			return fetch->cli->error.code;
		fetch->ahead++;
	}
	return client_flush(fetch->cli->client, &fetch->cli->error);
}

static enum err fetch_all(struct fetch *fetch)
{
	enum err err = take_empty(fetch);

	fetch->id = client_next_id(fetch->cli->client);
	while (err == ERR_NONE && fetch->take_at < fetch->count) {
		struct arena arena = { 0 };
		struct msg_goods_data data;

		err = ask_ahead(fetch);
		if (err == ERR_NONE)
			err = cli_answer(fetch->cli, fetch->id, OP_GOODS_DATA, &arena, &data);
		fetch->ahead--;
		if (err == ERR_NONE)
			err = take_data(fetch, &data);
		if (err == ERR_NONE)
			err = take_empty(fetch);
		arena_free(&arena);
	}
	if (fetch->hash.context)
		sha256_drop(&fetch->hash);
	return err;
}

/* ---- the place ---- */

static void temporary_of(const char *path, char out[PATH_MAX])
{
	uint32_t unique;
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	rand_system(&unique, sizeof(unique));
	snprintf(out, PATH_MAX, "%.*s.%08x.part", (int)len, path, unique);
}

static enum err place_failed(struct cli *cli, int number, const char *path)
{
	struct buf shown = { 0 };

	text_escape(&shown, slice_str(path), TEXT_KEEP_NONE);
	if (number == EEXIST || number == ENOTEMPTY) {
		error_set(&cli->error, ERR_USAGE, "%.300s exists already, and titan doesn't replace it", buf_cstr(&shown));
		error_next(&cli->error, "another name after -o, or for a file --force");
	} else {
		error_system(&cli->error, number, "can't make %.300s", buf_cstr(&shown));
	}
	buf_free(&shown);
	return cli->error.code;
}

static enum err check_free(struct cli *cli, const char *path, bool replace)
{
	struct stat found;

	if (strlen(path) > PATH_MAX - 32)
		return place_failed(cli, ENAMETOOLONG, path);
	if (lstat(path, &found) < 0)
		return errno == ENOENT ? ERR_NONE : place_failed(cli, errno, path);
	return replace && S_ISREG(found.st_mode) ? ERR_NONE : place_failed(cli, EEXIST, path);
}

static enum err fetch_file(struct cli *cli, const struct rec_asset_row *row, const char *path, bool replace)
{
	const struct wanted wanted = { .hash = row->hash.data, .size = row->size };
	struct fetch fetch = { .cli = cli, .wanted = &wanted, .count = 1, .fd = -1, .print = strcmp(path, "-") == 0 };
	char temporary[PATH_MAX];
	enum err err;

	if (fetch.print)
		return fetch_all(&fetch);
	if (check_free(cli, path, replace) != ERR_NONE)
		return cli->error.code;
	temporary_of(path, temporary);
	fetch.fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, row->kind == ASSET_PROGRAM ? 0777 : 0666);
	if (fetch.fd < 0)
		return place_failed(cli, errno, path);
	err = fetch_all(&fetch);
	if (close(fetch.fd) < 0 && err == ERR_NONE)
		err = place_failed(cli, errno, path);
	if (err == ERR_NONE && renameat2(AT_FDCWD, temporary, AT_FDCWD, path, replace ? 0 : RENAME_NOREPLACE) < 0)
		err = place_failed(cli, errno, path);
	if (err != ERR_NONE)
		unlink(temporary);
	return err;
}

enum err asset_fetch_manifest(struct cli *cli, struct slice hash, struct buf *bytes, struct arena *arena, struct manifest *ret)
{
	struct msg_goods_read read = { .hash = hash, .limit = 1 };
	struct fetch fetch = { .cli = cli, .count = 1, .fd = -1, .memory = bytes };
	struct wanted wanted = { .hash = hash.data };
	struct msg_goods_data data;
	enum err err = cli_call(cli, OP_GOODS_READ, &read, OP_GOODS_DATA, arena, &data);

	if (err != ERR_NONE)
		return err;
	if (data.size > LIMIT_MANIFEST_MAX)
		return error_set(&cli->error, ERR_TOO_LARGE, "the directory's manifest has more than %d bytes", LIMIT_MANIFEST_MAX);
	wanted.size = data.size;
	fetch.wanted = &wanted;
	err = fetch_all(&fetch);
	return err == ERR_NONE ? manifest_read(buf_slice(bytes), arena, ret, &cli->error) : err;
}

static enum err fill_dir(struct cli *cli, const struct manifest *manifest, int dir_fd)
{
	struct wanted *wanted = mem_zalloc((manifest->count + 1) * sizeof(*wanted));
	struct fetch fetch = { .cli = cli, .wanted = wanted, .dir_fd = dir_fd, .fd = -1 };
	enum err err = folder_make_dirs(dir_fd, manifest, &cli->error);

	for (size_t i = 0; i < manifest->count; i++) {
		const struct manifest_entry *entry = &manifest->at[i];

		if (entry->kind == ENTRY_FILE || entry->kind == ENTRY_PROGRAM)
			wanted[fetch.count++] = (struct wanted){ entry->hash, entry->size, entry };
	}
	if (err == ERR_NONE)
		err = fetch_all(&fetch);
	if (err == ERR_NONE)
		err = folder_make_links(dir_fd, manifest, &cli->error);
	if (fetch.fd >= 0)
		close(fetch.fd);
	mem_free(wanted);
	return err;
}

enum err asset_fetch_entries(struct cli *cli, const struct manifest *manifest, const char *path)
{
	char temporary[PATH_MAX];
	enum err err = check_free(cli, path, false);
	int dir_fd = -1;

	if (err != ERR_NONE)
		return err;
	temporary_of(path, temporary);
	if (mkdir(temporary, 0777) < 0 || (dir_fd = open(temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) < 0)
		err = place_failed(cli, errno, path);
	else
		err = fill_dir(cli, manifest, dir_fd);
	if (err == ERR_NONE && renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) < 0)
		err = place_failed(cli, errno, path);
	if (err != ERR_NONE && dir_fd >= 0)
		io_remove_tree(AT_FDCWD, temporary);
	if (dir_fd >= 0)
		close(dir_fd);
	return err;
}

static enum err fetch_dir(struct cli *cli, const struct rec_asset_row *row, const char *path)
{
	struct manifest manifest;
	struct arena arena = { 0 };
	struct buf bytes = { 0 };
	enum err err = check_free(cli, path, false);

	if (err == ERR_NONE)
		err = asset_fetch_manifest(cli, row->hash, &bytes, &arena, &manifest);
	if (err == ERR_NONE)
		err = asset_fetch_entries(cli, &manifest, path);
	buf_free(&bytes);
	arena_free(&arena);
	return err;
}

enum err asset_fetch(struct cli *cli, const struct rec_asset_row *row, const char *path, bool replace)
{
	if (row->kind != ASSET_DIR)
		return fetch_file(cli, row, path, replace);
	if (strcmp(path, "-") != 0)
		return fetch_dir(cli, row, path);
	error_set(&cli->error, ERR_USAGE, "%.*s is a directory, which can't be written to standard output", (int)row->asset.len,
		  (const char *)row->asset.data);
	return error_next(&cli->error, "titan asset get -o DIR");
}
