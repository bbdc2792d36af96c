/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stops the program when an invariant is broken. Writes its message without allocating, because memory may have run
 * out.
 */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

_Noreturn void check_failed(const char *file, int line, const char *what)
{
	char text[512];
	int len = snprintf(text, sizeof(text), "titan: check failed: %s (%s:%d)\n", what, file, line);

	if (len > (int)sizeof(text) - 1)
		len = sizeof(text) - 1;
	if (len > 0 && write(STDERR_FILENO, text, (size_t)len) < 0)
		abort();
	abort();
}
