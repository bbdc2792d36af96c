/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packs and unpacks logs; the only file that uses zstd. A file may have been damaged on its disk: everything read is
 * checked, and no size found in it makes the master allocate more than a frame may have.
 */
#include "master/logpack.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/check.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "master/logbytes.h"

#define SKIP_MAGIC   0x184d2a5bu
#define SKIP_HEADER  8
#define ENTRY        8
#define TAIL         64                  /* bytes of facts, number of frames, checksum, magic word */
#define HASHED       48                  /* bytes of the tail covered by the checksum */
#define CHECKSUM     8
#define LEVEL        3

static const char word[8] = { 't', 'i', 't', 'a', 'n', 'l', 'o', 'g' };

static void checksum(struct slice bytes, uint8_t out[CHECKSUM])
{
	uint8_t digest[SHA256_SIZE];
	struct sha256 hash = { 0 };

	sha256_init(&hash);
	sha256_add(&hash, bytes);
	sha256_end(&hash, digest);
	memcpy(out, digest, CHECKSUM);
}

/* ---- reading ---- */

bool logpack_able(void)
{
#ifdef HAVE_ZSTD
	return true;
#else
	return false;
#endif
}

void logpack_free(struct logpack *pack)
{
	mem_free(pack->frames);
	*pack = (struct logpack){ 0 };
}

/* Convert the index entries to places in the file; false: their sums contradict the index's position or the size. */
static bool take_entries(struct logpack *pack, const uint8_t *entries, uint64_t index_at)
{
	uint64_t at = 0, offset = 0;

	for (size_t i = 0; i < pack->count; i++) {
		uint64_t packed = logbytes_get(entries + i * ENTRY, 4), plain = logbytes_get(entries + i * ENTRY + 4, 4);

		if (packed == 0 || packed > 2 * LOGPACK_FRAME_MAX || plain == 0 || plain > LOGPACK_FRAME_MAX)
			return false;
		pack->frames[i] = (struct logpack_frame){ at, offset };
		at += packed;
		offset += plain;
	}
	pack->frames[pack->count] = (struct logpack_frame){ at, offset };
	return at == index_at && offset == pack->facts.size;
}

static int read_index(int fd, uint64_t end, const uint8_t tail[TAIL], struct logpack *pack)
{
	uint64_t length = pack->count * ENTRY + TAIL, index_at = end - length - SKIP_HEADER;
	uint8_t *bytes = mem_alloc(SKIP_HEADER + length), sum[CHECKSUM];
	ssize_t got = logbytes_read(fd, bytes, SKIP_HEADER + length, index_at);
	int result = 0;

	if (got < 0)
		result = (int)got;
	else if ((size_t)got < SKIP_HEADER + length || logbytes_get(bytes, 4) != SKIP_MAGIC ||
		 logbytes_get(bytes + 4, 4) != length)
		result = -EBADMSG;
	if (result == 0) {
		checksum(slice_make(bytes + SKIP_HEADER, length - TAIL + HASHED), sum);
		if (memcmp(sum, tail + HASHED, CHECKSUM) != 0)
			result = -EBADMSG;
	}
	if (result == 0) {
		pack->frames = mem_array(pack->count + 1, sizeof(*pack->frames));
		if (!take_entries(pack, bytes + SKIP_HEADER, index_at))
			result = -EBADMSG;
	}
	mem_free(bytes);
	return result;
}

int logpack_open(int fd, struct logpack *ret_pack)
{
	struct logpack pack = { 0 };
	uint8_t tail[TAIL];
	struct stat info;
	ssize_t got;
	uint64_t end, count;
	int result;

	if (fstat(fd, &info) < 0)
		return -errno;
	end = (uint64_t)info.st_size;
	if (end < SKIP_HEADER + TAIL)
		return -EBADMSG;
	got = logbytes_read(fd, tail, TAIL, end - TAIL);
	if (got < TAIL)
		return got < 0 ? (int)got : -EBADMSG;
	count = logbytes_get(tail + 40, 8);
	if (memcmp(tail + TAIL - sizeof(word), word, sizeof(word)) != 0 || count > (end - SKIP_HEADER - TAIL) / ENTRY)
		return -EBADMSG;
	pack.count = (size_t)count;
	pack.facts = (struct logpack_facts){
		.received = { logbytes_get(tail, 8), logbytes_get(tail + 8, 8) },
		.kept = logbytes_get(tail + 16, 8), .dropped = logbytes_get(tail + 24, 8), .size = logbytes_get(tail + 32, 8),
	};
	result = read_index(fd, end, tail, &pack);
	if (result < 0) {
		logpack_free(&pack);
		return result;
	}
	*ret_pack = pack;
	return 0;
}

/* Measure the first frame of these bytes; false: there is none. */
static bool measure_frame(struct slice bytes, size_t *ret_packed, size_t *ret_plain)
{
#ifdef HAVE_ZSTD
	unsigned long long plain = ZSTD_getFrameContentSize(bytes.data, bytes.len);
	size_t packed = ZSTD_findFrameCompressedSize(bytes.data, bytes.len);

	if (ZSTD_isError(packed) || plain == 0 || plain > LOGPACK_FRAME_MAX)
		return false;
	*ret_packed = packed;
	*ret_plain = (size_t)plain;
	return true;
#else
	(void)bytes;
	(void)ret_packed;
	(void)ret_plain;
	return false;
#endif
}

