/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values of a running master: durable sets one by one, by 16 clients at once, and with 16 under way for each of them; the time of
 * a get; a watch of 10,000 keys, from the request to the last key. Prints lines "name value unit". The cluster should have no worker.
 *
 * usage: bench_kv [SECONDS] the cluster is that of TITAN_STATE
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rand.h"
#include "net/client.h"

#define CLIENTS 16
#define KEYS    10000
#define BATCH   100
#define GETS    5000

static struct statedir statedir;
static struct client *client;
static struct arena arena;
static struct error error;
static uint64_t run;

static void fail(void)
{
	fprintf(stderr, "bench_kv: %s\n", error.text);
	exit(1);
}

/* Submit a run of one job, which never starts, and take its namespace: sets there are no acts. */
static void begin_run(void)
{
	struct slice words[] = { slice_str("true") };
	struct rec_job_spec spec = { .name = slice_str("a"), .argv = { words, 1 } };
	struct buf bytes = { 0 };
	uint8_t key[16];
	struct msg_submit submit = { .id = client_next_id(client), .key = slice_make(key, sizeof(key)), .name = slice_str("bench"), .count = 1 };
	struct msg_accepted accepted;

	rand_system(key, sizeof(key));
	record_encode(&bytes, REC_job_spec, &spec);
	submit.jobs = buf_slice(&bytes);
	if (client_call(client, OP_SUBMIT, &submit, OP_ACCEPTED, &arena, &accepted, &error))
		fail();
	run = accepted.run;
	buf_free(&bytes);
}

static void send_op(enum value_verb verb, uint64_t key)
{
	char name[32];
	int len = snprintf(name, sizeof(name), "key%llu", (unsigned long long)key);
	struct rec_value_op op = { .verb = verb, .key = slice_make(name, (size_t)len), .value = slice_str("a value of thirty-two bytes, as is") };
	struct msg_values values = { .id = client_next_id(client), .space = SPACE_RUN, .run = run, .ops = { &op, 1 } };

	if (client_send(client, OP_VALUES, &values, &error))
		fail();
}

static void take_one(enum opcode op)
{
	struct incoming frame;

	if (client_receive(client, 10000, &frame, &error))
		fail();
	if (frame.op == op)
		return;
	fprintf(stderr, "bench_kv: message %u instead of %u\n", (unsigned)frame.op, (unsigned)op);
	exit(1);
}

static double rate(unsigned under_way, double seconds)
{
	int64_t from = clock_mono_ns();
	uint64_t count = 0, key;

	rand_system(&key, sizeof(key));
	for (unsigned i = 0; i < under_way; i++)
		send_op(VALUES_SET, (key + i) % KEYS);
	while ((double)(clock_mono_ns() - from) < seconds * 1e9) {
		take_one(OP_VALUED);
		send_op(VALUES_SET, (key + count++) % KEYS);
	}
	for (unsigned i = 0; i < under_way; i++)
		take_one(OP_VALUED);
	return (double)(count + under_way) * 1e9 / (double)(clock_mono_ns() - from);
}

/* Several clients, each a process with a connection of its own. */
static double rate_of_clients(unsigned under_way, double seconds)
{
	double sum = 0, each;
	int ends[2];

	if (pipe(ends) < 0)
		fail();
	for (int i = 0; i < CLIENTS; i++) {
		if (fork() != 0)
			continue;
		if (client_open(&statedir, &client, &error))
			fail();
		each = rate(under_way, seconds);
		_exit(write(ends[1], &each, sizeof(each)) == sizeof(each) ? 0 : 1);
	}
	close(ends[1]);
	while (read(ends[0], &each, sizeof(each)) == sizeof(each))
		sum += each;
	close(ends[0]);
	while (wait(NULL) > 0)
		;
	return sum;
}

static double get_us(void)
{
	int64_t from = clock_mono_ns();

	for (uint64_t i = 0; i < GETS; i++) {
		send_op(VALUES_GET, i);
		take_one(OP_VALUED);
	}
	return (double)(clock_mono_ns() - from) / 1e3 / GETS;
}

/* The time until a new watch was told all keys. */
static double watch_ms(void)
{
	struct msg_values_watch watch = { .id = client_next_id(client), .space = SPACE_RUN, .run = run, .since = 1 };
	struct msg_values_changed changed = { .more = true };
	int64_t from = clock_mono_ns();
	struct incoming frame;

	if (client_send(client, OP_VALUES_WATCH, &watch, &error))
		fail();
	while (changed.more) {
		if (client_receive(client, 10000, &frame, &error) ||
		    message_decode((enum opcode)frame.op, frame.body, &arena, &changed, &error))
			fail();
		arena_reset(&arena);
	}
	return (double)(clock_mono_ns() - from) / 1e6;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 2;

	if (seconds <= 0) {
		fprintf(stderr, "usage: bench_kv [SECONDS]\n");
		return 2;
	}
	if (statedir_find(NULL, &statedir) || client_open(&statedir, &client, &error))
		fail();
	begin_run();
	printf("kv_set_one_by_one %.0f /s\n", rate(1, seconds));
	printf("kv_set_16_clients %.0f /s\n", rate_of_clients(1, seconds));
	printf("kv_set_16_by_16 %.0f /s\n", rate_of_clients(16, seconds));
	for (uint64_t key = 0; key < KEYS; key += BATCH) {
		for (uint64_t i = 0; i < BATCH; i++)
			send_op(VALUES_SET, key + i);
		for (uint64_t i = 0; i < BATCH; i++)
			take_one(OP_VALUED);
	}
	printf("kv_get %.0f us\n", get_us());
	printf("kv_watch_10000_keys %.1f ms\n", watch_ms());
	arena_free(&arena);
	client_close(client);
	return 0;
}
