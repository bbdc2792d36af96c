/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All uploads under way, over all connections: limits on their number and size, and removal of those without progress.
 * An upload is charged for its bytes and for the overhead of each part. One that makes no progress is dropped after a
 * while, much sooner if another upload needs its room; its sender is told and may begin again.
 */
#include "master/dispatch.h"

#include "base/check.h"
#include "base/log.h"
#include "master/upload.h"

#define TICK_S 5.0

static const char *const whose[UPLOADS_SCOPES] = {
	[UPLOADS_ALL] = "in all", [UPLOADS_PRINCIPAL] = "by one user", [UPLOADS_JOBS] = "by jobs", [UPLOADS_JOB] = "by one job",
	[UPLOADS_CONNECTION] = "on one connection",
};

static bool is_in_scope(const struct upload *upload, const struct peer_session *session, enum upload_scope scope)
{
	const struct peer_session *other = upload->session;

	switch (scope) {
	case UPLOADS_ALL:
		return true;
	case UPLOADS_PRINCIPAL:
		return session->caller.job == 0 && other->caller.job == 0 && other->principal.id == session->principal.id;
	case UPLOADS_JOBS:
		return session->caller.job != 0 && other->caller.job != 0;
	case UPLOADS_JOB:
		return session->caller.job != 0 && other->caller.job == session->caller.job;
	default:
		return other == session;
	}
}

/* ---- the list of uploads under way ---- */

void uploads_remove(struct upload *upload)
{
	struct master *master = upload->session->master;

	if (!upload->counted)
		return;
	upload->counted = false;
	*(upload->prev ? &upload->prev->following : &master->uploads) = upload->following;
	if (upload->following)
		upload->following->prev = upload->prev;
	upload->prev = upload->following = NULL;
	if (!master->uploads)
		ev_timer_stop(master->loop, &master->upload_timer);
}

void uploads_add(struct peer_session *session, struct upload *upload, uint64_t bytes)
{
	struct master *master = session->master;

	upload->session = session;
	upload->counted = true;
	upload->charged = bytes;
	upload->began_ns = upload->moved_ns = clock_mono_ns();
	upload->following = master->uploads;
	if (upload->following)
		upload->following->prev = upload;
	master->uploads = upload;
	if (ev_is_active(&master->upload_timer))
		return;
	ev_now_update(master->loop);
	ev_timer_again(master->loop, &master->upload_timer);
}

/* Tell the sender of the refusal once; later frames of this upload are ignored. */
void uploads_refuse(struct upload *upload, const struct error *error)
{
	session_refuse(upload->session, upload->id, error);
	uploads_remove(upload);
	upload_drop(upload);
}

static void expire(struct upload *upload, int64_t now_ns)
{
	struct error error;

	error_set(&error, ERR_TIMEOUT, "the master dropped the graph, which began %lld s ago, because no data came for %lld s",
		  (long long)((now_ns - upload->began_ns) / NS_PER_S), (long long)((now_ns - upload->moved_ns) / NS_PER_S));
	uploads_refuse(upload, &error);
}

static void tick_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct master *master = timer->data;
	int64_t now_ns = clock_mono_ns();
	struct upload *next;

	(void)loop;
	(void)events;
	for (struct upload *upload = master->uploads; upload; upload = next) {
		next = upload->following;
		if (now_ns - upload->moved_ns >= UPLOAD_STILL_NS || now_ns - upload->began_ns >= UPLOAD_LONGEST_NS)
			expire(upload, now_ns);
	}
}

void uploads_init(struct master *master)
{
	static const struct upload_bound bounds[UPLOADS_SCOPES] = UPLOAD_BOUNDS;

	memcpy(master->upload_bounds, bounds, sizeof(bounds));
	for (int scope = 0; scope < UPLOADS_SCOPES; scope++)
		if (master->options.upload_bytes > 0 && master->upload_bounds[scope].bytes > master->options.upload_bytes)
			master->upload_bounds[scope].bytes = master->options.upload_bytes;
	master->upload_yield_ns = master->options.upload_yield_ms > 0 ? master->options.upload_yield_ms * NS_PER_MS :
								       UPLOAD_YIELD_NS;
	ev_init(&master->upload_timer, tick_cb);
	master->upload_timer.repeat = TICK_S;
	master->upload_timer.data = master;
}

/* ---- limits ---- */

/* Drop the upload in this scope that has made no progress for longest, if that is long enough. */
static bool make_room(struct peer_session *session, enum upload_scope scope)
{
	struct master *master = session->master;
	struct upload *stillest = NULL;
	int64_t now_ns = clock_mono_ns();

	for (struct upload *upload = master->uploads; upload; upload = upload->following)
		if (is_in_scope(upload, session, scope) && (!stillest || upload->moved_ns < stillest->moved_ns))
			stillest = upload;
	if (!stillest || now_ns - stillest->moved_ns < master->upload_yield_ns)
		return false;
	expire(stillest, now_ns);
	return true;
}

static bool fits(struct peer_session *session, enum upload_scope scope, size_t count, uint64_t bytes)
{
	const struct upload_bound *bound = &session->master->upload_bounds[scope];

	for (const struct upload *upload = session->master->uploads; upload; upload = upload->following) {
		if (!is_in_scope(upload, session, scope))
			continue;
		count++;
		bytes += upload->charged;
	}
	return count <= bound->count && bytes <= bound->bytes;
}

static enum err make_fit(struct peer_session *session, size_t count, uint64_t bytes, struct error *error)
{
	for (int scope = 0; scope < UPLOADS_SCOPES; scope++) {
		const struct upload_bound *bound = &session->master->upload_bounds[scope];

		while (!fits(session, (enum upload_scope)scope, count, bytes))
			if (!make_room(session, (enum upload_scope)scope))
				return error_set(error, ERR_BUSY, "at most %zu graphs with %llu bytes may be "
					"uploaded at once %s; try again",
						 bound->count, (unsigned long long)bound->bytes, whose[scope]);
	}
	return ERR_NONE;
}

enum err uploads_admit(struct peer_session *session, uint64_t bytes, struct error *error)
{
	return make_fit(session, 1, bytes, error);
}

enum err uploads_grow(struct upload *upload, uint64_t bytes, struct error *error)
{
	enum err err;

	CHECK(upload->counted);
	upload->moved_ns = clock_mono_ns();
	err = make_fit(upload->session, 0, bytes, error);
	if (err == ERR_NONE)
		upload->charged += bytes;
	return err;
}
