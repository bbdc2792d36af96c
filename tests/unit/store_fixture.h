/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores of older versions, made from the frozen SQL in tests/fixtures. Include once per program. */
#ifndef TITAN_STORE_FIXTURE_H
#define TITAN_STORE_FIXTURE_H

#include <sqlite3.h>
#include <sys/stat.h>

#include "store_box.h"

static inline int fixture_first_cb(void *arg, int columns, char **values, char **names)
{
	(void)columns;
	(void)names;
	*(long *)arg = strtol(values[0] ? values[0] : "-1", NULL, 10);
	return 0;
}

/* Run SQL and return the first number of the result; -2: it failed. */
static inline long sql(const char *path, const char *text)
{
	sqlite3 *handle;
	long answer = -1;

	/* Use the plain file system, because the test layer offers no shared memory. */
	if (sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix") != SQLITE_OK ||
	    sqlite3_exec(handle, "PRAGMA synchronous = OFF", NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_exec(handle, text, fixture_first_cb, &answer, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s: %.200s: %s\n", path, text, sqlite3_errmsg(handle));
		answer = -2;
	}
	sqlite3_close(handle);
	return answer;
}

/* Make a store of this version at the place of the rig's store. */
static inline void fixture_make(int version)
{
	const char *source = getenv("TITAN_SRCDIR"), *file = __FILE__, *slash = strrchr(file, '/');
	struct buf path = { 0 }, text = { 0 };

	if (source)
		buf_addf(&path, "%s/tests/fixtures/store-%d.sql", source, version);
	else
		buf_addf(&path, "%.*s/../fixtures/store-%d.sql", (int)(slash ? slash - file : 0), file, version);
	if (io_read_file(AT_FDCWD, buf_cstr(&path), 1 << 20, &text) != 0) {
		fprintf(stderr, "%s can't be read\n", buf_cstr(&path));
		abort();
	}
	if (sql(box_path, buf_cstr(&text)) == -2 || chmod(box_path, 0600) != 0)
		abort();
	buf_free(&path);
	buf_free(&text);
}

#endif
