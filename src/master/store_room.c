/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * With a full disk: which requests are still accepted, and which are refused at once instead of making the peer wait.
 */
#include <sys/statvfs.h>

#include "master/dispatch.h"

#define LAST_ROOM (1u << 20)             /* the last bytes of the reserve, for results and cancels only */

/* Is the last of the reserve in use? False also if the file system can't be queried. */
static bool is_nearly_full(const char *dir)
{
	struct statvfs info;

	return statvfs(dir, &info) == 0 && (uint64_t)info.f_bavail * info.f_frsize < LAST_ROOM;
}

enum err room_check(struct master *master, enum room_need need, struct error *error)
{
	const char *dir = master->options.statedir.dir;
	struct store_stats stats;

	store_stats(master->store, &stats);
	if (need == ROOM_FOR_CANCEL && stats.full && stats.reserve)
		stats.stuck = !store_use_reserve(master->store);
	if (need == ROOM_FOR_ANSWER && stats.stuck)
		error_set(error, ERR_FULL, "the disk of %s is full: until there is space, only titan status, ls and "
			"worker ls work", dir);
	else if (need == ROOM_FOR_NEW && stats.full)
		error_set(error, ERR_FULL, "the disk of %s is nearly full, so new runs are refused", dir);
	else if (need != ROOM_FOR_ANSWER &&
		 (stats.stuck || (need == ROOM_FOR_ACT && stats.full && (!stats.reserve || is_nearly_full(dir)))))
		error_set(error, ERR_FULL, "the disk of %s is full: nothing can be changed until there is space", dir);
	else
		return ERR_NONE;
	return error_next(error, "df %s", dir);
}

bool room_refuse(const struct incoming_frame *in, uint64_t id, enum room_need need)
{
	struct error error;

	if (room_check(in->master, need, &error) == ERR_NONE)
		return false;
	session_refuse(in->session, id, &error);
	return true;
}
