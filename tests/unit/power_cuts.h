/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of power cuts: record what a part of titan writes during a random walk, cut the power at random moments, and
 * check what is left on the disk.
 */
#ifndef TITAN_POWER_CUTS_H
#define TITAN_POWER_CUTS_H

#include "power_files.h"

#include "greatest.h"
#include "scratch.h"

#define CUTS_OF_A_WALK 1000

struct power_part {
	void (*record)(uint64_t seed); /* do a random walk: use the part for a while, with its writes recorded */
	/* do a random walk: use the part for a while, with its writes recorded */
	const char *(*look)(int dir_fd, size_t cut);
	const enum power_loss *losses; /* check the files that a cut left; NULL: every promise was kept */
	size_t loss_count;
};

static char cuts_base[SCRATCH_SIZE];

/* Number of cuts of the recorded walk after which a promise was broken. */
static inline size_t cuts_broken(const struct power_part *part, uint64_t seed, size_t cuts, bool stop_at_first)
{
	struct rand_state rand;
	size_t *moments, broken = 0;
	char path[SCRATCH_SIZE + 8];

	rand_seed(&rand, seed);
	moments = power_moments(cuts, &rand);
	files_root[0] = '\0';
	files_rewind();
	for (size_t i = 0; i < cuts && (broken == 0 || !stop_at_first); i++) {
		enum power_loss loss = part->losses[rand_below(&rand, part->loss_count)];
		const char *problem;
		int fd;

		snprintf(path, sizeof(path), "%s/cut", cuts_base);
		CHECK(mkdir(path, 0700) == 0);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		files_take(moments[i]);
		files_put(fd, moments[i], loss, &rand);
		problem = part->look(fd, moments[i]);
		if (problem && broken++ == 0)
			printf("# seed %llu, cut %zu of %zu, before operation %zu of %zu, loss %d: %s\n",
			       (unsigned long long)seed, i, cuts, moments[i], (size_t)power_op_count, (int)loss, problem);
		close(fd);
		CHECK(io_remove_tree(AT_FDCWD, path) == 0);
	}
	mem_free(moments);
	return broken;
}

/* Record walks with seeds from CHAOS_SEED on until CHAOS_CUTS cuts were made; return how many cuts broke a promise. */
static inline size_t cuts_of_many_walks(const struct power_part *part)
{
	uint64_t seed = power_number("CHAOS_SEED", 1);
	size_t cuts = power_number("CHAOS_CUTS", 1000), broken = 0, done = 0;

	while (done < cuts) {
		size_t some = cuts - done < CUTS_OF_A_WALK ? cuts - done : CUTS_OF_A_WALK;

		part->record(seed);
		broken += cuts_broken(part, seed++, some, false);
		done += some;
	}
	printf("# %zu cuts, the last of %zu operations, %zu broken\n", done, (size_t)power_op_count, broken);
	power_report(done, "cuts");
	return broken;
}

static inline void cuts_setup_cb(void *data)
{
	(void)data;
	scratch_new_in(scratch_base_in_memory(), "power", cuts_base);
}

static inline void cuts_teardown_cb(void *data)
{
	(void)data;
	files_reset();
	if (io_remove_tree(AT_FDCWD, cuts_base) != 0)
		abort();
}

#endif
