/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The spool's file: a magic line, then records of size, checksum, type and body. Only the keeper's thread writes. The
 * sync thread has only the descriptor; it closes a file that was replaced during its sync. After a failed sync the file
 * isn't trusted any more: the keeper writes a new one.
 */
#include "worker/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"

#define SPOOL_NAME     "spool"
#define SPOOL_NEW_NAME "spool.new"
#define SPOOL_FILE_MAX ((size_t)1 << 30)
#define LINGER_NS      (10 * NS_PER_MS)  /* a result acknowledged within this time needs no sync */
#define LONG_BYTES     ((size_t)1 << 20)
#define RETRY_NS       NS_PER_S          /* time between two tries to rewrite the file */
#define RECORD_BYTES   ((size_t)512)     /* most bytes that the records of one live attempt take */

static const char magic[16] = "titan-spool 1\n";

struct record_header {
	uint32_t size;                   /* number of bytes of the record's body */
	uint32_t sum;                    /* checksum of the record's type and body */
	uint32_t type;
};

struct spool {
	int dir_fd, fd;
	size_t size;                     /* bytes of the complete records in the file */
	bool torn;                       /* an incomplete record follows the complete ones */
	int64_t retry_ns;                /* time before which a failed rewrite isn't tried again */
	struct buf pending;              /* records that aren't written to the file yet */
	struct buf kept;                 /* the records that were pending when spool_rewrite_begin was called */
	pthread_t thread;
	pthread_mutex_t lock;            /* guards the fields below */
	pthread_cond_t changed;
	int busy_fd;                     /* the file that is being synced, or -1 */
	/* numbers of results: the newest that was written, the oldest that isn't acknowledged */
	uint64_t newest, oldest;
	uint64_t synced;                 /* number of the newest result known to be on the disk */
	bool suspect;                    /* a sync of this file failed, so no later sync proves what is on disk */
	bool idle, ending;
};

static uint32_t checksum(uint32_t type, const uint8_t *data, size_t size)
{
	static uint32_t table[256];
	uint32_t sum = ~type;

	if (!table[1])
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t value = i;

			for (int bit = 0; bit < 8; bit++)
				value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
			table[i] = value;
		}
	for (size_t i = 0; i < size; i++)
		sum = table[(sum ^ data[i]) & 0xff] ^ sum >> 8;
	return ~sum;
}

/* Pass each record to record_cb; return the number of bytes that are complete records. */
static size_t replay(struct slice bytes, void (*record_cb)(enum spool_type type, struct slice body, void *owner),
		     void *owner)
{
	size_t at = sizeof(magic);

	if (bytes.len < sizeof(magic) || memcmp(bytes.data, magic, sizeof(magic)) != 0)
		return 0;
	while (bytes.len - at >= sizeof(struct record_header)) {
		struct record_header header;
		const uint8_t *body = bytes.data + at + sizeof(header);

		memcpy(&header, bytes.data + at, sizeof(header));
		/* After a power cut a lost write may read as zeros, whose checksum would be right. */
		if (header.type == 0 || header.size > bytes.len - at - sizeof(header))
			break;
		if (header.sum != checksum(header.type, body, header.size))
			break;
		record_cb((enum spool_type)header.type, slice_make(body, header.size), owner);
		at += sizeof(header) + header.size;
	}
	return at;
}

/* Is a result up to number newest neither on disk nor acknowledged by the master? */
static bool owed(const struct spool *spool, uint64_t newest)
{
	return newest > spool->synced && spool->oldest <= newest;
}

static void sync_now(struct spool *spool)
{
	uint64_t newest = spool->newest;
	int fd = spool->busy_fd = spool->fd;
	bool done;

	pthread_mutex_unlock(&spool->lock);
	done = fdatasync(fd) == 0;
	if (!done)
		log_error("can't sync the worker's spool: %s; the worker writes a new one", strerror(errno));
	pthread_mutex_lock(&spool->lock);
	if (fd != spool->fd)
		close(fd);
	else if (!done)
		spool->suspect = true;
	spool->busy_fd = -1;
	if (done && newest > spool->synced)
		spool->synced = newest;
}

