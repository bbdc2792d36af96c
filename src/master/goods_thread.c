/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The thread of the goods: takes one piece of work after the other, does it, and answers. */
#include "master/goods_thread.h"

#include "base/log.h"
#include "base/mem.h"
#include "proto/input.h"

static void answer_add(struct goods *goods, struct goods_answer *answer)
{
	pthread_mutex_lock(&goods->lock);
	*(goods->last_answer ? &goods->last_answer->next : &goods->answers) = answer;
	goods->last_answer = answer;
	pthread_mutex_unlock(&goods->lock);
	goods->wake_cb(goods->wake_arg);
}

static void add_error(struct goods_answer *answer, uint64_t id, const struct error *error)
{
	const struct msg_error msg = {
		.id = id, .code = error->code, .text = slice_str(error->text), .next = slice_str(error->next),
	};

	message_encode(&answer->frames, OP_ERROR, &msg);
}

/* ---- requests ---- */

static enum err bad_hash(struct error *error)
{
	return error_set(error, ERR_INVALID, "a hash must have %d bytes", SHA256_SIZE);
}

static enum err do_have(struct goods *goods, struct goods_work *work, struct goods_answer *answer, struct error *error)
{
	const struct msg_goods_have *have = &work->msg.have;
	struct msg_goods_has has = { .id = have->id };

	if (have->items.n > LIMIT_GOODS_ITEMS_MAX)
		return error_set(error, ERR_TOO_LARGE, "at most %d contents may be asked for at once", LIMIT_GOODS_ITEMS_MAX);
	has.offsets.at = arena_alloc(&work->arena, (have->items.n + 1) * sizeof(*has.offsets.at));
	for (size_t i = 0; i < have->items.n; i++) {
		const struct rec_goods_item *item = &have->items.at[i];
		struct part_key key = { .owner = work->asker.name };
		uint64_t size;

		if (item->hash.len != SHA256_SIZE)
			return bad_hash(error);
		memcpy(key.hash, item->hash.data, SHA256_SIZE);
		has.offsets.at[has.offsets.n++] =
			book_has(&goods->book, &work->asker, key.hash, &size) ? 0 : part_size(goods->book.blobs, &key) + 1;
	}
	message_encode(&answer->frames, OP_GOODS_HAS, &has);
	return ERR_NONE;
}

static enum err do_put(struct goods *goods, const struct goods_work *work, struct goods_answer *answer, struct error *error)
{
	const struct msg_goods_put *put = &work->msg.put;
	struct msg_goods_stored stored = { .id = put->id, .offset = put->offset + put->data.len };
	struct part_key key = { .owner = work->asker.name };
	enum err err;

	if (put->hash.len != SHA256_SIZE)
		return bad_hash(error);
	memcpy(key.hash, put->hash.data, SHA256_SIZE);
	err = part_add(goods->book.blobs, &key, put->size, put->offset, put->data, &stored.whole, error);
	if (err != ERR_NONE)
		return err;
	if (stored.whole)
		book_uploaded(&goods->book, &work->asker, key.hash);
	message_encode(&answer->frames, OP_GOODS_STORED, &stored);
	return ERR_NONE;
}

static enum err do_pack(struct goods *goods, const struct goods_work *work, struct goods_answer *answer, struct error *error)
{
	const struct msg_goods_pack *pack = &work->msg.pack;
	const struct msg_goods_stored stored = { .id = pack->id, .whole = true };
	enum err err = blobs_pack(goods->book.blobs, pack->items.at, pack->items.n, error);

	if (err != ERR_NONE)
		return err;
	for (size_t i = 0; i < pack->items.n; i++)
		book_uploaded(&goods->book, &work->asker, pack->items.at[i].hash.data);
	message_encode(&answer->frames, OP_GOODS_STORED, &stored);
	return ERR_NONE;
}

static enum err do_read(struct goods *goods, const struct goods_work *work, struct goods_answer *answer, struct error *error)
{
	const struct msg_goods_read *read = &work->msg.read;
	struct msg_goods_data data = { .id = read->id, .offset = read->offset };
	uint64_t limit = read->limit > 0 && read->limit < LIMIT_GOODS_CHUNK ? read->limit : LIMIT_GOODS_CHUNK;
	char text[SHA256_TEXT_SIZE];
	struct buf bytes = { 0 };
	enum err err;

