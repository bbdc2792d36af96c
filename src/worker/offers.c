/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the resources that this machine offers; limits of the worker's control group lower the machine's own numbers.
 */
#include "worker/offers.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

#define GROUP_FILE_MAX 256u

bool offers_parse_cpu_max(const char *text, uint64_t *ret_thousandths)
{
	uint64_t quota, period;

	if (sscanf(text, "%" SCNu64 " %" SCNu64, &quota, &period) != 2 || period == 0 || quota > UINT32_MAX)
		return false;
	*ret_thousandths = quota * 1000 / period;
	return true;
}

bool offers_parse_memory_max(const char *text, uint64_t *ret_bytes)
{
	return sscanf(text, "%" SCNu64, ret_bytes) == 1;
}

static uint64_t group_bound(const char *path, bool (*parse)(const char *, uint64_t *), uint64_t most)
{
	struct buf text = { 0 };
	uint64_t value = most;

	if (io_read_file(AT_FDCWD, path, GROUP_FILE_MAX, &text) == 0 && !parse(buf_cstr(&text), &value))
		value = most;
	buf_free(&text);
	return value > 0 && value < most ? value : most;
}

static uint64_t machine_cpus(void)
{
	cpu_set_t cpus;
	uint64_t count = 1;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		count = (uint64_t)CPU_COUNT(&cpus);
	return group_bound("/sys/fs/cgroup/cpu.max", offers_parse_cpu_max, count * 1000);
}

static uint64_t machine_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;

	return group_bound("/sys/fs/cgroup/memory.max", offers_parse_memory_max, bytes);
}

static enum err add_missing(struct resource_list *list, const char *name, uint64_t amount, struct error *error)
{
	return resource_find(list->at, list->n, name) ? ERR_NONE : resources_add(list, slice_str(name), amount, error);
}

enum err offers_find(const char *given, struct resource_list *ret, char text[LIMIT_RESOURCES_TEXT_MAX],
		     struct error *error)
{
	struct slice words[LIMIT_RESOURCES_MAX + 1];
	struct slice_list list = { .at = words };
	struct resource_list offers = { 0 };
	struct buf out = { 0 };
	enum err err;

	for (const char *at = given; at && *at && list.n <= LIMIT_RESOURCES_MAX; at += at[0] == ',') {
		words[list.n++] = slice_make(at, strcspn(at, ","));
		at += words[list.n - 1].len;
	}
	err = resources_read(list, &offers, error);
	if (err == ERR_NONE)
		err = add_missing(&offers, RESOURCE_CPUS, machine_cpus(), error);
	if (err == ERR_NONE)
		err = add_missing(&offers, RESOURCE_MEMORY, machine_memory(), error);
	for (size_t i = 0; i < offers.n && err == ERR_NONE; i++) {
		if (i > 0)
			buf_add_byte(&out, ',');
		resource_put(&offers.at[i], &out);
	}
	if (err == ERR_NONE && out.len >= LIMIT_RESOURCES_TEXT_MAX)
		err = error_set(error, ERR_TOO_LARGE, "the resources of a worker may have at most %d bytes as text",
				LIMIT_RESOURCES_TEXT_MAX - 1);
	if (err == ERR_NONE) {
		memcpy(text, buf_cstr(&out), out.len + 1);
		*ret = offers;
	}
	buf_free(&out);
	return err;
}
