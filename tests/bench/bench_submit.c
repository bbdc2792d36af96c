/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Submits to a running master, each acknowledged when durable: one by one, by 16 clients at once, and with many under
 * way on one connection. Prints lines "name value unit". The jobs never run, so the cluster should have no worker.
 *
 * usage: bench_submit [SECONDS] the cluster is that of TITAN_STATE
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rand.h"
#include "net/client.h"

#define CLIENTS 16

static struct statedir statedir;
static struct client *client;
static struct error error;

static void fail(void)
{
	fprintf(stderr, "bench_submit: %s\n", error.text);
	exit(1);
}

static void send_one(struct slice spec)
{
	uint8_t key[16];
	struct msg_submit submit = { .id = client_next_id(client), .key = slice_make(key, sizeof(key)),
				     .name = slice_str("bench"), .jobs = spec, .count = 1 };

	rand_system(key, sizeof(key));
	if (client_send(client, OP_SUBMIT, &submit, &error))
		fail();
}

static void take_one(void)
{
	struct incoming frame;

	if (client_receive(client, 10000, &frame, &error))
		fail();
	if (frame.op != OP_ACCEPTED) {
		fprintf(stderr, "bench_submit: message %u instead of ACCEPTED\n", (unsigned)frame.op);
		exit(1);
	}
}

static double rate(struct slice spec, unsigned under_way, double seconds)
{
	int64_t from = clock_mono_ns();
	uint64_t count = 0;

	for (unsigned i = 0; i < under_way; i++)
		send_one(spec);
	while ((double)(clock_mono_ns() - from) < seconds * 1e9) {
		take_one();
		send_one(spec);
		count++;
	}
	for (unsigned i = 0; i < under_way; i++)
		take_one();
	return (double)(count + under_way) * 1e9 / (double)(clock_mono_ns() - from);
}

/* Several clients, each a process with its own connection that sends one submit at a time. */
static double rate_of_clients(struct slice spec, double seconds)
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
		each = rate(spec, 1, seconds);
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

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 2;
	struct slice words[] = { slice_str("true") };
	struct rec_job_spec spec = { .name = slice_str("a"), .argv = { words, 1 } };
	struct buf bytes = { 0 };

	if (seconds <= 0) {
		fprintf(stderr, "usage: bench_submit [SECONDS]\n");
		return 2;
	}
	if (statedir_find(NULL, &statedir) || client_open(&statedir, &client, &error))
		fail();
	record_encode(&bytes, REC_job_spec, &spec);
	printf("submit_one_by_one %.0f /s\n", rate(buf_slice(&bytes), 1, seconds));
	printf("submit_16_clients %.0f /s\n", rate_of_clients(buf_slice(&bytes), seconds));
	printf("submit_256_under_way %.0f /s\n", rate(buf_slice(&bytes), 256, seconds));
	buf_free(&bytes);
	client_close(client);
	return 0;
}
