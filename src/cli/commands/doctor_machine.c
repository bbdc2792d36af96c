/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan doctor's checks of the machine: kernel, memory, limits of processes and files, clock, terminal. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands/doctor.h"
#include "cli/session/output.h"

#define KERNEL_LEAST     509             /* Linux 5.9 has close_range, which every start of a job uses. */
#define FILES_LEAST      256
#define FILES_ENOUGH     4096
#define PROCESSES_LEAST  64
#define PROCESSES_ENOUGH 1024
#define MEMORY_LEAST_MIB 64
#define YEAR_LEAST       2025

static void check_kernel(struct findings *findings)
{
	struct utsname name;
	int major = 0, minor = 0;
	char text[256];

	if (uname(&name) != 0 || sscanf(name.release, "%d.%d", &major, &minor) != 2)
		return;
	snprintf(text, sizeof(text), "%s %.64s, %ld cpus", name.sysname, name.release, sysconf(_SC_NPROCESSORS_ONLN));
	if (major * 100 + minor < KERNEL_LEAST)
		finding_add(findings, "machine", FINDING_PROBLEM, text, "run titan on Linux 5.9 or later");
	else
		finding_add(findings, "machine", FINDING_OK, text, NULL);
}

static void check_memory(struct findings *findings)
{
	FILE *file = fopen("/proc/meminfo", "re");
	uint64_t available_kib = UINT64_MAX;
	char line[128], text[64];

	while (file != NULL && available_kib == UINT64_MAX && fgets(line, sizeof(line), file) != NULL)
		(void)sscanf(line, "MemAvailable: %" SCNu64, &available_kib);
	if (file != NULL)
		fclose(file);
	if (available_kib == UINT64_MAX)
		return;
	snprintf(text, sizeof(text), "%" PRIu64 " MiB of memory are available", available_kib / 1024);
	if (available_kib / 1024 < MEMORY_LEAST_MIB)
		finding_add(findings, "memory", FINDING_PROBLEM, text, "end programs that use much memory; ps --sort -rss -eo rss,pid,comm | head lists them");
	else
		finding_add(findings, "memory", FINDING_OK, text, NULL);
}

/* Check one limit: below least titan fails, below enough it may fail under load. */
static void check_limit(struct findings *findings, int which, const char *what, rlim_t least, rlim_t enough, const char *next)
{
	struct rlimit limit;
	enum finding_state verdict;
	char text[160];

	if (getrlimit((__rlimit_resource_t)which, &limit) != 0)
		return;
	/* A master and a worker raise their own soft limit to the hard one. */
	verdict = limit.rlim_max < least ? FINDING_PROBLEM : limit.rlim_max < enough ? FINDING_ADVICE : FINDING_OK;
	if (limit.rlim_max == RLIM_INFINITY)
		snprintf(text, sizeof(text), "no limit on %s", what);
	else
		snprintf(text, sizeof(text), "at most %llu %s%s", (unsigned long long)limit.rlim_max, what,
			 verdict == FINDING_OK ? "" : verdict == FINDING_ADVICE ? ": too few for many jobs at once" :
			 ": too few to run jobs");
	finding_add(findings, "limits", verdict, text, verdict == FINDING_OK ? NULL : next);
}

static void check_clock(struct findings *findings)
{
	struct timex state = { 0 };
	time_t now = time(NULL);
	struct tm parts;
	int known;

	if (gmtime_r(&now, &parts) == NULL || parts.tm_year + 1900 < YEAR_LEAST) {
		finding_add(findings, "clock", FINDING_PROBLEM, "the clock shows a time long ago, so schedules and dates are wrong",
			    "set the clock: timedatectl set-ntp true");
		return;
	}
	known = adjtimex(&state);
	if (known < 0)
		finding_add(findings, "clock", FINDING_OK, "the system doesn't let this process ask whether the clock is synchronised", NULL);
	else if (known == TIME_ERROR || (state.status & STA_UNSYNC))
		finding_add(findings, "clock", FINDING_ADVICE, "the clock isn't synchronised, so schedules may begin early or late",
			    "timedatectl set-ntp true, or ask the administrator of the host");
	else
		finding_add(findings, "clock", FINDING_OK, "the clock is synchronised", NULL);
}

static void check_terminal(const struct cli *cli, struct findings *findings)
{
	const char *term = getenv("TERM");

	if (!cli->session->out.terminal)
		return;
	if (!cli->session->utf8)
		finding_add(findings, "terminal", FINDING_ADVICE, "the locale isn't UTF-8, so titan draws symbols in ASCII",
			    "export LC_ALL=C.UTF-8");
	else if (term == NULL || term[0] == '\0')
		finding_add(findings, "terminal", FINDING_ADVICE, "TERM isn't set, so the dashboard can't open", "export TERM=xterm-256color");
	else
		finding_add(findings, "terminal", FINDING_OK, "the terminal shows UTF-8", NULL);
}

void doctor_machine(struct cli *cli, struct findings *findings)
{
	check_kernel(findings);
	check_memory(findings);
	check_limit(findings, RLIMIT_NOFILE, "open files in a process", FILES_LEAST, FILES_ENOUGH,
		    "raise the hard limit: ulimit -Hn 65536 as root, LimitNOFILE= in a systemd unit, or /etc/security/limits.conf");
	check_limit(findings, RLIMIT_NPROC, "processes of this user", PROCESSES_LEAST, PROCESSES_ENOUGH,
		    "raise the hard limit: ulimit -Hu 32768 as root, LimitNPROC= in a systemd unit, or /etc/security/limits.conf");
	check_clock(findings);
	check_terminal(cli, findings);
}
