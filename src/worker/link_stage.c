/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See link_stage.h: two locked lists, one of work for the thread and one of its news, and what the loop does with these. */
#include "worker/link_stage.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "worker/cache.h"
#include "worker/link.h"
#include "worker/stage.h"

enum work_kind { WORK_TAKE, WORK_DROP, WORK_DATA, WORK_REFUSED, WORK_ONLINE, WORK_OFFLINE, WORK_TRIM };

struct work {
	enum work_kind kind;
	uint64_t job, epoch;
	struct msg_goods_data data;
	uint64_t id;
	enum err code;
	struct buf bytes;                /* the inputs, or the bytes of data */
	struct work *next;
};

struct news {                            /* a frame for the master, or that an attempt is staged */
	struct buf frame;
	uint64_t job, epoch;
	int fault;
	struct news *next;
};

struct link_stage {
	struct link *link;
	pthread_t thread;
	pthread_mutex_t lock;            /* guards the fields below, up to ending */
	pthread_cond_t more;
	struct work *first, *last;
	struct news *news, *last_news;
	bool ending;
	struct ev_async wake;
	char home[PATH_MAX];
	struct stager_options options;
	int fault;                       /* errno of the failure to open the directories; used by the thread alone */
};

/* ---- the thread ---- */

static void add_news(struct link_stage *stage, struct news *news)
{
	pthread_mutex_lock(&stage->lock);
	*(stage->last_news ? &stage->last_news->next : &stage->news) = news;
	stage->last_news = news;
	pthread_mutex_unlock(&stage->lock);
	ev_async_send(stage->link->loop, &stage->wake);
}

static void ask_cb(void *arg, const struct msg_stage_read *msg)
{
	struct news *news = mem_zalloc(sizeof(*news));

	message_encode(&news->frame, OP_STAGE_READ, msg);
	add_news(arg, news);
}

static void staged_cb(void *arg, uint64_t job, uint64_t epoch, int fault)
{
	struct news *news = mem_zalloc(sizeof(*news));

	news->job = job;
	news->epoch = epoch;
	news->fault = fault;
	add_news(arg, news);
}

static struct work *wait_for_work(struct link_stage *stage)
{
	struct work *work;

	pthread_mutex_lock(&stage->lock);
	while (!stage->first && !stage->ending)
		pthread_cond_wait(&stage->more, &stage->lock);
	work = stage->ending ? NULL : stage->first;
	if (work) {
		stage->first = work->next;
		if (!stage->first)
			stage->last = NULL;
	}
	pthread_mutex_unlock(&stage->lock);
	return work;
}

static void do_work(struct stager *stager, struct work *work)
{
	switch (work->kind) {
	case WORK_TAKE:
		stager_take(stager, work->job, work->epoch, buf_slice(&work->bytes));
		break;
	case WORK_DROP:
		stager_drop(stager, work->job, work->epoch);
		break;
	case WORK_DATA:
		work->data.data = buf_slice(&work->bytes);
		stager_data(stager, &work->data);
		break;
	case WORK_REFUSED:
		stager_refused(stager, work->id, work->code);
		break;
	case WORK_ONLINE:
	case WORK_OFFLINE:
		stager_online(stager, work->kind == WORK_ONLINE);
		break;
	case WORK_TRIM:
		stager_trim(stager);
		break;
	}
}

static void work_free(struct work *work)
{
	buf_free(&work->bytes);
	mem_free(work);
}

static void *thread_main(void *arg)
{
	struct link_stage *stage = arg;
	struct stager *stager = NULL;
	struct work *work;
	bool online = false;

	while ((work = wait_for_work(stage))) {
		if (work->kind == WORK_ONLINE || work->kind == WORK_OFFLINE)
			online = work->kind == WORK_ONLINE;
		/* If the directories can't be opened now, on a full disk for example, they may be later. */
		if (!stager) {
			stage->fault = -stager_open(&stage->options, &stager);
			if (stager)
				stager_online(stager, online);
		}
		if (stager)
			do_work(stager, work);
		else if (work->kind == WORK_TAKE)
			staged_cb(stage, work->job, work->epoch, stage->fault);
		work_free(work);
	}
	stager_close(stager);
	return NULL;
}

/* ---- the loop ---- */

static void take_news(struct link *link, struct news *news)
{
	const struct ipc_staged staged = { news->job, news->epoch, news->fault };

	if (news->job == 0 && link->conn && link->welcome)
		conn_send_frames(link->conn, buf_slice(&news->frame));
	else if (news->job != 0)
		ipc_put(&link->keeper, IPC_STAGED, &staged, sizeof(staged));
	if (news->fault)
		log_warn_limited("the files of job %llu can't be put in place: %s", (unsigned long long)news->job, strerror(news->fault));
}

static void wake_cb(struct ev_loop *loop, struct ev_async *async, int events)
{
	struct link_stage *stage = async->data;
	struct news *news, *next;

	(void)loop;
	(void)events;
	pthread_mutex_lock(&stage->lock);
	news = stage->news;
	stage->news = stage->last_news = NULL;
	pthread_mutex_unlock(&stage->lock);
	for (; news; news = next) {
		next = news->next;
		take_news(stage->link, news);
		buf_free(&news->frame);
		mem_free(news);
	}
}