int logpack_rebuild(int fd, struct logpack *ret_pack)
{
	struct logpack pack = { 0 };
	uint8_t *bytes = mem_alloc(2 * LOGPACK_FRAME_MAX);
	size_t cap = 64, packed = 0, plain = 0;
	uint64_t at = 0;
	ssize_t got;

	pack.frames = mem_array(cap, sizeof(*pack.frames));
	while ((got = logbytes_read(fd, bytes, 2 * LOGPACK_FRAME_MAX, at)) > 0 &&
	       measure_frame(slice_make(bytes, (size_t)got), &packed, &plain)) {
		if (pack.count + 2 > cap) {
			cap *= 2;
			pack.frames = mem_resize(pack.frames, cap, sizeof(*pack.frames));
		}
		pack.frames[pack.count++] = (struct logpack_frame){ at, pack.facts.size };
		at += packed;
		pack.facts.size += plain;
		pack.frames[pack.count] = (struct logpack_frame){ at, pack.facts.size };
	}
	mem_free(bytes);
	if (got < 0 || pack.count == 0) {
		logpack_free(&pack);
		return got < 0 ? (int)got : -EBADMSG;
	}
	*ret_pack = pack;
	return 0;
}

size_t logpack_find(const struct logpack *pack, uint64_t offset)
{
	size_t low = 0, high = pack->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pack->frames[middle + 1].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int logpack_read(const struct logpack *pack, int fd, size_t frame, struct arena *arena, struct slice *ret_records)
{
	const struct logpack_frame *at = &pack->frames[frame];
	size_t packed = (size_t)(at[1].at - at->at), plain = (size_t)(at[1].offset - at->offset);
	uint8_t *bytes;
	ssize_t got;
	int result = 0;

	CHECK(frame < pack->count);
	if (!logpack_able())
		return -EOPNOTSUPP;
	bytes = mem_alloc(packed);
	got = logbytes_read(fd, bytes, packed, at->at);
	if (got < 0 || (size_t)got < packed)
		result = got < 0 ? (int)got : -EBADMSG;
#ifdef HAVE_ZSTD
	if (result == 0) {
		uint8_t *out = arena_alloc(arena, plain);

		if (ZSTD_decompress(out, plain, bytes, packed) != plain)
			result = -EBADMSG;
		else
			*ret_records = slice_make(out, plain);
	}
#else
	(void)arena;
	(void)plain;
	(void)ret_records;
#endif
	mem_free(bytes);
	return result;
}

/* ---- writing ---- */

#ifdef HAVE_ZSTD
struct packer {
	int fd;
	ZSTD_CCtx *context;
	struct buf out, entries;
	uint64_t at, plain, count;
};

struct packer *packer_new(int fd)
{
	struct packer *packer = mem_zalloc(sizeof(*packer));

	packer->fd = fd;
	packer->context = ZSTD_createCCtx();
	CHECK(packer->context);
	ZSTD_CCtx_setParameter(packer->context, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(packer->context, ZSTD_c_checksumFlag, 1);
	return packer;
}

static void add_number(struct buf *out, uint64_t number, int bytes)
{
	logbytes_put(buf_reserve(out, (size_t)bytes), number, bytes);
	out->len += (size_t)bytes;
}

int packer_add(struct packer *packer, struct slice records)
{
	size_t bound = ZSTD_compressBound(records.len), packed;
	int result;

	CHECK(records.len > 0 && records.len <= LOGPACK_FRAME_MAX);
	buf_clear(&packer->out);
	packed = ZSTD_compress2(packer->context, buf_reserve(&packer->out, bound), bound, records.data, records.len);
	if (ZSTD_isError(packed))
		return -ENOMEM;
	result = logbytes_write(packer->fd, packer->out.data, packed, packer->at);
	if (result < 0)
		return result;
	add_number(&packer->entries, packed, 4);
	add_number(&packer->entries, records.len, 4);
	packer->at += packed;
	packer->plain += records.len;
	packer->count++;
	return 0;
}

int packer_end(struct packer *packer, const struct logpack_facts *facts)
{
	const uint64_t numbers[] = { facts->received[0], facts->received[1], facts->kept, facts->dropped, facts->size,
				     packer->count };
	uint8_t sum[CHECKSUM], header[SKIP_HEADER];
	int result;

	CHECK(facts->size == packer->plain);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		add_number(&packer->entries, numbers[i], 8);
	checksum(buf_slice(&packer->entries), sum);
	buf_add(&packer->entries, sum, sizeof(sum));
	buf_add(&packer->entries, word, sizeof(word));
	logbytes_put(header, SKIP_MAGIC, 4);
	logbytes_put(header + 4, packer->entries.len, 4);
	result = logbytes_write(packer->fd, header, sizeof(header), packer->at);
	if (result == 0)
		result = logbytes_write(packer->fd, packer->entries.data, packer->entries.len, packer->at + SKIP_HEADER);
	packer->at += SKIP_HEADER + packer->entries.len;
	return result;
}

uint64_t packer_size(const struct packer *packer)
{
	return packer->at;
}

void packer_free(struct packer *packer)
{
	if (!packer)
		return;
	ZSTD_freeCCtx(packer->context);
	buf_free(&packer->out);
	buf_free(&packer->entries);
	mem_free(packer);
}
#else
struct packer *packer_new(int fd)
{
	(void)fd;
	return NULL;
}

int packer_add(struct packer *packer, struct slice records)
{
	(void)packer;
	(void)records;
	return -EOPNOTSUPP;
}

int packer_end(struct packer *packer, const struct logpack_facts *facts)
{
	(void)packer;
	(void)facts;
	return -EOPNOTSUPP;
}

uint64_t packer_size(const struct packer *packer)
{
	(void)packer;
	return 0;
}

void packer_free(struct packer *packer)
{
	(void)packer;
}
#endif
