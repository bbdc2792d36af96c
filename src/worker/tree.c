/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads /proc. Processes come and go meanwhile; one that has gone isn't found. */
#include "worker/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "worker/env.h"

#define ENVIRON_MAX ((size_t)4 << 20)

void pid_list_add(struct pid_list *list, pid_t pid)
{
	if (list->n == list->cap) {
		list->cap = list->cap ? 2 * list->cap : 64;
		list->at = mem_resize(list->at, list->cap, sizeof(*list->at));
	}
	list->at[list->n++] = pid;
}

void pid_list_free(struct pid_list *list)
{
	mem_free(list->at);
	*list = (struct pid_list){ 0 };
}

int tree_children_open(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)gettid());
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void children_by_search(struct pid_list *out)
{
	struct pid_list all = { 0 };
	struct tree_stat stat;

	tree_processes(&all);
	for (size_t i = 0; i < all.n; i++)
		if (tree_stat(all.at[i], &stat) && stat.parent == getpid())
			pid_list_add(out, all.at[i]);
	pid_list_free(&all);
}

void tree_children(int fd, struct pid_list *out)
{
	static char text[65536];
	size_t len = 0;
	ssize_t got;

	out->n = 0;
	if (fd < 0) {
		children_by_search(out);
		return;
	}
	do {
		got = pread(fd, text + len, sizeof(text) - 1 - len, (off_t)len);
		len += got > 0 ? (size_t)got : 0;
		/* A full page may have cut the list; a shorter read is its end. */
	} while (got >= 1024 && len < sizeof(text) - 1);
	if (len == sizeof(text) - 1) {
		children_by_search(out);
		return;
	}
	text[len] = '\0';
	for (char *at = text; *at;) {
		char *end;
		long pid = strtol(at, &end, 10);

		if (end == at)
			break;
		pid_list_add(out, (pid_t)pid);
		at = end + strspn(end, " ");
	}
}

void tree_children_of_all(struct pid_list *out)
{
	DIR *dir = opendir("/proc/self/task");
	struct pid_list some = { 0 };
	struct dirent *entry;
	char path[300];
	int fd = -1;

	out->n = 0;
	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/children", entry->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			break;
		tree_children(fd, &some);
		close(fd);
		for (size_t i = 0; i < some.n; i++)
			pid_list_add(out, some.at[i]);
	}
	if (dir)
		closedir(dir);
	pid_list_free(&some);
	if (fd < 0) {
		out->n = 0;
		children_by_search(out);
	}
}

void tree_processes(struct pid_list *out)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	out->n = 0;
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			pid_list_add(out, (pid_t)strtol(entry->d_name, NULL, 10));
	closedir(dir);
}

/* Read a file below /proc, whose size isn't known in advance. */
static bool read_proc(pid_t pid, const char *name, struct buf *out)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	buf_clear(out);
	while (out->len < ENVIRON_MAX && (got = read(fd, buf_reserve(out, 4096), 4096)) > 0)
		out->len += (size_t)got;
	close(fd);
	return out->len > 0;
}

bool tree_mark(pid_t pid, const char *mark, uint64_t *ret_job, uint64_t *ret_epoch)
{
	const size_t head = strlen(ENV_MARK), len = strlen(mark);
	struct buf environ_bytes = { 0 };
	bool found = false;
	const char *at, *end;

	if (!read_proc(pid, "environ", &environ_bytes)) {
		buf_free(&environ_bytes);
		return false;
	}
	at = buf_cstr(&environ_bytes);
	end = at + environ_bytes.len;
	for (; at < end && !found; at += strlen(at) + 1) {
		uint64_t job, epoch;

		if (strncmp(at, ENV_MARK, head) != 0 || strncmp(at + head, mark, len) != 0)
			continue;
		if (sscanf(at + head + len, ".%" SCNu64 ".%" SCNu64, &job, &epoch) == 2) {
			*ret_job = job;
			*ret_epoch = epoch;
			found = true;
		}
	}
	buf_free(&environ_bytes);
	return found;
}

bool tree_stat(pid_t pid, struct tree_stat *ret_stat)
{
	struct buf text = { 0 };
	struct tree_stat stat = { 0 };
	const char *at;
	bool known = false;
	unsigned long long ticks;
	int parent, session;

	/* The process name in parentheses may contain anything, so parse from after the last parenthesis. */
	if (read_proc(pid, "stat", &text) && (at = strrchr(buf_cstr(&text), ')')) &&
	    sscanf(at + 1, " %c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &stat.state, &parent, &session, &ticks) == 4) {
		stat.parent = parent;
		stat.session = session;
		stat.begun_ns = (int64_t)ticks * (INT64_C(1000000000) / sysconf(_SC_CLK_TCK));
		*ret_stat = stat;
		known = true;
	}
	buf_free(&text);
	return known;
}

bool tree_is_guardian(pid_t pid)
{
	struct buf text = { 0 };
	bool is = read_proc(pid, "comm", &text) && strcmp(buf_cstr(&text), GUARDIAN_NAME "\n") == 0;

	buf_free(&text);
	return is;
}
