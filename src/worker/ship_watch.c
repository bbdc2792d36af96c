/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decides when the output files of running jobs are read. The files of a young job aren't examined; those of an older
 * one are watched by inotify, so a silent job costs nothing. Of output that won't be kept, the newest bytes are sent
 * now and then as live tail.
 */
#include "worker/link.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#define YOUNG_NS     (50 * NS_PER_MS)    /* a job that is older than this gets a watch */
#define COALESCE_S   0.02
#define LIVE_TAIL_S    0.5
#define LIVE_TAIL_QUEUE ((size_t)1048576)  /* while more bytes than this wait to be sent, no live output is added */

static const char *const suffixes[2] = { "out", "err" };

void ship_unwatch(struct link *link, struct stream *stream)
{
	if (stream->watch < 0)
		return;
	map_remove(&link->watches, (uint64_t)stream->watch);
	inotify_rm_watch(link->inotify_fd, stream->watch);
	stream->watch = -1;
}

/*
 * Arm a watch that fires once. The kernel limits watches for each user, and the links that have any; without one, the file is
 * read again after a while.
 */
void ship_watch(struct link *link, struct held *held, int number)
{
	struct stream *stream = &held->streams[number];
	char path[PATH_MAX + 40];

	if (stream->watch >= 0)
		return;
	snprintf(path, sizeof(path), "%s/%" PRIu64 ".%s", link->attempts_path, held->space, suffixes[number]);
	stream->watch = inotify_add_watch(link->inotify_fd, path, IN_MODIFY | IN_ONESHOT);
	if (stream->watch >= 0)
		map_put(&link->watches, (uint64_t)stream->watch, held);
	else
		ship_started(link, held);
}

/*
 * Skip the hole at the file's beginning: bytes that the keeper gave back because an earlier link said that the master
 * had them on disk.
 */
static void skip_hole(struct stream *stream)
{
	off_t data = lseek(stream->fd, 0, SEEK_DATA);

	if (data < 0)
		data = errno == ENXIO ? lseek(stream->fd, 0, SEEK_END) : 0;
	if (data > 0 && (uint64_t)data > stream->sent && stream->sent == stream->received)
		stream->sent = stream->received = stream->synced = (uint64_t)data;
}

bool ship_open_stream(struct link *link, struct held *held, int number)
{
	struct stream *stream = &held->streams[number];
	char name[40];

	if (stream->fd >= 0)
		return true;
	snprintf(name, sizeof(name), "%" PRIu64 ".%s", held->space, suffixes[number]);
	stream->fd = openat(link->attempts_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (stream->fd >= 0 && held->log_max == LOG_LOSSLESS)
		skip_hole(stream);
	return stream->fd >= 0;
}

/* ---- live viewing of output that won't be kept ---- */

void ship_begin_live_tail(struct link *link, struct held *held)
{
	held->over = true;
	for (int number = 0; number < 2; number++)
		held->streams[number].passed = held->streams[number].sent;
	if (!ev_is_active(&link->live_tail)) {
		ev_timer_set(&link->live_tail, LIVE_TAIL_S, 0.);
		ev_timer_start(link->loop, &link->live_tail);
	}
}

/* Make an item of the newest bytes of a stream. If older bytes are skipped, it begins at the start of a line. */
static bool live_tail_some(struct link *link, struct held *held, int number, struct rec_output *item)
{
	struct stream *stream = &held->streams[number];
	struct stat info;
	uint64_t from = stream->passed, size;
	const uint8_t *line;
	uint8_t *data;
	ssize_t got;

	if (!ship_open_stream(link, held, number) || fstat(stream->fd, &info) < 0 || (uint64_t)info.st_size <= from)
		return false;
	size = (uint64_t)info.st_size;
	from = size - from > LIVE_TAIL_SIZE ? size - LIVE_TAIL_SIZE : from;
	data = arena_alloc(&link->arena, LIVE_TAIL_SIZE);
	got = pread(stream->fd, data, (size_t)(size - from), (off_t)from);
	if (got <= 0)
		return false;
	line = from > stream->passed ? memchr(data, '\n', (size_t)got - 1) : NULL;
	size = line ? (size_t)(line + 1 - data) : 0;
	stream->passed = from + (uint64_t)got;
	*item = (struct rec_output){
		.job = held->job, .epoch = held->epoch, .run = held->run, .stream = (uint64_t)number + 1,
		.offset = from + size, .wall_ms = clock_wall_ms(), .data = slice_make(data + size, (size_t)got - size),
	};
	return true;
}

static void live_tail_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct link *link = timer->data;
	bool any = false;

	(void)events;
	for (struct held *held = link->first; held; held = held->next) {
		struct rec_output items[2];
		struct msg_output msg = { .live_tail = { items, 0 } };

		if (!held->over || held->phase != PHASE_RUNNING)
			continue;
		any = true;
		if (!link->welcome || conn_queued(link->conn) > LIVE_TAIL_QUEUE)
			continue;
		arena_reset(&link->arena);
		for (int number = 0; number < 2; number++)
			msg.live_tail.n += live_tail_some(link, held, number, &items[msg.live_tail.n]);
		if (msg.live_tail.n > 0)
			conn_send(link->conn, OP_OUTPUT, &msg);
	}
	if (any) {
		ev_timer_set(timer, LIVE_TAIL_S, 0.);
		ev_timer_start(loop, timer);
	}
}

