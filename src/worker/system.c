/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the machine's load from /proc and /sys. A machine without these files is reported as idle. */
#include "worker/system.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/sysinfo.h>

#include "base/buf.h"
#include "base/io.h"

#define TEXT_MAX 1048576u
#define GPUS_LOOKED_AT 16

bool system_parse_stat(const char *text, struct system_load *load)
{
	uint64_t user, nice, system, idle, wait, interrupt, soft, stolen, busy, total;

	if (sscanf(text, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64, &user, &nice, &system, &idle, &wait, &interrupt, &soft, &stolen) != 8)
		return false;
	busy = user + nice + system + interrupt + soft + stolen;
	total = busy + idle + wait;
	/* Counters may run backwards on a machine whose processors come and go. */
	if (total > load->total && busy >= load->busy && busy - load->busy <= total - load->total)
		load->cpu_permille = (busy - load->busy) * 1000 / (total - load->total);
	load->busy = busy;
	load->total = total;
	return true;
}

bool system_parse_meminfo(const char *text, struct system_load *load)
{
	const char *total_at = strstr(text, "MemTotal:"), *available_at = strstr(text, "MemAvailable:");
	uint64_t total, available;

	if (!total_at || sscanf(total_at, "MemTotal: %" SCNu64, &total) != 1 || total == 0)
		return false;
	if (!available_at || sscanf(available_at, "MemAvailable: %" SCNu64, &available) != 1 || available > total)
		return false;
	load->mem_permille = (total - available) * 1000 / total;
	return true;
}

bool system_parse_loadavg(const char *text, uint64_t processors, struct system_load *load)
{
	uint64_t whole, part;

	if (sscanf(text, "%" SCNu64 ".%2" SCNu64, &whole, &part) != 2 || processors == 0 || whole > UINT32_MAX)
		return false;
	load->load_permille = (whole * 1000 + part * 10) / processors;
	return true;
}

/* Read the load of the GPUs from the file in which some drivers report it, in percent. */
static void look_at_gpus(struct system_load *load)
{
	uint64_t busiest = 0, percent;
	struct buf text = { 0 };
	char path[64];

	for (int card = 0; card < GPUS_LOOKED_AT; card++) {
		snprintf(path, sizeof(path), "/sys/class/drm/card%d/device/gpu_busy_percent", card);
		buf_clear(&text);
		if (io_read_file(AT_FDCWD, path, 64, &text) == 0 && sscanf(buf_cstr(&text), "%" SCNu64, &percent) == 1 &&
		    percent <= 100 && percent > busiest)
			busiest = percent;
	}
	load->gpu_permille = busiest * 10;
	buf_free(&text);
}

void system_look(struct system_load *load)
{
	struct buf text = { 0 };

	if (io_read_file(AT_FDCWD, "/proc/stat", TEXT_MAX, &text) == 0)
		system_parse_stat(buf_cstr(&text), load);
	buf_clear(&text);
	if (io_read_file(AT_FDCWD, "/proc/meminfo", TEXT_MAX, &text) == 0)
		system_parse_meminfo(buf_cstr(&text), load);
	buf_clear(&text);
	if (io_read_file(AT_FDCWD, "/proc/loadavg", TEXT_MAX, &text) == 0)
		system_parse_loadavg(buf_cstr(&text), (uint64_t)get_nprocs(), load);
	look_at_gpus(load);
	buf_free(&text);
}
