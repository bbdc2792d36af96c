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
uint64_t rand_below(struct rand_state *state, uint64_t limit);  /* 0 <= result < limit, unbiased; limit > 0 */
void rand_system(void *out, size_t len);                        /* getrandom; stops the program if it fails */

#endif
