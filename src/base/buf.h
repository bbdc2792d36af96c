/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A growable sequence of bytes that can be consumed from the front. A zeroed struct is an empty buffer. */
#ifndef TITAN_BASE_BUF_H
#define TITAN_BASE_BUF_H

#include <stdarg.h>
#include <string.h>

#include "base/slice.h"

struct buf {
	uint8_t *data;   /* first byte that isn't consumed yet */
	size_t len;
	size_t cap;      /* bytes allocated from data on */
	size_t head;     /* bytes already consumed in front of data */
};

uint8_t *buf_grow(struct buf *buf, size_t extra);        /* for buf_reserve: enlarge the buffer */
void buf_free(struct buf *buf);                          /* frees the memory and leaves an empty buffer */
void buf_clear(struct buf *buf);                         /* empty the buffer and keep its memory for later use */

/* make room for `extra` bytes after len and return where they begin */
static inline uint8_t *buf_reserve(struct buf *buf, size_t extra)
{
	return extra <= buf->cap - buf->len && buf->data ? buf->data + buf->len : buf_grow(buf, extra);
}

static inline void buf_add(struct buf *buf, const void *data, size_t len)
{
	if (len == 0)
		return;
	memcpy(buf_reserve(buf, len), data, len);
	buf->len += len;
}

static inline void buf_add_byte(struct buf *buf, uint8_t byte)
{
	*buf_reserve(buf, 1) = byte;
	buf->len++;
}

static inline void buf_add_slice(struct buf *buf, struct slice slice)
{
	buf_add(buf, slice.data, slice.len);
}

static inline void buf_add_str(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_addf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_addf_args(struct buf *buf, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
void buf_drop(struct buf *buf, size_t len);              /* remove len bytes from the front of the buffer */
void buf_cut(struct buf *buf, size_t len);               /* shorten the buffer to its first len bytes */
struct slice buf_slice(const struct buf *buf);           /* the live bytes; valid until the next change */
/* returns the bytes with a NUL behind them, which len doesn't count */
const char *buf_cstr(struct buf *buf);

#endif
