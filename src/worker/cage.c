/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cages, made with three files of cgroup v2: cgroup.procs, cgroup.events and cgroup.kill. No other feature of
 * cgroup v2 is used.
 */
#include "worker/cage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/map.h"
#include "base/mem.h"
#include "worker/spawn.h"

#define TEXT_MAX 1048576u
/* How often the groups of killed processes are tried for removal, and the time between two tries. */
#define DYING_ROUNDS  100
#define DYING_WAIT_NS (10 * NS_PER_MS)

struct cage {
	const struct cages *all;
	uint64_t number;
	int dir_fd, events_fd;
	bool killed;
	/* next in the list of free cages, or during the sweep in that of claimed ones */
	struct cage *next;
};

struct cages {
	char path[PATH_MAX];
	char group[PATH_MAX];            /* path of the cages' group as /proc/PID/cgroup names it */
	int dir_fd;
	uint64_t next_number;
	/* numbers of cages that attempts of an earlier keeper still use; valid until the sweep */
	struct map claimed;
	struct cage *free;
	struct cage *dying;              /* cages that are removed once their last process has ended */
};

/* ---- finding the mount and our group ---- */

/*
 * Take the mount point, the fifth word, from a line of mountinfo such as "36 25 0:31 / /sys/fs/cgroup rw ...
 * - cgroup2 ...". False if the line isn't a cgroup2 file system mounted whole.
 */
static bool mount_point(const char *line, char *out, size_t size)
{
	const char *type = strstr(line, " - cgroup2 ");
	const char *end = strchr(line, '\n');
	char root[8], format[32];

	if (!type || (end && type > end))
		return false;
	snprintf(format, sizeof(format), "%%*s %%*s %%*s %%7s %%%zus", size - 1);
	return sscanf(line, format, root, out) == 2 && strcmp(root, "/") == 0;
}

static bool find_mount(char *out, size_t size)
{
	struct buf text = { 0 };
	bool found = false;

	if (io_read_file(AT_FDCWD, "/proc/self/mountinfo", TEXT_MAX, &text) == 0)
		for (const char *line = buf_cstr(&text); line && *line && !found;
		     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
			found = mount_point(line, out, size);
	buf_free(&text);
	return found;
}

/* Find the group of a process, as a path below the mount: the text after "0::". */
static bool find_group(const char *file, char *out, size_t size)
{
	struct buf text = { 0 };
	bool found = false;

	if (io_read_file(AT_FDCWD, file, TEXT_MAX, &text) == 0) {
		const char *line = buf_cstr(&text);
		const char *at = strncmp(line, "0::", 3) == 0 ? line : strstr(line, "\n0::");
		int len;

		at = at ? strchr(at, '/') : NULL;
		len = at ? (int)strcspn(at, "\n") : 0;
		/* A path with ".." is outside the part of the tree that this process sees. */
		found = len > 0 && (size_t)len < size && !strstr(at, "/..");
		if (found)
			snprintf(out, size, "%.*s", len == 1 ? 0 : len, at);
	}
	buf_free(&text);
	return found;
}

/* ---- one cage ---- */

static void cage_name(uint64_t number, char name[24])
{
	snprintf(name, 24, "%" PRIu64, number);
}

void cage_leave(struct cage *cage)
{
	if (!cage)
		return;
	if (cage->events_fd >= 0)
		close(cage->events_fd);
	if (cage->dir_fd >= 0)
		close(cage->dir_fd);
	mem_free(cage);
}

static struct cage *cage_open(struct cages *cages, uint64_t number)
{
	struct cage *cage = mem_zalloc(sizeof(*cage));
	char name[24];
	int fault;

	cage_name(number, name);
	cage->all = cages;
	cage->number = number;
	cage->events_fd = -1;
	cage->dir_fd = openat(cages->dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cage->dir_fd >= 0)
		cage->events_fd = openat(cage->dir_fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	if (cage->events_fd >= 0)
		return cage;
	fault = errno;
	cage_leave(cage);
	errno = fault;
	return NULL;
}

/* Remove each dying cage whose processes have ended; false: some are left. */
static bool bury(struct cages *cages)
{
	struct cage **at = &cages->dying;

	while (*at) {
		struct cage *cage = *at;
		char name[24];

		cage_name(cage->number, name);
		if (unlinkat(cages->dir_fd, name, AT_REMOVEDIR) < 0 && errno == EBUSY) {
			at = &cage->next;
			continue;
		}
		*at = cage->next;
		cage_leave(cage);
	}
	return !cages->dying;
}

struct cage *cage_take(struct cages *cages)
{
	struct cage *cage = cages->free;
	char name[24];

	bury(cages);
	if (cage) {
		cages->free = cage->next;
		return cage;
	}
	do
		cage_name(++cages->next_number, name);
	while (mkdirat(cages->dir_fd, name, 0755) < 0 && errno == EEXIST);
	return cage_open(cages, cages->next_number);
}

void cage_release(struct cages *cages, struct cage *cage, bool sound)
{
	if (!cage)
		return;
	if (sound && !cage->killed) {
		cage->next = cages->free;
		cages->free = cage;
		return;
	}
	cage->next = cages->dying;
	cages->dying = cage;
	bury(cages);
}

struct cage *cage_claim(struct cages *cages, pid_t pid)
{
	char file[64], group[PATH_MAX];
	const size_t len = strlen(cages->group);
	struct cage *cage;
	uint64_t number;
	char *end;

	snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)pid);
	if (!find_group(file, group, sizeof(group)) || strncmp(group, cages->group, len) != 0 || group[len] != '/')
		return NULL;
	number = strtoull(group + len + 1, &end, 10);
	if (*end || end == group + len + 1)
		return NULL;
	cage = cage_open(cages, number);
	if (cage)
		map_put(&cages->claimed, number, cages);
	return cage;
}

