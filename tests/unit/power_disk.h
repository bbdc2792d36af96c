/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A model of a disk that loses its power. It records in order what was written to some files, and computes what may be
 * left after a cut: writes that weren't synced may be lost wholly or partly, torn, or reordered. Include once per
 * program; define POWER_FILES, the most files, before the include to change it.
 */
#ifndef TITAN_POWER_DISK_H
#define TITAN_POWER_DISK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/rand.h"

#define POWER_SECTOR  512
#define POWER_OPS_MAX 200000
#define POWER_PENDING (POWER_OPS_MAX / 64)

#ifndef POWER_FILES
#define POWER_FILES 8
#endif

/* POWER_NAME: an operation on a name, which belongs to no file */
enum power_kind { POWER_CREATE, POWER_WRITE, POWER_TRUNCATE, POWER_SYNC, POWER_DELETE, POWER_NAME };

struct power_op {
	enum power_kind kind;
	int which;
	void *data;
	size_t len, at;
};

struct power_image {
	bool exists;
	struct buf bytes;
};

struct power_disk {
	struct power_image stable[POWER_FILES];          /* content of each file at its latest sync */
	size_t pending[POWER_FILES][POWER_PENDING];      /* operations on each file since its latest sync, by number */
	size_t pending_count[POWER_FILES];
	size_t at;                       /* number of recorded operations that are applied so far */
};

static struct power_op power_ops[POWER_OPS_MAX];
static atomic_size_t power_op_count;
static struct power_disk power_disk;

static inline void power_record(enum power_kind kind, int which, const void *data, size_t len, size_t at)
{
	size_t number = atomic_load(&power_op_count);

	CHECK(number < POWER_OPS_MAX);
	power_ops[number] = (struct power_op){ kind, which, NULL, len, at };
	if (data && len > 0) {
		power_ops[number].data = mem_alloc(len);
		memcpy(power_ops[number].data, data, len);
	}
	atomic_store(&power_op_count, number + 1);
}

static inline void power_forget(void)
{
	for (size_t i = 0; i < power_op_count; i++)
		mem_free(power_ops[i].data);
	atomic_store(&power_op_count, 0);
}

static inline void power_resize(struct buf *bytes, size_t size)
{
	static const uint8_t zeros[4096];

	while (bytes->len < size)
		buf_add(bytes, zeros, size - bytes->len < sizeof(zeros) ? size - bytes->len : sizeof(zeros));
	bytes->len = size;
}

static inline void power_write_piece(struct power_image *image, const struct power_op *op, size_t from, size_t len)
{
	if (len == 0)
		return;
	if (image->bytes.len < op->at + from + len)
		power_resize(&image->bytes, op->at + from + len);
	memcpy(image->bytes.data + op->at + from, (const char *)op->data + from, len);
}

static inline void power_apply(struct power_image *image, const struct power_op *op)
{
	switch (op->kind) {
	case POWER_CREATE:
		if (!image->exists)
			power_resize(&image->bytes, 0);
		image->exists = true;
		break;
	case POWER_WRITE:
		power_write_piece(image, op, 0, op->len);
		break;
	case POWER_TRUNCATE:
		power_resize(&image->bytes, op->at);
		break;
	case POWER_DELETE:
		image->exists = false;
		power_resize(&image->bytes, 0);
		break;
	case POWER_SYNC:
	case POWER_NAME:
		break;
	}
}

/* Make the first count pending operations of a file stable. */
static inline void power_persist(int which, size_t count)
{
	size_t *pending = power_disk.pending[which];

	for (size_t i = 0; i < count; i++)
		power_apply(&power_disk.stable[which], &power_ops[pending[i]]);
	power_disk.pending_count[which] -= count;
	memmove(pending, pending + count, power_disk.pending_count[which] * sizeof(*pending));
}

/* Queue the next operation as pending; it is not a sync. */
static inline void power_wait(int which, size_t number)
{
	size_t *count = &power_disk.pending_count[which];

	CHECK(*count < POWER_PENDING);
	power_disk.pending[which][(*count)++] = number;
}

