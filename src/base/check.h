/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Assertions that also run in production: a broken invariant stops the program at once. */
#ifndef TITAN_BASE_CHECK_H
#define TITAN_BASE_CHECK_H

_Noreturn void check_failed(const char *file, int line, const char *what);

#define CHECK(cond) ((cond) ? (void)0 : check_failed(__FILE__, __LINE__, #cond))

#endif
