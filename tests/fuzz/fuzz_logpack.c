/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as a compressed log: it is refused, or each of its frames is what its index says, or damaged. What was
 * read is taken for records, forward and from near the end.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "master/logbytes.h"
#include "master/logfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const struct logfile *file, uint64_t from)
{
	uint64_t at = from, next;

	for (int i = 0; i < 64 && at < file->size; i++, at = next) {
		struct arena arena = { 0 };
		struct rec_output *pieces;
		size_t count;
		int result = logfile_read(file, at, UINT64_MAX, 65536, &arena, &pieces, &count, &next);

		if (result == -EBADMSG || result == -EOPNOTSUPP)
			next = logfile_beyond(file, at);
		arena_free(&arena);
		if (result < 0 && result != -EBADMSG && result != -EOPNOTSUPP)
			return;
		CHECK(next > at && next <= file->size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct logpack *pack = mem_zalloc(sizeof(*pack));
	struct logfile file;
	uint64_t start;

	logfile_init(&file, 1, 2, 3);
	file.fd = memfd_create("logpack", MFD_CLOEXEC);
	CHECK(file.fd >= 0 && logbytes_write(file.fd, data, size, 0) == 0);
	if (logpack_open(file.fd, pack) < 0 && logpack_rebuild(file.fd, pack) < 0) {
		mem_free(pack);
		logfile_free(&file);
		return 0;
	}
	file.pack = pack;
	file.size = pack->facts.size;
	file.known = true;
	read_all(&file, 0);
	if (logfile_back(&file, UINT64_MAX, file.size / 3, &start) == 0) {
		CHECK(start <= file.size);
		read_all(&file, start);
	}
	logfile_free(&file);
	return 0;
}
