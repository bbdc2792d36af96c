/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The remote end of ssh: what titan runs on a machine where "titan worker add" put a worker. Each such worker has a
 * directory of its own there, with worker.conf, its key and its state, so that it can be started again from that alone.
 * Secrets come on stdin, never as arguments.
 */
#ifndef TITAN_WORKER_FAR_H
#define TITAN_WORKER_FAR_H

#include "base/slice.h"
#include "net/dial.h"
#include "proto/limits.h"
#include "worker/worker.h"

#define FAR_WORD       "far"             /* the first argument of these commands */
#define FAR_CONF       "worker.conf"
#define FAR_KEY        "worker.key"
#define FAR_BRIDGE     "bridge"          /* the worker's socket for a bridge, in its directory worker/NAME */
#define FAR_ANSWER     "titan-far "      /* begins each line of an answer; other lines are noise of a shell profile */
#define FAR_LIST_MAX   4096              /* most bytes of the worker's labels as text */
#define FAR_KEY_MAX    256

struct far_config {
	char name[LIMIT_NAME_MAX_LEN + 1];
	char cluster[LIMIT_NAME_MAX_LEN + 1];
	char address[ADDRESS_MAX];       /* the master's; BRIDGE_ADDRESS: the master comes by a bridge */
	char pool[LIMIT_NAME_MAX_LEN + 1];
	char labels[FAR_LIST_MAX];
	char slots[12];                  /* number of slots as text; empty: as many as the machine has cores */
	char stopped[4]; /* "yes": a person has stopped the worker, so a bridge doesn't start it again */
};

/* far_config.c; dir: the worker's own directory */

/* Parse the text that came on stdin: the settings, and perhaps the worker's key. */
enum err far_config_parse(struct slice text, struct far_config *ret, char ret_key[FAR_KEY_MAX], struct error *error);
enum err far_config_read(const char *dir, struct far_config *ret, struct error *error);
/*
 * Wait until no other command starts or ends this worker, and keep others waiting until the descriptor is closed. -1:
 * the directory can't be used; the command continues without the lock and fails with an error of its own.
 */
int far_lock(const char *dir);
enum err far_config_write(const char *dir, const struct far_config *config, struct error *error);
/* Fill the options of the worker with texts of config and key_path, which must outlive them. */
void far_options(const char *dir, const struct far_config *config, const char *key_path, struct worker_options *ret);

/* far_start.c */

/* Is the worker running? */
bool far_is_served(const char *dir, const struct far_config *config);
/* Start the worker as a daemon in a session of its own, and wait until it is connected or its bridge socket is there. */
enum err far_launch(const char *dir, const struct far_config *config, struct error *error);
/* Start the worker as its own settings say, unless it runs, or a person has stopped it. Call it with far_lock. */
enum err far_wake(const char *dir, struct error *error);
/* Tell the worker to end, its jobs, too, if now is set, and wait until it has. */
enum err far_stop(const char *dir, const struct far_config *config, bool now, struct error *error);

/* far_bridge.c */

/*
 * Join stdin and stdout to the worker's socket until either side ends. Starts the worker if it doesn't run, unless it was
 * stopped. Prints the nonce on a line of its own before the first byte of the worker.
 */
int far_bridge(const char *dir, const char *nonce);

/* far_check.c: check the way from the worker's machine to the master, and print the results. Returns an exit status. */
int far_check(const char *dir);

/* far.c: run a command, whose arguments begin with FAR_WORD. Returns an exit status. */
int far_main(int argc, char **argv);
/* Print the version, or, with hash, the SHA-256 of this program. */
int far_version(bool hash);

#endif
