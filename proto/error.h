/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The errors of errors.def, and struct error: what failed, where, why, and the next command. A function that
 * can fail returns enum err and takes an optional struct error as its last argument, which is filled once,
 * where the failure happened.
 */
#ifndef TITAN_PROTO_ERROR_H
#define TITAN_PROTO_ERROR_H

#include <stdbool.h>

enum err {
#define ERROR(name, wire, exit_status, again, text) ERR_##name = wire,
#include "proto/errors.def"
#undef ERROR
};

#define ERROR_TEXT_SIZE 1024
#define ERROR_NEXT_SIZE 4608             /* bytes of error.next: the longest path, and words around it */

struct error {
	enum err code;
	/*
	 * One line. May contain text from outside: escape it before showing it. A text that is too long is
	 * cut in the middle.
	 */
	char text[ERROR_TEXT_SIZE];
	/* The next command, complete or empty: half a path could be pasted into a shell. */
	char next[ERROR_NEXT_SIZE];
};

void error_clear(struct error *error);  /* Clear an error; faster than an initializer, which clears all bytes. */
/* Both return code, so a failing function can end with them. error may be NULL. */
enum err error_set(struct error *error, enum err code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
enum err error_system(struct error *error, int errno_value, const char *format, ...)
	__attribute__((format(printf, 3, 4)));           /* make an ERR_SYSTEM; appends ": " and strerror */
enum err error_next(struct error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));           /* sets next; returns error->code */
/* Describe why a directory that must be private can't be used, and what to do. Returns ERR_SYSTEM. */
enum err error_dir(struct error *error, int errno_value, const char *what, const char *path);
/* Like error_dir, for a cluster's directory. */
enum err error_state_dir(struct error *error, int errno_value, const char *path);

/* Returns the name, such as "NOT_FOUND"; "UNKNOWN" outside the table. */
const char *err_name(enum err code);
const char *err_text(enum err code);
int err_exit_status(enum err code);
bool err_again(enum err code);
bool err_known(unsigned wire);

#endif
