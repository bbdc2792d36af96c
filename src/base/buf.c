/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A growable buffer. The allocation begins head bytes before data. The consumed part is used again when it is larger
 * than the live part, so a byte moves at most once for each byte added.
 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/check.h"
#include "base/mem.h"

#define BUF_MIN ((size_t)256)

void buf_free(struct buf *buf)
{
	if (buf->data)
		mem_free(buf->data - buf->head);
	*buf = (struct buf){ 0 };
}

static void buf_rewind(struct buf *buf)
{
	if (buf->head == 0)
		return;
	if (buf->len > 0)
		memmove(buf->data - buf->head, buf->data, buf->len);
	buf->data -= buf->head;
	buf->cap += buf->head;
	buf->head = 0;
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	buf_rewind(buf);
}

uint8_t *buf_grow(struct buf *buf, size_t extra)
{
	size_t want, cap;

	CHECK(!__builtin_add_overflow(buf->len, extra, &want));
	CHECK(want <= PTRDIFF_MAX / 2);
	if (buf->data && buf->head >= buf->len) {
		buf_rewind(buf);
		if (want <= buf->cap)
			return buf->data + buf->len;
	}
	buf_rewind(buf);
	for (cap = buf->cap < BUF_MIN ? BUF_MIN : buf->cap; cap < want;)
		cap *= 2;
	buf->data = mem_resize(buf->data, cap, 1);
	buf->cap = cap;
	return buf->data + buf->len;
}

void buf_addf_args(struct buf *buf, const char *format, va_list args)
{
	va_list again;
	size_t room;
	int len;

	buf_reserve(buf, 64);
	room = buf->cap - buf->len;
	va_copy(again, args);
	len = vsnprintf((char *)buf->data + buf->len, room, format, args);
	CHECK(len >= 0);
	if ((size_t)len >= room) {
		buf_reserve(buf, (size_t)len + 1);
		len = vsnprintf((char *)buf->data + buf->len, (size_t)len + 1, format, again);
		CHECK(len >= 0);
	}
	va_end(again);
	buf->len += (size_t)len;
}

void buf_addf(struct buf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buf_addf_args(buf, format, args);
	va_end(args);
}

void buf_drop(struct buf *buf, size_t len)
{
	CHECK(len <= buf->len);
	if (len == 0)
		return;
	buf->data += len;
	buf->len -= len;
	buf->cap -= len;
	buf->head += len;
	if (buf->len == 0)
		buf_rewind(buf);
}

void buf_cut(struct buf *buf, size_t len)
{
	CHECK(len <= buf->len);
	buf->len = len;
}

struct slice buf_slice(const struct buf *buf)
{
	return slice_make(buf->data, buf->len);
}

const char *buf_cstr(struct buf *buf)
{
	*buf_reserve(buf, 1) = '\0';
	return (const char *)buf->data;
}
