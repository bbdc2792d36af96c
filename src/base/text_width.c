/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Characters and their widths in terminal cells. Colour sequences that text_escape kept have width 0. */
#include "base/text.h"

#include <utf8proc.h>

#include "base/text_internal.h"

#define CODE_REPLACEMENT 0xfffdu

size_t text_next(struct slice text, uint32_t *ret_code, int *ret_width)
{
	utf8proc_int32_t code;
	utf8proc_ssize_t len;
	int width;

	if (text.len == 0)
		return 0;
	if (text.data[0] < 0x80) {
		code = text.data[0];
		len = 1;
		width = code >= 0x20 && code < 0x7f;
	} else {
		len = utf8proc_iterate(text.data, text.len > 4 ? 4 : (utf8proc_ssize_t)text.len, &code);
		if (len <= 0) {
			code = CODE_REPLACEMENT;
			len = 1;
		}
		width = utf8proc_charwidth(code);
	}
	if (ret_code)
		*ret_code = (uint32_t)code;
	if (ret_width)
		*ret_width = width;
	return (size_t)len;
}

size_t text_clip(struct slice text, size_t cells, size_t *ret_width)
{
	size_t at = 0, used = 0;

	while (at < text.len) {
		struct slice rest = slice_make(text.data + at, text.len - at);
		size_t len = text_sgr_parse(rest, NULL);
		int width = 0;

		if (len == 0)
			len = text_next(rest, NULL, &width);
		if (used + (size_t)width > cells)
			break;
		used += (size_t)width;
		at += len;
	}
	if (ret_width)
		*ret_width = used;
	return at;
}

size_t text_width(struct slice text)
{
	size_t width;

	text_clip(text, SIZE_MAX, &width);
	return width;
}
