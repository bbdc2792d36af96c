/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What /proc says about processes: the keeper's children (including orphans of jobs, because the keeper is a
 * subreaper), the mark in their environment, their start times. Changes nothing.
 */
#ifndef TITAN_WORKER_TREE_H
#define TITAN_WORKER_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pid_list {
	pid_t *at;
	size_t n, cap;
};

/* Open the file that tree_children reads. -1: the kernel has none, so all of /proc is searched. */
int tree_children_open(void);
/* List all children of this thread, zombies included. */
void tree_children(int fd, struct pid_list *out);
/* List all children of this process, whichever of its threads started them. */
void tree_children_of_all(struct pid_list *out);
void tree_processes(struct pid_list *out);
void pid_list_add(struct pid_list *list, pid_t pid);
void pid_list_free(struct pid_list *list);

/* Does the environment of the process contain TITAN_MARK=mark.JOB.EPOCH? */
bool tree_mark(pid_t pid, const char *mark, uint64_t *ret_job, uint64_t *ret_epoch);

struct tree_stat {
	char state;                      /* state of the process, as in /proc/PID/stat; Z: a zombie */
	pid_t parent, session;
	int64_t begun_ns;                /* boot-time clock, rounded down to TREE_TICK_NS */
};

#define TREE_TICK_NS (INT64_C(1000000000) / 100)

bool tree_stat(pid_t pid, struct tree_stat *ret_stat);

#define GUARDIAN_NAME "titan-guardian"

/* Does this process have the name of a guardian? */
bool tree_is_guardian(pid_t pid);

#endif
