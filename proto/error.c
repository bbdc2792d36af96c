/* SPDX-License-Identifier: GPL-3.0-or-later */
/* errors.def as lookup functions, and the functions that fill an error. No escaping here: the sinks do that. */
#include "proto/error.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define GAP "..."

struct err_info {
	const char *name;
	const char *text;
	int exit_status;
	bool again;
};

static const struct err_info err_table[] = {
#define ERROR(name, wire, exit_status, again, text) [wire] = { #name, text, exit_status, again },
#include "proto/errors.def"
#undef ERROR
};

/* A peer may send any number: an unknown one counts as an internal error with a name of its own. */
static const struct err_info unknown_info = { "UNKNOWN", "unknown error", 70, false };

bool err_known(unsigned wire)
{
	return wire < sizeof(err_table) / sizeof(err_table[0]) && err_table[wire].name;
}

static const struct err_info *info_of(enum err code)
{
	return err_known((unsigned)code) ? &err_table[code] : &unknown_info;
}

const char *err_name(enum err code)
{
	return info_of(code)->name;
}

const char *err_text(enum err code)
{
	return info_of(code)->text;
}

int err_exit_status(enum err code)
{
	return info_of(code)->exit_status;
}

bool err_again(enum err code)
{
	return info_of(code)->again;
}

void error_clear(struct error *error)
{
	error->code = ERR_NONE;
	error->text[0] = error->next[0] = '\0';
}

/* Cut a long text in the middle: its beginning says what failed, its end says why. */
static void shorten(char text[ERROR_TEXT_SIZE], const char *whole, size_t len)
{
	const size_t tail = ERROR_TEXT_SIZE / 3, head = ERROR_TEXT_SIZE - 1 - strlen(GAP) - tail;

	memcpy(text, whole, head);
	memcpy(text + head, GAP, strlen(GAP));
	memcpy(text + head + strlen(GAP), whole + len - tail, tail + 1);
}

__attribute__((format(printf, 2, 0)))
static void set_text(struct error *error, const char *format, va_list args)
{
	va_list again;
	char *whole;
	int len;

	va_copy(again, args);
	len = vsnprintf(error->text, sizeof(error->text), format, args);
	if (len >= (int)sizeof(error->text)) {
		whole = mem_alloc((size_t)len + 1);
		vsnprintf(whole, (size_t)len + 1, format, again);
		shorten(error->text, whole, (size_t)len);
		mem_free(whole);
	}
	va_end(again);
}

enum err error_set(struct error *error, enum err code, const char *format, ...)
{
	va_list args;

	if (!error)
		return code;
	error->code = code;
	error->next[0] = '\0';
	va_start(args, format);
	set_text(error, format, args);
	va_end(args);
	return code;
}

enum err error_system(struct error *error, int errno_value, const char *format, ...)
{
	char reason[128];
	const char *why = strerror_r(errno_value, reason, sizeof(reason));
	va_list args;
	size_t len, why_len = strlen(why) + strlen(": ");

	if (!error)
		return ERR_SYSTEM;
	error->code = ERR_SYSTEM;
	error->next[0] = '\0';
	va_start(args, format);
	set_text(error, format, args);
	va_end(args);
	len = strlen(error->text);
	if (len + why_len < sizeof(error->text))
		snprintf(error->text + len, sizeof(error->text) - len, ": %s", why);
	else
		snprintf(error->text + sizeof(error->text) - strlen(GAP) - why_len - 1, strlen(GAP) + why_len + 1, GAP ": %s", why);
	return ERR_SYSTEM;
}

enum err error_next(struct error *error, const char *format, ...)
{
	va_list args;

	/* without an error record the code is known only to the caller, who returns it */
	if (!error)
		return ERR_INTERNAL;
	va_start(args, format);
	if (vsnprintf(error->next, sizeof(error->next), format, args) >= (int)sizeof(error->next))
		error->next[0] = '\0';
	va_end(args);
	return error->code;
}

enum err error_dir(struct error *error, int errno_value, const char *what, const char *path)
{
	struct stat info;
	bool there = lstat(path, &info) == 0 && S_ISDIR(info.st_mode);

	if (errno_value == EPERM && there)
		error_set(error, ERR_SYSTEM, "can't use %s %s: it must belong to you, and only you may have access "
			"to it (mode 0700)", what, path);
	else if (errno_value == ELOOP)
		error_set(error, ERR_SYSTEM, "can't use %s %s: it is a symbolic link, which other users could change",
			  what, path);
	else
		error_system(error, errno_value, "can't use %s %s", what, path);
	if (errno_value == EPERM && there && info.st_uid != geteuid())
		error_next(error, "chown %lu %s", (unsigned long)geteuid(), path);
	else if (errno_value == EPERM && there)
		error_next(error, "chmod 700 %s", path);
	else
		error_next(error, "ls -ld %s", path);
	return ERR_SYSTEM;
}

enum err error_state_dir(struct error *error, int errno_value, const char *path)
{
	char real[PATH_MAX];
	char *slash;

	error_dir(error, errno_value, "the state directory", path);
	if (errno_value != ELOOP || !realpath(path, real) || (slash = strrchr(real, '/')) == NULL || slash == real)
		return ERR_SYSTEM;
	*slash = '\0';
	error_next(error, "TITAN_STATE=%s titan -C %s, which together name that directory", real, slash + 1);
	return ERR_SYSTEM;
}
