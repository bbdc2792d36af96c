/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * See stage.h. An attempt whose contents are all in the cache is placed at once. Otherwise it waits for fetches, each of one content,
 * which attempts share. Requests are answered in order, so the list of what was asked says what an answer is about.
 */
#include "worker/stage_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"

static struct slice key_of(const uint8_t hash[SHA256_SIZE])
{
	return slice_make(hash, SHA256_SIZE);
}

/* ---- attempts ---- */

static struct staging *staging_find(const struct stager *stager, uint64_t job, uint64_t epoch)
{
	struct staging *staging = stager->first;

	while (staging && (staging->job != job || staging->epoch != epoch))
		staging = staging->next;
	return staging;
}

static void unpin_all(struct staging *staging)
{
	for (size_t i = 0; i < staging->pin_count; i++)
		cache_unpin(staging->pins[i]);
	staging->pin_count = 0;
}

void staging_pin(struct staging *staging, struct cached *cached)
{
	if (staging->pin_count == staging->pin_cap) {
		staging->pin_cap = staging->pin_cap ? 2 * staging->pin_cap : 8;
		staging->pins = mem_resize(staging->pins, staging->pin_cap, sizeof(struct cached *));
	}
	cache_pin(cached);
	staging->pins[staging->pin_count++] = cached;
}

static void fetch_free(struct stager *stager, struct fetch *fetch)
{
	for (struct asked *asked = stager->asked; asked; asked = asked->next)
		if (asked->fetch == fetch)
			asked->fetch = NULL;     /* its answer is dropped */
	name_map_remove(&stager->fetches, key_of(fetch->hash));
	*(fetch->prev ? &fetch->prev->next : &stager->fetch_first) = fetch->next;
	*(fetch->next ? &fetch->next->prev : &stager->fetch_last) = fetch->prev;
	mem_free(fetch);
}

static void waiter_remove(struct waiter **at)
{
	struct waiter *waiter = *at;

	*at = waiter->next;
	waiter->staging->lacking--;
	mem_free(waiter);
}

/* The attempt waits for nothing any more. A fetch for which nobody waits is given up. */
static void stop_waiting(struct stager *stager, struct staging *staging)
{
	struct fetch *next;

	for (struct fetch *fetch = stager->fetch_first; fetch && staging->lacking > 0; fetch = next) {
		struct waiter **at = &fetch->waiters;

		next = fetch->next;
		while (*at && (*at)->staging != staging)
			at = &(*at)->next;
		if (*at)
			waiter_remove(at);
		if (!fetch->waiters)
			fetch_free(stager, fetch);
	}
}

static void staging_free(struct stager *stager, struct staging *staging)
{
	stop_waiting(stager, staging);
	unpin_all(staging);
	*(staging->prev ? &staging->prev->next : &stager->first) = staging->next;
	if (staging->next)
		staging->next->prev = staging->prev;
	mem_free(staging->pins);
	arena_free(&staging->arena);
	mem_free(staging);
}

/* The attempt is staged, or can't be. */
static void staging_end(struct stager *stager, struct staging *staging, int fault)
{
	uint64_t job = staging->job, epoch = staging->epoch;

	staging_free(stager, staging);
	stager->options.staged_cb(stager->options.arg, job, epoch, fault);
}

/* ---- what an attempt lacks ---- */

static void want(struct stager *stager, struct staging *staging, const uint8_t root[SHA256_SIZE], const uint8_t hash[SHA256_SIZE], uint64_t size)
{
	struct fetch *fetch = name_map_get(&stager->fetches, key_of(hash));
	struct waiter *waiter;

	for (waiter = fetch ? fetch->waiters : NULL; waiter; waiter = waiter->next)
		if (waiter->staging == staging)
			return;
	if (!fetch) {
		fetch = mem_zalloc(sizeof(*fetch));
		memcpy(fetch->hash, hash, SHA256_SIZE);
		fetch->size = size;
		fetch->asked = cache_arrived(stager->cache, hash);
		name_map_put(&stager->fetches, key_of(fetch->hash), fetch);
		fetch->prev = stager->fetch_last;
		*(stager->fetch_last ? &stager->fetch_last->next : &stager->fetch_first) = fetch;
		stager->fetch_last = fetch;
	}
	waiter = mem_zalloc(sizeof(*waiter));
	waiter->staging = staging;
	memcpy(waiter->root, root, SHA256_SIZE);
	waiter->next = fetch->waiters;
	fetch->waiters = waiter;
	staging->lacking++;
}

