/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Internals of the keeper. keeper.c: the process and its loop; attempts.c: starting and stopping; exits.c:
 * ends, and what is left of a job's processes; recover.c: what an earlier keeper left; keeper_link.c: the
 * link.
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
#include "worker/job_token.h"
#include "worker/tree.h"
#include "worker/worker.h"

struct attempt {
	struct attempt *prev, *next;     /* links in the keeper's list of all attempts */
	struct attempt *closing_next;
	bool closing;                    /* the attempt is in the keeper's list of closing attempts */
	struct ledger_entry *entry;      /* the attempt's entry in the ledger; NULL once the result is acknowledged */
	uint64_t job, epoch, run;
	char *strings;                   /* argv, environment and directory of the job; NULL after the start */
	uint32_t argc, envc;
	bool has_files;                  /* the link puts files of the job in place before the start */
	bool has_input;                  /* the last string of argv is what the process reads from its standard input */
	bool has_script;                 /* the last argument is a script, which goes into a file */
	char *script;                    /* the name of that file; NULL before and after the start */
	uint64_t here_device, here_inode;        /* what the directory must be, as in ipc_spawn */
	const char *here_source;         /* the source of its mount, in strings; NULL: here_device counts */
	/* the attempt's space; NULL before the start, and after the master has all output */
	struct space *space;
	struct cage *cage;               /* the control group that the job runs in; NULL: none */
	pid_t pid;
	/* pidfd of an attempt that another keeper started; -1: the process is a child of this keeper */
	int pidfd;
	struct spawner *late;            /* the memory of a start that hangs; NULL: the start doesn't hang */
	struct attempt *late_next;
	bool late_told;                  /* the log has a line about the hanging start */
	bool tried;                      /* the exec may have happened, so the attempt counts as started */
	/* errno of a start that first hung and then failed; 0: the job runs, or its start still hangs */
	int start_fault;
	/* pipe from which the attempt's init reports how the main process ended; -1: the attempt has no init */
	int status_fd;
	int64_t begun_ns;                /* time at which the job was started, monotonic clock */
	/* boot-time clock before and after the start, between which the process began */
	int64_t before_ns, after_ns;
	/* wall clock at the start, or for a start in another boot of the machine as it was then */
	int64_t wall_ms;
	uint8_t boot_id[16];             /* boot of the machine in which another keeper started the job */
	bool other_boot;                 /* the job was started in another boot of the machine than the present one */
	bool foreign;                    /* another keeper started the job, so a guardian's record tells its end */
	bool learned; /* a guardian's record of the attempt's end was found: status and usage are known */
	bool dies;                       /* the job must die with its keeper, so the next keeper never adopts it */
	/* limit on kept output; LOG_LOSSLESS: the output comes through pipes, see drain.c */
	uint64_t log_max;
	uint64_t drained[2];             /* for a lossless job: bytes moved from each pipe into its file */
	uint64_t synced[2];              /* bytes of each stream on the master's disk, whose space was given back */
	/* draining isn't tried again before this time, because the disk was full; 0: drain now */
	int64_t drain_ns;
	bool alone;                      /* the job had an init, which has ended, so no process of the job is left */
	bool gone;                       /* the main process has ended; other processes of the job may still live */
	int status;                      /* wait status of the main process, valid when gone and known */
	struct rusage usage;
	int64_t gone_ns;
	bool stuck;                      /* the attempt was killed long ago and a process of it still lives */
	/* time at which SIGKILL is sent; TIME_NEVER: the attempt wasn't asked to end */
	int64_t kill_ns;
	int last_signal;
	/* number of the result among this keeper's results; 0: an earlier keeper's result */
	uint64_t ended_no;
	bool acked, shipped;
	bool puts_out;                   /* the job finds TITAN_OUTPUT in its environment */
	struct buf outputs;              /* what the job wrote to that file, until the master has the result */
	struct ipc_exited exited;        /* the attempt's result, once it has ended */
};

struct keeper {
	const struct worker_options *options;
	char path[PATH_MAX];             /* the worker's directory */
	int dir_fd, lock_fd, null_fd, signal_fd, children_fd;
	char mark[HOME_MARK_SIZE];
	uint8_t boot_id[16];
	uint8_t instance[16];
	struct spool_closed before;      /* earlier keepers that ended in order, since one reached the master */
	uint8_t secret[JOB_TOKEN_SECRET];
	uint32_t slots;
	/* The worker's resources for the link: NAME=N with commas in between. */
	char offers_text[LIMIT_RESOURCES_TEXT_MAX];
	struct ledger *ledger;
	struct spool *spool;
	struct spaces *spaces;
	/* Control groups for jobs; NULL: the machine allows none, or none are wanted. */
	struct cages *cages;
	struct env env;
	struct attempt *first;           /* list of all attempts */
	size_t count;
	uint64_t ended_count;            /* number of results of this keeper so far */
	size_t outputs_bytes;            /* bytes of all attempts' outputs */
	struct map pids;                 /* children that are main processes: from pid to attempt */
	struct map strays;               /* other children that were examined: from pid to struct stray */
	struct pid_list children;
	struct attempt *late;            /* list of attempts whose start hangs */
	/* attempts that were asked to end or whose main process is gone, and that haven't ended yet */
	struct attempt *closing;
	uint32_t adopted;                /* number of running attempts with a pidfd */
	uint32_t piped;                  /* number of attempts whose output comes through pipes */
	struct buf pointers;             /* argv of the attempt that is being started */
	int64_t now_ns;