static void *sync_thread(void *data)
{
	const struct timespec linger = { .tv_nsec = LINGER_NS };
	struct spool *spool = data;

	pthread_mutex_lock(&spool->lock);
	while (!spool->ending) {
		uint64_t newest = spool->newest;

		if (spool->suspect || !owed(spool, newest)) {
			spool->idle = true;
			pthread_cond_wait(&spool->changed, &spool->lock);
			spool->idle = false;
			continue;
		}
		pthread_mutex_unlock(&spool->lock);
		nanosleep(&linger, NULL);
		pthread_mutex_lock(&spool->lock);
		if (!spool->suspect && owed(spool, newest))
			sync_now(spool);
	}
	pthread_mutex_unlock(&spool->lock);
	return NULL;
}

static enum err open_file(struct spool *spool, void (*record_cb)(enum spool_type, struct slice, void *),
			  void *owner, size_t *ret_torn, struct error *error)
{
	struct buf data = { 0 };
	size_t whole = 0;
	int result = io_read_file(spool->dir_fd, SPOOL_NAME, SPOOL_FILE_MAX, &data);

	if (result == 0)
		whole = replay(buf_slice(&data), record_cb, owner);
	*ret_torn = data.len - whole;
	buf_free(&data);
	if (result < 0 && result != -ENOENT)
		return error_system(error, -result, "can't read the worker's spool");
	spool->fd = openat(spool->dir_fd, SPOOL_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND | O_NOFOLLOW, 0600);
	if (spool->fd < 0)
		return error_system(error, errno, "can't open the worker's spool");
	if (ftruncate(spool->fd, (off_t)whole) < 0)
		return error_system(error, errno, "can't cut off the incomplete end of the worker's spool");
	if (whole == 0 && (result = io_write_all(spool->fd, magic, sizeof(magic))) < 0)
		return error_system(error, -result, "can't write the worker's spool");
	spool->size = whole > 0 ? whole : sizeof(magic);
	/*
	 * Sync the file's name once. If an incomplete end was cut off, sync that too, so that it can't reappear behind
	 * new records.
	 */
	if ((*ret_torn > 0 || whole == 0) && (fdatasync(spool->fd) < 0 || fsync(spool->dir_fd) < 0))
		return error_system(error, errno, "can't sync the worker's spool");
	return ERR_NONE;
}

enum err spool_open(int dir_fd, void (*record_cb)(enum spool_type type, struct slice body, void *owner),
		    void *owner, struct spool **ret_spool, size_t *ret_torn, struct error *error)
{
	struct spool *spool = mem_zalloc(sizeof(*spool));
	enum err result;
	int fault;

	spool->dir_fd = dir_fd;
	spool->fd = spool->busy_fd = -1;
	result = open_file(spool, record_cb, owner, ret_torn, error);
	pthread_mutex_init(&spool->lock, NULL);
	pthread_cond_init(&spool->changed, NULL);
	fault = result ? 0 : pthread_create(&spool->thread, NULL, sync_thread, spool);
	if (fault)
		result = error_system(error, fault, "can't start a thread");
	if (!result) {
		*ret_spool = spool;
		return ERR_NONE;
	}
	if (spool->fd >= 0)
		close(spool->fd);
	mem_free(spool);
	return result;
}

void spool_close(struct spool *spool)
{
	if (!spool)
		return;
	pthread_mutex_lock(&spool->lock);
	spool->ending = true;
	pthread_cond_signal(&spool->changed);
	pthread_mutex_unlock(&spool->lock);
	pthread_join(spool->thread, NULL);
	/* The next keeper rewrites the file, whether this succeeds or not. */
	if (spool_flush(spool) == 0)
		(void)fdatasync(spool->fd);
	close(spool->fd);
	buf_free(&spool->pending);
	buf_free(&spool->kept);
	pthread_cond_destroy(&spool->changed);
	pthread_mutex_destroy(&spool->lock);
	mem_free(spool);
}