int cage_fd(const struct cage *cage)
{
	return cage->dir_fd;
}

/* Check that no living process is in the cage. Zombies don't count. */
static bool cage_empty(const struct cage *cage)
{
	char text[256];
	ssize_t got = pread(cage->events_fd, text, sizeof(text) - 1, 0);

	/* The file can't be read because the group was removed, so it is empty. */
	if (got <= 0)
		return true;
	text[got] = '\0';
	return strstr(text, "populated 0") != NULL;
}

static bool is_inside(const struct cage *cage, pid_t pid)
{
	char file[64], group[PATH_MAX], own[PATH_MAX + 24];

	snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)pid);
	snprintf(own, sizeof(own), "%s/%" PRIu64, cage->all->group, cage->number);
	return find_group(file, group, sizeof(group)) && strcmp(group, own) == 0;
}

static size_t signal_each(const struct cage *cage, int signal_number)
{
	struct buf text = { 0 };
	size_t found = 0;

	if (io_read_file(cage->dir_fd, "cgroup.procs", TEXT_MAX, &text) == 0)
		for (const char *at = buf_cstr(&text); *at;) {
			char *end;
			pid_t pid = (pid_t)strtol(at, &end, 10);
			int pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;

			if (end == at)
				break;
			at = end + strspn(end, "\n");
			if (pidfd < 0)
				continue;
			/*
			 * Check again: between reading the list and opening the pidfd, the pid may have been reused by
			 * a process outside the cage.
			 */
			found += is_inside(cage, pid) && pidfd_send_signal(pidfd, signal_number, NULL, 0) == 0;
			close(pidfd);
		}
	buf_free(&text);
	return found;
}

size_t cage_signal(struct cage *cage, int signal_number)
{
	int fd;

	if (cage_empty(cage))
		return 0;
	if (signal_number == 0)
		return 1;
	if (signal_number != SIGKILL)
		return signal_each(cage, signal_number);
	cage->killed = true;
	fd = openat(cage->dir_fd, "cgroup.kill", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "1", 1) != 1)
		signal_each(cage, SIGKILL);      /* kernels before 5.14 have no cgroup.kill */
	if (fd >= 0)
		close(fd);
	return 1;
}

/* ---- all cages ---- */

int cages_open(const char *mark, struct cages **ret_cages)
{
	struct cages *cages = mem_zalloc(sizeof(*cages));
	char mount[PATH_MAX], group[PATH_MAX];
	struct cage *cage;
	int result = -ENOENT;

	cages->dir_fd = -1;
	if (!find_mount(mount, sizeof(mount)) || !find_group("/proc/self/cgroup", group, sizeof(group)))
		goto failed;
	if (snprintf(cages->group, sizeof(cages->group), "%s/titan-%s", group, mark) >= (int)sizeof(cages->group) ||
	    snprintf(cages->path, sizeof(cages->path), "%s%s", mount, cages->group) >= (int)sizeof(cages->path))
		goto failed;
	if (mkdir(cages->path, 0755) < 0 && errno != EEXIST) {
		result = -errno;
		goto failed;
	}
	cages->dir_fd = open(cages->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cage = cages->dir_fd >= 0 ? cage_take(cages) : NULL;
	if (!cage) {
		result = -errno;
		goto failed;
	}
	result = -spawn_try_cage(cage->dir_fd);
	cage_release(cages, cage, true);
	if (result == 0) {
		*ret_cages = cages;
		return 0;
	}
failed:
	cages_close(cages);
	return result;
}

const char *cages_path(const struct cages *cages)
{
	return cages->path;
}

/* Wait for killed processes to end: until then their groups can't be removed. */
static void wait_for_dying(struct cages *cages)
{
	const struct timespec wait = { .tv_nsec = DYING_WAIT_NS };

	for (int round = 0; round < DYING_ROUNDS && !bury(cages); round++)
		nanosleep(&wait, NULL);
}

size_t cages_sweep(struct cages *cages)
{
	int fd = dup(cages->dir_fd);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	size_t found = 0;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	rewinddir(dir);
	while ((entry = readdir(dir))) {
		char *end;
		uint64_t number = strtoull(entry->d_name, &end, 10);
		struct cage *cage;

		if (*end || end == entry->d_name || map_get(&cages->claimed, number) ||
		    (cages->free && cages->free->number == number))
			continue;
		cage = cage_open(cages, number);
		if (!cage)
			continue;
		found += cage_signal(cage, SIGKILL) > 0;
		cage_release(cages, cage, false);
	}
	closedir(dir);
	map_free(&cages->claimed);
	wait_for_dying(cages);
	return found;
}

void cages_close(struct cages *cages)
{
	if (!cages)
		return;
	while (cages->free) {
		struct cage *cage = cages->free;

		cages->free = cage->next;
		cage_release(cages, cage, false);
	}
	map_free(&cages->claimed);
	wait_for_dying(cages);
	while (cages->dying) {
		struct cage *cage = cages->dying;

		cages->dying = cage->next;
		cage_leave(cage);
	}
	if (cages->dir_fd >= 0) {
		close(cages->dir_fd);
		rmdir(cages->path);      /* fails while a process still runs in a group below, which is right */
	}
	mem_free(cages);
}
