/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan-liars: random turns of the core among lying workers, from a seed. Prints the seed and the step of a
 * failure.
 */
#include "tests/sim/liars/liars.h"

#include <getopt.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>

struct choice {
	unsigned weight;
	void (*make)(struct liars *liars);
};

static const struct choice choices[] = {
	{ 8, people_submit }, { 6, people_add }, { 1, people_cancel }, { 12, people_act }, { 4, people_reopen },
	{ 1, people_schedule }, { 4, people_set },
	{ 8, worker_comes }, { 3, worker_goes }, { 14, worker_starts }, { 12, worker_ends }, { 4, worker_beats },
	{ 12, master_waits }, { 1, master_clock }, { 2, master_restarts }, { 2, master_sweeps },
};

static struct liars liars;
static sigjmp_buf failure_jump;
static const char *failure;

uint64_t below(struct liars *among, uint64_t limit)
{
	return rand_below(&among->rand, limit);
}

bool chance(struct liars *among, unsigned percent)
{
	return below(among, 100) < percent;
}

uint64_t any_span_ms(struct liars *among)
{
	static const uint64_t spans_ms[] = { 1, 50, 1000, 30000, 61000, 200000, 3600000, 3600001,
					     LIMIT_SPAN_MAX_S * UINT64_C(1000), LIMIT_SPAN_MAX_S * UINT64_C(1000) + 999 };

	return spans_ms[below(among, sizeof(spans_ms) / sizeof(*spans_ms))];
}

const char *any_name(struct liars *among)
{
	static const char *const names[] = { "", "j0", "j0", "j1", "j1", "j2", "j3", "j3", "j4",
					     "f", "f[0]", "f[1]", "f[2]", "f[*]" };

	return names[below(among, sizeof(names) / sizeof(*names))];
}

/*
 * Return a run's number, mostly of one of the latest runs. Sub-runs have numbers, too, so there are more runs than
 * were submitted.
 */
uint64_t any_run(struct liars *among)
{
	uint64_t submitted = among->rig->keys;

	return submitted > 4 && chance(among, 60) ? submitted - below(among, 5) : 1 + below(among, submitted + 5);
}

void tell(struct liars *among, const char *format, ...)
{
	va_list args;

	if (!among->story)
		return;
	printf("%5u  ", among->step);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

void tell_answer(struct liars *among)
{
	const struct msg_error *error = &among->rig->error;

	if (error->code)
		tell(among, "    refused: %.*s", (int)error->text.len, (const char *)error->text.data);
}

static void remember_given(void)
{
	struct rig_attempt attempt;

	while (rig_take(liars.rig, &attempt)) {
		size_t at = liars.given_count++ % LIARS_GIVEN;

		liars.given[at] = attempt;
		for (unsigned worker = 0; worker < LIARS_WORKERS; worker++)
			if (liars.conns[worker] == attempt.conn)
				liars.given_to[at] = worker;
		tell(&liars, "    w%u is given job %llu epoch %llx", liars.given_to[at], (unsigned long long)attempt.job,
		     (unsigned long long)attempt.epoch);
	}
}

static void step(void)
{
	unsigned total = 0, drawn;
	size_t i = 0;

	for (size_t k = 0; k < sizeof(choices) / sizeof(*choices); k++)
		total += choices[k].weight;
	drawn = (unsigned)below(&liars, total);
	for (; drawn >= choices[i].weight; i++)
		drawn -= choices[i].weight;
	choices[i].make(&liars);
	remember_given();
	arena_reset(&liars.rig->arena);
	liars.rig->error = (struct msg_error){ 0 };
}

static void aborted(int signal_number)
{
	failure = signal_number == SIGTERM ? "was asked to end" : "fails (see the line above)";
	siglongjmp(failure_jump, 1);
}

/* Run one seed; false if it failed. After a failure the state is not freed, because it may be inconsistent. */
static bool run_one(uint64_t seed, unsigned steps, bool story)
{
	liars = (struct liars){ .story = story };
	if (sigsetjmp(failure_jump, 1))
		return false;
	rand_seed(&liars.rand, seed);
	liars.honesty = 30 * (unsigned)below(&liars, 4);
	liars.worn = chance(&liars, 25);
	liars.rig = rig_new();
	liars.rig->config.seed = seed;
	liars.rig->now.wall_ms = chance(&liars, 20) ? 0 : INT64_C(1700000000000);
	rig_pass(liars.rig, 0);
	while (liars.step++ < steps)
		step();
	rig_free(liars.rig);
	return true;
}

static int usage(FILE *out)
{
	fprintf(out, "usage: titan-liars [--seed N] [--runs M] [--steps K] [--story]\n"
		     "  --seed N   the first run's seed (1)\n"
		     "  --runs M   how many (100)\n"
		     "  --steps K  moves in each (300)\n"
		     "  --story    tell them\n");
	return out == stderr ? 2 : 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "seed", required_argument, 0, 's' }, { "runs", required_argument, 0, 'n' },
						 { "steps", required_argument, 0, 'k' }, { "story", no_argument, 0, 't' },
						 { "help", no_argument, 0, 'h' }, { 0, 0, 0, 0 } };
	struct sigaction action = { .sa_handler = aborted };
	uint64_t seed = 1, runs = 100, run = 0;
	unsigned steps = 300;
	bool story = false, failed = false;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (option == 'n')
			runs = strtoull(optarg, NULL, 0);
		else if (option == 'k')
			steps = (unsigned)strtoul(optarg, NULL, 0);
		else if (option == 't')
			story = true;
		else
			return usage(option == 'h' ? stdout : stderr);
	}
	/* SIGTERM ends a run that hangs, and its seed is printed as for a failure. */
	sigaction(SIGABRT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (run < runs && !failed)
		failed = !run_one(seed + run++, steps, story);
	if (failed)
		printf("seed %llu, step %u: %s\nagain: titan-liars --seed %llu --runs 1 --steps %u --story\n",
		       (unsigned long long)(seed + run - 1), liars.step, failure, (unsigned long long)(seed + run - 1), steps);
	printf("runs=%llu failures=%d\n", (unsigned long long)run, failed);
	return failed;
}