static void find_or_want(struct stager *stager, struct staging *staging, const uint8_t root[SHA256_SIZE], const uint8_t hash[SHA256_SIZE], uint64_t size)
{
	struct cached *cached = cache_find(stager->cache, hash, size);

	if (cached)
		staging_pin(staging, cached);
	else
		want(stager, staging, root, hash, size);
}

/* Look for the files of a directory whose manifest is in the cache. Returns 0 or -errno. */
static int look_inside(struct stager *stager, struct staging *staging, const struct rec_input *input, const struct cached *cached)
{
	struct manifest manifest;
	struct arena arena = { 0 };
	struct buf bytes = { 0 };
	struct error error;
	int result = cache_read(stager->cache, cached, &bytes);

	if (result == 0 && manifest_read(buf_slice(&bytes), &arena, &manifest, &error) != ERR_NONE)
		result = -EBADMSG;
	for (size_t i = 0; result == 0 && i < manifest.count; i++)
		if (manifest.at[i].kind == ENTRY_FILE || manifest.at[i].kind == ENTRY_PROGRAM)
			find_or_want(stager, staging, input->hash.data, manifest.at[i].hash, manifest.at[i].size);
	arena_free(&arena);
	buf_free(&bytes);
	return result;
}

/* Find out what the attempt lacks; if nothing, place its files. The pins of before keep what has arrived for it. */
static void look(struct stager *stager, struct staging *staging)
{
	struct cached **old = staging->pins;
	size_t old_count = staging->pin_count;
	int result = 0;

	staging->pins = NULL;
	staging->pin_count = staging->pin_cap = 0;
	for (size_t i = 0; result == 0 && i < staging->input_count; i++) {
		const struct rec_input *input = &staging->inputs[i];
		struct cached *cached = cache_find(stager->cache, input->hash.data, input->size);

		find_or_want(stager, staging, input->hash.data, input->hash.data, input->size);
		if (cached && input->kind == ASSET_DIR)
			result = look_inside(stager, staging, input, cached);
	}
	for (size_t i = 0; i < old_count; i++)
		cache_unpin(old[i]);
	mem_free(old);
	if (result == 0 && staging->lacking > 0)
		return;
	if (result == 0)
		result = stage_place(stager, staging);
	staging_end(stager, staging, -result);
}

/* ---- asking ---- */

static void asked_add(struct stager *stager, const struct msg_stage_read *msg, struct fetch *fetch)
{
	struct asked *asked = mem_zalloc(sizeof(*asked));

	asked->id = msg->id;
	asked->job = msg->job;
	asked->epoch = msg->epoch;
	asked->fetch = fetch;
	asked->offset = fetch->asked;
	*(stager->asked_last ? &stager->asked_last->next : &stager->asked) = asked;
	stager->asked_last = asked;
}

static bool is_all_asked(const struct fetch *fetch)
{
	return fetch->began && fetch->asked >= fetch->size;
}

