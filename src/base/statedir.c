/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds and makes a cluster's directory, and owns the name of its socket. The path is absolute, so that it stays right
 * when a daemon changes its directory. A socket file is replaced only under the directory's lock, and only if no
 * process answers on it; any other file of that name is left alone.
 */
#include "base/statedir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/check.h"
#include "base/io.h"
#include "base/text.h"

#define SOCKET_NAME    "titan.sock"
#define SOCKET_BACKLOG 511

/* Return the variable's value; NULL if it isn't set or empty. */
static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

static int join(char out[PATH_MAX], const char *first, const char *second)
{
	int len = snprintf(out, PATH_MAX, "%s/%s", first, second);

	return len > 0 && len < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Find the directory that contains the directories of all clusters. */
static int state_dir(char out[PATH_MAX])
{
	const char *given = environment("TITAN_STATE");
	const char *home;
	char current[PATH_MAX];

	if (given && given[0] == '/')
		return snprintf(out, PATH_MAX, "%s", given) < PATH_MAX ? 0 : -ENAMETOOLONG;
	if (given) {
		if (!getcwd(current, sizeof(current)))
			return -errno;
		return join(out, current, given);
	}
	/* The XDG specification says that a relative path counts as not set. */
	given = environment("XDG_STATE_HOME");
	if (given && given[0] == '/')
		return join(out, given, "titan");
	home = environment("HOME");
	if (!home || home[0] != '/')
		return -ENOENT;
	return join(out, home, ".local/state/titan");
}

int statedir_find(const char *cluster, struct statedir *ret_statedir)
{
	struct statedir statedir;
	char state[PATH_MAX];
	int result;

	if (!cluster || !cluster[0])
		cluster = "default";
	if (!text_is_name(slice_str(cluster)) || strlen(cluster) >= sizeof(statedir.cluster))
		return -EINVAL;
	result = state_dir(state);
	if (result < 0)
		return result;
	result = join(statedir.dir, state, cluster);
	if (result < 0)
		return result;
	memcpy(statedir.cluster, cluster, strlen(cluster) + 1);
	*ret_statedir = statedir;
	return 0;
}

int statedir_make(const struct statedir *statedir)
{
	int result = io_make_dirs(statedir->dir, 0700);

	if (result < 0)
		return result;
	return io_check_private_dir(statedir->dir);
}

bool statedir_is_exposed(const struct statedir *statedir, char ret_above[PATH_MAX])
{
	struct stat info;
	char *slash;

	if (!realpath(statedir->dir, ret_above))
		return false;
	while ((slash = strrchr(ret_above, '/')) != NULL && slash[1] != '\0') {
		slash[slash == ret_above] = '\0';
		if (stat(ret_above, &info) == 0 && (info.st_mode & S_IWOTH) && !(info.st_mode & S_ISVTX))
			return true;
	}
	return false;
}

const char *statedir_path(const struct statedir *statedir, const char *name, char out[PATH_MAX])
{
	CHECK(join(out, statedir->dir, name) == 0);
	return out;
}

/* Build the socket's address. A path that is too long is reached through the directory's descriptor. */
static void socket_address(const char *dir, const char *name, int dir_fd, struct sockaddr_un *ret_address)
{
	const size_t size = sizeof(ret_address->sun_path);
	int len;

	memset(ret_address, 0, sizeof(*ret_address));
	ret_address->sun_family = AF_UNIX;
	len = snprintf(ret_address->sun_path, size, "%s/%s", dir, name);
	if (len < 0 || (size_t)len >= size)
		snprintf(ret_address->sun_path, size, "/proc/self/fd/%d/%s", dir_fd, name);
}

static int open_dir(const char *dir)
{
	int result = io_check_private_dir(dir);
	int fd;

	if (result < 0)
		return result;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

static int connect_to(const struct sockaddr_un *address, int *ret_fd)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int result = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		result = -errno;
	if (result < 0)
		close(fd);
	else
		*ret_fd = fd;
	return result;
}

int statedir_connect_in(const char *dir, const char *name, int *ret_fd)
{
	struct sockaddr_un address;
	int dir_fd = open_dir(dir);
	int result;

	if (dir_fd < 0)
		return dir_fd;
	socket_address(dir, name, dir_fd, &address);
	result = connect_to(&address, ret_fd);
	close(dir_fd);
	return result;
}

/* Remove a socket file that no process serves. 0: it is gone; -EADDRINUSE: a process answers on it. */
static int remove_stale(int dir_fd, const char *name, const struct sockaddr_un *address)
{
	struct stat info;
	int fd;
	int result;

	if (fstatat(dir_fd, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	/* Connecting to a plain file is refused as well, and such a file must not be deleted. */
	if (!S_ISSOCK(info.st_mode))
		return -ENOTSOCK;
	result = connect_to(address, &fd);
	if (result == 0)
		close(fd);
	/* A full backlog (-EAGAIN) also means that a master lives. */
	if (result != -ECONNREFUSED)
		return result == 0 || result == -EAGAIN ? -EADDRINUSE : result;
	return unlinkat(dir_fd, name, 0) == 0 ? 0 : -errno;
}

static int listen_at(int dir_fd, const char *name, const struct sockaddr_un *address, int *ret_fd)
{
	int result = remove_stale(dir_fd, name, address);
	int fd;

	if (result < 0)
		return result;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* Set before bind, this becomes the mode of the socket's file, so the file is never open to others. */
	if (fchmod(fd, 0600) < 0 || bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ||
	    listen(fd, SOCKET_BACKLOG) < 0)
		result = -errno;
	if (result < 0)
		close(fd);
	else
		*ret_fd = fd;
	return result;
}

int statedir_listen_in(const char *dir, const char *name, int *ret_fd)
{
	struct sockaddr_un address;
	int dir_fd = open_dir(dir);
	int result;

	if (dir_fd < 0)
		return dir_fd;
	/*
	 * The lock is needed because two masters that start at once could each take the other's new socket for a stale
	 * one.
	 */
	if (flock(dir_fd, LOCK_EX | LOCK_NB) < 0) {
		result = errno == EWOULDBLOCK ? -EADDRINUSE : -errno;
	} else {
		socket_address(dir, name, dir_fd, &address);
		result = listen_at(dir_fd, name, &address, ret_fd);
	}
	close(dir_fd);
	return result;
}

void statedir_past_key(uint64_t turn, int64_t wall_ms, char ret_key[STATEDIR_KEY_SIZE])
{
	if (turn > 0)
		snprintf(ret_key, STATEDIR_KEY_SIZE, "turn-%" PRIu64, turn);
	else
		snprintf(ret_key, STATEDIR_KEY_SIZE, "%" PRId64, wall_ms);
}

int statedir_past(const struct statedir *statedir, const char *key, struct statedir *ret)
{
	int len;

	memcpy(ret->cluster, statedir->cluster, sizeof(ret->cluster));
	len = snprintf(ret->dir, sizeof(ret->dir), "%s/past/%s/%s", statedir->dir, key, statedir->cluster);
	return len > 0 && (size_t)len < sizeof(ret->dir) ? 0 : -ENAMETOOLONG;
}

int statedir_socket_connect(const struct statedir *statedir, int *ret_fd)
{
	return statedir_connect_in(statedir->dir, SOCKET_NAME, ret_fd);
}

int statedir_socket_listen(const struct statedir *statedir, int *ret_fd)
{
	return statedir_listen_in(statedir->dir, SOCKET_NAME, ret_fd);
}

/* ---- sockets for other users ---- */

/* May only root and this owner make files in the directory? Those above it must be safe, too, or sticky. */
static bool others_may_write(const struct stat *info, uid_t owner, bool sticky_is_safe)
{
	if (info->st_uid != 0 && info->st_uid != owner)
		return true;
	return (info->st_mode & (S_IWGRP | S_IWOTH)) != 0 && !(sticky_is_safe && info->st_mode & S_ISVTX);
}

/* Check the directory and all above it; its path becomes one without symbolic links. 0 or -errno. */
static int check_shared_dir(char dir[PATH_MAX], struct stat *ret_info)
{
	char above[PATH_MAX];
	struct stat info;
	char *slash;

	if (!realpath(dir, above) || stat(above, ret_info) < 0)
		return -errno;
	if (others_may_write(ret_info, ret_info->st_uid, false))
		return -EPERM;
	memcpy(dir, above, strlen(above) + 1);
	while ((slash = strrchr(above, '/')) != NULL && slash[1] != '\0') {
		slash[slash == above] = '\0';
		if (stat(above, &info) < 0)
			return -errno;
		if (others_may_write(&info, ret_info->st_uid, true))
			return -EPERM;
	}
	return 0;
}

/* Split the path, and open its directory. Return the descriptor or -errno. */
static int open_shared_dir(const char *path, char ret_dir[PATH_MAX], const char **ret_name, struct stat *ret_info)
{
	const char *slash = strrchr(path, '/');
	int result, fd;

	if (path[0] != '/' || slash == path || slash[1] == '\0')
		return -EINVAL;
	if (strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return -ENAMETOOLONG;
	memcpy(ret_dir, path, (size_t)(slash - path));
	ret_dir[slash - path] = '\0';
	*ret_name = slash + 1;
	result = check_shared_dir(ret_dir, ret_info);
	if (result < 0)
		return result;
	fd = open(ret_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == EACCES)
		fd = open(ret_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

/* The directory of a shared socket is often on a file system that is empty after a boot, such as /run: make it again. */
static int make_shared_dir(const char *path)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (!slash || slash == path || (size_t)(slash - path) >= sizeof(dir))
		return 0;
	memcpy(dir, path, (size_t)(slash - path));
	dir[slash - path] = '\0';
	if (mkdir(dir, 0700) < 0)
		return errno == EEXIST ? 0 : -errno;
	return chmod(dir, 0755) < 0 ? -errno : 0;
}

int statedir_listen_shared(const char *path, gid_t group, int *ret_fd)
{
	struct sockaddr_un address;
	char dir[PATH_MAX];
	const char *name;
	struct stat info;
	int result = make_shared_dir(path);
	int dir_fd = result < 0 ? result : open_shared_dir(path, dir, &name, &info);

	if (dir_fd < 0)
		return dir_fd;
	if (info.st_uid != 0 && info.st_uid != geteuid())
		result = -EPERM;
	else if (!(info.st_mode & S_IXOTH) && !(info.st_mode & S_IXGRP && info.st_gid == group))
		result = -EACCES;
	socket_address(dir, name, dir_fd, &address);
	/* It listens with mode 0600 first, and only then the group gets it: nobody else can ever connect. */
	if (result == 0)
		result = listen_at(dir_fd, name, &address, ret_fd);
	if (result == 0 && (fchownat(dir_fd, name, (uid_t)-1, group, AT_SYMLINK_NOFOLLOW) < 0 || fchmodat(dir_fd, name, 0660, 0) < 0)) {
		result = errno == EPERM ? -EDOM : -errno;
		unlinkat(dir_fd, name, 0);
		close(*ret_fd);
	}
	close(dir_fd);
	return result;
}

int statedir_connect_shared(const char *path, int *ret_fd)
{
	struct sockaddr_un address;
	char dir[PATH_MAX];
	const char *name;
	struct stat info, socket_info;
	int dir_fd = open_shared_dir(path, dir, &name, &info);
	int result = 0;

	if (dir_fd < 0)
		return dir_fd;
	if (fstatat(dir_fd, name, &socket_info, AT_SYMLINK_NOFOLLOW) < 0)
		result = -errno;
	else if (!S_ISSOCK(socket_info.st_mode))
		result = -ENOTSOCK;
	socket_address(dir, name, dir_fd, &address);
	if (result == 0)
		result = connect_to(&address, ret_fd);
	close(dir_fd);
	return result;
}
