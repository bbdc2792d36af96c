/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop's side of the goods: two locked lists, one of work for the thread and one of its answers. */
#include "master/goods.h"

#include <signal.h>

#include "base/mem.h"
#include "master/goods_thread.h"

enum err goods_open(const char *dir, void (*wake_cb)(void *arg), void *arg, struct goods **ret_goods, struct error *error)
{
	struct goods *goods = mem_zalloc(sizeof(*goods));
	sigset_t all, old;
	int result;

	if (blobs_open(dir, &goods->book.blobs, error) != ERR_NONE) {
		mem_free(goods);
		return error->code;
	}
	goods->wake_cb = wake_cb;
	goods->wake_arg = arg;
	pthread_mutex_init(&goods->lock, NULL);
	pthread_cond_init(&goods->more, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	result = pthread_create(&goods->thread, NULL, goods_thread_run, goods);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (result != 0) {
		blobs_close(goods->book.blobs);
		mem_free(goods);
		return error_system(error, result, "can't start the thread that keeps the contents of assets");
	}
	*ret_goods = goods;
	return ERR_NONE;
}

void goods_close(struct goods *goods)
{
	struct goods_answer *left;

	if (!goods)
		return;
	pthread_mutex_lock(&goods->lock);
	goods->ending = true;
	pthread_cond_signal(&goods->more);
	pthread_mutex_unlock(&goods->lock);
	pthread_join(goods->thread, NULL);
	while ((left = goods_take(goods)))
		goods_answer_free(left);
	book_free(&goods->book);
	blobs_close(goods->book.blobs);
	pthread_cond_destroy(&goods->more);
	pthread_mutex_destroy(&goods->lock);
	mem_free(goods);
}

static void give_work(struct goods *goods, struct goods_work *work)
{
	pthread_mutex_lock(&goods->lock);
	*(goods->last ? &goods->last->next : &goods->first) = work;
	goods->last = work;
	goods->queued += work->bytes;
	pthread_cond_signal(&goods->more);
	pthread_mutex_unlock(&goods->lock);
}

static struct goods_work *work_new(enum goods_work_kind kind, const struct goods_sender *sender)
{
	struct goods_work *work = mem_zalloc(sizeof(*work));

	work->kind = kind;
	if (sender) {
		work->conn = sender->conn;
		work->asker = (struct goods_asker){ arena_copy(&work->arena, sender->name), sender->all };
	}
	return work;
}

enum err goods_frame(struct goods *goods, const struct goods_sender *sender, enum opcode op, struct slice body, struct error *error)
{
	struct goods_work *work = work_new(GOODS_FRAME, sender);
	enum err err;

	work->op = op;
	work->bytes = body.len;
	err = message_decode(op, arena_copy(&work->arena, body), &work->arena, &work->msg, error);
	if (err != ERR_NONE)
		goods_work_free(work);
	else
		give_work(goods, work);
	return err;
}

void goods_check(struct goods *goods, const struct goods_sender *sender, const struct msg_set *set, bool own_only)
{
	struct goods_work *work = work_new(GOODS_CHECK, sender);

	work->msg.set = *set;
	work->msg.set.name = arena_copy(&work->arena, set->name);
	work->msg.set.text = arena_copy(&work->arena, set->text);
	work->msg.set.expect = arena_copy(&work->arena, set->expect);
	work->own_only = own_only;
	give_work(goods, work);
}

void goods_check_graph(struct goods *goods, const struct goods_sender *sender, uint64_t id, struct slice contents)
{
	struct goods_work *work = work_new(GOODS_GRAPH, sender);

	work->msg.id = id;
	work->contents = arena_copy(&work->arena, contents);
	give_work(goods, work);
}

void goods_stage(struct goods *goods, const struct goods_sender *sender, const struct msg_stage_read *msg, bool dir)
{
	struct goods_work *work = work_new(GOODS_STAGE, sender);

	work->msg.stage = *msg;
	work->msg.stage.input = arena_copy(&work->arena, msg->input);
	work->msg.stage.hashes = arena_copy(&work->arena, msg->hashes);
	work->dir = dir;
	give_work(goods, work);
}

void goods_check_artifacts(struct goods *goods, const struct goods_sender *sender, uint64_t request, struct slice hash)
{
	struct goods_work *work = work_new(GOODS_ARTIFACTS, sender);

	work->msg.artifacts = (struct msg_artifacts){ .id = request, .hash = arena_copy(&work->arena, hash) };
	give_work(goods, work);
}

/* Only rows with artifacts matter, and removals of rows if there ever was one with artifacts. */
static void job_row(struct goods *goods, const struct row *row)
{
	struct goods_work *work;

	if (row->deleted ? !goods->had_artifacts : row->job.artifacts.len == 0)
		return;
	goods->had_artifacts = true;
	work = work_new(row->deleted ? GOODS_JOBS_GONE : GOODS_JOB, NULL);
	work->job = (uint64_t)row->job.job;
	work->until = row->until ? (uint64_t)row->until : work->job + 1;
	if (!row->deleted)
		work->artifacts = arena_copy(&work->arena, row->job.artifacts);
	give_work(goods, work);
}

void goods_row(struct goods *goods, const struct row *row)
{
	struct goods_work *work;

	if (row->table == TABLE_job) {
		job_row(goods, row);
		return;
	}
	if (row->asset.hash.len != SHA256_SIZE)
		return;                  /* a version that was removed and keeps its number */
	work = work_new(GOODS_ROWS, NULL);
	work->deleted = row->deleted;
	work->row = row->asset;
	work->row.asset = arena_copy(&work->arena, row->asset.asset);
	work->row.hash = arena_copy(&work->arena, row->asset.hash);
	work->row.owner = arena_copy(&work->arena, row->asset.owner);
	give_work(goods, work);
}

void goods_sweep(struct goods *goods)
{
	give_work(goods, work_new(GOODS_SWEEP, NULL));
}

size_t goods_queued(struct goods *goods)
{
	size_t queued;

	pthread_mutex_lock(&goods->lock);
	queued = goods->queued;
	pthread_mutex_unlock(&goods->lock);
	return queued;
}

struct goods_answer *goods_take(struct goods *goods)
{
	struct goods_answer *taken;

	pthread_mutex_lock(&goods->lock);
	taken = goods->answers;
	if (taken) {
		goods->answers = taken->next;
		if (!goods->answers)
			goods->last_answer = NULL;
	}
	pthread_mutex_unlock(&goods->lock);
	return taken;
}

void goods_answer_free(struct goods_answer *answer)
{
	arena_free(&answer->arena);
	buf_free(&answer->frames);
	mem_free(answer);
}
