/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside the keeper. keeper.c: the process and its loop; attempts.c: starting and stopping; exits.c: ends
 * and what is left of a tree; recover.c: what an earlier keeper left; keeper_link.c: the link.
 */
#ifndef TITAN_WORKER_KEEPER_H
#define TITAN_WORKER_KEEPER_H

#include <limits.h>
#include <sys/resource.h>

#include "base/map.h"
#include "worker/cage.h"
#include "worker/env.h"
#include "worker/home.h"
#include "worker/ipc.h"
#include "worker/ledger.h"
#include "worker/space.h"
#include "worker/spool.h"
#include "worker/token.h"
#include "worker/tree.h"
#include "worker/worker.h"

struct attempt {
	struct attempt *prev, *next;     /* all of the keeper's */
	struct attempt *closing_next;
	bool closing;                    /* in that list */
	struct ledger_entry *entry;      /* NULL once the result is acknowledged */
	uint64_t job, epoch, run;
	char *strings;                   /* argv, environment, directory: until it starts */
	uint32_t argc, envc;
	struct space *space;             /* NULL before the start, and when its output is with the master */
	struct cage *cage;               /* that it runs in; NULL: none */
	pid_t pid;
	int pidfd;                       /* of one that another keeper started, or -1: it is our child */
	struct spawner *late;            /* its start hangs so far; NULL: it doesn't */
	struct attempt *late_next;
	bool late_told;                  /* the log was */
	bool tried;                      /* it may have become its program */
	int start_fault;                 /* of a start that hung: why it came to nothing; 0: it runs, or it isn't known */
	int status_fd;                   /* its init's word of how the main process ended; -1: it has no init */
	int64_t begun_ns;                /* monotonic */
	int64_t before_ns, after_ns;     /* boot time: it began between them */
	int64_t wall_ms;                 /* when it began; of another boot of the machine, as the clock said then */
	uint8_t boot_id[16];             /* of one that another keeper started: the machine's boot then */
	bool other_boot;                 /* not the present one */
	bool foreign;                    /* another keeper started it: how it ends is learned from its guardian */
	bool learned;                    /* that was learned: status and usage are known */
	bool dies;                       /* with its keeper: the next one adopts nothing of it */
	uint64_t log_max;                /* LOG_LOSSLESS: its output comes through pipes, see drain.c */
	uint64_t drained[2];             /* of that: bytes in the files */
	uint64_t synced[2];              /* bytes on the master's disk: given back as holes */
	int64_t drain_ns;                /* not before: there was no room on the disk */
	bool alone;                      /* it had an init, which is gone, and everything with it */
	bool gone;                       /* its main process is; its tree may not be */
	int status;                      /* of wait4, when gone and known */
	struct rusage usage;
	int64_t gone_ns;
	bool stuck;                      /* killed long ago, and lives on */
	int64_t kill_ns;                 /* TIME_NEVER: nobody asked it to end */
	int last_signal;
	uint64_t ended_no;               /* its place among the results; 0: an earlier keeper's */
	bool acked, shipped;
	struct ipc_exited exited;        /* when it has ended */
};

struct keeper {
	const struct worker_options *options;
	char path[PATH_MAX];             /* of the worker's directory */
	int dir_fd, lock_fd, null_fd, signal_fd, children_fd;
	char mark[HOME_MARK_SIZE];
	uint8_t boot_id[16];
	uint8_t instance[16];
	uint8_t secret[TOKEN_SECRET];
	uint32_t slots;
	char offers_text[LIMIT_RESOURCES_TEXT_MAX];      /* NAME=N, with commas between: for the link */
	struct ledger *ledger;
	struct spool *spool;
	struct spaces *spaces;
	struct cages *cages;             /* NULL: none to be had, or none wanted */
	struct env env;
	struct attempt *first;           /* all attempts */
	size_t count;
	uint64_t ended_count;            /* results of this keeper so far */
	struct map pids;                 /* our children that are main processes: pid to attempt */
	struct map strays;               /* our other children, once looked at: pid to struct stray */
	struct pid_list children;
	struct attempt *late;            /* those whose start hangs */
	struct attempt *closing;         /* asked to end, or main process gone: not yet ended */
	uint32_t adopted;                /* running attempts with a pidfd */
	uint32_t piped;                  /* attempts with pipes */
	struct buf pointers;             /* argv of the attempt that is being started */
	int64_t now_ns;

	pid_t link_pid;                  /* 0: none */
	struct ipc_end link;
	int64_t link_restart_ns;
	int64_t link_backoff_ns;
	bool listed;                     /* the link was told of everything there is */
	bool ready_told;
	struct ipc_numbers told;
	int64_t link_flush_ns;           /* when what is kept for the link is sent; 0: nothing is kept back */
	bool link_full;                  /* it took only a part */

	bool unguarded;                  /* its guardian was killed */
	bool quitting;
	int64_t quit_ns;                 /* when it exits whether all is acknowledged or not */
	bool spool_failing;
	int64_t refused_ns;              /* when the log was told that jobs can't be started; 0: never */
};

/* Its own, which for a moment has another name while it becomes a newer version; or one that stays for its last jobs. */
static inline bool keeper_is_guardian(const struct keeper *keeper, pid_t pid)
{
	return (keeper->options->guardian > 0 && pid == keeper->options->guardian) || tree_is_guardian(pid);
}

/* Can a process that began then be this attempt's? */
static inline bool attempt_may_be(const struct attempt *attempt, int64_t begun_ns)
{
	return begun_ns >= attempt->before_ns - TREE_TICK_NS && begun_ns <= attempt->after_ns + TREE_TICK_NS;
}

