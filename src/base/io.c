/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads and writes whole files, makes and checks directories. */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rand.h"

#define READ_STEP 65536u

int io_write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len > 0) {
		ssize_t done = write(fd, at, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			struct pollfd ready = { .fd = fd, .events = POLLOUT };

			if (poll(&ready, 1, -1) < 0 && errno != EINTR)
				return -errno;
			continue;
		}
		if (done < 0)
			return -errno;
		at += done;
		len -= (size_t)done;
	}
	return 0;
}

static int read_to_end(int fd, size_t max, struct buf *data)
{
	for (;;) {
		size_t room = max - data->len < READ_STEP ? max - data->len + 1 : READ_STEP;
		ssize_t got = read(fd, buf_reserve(data, room), room);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return 0;
		data->len += (size_t)got;
		if (data->len > max)
			return -EFBIG;
	}
}

int io_read_file(int dir_fd, const char *path, size_t max, struct buf *ret_data)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct buf data = { 0 };
	int result;

	if (fd < 0)
		return -errno;
	result = read_to_end(fd, max, &data);
	close(fd);
	if (result < 0) {
		buf_free(&data);
		return result;
	}
	buf_free(ret_data);
	*ret_data = data;
	return 0;
}

/* Sync the directory that contains path; otherwise a crash may lose the file's name. */
static int sync_parent(int dir_fd, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *parent;
	int fd, result = 0;

	if (!slash)
		parent = mem_strdup(".");
	else if (slash == path)
		parent = mem_strdup("/");
	else
		parent = strndup(path, (size_t)(slash - path));
	if (!parent)
		return -ENOMEM;
	fd = openat(dir_fd, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mem_free(parent);
	if (fd < 0)
		return -errno;
	if (fsync(fd) < 0)
		result = -errno;
	close(fd);
	return result;
}

static int fill_file(int fd, const void *data, size_t len, mode_t mode)
{
	int result = io_write_all(fd, data, len);

	if (result == 0 && fchmod(fd, mode) < 0)
		result = -errno;
	if (result == 0 && fsync(fd) < 0)
		result = -errno;
	return result;
}

int io_write_file(int dir_fd, const char *path, const void *data, size_t len, mode_t mode)
{
	struct buf temp = { 0 };
	uint32_t unique;
	int fd, result;

	rand_system(&unique, sizeof(unique));
	buf_addf(&temp, "%s.%08x.tmp", path, unique);
	fd = openat(dir_fd, buf_cstr(&temp), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		result = -errno;
		buf_free(&temp);
		return result;
	}
	result = fill_file(fd, data, len, mode);
	if (close(fd) < 0 && result == 0)
		result = -errno;
	if (result == 0 && renameat(dir_fd, buf_cstr(&temp), dir_fd, path) < 0)
		result = -errno;
	if (result < 0)
		unlinkat(dir_fd, buf_cstr(&temp), 0);
	else
		result = sync_parent(dir_fd, path);
	buf_free(&temp);
	return result;
}

int io_set_nonblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

int io_set_cloexec(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFD);

	if (flags < 0 || fcntl(fd, F_SETFD, on ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC) < 0)
		return -errno;
	return 0;
}

static int make_dir(const char *path, mode_t mode)
{
	struct stat st;

	if (mkdir(path, mode) == 0)
		return 0;
	/* mkdir of an existing directory on a read-only file system may return EROFS */
	if (errno != EEXIST && errno != EROFS && errno != EACCES)
		return -errno;
	int failure = -errno;

	if (stat(path, &st) < 0)
		return failure;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int io_make_dirs(const char *path, mode_t mode)
{
	char *copy = mem_strdup(path);
	int result = *path ? 0 : -ENOENT;

	for (char *at = copy + (*copy == '/'); result == 0 && *at; at++) {
		if (*at != '/' || at[-1] == '/')
			continue;
		*at = '\0';
		result = make_dir(copy, mode);
		*at = '/';
	}
	if (result == 0)
		result = make_dir(copy, mode);
	mem_free(copy);
	return result;
}

int io_check_private_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int result = 0;

	if (fd < 0) {
		result = errno == EACCES ? -EPERM : -errno;
		/* Linux returns ENOTDIR for a symbolic link that it may not follow. */
		return (result == -ENOTDIR || result == -ELOOP) && lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? -ELOOP : result;
	}
	if (fstat(fd, &st) < 0)
		result = -errno;
	/* ignore the set-group-ID bit: it may be inherited from the parent directory and gives no user access */
	else if (st.st_uid != geteuid() || (st.st_mode & 0777) != 0700)
		result = -EPERM;
	close(fd);
	return result;
}

int io_fd_count_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	if (limit.rlim_cur < limit.rlim_max) {
		struct rlimit raised = { .rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max };

		if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
			limit = raised;
	}
	return limit.rlim_cur > INT32_MAX ? INT32_MAX : (int)limit.rlim_cur;
}

int io_identify(int dir_fd, const char *name, struct io_identity *ret_identity)
{
	struct statx info;

	if (statx(dir_fd, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_INO | STATX_MNT_ID, &info) < 0)
		return -errno;
	ret_identity->device = (uint64_t)info.stx_dev_major << 32 | info.stx_dev_minor;
	ret_identity->inode = info.stx_ino;
	/* Kernels before 5.8 have no mount numbers. */
	ret_identity->mount = info.stx_mask & STATX_MNT_ID ? info.stx_mnt_id : ret_identity->device;
	return 0;
}

int io_absolute(const char *path, char *out)
{
	char here[PATH_MAX];
	int len;

	if (path[0] == '/')
		len = snprintf(out, PATH_MAX, "%s", path);
	else if (getcwd(here, sizeof(here)) == NULL)
		return -errno;
	else
		len = snprintf(out, PATH_MAX, "%s/%s", strcmp(here, "/") == 0 ? "" : here, path);
	return len < PATH_MAX ? 0 : -ENAMETOOLONG;
}
