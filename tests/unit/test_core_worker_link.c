/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Connections of workers: HELLO and WELCOME, flaps, silence, and shutdown. */
#include "proto/dead.h"
#include "proto/expr.h"
#include "proto/reasons.h"
#include "tests/unit/core_grow.h"

struct hello {
	const char *name;
	uint64_t slots;
	size_t instance_len, labels;
};

/* The error that answers a HELLO; ERR_NONE: WELCOME. */
static enum err hello(struct rig *rig, struct hello hello)
{
	static char names[LIMIT_LABELS_MAX + 1][8];
	struct slice labels[LIMIT_LABELS_MAX + 1];
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };

	for (size_t i = 0; i < hello.labels; i++) {
		snprintf(names[i], sizeof(names[i]), "l%u", (unsigned)i);
		labels[i] = slice_str(names[i]);
	}
	input.hello = (struct input_hello){ .name = slice_str(hello.name), .slots = hello.slots, .pid = 9,
		.instance = slice_make("0123456789abcdefg", hello.instance_len), .labels = { .at = labels, .n = hello.labels } };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
	return rig_frames(rig, OP_WELCOME, NULL) ? ERR_NONE : (enum err)rig->error.code;
}

TEST hello_beyond_its_limits_is_refused(void)
{
	struct rig *rig = rig_new();

	ASSERT_EQ(ERR_NONE, hello(rig, (struct hello){ "a", 1, 16, 0 }));
	ASSERT_EQ(ERR_NONE, hello(rig, (struct hello){ "b", LIMIT_SLOTS_MAX, 0, LIMIT_LABELS_MAX }));
	ASSERT_EQ(ERR_INVALID, hello(rig, (struct hello){ "c", 0, 16, 0 }));
	ASSERT(rig_error_says(rig, ERR_INVALID, "HELLO: slots is 0, but must be from 1 to 65536"));
	ASSERT_EQ(ERR_INVALID, hello(rig, (struct hello){ "c", LIMIT_SLOTS_MAX + 1, 16, 0 }));
	ASSERT_EQ(ERR_INVALID, hello(rig, (struct hello){ "c", 1, 17, 0 }));
	ASSERT(rig_error_says(rig, ERR_INVALID, "HELLO: instance has more than 16 bytes"));
	ASSERT_EQ(ERR_TOO_LARGE, hello(rig, (struct hello){ "c", 1, 16, LIMIT_LABELS_MAX + 1 }));
	ASSERT_EQ(ERR_INVALID, hello(rig, (struct hello){ "c d", 1, 16, 0 }));
	rig_free(rig);
	PASS();
}

/* The specification in the only ASSIGN of a script with this interpreter, to a worker that speaks this version. */
static struct rec_job_spec assigned(struct rig *rig, const char *shell, const char *stdin_text, uint64_t version)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", ""), spec = { 0 };
	struct outgoing frame;
	struct slice bytes;

	job->argv.n = 0;
	job->script = slice_str("a | b");
	job->interpreter = slice_str(shell);
	job->stdin_text = slice_str(stdin_text);
	CHECK(rig_submit(rig, &graph));
	input.hello = (struct input_hello){ .name = slice_str("w"), .slots = 1, .pid = 9, .version = version };
	rig_step(rig, &input);
	CHECK(rig_frames(rig, OP_ASSIGN, &frame) == 1);
	bytes = frame.assign.spec;
	CHECK(record_decode(REC_job_spec, &bytes, &rig->arena, &spec, NULL) == ERR_NONE);
	return spec;
}

TEST older_worker_gets_the_interpreter_as_a_command(void)
{
	static const struct { const char *shell; size_t count; const char *first, *last; } cases[] = {
		{ "bash", 6, "bash", "a | b" }, { "python3", 3, "python3", "a | b" }, { "/bin/zsh", 3, "/bin/zsh", "a | b" },
		{ "/usr/bin/perl", 4, "/bin/sh", "/usr/bin/perl" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *rig = rig_new();
		struct rec_job_spec spec = assigned(rig, cases[i].shell, "", PROTOCOL_BEFORE);

		ASSERT_EQ(cases[i].count, spec.argv.n);
		ASSERT(slice_eq(spec.argv.at[0], slice_str(cases[i].first)) && slice_eq(spec.argv.at[spec.argv.n - 1], slice_str(cases[i].last)));
		ASSERT(spec.script.len == 0 && spec.interpreter.len == 0);
		rig_free(rig);
		rig = rig_new();
		spec = assigned(rig, cases[i].shell, "", PROTOCOL_VERSION);
		ASSERT(spec.argv.n == 0 && slice_eq(spec.script, slice_str("a | b")) && slice_eq(spec.interpreter, slice_str(cases[i].shell)));
		rig_free(rig);
	}
	PASS();
}

TEST older_worker_gets_standard_input_by_a_shell(void)
{
	static const char *const words[] = { "/bin/sh", "-c", "printf %s \"$0\" | \"$@\"", "in $(x)", "/bin/sh", "-c", "a | b" };
	struct rig *rig = rig_new();
	struct rec_job_spec spec = assigned(rig, "", "in $(x)", PROTOCOL_BEFORE);

	ASSERT_EQ(7, spec.argv.n);
	for (size_t i = 0; i < spec.argv.n; i++)
		ASSERT(slice_eq(spec.argv.at[i], slice_str(words[i])));
	ASSERT(spec.script.len == 0 && spec.stdin_text.len == 0);
	rig_free(rig);
	rig = rig_new();
	spec = assigned(rig, "sh", "in", PROTOCOL_BEFORE);
	ASSERT_EQ(8, spec.argv.n);
	ASSERT(slice_eq(spec.argv.at[4], slice_str("/bin/sh")) && slice_eq(spec.argv.at[7], slice_str("a | b")));
	rig_free(rig);
	rig = rig_new();
	spec = assigned(rig, "", "in", PROTOCOL_VERSION);
	ASSERT(spec.argv.n == 0 && slice_eq(spec.script, slice_str("a | b")) && slice_eq(spec.stdin_text, slice_str("in")));
	rig_free(rig);
	PASS();
}

static uint64_t hello_pool(struct rig *rig, const char *name, const char *pool)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };

	input.hello = (struct input_hello){ .name = slice_str(name), .slots = 1, .pid = 9, .pool = slice_str(pool) };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
	return input.conn;
}