	if (read->hash.len != SHA256_SIZE)
		return bad_hash(error);
	if (!book_has(&goods->book, &work->asker, read->hash.data, &data.size)) {
		sha256_text(read->hash.data, text);
		return error_set(error, ERR_NOT_FOUND, "the master has no content %s that you may read", text);
	}
	err = blobs_read(goods->book.blobs, read->hash.data, read->offset, limit, &bytes, &data.size, error);
	data.data = buf_slice(&bytes);
	if (err == ERR_NONE)
		message_encode(&answer->frames, OP_GOODS_DATA, &data);
	buf_free(&bytes);
	return err;
}

/* ---- files of jobs ---- */

/* Check that the submitter of a graph may read all contents that its jobs name. */
static void do_graph(struct goods *goods, struct goods_work *work, struct goods_answer *answer)
{
	struct slice rest = work->contents;
	struct rec_input input;
	struct goods_sum sum;
	uint64_t size;

	answer->of_graph = true;
	answer->id = work->msg.id;
	while (answer->fault.code == ERR_NONE && input_next(&rest, &work->arena, &input))
		if (book_check(&goods->book, &work->asker, input.hash.data, input.kind == ASSET_DIR, &sum, &answer->fault) == ERR_NONE &&
		    (!blobs_find(goods->book.blobs, input.hash.data, &size) || size != input.size))
			error_set(&answer->fault, ERR_INVALID, "the content of a job's file hasn't the size that the submit says");
}

/* May the worker have this content: is it the input itself, or one of the files of its manifest? */
static bool belongs(struct goods *goods, const struct goods_work *work, const uint8_t hash[SHA256_SIZE])
{
	const uint8_t *input = work->msg.stage.input.data;

	return memcmp(input, hash, SHA256_SIZE) == 0 || (work->dir && book_lists(&goods->book, input, hash));
}

/* Answer with one frame for each content, as much of it as one may have. */
static enum err do_stage(struct goods *goods, struct goods_work *work, struct goods_answer *answer, struct error *error)
{
	const struct msg_stage_read *stage = &work->msg.stage;
	enum err err = ERR_NONE;

	for (size_t at = 0; err == ERR_NONE && at < stage->hashes.len; at += SHA256_SIZE) {
		struct msg_goods_data data = { .id = stage->id, .offset = at == 0 ? stage->offset : 0 };
		const uint8_t *hash = stage->hashes.data + at;
		struct buf bytes = { 0 };

		if (!belongs(goods, work, hash))
			err = error_set(error, ERR_NOT_FOUND, "the attempt has no input with this content");
		else
			err = blobs_read(goods->book.blobs, hash, data.offset, LIMIT_GOODS_CHUNK, &bytes, &data.size, error);
		data.data = buf_slice(&bytes);
		if (err == ERR_NONE)
			message_encode(&answer->frames, OP_GOODS_DATA, &data);
		buf_free(&bytes);
	}
	return err;
}

static void do_frame(struct goods *goods, struct goods_work *work, struct goods_answer *answer)
{
	struct error error = { 0 };
	enum err err;

	switch (work->op) {
	case OP_GOODS_HAVE:
		err = do_have(goods, work, answer, &error);
		break;
	case OP_GOODS_PUT:
		err = do_put(goods, work, answer, &error);
		break;
	case OP_GOODS_PACK:
		err = do_pack(goods, work, answer, &error);
		break;
	default:
		err = do_read(goods, work, answer, &error);
	}
	if (err != ERR_NONE)
		add_error(answer, work->msg.id, &error);
}

/* Check what the version names, and fill in how much that is. */
static void do_check(struct goods *goods, struct goods_work *work, struct goods_answer *answer)
{
	struct msg_set *set = &work->msg.set;
	struct error error = { 0 };
	uint8_t hash[SHA256_SIZE];
	struct goods_sum sum;

	answer->checked = true;
	answer->own_only = work->own_only;
	if (!sha256_read(set->text, hash))
		error_set(&error, ERR_INVALID, "the content of an asset must be given as sha256: and 64 hexadecimal digits");
	else
		book_check(&goods->book, &work->asker, hash, set->weight == ASSET_DIR, &sum, &error);
	if (error.code != ERR_NONE) {
		add_error(answer, set->id, &error);
		return;
	}
	answer->set = *set;
	answer->set.number = sum.bytes;
	answer->set.most = sum.files;
	answer->set.name = arena_copy(&answer->arena, set->name);
	answer->set.text = arena_copy(&answer->arena, set->text);
	answer->set.expect = arena_copy(&answer->arena, set->expect);
	answer->set.words = (struct slice_list){ 0 };
	answer->set.secret = (struct slice){ 0 };
}