/* Ask for the next piece of this content, and, if it is small, for others of the same input as well. */
static void ask(struct stager *stager, struct fetch *fetch)
{
	const struct waiter *waiter = fetch->waiters;
	uint8_t hashes[LIMIT_STAGE_HASHES_MAX * SHA256_SIZE];
	struct msg_stage_read msg = {
		.id = ++stager->last_id, .job = waiter->staging->job, .epoch = waiter->staging->epoch,
		.input = key_of(waiter->root), .hashes = slice_make(hashes, 0), .offset = fetch->asked,
	};
	uint64_t bytes = 0;

	while (fetch && msg.hashes.len < sizeof(hashes)) {
		uint64_t left = fetch->size - fetch->asked;

		memcpy(hashes + msg.hashes.len, fetch->hash, SHA256_SIZE);
		msg.hashes.len += SHA256_SIZE;
		asked_add(stager, &msg, fetch);
		left = left < LIMIT_GOODS_CHUNK ? left : LIMIT_GOODS_CHUNK;
		fetch->asked += left;
		fetch->began = true;
		bytes += left;
		/* The next one that is small, not begun, and wanted by the same attempt for the same input. */
		do
			fetch = fetch->next;
		while (fetch && (fetch->began || fetch->asked > 0 || fetch->size > LIMIT_GOODS_SMALL || fetch->waiters->staging != waiter->staging ||
				 memcmp(fetch->waiters->root, waiter->root, SHA256_SIZE) != 0));
		if (fetch && bytes + fetch->size > LIMIT_GOODS_CHUNK)
			break;
	}
	stager->requests++;
	stager->options.ask_cb(stager->options.arg, &msg);
}

static void pump(struct stager *stager)
{
	struct fetch *fetch = stager->fetch_first;

	while (stager->online && stager->requests < REQUESTS_MAX && fetch) {
		if (is_all_asked(fetch))
			fetch = fetch->next;
		else
			ask(stager, fetch);
	}
}

/* Take the oldest question from the list if it has this id. The last question of a request ends it. */
static bool asked_take(struct stager *stager, uint64_t id, struct asked *ret)
{
	struct asked *asked = stager->asked;

	if (!asked || asked->id != id)
		return false;
	*ret = *asked;
	stager->asked = asked->next;
	if (!stager->asked)
		stager->asked_last = NULL;
	if (!stager->asked || stager->asked->id != id)
		stager->requests--;
	mem_free(asked);
	return true;
}

/* ---- answers ---- */

/* The content is in the cache: keep it for those who wait, and look what else each lacks. */
static void fetched(struct stager *stager, struct fetch *fetch)
{
	struct cached *cached = cache_find(stager->cache, fetch->hash, fetch->size);

	while (fetch->waiters) {
		struct staging *staging = fetch->waiters->staging;

		if (cached)
			staging_pin(staging, cached);
		waiter_remove(&fetch->waiters);
		if (staging->lacking == 0) {
			staging->next_ready = stager->ready;
			stager->ready = staging;
		}
	}
	fetch_free(stager, fetch);
	while (stager->ready) {
		struct staging *staging = stager->ready;

		stager->ready = staging->next_ready;
		look(stager, staging);
	}
}

/* The content can't be had: end the attempts that wait for it. */
static void fetch_failed(struct stager *stager, struct fetch *fetch, int fault)
{
	/* The last one takes the fetch with it. */
	for (bool last = false; !last;) {
		last = !fetch->waiters->next;
		staging_end(stager, fetch->waiters->staging, fault);
	}
}

void stager_data(struct stager *stager, const struct msg_goods_data *data)
{
	struct asked asked;
	int result;

	if (!asked_take(stager, data->id, &asked))
		return;
	if (asked.fetch) {
		struct fetch *fetch = asked.fetch;
		uint64_t left = fetch->size - asked.offset;

		if (data->size != fetch->size || data->offset != asked.offset || data->data.len != (left < LIMIT_GOODS_CHUNK ? left : LIMIT_GOODS_CHUNK))
			result = -EBADMSG;
		else
			result = cache_add(stager->cache, fetch->hash, fetch->size, data->offset, data->data);
		if (result > 0)
			fetched(stager, fetch);
		else if (result < 0)
			fetch_failed(stager, fetch, -result);
	}
	pump(stager);
}

static bool waits(const struct fetch *fetch, const struct staging *staging)
{
	const struct waiter *waiter = fetch->waiters;

	while (waiter && waiter->staging != staging)
		waiter = waiter->next;
	return waiter != NULL;
}

