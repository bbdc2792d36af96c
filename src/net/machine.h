/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Machines on which "titan worker add" has put workers, and how ssh reaches them. Each has a file in the directory
 * "machines" of the cluster's state, named like its worker. Only the owner of that directory can make the master run
 * ssh.
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
#define DESTINATION_MAX 320              /* most bytes of a destination [USER@]HOST, with its NUL */
#define MACHINE_LIST_MAX 4096
#define MACHINE_SSH_ARGS 40

struct machine {
	char name[LIMIT_NAME_MAX_LEN + 1];       /* name of the worker, which is the file's name and not in it */
	char destination[DESTINATION_MAX];       /* destination for ssh, [USER@]HOST */
	char ssh_config[PATH_MAX];               /* empty: ssh's own */
	/* id of the worker's key, which is also the name of its directory on the machine */
	char token[LIMIT_TOKEN_ID_MAX + 1];
	char base[PATH_MAX];                     /* directory of titan on the machine */
	char hash[65];                           /* SHA-256 of the program that the worker runs there */
	char address[ADDRESS_MAX]; /* address at which the worker reaches the master; BRIDGE_ADDRESS: by bridges */
	char slots[12], pool[LIMIT_NAME_MAX_LEN + 1], labels[MACHINE_LIST_MAX];
	char stopped[4];                         /* "yes": a person has stopped the worker */
};

/* Is the text a destination [USER@]HOST without characters that have a meaning for ssh or a shell? */
bool destination_is_good(const char *text);
/* The name for a worker on this destination: the host, with '-' for characters that names can't have. */
void machine_name_of(const char *destination, char ret_name[LIMIT_NAME_MAX_LEN + 1]);
/* Read a machine's file. ERR_NOT_FOUND: there is none. */
enum err machine_read(const struct statedir *statedir, const char *name, struct machine *ret, struct error *error);
enum err machine_write(const struct statedir *statedir, const struct machine *machine, struct error *error);
enum err machine_remove(const struct statedir *statedir, const char *name, struct error *error);
static inline bool machine_is_bridged(const struct machine *machine)
{
	return machine->address[0] == '@';
}

/*
 * Write the command that runs titan's program with this hash on the machine: "far VERB DIR ARGUMENT". It means the same
 * to every shell, because it has a single pair of quotes, no newline and no '!'. ARGUMENT may be empty.
 */
void machine_far(const struct machine *machine, const char *hash, const char *verb, const char *argument, struct buf *out);
/* Can the path stand in such a command without quotes? */
bool machine_path_is_plain(const char *path);
/* Set the arguments with which ssh runs the command on the machine. They use the memory of machine and command. */
void machine_ssh(const struct machine *machine, const char *command, const char *ret_argv[MACHINE_SSH_ARGS]);
/*
 * Start ssh as a child process with these descriptors. alone: without the person's ssh agent, because the master has
 * none. 0 or -errno.
 */
int machine_spawn(const char *const *argv, int in_fd, int out_fd, int err_fd, bool alone, pid_t *ret_pid);

#endif
