/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The only callers of malloc. Never return NULL: without memory the program stops. */
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* Multiply, checked. Never returns 0, because malloc(0) may return NULL, which means failure here. */
static size_t array_size(size_t count, size_t size)
{
	size_t total;

	CHECK(!__builtin_mul_overflow(count, size, &total));
	CHECK(total <= PTRDIFF_MAX);
	return total > 0 ? total : 1;
}

void *mem_alloc(size_t size)
{
	void *ptr = malloc(array_size(1, size));

	CHECK(ptr != NULL);
	return ptr;
}

void *mem_array(size_t count, size_t size)
{
	void *ptr = calloc(1, array_size(count, size));

	CHECK(ptr != NULL);
	return ptr;
}

void *mem_zalloc(size_t size)
{
	return mem_array(1, size);
}

void *mem_resize(void *old, size_t count, size_t size)
{
	void *ptr = realloc(old, array_size(count, size));

	CHECK(ptr != NULL);
	return ptr;
}

char *mem_strdup(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(mem_alloc(size), text, size);
}

char *mem_text(struct slice text)
{
	char *copy = mem_alloc(text.len + 1);

	if (text.len > 0)
		memcpy(copy, text.data, text.len);
	copy[text.len] = '\0';
	return copy;
}

void mem_free(void *ptr)
{
	free(ptr);
}
