/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan-sim: runs schedules from a seed, prints the story of the first one that fails, and prints a hash that is always
 * the same for a seed.
 */
#include "planted.h"
#include "sim.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

struct sim_totals sim_totals;
void sim_aborted(int signal_number);

static int usage(FILE *out)
{
	fprintf(out, "usage: titan-sim [--seed N] [--schedules M] [--story] [--moves] [--least N] [--keep-going] [--bug NAME]\n"
		     "  --seed N       the first schedule's seed (1); the same seed gives the same hash\n"
		     "  --schedules M  how many (100)\n"
		     "  --story        tell every schedule, not only one that fails\n"
		     "  --moves        print how often each move of a job was made; fail if one that can't be was\n"
		     "  --least N      fail also if another was made less often than N times (0)\n"
		     "  --keep-going   don't stop at the first failure\n"
		     "  --bug NAME     with this bug planted (titan-sim-planted)\n"
		     "  --bugs         list them\n");
	return out == stderr ? 2 : 0;
}

static bool run_one(uint64_t seed, bool story)
{
	static struct sim_world world;

	world_run(&world, seed, story);
	sim_totals.events += world.events_done;
	sim_totals.hash = hash_u64(sim_totals.hash ^ world.trace ^ world.events_done);
	world_free(&world);
	return sim_failure == NULL;
}

static void tell(uint64_t seed)
{
	uint64_t hash = sim_totals.hash;

	printf("seed %llu fails: %s\nits story:\n", (unsigned long long)seed, sim_failure);
	run_one(seed, true);
	sim_totals.hash = hash;
	printf("again: titan-sim%s%s --seed %llu --schedules 1 --story\n", planted_bug ? "-planted --bug " : "",
	       planted_name(), (unsigned long long)seed);
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "seed", required_argument, 0, 's' },
						 { "schedules", required_argument, 0, 'n' },
						 { "story", no_argument, 0, 't' },
						 { "moves", no_argument, 0, 'm' },
						 { "least", required_argument, 0, 'l' },
						 { "keep-going", no_argument, 0, 'k' },
						 { "bug", required_argument, 0, 'b' },
						 { "bugs", no_argument, 0, 'B' },
						 { "help", no_argument, 0, 'h' },
						 { 0, 0, 0, 0 } };
	struct sigaction action = { .sa_handler = sim_aborted };
	uint64_t seed = 1, schedules = 100, least = 0;
	bool story = false, moves = false, keep_going = false, complete = true;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (option == 'n')
			schedules = strtoull(optarg, NULL, 0);
		else if (option == 't')
			story = true;
		else if (option == 'm')
			moves = true;
		else if (option == 'l')
			least = strtoull(optarg, NULL, 0);
		else if (option == 'k')
			keep_going = true;
		else if (option == 'b' && !planted_set(optarg))
			return 2;
		else if (option == 'B')
			return planted_print(), 0;
		else if (option != 'b')
			return usage(option == 'h' ? stdout : stderr);
	}
	sigaction(SIGABRT, &action, NULL);
	for (uint64_t i = 0; i < schedules; i++) {
		sim_totals.schedules++;
		if (run_one(seed + i, story))
			continue;
		sim_totals.failures++;
		if (sim_totals.failures == 1 && !story)
			tell(seed + i);
		else
			printf("seed %llu fails: %s\n", (unsigned long long)(seed + i), sim_failure);
		fflush(stdout);
		if (!keep_going)
			break;
	}
	/* all schedules are over: an abort from here on (a leak found at exit) is no schedule's failure */
	signal(SIGABRT, SIG_DFL);
	if (moves || least)
		complete = moves_print(least);
	printf("events=%llu starts=%llu\n", (unsigned long long)sim_totals.events, (unsigned long long)sim_totals.starts);
	printf("schedules=%llu failures=%llu hash=%016llx\n", (unsigned long long)sim_totals.schedules,
	       (unsigned long long)sim_totals.failures, (unsigned long long)sim_totals.hash);
	return sim_totals.failures || !complete ? 1 : 0;
}