/* The attempt in whose name the content was asked for is gone, or the content is. Ask again for the others, if there are some. */
static void fetch_refused(struct stager *stager, const struct asked *refused, int fault)
{
	struct staging *staging = staging_find(stager, refused->job, refused->epoch);

	refused->fetch->began = false;
	refused->fetch->asked = cache_arrived(stager->cache, refused->fetch->hash);
	for (struct asked *asked = stager->asked; asked; asked = asked->next)
		if (asked->fetch == refused->fetch)
			asked->fetch = NULL;
	if (staging && waits(refused->fetch, staging))
		staging_end(stager, staging, fault);
}

void stager_refused(struct stager *stager, uint64_t id, enum err code)
{
	int fault = code == ERR_NOT_FOUND ? ENOENT : EIO;
	struct asked asked;

	while (asked_take(stager, id, &asked))
		if (asked.fetch)
			fetch_refused(stager, &asked, fault);
	pump(stager);
}

void stager_online(struct stager *stager, bool online)
{
	struct asked *next;

	stager->online = online;
	for (struct asked *asked = stager->asked; asked; asked = next) {
		next = asked->next;
		mem_free(asked);
	}
	stager->asked = stager->asked_last = NULL;
	stager->requests = 0;
	for (struct fetch *fetch = stager->fetch_first; fetch; fetch = fetch->next) {
		fetch->began = false;
		fetch->asked = cache_arrived(stager->cache, fetch->hash);
	}
	pump(stager);
}

/* ---- from outside ---- */

void stager_take(struct stager *stager, uint64_t job, uint64_t epoch, struct slice inputs)
{
	struct staging *staging;

	if (staging_find(stager, job, epoch))
		return;
	staging = mem_zalloc(sizeof(*staging));
	staging->job = job;
	staging->epoch = epoch;
	inputs = arena_copy(&staging->arena, inputs);
	staging->inputs = arena_zalloc(&staging->arena, 2 * LIMIT_INPUTS_MAX, sizeof(*staging->inputs));
	while (staging->input_count < 2 * LIMIT_INPUTS_MAX && input_next(&inputs, &staging->arena, &staging->inputs[staging->input_count]))
		staging->input_count++;
	staging->next = stager->first;
	if (stager->first)
		stager->first->prev = staging;
	stager->first = staging;
	look(stager, staging);
	pump(stager);
}

void stager_drop(struct stager *stager, uint64_t job, uint64_t epoch)
{
	struct staging *staging = staging_find(stager, job, epoch);

	if (staging)
		staging_free(stager, staging);
	stage_remove(stager, job, epoch);
	pump(stager);
}

void stager_trim(struct stager *stager)
{
	cache_trim(stager->cache);
}

int stager_open(const struct stager_options *options, struct stager **ret)
{
	struct stager *stager = mem_zalloc(sizeof(*stager));
	char path[PATH_MAX];
	int result;

	stager->options = *options;
	snprintf(path, sizeof(path), "%s/cache", options->home);
	result = cache_open(path, options->limit, &stager->cache);
	snprintf(path, sizeof(path), "%s/" STAGED_DIR, options->home);
	if (result == 0) {
		io_remove_tree(AT_FDCWD, path);
		result = mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
	}
	stager->staged_fd = result == 0 ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	if (result == 0 && stager->staged_fd < 0)
		result = -errno;
	if (result < 0)
		stager_close(stager);
	else
		*ret = stager;
	return result;
}

void stager_close(struct stager *stager)
{
	if (!stager)
		return;
	while (stager->first)
		staging_free(stager, stager->first);
	stager->online = false;
	for (struct asked *asked = stager->asked, *next; asked; asked = next) {
		next = asked->next;
		mem_free(asked);
	}
	name_map_free(&stager->fetches);
	if (stager->staged_fd >= 0)
		close(stager->staged_fd);
	cache_close(stager->cache);
	mem_free(stager);
}
