/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Power cuts. A walk through the core is committed by the real store while every write, truncate and sync of its files
 * is recorded. Then, for each of many moments, the files are made as a disk may leave them: what was synced, and of
 * the rest some, in pieces, in another order. Opened again, the state must be that of one of the turns, none older
 * than the latest that was acknowledged.
 *
 * CHAOS_CUTS: how many (1000), CHAOS_SEED: which (1).
 */
#include <stdatomic.h>
#include <sys/stat.h>

#include "core_rig.h"
#include "store_box.h"
#include "store_layer.h"

#include "base/rand.h"
#include "store/tables.h"

#define SECTOR 512
#define TURNS_MAX 4096
#define OPS_MAX 200000
#define WALK_STEPS 700

/* ---- the record ---- */

struct op {
	enum layer_op op;
	enum layer_which which;
	void *data;
	size_t len, at;
};

static struct op ops[OPS_MAX];
static atomic_size_t op_count;
static bool recording;

static int record_cb(const struct layer_call *call, bool *skip)
{
	size_t at = atomic_load(&op_count);

	/* Nothing survives this machine's own power anyway: no time for its disk. */
	*skip = call->op == LAYER_SYNC;
	if (!recording || call->which == LAYER_OTHER)
		return SQLITE_OK;
	if (at == OPS_MAX)
		abort();
	ops[at] = (struct op){ call->op, call->which, NULL, (size_t)call->len, (size_t)call->at };
	if (call->len > 0) {
		ops[at].data = mem_alloc((size_t)call->len);
		memcpy(ops[at].data, call->data, (size_t)call->len);
	}
	atomic_store(&op_count, at + 1);
	return SQLITE_OK;
}

static struct { uint64_t turn, hash; size_t committed, acked; struct now now; } turns[TURNS_MAX];
static size_t turn_count;
static struct core_config walk_config;

static void forget_record(void)
{
	for (size_t i = 0; i < op_count; i++)
		mem_free(ops[i].data);
	atomic_store(&op_count, 0);
	turn_count = 0;
}

/* ---- the walk ---- */

struct power_walk {
	struct rig *rig;
	struct store *store;
	struct rand_state rand;
	uint64_t conn;
	size_t pending;                  /* handed over and not yet acknowledged: the last ones */
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
		const struct table *table = &table_list[old->table];

		*row = *old;
		for (size_t at = 0; at < table->column_count; at++) {
			const struct column *column = &table->columns()[at];
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
		turns[turn_count - walk->pending].acked = atomic_load(&op_count);
		box_free(outbox);
	}
}

