/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files and descriptors. Every function returns 0 (or a count) or -errno. */
#ifndef TITAN_BASE_IO_H
#define TITAN_BASE_IO_H

#include <sys/types.h>

#include "base/buf.h"

struct io_identity {
	uint64_t device, inode;
	/* number of the file's mount, which differs below a bind mount, where the device is the same */
	uint64_t mount;
};

int io_write_all(int fd, const void *data, size_t len);
/* Read a whole file. Returns -EFBIG if the file is larger than max. */
int io_read_file(int dir_fd, const char *path, size_t max, struct buf *ret_data);
/* Write a file through a temporary file, fsync and rename: after a crash the old or the new content is there. */
int io_write_file(int dir_fd, const char *path, const void *data, size_t len, mode_t mode);
int io_set_nonblock(int fd);
int io_set_cloexec(int fd, bool on);
/* Makes directories as mkdir -p does; existing ones are fine. */
int io_make_dirs(const char *path, mode_t mode);
/*
 * Remove a tree. Never follows a link or enters another mount; a missing tree is no error. What can't be removed stays,
 * and everything else is removed; returns the first failure, -EXDEV for a mount.
 */
int io_remove_tree(int dir_fd, const char *name);
/* Return device, inode and mount of a name in dir_fd, without following links; "": dir_fd itself. */
int io_identify(int dir_fd, const char *name, struct io_identity *ret_identity);
/* Does this user own the directory, with mode 0700? 0: yes; otherwise -EPERM, or -ELOOP for a symbolic link. */
int io_check_private_dir(const char *path);
/* Write the absolute form of a path into out, PATH_MAX bytes; the path need not exist. */
int io_absolute(const char *path, char *out);
int io_fd_count_limit(void);                            /* raise RLIMIT_NOFILE to its hard limit and return that */

#endif