	pid_t link_pid;                  /* process number of the link; 0: no link runs */
	struct ipc_end link;
	int64_t link_restart_ns;
	int64_t link_backoff_ns;
	bool listed;                     /* the link has been told of all attempts */
	bool ready_told;
	bool connected;                  /* the master has answered a link of this keeper */
	bool leaving_told;               /* the present link knows that the keeper quits */
	bool left;                       /* the quitting keeper gets no more attempts */
	struct ipc_numbers told;
	/* time at which delayed messages to the link are sent; 0: none are delayed */
	int64_t link_flush_ns;
	bool link_full;                  /* the link's socket took only a part of the messages */

	bool unguarded;                  /* the keeper's guardian was killed */
	bool quitting;
	/* time at which a quitting keeper exits, even if some results aren't acknowledged */
	int64_t quit_ns;
	bool spool_failing;
	int64_t refused_ns;              /* time at which the log last said that jobs can't be started; 0: never */
};

/*
 * Is this process a guardian of this worker? It may be this keeper's, which has another name for a moment while it
 * becomes a newer version, or an earlier one that stays for its last jobs.
 */
static inline bool keeper_is_guardian(const struct keeper *keeper, pid_t pid)
{
	return (keeper->options->guardian > 0 && pid == keeper->options->guardian) || tree_is_guardian(pid);
}

/* Can a process that began at begun_ns be this attempt's main process? */
static inline bool attempt_may_be(const struct attempt *attempt, int64_t begun_ns)
{
	return begun_ns >= attempt->before_ns - TREE_TICK_NS && begun_ns <= attempt->after_ns + TREE_TICK_NS;
}

/* attempts.c */
struct attempt *attempt_new(struct keeper *keeper, uint64_t job, uint64_t epoch, uint64_t run);
/* Remove the attempt from all lists except the ledger's. */
void attempt_free(struct keeper *keeper, struct attempt *attempt);
void attempts_assign(struct keeper *keeper, const struct ipc_spawn *spawn, const char *strings);
/* Start as many queued attempts as slots, resources and lease allow. */
void attempts_start(struct keeper *keeper);
void attempts_stop(struct keeper *keeper, uint64_t job, uint64_t epoch, int64_t grace_ms);
/* Stop the attempts that must not run without a lease. */
void attempts_enforce_lease(struct keeper *keeper);
void attempts_recall(struct keeper *keeper, uint64_t job, uint64_t epoch);
/* The link has put the files of an attempt in place, or fault says why it can't. */
void attempts_staged(struct keeper *keeper, uint64_t job, uint64_t epoch, int fault);
/* The link has died, and with it what it knew about files: give back the queued attempts that have some. */
void attempts_unstaged(struct keeper *keeper);
void attempts_acked(struct keeper *keeper, uint64_t job, uint64_t epoch);
void attempts_shipped(struct keeper *keeper, uint64_t job, uint64_t epoch);
/* Note that no output of the attempt is left on this machine to send. */
void attempt_is_shipped(struct attempt *attempt);
/* Write the attempt's resources to the spool, right after its start record. */
void attempt_spool_asks(struct keeper *keeper, const struct attempt *attempt);
void attempts_quit(struct keeper *keeper, int64_t grace_ms);             /* ends the keeper and kills all its jobs */
/* End the keeper and leave its jobs to the next keeper. */
void attempts_leave(struct keeper *keeper, int64_t grace_ms);
/* Must a quitting keeper still wait for attempts? */
bool attempts_under_way(const struct keeper *keeper);
/* End an attempt whose process couldn't be started. */
void attempt_not_started(struct keeper *keeper, struct attempt *attempt, int fault, bool lack);
/* Does this errno mean that the worker lacks something, so that the job isn't at fault? */
bool attempt_lacks(int fault);
void attempt_ended(struct keeper *keeper, struct attempt *attempt, enum outcome outcome, uint64_t code);
/* When the attempt began, corrected for changes of the wall clock since; 0: it never began. */
int64_t attempt_began_ms(const struct attempt *attempt);