/* attempts.c */
struct attempt *attempt_new(struct keeper *keeper, uint64_t job, uint64_t epoch, uint64_t run);
void attempt_free(struct keeper *keeper, struct attempt *attempt);       /* takes it out of everything but the ledger */
void attempts_assign(struct keeper *keeper, const struct ipc_spawn *spawn, const char *strings);
void attempts_start(struct keeper *keeper);                              /* as many as may */
void attempts_stop(struct keeper *keeper, uint64_t job, uint64_t epoch, int64_t grace_ms);
void attempts_enforce_lease(struct keeper *keeper);                      /* end what may not run without one */
void attempts_recall(struct keeper *keeper, uint64_t job, uint64_t epoch);
void attempts_acked(struct keeper *keeper, uint64_t job, uint64_t epoch);
void attempts_shipped(struct keeper *keeper, uint64_t job, uint64_t epoch);
void attempt_is_shipped(struct attempt *attempt);                        /* none of its output is here any more */
void attempt_spool_asks(struct keeper *keeper, const struct attempt *attempt);   /* behind its start */
void attempts_quit(struct keeper *keeper, int64_t grace_ms);             /* the keeper ends, and all that it runs */
void attempts_leave(struct keeper *keeper, int64_t grace_ms);            /* it ends alone: the next one adopts what runs */
bool attempts_under_way(const struct keeper *keeper);                    /* does a keeper that ends wait for any? */
void attempt_not_started(struct keeper *keeper, struct attempt *attempt, int fault, bool lack);  /* there is no process */
bool attempt_lacks(int fault);                                           /* what the worker lacks, no fault of the job's */
void attempt_ended(struct keeper *keeper, struct attempt *attempt, enum outcome outcome, uint64_t code);
/* By the wall clock as it is now, so that the time since then is the time that passed; 0: it never began. */
int64_t attempt_began_ms(const struct attempt *attempt);

/* exits.c */
void exits_close(struct keeper *keeper, struct attempt *attempt);        /* from now on it is looked after */
void exits_reap(struct keeper *keeper);                                  /* our children that have ended */
void exits_adopted(struct keeper *keeper, struct attempt *attempt);      /* its pidfd says that it has ended */
void exits_check(struct keeper *keeper);                                 /* trees to kill, attempts to end */
int64_t exits_due(const struct keeper *keeper);
size_t exits_stuck(const struct keeper *keeper);
void exits_free(struct keeper *keeper);
/* How a foreign one ended was recorded. */
void exits_know(struct attempt *attempt, uint64_t status, uint64_t run_ns, uint64_t cpu_us, uint64_t rss_kib);
/* Of a foreign one that is gone: how it ended, if that is recorded. False: that is still to come. */
bool exits_learn(struct keeper *keeper, struct attempt *attempt);
void exits_finish(struct keeper *keeper, struct attempt *attempt);       /* nothing of it is left: its result */
/* Send a signal to what belongs to the attempt besides its process group. How many there were. */
size_t exits_signal_tree(struct keeper *keeper, struct attempt *attempt, int signal_number);

/* late.c */
void late_add(struct keeper *keeper, struct attempt *attempt, struct spawner *spawner);  /* its start hangs */
void late_gone(struct keeper *keeper, struct attempt *attempt);          /* its process is: nothing hangs any more */
void late_settle(struct keeper *keeper);                                 /* SIGCHLD: some may have gone on */
void late_kill(struct keeper *keeper, struct attempt *attempt, int fault);
void late_check(struct keeper *keeper);                                  /* those that hung for too long */
int64_t late_due(const struct keeper *keeper);

/* drain.c */
int drain_begin(struct keeper *keeper, struct attempt *attempt, int ret_fds[2]);         /* pipes, the job's ends; -errno */
void drain_claim(struct keeper *keeper, struct attempt *attempt);        /* those that an earlier keeper made */
bool drain_wants(const struct keeper *keeper, const struct attempt *attempt, int stream);
void drain_some(struct keeper *keeper, struct attempt *attempt, int stream);
/* Nobody writes any more: all that stands in the pipes, which go. False: there is no room on the disk, try again. */
bool drain_end(struct keeper *keeper, struct attempt *attempt);
/* Whatever still stands in them. */
void drain_close(struct keeper *keeper, struct attempt *attempt);
void drain_room(struct attempt *attempt, const struct ipc_room *room);
int64_t drain_due(const struct keeper *keeper);

/* log_room.c */
void room_claim(struct attempt *attempt);                                /* what an earlier keeper gave back of its files */
void room_give_back(struct keeper *keeper, const struct ipc_room *room);
void room_punch(int fd, uint64_t from, uint64_t until);

/* recover.c */
enum err recover_open(struct keeper *keeper, struct error *error);
bool recover_rewrite(struct keeper *keeper);                             /* the spool, with what is live alone */

/* keeper_link.c */
void keeper_link_start(struct keeper *keeper);
void keeper_link_died(struct keeper *keeper);
void keeper_tell_ready(struct keeper *keeper);                           /* once, to who started this worker */
void keeper_link_read(struct keeper *keeper);
void keeper_link_flush(struct keeper *keeper);
void keeper_link_started(struct keeper *keeper, const struct attempt *attempt);
void keeper_link_exited(struct keeper *keeper, const struct attempt *attempt);
void keeper_link_stuck(struct keeper *keeper, const struct attempt *attempt);

#endif