/* ---- young jobs ---- */

void ship_not_young(struct link *link, struct held *held)
{
	if (!held->young)
		return;
	*(held->young_prev ? &held->young_prev->young_next : &link->young_first) = held->young_next;
	*(held->young_next ? &held->young_next->young_prev : &link->young_last) = held->young_prev;
	held->young = false;
}

static void young_arm(struct link *link)
{
	int64_t wait_ns;

	if (!link->young_first || ev_is_active(&link->young_timer))
		return;
	wait_ns = link->young_first->seen_ns + YOUNG_NS - clock_mono_ns();
	ev_timer_set(&link->young_timer, wait_ns > 0 ? (double)wait_ns / 1e9 : 0., 0.);
	ev_timer_start(link->loop, &link->young_timer);
}

static void young_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct link *link = timer->data;
	int64_t now_ns = clock_mono_ns();

	(void)loop;
	(void)events;
	while (link->young_first && link->young_first->seen_ns + YOUNG_NS <= now_ns) {
		struct held *held = link->young_first;

		ship_not_young(link, held);
		ship_enqueue(link, held);
		ship_look(link, held);
	}
	young_arm(link);
}

void ship_started(struct link *link, struct held *held)
{
	if (held->young || held->space == 0)
		return;
	held->seen_ns = clock_mono_ns();
	held->young = true;
	held->young_prev = link->young_last;
	held->young_next = NULL;
	*(link->young_last ? &link->young_last->young_next : &link->young_first) = held;
	link->young_last = held;
	young_arm(link);
}

static void coalesce_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	/* Only check the changed files for room here: their output is sent before the loop sleeps again. */
	(void)loop;
	(void)events;
	ship_look_at_all(timer->data);
}

/* inotify lost events: look at all watched files, and arm their watches again. */
static void watch_all(struct link *link)
{
	for (struct held *held = link->first; held; held = held->next) {
		if (held->streams[0].watch < 0 && held->streams[1].watch < 0)
			continue;
		for (int number = 0; number < 2; number++)
			ship_unwatch(link, &held->streams[number]);
		ship_enqueue(link, held);
		ship_look_soon(link, held);
	}
}

static void watch_cb(struct ev_loop *loop, struct ev_io *io, int events)
{
	_Alignas(struct inotify_event) char bytes[16384];
	struct link *link = io->data;
	ssize_t got = read(link->inotify_fd, bytes, sizeof(bytes));

	(void)events;
	for (ssize_t at = 0; at < got;) {
		const struct inotify_event *event = (const void *)(bytes + at);
		struct held *held = event->wd < 0 ? NULL : map_remove(&link->watches, (uint64_t)event->wd);

		at += (ssize_t)(sizeof(*event) + event->len);
		if (event->mask & IN_Q_OVERFLOW)
			watch_all(link);
		if (!held)
			continue;
		for (int number = 0; number < 2; number++)
			if (held->streams[number].watch == event->wd)
				held->streams[number].watch = -1;
		ship_enqueue(link, held);
		ship_look_soon(link, held);
		if (!ev_is_active(&link->coalesce)) {
			ev_timer_set(&link->coalesce, COALESCE_S, 0.);
			ev_timer_start(loop, &link->coalesce);
		}
	}
}

bool ship_open(struct link *link, struct error *error)
{
	char below[256];

	snprintf(below, sizeof(below), "worker/%s/attempts", link->options->name);
	statedir_path(&link->options->statedir, below, link->attempts_path);
	if (link->options->job_place)
		snprintf(link->attempts_path, sizeof(link->attempts_path), "%s/attempts", link->options->job_place);
	link->attempts_fd = open(link->attempts_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (link->attempts_fd < 0) {
		error_system(error, errno, "can't watch output in %s", link->attempts_path);
		return false;
	}
	link->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (link->inotify_fd >= 0) {
		ev_io_init(&link->watch_read, watch_cb, link->inotify_fd, EV_READ);
		link->watch_read.data = link;
		ev_io_start(link->loop, &link->watch_read);
	} else {
		log_warn("the system lets this user watch no more files (%s): the output of running jobs is looked at %d times a second; "
			 "a higher fs.inotify.max_user_instances would save that", strerror(errno), (int)(NS_PER_S / YOUNG_NS));
	}
	ev_timer_init(&link->young_timer, young_cb, 0., 0.);
	ev_timer_init(&link->coalesce, coalesce_cb, 0., 0.);
	ev_timer_init(&link->live_tail, live_tail_cb, 0., 0.);
	link->live_tail.data = link->young_timer.data = link->coalesce.data = link;
	return true;
}

void ship_close(struct link *link)
{
	if (link->inotify_fd >= 0)
		close(link->inotify_fd);
	if (link->attempts_fd >= 0)
		close(link->attempts_fd);
	map_free(&link->watches);
}
