/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a cluster's state lives: $TITAN_STATE or $XDG_STATE_HOME/titan or ~/.local/state/titan, then the
 * cluster's name. Directories are 0700 and ours, or refused.
 */
#ifndef TITAN_BASE_PLACE_H
#define TITAN_BASE_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct place {
	char dir[PATH_MAX];              /* .../default */
	char cluster[130];               /* default */
};

/*
 * 0, or -EINVAL for a bad name, -ENOENT without a home, -ENAMETOOLONG. Creates nothing. NULL or "" is the
 * cluster named default.
 */
int place_find(const char *cluster, struct place *ret_place);
/* Creates the directory and those above it; -EPERM when it isn't ours or others may enter, -ELOOP for a symbolic link. */
int place_make(const struct place *place);
/*
 * Is there a directory above it that every user may write, with no sticky bit? Then each of them can move the cluster's
 * directory away, but not put another in its place, as one of theirs is refused.
 */
bool place_is_exposed(const struct place *place, char ret_above[PATH_MAX]);
/* Paths below it: "titan.sock", "titan.db", "logs", "worker/NAME". Over PATH_MAX it stops the program. */
const char *place_path(const struct place *place, const char *name, char out[PATH_MAX]);
/*
 * sun_path holds 108 bytes: a socket behind a longer path is named through /proc/self/fd. Neither blocks;
 * the descriptors are non-blocking. 0 or -errno: connect gives -ENOENT or -ECONNREFUSED when nobody is
 * there, -EAGAIN when the backlog is full, -EPERM and -ELOOP as place_make; listen -EADDRINUSE when somebody answers.
 */
int place_socket_connect(const struct place *place, int *ret_fd);
int place_socket_listen(const struct place *place, int *ret_fd);
/* The same for another socket in a directory that is ours alone. */
int place_connect_in(const char *dir, const char *name, int *ret_fd);
int place_listen_in(const char *dir, const char *name, int *ret_fd);

#endif