static struct rec_worker_row worker_row(struct rig *rig, uint64_t number)
{
	struct rec_worker_row row = { 0 };

	CHECK(view_worker(rig->core, number, &rig->arena, &row));
	return row;
}

TEST hello_names_pool_and_comes_once(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_WORKER_HELLO };

	hello_pool(rig, "a", "bad pool");
	ASSERT(rig_error_says(rig, ERR_INVALID, "HELLO: the name of a pool may have letters, digits, _ . -, at most"));
	hello_pool(rig, "a", "gpu");
	ASSERT_EQ(0, rig->error.code);
	hello_pool(rig, "b", "");
	ASSERT_EQ(0, rig->error.code);
	ASSERT(slice_eq(slice_str("gpu"), worker_row(rig, 1).pool));
	ASSERT(slice_eq(slice_str("default"), worker_row(rig, 2).pool));
	input.conn = rig->conn;
	input.hello = (struct input_hello){ .name = slice_str("c"), .slots = 1, .pid = 9 };
	rig_step(rig, &input);
	ASSERT(rig_error_says(rig, ERR_NOT_EXPECTED, "HELLO was sent twice on this connection"));
	ASSERT_EQ(0, view_worker_after(rig->core, 2));
	rig_free(rig);
	PASS();
}

TEST welcome_names_cluster(void)
{
	struct rig *rig = rig_new();
	struct outgoing last;

	rig_hello(rig, "w", 1);
	ASSERT_EQ(1, rig_frames(rig, OP_WELCOME, &last));
	ASSERT(slice_eq(slice_str("bench"), last.welcome.cluster));
	rig_free(rig);
	PASS();
}

/* How long placement passes over a worker whose connection was lost this often at this interval. */
static uint64_t rest_after(int drops, int64_t apart_ms, bool quitting)
{
	struct rig *rig = rig_new();
	struct core_input quit = { .kind = INPUT_SHUTDOWN, .shutdown.workers = true };
	uint64_t rest_ms;

	for (int i = 0; i < drops; i++) {
		uint64_t conn = rig_hello(rig, "w", 1);

		if (quitting)
			rig_step(rig, &quit);
		rig_gone(rig, conn);
		if (i + 1 < drops)
			rig_pass(rig, apart_ms);
	}
	rest_ms = worker_row(rig, 1).rest_ms;
	rig_free(rig);
	return rest_ms;
}

TEST flapping_worker_rests(void)
{
	const int64_t apart_ms = LIMIT_FLAP_WINDOW_MS / (LIMIT_FLAP_DROPS - 1);

	ASSERT_EQ(0, rest_after(1, 0, false));
	ASSERT_EQ(0, rest_after(LIMIT_FLAP_DROPS - 1, 1, false));
	ASSERT_EQ(LIMIT_FLAP_REST_MS, rest_after(LIMIT_FLAP_DROPS, 1, false));
	ASSERT_EQ(LIMIT_FLAP_REST_MS, rest_after(LIMIT_FLAP_DROPS, apart_ms - 1, false));
	ASSERT_EQ(0, rest_after(LIMIT_FLAP_DROPS, apart_ms, false));
	ASSERT_EQ(0, rest_after(LIMIT_FLAP_DROPS, 1, true));
	PASS();
}

/* The master notices each lost connection only when the next one comes; all count as flaps. */
TEST replaced_connections_count_as_flaps(void)
{
	struct rig *rig = rig_new();
	struct rec_worker_row row = { 0 };

	for (int drops = 0; drops <= LIMIT_FLAP_DROPS; drops++) {
		ASSERT_EQ(0, row.rest_ms);
		rig_hello(rig, "w", 1);
		ASSERT(view_worker(rig->core, 1, &rig->arena, &row));
		rig_wait(rig, 1);
	}
	ASSERT_EQ(LIMIT_FLAP_REST_MS, row.rest_ms);
	rig_free(rig);
	PASS();
}

