/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The probe: one command that finds out about another machine what a worker needs to know, and changes nothing. */
#ifndef TITAN_CLI_PROBE_H
#define TITAN_CLI_PROBE_H

#include "cli/reach/ssh_call.h"

#define NONCE_SIZE 25                    /* with its NUL */
#define PROBE_PLACES 4

enum place_state { PLACE_OK, PLACE_UNUSABLE, PLACE_NOEXEC, PLACE_FULL };

struct probe_place {
	char path[PATH_MAX / 4];
	enum place_state state;
	uint64_t free_kib;
};

struct probe {
	char system[65], processor[65];  /* as uname says: Linux, x86_64 */
	char client[64];                 /* the address from which this machine comes, as sshd sees it; empty: unknown */
	struct probe_place places[PROBE_PLACES];
	size_t place_count;
	bool logout_kills;               /* logind ends the processes of a user who has logged out */
	size_t noise;                    /* bytes of stdout before the sentinel: of a shell profile */
};

void nonce_make(char ret_nonce[NONCE_SIZE]);
/* Write a command that prints the sentinel of the nonce first, then runs the script: no ' or ! or newline in it. */
void sentinel_command(const char *nonce, const char *script, struct buf *out);
/* Find what follows the sentinel on stdout. False: it isn't there, so the command didn't run. */
bool sentinel_find(const struct buf *said, const char *nonce, struct slice *ret_rest, size_t *ret_noise);
void probe_command(const char *nonce, struct buf *out);
/* False: the sentinel or the end is missing. */
bool probe_parse(const struct buf *said, const char *nonce, struct probe *ret);
/* Choose the first place that can hold the program; ERR_SYSTEM says what is wrong with all of them. */
enum err probe_choose(const struct probe *probe, const struct machine *machine, uint64_t need_kib, const char **ret_path,
		      struct error *error);

#endif