static void do_artifacts(struct goods *goods, struct goods_work *work, struct goods_answer *answer)
{
	const struct msg_artifacts *msg = &work->msg.artifacts;
	struct error error = { 0 };
	struct goods_sum sum;

	answer->named = true;
	if (msg->hash.len != SHA256_SIZE)
		bad_hash(&error);
	else
		book_check(&goods->book, &work->asker, msg->hash.data, true, &sum, &error);
	if (error.code != ERR_NONE) {
		add_error(answer, msg->id, &error);
		return;
	}
	answer->request = msg->id;
	answer->hash = arena_copy(&answer->arena, msg->hash);
	answer->size = sum.bytes;
	answer->files = sum.files;
	answer->manifest_size = sum.content;
}

static void do_job(struct goods *goods, struct goods_work *work)
{
	struct rec_job_artifacts record;
	struct slice bytes = work->artifacts;

	if (record_decode(REC_job_artifacts, &bytes, &work->arena, &record, NULL) != ERR_NONE)
		return;
	if (record.hash.len == SHA256_SIZE)
		book_put_job(&goods->book, work->job, record.owner, record.hash.data);
	else
		book_remove_job(&goods->book, work->job);
}

static void do_row(struct goods *goods, const struct goods_work *work)
{
	struct buf key = { 0 };

	buf_add_slice(&key, work->row.asset);
	buf_addf(&key, "@%lld", (long long)work->row.version);
	if (work->deleted)
		book_remove(&goods->book, buf_slice(&key));
	else
		book_put(&goods->book, buf_slice(&key), work->row.owner, work->row.hash.data, work->row.kind == ASSET_DIR);
	buf_free(&key);
}

static void do_work(struct goods *goods, struct goods_work *work)
{
	struct goods_answer *answer;
	struct error error = { 0 };
	uint64_t removed;

	switch (work->kind) {
	case GOODS_ROWS:
		do_row(goods, work);
		return;
	case GOODS_JOB:
		do_job(goods, work);
		return;
	case GOODS_JOBS_GONE:
		for (uint64_t job = work->job; job < work->until && goods->book.jobs.count > 0; job++)
			book_remove_job(&goods->book, job);
		return;
	case GOODS_SWEEP:
		removed = book_sweep(&goods->book);
		if (removed > 0)
			log_info("removed %llu contents that no asset and no job names", (unsigned long long)removed);
		return;
	default:
		break;
	}
	answer = mem_zalloc(sizeof(*answer));
	answer->conn = work->conn;
	if (work->kind == GOODS_FRAME)
		do_frame(goods, work, answer);
	else if (work->kind == GOODS_ARTIFACTS)
		do_artifacts(goods, work, answer);
	else if (work->kind == GOODS_CHECK)
		do_check(goods, work, answer);
	else if (work->kind == GOODS_GRAPH)
		do_graph(goods, work, answer);
	else if (do_stage(goods, work, answer, &error) != ERR_NONE)
		add_error(answer, work->msg.id, &error);
	answer_add(goods, answer);
}

/* ---- the thread ---- */

void goods_work_free(struct goods_work *work)
{
	arena_free(&work->arena);
	mem_free(work);
}

/* Wait for the next work; NULL: there is none, and the goods are being closed. */
static struct goods_work *wait_for_work(struct goods *goods)
{
	struct goods_work *work;

	pthread_mutex_lock(&goods->lock);
	while (!goods->first && !goods->ending)
		pthread_cond_wait(&goods->more, &goods->lock);
	work = goods->first;
	if (work) {
		goods->first = work->next;
		if (!goods->first)
			goods->last = NULL;
	}
	pthread_mutex_unlock(&goods->lock);
	return work;
}

void *goods_thread_run(void *arg)
{
	struct goods *goods = arg;
	struct goods_work *work;

	while ((work = wait_for_work(goods))) {
		pthread_mutex_lock(&goods->lock);
		goods->queued -= work->bytes;
		pthread_mutex_unlock(&goods->lock);
		do_work(goods, work);
		goods_work_free(work);
	}
	return NULL;
}
