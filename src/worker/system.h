/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How busy the machine is, for heartbeats. */
#ifndef TITAN_WORKER_SYSTEM_H
#define TITAN_WORKER_SYSTEM_H

#include <stdint.h>

#include "base/slice.h"
#include "worker/gpu.h"

struct system_load {
	uint64_t busy, total;            /* busy and total processor time since boot, as last read */
	uint64_t cpu_permille;           /* processor load between the last two looks */
	uint64_t mem_permille;           /* share of the memory that is in use */
	uint64_t gpu_permille;           /* load of the busiest gpu, as the kernel or its driver's program tells it */
	struct gpu_helper gpu_helper;
	uint64_t load_permille;          /* runnable processes per processor, averaged over a minute */
};

void system_look(struct system_load *load);
/*
 * The parsers, exported for their tests: texts of /proc/stat, /proc/loadavg and /proc/meminfo. False: the text can't be
 * parsed, and *load is unchanged.
 */
bool system_parse_stat(const char *text, struct system_load *load);
bool system_parse_loadavg(const char *text, uint64_t processors, struct system_load *load);
bool system_parse_meminfo(const char *text, struct system_load *load);

#endif
