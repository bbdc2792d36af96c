/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The place of the jobs of another user is below /var/lib, because the directories above the worker's own, such as /root,
 * are closed to that user. Only root can write to it; in it, each attempt has a directory of the user. A worker keeps the user
 * with whom it was started first: what earlier jobs left behind belongs to that user.
 */
#include "worker/job_user.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"

#define PLACES    "/var/lib/titan-jobs"
#define USER_FILE "user"                 /* in the worker's directory: the number of the user */

static enum err unknown_user(const char *name, struct error *error)
{
	error_set(error, ERR_NOT_FOUND, "--user: this machine has no user '%.60s'", name);
	return error_next(error, "getent passwd shows all users");
}

enum err job_user_find(const char *name, struct job_user *ret, struct error *error)
{
	const struct passwd *user;
	uint64_t number = 0;

	if (geteuid() != 0) {
		error_set(error, ERR_DENIED, "--user: only a worker that root starts can run jobs as another user");
		return error_next(error, "start the worker as that user, with a key of: titan token add NAME --worker");
	}
	user = getpwnam(name);
	if (!user && text_parse_u64(slice_str(name), &number) && number < UINT32_MAX)
		user = getpwuid((uid_t)number);
	if (!user)
		return unknown_user(name, error);
	if (user->pw_uid == 0)
		return error_set(error, ERR_INVALID, "--user: '%.60s' is root; leave the option out to run jobs as root", name);
	*ret = (struct job_user){ .uid = user->pw_uid, .gid = user->pw_gid, .group_count = JOB_GROUPS_MAX };
	if (strlen(user->pw_name) >= sizeof(ret->name) || strlen(user->pw_dir) >= sizeof(ret->home) ||
	    strlen(user->pw_shell) >= sizeof(ret->shell))
		return error_set(error, ERR_TOO_LARGE, "--user: the name, home or shell of '%.60s' is too long", name);
	snprintf(ret->name, sizeof(ret->name), "%s", user->pw_name);
	snprintf(ret->home, sizeof(ret->home), "%s", user->pw_dir[0] == '/' ? user->pw_dir : "/");
	snprintf(ret->shell, sizeof(ret->shell), "%s", user->pw_shell[0] == '/' ? user->pw_shell : "/bin/sh");
	if (getgrouplist(ret->name, ret->gid, ret->groups, &ret->group_count) < 0)
		return error_set(error, ERR_TOO_LARGE, "--user: '%s' is in more than %d groups", ret->name, JOB_GROUPS_MAX);
	return ERR_NONE;
}

/* Make a directory of root that others may only pass through, or check that it is one. */
static int open_place(const char *path)
{
	struct stat info;

	if ((mkdir(path, 0711) < 0 && errno != EEXIST) || lstat(path, &info) < 0)
		return -errno;
	if (!S_ISDIR(info.st_mode))
		return -ENOTDIR;
	if (info.st_uid != 0 || (info.st_mode & 0066) != 0)
		return -EPERM;
	/* The mode of a new directory depends on the umask. */
	return (info.st_mode & 0777) == 0711 || chmod(path, 0711) == 0 ? 0 : -errno;
}

/* Read as whom the worker runs jobs; *ret_uid is 0 for root. False: it hasn't run any yet. */
static bool read_user(int worker_fd, uint64_t *ret_uid)
{
	struct buf text = { 0 };
	struct stat info;
	bool known = true;

	*ret_uid = 0;
	if (io_read_file(worker_fd, USER_FILE, 32, &text) < 0 || !text_parse_u64(buf_slice(&text), ret_uid))
		known = fstatat(worker_fd, "spool", &info, AT_SYMLINK_NOFOLLOW) == 0;
	buf_free(&text);
	return known;
}

static int write_user(int worker_fd, const struct job_user *user)
{
	int fd = openat(worker_fd, USER_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	char text[24];
	int len = snprintf(text, sizeof(text), "%u", (unsigned)user->uid), result = 0;

	if (fd < 0)
		return -errno;
	if (io_write_all(fd, text, (size_t)len) < 0 || fsync(fd) < 0)
		result = -errno;
	close(fd);
	return result;
}

enum err job_user_place(struct job_user *user, const char *mark, int worker_fd, struct error *error)
{
	char path[PATH_MAX];
	uint64_t before;
	bool known = read_user(worker_fd, &before);
	int result;

	if (known && before != (user ? user->uid : 0)) {
		error_set(error, ERR_DENIED, "this worker has run jobs as user %llu, and keeps to that user", (unsigned long long)before);
		return error_next(error, "start another worker with --name, or start this one with --user %llu", (unsigned long long)before);
	}
	if (!user)
		return ERR_NONE;
	result = open_place(PLACES);
	snprintf(user->place, sizeof(user->place), PLACES "/%s", mark);
	if (result == 0)
		result = open_place(user->place);
	snprintf(path, sizeof(path), "%s/attempts", user->place);
	if (result == 0)
		result = open_place(path);
	snprintf(path, sizeof(path), "%s/link", user->place);
	if (result == 0 && mkdir(path, 0700) < 0 && errno != EEXIST)
		result = -errno;
	if (result == 0 && !known)
		result = write_user(worker_fd, user);
	if (result == 0)
		return ERR_NONE;
	if (result == -EPERM) {
		error_set(error, ERR_DENIED, "%s, or what the worker has in it, must belong to root with mode 0711", PLACES);
		return error_next(error, "ls -ld " PLACES " " PLACES "/*");
	}
	return error_system(error, -result, "can't make %s for the jobs of %s", user->place, user->name);
}