/* What the rig's last turn left goes to the store. */
static void commit_turn(struct power_walk *walk)
{
	if (walk->rig->out.row_count == 0)
		return;
	CHECK(turn_count < TURNS_MAX);
	turns[turn_count].turn = walk->rig->out.turn;
	turns[turn_count].hash = core_hash(walk->rig->core);
	turns[turn_count].committed = atomic_load(&op_count);
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

/* Idle for a while, the store copies its log to the file. */
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

struct image {
	bool exists;
	struct buf bytes;
};

struct disk {
	struct image stable[LAYER_FILES];        /* as of the latest sync of each */
	size_t pending[LAYER_FILES][OPS_MAX / 64];       /* ops since then, by number */
	size_t pending_count[LAYER_FILES];
	size_t at;                       /* ops that were taken in */
};

static struct disk disk;

static void set_size(struct buf *bytes, size_t size)
{
	static const uint8_t zeros[4096];

	while (bytes->len < size)
		buf_add(bytes, zeros, size - bytes->len < sizeof(zeros) ? size - bytes->len : sizeof(zeros));
	bytes->len = size;
}

static void write_piece(struct image *image, const struct op *op, size_t from, size_t len)
{
	if (image->bytes.len < op->at + from + len)
		set_size(&image->bytes, op->at + from + len);
	memcpy(image->bytes.data + op->at + from, (const char *)op->data + from, len);
}

static void apply(struct image *image, const struct op *op)
{
	switch (op->op) {
	case LAYER_CREATE:
		if (!image->exists)
			set_size(&image->bytes, 0);
		image->exists = true;
		break;
	case LAYER_WRITE:
		write_piece(image, op, 0, op->len);
		break;
	case LAYER_TRUNCATE:
		set_size(&image->bytes, op->at);
		break;
	case LAYER_DELETE:
		image->exists = false;
		set_size(&image->bytes, 0);
		break;
	case LAYER_SYNC:
		break;
	}
}

static void settle(int which, size_t count)
{
	size_t *pending = disk.pending[which];

	for (size_t i = 0; i < count; i++)
		apply(&disk.stable[which], &ops[pending[i]]);
	disk.pending_count[which] -= count;
	memmove(pending, pending + count, disk.pending_count[which] * sizeof(*pending));
}

/* The first sync of a new file is one of the directory, too: with it others that were removed stay so. */
static void settle_names(void)
{
	for (int which = 0; which < LAYER_FILES; which++)
		for (size_t i = disk.pending_count[which]; i-- > 0;)
			if (ops[disk.pending[which][i]].op == LAYER_DELETE) {
				settle(which, i + 1);
				break;
			}
}

static void disk_take(const struct op *op, size_t number)
{
	size_t *count = &disk.pending_count[op->which];
	bool is_new = false;

	if (op->op != LAYER_SYNC) {
		CHECK(*count < OPS_MAX / 64);
		disk.pending[op->which][(*count)++] = number;
		return;
	}
	for (size_t i = 0; i < *count; i++)
		is_new = is_new || ops[disk.pending[op->which][i]].op == LAYER_CREATE;
	if (is_new)
		settle_names();
	settle((int)op->which, *count);
}

static void disk_reset(void)
{
	for (int which = 0; which < LAYER_FILES; which++)
		buf_free(&disk.stable[which].bytes);
	disk = (struct disk){ .at = 0 };
	disk.stable[LAYER_DATABASE].exists = true;
}

enum loss { LOSS_ALL, LOSS_NONE, LOSS_SOME, LOSS_SECTORS, LOSS_TORN, LOSS_ORDER, LOSS_COUNT };

/* Of one write: sectors by chance, or up to one. What lies between may be what the disk had there before: rubbish. */
static void apply_torn(struct image *image, const struct op *op, struct rand_state *rand, bool prefix)
{
	size_t sectors = (op->len + SECTOR - 1) / SECTOR, end = rand_below(rand, sectors + 1);

	for (size_t i = 0; i < sectors; i++) {
		size_t from = i * SECTOR, len = op->len - from < SECTOR ? op->len - from : SECTOR;
		bool keep = prefix ? i < end : rand_below(rand, 2);
		size_t was = image->bytes.len;

		if (keep)
			write_piece(image, op, from, len);
		for (size_t hole = was; keep && hole < op->at + from && rand_below(rand, 2); hole++)
			image->bytes.data[hole] = (uint8_t)rand_next(rand);
	}
}

static void lose(struct image *image, const size_t *numbers, size_t count, enum loss loss, struct rand_state *rand)
{
	size_t order[OPS_MAX / 64];

	for (size_t i = 0; i < count; i++)
		order[i] = numbers[i];
	/* Neighbours change places: creations and removals stay where they are. */
	for (size_t i = 1; loss == LOSS_ORDER && i < count; i++) {
		size_t other = rand_below(rand, i + 1), kept = order[i];

		if (ops[order[i]].op == LAYER_WRITE && ops[order[other]].op == LAYER_WRITE) {
			order[i] = order[other];
			order[other] = kept;
		}
	}
	for (size_t i = 0; i < count; i++) {
		const struct op *op = &ops[order[i]];
		bool keep = loss == LOSS_NONE || loss == LOSS_TORN || (loss != LOSS_ALL && rand_below(rand, 2));

		/* What follows belongs to a file that never was, or never replaced the old one. */
		if (!keep && (op->op == LAYER_CREATE || op->op == LAYER_DELETE))
			return;
		if (op->op == LAYER_WRITE && (loss == LOSS_SECTORS || (loss == LOSS_TORN && i + 1 == count)))
			apply_torn(image, op, rand, loss == LOSS_TORN);
		else if (keep)
			apply(image, op);
	}
}

static void put_image(const char *path, const struct image *image)
{
	int fd;

	unlink(path);
	if (!image->exists)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && io_write_all(fd, image->bytes.data, image->bytes.len) == 0);
	close(fd);
}