static inline void power_disk_reset(void)
{
	for (int which = 0; which < POWER_FILES; which++)
		buf_free(&power_disk.stable[which].bytes);
	memset(&power_disk, 0, sizeof(power_disk));
}

enum power_loss { LOSS_ALL, LOSS_NONE, LOSS_SOME, LOSS_TORN, LOSS_ORDER, LOSS_SECTORS, LOSS_COUNT };

/* Apply one write partly: random sectors of it, or all up to one sector. Sectors in between may hold garbage. */
static inline void power_tear(struct power_image *image, const struct power_op *op, struct rand_state *rand, bool prefix)
{
	size_t sectors = (op->len + POWER_SECTOR - 1) / POWER_SECTOR, end = rand_below(rand, sectors + 1);

	for (size_t i = 0; i < sectors; i++) {
		size_t from = i * POWER_SECTOR, len = op->len - from < POWER_SECTOR ? op->len - from : POWER_SECTOR;
		bool keep = prefix ? i < end : rand_below(rand, 2);
		size_t was = image->bytes.len;

		if (keep)
			power_write_piece(image, op, from, len);
		for (size_t hole = was; keep && hole < op->at + from && rand_below(rand, 2); hole++)
			image->bytes.data[hole] = (uint8_t)rand_next(rand);
	}
}

static inline void power_lose(struct power_image *image, const size_t *numbers, size_t count, enum power_loss loss,
			      struct rand_state *rand)
{
	size_t order[POWER_PENDING];

	for (size_t i = 0; i < count; i++)
		order[i] = numbers[i];
	/* Reorder the writes between two creations or removals; those stay where they are. */
	for (size_t i = 1; loss == LOSS_ORDER && i < count; i++) {
		size_t other = rand_below(rand, i + 1), kept = order[i];

		if (power_ops[order[i]].kind == POWER_WRITE && power_ops[order[other]].kind == POWER_WRITE) {
			order[i] = order[other];
			order[other] = kept;
		}
	}
	for (size_t i = 0; i < count; i++) {
		const struct power_op *op = &power_ops[order[i]];
		bool keep = loss == LOSS_NONE || loss == LOSS_TORN || (loss != LOSS_ALL && rand_below(rand, 2));

		/*
		 * The creation or removal was lost, so later operations belong to a file that never existed or never
		 * replaced the old one: stop.
		 */
		if (!keep && (op->kind == POWER_CREATE || op->kind == POWER_DELETE))
			return;
		if (op->kind == POWER_WRITE && (loss == LOSS_SECTORS || (loss == LOSS_TORN && i + 1 == count)))
			power_tear(image, op, rand, loss == LOSS_TORN);
		else if (keep)
			power_apply(image, op);
	}
}

/*
 * Compute a file as it may be found after the power cut: the stable content, and what the kind of loss leaves of the
 * pending operations. The caller frees the bytes.
 */
static inline struct power_image power_image_of(int which, enum power_loss loss, struct rand_state *rand)
{
	struct power_image image = { .exists = power_disk.stable[which].exists };

	buf_add(&image.bytes, power_disk.stable[which].bytes.data, power_disk.stable[which].bytes.len);
	power_lose(&image, power_disk.pending[which], power_disk.pending_count[which], loss, rand);
	return image;
}

static inline int power_compare(const void *a, const void *b)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Choose this many random moments in ascending order, from before the first operation to after the last. The caller
 * frees them.
 */
static inline size_t *power_moments(size_t cuts, struct rand_state *rand)
{
	size_t *moments = mem_array(cuts, sizeof(*moments));

	for (size_t i = 0; i < cuts; i++)
		moments[i] = rand_below(rand, power_op_count + 1);
	qsort(moments, cuts, sizeof(*moments), power_compare);
	return moments;
}

static inline uint64_t power_number(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 10) : otherwise;
}

/* Print a number for the table of make chaos. */
static inline void power_report(size_t amount, const char *what)
{
	const char *path = getenv("CHAOS_REPORT");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (!file)
		return;
	fprintf(file, "%zu %s\n", amount, what);
	fclose(file);
}

#endif
