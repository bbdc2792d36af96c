/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a cluster's state is: a directory with the cluster's name in $TITAN_STATE, $XDG_STATE_HOME/titan or
 * ~/.local/state/titan. The directories must belong to this user with mode 0700, or they are refused.
 */
#ifndef TITAN_BASE_STATEDIR_H
#define TITAN_BASE_STATEDIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct statedir {
	char dir[PATH_MAX];              /* absolute path of the cluster's directory, such as .../default */
	char cluster[130];               /* name of the cluster, such as default */
};

/*
 * Find the directory of a cluster; NULL or "" means the cluster named default. Makes nothing. 0 or: -EINVAL for a bad
 * name, -ENOENT if there is no home directory, -ENAMETOOLONG.
 */
int statedir_find(const char *cluster, struct statedir *ret_statedir);
/*
 * Make the directory and its parents. -EPERM: it doesn't belong to this user, or others may enter it; -ELOOP: it is a
 * symbolic link.
 */
int statedir_make(const struct statedir *statedir);
/*
 * Does a directory above it let every user write, without a sticky bit? Then any user can move the cluster's directory
 * away. They can't put another in its place, because one of theirs would be refused.
 */
bool statedir_is_exposed(const struct statedir *statedir, char ret_above[PATH_MAX]);
/*
 * The directory of the master that shows an earlier time of the cluster: past/KEY/CLUSTER in the cluster's own. The key is
 * turn-N, or the time in UTC milliseconds if turn is 0.
 */
#define STATEDIR_KEY_SIZE 40
void statedir_past_key(uint64_t turn, int64_t wall_ms, char ret_key[STATEDIR_KEY_SIZE]);
int statedir_past(const struct statedir *statedir, const char *key, struct statedir *ret);       /* 0 or -ENAMETOOLONG */
/*
 * Return a path in the directory: "titan.sock", "titan.db", "logs", "worker/NAME". Stops the program if it is
 * longer than PATH_MAX.
 */
const char *statedir_path(const struct statedir *statedir, const char *name, char out[PATH_MAX]);
/*
 * Connect to the cluster's socket, or listen on it. sun_path has 108 bytes, so a socket with a longer path is
 * named through /proc/self/fd. Neither function blocks; the descriptors are non-blocking. 0 or -errno:
 * connect returns -ENOENT or -ECONNREFUSED if nobody listens, -EAGAIN if the backlog is full, -EPERM and
 * -ELOOP as statedir_make; listen returns -EADDRINUSE if somebody answers.
 */
int statedir_socket_connect(const struct statedir *statedir, int *ret_fd);
int statedir_socket_listen(const struct statedir *statedir, int *ret_fd);
/* Connect to another socket, or listen on it, in a directory of this user with mode 0700. */
int statedir_connect_in(const char *dir, const char *name, int *ret_fd);
int statedir_listen_in(const char *dir, const char *name, int *ret_fd);

/*
 * Listen at a socket that the members of a group may use, or connect to such a socket; path is absolute. Its directory
 * must be one in which only root and the owner of the master can make files, so that nobody can put another socket in its
 * place: -EPERM otherwise. listen: makes the directory if its parent allows it; -EADDRINUSE: another process listens
 * there; -EACCES: the group can't enter the directory; -EDOM: this user can't give the socket to the group.
 */
int statedir_listen_shared(const char *path, gid_t group, int *ret_fd);
int statedir_connect_shared(const char *path, int *ret_fd);

#endif