static struct link_stage *begin(struct link *link)
{
	struct link_stage *stage = mem_zalloc(sizeof(*stage));
	sigset_t all, old;
	int result;

	stage->link = link;
	snprintf(stage->home, sizeof(stage->home), "%.*s", (int)(strlen(link->attempts_path) - strlen("/attempts")), link->attempts_path);
	stage->options = (struct stager_options){
		.home = stage->home, .limit = CACHE_BYTES_DEFAULT, .uid = (uid_t)-1, .gid = (gid_t)-1,
		.ask_cb = ask_cb, .staged_cb = staged_cb, .arg = stage,
	};
	if (link->options->job_place) {
		stage->options.uid = link->options->job_uid;
		stage->options.gid = link->options->job_gid;
	}
	pthread_mutex_init(&stage->lock, NULL);
	pthread_cond_init(&stage->more, NULL);
	ev_async_init(&stage->wake, wake_cb);
	stage->wake.data = stage;
	ev_async_start(link->loop, &stage->wake);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	result = pthread_create(&stage->thread, NULL, thread_main, stage);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (result == 0)
		return stage;
	log_error("can't start the thread for the files of jobs: %s", strerror(result));
	ev_async_stop(link->loop, &stage->wake);
	pthread_cond_destroy(&stage->more);
	pthread_mutex_destroy(&stage->lock);
	mem_free(stage);
	return NULL;
}

static struct work *work_new(enum work_kind kind, uint64_t job, uint64_t epoch)
{
	struct work *work = mem_zalloc(sizeof(*work));

	work->kind = kind;
	work->job = job;
	work->epoch = epoch;
	return work;
}

/* Give the thread something to do; without a thread it is dropped. */
static void give(struct link *link, struct work *work)
{
	struct link_stage *stage = link->stage;

	if (!stage) {
		work_free(work);
		return;
	}
	pthread_mutex_lock(&stage->lock);
	*(stage->last ? &stage->last->next : &stage->first) = work;
	stage->last = work;
	pthread_cond_signal(&stage->more);
	pthread_mutex_unlock(&stage->lock);
}

void link_stage_open(struct link *link)
{
	char path[PATH_MAX];
	struct stat found;

	snprintf(path, sizeof(path), "%.*s/cache", (int)(strlen(link->attempts_path) - strlen("/attempts")), link->attempts_path);
	if (stat(path, &found) == 0)
		link->stage = begin(link);
	link_stage_trim(link);
}

void link_stage_take(struct link *link, uint64_t job, uint64_t epoch, struct slice inputs)
{
	const struct ipc_staged failed = { job, epoch, EAGAIN };
	struct work *work;

	if (!link->stage) {
		link->stage = begin(link);
		link_stage_online(link, link->welcome);
	}
	if (!link->stage) {
		ipc_put(&link->keeper, IPC_STAGED, &failed, sizeof(failed));
		return;
	}
	work = work_new(WORK_TAKE, job, epoch);
	buf_add_slice(&work->bytes, inputs);
	give(link, work);
}

void link_stage_drop(struct link *link, uint64_t job, uint64_t epoch)
{
	give(link, work_new(WORK_DROP, job, epoch));
}

void link_stage_data(struct link *link, const struct msg_goods_data *data)
{
	struct work *work = work_new(WORK_DATA, 0, 0);

	work->data = *data;
	buf_add_slice(&work->bytes, data->data);
	give(link, work);
}

void link_stage_refused(struct link *link, const struct msg_error *error)
{
	struct work *work = work_new(WORK_REFUSED, 0, 0);

	work->id = error->id;
	work->code = (enum err)error->code;
	give(link, work);
}

void link_stage_online(struct link *link, bool online)
{
	if (link->stage)
		give(link, work_new(online ? WORK_ONLINE : WORK_OFFLINE, 0, 0));
}

void link_stage_trim(struct link *link)
{
	if (link->stage)
		give(link, work_new(WORK_TRIM, 0, 0));
}

void link_stage_close(struct link *link)
{
	struct link_stage *stage = link->stage;
	struct work *next;

	if (!stage)
		return;
	pthread_mutex_lock(&stage->lock);
	stage->ending = true;
	pthread_cond_signal(&stage->more);
	pthread_mutex_unlock(&stage->lock);
	pthread_join(stage->thread, NULL);
	for (struct work *work = stage->first; work; work = next) {
		next = work->next;
		work_free(work);
	}
	for (struct news *news = stage->news, *after; news; news = after) {
		after = news->next;
		buf_free(&news->frame);
		mem_free(news);
	}
	ev_async_stop(link->loop, &stage->wake);
	pthread_cond_destroy(&stage->more);
	pthread_mutex_destroy(&stage->lock);
	mem_free(stage);
	link->stage = NULL;
}
