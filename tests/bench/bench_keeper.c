/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs a second through a keeper alone with two slots, beside the rate of bare vfork, exec and wait with two in flight.
 * bench_keeper [JOBS [PROGRAM]] (10000, /bin/true)
 */
#include "../unit/keeper_rig.h"

#define AHEAD 32u

static double seconds(void)
{
	return (double)clock_mono_ns() / 1e9;
}

static void start_bare(const char *program)
{
	char *argv[] = { (char *)program, NULL }, *envp[] = { NULL };
	pid_t pid = vfork();

	if (pid == 0) {
		execve(program, argv, envp);
		_exit(127);
	}
}

static double bare(unsigned jobs, const char *program)
{
	double begin = seconds();
	unsigned started = 0, ended = 0;

	while (ended < jobs) {
		while (started < jobs && started - ended < 2) {
			start_bare(program);
			started++;
		}
		if (wait(NULL) > 0)
			ended++;
	}
	return jobs / (seconds() - begin);
}

/* Processor time of a process without its children. For the bare rate: what making a process costs its parent. */
static double used_us(pid_t pid)
{
	unsigned long user = 0, system = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
		abort();
	fclose(file);
	return (double)(user + system) * 1e6 / (double)sysconf(_SC_CLK_TCK);
}

static double keeper(unsigned jobs, const char *program, double *ret_cpu_us)
{
	const char *const argv[] = { program, NULL };
	struct rig *rig = rig_new(2);
	struct ipc_exited exited;
	unsigned sent = 0;
	double begin, rate;

	if (!rig_start(rig))
		abort();
	rig_lease(rig);
	begin = seconds();
	for (unsigned ended = 0; ended < jobs; ended++) {
		for (; sent < jobs && sent - ended < AHEAD; sent++)
			rig_spawn_in(rig, sent + 1, 1, argv, NULL, "");
		if (!rig_exited(rig, 0, &exited) || exited.done.outcome != OUTCOME_EXIT)
			abort();
		rig_name(rig, IPC_SPOOL_ACK, exited.done.job, exited.done.epoch);
		for (size_t i = 0; i < rig->queued;) {
			if (rig->queue[i].type == IPC_EXITED) {
				i++;
				continue;
			}
			buf_free(&rig->queue[i].body);
			rig->queue[i] = rig->queue[--rig->queued];
		}
	}
	rate = jobs / (seconds() - begin);
	*ret_cpu_us = used_us(rig->keeper) / jobs;
	rig_free(rig);
	return rate;
}

int main(int argc, char **argv)
{
	unsigned jobs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 10000;
	const char *program = argc > 2 ? argv[2] : "/bin/true";

	rig_stub(argc, argv);
	for (int round = 0; round < 3; round++) {
		double before_us = used_us(getpid()), limit = bare(jobs, program);
		double bare_us = (used_us(getpid()) - before_us) / jobs, keeper_us;
		double ours = keeper(jobs, program, &keeper_us);

		printf("bare %6.0f/s, %3.0f us a job  keeper %6.0f/s, %3.0f us a job  %.2f of the rate\n", limit,
		       bare_us, ours, keeper_us, ours / limit);
		fflush(stdout);
	}
	return 0;
}
