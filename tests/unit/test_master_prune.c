/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers of the log thread about removed logs, while a step of pruning waits for its turn. */
#include "master/pruner.h"

#include "base/mem.h"
#include "greatest.h"

#define HERE (LIMIT_PRUNE_RUNS / 2)

static struct master *bench_new(void)
{
	const struct core_config config = { .cluster = slice_str("bench"), .seed = 1 };
	struct master *master = mem_zalloc(sizeof(*master));

	master->loop = ev_loop_new(EVFLAG_AUTO);
	ev_init(&master->awake, NULL);
	master->core = core_new(&config);
	master->pruner = pruner_new(master);
	master->serving = true;
	return master;
}

static void bench_free(struct master *master)
{
	pruner_free(master->pruner);
	core_free(master->core);
	mem_free(master->inbox.inputs);
	ev_idle_stop(master->loop, &master->awake);
	ev_loop_destroy(master->loop);
	mem_free(master);
}

static void logs_went(struct master *master, uint64_t first, size_t count)
{
	struct log_answer answer = { .kind = LOG_REMOVED, .size_count = count };

	answer.sizes = mem_array(count, sizeof(*answer.sizes));
	for (size_t i = 0; i < count; i++)
		answer.sizes[i] = (struct log_size){ .run = first + i };
	prune_logs(master, &answer);
	mem_free(answer.sizes);
}

static bool is_told(const struct input_prune *prune, uint64_t first, size_t count)
{
	bool right = prune->gone_count == count;

	for (size_t i = 0; right && i < count; i++)
		right = prune->gone[i] == first + i;
	return right;
}

TEST logs_that_go_during_a_step_are_of_the_next(void)
{
	struct master *master = bench_new();

	logs_went(master, 1, HERE);
	ASSERT_EQ(1, master->inbox.count);
	for (uint64_t more = 1; more <= 8; more++)
		logs_went(master, 1 + more * HERE, HERE);
	ASSERT_EQ(1, master->inbox.count);
	ASSERT(is_told(&master->inbox.inputs[0].prune, 1, HERE));
	prune_stepped(master, &master->inbox.inputs[0].prune);
	master->pruner->stepping = false;        /* as if the turn of the pruning step had become durable */
	prune_go(master);
	ASSERT_EQ(2, master->inbox.count);
	ASSERT(is_told(&master->inbox.inputs[1].prune, 1 + HERE, 8 * HERE));
	bench_free(master);
	PASS();
}

SUITE(master_prune)
{
	RUN_TEST(logs_that_go_during_a_step_are_of_the_next);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_prune);
	GREATEST_MAIN_END();
}
