/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Power cuts under the store. A random walk through the core is committed by the real store while every write, truncate
 * and sync of its files is recorded. Then, for many moments, the files are made as a disk may leave them: all that was
 * synced, and parts of the rest, torn or in another order. When the store is opened again, its state must be that of
 * one of the turns, not older than the latest acknowledged one.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include "core_rig.h"
#include "store_box.h"
#include "store_layer.h"

#define POWER_FILES LAYER_FILES
#include "power_disk.h"

#include "store/mark.h"
#include "store/tables.h"

#define TURNS_MAX   4096
#define CUTS_A_WALK 2500
#define WALK_STEPS 700

/* ---- the record ---- */

static bool recording;

static int record_cb(const struct layer_call *call, bool *skip)
{
	/* Skip the real sync: this machine's power isn't cut, so syncing would only cost time. */
	*skip = call->op == LAYER_SYNC;
	if (recording && call->which != LAYER_OTHER)
		power_record((enum power_kind)call->op, (int)call->which, call->data, (size_t)call->len,
			     (size_t)call->at);
	return SQLITE_OK;
}

static struct { uint64_t turn, hash; size_t committed, acked; struct now now; } turns[TURNS_MAX];
static size_t turn_count;
static struct core_config walk_config;

/* ---- the walk ---- */

struct power_walk {
	struct rig *rig;
	struct store *store;
	struct rand_state rand;
	uint64_t conn;
	size_t pending;                  /* number of the last turns that were handed over and aren't acknowledged */
};

static bool chance(struct power_walk *walk, uint64_t percent)
{
	return rand_below(&walk->rand, 100) < percent;
}

static struct outbox *copy_outbox(const struct outbox *from)
{
	struct outbox *outbox = box_turn(from->turn);

	for (size_t i = 0; i < from->row_count; i++) {
		const struct row *old = &from->rows[i];
		struct row *row = outbox_row(outbox, old->table);
		const struct store_table *table = &table_list[old->table];

		*row = *old;
		for (size_t at = 0; at < table->column_count; at++) {
			const struct table_column *column = &table->columns()[at];
			struct slice value;

			if (column->type == COLUMN_INT)
				continue;
			value = arena_copy(&outbox->arena, row_slice(old, column));
			memcpy((char *)row + column->offset, &value, sizeof(value));
		}
	}
	return outbox;
}

static void take_acks(struct power_walk *walk)
{
	for (; walk->pending > 0; walk->pending--) {
		struct outbox *outbox = box_take(walk->store);

		CHECK(outbox->turn == turns[turn_count - walk->pending].turn);
		turns[turn_count - walk->pending].acked = atomic_load(&power_op_count);
		box_free(outbox);
	}
}

/* Commit the last turn of the rig to the store. */
static void commit_turn(struct power_walk *walk)
{
	if (walk->rig->out.row_count == 0)
		return;
	CHECK(turn_count < TURNS_MAX);
	turns[turn_count].turn = walk->rig->out.turn;
	turns[turn_count].hash = core_hash(walk->rig->core);
	turns[turn_count].committed = atomic_load(&power_op_count);
	turns[turn_count].acked = SIZE_MAX;
	turns[turn_count].now = walk->rig->now;
	turn_count++;
	walk->pending++;
	store_commit(walk->store, copy_outbox(&walk->rig->out));
	walk->rig->out.row_count = 0;
	if (chance(walk, 70))
		take_acks(walk);
}

static void submit(struct power_walk *walk)
{
	struct graph graph = { 0 };
	size_t count = 1 + rand_below(&walk->rand, chance(walk, 10) ? 200 : 8);
	char name[32], parent[32];

	for (size_t i = 0; i < count; i++) {
		struct rec_job_spec *job;

		snprintf(name, sizeof(name), "j%zu", i);
		snprintf(parent, sizeof(parent), "j%zu", i > 0 ? (size_t)rand_below(&walk->rand, i) : 0);
		job = graph_job(&graph, name, i > 0 && chance(walk, 50) ? parent : "");
		job->retry_max = rand_below(&walk->rand, 2);
		job->gate_count = chance(walk, 5);
		if (job->gate_count)
			job->argv.n = 0;
	}
	rig_submit(walk->rig, &graph);
}

static void step(struct power_walk *walk)
{
	uint64_t run = view_run_before(walk->rig->core, UINT64_MAX);
	struct rig_attempt attempt;

	if (chance(walk, 12)) {
		submit(walk);
	} else if (run != 0 && chance(walk, 5)) {
		rig_cancel(walk->rig, run, chance(walk, 60) ? "j0" : "");
	} else if (run != 0 && chance(walk, 5)) {
		rig_act(walk->rig, chance(walk, 50) ? ACT_HOLD : ACT_RELEASE, run, "", 0);
	} else if (run != 0 && chance(walk, 5)) {
		rig_act_as(walk->rig, "bob", 2, ACT_APPROVE, run, "j1", 0);
	} else if (chance(walk, 5)) {
		rig_pass(walk->rig, 1000);
	} else if (rig_take(walk->rig, &attempt)) {
		rig_started(walk->rig, attempt);
		commit_turn(walk);
		rig_done(walk->rig, attempt, OUTCOME_EXIT, chance(walk, 15));
	} else {
		rig_heartbeat(walk->rig, walk->conn);
	}
	commit_turn(walk);
}

