/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records what this program does to files below one directory, by replacing the C library's functions, and computes
 * what a power cut may leave there. File contents follow power_disk.h. Names keep their order and are certain once
 * their directory was synced. Include once per program.
 */
#ifndef TITAN_POWER_FILES_H
#define TITAN_POWER_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"

#define POWER_FILES 64
#include "power_disk.h"

#define FILES_NAME  64
#define FILES_NAMES 4096
#define FILES_FDS   1024

enum files_change { FILES_LINK, FILES_RENAME, FILES_UNLINK, FILES_MKDIR };

static struct files_name {
	enum files_change change;
	char from[FILES_NAME], to[FILES_NAME];
	int which;
	/* at: number of the name's operation; durable: number of the first operation after the directory was synced */
	size_t at, durable;
} files_names[FILES_NAMES];

static size_t files_name_count;
static int files_count;                  /* number of files made so far */
/* 1 and up: a recorded file; 0: a file outside the root; -1: a directory below the root */
static int files_of_fd[FILES_FDS];
static char files_root[PATH_MAX];        /* the recorded directory; empty: nothing is recorded */
static bool files_no_dir_sync;           /* imitate a disk that ignores the sync of a directory */
static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;


/* Find the path relative to the root; false: it lies elsewhere. */
static inline bool files_below(int dir_fd, const char *name, char ret_path[FILES_NAME])
{
	char link[64], path[PATH_MAX] = "";
	size_t root = strlen(files_root);
	ssize_t len = 0;

	if (root == 0)
		return false;
	if (name[0] != '/') {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", dir_fd);
		len = readlink(link, path, sizeof(path) - 2);
		if (dir_fd == AT_FDCWD || len < 0)
			return false;
		path[len] = '/';
	}
	strncat(path, name, sizeof(path) - strlen(path) - 1);
	if (strncmp(path, files_root, root) != 0 || path[root] != '/' || strlen(path + root) > FILES_NAME)
		return false;
	strcpy(ret_path, path + root + 1);
	return true;
}

static inline void files_change(enum files_change change, const char *from, const char *to, int which)
{
	struct files_name *name = &files_names[files_name_count++];

	CHECK(files_name_count < FILES_NAMES);
	*name = (struct files_name){ .change = change, .which = which, .at = power_op_count, .durable = SIZE_MAX };
	strcpy(name->from, from);
	strcpy(name->to, to);
	power_record(POWER_NAME, 0, NULL, 0, 0);
}

/* The number of the file that has this name now; -1: none. */
static inline int files_named(const char *path)
{
	for (size_t i = files_name_count; i-- > 0;) {
		const struct files_name *name = &files_names[i];

		if (name->change != FILES_UNLINK && strcmp(name->to, path) == 0)
			return name->which;
		if (name->change != FILES_LINK && name->change != FILES_MKDIR && strcmp(name->from, path) == 0)
			return -1;
	}
	return -1;
}

static inline bool files_in(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	if (len == 0)
		return strchr(path, '/') == NULL;
	return strncmp(path, dir, len) == 0 && path[len] == '/' && strchr(path + len + 1, '/') == NULL;
}

int openat(int dir_fd, const char *name, int flags, ...)
{
	char path[FILES_NAME];
	mode_t mode = 0;
	va_list list;
	int fd;

	va_start(list, flags);
	if (flags & O_CREAT)
		mode = va_arg(list, mode_t);
	va_end(list);
	pthread_mutex_lock(&files_lock);
	fd = (int)syscall(SYS_openat, dir_fd, name, flags, mode);
	if (fd >= 0 && fd < FILES_FDS && files_below(dir_fd, name, path)) {
		int which = files_named(path);

		if (flags & O_DIRECTORY) {
			files_of_fd[fd] = -1;
		} else if (which < 0 && flags & O_CREAT) {
			CHECK(files_count < POWER_FILES);
			which = files_count++;
			power_disk.stable[which].exists = true;
			files_change(FILES_LINK, "", path, which);
		} else if (which >= 0 && flags & O_TRUNC) {
			power_record(POWER_TRUNCATE, which, NULL, 0, 0);
		}
		if (!(flags & O_DIRECTORY) && (flags & O_ACCMODE) != O_RDONLY)
			files_of_fd[fd] = which + 1;
	}
	pthread_mutex_unlock(&files_lock);
	return fd;
}

int close(int fd)
{
	if (fd >= 0 && fd < FILES_FDS)
		files_of_fd[fd] = 0;
	return (int)syscall(SYS_close, fd);
}

static inline int files_file(int fd)
{
	return fd >= 0 && fd < FILES_FDS && files_root[0] ? files_of_fd[fd] - 1 : -1;
}

ssize_t write(int fd, const void *data, size_t len)
{
	struct stat info;
	ssize_t wrote;

	if (files_file(fd) < 0)
		return syscall(SYS_write, fd, data, len);
	/* All code under test that appends opens the file with O_APPEND, so the write went to the end. */
	pthread_mutex_lock(&files_lock);
	CHECK(fstat(fd, &info) == 0);
	wrote = syscall(SYS_write, fd, data, len);
	if (wrote > 0)
		power_record(POWER_WRITE, files_file(fd), data, (size_t)wrote, (size_t)info.st_size);
	pthread_mutex_unlock(&files_lock);
	return wrote;
}

