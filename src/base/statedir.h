/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a cluster's state lives: $TITAN_STATE or $XDG_STATE_HOME/titan or ~/.local/state/titan, then the
 * cluster's name. Directories are 0700 and ours, or refused.
 */
#ifndef TITAN_BASE_STATEDIR_H
#define TITAN_BASE_STATEDIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct statedir {
	char dir[PATH_MAX];              /* .../default */
	char cluster[130];               /* default */
};

/*
 * 0, or -EINVAL for a bad name, -ENOENT without a home, -ENAMETOOLONG. Creates nothing. NULL or "" is the
 * cluster named default.
 */
int statedir_find(const char *cluster, struct statedir *ret_statedir);
/* Creates the directory and those above it; -EPERM when it isn't ours or others may enter, -ELOOP for a symbolic link. */
int statedir_make(const struct statedir *statedir);
/*
 * Is there a directory above it that every user may write, with no sticky bit? Then each of them can move the cluster's
 * directory away, but not put another in its place, as one of theirs is refused.
 */
bool statedir_is_exposed(const struct statedir *statedir, char ret_above[PATH_MAX]);
/* Paths below it: "titan.sock", "titan.db", "logs", "worker/NAME". Over PATH_MAX it stops the program. */
const char *statedir_path(const struct statedir *statedir, const char *name, char out[PATH_MAX]);
/*
 * sun_path holds 108 bytes: a socket behind a longer path is named through /proc/self/fd. Neither blocks;
 * the descriptors are non-blocking. 0 or -errno: connect gives -ENOENT or -ECONNREFUSED when nobody is
 * there, -EAGAIN when the backlog is full, -EPERM and -ELOOP as statedir_make; listen -EADDRINUSE when somebody answers.
 */
int statedir_socket_connect(const struct statedir *statedir, int *ret_fd);
int statedir_socket_listen(const struct statedir *statedir, int *ret_fd);
/* The same for another socket in a directory that is ours alone. */
int statedir_connect_in(const char *dir, const char *name, int *ret_fd);
int statedir_listen_in(const char *dir, const char *name, int *ret_fd);

#endif
