/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the machine's load from /proc and /sys. A machine without these files is reported as idle. */
#include "worker/system.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/sysinfo.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"

#define TEXT_MAX 1048576u

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

void system_look(struct system_load *load)
{
	struct buf text = { 0 };
	uint64_t told;

	if (io_read_file(AT_FDCWD, "/proc/stat", TEXT_MAX, &text) == 0)
		system_parse_stat(buf_cstr(&text), load);
	buf_clear(&text);
	if (io_read_file(AT_FDCWD, "/proc/meminfo", TEXT_MAX, &text) == 0)
		system_parse_meminfo(buf_cstr(&text), load);
	buf_clear(&text);
	if (io_read_file(AT_FDCWD, "/proc/loadavg", TEXT_MAX, &text) == 0)
		system_parse_loadavg(buf_cstr(&text), (uint64_t)get_nprocs(), load);
	told = gpu_of_helper(&load->gpu_helper, clock_mono_ns());
	load->gpu_permille = gpu_of_kernel("/sys");
	if (told > load->gpu_permille)
		load->gpu_permille = told;
	buf_free(&text);
}
