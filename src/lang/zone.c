/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time zones from libc. libc treats an unknown name as UTC, so the zone's file is checked first. */
#include "lang/zone.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"

#define ZONES "/usr/share/zoneinfo/"
#define DAY_S 86400
#define END_S INT64_C(4102444800)        /* end of 2099, in seconds since 1970 */

static bool is_zone_name(struct slice name)
{
	for (size_t i = 0; i < name.len; i++) {
		int byte = name.data[i];

		if (!isalnum(byte) && !strchr("_+-/", byte))
			return false;
	}
	return name.len > 0 && name.len <= 64 && name.data[0] != '/';
}

static bool is_zone_file(struct slice name)
{
	char path[sizeof(ZONES) + 64], magic[4];
	int fd;
	ssize_t len;

	memcpy(path, ZONES, sizeof(ZONES) - 1);
	memcpy(path + sizeof(ZONES) - 1, name.data, name.len);
	path[sizeof(ZONES) - 1 + name.len] = '\0';
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, magic, sizeof(magic));
	close(fd);
	return len == sizeof(magic) && memcmp(magic, "TZif", 4) == 0;
}

static int64_t offset_at(int64_t utc_s)
{
	time_t time = (time_t)utc_s;
	struct tm tm;

	return localtime_r(&time, &tm) ? tm.tm_gmtoff : 0;
}

static void add(struct buf *out, int64_t utc_s, int64_t offset_s)
{
	for (int i = 0; i < 8; i++)
		buf_add_byte(out, (uint8_t)((uint64_t)utc_s >> (8 * i)));
	for (int i = 0; i < 4; i++)
		buf_add_byte(out, (uint8_t)((uint64_t)offset_s >> (8 * i)));
}

/* Find the second at which the offset changes between low and high. */
static int64_t change_within(int64_t low, int64_t high)
{
	int64_t before = offset_at(low);

	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;

		if (offset_at(middle) == before)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static void changes(struct buf *out)
{
	int64_t day = (clock_wall_ms() / 1000 / DAY_S - 3653) * DAY_S;
	int64_t offset = offset_at(day);

	add(out, day, offset);
	for (; day < END_S; day += DAY_S) {
		if (offset_at(day + DAY_S) == offset)
			continue;
		offset = offset_at(day + DAY_S);
		add(out, change_within(day, day + DAY_S), offset);
	}
}

bool zone_may_be(struct slice name)
{
	return name.len == 0 || slice_eq(name, slice_str("UTC")) ||
	       (is_zone_name(name) && (is_zone_file(name) || access(ZONES, F_OK) != 0));
}

enum err zone_compile(struct slice name, struct arena *arena, struct slice *ret, struct error *error)
{
	const char *old = getenv("TZ");
	char *kept = old ? arena_strdup(arena, slice_str(old)) : NULL;
	struct buf out = { 0 };

	*ret = slice_make(NULL, 0);
	if (name.len == 0 || slice_eq(name, slice_str("UTC")))
		return ERR_NONE;
	if (!is_zone_name(name) || !is_zone_file(name)) {
		error_set(error, ERR_INVALID, "tz: no time zone '%.*s' under " ZONES " (package tzdata)",
			  (int)(name.len < 64 ? name.len : 64), (const char *)name.data);
		return error_next(error, "use tz: UTC, or a name such as Europe/Berlin");
	}
	setenv("TZ", arena_strdup(arena, name), 1);
	tzset();
	changes(&out);
	if (kept)
		setenv("TZ", kept, 1);
	else
		unsetenv("TZ");
	tzset();
	*ret = arena_copy(arena, buf_slice(&out));
	buf_free(&out);
	return ERR_NONE;
}
