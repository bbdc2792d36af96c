/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Creates and removes the ballast files. They are allocated but never written: on most file systems that costs no I/O.
 */
#include "store/ballast.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

static bool is_no_room(int fault)
{
	return fault == ENOSPC || fault == EDQUOT || fault == EFBIG;
}

/* Make the file. Return 0 or an errno. */
static int make(const char *path, int64_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int fault;

	if (fd < 0)
		return errno;
	fault = posix_fallocate(fd, 0, size);
	close(fd);
	if (fault != 0)
		unlink(path);
	return fault;
}

void ballast_init(struct ballast *ballast, const char *database_path, const char *suffix, int64_t size)
{
	struct buf path = { 0 };
	int fault;

	buf_addf(&path, "%s%s", database_path, suffix);
	ballast->path = mem_strdup(buf_cstr(&path));
	ballast->size = size;
	buf_free(&path);
	fault = make(ballast->path, size);
	ballast->state = fault == 0 ? BALLAST_HELD : is_no_room(fault) ? BALLAST_GIVEN_UP : BALLAST_NONE;
}

void ballast_free(struct ballast *ballast)
{
	mem_free(ballast->path);
	*ballast = (struct ballast){ 0 };
}

bool ballast_give_up(struct ballast *ballast)
{
	if (ballast->state != BALLAST_HELD || unlink(ballast->path) < 0)
		return false;
	ballast->state = BALLAST_GIVEN_UP;
	return true;
}

bool ballast_take_again(struct ballast *ballast)
{
	struct statvfs info;
	char *slash = strrchr(ballast->path, '/');
	int result;

	if (ballast->state != BALLAST_GIVEN_UP)
		return true;
	if (slash)
		*slash = '\0';
	result = statvfs(slash ? ballast->path : ".", &info);
	if (slash)
		*slash = '/';
	/*
	 * Wait until there is room for twice the ballast; otherwise the next commit would use the ballast up at once.
	 */
	if (result < 0 || (uint64_t)info.f_bavail * info.f_frsize < 2 * (uint64_t)ballast->size)
		return false;
	if (make(ballast->path, ballast->size) != 0)
		return false;
	ballast->state = BALLAST_HELD;
	return true;
}
