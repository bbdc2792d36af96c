/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The header of a log record: as bytes and as numbers. */
#ifndef TITAN_MASTER_LOGRECORD_H
#define TITAN_MASTER_LOGRECORD_H

#include "master/logbytes.h"
#include "master/logfile.h"
#include "proto/limits.h"

#define LOG_MARK      0x746f
#define LOG_FLAG_NOTE 1

struct log_header {
	uint8_t stream, flags;
	uint32_t length;
	int64_t wall_ms;
	uint64_t offset;
};

static inline void log_header_put(uint8_t out[LOGFILE_HEADER], const struct log_header *header)
{
	out[0] = header->stream;
	out[1] = header->flags;
	logbytes_put(out + 2, LOG_MARK, 2);
	logbytes_put(out + 4, header->length, 4);
	logbytes_put(out + 8, (uint64_t)header->wall_ms, 8);
	logbytes_put(out + 16, header->offset, 8);
}

/* Decode the header of a record; false: the bytes aren't a header. */
static inline bool log_header_get(const uint8_t in[LOGFILE_HEADER], struct log_header *ret_header)
{
	struct log_header header = {
		.stream = in[0],
		.flags = in[1],
		.length = (uint32_t)logbytes_get(in + 4, 4),
		.wall_ms = (int64_t)logbytes_get(in + 8, 8),
		.offset = logbytes_get(in + 16, 8),
	};

	if (logbytes_get(in + 2, 2) != LOG_MARK || header.length > LIMIT_OUTPUT_CHUNK)
		return false;
	if (header.flags == LOG_FLAG_NOTE ? header.stream != 0 || header.length != LOGFILE_NOTE :
	    header.flags != 0 || header.stream < 1 || header.stream > 2)
		return false;
	*ret_header = header;
	return true;
}

#endif
