/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Uploads: asks which contents the master lacks, sends small files in packs and large ones in pieces, several ahead of the
 * answers. After a lost connection it asks again, so what has arrived isn't sent twice.
 */
#include "cli/commands/asset.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/session/output.h"
#include "goods/folder.h"
#include "proto/limits.h"

#define AHEAD_MAX 8                      /* most unanswered pieces and packs */
#define ANSWER_MS 600000                 /* the master syncs a large file before it answers */
#define AGAIN_MS 30000                   /* how long to wait for the master after a lost connection */
#define TRIES_MAX 1000                   /* most times that an upload is begun anew, while two clients send the same file */

struct content {                         /* a content to send */
	uint8_t hash[SHA256_SIZE];
	uint64_t size, offset;           /* offset: how much the master has */
	struct slice path;               /* in the directory; empty: the manifest, or the only file */
	bool lacks;
};

struct upload_state {
	struct cli *cli;
	const struct asset_source *source;
	struct content *contents;
	size_t count;
	uint64_t id;                     /* all requests of one try have it */
	size_t ahead;                    /* unanswered requests */
	bool overtaken;                  /* the master refused a piece because another command sends the same file */
	uint64_t sent;
	struct arena arena;              /* small files of the pack that is being filled */
	struct rec_goods_small *pack;
	size_t packed, pack_bytes;
};

/* ---- reading ---- */

static enum err read_file(struct cli *cli, struct asset_source *source, const struct stat *found)
{
	struct folder_mark mark;

	source->kind = found->st_mode & S_IXUSR ? ASSET_PROGRAM : ASSET_FILE;
	if (folder_hash_file(source->fd, source->path, source->hash, &mark, &cli->error) != ERR_NONE)
		return cli->error.code;
	source->bytes = mark.size;
	source->files = 1;
	return ERR_NONE;
}

static enum err read_dir(struct cli *cli, struct asset_source *source)
{
	struct folder folder;
	enum err err = folder_read(source->fd, source->path, &source->arena, &folder, &cli->error);

	source->manifest = folder.manifest;
	source->kind = ASSET_DIR;
	if (err == ERR_NONE)
		err = manifest_write(&source->manifest, &source->manifest_bytes, &cli->error);
	if (err != ERR_NONE)
		return err;
	sha256_of(buf_slice(&source->manifest_bytes), source->hash);
	manifest_sum(&source->manifest, &source->bytes, &source->files);
	return ERR_NONE;
}

enum err asset_read(struct cli *cli, const char *path, struct asset_source *ret)
{
	struct buf shown = { 0 };
	struct stat found;

	*ret = (struct asset_source){ .path = path };
	ret->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (ret->fd < 0 || fstat(ret->fd, &found) < 0) {
		int number = errno;

		text_escape(&shown, slice_str(path), TEXT_KEEP_NONE);
		error_system(&cli->error, number, "can't read %.300s", buf_cstr(&shown));
		buf_free(&shown);
		return cli->error.code;
	}
	return S_ISDIR(found.st_mode) ? read_dir(cli, ret) : read_file(cli, ret, &found);
}

void asset_source_free(struct asset_source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	mem_free(source->manifest.at);
	buf_free(&source->manifest_bytes);
	arena_free(&source->arena);
}

/* ---- what to send ---- */

static void content_add(struct upload_state *state, struct name_map *known, const uint8_t hash[SHA256_SIZE], uint64_t size, struct slice path)
{
	struct content *content = &state->contents[state->count];

	if (name_map_get(known, slice_make(hash, SHA256_SIZE)))
		return;
	*content = (struct content){ .size = size, .path = path };
	memcpy(content->hash, hash, SHA256_SIZE);
	name_map_put(known, slice_make(content->hash, SHA256_SIZE), content);
	state->count++;
}

/* List the contents, each once; the manifest comes last. */
static void list_contents(struct upload_state *state)
{
	const struct asset_source *source = state->source;
	struct name_map known = { 0 };

	state->contents = mem_zalloc((source->manifest.count + 1) * sizeof(*state->contents));
	for (size_t i = 0; i < source->manifest.count; i++) {
		const struct manifest_entry *entry = &source->manifest.at[i];

		if (entry->kind == ENTRY_FILE || entry->kind == ENTRY_PROGRAM)
			content_add(state, &known, entry->hash, entry->size, entry->path);
	}
	content_add(state, &known, source->hash, source->kind == ASSET_DIR ? source->manifest_bytes.len : source->bytes, (struct slice){ 0 });
	name_map_free(&known);
}

