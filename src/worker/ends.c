/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file of ended processes: records of equal size, each with a checksum. Several guardians may write at once, so
 * each write takes a lock on the file. A power cut may leave half a record at the end: the next writer cuts it off, and
 * readers skip records whose checksum is wrong.
 */
#include "worker/ends.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "worker/tree.h"

#define ENDS_NAME "ends"
#define ENDS_MAX  ((size_t)64 << 20)     /* most bytes of the file that are read */

struct record {
	struct process_end end;
	uint64_t sum;
};

/* FNV-1a checksum, never 0, so that a hole of zeros isn't taken for a record. */
static uint64_t checksum(const struct process_end *end)
{
	const unsigned char *bytes = (const unsigned char *)end;
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < sizeof(*end); i++)
		sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
	return sum ? sum : 1;
}

static int add_locked(int dir_fd, int fd, const struct record *record)
{
	struct stat st;
	int result;

	if (fstat(fd, &st) < 0)
		return -errno;
	st.st_size -= st.st_size % (off_t)sizeof(*record);
	if (ftruncate(fd, st.st_size) < 0 || lseek(fd, st.st_size, SEEK_SET) < 0)
		return -errno;
	result = io_write_all(fd, record, sizeof(*record));
	if (result < 0)
		return result;
	if (fdatasync(fd) < 0 || (st.st_size == 0 && fsync(dir_fd) < 0))
		return -errno;
	return 0;
}

int ends_add(int dir_fd, const struct process_end *end)
{
	struct record record;
	int fd = openat(dir_fd, ENDS_NAME, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int result;

	if (fd < 0)
		return -errno;
	memset(&record, 0, sizeof(record));
	record.end = *end;
	record.sum = checksum(&record.end);
	result = flock(fd, LOCK_EX) < 0 ? -errno : add_locked(dir_fd, fd, &record);
	close(fd);
	return result;
}

bool ends_find(int dir_fd, const uint8_t boot_id[16], int64_t pid, int64_t from_ns, int64_t to_ns, struct process_end *ret_end)
{
	struct buf bytes = { 0 };
	struct record record;
	bool found = false;

	if (io_read_file(dir_fd, ENDS_NAME, ENDS_MAX, &bytes) == 0)
		for (size_t at = 0; at + sizeof(record) <= bytes.len; at += sizeof(record)) {
			memcpy(&record, bytes.data + at, sizeof(record));
			if (record.sum != checksum(&record.end) || record.end.pid != pid ||
			    memcmp(record.end.boot_id, boot_id, sizeof(record.end.boot_id)) != 0 ||
			    record.end.begun_ns < from_ns - TREE_TICK_NS || record.end.begun_ns > to_ns + TREE_TICK_NS)
				continue;
			*ret_end = record.end;
			found = true;
		}
	buf_free(&bytes);
	return found;
}

int ends_clear(int dir_fd)
{
	int fd = openat(dir_fd, ENDS_NAME, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	int result;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	result = flock(fd, LOCK_EX) < 0 || ftruncate(fd, 0) < 0 ? -errno : 0;
	close(fd);
	return result;
}
