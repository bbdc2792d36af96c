/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How busy the gpus of the machine are. The kernel tells it for AMD; for NVIDIA only its own program does, which takes a
 * while and may hang. So it runs as a helper process: each call looks at what the helper has written, and never waits.
 */
#ifndef TITAN_WORKER_GPU_H
#define TITAN_WORKER_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GPU_HELPER "nvidia-smi"
#define GPU_TEXT_MAX 1024

struct gpu_helper {
	pid_t pid;                       /* the helper that runs now; 0: none */
	int fd;                          /* its output, non-blocking */
	int64_t started_ns;
	int64_t next_ns;                 /* when the next helper may start */
	int64_t told_ns;                 /* when a helper last told a load; 0: never */
	uint64_t permille;               /* what it told: the load of the busiest gpu */
	size_t len;
	char text[GPU_TEXT_MAX + 1];
};

/* The load of the busiest gpu as the files below this directory tell it, which is /sys but in tests. */
uint64_t gpu_of_kernel(const char *sysfs);
/* Read one percentage from each line, and return the highest; lines without one don't count. false: no line has one. */
bool gpu_parse(const char *text, uint64_t *ret_permille);
/* Start a helper if it is time to, or look at the one that runs. Return the load that was told last; 0: none, or long ago. */
uint64_t gpu_of_helper(struct gpu_helper *helper, int64_t now_ns);
/* Kill the helper. */
void gpu_helper_end(struct gpu_helper *helper);

#endif
