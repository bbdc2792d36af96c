/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The probe: one command that finds out what a worker needs to know about another machine, and changes nothing there.
 */
#ifndef TITAN_CLI_PROBE_H
#define TITAN_CLI_PROBE_H

#include "cli/reach/ssh_call.h"

#define NONCE_SIZE 25                    /* length of a nonce, with its NUL */
#define PROBE_PLACES 4

enum place_state { PLACE_OK, PLACE_UNUSABLE, PLACE_NOEXEC, PLACE_FULL };

struct probe_place {
	char path[PATH_MAX / 4];
	enum place_state state;
	uint64_t free_kib;
};

struct probe {
	/* system and processor of the machine as uname prints them, such as Linux and x86_64 */
	char system[65], processor[65];
	char client[64]; /* address of this machine as the other machine's sshd sees it; empty: unknown */
	struct probe_place places[PROBE_PLACES];
	size_t place_count;
	bool logout_kills;               /* logind on the machine ends the processes of a user who has logged out */
	size_t noise; /* number of bytes on stdout before the sentinel, which a shell profile printed */
};

void nonce_make(char ret_nonce[NONCE_SIZE]);
/*
 * Write a command that first prints the sentinel with this nonce and then runs the script, which has no ', ! or
 * newline.
 */
void sentinel_command(const char *nonce, const char *script, struct buf *out);
/* Find the output after the sentinel. False: there is no sentinel, so the command didn't run. */
bool sentinel_find(const struct buf *said, const char *nonce, struct slice *ret_rest, size_t *ret_noise);
void probe_command(const char *nonce, struct buf *out);
/* Parse the probe's answer. False: its sentinel or its end is missing. */
bool probe_parse(const struct buf *said, const char *nonce, struct probe *ret);
/* Choose the first directory in which the program can be stored; ERR_SYSTEM says what is wrong with each of them. */
enum err probe_choose(const struct probe *probe, const struct machine *machine, uint64_t need_kib, const char **ret_path,
		      struct error *error);

#endif