ssize_t pwritev(int fd, const struct iovec *iov, int count, off_t at)
{
	ssize_t wrote;
	struct buf all = { 0 };

	pthread_mutex_lock(&files_lock);
	wrote = syscall(SYS_pwritev, fd, iov, count, (long)at, 0L);
	for (int i = 0; i < count; i++)
		buf_add(&all, iov[i].iov_base, iov[i].iov_len);
	if (wrote > 0 && files_file(fd) >= 0)
		power_record(POWER_WRITE, files_file(fd), all.data, (size_t)wrote, (size_t)at);
	buf_free(&all);
	pthread_mutex_unlock(&files_lock);
	return wrote;
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
	struct iovec part = { (void *)(uintptr_t)data, len };

	return pwritev(fd, &part, 1, at);
}

int ftruncate(int fd, off_t size)
{
	int result;

	pthread_mutex_lock(&files_lock);
	result = (int)syscall(SYS_ftruncate, fd, (long)size);
	if (result == 0 && files_file(fd) >= 0)
		power_record(POWER_TRUNCATE, files_file(fd), NULL, 0, (size_t)size);
	pthread_mutex_unlock(&files_lock);
	return result;
}

/* Record the sync without doing it: the real disk's power isn't cut, so syncing would only cost time. */
int fdatasync(int fd)
{
	pthread_mutex_lock(&files_lock);
	if (files_file(fd) >= 0)
		power_record(POWER_SYNC, files_file(fd), NULL, 0, 0);
	pthread_mutex_unlock(&files_lock);
	return 0;
}

int fsync(int fd)
{
	char link[64], path[PATH_MAX] = "";
	size_t root = strlen(files_root);

	if (files_file(fd) >= 0)
		return fdatasync(fd);
	pthread_mutex_lock(&files_lock);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (root > 0 && !files_no_dir_sync && readlink(link, path, sizeof(path) - 1) > 0 &&
	    strncmp(path, files_root, root) == 0 && (path[root] == '/' || path[root] == '\0')) {
		power_record(POWER_NAME, 0, NULL, 0, 0);
		for (size_t i = 0; i < files_name_count; i++)
			if (files_names[i].durable == SIZE_MAX &&
			    files_in(files_names[i].to[0] ? files_names[i].to : files_names[i].from,
				     path[root] ? path + root + 1 : ""))
				files_names[i].durable = power_op_count;
	}
	pthread_mutex_unlock(&files_lock);
	return 0;
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	char old[FILES_NAME], new[FILES_NAME];
	int result;

	pthread_mutex_lock(&files_lock);
	result = (int)syscall(SYS_renameat, from_fd, from, to_fd, to);
	if (result == 0 && files_below(from_fd, from, old) && files_below(to_fd, to, new))
		files_change(FILES_RENAME, old, new, files_named(old));
	pthread_mutex_unlock(&files_lock);
	return result;
}

int mkdirat(int dir_fd, const char *name, mode_t mode)
{
	char path[FILES_NAME];
	int result;

	pthread_mutex_lock(&files_lock);
	result = (int)syscall(SYS_mkdirat, dir_fd, name, mode);
	if (result == 0 && files_below(dir_fd, name, path))
		files_change(FILES_MKDIR, "", path, -1);
	pthread_mutex_unlock(&files_lock);
	return result;
}

/* ---- the files that a power cut leaves ---- */

static inline void files_reset(void)
{
	files_root[0] = '\0';
	files_name_count = 0;
	files_count = 0;
	power_forget();
	power_disk_reset();
}

/* Start replaying: the record stays as it is, and the modelled disk is empty. */
static inline void files_rewind(void)
{
	power_disk_reset();
	for (int which = 0; which < files_count; which++)
		power_disk.stable[which].exists = true;
}

static inline void files_take(size_t until)
{
	for (; power_disk.at < until; power_disk.at++) {
		const struct power_op *op = &power_ops[power_disk.at];

		if (op->kind == POWER_SYNC)
			power_persist(op->which, power_disk.pending_count[op->which]);
		else if (op->kind != POWER_NAME)
			power_wait(op->which, power_disk.at);
	}
}

/* Write the disk as a cut before operation number at may leave it into an empty directory. */
static inline void files_put(int dir_fd, size_t at, enum power_loss loss, struct rand_state *rand)
{
	size_t made = 0, sure = 0, kept;

	for (; made < files_name_count && files_names[made].at < at; made++)
		if (files_names[made].durable <= at)
			sure = made + 1;
	kept = loss == LOSS_NONE ? made : sure + rand_below(rand, made - sure + 1);
	for (size_t i = 0; i < kept; i++) {
		const struct files_name *name = &files_names[i];

		if (name->change == FILES_MKDIR) {
			CHECK(mkdirat(dir_fd, name->to, 0700) == 0);
		} else if (name->change == FILES_LINK) {
			struct power_image image = power_image_of(name->which, loss, rand);

			CHECK(io_write_file(dir_fd, name->to, image.bytes.data, image.bytes.len, 0600) == 0);
			buf_free(&image.bytes);
		} else {
			CHECK(renameat(dir_fd, name->from, dir_fd, name->to) == 0);
		}
	}
}

#endif