static enum err ask_some(struct upload_state *state, size_t first, size_t count)
{
	struct arena arena = { 0 };
	struct rec_goods_item *items = arena_zalloc(&arena, count, sizeof(*items));
	struct msg_goods_have have = { .items = { items, count } };
	struct msg_goods_has has;
	enum err err;

	for (size_t i = 0; i < count; i++)
		items[i] = (struct rec_goods_item){ slice_make(state->contents[first + i].hash, SHA256_SIZE), state->contents[first + i].size };
	err = cli_call(state->cli, OP_GOODS_HAVE, &have, OP_GOODS_HAS, &arena, &has);
	if (err == ERR_NONE && has.offsets.n != count)
		err = error_set(&state->cli->error, ERR_INTERNAL, "the master answered about %zu contents instead of %zu", has.offsets.n, count);
	for (size_t i = 0; err == ERR_NONE && i < count; i++) {
		struct content *content = &state->contents[first + i];

		content->lacks = has.offsets.at[i] != 0;
		content->offset = content->lacks ? has.offsets.at[i] - 1 : 0;
		if (content->offset > content->size || (content->offset == content->size && content->size > 0))
			content->offset = 0;
	}
	arena_free(&arena);
	return err;
}

static enum err ask_all(struct upload_state *state)
{
	enum err err = ERR_NONE;

	for (size_t at = 0; at < state->count && err == ERR_NONE; at += LIMIT_GOODS_ITEMS_MAX)
		err = ask_some(state, at, state->count - at < LIMIT_GOODS_ITEMS_MAX ? state->count - at : LIMIT_GOODS_ITEMS_MAX);
	return err;
}

/* ---- requests and answers ---- */

/* Wait until at most so many requests are unanswered. */
static enum err settle(struct upload_state *state, size_t most)
{
	struct cli *cli = state->cli;

	while (state->ahead > most) {
		struct msg_goods_stored stored;
		struct incoming frame;
		struct arena arena = { 0 };
		enum err err = cli_receive(cli, clock_mono_ns() + ANSWER_MS * NS_PER_MS, &frame);

		if (err == ERR_PENDING) {
			error_set(&cli->error, ERR_TIMEOUT, "the master doesn't confirm the upload; is it stopped, or its disk full?");
			return error_next(&cli->error, "titan status");
		}
		if (err == ERR_NONE && frame.op == OP_ERROR)
			state->overtaken = (err = cli_take_error(cli, &frame, state->id)) == ERR_CHANGED;
		else if (err == ERR_NONE && frame.op == OP_GOODS_STORED &&
			 (err = message_decode(OP_GOODS_STORED, frame.body, &arena, &stored, &cli->error)) == ERR_NONE)
			state->ahead -= stored.id == state->id;
		arena_free(&arena);
		if (err != ERR_NONE)
			return err;
	}
	return ERR_NONE;
}

static enum err send_one(struct upload_state *state, enum opcode op, void *msg, uint64_t bytes)
{
	enum err err = settle(state, AHEAD_MAX - 1);

	if (err == ERR_NONE)
		err = cli_send(state->cli, op, msg, state->id);
	if (err == ERR_NONE)
		err = client_flush(state->cli->client, &state->cli->error);
	state->ahead++;
	state->sent += bytes;
	return err;
}

static enum err pack_send(struct upload_state *state)
{
	struct msg_goods_pack pack = { .items = { state->pack, state->packed } };
	enum err err = state->packed > 0 ? send_one(state, OP_GOODS_PACK, &pack, state->pack_bytes) : ERR_NONE;

	state->packed = 0;
	state->pack_bytes = 0;
	arena_reset(&state->arena);
	return err;
}

/* ---- files ---- */

static enum err file_failed(struct upload_state *state, const struct content *content, int number)
{
	struct buf shown = { 0 };

	text_escape(&shown, slice_str(state->source->path), TEXT_KEEP_NONE);
	if (content->path.len > 0) {
		buf_add_byte(&shown, '/');
		text_escape(&shown, content->path, TEXT_KEEP_NONE);
	}
	if (number != 0)
		error_system(&state->cli->error, number, "can't read %.300s", buf_cstr(&shown));
	else
		error_set(&state->cli->error, ERR_CHANGED, "%.300s: the file changed while it was read; try again when nothing writes to it", buf_cstr(&shown));
	buf_free(&shown);
	return state->cli->error.code;
}

/* Read exactly so many bytes of a content. */
static enum err read_piece(struct upload_state *state, const struct content *content, int fd, uint64_t offset, uint8_t *bytes, size_t len)
{
	size_t at = 0;