static void reopen(struct power_walk *walk)
{
	take_acks(walk);
	store_close(walk->store);
	walk->store = box_start(0);
}

/* Leave the store idle, so that it copies its log into the database file. */
static void rest(struct power_walk *walk)
{
	struct store_stats stats;
	uint64_t before;

	take_acks(walk);
	store_stats(walk->store, &stats);
	before = stats.checkpoints;
	for (int i = 0; i < 5000 && stats.checkpoints == before; i++) {
		usleep(1000);
		store_stats(walk->store, &stats);
	}
}

static void record_walk(uint64_t seed)
{
	struct power_walk walk = { 0 };

	rand_seed(&walk.rand, seed);
	recording = true;
	walk.store = box_start(0);
	walk.rig = rig_new();
	walk.rig->reload_every = 0;
	walk_config = walk.rig->config;
	commit_turn(&walk);
	walk.conn = rig_hello(walk.rig, "w1", 4);
	commit_turn(&walk);
	for (int i = 0; i < WALK_STEPS; i++) {
		step(&walk);
		if (i == WALK_STEPS / 3 || i == WALK_STEPS * 2 / 3)
			reopen(&walk);
		if (i == WALK_STEPS / 6 || i == WALK_STEPS / 2)
			rest(&walk);
	}
	take_acks(&walk);
	store_close(walk.store);
	recording = false;
	rig_free(walk.rig);
}

/* ---- the disk ---- */

/* The first sync of a new file is followed by a sync of the directory, which also makes earlier removals certain. */
static void persist_names(void)
{
	for (int which = 0; which < LAYER_FILES; which++)
		for (size_t i = power_disk.pending_count[which]; i-- > 0;)
			if (power_ops[power_disk.pending[which][i]].kind == POWER_DELETE) {
				power_persist(which, i + 1);
				break;
			}
}

static void disk_take(const struct power_op *op, size_t number)
{
	size_t count = power_disk.pending_count[op->which];
	bool is_new = false;

	if (op->kind != POWER_SYNC) {
		power_wait(op->which, number);
		return;
	}
	for (size_t i = 0; i < count; i++)
		is_new = is_new || power_ops[power_disk.pending[op->which][i]].kind == POWER_CREATE;
	if (is_new)
		persist_names();
	power_persist(op->which, power_disk.pending_count[op->which]);
}

static void put_image(const char *path, const struct power_image *image)
{
	int fd;

	unlink(path);
	if (!image->exists)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && io_write_all(fd, image->bytes.data, image->bytes.len) == 0);
	close(fd);
}

/* Write the mark as new as it can be: the kernel may write it as soon as the turn is acknowledged. */
static void put_mark(size_t cut)
{
	uint64_t acknowledged = 0;
	struct mark mark;

	for (size_t i = 0; i < turn_count; i++)
		if (turns[i].acked <= cut && turns[i].turn > acknowledged)
			acknowledged = turns[i].turn;
	CHECK(mark_remove(box_path, NULL) == ERR_NONE && mark_open(&mark, box_path, NULL) == ERR_NONE);
	if (acknowledged > 0)
		mark_set(&mark, acknowledged);
	mark_close(&mark);
}

static void put_disk(size_t cut, enum power_loss loss, struct rand_state *rand)
{
	static const char *const suffixes[] = { "", "-wal", "-journal" };
	char path[SCRATCH_SIZE + 64];

	for (int which = 0; which < LAYER_OTHER; which++) {
		struct power_image image = power_image_of(which, loss, rand);

		snprintf(path, sizeof(path), "%s%s", box_path, suffixes[which]);
		put_image(path, &image);
		buf_free(&image.bytes);
	}
	put_mark(cut);
}

/* ---- promises checked after a cut ---- */

struct loaded {
	struct core *core;
	uint64_t turn;
};

static enum err load_cb(const struct row *row, void *arg, struct error *error)
{
	struct loaded *loaded = arg;

	if (row->table == TABLE_meta && slice_eq(row->meta.name, slice_str("turn")))
		loaded->turn = (uint64_t)row->meta.value;
	return core_load_row(loaded->core, row, error);
}

static struct now now_of(uint64_t turn)
{
	struct now now = { .mono_ns = NS_PER_S, .wall_ms = 1 };

	for (size_t i = 0; i < turn_count; i++)
		if (turns[i].turn == turn)
			now = turns[i].now;
	return now;
}

