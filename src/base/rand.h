/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Repeatable randomness, whose state is plain data; and the system's randomness, for keys. */
#ifndef TITAN_BASE_RAND_H
#define TITAN_BASE_RAND_H

#include <stddef.h>
#include <stdint.h>

struct rand_state {
	uint64_t s[4];
};

void rand_seed(struct rand_state *state, uint64_t seed);
uint64_t rand_next(struct rand_state *state);
/* Returns a random number below limit, without bias; limit > 0. */
uint64_t rand_below(struct rand_state *state, uint64_t limit);
/* Fills out by getrandom; stops the program if that fails. */
void rand_system(void *out, size_t len);

#endif