static void put_disk(enum loss loss, struct rand_state *rand)
{
	static const char *const suffixes[] = { "", "-wal", "-journal" };
	char path[128];

	for (int which = 0; which < LAYER_OTHER; which++) {
		struct image image = { .exists = disk.stable[which].exists };

		buf_add(&image.bytes, disk.stable[which].bytes.data, disk.stable[which].bytes.len);
		lose(&image, disk.pending[which], disk.pending_count[which], loss, rand);
		snprintf(path, sizeof(path), "%s%s", box_path, suffixes[which]);
		put_image(path, &image);
		buf_free(&image.bytes);
	}
}

/* ---- what must hold ---- */

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

/* NULL when all is as promised. */
static const char *look(size_t cut)
{
	struct loaded loaded = { .core = core_new(&walk_config) };
	struct store *store = NULL;
	struct outbox outbox = { 0 };
	struct error error = { 0 };
	static char problem[1024];
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

static int compare_sizes(const void *a, const void *b)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return x < y ? -1 : x > y;
}

/* How many of the cuts break a promise; tells of the first. */
static size_t cut_power(uint64_t seed, size_t cuts, bool stop_at_first)
{
	size_t *moments = mem_array(cuts, sizeof(*moments)), broken = 0;
	struct rand_state rand;

	rand_seed(&rand, seed);
	for (size_t i = 0; i < cuts; i++)
		moments[i] = rand_below(&rand, op_count + 1);
	qsort(moments, cuts, sizeof(*moments), compare_sizes);
	disk_reset();
	for (size_t i = 0; i < cuts && (broken == 0 || !stop_at_first); i++) {
		enum loss loss = (enum loss)rand_below(&rand, LOSS_COUNT);
		const char *problem;

		for (; disk.at < moments[i]; disk.at++)
			disk_take(&ops[disk.at], disk.at);
		put_disk(loss, &rand);
		problem = look(moments[i]);
		if (problem && broken++ == 0)
			printf("# seed %llu, cut %zu of %zu, before operation %zu of %zu, loss %d: %s\n",
			       (unsigned long long)seed, i, cuts, moments[i], (size_t)op_count, (int)loss, problem);
	}
	mem_free(moments);
	disk_reset();
	return broken;
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 10) : otherwise;
}

TEST power_may_go_at_any_moment(void)
{
	uint64_t seed = from_environment("CHAOS_SEED", 1);
	size_t cuts = from_environment("CHAOS_CUTS", 1000), unacked = 0;

	record_walk(seed);
	for (size_t i = 0; i < turn_count; i++)
		unacked += turns[i].acked == SIZE_MAX;
	printf("# seed %llu: %zu turns, %zu operations, %zu cuts\n", (unsigned long long)seed, turn_count,
	       (size_t)op_count, cuts);
	ASSERT_EQ_FMT((size_t)0, unacked, "%zu");
	ASSERT_GT(turn_count, 200);
	ASSERT_EQ_FMT((size_t)0, cut_power(seed, cuts, false), "%zu");
	PASS();
}

/* The test can fail: a store that syncs its log only at checkpoints loses what was acknowledged. */
TEST a_store_that_syncs_less_is_caught(void)
{
	layer_normal = true;
	record_walk(1);
	layer_normal = false;
	ASSERT_EQ_FMT((size_t)1, cut_power(1, 1000, true), "%zu");
	PASS();
}

/* A disk that says it has synced, and hasn't, is caught as well: nothing else here holds a cut's damage together. */
TEST a_disk_that_lies_is_caught(void)
{
	record_walk(2);
	for (size_t i = 0; i < op_count; i++)
		if (ops[i].op == LAYER_SYNC && ops[i].which == LAYER_LOG && i % 2)
			ops[i].which = LAYER_OTHER;
	ASSERT_EQ_FMT((size_t)1, cut_power(2, 1000, true), "%zu");
	PASS();
}

static void setup_cb(void *data)
{
	box_setup_cb(data);
	atomic_store(&op_count, 0);
}

static void teardown_cb(void *data)
{
	forget_record();
	box_teardown_cb(data);
}

SUITE(store_power)
{
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