/* exits.c */
/* Put an attempt into the closing list, which exits_check works on. */
void exits_close(struct keeper *keeper, struct attempt *attempt);
void exits_reap(struct keeper *keeper); /* handle children of the keeper that have ended */
/* Handle an adopted attempt whose pidfd says that it has ended. */
void exits_adopted(struct keeper *keeper, struct attempt *attempt);
/* Work on the closing attempts: kill what is left, finish those that have ended. */
void exits_check(struct keeper *keeper);
int64_t exits_due(const struct keeper *keeper);
size_t exits_stuck(const struct keeper *keeper);
void exits_free(struct keeper *keeper);
/* Set how an attempt of another keeper ended, as its guardian recorded it. */
void exits_know(struct attempt *attempt, uint64_t status, uint64_t run_ns, uint64_t cpu_us, uint64_t rss_kib);
/* Find out how a foreign attempt whose process is gone ended. False: its guardian hasn't recorded it yet. */
bool exits_learn(struct keeper *keeper, struct attempt *attempt);
/* Make the result of an attempt without processes. */
void exits_finish(struct keeper *keeper, struct attempt *attempt);
/* Send a signal to the attempt's processes outside its process group; return their number. */
size_t exits_signal_tree(struct keeper *keeper, struct attempt *attempt, int signal_number);

/* outputs.c */
/* Read what the ended attempt wrote to the file TITAN_OUTPUT, and write it to the spool. */
void outputs_collect(struct keeper *keeper, struct attempt *attempt);
/* Write the attempt's outputs, if it has any, to the spool. */
void outputs_spool(struct keeper *keeper, const struct attempt *attempt);
/* Take the outputs of an attempt from a spool record. */
void outputs_replay(struct keeper *keeper, struct attempt *attempt, struct slice bytes);
void outputs_drop(struct keeper *keeper, struct attempt *attempt);

/* script.c */
/*
 * Write the script of an attempt, the last string of argv, into a file of the attempt's own directory dir, and put the name of the file
 * in its place. Returns 0 or -errno.
 */
int script_put(struct attempt *attempt, const struct job_user *user, const char *dir, char **argv);
/* Make a file without a name of this text, to be read from its beginning. Returns the descriptor or -errno. */
int script_input(const char *text);

/* files.c */
/* Move the staged files of an attempt into its own directory. Returns 0 or -errno. */
int files_claim(const struct keeper *keeper, const struct attempt *attempt);

/* late_start.c */
/* Hand an attempt whose start hangs over to late_start.c. */
void late_add(struct keeper *keeper, struct attempt *attempt, struct spawner *spawner);
/* Note that the process of a hanging start has ended. */
void late_gone(struct keeper *keeper, struct attempt *attempt);
void late_kill(struct keeper *keeper, struct attempt *attempt, int fault);
/* Continue with hanging starts that no longer hang, and kill those that have hung for too long. */
void late_check(struct keeper *keeper);
int64_t late_due(const struct keeper *keeper);

/* drain.c */
/* Make the pipes of a lossless attempt and return the job's ends of them; 0 or -errno. */
int drain_begin(struct keeper *keeper, struct attempt *attempt, int ret_fds[2]);
/* Open the pipes that an earlier keeper made for the attempt. */
void drain_claim(struct keeper *keeper, struct attempt *attempt);
bool drain_wants(const struct keeper *keeper, const struct attempt *attempt, int stream);
void drain_some(struct keeper *keeper, struct attempt *attempt, int stream);
/*
 * When no process writes any more, move all that is left in the pipes and remove them. False: the disk is full, try
 * again.
 */
bool drain_end(struct keeper *keeper, struct attempt *attempt);
/* Move what is left in an attempt's pipes to its files and close the pipes. */
void drain_close(struct keeper *keeper, struct attempt *attempt);
void drain_room(struct attempt *attempt, const struct ipc_room *room);
int64_t drain_due(const struct keeper *keeper);

/* log_room.c */
/* Find out which bytes of the attempt's files an earlier keeper gave back. */
void room_claim(struct attempt *attempt);
void room_give_back(struct keeper *keeper, const struct ipc_room *room);
void room_punch(int fd, uint64_t from, uint64_t until);

/* recover.c */
enum err recover_open(struct keeper *keeper, struct error *error);
/* Note at the end of the spool that this keeper ends in order. */
void recover_close(struct keeper *keeper);
/* Rewrite the spool with the live records only. */
bool recover_rewrite(struct keeper *keeper);

/* keeper_link.c */
void keeper_link_start(struct keeper *keeper);
void keeper_link_died(struct keeper *keeper);
/* Report once, to the process that started this worker, that the worker is ready. */
void keeper_tell_ready(struct keeper *keeper);
void keeper_link_read(struct keeper *keeper);
void keeper_link_flush(struct keeper *keeper);
void keeper_link_end(struct keeper *keeper);     /* let the link tell the master that the worker ends; wait for it */
void keeper_link_started(struct keeper *keeper, const struct attempt *attempt);
void keeper_link_exited(struct keeper *keeper, const struct attempt *attempt);
void keeper_link_stuck(struct keeper *keeper, const struct attempt *attempt);

#endif