void spool_add(struct spool *spool, enum spool_type type, const void *body, size_t size)
{
	struct record_header header = { .size = (uint32_t)size, .type = type,
					.sum = checksum(type, body, size) };

	buf_add(&spool->pending, &header, sizeof(header));
	buf_add(&spool->pending, body, size);
}

/* Cut off an incomplete record: in the middle of the file it would hide all records after it. */
static int cut_off(struct spool *spool)
{
	if (spool->torn && ftruncate(spool->fd, (off_t)spool->size) < 0)
		return -errno;
	spool->torn = false;
	return 0;
}

int spool_flush(struct spool *spool)
{
	int result;

	if (spool->pending.len == 0)
		return 0;
	result = cut_off(spool);
	if (result < 0)
		return result;
	result = io_write_all(spool->fd, spool->pending.data, spool->pending.len);
	if (result < 0) {
		spool->torn = true;
		(void)cut_off(spool);
		return result;
	}
	spool->size += spool->pending.len;
	buf_clear(&spool->pending);
	return 0;
}

void spool_note(struct spool *spool, uint64_t newest, uint64_t oldest)
{
	pthread_mutex_lock(&spool->lock);
	spool->newest = newest;
	spool->oldest = oldest;
	if (spool->idle && owed(spool, newest))
		pthread_cond_signal(&spool->changed);
	pthread_mutex_unlock(&spool->lock);
}

bool spool_owes(struct spool *spool)
{
	bool owes;

	pthread_mutex_lock(&spool->lock);
	owes = owed(spool, spool->newest);
	pthread_mutex_unlock(&spool->lock);
	return owes;
}

bool spool_wants_rewrite(struct spool *spool, size_t live, size_t outputs)
{
	bool suspect;

	pthread_mutex_lock(&spool->lock);
	suspect = spool->suspect;
	pthread_mutex_unlock(&spool->lock);
	if (spool->retry_ns > 0 && spool->retry_ns > clock_mono_ns())
		return false;
	return suspect || spool->torn || (spool->size > LONG_BYTES && spool->size / 4 > live * RECORD_BYTES + outputs);
}

void spool_rewrite_begin(struct spool *spool)
{
	struct buf empty = spool->kept;

	spool->kept = spool->pending;
	spool->pending = empty;
	buf_clear(&spool->pending);
	buf_add(&spool->pending, magic, sizeof(magic));
}

/* Write a new file and rename it into place. *ret_named: the new name is on disk as well. */
static int replace_file(struct spool *spool, int *ret_fd, bool *ret_named)
{
	int fd = openat(spool->dir_fd, SPOOL_NEW_NAME,
			O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND | O_NOFOLLOW, 0600);
	int result;

	if (fd < 0)
		return -errno;
	result = io_write_all(fd, spool->pending.data, spool->pending.len);
	if (result == 0 && (fdatasync(fd) < 0 ||
			    renameat(spool->dir_fd, SPOOL_NEW_NAME, spool->dir_fd, SPOOL_NAME) < 0))
		result = -errno;
	if (result < 0) {
		close(fd);
		return result;
	}
	*ret_named = fsync(spool->dir_fd) == 0;
	*ret_fd = fd;
	return 0;
}

int spool_rewrite_end(struct spool *spool)
{
	bool named = false;
	int fd = -1, result = replace_file(spool, &fd, &named);

	spool->retry_ns = result < 0 || !named ? clock_mono_ns() + RETRY_NS : 0;
	if (result < 0) {
		buf_clear(&spool->pending);
		buf_add_slice(&spool->pending, buf_slice(&spool->kept));
		buf_clear(&spool->kept);
		return result;
	}
	pthread_mutex_lock(&spool->lock);
	if (spool->busy_fd != spool->fd)
		close(spool->fd);
	spool->fd = fd;
	/* Until the new name is on disk, a power cut may undo the rename and lose all records written from now on. */
	spool->suspect = !named;
	if (named)
		spool->synced = spool->newest;
	pthread_mutex_unlock(&spool->lock);
	spool->torn = false;
	spool->size = spool->pending.len;
	buf_clear(&spool->pending);
	buf_clear(&spool->kept);
	return 0;
}
