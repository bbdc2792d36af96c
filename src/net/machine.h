/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Machines that "titan worker add" put a worker on, and how ssh gets there. Each has a file in the directory "machines" of
 * the cluster's state, named like its worker. Nobody but the owner of that directory can make the master run ssh.
 */
#ifndef TITAN_NET_MACHINE_H
#define TITAN_NET_MACHINE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/statedir.h"
#include "net/dial.h"
#include "proto/limits.h"

#define MACHINES        "machines"       /* the directory's name */
#define DESTINATION_MAX 320              /* most bytes of [USER@]HOST, with its NUL */
#define MACHINE_LIST_MAX 4096
#define MACHINE_SSH_ARGS 40

struct machine {
	char name[LIMIT_NAME_MAX_LEN + 1];       /* the worker's; not in the file */
	char destination[DESTINATION_MAX];       /* as ssh wants it */
	char ssh_config[PATH_MAX];               /* empty: ssh's own */
	char token[LIMIT_TOKEN_ID_MAX + 1];      /* the id of the worker's key, and the name of its directory there */
	char base[PATH_MAX];                     /* where titan lies on the machine */
	char hash[65];                           /* SHA-256 of the program that runs there */
	char address[ADDRESS_MAX];               /* the worker dials the master here; BRIDGE_ADDRESS: it can't */
	char slots[12], pool[LIMIT_NAME_MAX_LEN + 1], labels[MACHINE_LIST_MAX];
	char stopped[4];                         /* "yes": somebody stopped the worker */
};

/* Is it [USER@]HOST, with nothing in it that ssh or a shell could take for something else? */
bool destination_is_good(const char *text);
/* Name of the worker of a destination: the host, with '-' for what names can't have. */
void machine_name_of(const char *destination, char ret_name[LIMIT_NAME_MAX_LEN + 1]);
/* ERR_NOT_FOUND: no such file. */
enum err machine_read(const struct statedir *statedir, const char *name, struct machine *ret, struct error *error);
enum err machine_write(const struct statedir *statedir, const struct machine *machine, struct error *error);
enum err machine_remove(const struct statedir *statedir, const char *name, struct error *error);
static inline bool machine_is_bridged(const struct machine *machine)
{
	return machine->address[0] == '@';
}

/*
 * Write the command that runs titan's program with this hash there: "far VERB DIR ARGUMENT". It means the same to every
 * shell, as it has no quotes but one pair, no newline and no '!'. ARGUMENT may be empty.
 */
void machine_far(const struct machine *machine, const char *hash, const char *verb, const char *argument, struct buf *out);
/* Can the path stand in such a command? */
bool machine_path_is_plain(const char *path);
/* Fill the arguments of ssh that run the command on the machine. They are valid as long as machine and command are. */
void machine_ssh(const struct machine *machine, const char *command, const char *ret_argv[MACHINE_SSH_ARGS]);
/*
 * Start ssh with these descriptors, as a child of its own. alone: without the agent of the one who calls, as the master
 * has none. 0 or -errno.
 */
int machine_spawn(const char *const *argv, int in_fd, int out_fd, int err_fd, bool alone, pid_t *ret_pid);

#endif
