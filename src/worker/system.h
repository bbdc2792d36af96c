/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How busy the machine is, as a heartbeat says it. */
#ifndef TITAN_WORKER_SYSTEM_H
#define TITAN_WORKER_SYSTEM_H

#include <stdint.h>

#include "base/slice.h"

struct system_load {
	uint64_t busy, total;            /* of the processors, since boot, as last read */
	uint64_t cpu_permille;           /* between the last two looks */
	uint64_t mem_permille;           /* in use */
	uint64_t gpu_permille;           /* of the busiest, where the kernel says it */
	uint64_t load_permille;          /* runnable processes a processor, over a minute */
};

void system_look(struct system_load *load);
/* The parsers, for their tests: text of /proc/stat and /proc/meminfo. False: not understood, nothing changed. */
bool system_parse_stat(const char *text, struct system_load *load);
bool system_parse_loadavg(const char *text, uint64_t processors, struct system_load *load);
bool system_parse_meminfo(const char *text, struct system_load *load);

#endif