/* NULL: every promise was kept. */
static const char *look(size_t cut)
{
	struct loaded loaded = { .core = core_new(&walk_config) };
	struct store *store = NULL;
	struct outbox outbox = { 0 };
	struct error error = { 0 };
	static char problem[SCRATCH_SIZE + 1024];
	const char *found = NULL;

	if (box_open_error(0, &store, &error) != ERR_NONE ||
	    store_load(store, load_cb, &loaded, &error) != ERR_NONE ||
	    core_load_end(loaded.core, now_of(loaded.turn), &outbox, &error) != ERR_NONE) {
		snprintf(problem, sizeof(problem), "it can't be opened: %s", error.text);
		found = problem;
	} else {
		core_check(loaded.core);
	}
	for (size_t i = 0; i < turn_count && !found; i++) {
		if (turns[i].acked <= cut && turns[i].turn > loaded.turn)
			found = "a turn was acknowledged and is lost";
		if (turns[i].turn == loaded.turn && turns[i].hash != core_hash(loaded.core))
			found = "the state is not that of its turn";
		if (turns[i].turn == loaded.turn && turns[i].committed > cut)
			found = "a turn is there that hadn't been handed over";
	}
	store_close(store);
	outbox_free(&outbox);
	core_free(loaded.core);
	return found;
}

/* Cut a walk many times and return the number of cuts that broke a promise; prints the first one. */
static size_t cut_power(uint64_t seed, size_t cuts, bool stop_at_first)
{
	size_t *moments, broken = 0;
	struct rand_state rand;

	rand_seed(&rand, seed);
	moments = power_moments(cuts, &rand);
	power_disk_reset();
	power_disk.stable[LAYER_DATABASE].exists = true;
	for (size_t i = 0; i < cuts && (broken == 0 || !stop_at_first); i++) {
		enum power_loss loss = (enum power_loss)rand_below(&rand, LOSS_COUNT);
		const char *problem;

		for (; power_disk.at < moments[i]; power_disk.at++)
			disk_take(&power_ops[power_disk.at], power_disk.at);
		put_disk(moments[i], loss, &rand);
		problem = look(moments[i]);
		if (problem && broken++ == 0)
			printf("# seed %llu, cut %zu of %zu, before operation %zu of %zu, loss %d: %s\n",
			       (unsigned long long)seed, i, cuts, moments[i], (size_t)power_op_count, (int)loss, problem);
	}
	mem_free(moments);
	power_disk_reset();
	return broken;
}

/* Do one walk and its cuts in a directory of its own; 0: every promise was kept. */
static int walk_and_cut(uint64_t seed, size_t cuts)
{
	size_t unacked = 0, broken;

	box_setup_cb(NULL);
	record_walk(seed);
	for (size_t i = 0; i < turn_count; i++)
		unacked += turns[i].acked == SIZE_MAX;
	broken = cut_power(seed, cuts, false);
	printf("# seed %llu: %zu turns, %zu operations, %zu cuts, %zu broken\n", (unsigned long long)seed, turn_count,
	       (size_t)power_op_count, cuts, broken);
	fflush(stdout);
	box_teardown_cb(NULL);
	return broken == 0 && unacked == 0 && turn_count > 200 ? 0 : 1;
}

/* Several processes, each with a walk of its own. */
TEST power_may_go_at_any_moment(void)
{
	uint64_t seed = power_number("CHAOS_SEED", 1);
	size_t cuts = power_number("CHAOS_CUTS", 1000), walks = (cuts + CUTS_A_WALK - 1) / CUTS_A_WALK;
	long beside = sysconf(_SC_NPROCESSORS_ONLN);
	int status, bad = 0, running = 0;

	fflush(stdout);
	for (size_t i = 0; i < walks || running > 0;) {
		if (i < walks && running < beside) {
			pid_t pid = fork();

			ASSERT(pid >= 0);
			if (pid == 0)
				_exit(walk_and_cut(seed + i, cuts / walks + (i < cuts % walks)));
			running++;
			i++;
			continue;
		}
		ASSERT(wait(&status) > 0);
		running--;
		bad += status != 0;
	}
	power_report(cuts, "cuts");
	ASSERT_EQ_FMT(0, bad, "%d");
	PASS();
}

/* A store that syncs its log only at checkpoints loses acknowledged turns; the test must notice. */
TEST a_store_that_syncs_less_is_caught(void)
{
	layer_normal = true;
	record_walk(1);
	layer_normal = false;
	ASSERT_EQ_FMT((size_t)1, cut_power(1, 1000, true), "%zu");
	PASS();
}

/* A disk that reports syncs without doing them must be noticed too. */
TEST a_disk_that_lies_is_caught(void)
{
	record_walk(2);
	for (size_t i = 0; i < power_op_count; i++)
		if (power_ops[i].kind == POWER_SYNC && power_ops[i].which == LAYER_LOG && i % 2)
			power_ops[i].which = LAYER_OTHER;
	ASSERT_EQ_FMT((size_t)1, cut_power(2, 1000, true), "%zu");
	PASS();
}

static void setup_cb(void *data)
{
	box_setup_cb(data);
	turn_count = 0;
}

static void teardown_cb(void *data)
{
	power_forget();
	box_teardown_cb(data);
}

SUITE(store_power)
{
	box_in_memory();
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	layer_put();
	layer_hook_cb = record_cb;
	RUN_TEST(power_may_go_at_any_moment);
	RUN_TEST(a_store_that_syncs_less_is_caught);
	RUN_TEST(a_disk_that_lies_is_caught);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(store_power);
	GREATEST_MAIN_END();
}
