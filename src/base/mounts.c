/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads /proc/self/mountinfo. Spaces in it are written as \040, in paths and in sources; such a path is never found. */
#include "base/mounts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/io.h"

#define TEXT_MAX (4 << 20)
#define WORDS    5                       /* words up to the mount point: id, parent, device, root, mount point */

static struct slice word_next(struct slice *rest)
{
	struct slice word = { .data = rest->data };

	while (word.len < rest->len && rest->data[word.len] != ' ')
		word.len++;
	*rest = word.len < rest->len ? slice_make(rest->data + word.len + 1, rest->len - word.len - 1) : slice_make(rest->data + word.len, 0);
	return word;
}

/* Does the source name another machine, as HOST:/DIRECTORY and //HOST/SHARE do? */
static bool is_far(struct slice source)
{
	return source.len > 2 && (memcmp(source.data, "//", 2) == 0 || memmem(source.data + 1, source.len - 1, ":/", 2) != NULL);
}

static bool is_above(struct slice point, const char *path)
{
	size_t len = point.len == 1 ? 0 : point.len;     /* the root is above all */

	return strncmp(path, (const char *)point.data, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static uint64_t device_of(struct slice word)
{
	unsigned first, second;
	char text[32];

	snprintf(text, sizeof(text), "%.*s", (int)word.len, (const char *)word.data);
	return sscanf(text, "%u:%u", &first, &second) == 2 ? makedev(first, second) : 0;
}

uint64_t mount_find(struct slice text, const char *path, struct slice source, struct slice *ret_source)
{
	uint64_t device = 0;
	size_t nearest = 0;

	while (text.len > 0) {
		const uint8_t *end = memchr(text.data, '\n', text.len);
		struct slice line = slice_make(text.data, end ? (size_t)(end - text.data) : text.len), words[WORDS], has;

		text = slice_make(text.data + line.len + (end != NULL), text.len - line.len - (end != NULL));
		for (size_t i = 0; i < WORDS; i++)
			words[i] = word_next(&line);
		/* Optional words follow, then a dash, the type and the source. */
		while (line.len > 0 && !slice_eq(word_next(&line), slice_str("-")))
			;
		word_next(&line);
		has = word_next(&line);
		/* A later mount at the same place is above the earlier one. */
		if (!is_far(has) || (source.len > 0 && !slice_eq(has, source)) || words[4].len < nearest || !is_above(words[4], path))
			continue;
		nearest = words[4].len;
		device = device_of(words[2]);
		if (ret_source)
			*ret_source = has;
	}
	return device;
}

uint64_t mount_of(const char *path, struct slice source, struct buf *ret_source)
{
	struct buf text = { 0 };
	struct slice found = { 0 };
	uint64_t device = 0;

	if (io_read_file(AT_FDCWD, "/proc/self/mountinfo", TEXT_MAX, &text) == 0)
		device = mount_find(buf_slice(&text), path, source, &found);
	if (device != 0 && ret_source)
		buf_add_slice(ret_source, found);
	buf_free(&text);
	return device;
}