	if (fd < 0) {
		memcpy(bytes, state->source->manifest_bytes.data + offset, len);
		return ERR_NONE;
	}
	while (at < len) {
		ssize_t got = pread(fd, bytes + at, len - at, (off_t)(offset + at));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return file_failed(state, content, got < 0 ? errno : 0);
		at += (size_t)got;
	}
	return ERR_NONE;
}

static enum err send_small(struct upload_state *state, const struct content *content, int fd)
{
	uint8_t *bytes, digest[SHA256_SIZE];
	enum err err = ERR_NONE;

	if (state->packed == LIMIT_GOODS_ITEMS_MAX || state->pack_bytes + content->size > LIMIT_GOODS_PACK_MAX)
		err = pack_send(state);
	if (err != ERR_NONE)
		return err;
	bytes = arena_alloc(&state->arena, content->size + 1);
	err = read_piece(state, content, fd, 0, bytes, (size_t)content->size);
	if (err != ERR_NONE)
		return err;
	sha256_of(slice_make(bytes, (size_t)content->size), digest);
	if (memcmp(digest, content->hash, SHA256_SIZE) != 0)
		return file_failed(state, content, 0);
	state->pack[state->packed++] = (struct rec_goods_small){ slice_make(content->hash, SHA256_SIZE), slice_make(bytes, (size_t)content->size) };
	state->pack_bytes += content->size;
	return ERR_NONE;
}

static enum err send_large(struct upload_state *state, const struct content *content, int fd)
{
	uint8_t *bytes = mem_alloc(LIMIT_GOODS_CHUNK);
	uint64_t offset = content->offset;
	enum err err = ERR_NONE;

	while (err == ERR_NONE && offset < content->size) {
		size_t len = content->size - offset < LIMIT_GOODS_CHUNK ? (size_t)(content->size - offset) : LIMIT_GOODS_CHUNK;
		struct msg_goods_put put = {
			.hash = slice_make(content->hash, SHA256_SIZE), .size = content->size, .offset = offset, .data = slice_make(bytes, len),
		};

		err = read_piece(state, content, fd, offset, bytes, len);
		if (err == ERR_NONE)
			err = send_one(state, OP_GOODS_PUT, &put, len);
		offset += len;
	}
	mem_free(bytes);
	/* The master answers before the next file, so that an error is about this one. */
	if (err == ERR_NONE)
		err = settle(state, 0);
	if (err == ERR_INVALID)
		err = file_failed(state, content, 0);
	return err;
}

static enum err send_content(struct upload_state *state, const struct content *content)
{
	const struct asset_source *source = state->source;
	bool inside = content->path.len > 0;
	int fd = inside ? folder_open(source->fd, content->path) : source->kind == ASSET_DIR ? -1 : source->fd;
	enum err err;

	if (inside && fd < 0)
		return file_failed(state, content, -fd);
	err = content->size <= LIMIT_GOODS_SMALL ? send_small(state, content, fd) : send_large(state, content, fd);
	if (inside)
		close(fd);
	return err;
}

static enum err send_lacking(struct upload_state *state)
{
	enum err err = ask_all(state);

	state->id = err == ERR_NONE ? client_next_id(state->cli->client) : 0;
	state->ahead = 0;
	state->overtaken = false;
	state->packed = 0;
	state->pack_bytes = 0;
	for (size_t i = 0; i < state->count && err == ERR_NONE; i++)
		if (state->contents[i].lacks)
			err = send_content(state, &state->contents[i]);
	if (err == ERR_NONE)
		err = pack_send(state);
	if (err == ERR_NONE)
		err = settle(state, 0);
	return err;
}

enum err asset_send(struct cli *cli, const struct asset_source *source, uint64_t *ret_sent)
{
	struct upload_state state = { .cli = cli, .source = source };
	enum err err;

	state.pack = mem_zalloc(LIMIT_GOODS_ITEMS_MAX * sizeof(*state.pack));
	list_contents(&state);
	err = send_lacking(&state);
	for (int tries = 0; tries < TRIES_MAX; tries++) {
		if (err == ERR_UNREACHABLE) {
			if (tries == 0)
				cli_note(cli, "the connection to the master was lost; waiting for the master, then the upload goes on");
			if (cli_reconnect(cli, AGAIN_MS) != ERR_NONE)
				break;
		} else if (!state.overtaken) {
			break;
		}
		err = send_lacking(&state);
	}
	*ret_sent = state.sent;
	arena_free(&state.arena);
	mem_free(state.pack);
	mem_free(state.contents);
	return err;
}
