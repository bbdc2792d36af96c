/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files and descriptors. Everything returns 0 (or a count) or a negative errno. */
#ifndef TITAN_BASE_IO_H
#define TITAN_BASE_IO_H

#include <sys/types.h>

#include "base/buf.h"

struct io_identity {
	uint64_t device, inode;
	uint64_t mount;                  /* differs below a bind mount, where the device is the same */
};

int io_write_all(int fd, const void *data, size_t len);
int io_read_file(int dir_fd, const char *path, size_t max, struct buf *ret_data);   /* -EFBIG over max */
/* By a temporary file, fsync and rename: after a crash it is the old one or the new one. */
int io_write_file(int dir_fd, const char *path, const void *data, size_t len, mode_t mode);
int io_set_nonblock(int fd);
int io_set_cloexec(int fd, bool on);
int io_make_dirs(const char *path, mode_t mode);         /* as mkdir -p; existing is fine */
/*
 * Never follows a link and never enters another mount; missing is fine. What can't be removed stays, all else goes: the
 * result is the first failure, -EXDEV for a mount.
 */
int io_remove_tree(int dir_fd, const char *name);
/* What a name in dir_fd stands for, links not followed; "": dir_fd itself. */
int io_identify(int dir_fd, const char *name, struct io_identity *ret_identity);
int io_check_private_dir(const char *path);              /* ours, 0700; -EPERM otherwise, -ELOOP for a symbolic link */
int io_fd_count_limit(void);                            /* raise RLIMIT_NOFILE to its hard limit; the limit */

#endif
