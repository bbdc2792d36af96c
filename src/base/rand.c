/* SPDX-License-Identifier: GPL-3.0-or-later */
/* xoshiro256** for randomness that must be repeatable; getrandom for randomness that must not be guessed. */
#include "base/rand.h"

#include <errno.h>
#include <sys/random.h>

#include "base/check.h"

static uint64_t rotate_left(uint64_t value, unsigned bits)
{
	return value << bits | value >> (64 - bits);
}

void rand_seed(struct rand_state *state, uint64_t seed)
{
	/* splitmix64 turns any seed, even 0, into a state that is never all zeros */
	for (int i = 0; i < 4; i++) {
		uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

		z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
		state->s[i] = z ^ z >> 31;
	}
}

uint64_t rand_next(struct rand_state *state)
{
	uint64_t *s = state->s;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

uint64_t rand_below(struct rand_state *state, uint64_t limit)
{
	uint64_t value, floor;

	CHECK(limit > 0);
	/* reject the lowest 2^64 mod limit values, which would make small remainders more likely */
	floor = -limit % limit;
	do
		value = rand_next(state);
	while (value < floor);
	return value % limit;
}

void rand_system(void *out, size_t len)
{
	uint8_t *at = out;

	while (len > 0) {
		ssize_t got = getrandom(at, len, 0);

		if (got < 0 && errno == EINTR)
			continue;
		CHECK(got > 0);
		at += got;
		len -= (size_t)got;
	}
}