static uint64_t submit_one(struct rig *rig, enum exec_mode mode)
{
	struct graph graph = { 0 };

	graph_job(&graph, "a", "")->mode = mode;
	return rig_submit(rig, &graph);
}

TEST workers_keep_numbers_after_one_is_forgotten(void)
{
	struct rig *rig = rig_new();
	struct rig_attempt attempt;
	struct rec_worker_row row;

	rig_gone(rig, rig_hello(rig, "first", 1));
	rig_hello(rig, "second", 1);
	rig_set(rig, (struct msg_set){ .kind = OBJECT_WORKER, .verb = SET_REMOVE, .name = slice_str("first") });
	ASSERT_EQ(1, rig->ok.count);
	rig_hello(rig, "third", 1);
	ASSERT(!view_worker(rig->core, 1, &rig->arena, &row));
	ASSERT(!view_worker(rig->core, 4, &rig->arena, &row));
	ASSERT(slice_eq(slice_str("second"), worker_row(rig, 2).name));
	ASSERT(slice_eq(slice_str("third"), worker_row(rig, 3).name));
	submit_one(rig, EXEC_RETRY);
	submit_one(rig, EXEC_RETRY);
	while (rig_take(rig, &attempt))
		rig_done(rig, attempt, OUTCOME_EXIT, 0);
	ASSERT_EQ(STATE_SUCCEEDED, rig_state(rig, 1));
	ASSERT_EQ(STATE_SUCCEEDED, rig_state(rig, 2));
	rig_free(rig);
	PASS();
}

TEST deaf_master_keeps_lost_worker_lost(void)
{
	struct rig *rig = rig_new();

	rig_gone(rig, rig_hello(rig, "w", 1));
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(WORKER_LOST, worker_row(rig, 1).state);
	rig_turn_begin(rig);
	core_was_deaf(rig->core);
	rig_turn_end(rig);
	ASSERT_EQ(WORKER_LOST, worker_row(rig, 1).state);
	rig_free(rig);
	PASS();
}

/* A silent worker is told why its connection is closed, and may connect again. */
TEST silent_worker_may_come_again(void)
{
	struct rig *rig = rig_new();
	uint64_t conn = rig_hello(rig, "w", 1);
	struct outgoing error;

	rig_pass(rig, LIMIT_LEASE_MS);
	rig_pass(rig, LIMIT_GRACE_MS - LIMIT_LEASE_MS);
	ASSERT_EQ(1, rig_frames(rig, OP_ERROR, &error));
	ASSERT_EQ(conn, error.conn);
	rig_heartbeat(rig, conn);
	ASSERT_EQ(WORKER_LOST, worker_row(rig, 1).state);
	rig_gone(rig, conn);
	ASSERT_EQ(WORKER_LOST, worker_row(rig, 1).state);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(WORKER_UP, worker_row(rig, 1).state);
	rig_free(rig);
	PASS();
}

/* A silent worker is told so and disconnected, so that it doesn't work on unheard. */
TEST silent_worker_is_told_and_closed(void)
{
	struct rig *rig = rig_new();
	uint64_t conn = rig_hello(rig, "w", 1);
	struct outgoing frame;

	rig_pass(rig, LIMIT_LEASE_MS);
	ASSERT_EQ(0, rig_frames(rig, OP_ERROR, NULL));
	rig_pass(rig, LIMIT_GRACE_MS);
	ASSERT_EQ(1, rig_frames(rig, OP_ERROR, &frame));
	ASSERT(frame.conn == conn && frame.close && frame.error.code == ERR_TIMEOUT);
	rig_free(rig);
	PASS();
}

TEST shutdown_tells_connected_workers_to_quit(void)
{
	struct rig *rig = rig_new();
	struct core_input input = { .kind = INPUT_SHUTDOWN, .shutdown.workers = true };
	struct outgoing quit;

	rig_gone(rig, rig_hello(rig, "gone", 1));
	rig_hello(rig, "here", 1);
	rig_step(rig, &input);
	ASSERT_EQ(1, rig_frames(rig, OP_QUIT, &quit));
	ASSERT_EQ(rig->conn, quit.conn);
	rig_free(rig);
	PASS();
}

SUITE(worker_link)
{
	RUN_TEST(older_worker_gets_the_interpreter_as_a_command);
	RUN_TEST(older_worker_gets_standard_input_by_a_shell);
	RUN_TEST(hello_beyond_its_limits_is_refused);
	RUN_TEST(hello_names_pool_and_comes_once);
	RUN_TEST(welcome_names_cluster);
	RUN_TEST(flapping_worker_rests);
	RUN_TEST(replaced_connections_count_as_flaps);
	RUN_TEST(workers_keep_numbers_after_one_is_forgotten);
	RUN_TEST(deaf_master_keeps_lost_worker_lost);
	RUN_TEST(silent_worker_may_come_again);
	RUN_TEST(silent_worker_is_told_and_closed);
	RUN_TEST(shutdown_tells_connected_workers_to_quit);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(worker_link);
	GREATEST_MAIN_END();
}
