/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TLS on loopback TCP beside the unix socket, with the same master in one run. A worker that runs nothing takes jobs and sends
 * output over both, in short rounds by turns; the ratio is the median over the rounds, so that other load of the
 * machine counts less. Longer rounds on a loaded machine compare how the processes are scheduled. Then what 1,000 idle connections take of the master's memory, and a handshake of its processor time.
 * Prints lines "name value unit", and "name value unit ratio of-what".
 *
 * usage: bench_tls ADDRESS WORKER-KEY PERSON-KEY [ROUNDS [JOBS [MEBIBYTES]]]
 * The cluster is that of TITAN_STATE; it must have just started, listen on ADDRESS, and have no worker.
 */
#include <dirent.h>
#include <ev.h>

#include "base/io.h"
#include "net/client.h"
#include "net/conn.h"
#include "net/dial.h"
#include "net/keyfile.h"
#include "tests/unit/master_box.h"

#define CONNECTIONS 1000
#define HANDSHAKES  2000
#define CHUNK       LIMIT_OUTPUT_CHUNK
#define WAIT_NS     (60 * NS_PER_S)
#define ROUNDS_MAX  64

enum way { WAY_UNIX, WAY_TLS, WAYS };

struct bench {
	const char *address;
	struct key worker, person;
	pid_t master;
};

/* A worker that runs nothing, on a connection of the kind that workers have. */
struct noop {
	struct ev_loop *loop;
	struct conn_set *set;
	struct conn *conn;
	struct arena arena;
	bool welcome;
	bool holds;                      /* keep attempts running instead of ending them */
	unsigned long acked;
	struct rec_assign held;          /* the last attempt that is kept running */
	uint64_t credit;                 /* bytes of its output that the master has received */
};

static void fail(const char *what)
{
	fprintf(stderr, "bench_tls: %s\n", what);
	exit(1);
}

/* ---- the worker ---- */

static void report(struct noop *noop, const struct rec_assign *items, size_t count, bool started, bool ended)
{
	struct rec_started *starts = arena_zalloc(&noop->arena, count, sizeof(*starts));
	struct rec_done *ends = arena_zalloc(&noop->arena, count, sizeof(*ends));
	int64_t now_ms = clock_wall_ms();

	for (size_t i = 0; i < count; i++) {
		starts[i] = (struct rec_started){ .job = items[i].job, .epoch = items[i].epoch, .wall_ms = now_ms, .pid = 1 };
		ends[i] = (struct rec_done){ .job = items[i].job, .epoch = items[i].epoch, .outcome = OUTCOME_EXIT,
					     .started_ms = now_ms, .ended_ms = now_ms, .run_ns = 1000 };
	}
	if (started)
		conn_send(noop->conn, OP_STARTED, &(struct msg_started){ .items = { .at = starts, .n = count } });
	if (ended)
		conn_send(noop->conn, OP_DONE, &(struct msg_done){ .items = { .at = ends, .n = count } });
}

static void frame_cb(struct conn *conn, const struct frame *frame, void *owner)
{
	struct noop *noop = owner;
	union {
		struct msg_assign assign;
		struct msg_ack ack;
		struct msg_credit credit;
	} msg;

	(void)conn;
	arena_reset(&noop->arena);
	noop->welcome |= frame->opcode == OP_WELCOME;
	if (frame->opcode == OP_ERROR)
		fail("the master refused the worker");
	if (frame->opcode != OP_ASSIGN && frame->opcode != OP_ACK && frame->opcode != OP_CREDIT)
		return;
	if (message_decode((enum opcode)frame->opcode, frame->body, &noop->arena, &msg, NULL) != ERR_NONE)
		fail("the master sent a frame that can't be read");
	if (frame->opcode == OP_ACK) {
		noop->acked += msg.ack.items.n;
	} else if (frame->opcode == OP_CREDIT) {
		for (size_t i = 0; i < msg.credit.items.n; i++)
			if (msg.credit.items.at[i].job == noop->held.job && msg.credit.items.at[i].offset > noop->credit)
				noop->credit = msg.credit.items.at[i].offset;
	} else {
		report(noop, msg.assign.items.at, msg.assign.items.n, true, !noop->holds);
		noop->held = msg.assign.items.at[msg.assign.items.n - 1];
	}
}

static void closed_cb(struct conn *conn, const struct error *why, void *owner)
{
	(void)conn;
	(void)owner;
	fail(why ? why->text : "the master closed the worker's connection");
}

static void turn(struct noop *noop)
{
	ev_run(noop->loop, EVRUN_ONCE);
}

static struct transport *reach(const struct bench *bench, enum way way, const struct key *key)
{
	struct transport *transport;
	struct error error;
	int fd;

	if (way == WAY_UNIX) {
		if (statedir_socket_connect(&box_place, &fd) != 0)
			fail("no master at the socket");
		return transport_unix(fd);
	}
	if (dial(bench->address, clock_mono_ns() + WAIT_NS, &fd, &error) != ERR_NONE ||
	    transport_tls_connect(fd, key->identity, key->secret, &transport, &error) != ERR_NONE)
		fail(error.text);
	return transport;
}

static void noop_open(struct noop *noop, const struct bench *bench, enum way way)
{
	static const struct conn_ops ops = { .frame_cb = frame_cb, .closed_cb = closed_cb };
	const char *id = key_id(&bench->worker), *end = strrchr(id, '.');
	struct msg_hello hello = {
		.version = PROTOCOL_VERSION, .kind = PEER_WORKER, .name = slice_make(id, end ? (size_t)(end - id) : strlen(id)),
		.instance = slice_str(way == WAY_UNIX ? "unix-unix-unix-u" : "tls-tls-tls-tls-"), .slots = 64, .pid = 1,
	};

	*noop = (struct noop){ .loop = ev_loop_new(0) };
	noop->set = conn_set_new(noop->loop);
	noop->conn = conn_open(noop->set, reach(bench, way, &bench->worker), &ops, noop);
	conn_set_max_body(noop->conn, LIMIT_FRAME_MAX);
	conn_send(noop->conn, OP_HELLO, &hello);
	while (!noop->welcome)
		turn(noop);
}

static void noop_close(struct noop *noop)
{
	conn_set_free(noop->set);
	ev_loop_destroy(noop->loop);
	arena_free(&noop->arena);
}

/* ---- what the master uses ---- */

static double resident_kb(pid_t pid)
{
	unsigned long pages = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*u %lu", &pages) != 1)
		fail("can't read the master's memory");
	fclose(file);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1000;
}

/* Processor time of all threads of a process. */
static double used_ms(pid_t pid)
{
	unsigned long long sum = 0, ns;
	struct dirent *entry;
	char path[300];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)pid, entry->d_name);
		file = entry->d_name[0] != '.' ? fopen(path, "r") : NULL;
		if (file && fscanf(file, "%llu", &ns) == 1)
			sum += ns;
		if (file)
			fclose(file);
	}
	if (dir)
		closedir(dir);
	return (double)sum / 1e6;
}

/* ---- requests ---- */

static void submit(size_t count)
{
	struct peer peer;
	struct msg_accepted accepted;
	char key[17];

	snprintf(key, sizeof(key), "%016llx", (unsigned long long)clock_mono_ns());
	if (!peer_hello(&peer) || !peer_submit(&peer, key, "bench", count, false) || !peer_expect(&peer, OP_ACCEPTED, &accepted))
		fail("the master doesn't take the jobs");
	peer_close(&peer);
}

/* Wait until the master no longer has the worker, so that its next connection is as good as its first. */
static void until_gone(void)
{
	struct msg_snapshot snapshot;
	struct peer peer;
	bool gone = false;

	if (!peer_hello(&peer))
		fail("the master is gone");
	while (!gone) {
		gone = true;
		if (!peer_query(&peer, QUERY_WORKERS, 0, "", 0, 0, &snapshot))
			fail("the master is gone");
		for (size_t i = 0; i < snapshot.workers.n; i++)
			gone &= snapshot.workers.at[i].pid == 0 || snapshot.workers.at[i].state != WORKER_UP;
	}
	peer_close(&peer);
}

/* What a round took: seconds, and processor time of the master and of this worker. */
struct cost {
	double seconds, master_ms, worker_ms;
};

static struct cost now_of(const struct bench *bench)
{
	return (struct cost){ (double)clock_mono_ns() / 1e9, used_ms(bench->master), used_ms(getpid()) };
}

static struct cost since(const struct bench *bench, struct cost from)
{
	struct cost now = now_of(bench);

	return (struct cost){ now.seconds - from.seconds, now.master_ms - from.master_ms, now.worker_ms - from.worker_ms };
}

/* From HELLO until the last result is durable. */
static struct cost run_jobs(const struct bench *bench, enum way way, unsigned long jobs)
{
	struct noop noop;
	struct cost cost;

	submit(jobs);
	cost = now_of(bench);
	noop_open(&noop, bench, way);
	while (noop.acked < jobs)
		turn(&noop);
	cost = since(bench, cost);
	noop_close(&noop);
	until_gone();
	return cost;
}

/* Output of a running job, with the window that workers have, until the master has written it. */
static struct cost send_log(const struct bench *bench, enum way way, uint64_t bytes)
{
	static uint8_t text[CHUNK];
	struct rec_output item = { .stream = 1, .wall_ms = clock_wall_ms(), .data = slice_make(text, sizeof(text)) };
	struct rec_log_bound bound = { .max = LOG_LOSSLESS };
	struct msg_output msg = { .items = { .at = &item, .n = 1 }, .bounds = { .at = &bound, .n = 1 } };
	struct noop noop;
	struct cost cost;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i % 64 == 63 ? '\n' : (uint8_t)('a' + (i * 7 + i / 64) % 26);
	submit(1);
	noop_open(&noop, bench, way);
	noop.holds = true;
	while (noop.held.job == 0)
		turn(&noop);
	item.job = bound.job = noop.held.job;
	item.epoch = bound.epoch = noop.held.epoch;
	item.run = noop.held.run;
	cost = now_of(bench);
	while (noop.credit < bytes) {
		while (item.offset < bytes && item.offset + CHUNK <= noop.credit + LIMIT_OUTPUT_WINDOW) {
			conn_send(noop.conn, OP_OUTPUT, &msg);
			item.offset += CHUNK;
		}
		turn(&noop);
	}
	cost = since(bench, cost);
	arena_reset(&noop.arena);
	report(&noop, &noop.held, 1, false, true);
	while (noop.acked < 1)
		turn(&noop);
	noop_close(&noop);
	until_gone();
	return cost;
}

/* ---- memory and handshakes ---- */

static void memory(const struct bench *bench)
{
	static const char *const names[WAYS] = { "unix_connection_memory", "tls_connection_memory" };
	struct client *clients[WAYS][CONNECTIONS];
	struct error error;

	for (int way = 0; way < WAYS; way++) {
		double before_kb = resident_kb(bench->master);

		for (int i = 0; i < CONNECTIONS; i++)
			if ((way == WAY_UNIX ? client_open(&box_place, &clients[way][i], &error) :
			     client_open_remote(bench->address, &bench->person, &clients[way][i], &error)) != ERR_NONE)
				fail(error.text);
		printf("%s %.1f kB\n", names[way], (resident_kb(bench->master) - before_kb) / CONNECTIONS);
	}
	for (int way = 0; way < WAYS; way++)
		for (int i = 0; i < CONNECTIONS; i++)
			client_close(clients[way][i]);
}

/* Complete a handshake and leave. */
static void shake_hands(const struct bench *bench)
{
	struct transport *transport = reach(bench, WAY_TLS, &bench->person);
	struct identity identity;
	uint8_t byte;

	while (transport_read(transport, &byte, 1) == -EAGAIN && transport_identity(transport, &identity) != 0) {
		struct pollfd ready = { .fd = transport->fd, .events = transport->read_want == TRANSPORT_READ ? POLLIN : POLLOUT };

		poll(&ready, 1, 1000);
	}
	transport_close(transport);
}

static void handshakes(const struct bench *bench)
{
	struct peer peer;
	struct msg_snapshot snapshot;
	double before_ms, each_ms;

	for (int i = 0; i < 50; i++)
		shake_hands(bench);
	before_ms = used_ms(bench->master);
	for (int i = 0; i < HANDSHAKES; i++)
		shake_hands(bench);
	/* Its answer comes after all that came before it. */
	if (!peer_hello(&peer) || !peer_query(&peer, QUERY_STATUS, 0, "", 0, 0, &snapshot))
		fail("the master is gone");
	each_ms = (used_ms(bench->master) - before_ms) / HANDSHAKES;
	peer_close(&peer);
	printf("tls_handshake_cpu %.3f ms\n", each_ms);
	printf("tls_handshakes %.0f /s\n", 1e3 / each_ms);
}

static int compare_cb(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare_cb);
	return values[count / 2];
}

/* Print the median of each way, and the median ratio of two neighbouring rounds. */
static void print_line(const char *name, const char *unit, double costs[WAYS][ROUNDS_MAX], int rounds)
{
	double ratios[ROUNDS_MAX];

	for (int i = 0; i < rounds; i++)
		ratios[i] = costs[WAY_TLS][i] / costs[WAY_UNIX][i];
	printf("unix_%s %.3f %s\n", name, median(costs[WAY_UNIX], rounds), unit);
	printf("tls_%s %.3f %s %.2f unix_%s\n", name, median(costs[WAY_TLS], rounds), unit, median(ratios, rounds), name);
}

/* amount: of each round, in the unit of the rate; each: the unit in which processor time is counted. */
static void print_costs(const char *what, const char *unit, const char *each, struct cost costs[WAYS][ROUNDS_MAX], int rounds,
			double amount, double counted)
{
	static double rate[WAYS][ROUNDS_MAX], master[WAYS][ROUNDS_MAX], worker[WAYS][ROUNDS_MAX];
	char name[64];

	for (int way = 0; way < WAYS; way++)
		for (int i = 0; i < rounds; i++) {
			rate[way][i] = amount / costs[way][i].seconds;
			master[way][i] = costs[way][i].master_ms / counted;
			worker[way][i] = costs[way][i].worker_ms / counted;
		}
	print_line(what, unit, rate, rounds);
	snprintf(name, sizeof(name), "%s_master_cpu", what);
	print_line(name, each, master, rounds);
	snprintf(name, sizeof(name), "%s_worker_cpu", what);
	print_line(name, each, worker, rounds);
}

int main(int argc, char **argv)
{
	int rounds = argc > 4 ? atoi(argv[4]) : 31;
	unsigned long jobs = argc > 5 ? strtoul(argv[5], NULL, 10) : 5000, mebibytes = argc > 6 ? strtoul(argv[6], NULL, 10) : 4;
	struct bench bench = { .address = argc > 1 ? argv[1] : NULL };
	static struct cost costs[WAYS][ROUNDS_MAX];
	struct client *client;
	struct error error;

	if (argc < 4 || rounds < 1 || rounds > ROUNDS_MAX || jobs == 0 || mebibytes == 0) {
		fprintf(stderr, "usage: bench_tls ADDRESS WORKER-KEY PERSON-KEY [ROUNDS [JOBS [MEBIBYTES]]]\n");
		return 2;
	}
	io_fd_count_limit();
	if (keyfile_read(argv[2], &bench.worker, &error) != ERR_NONE || keyfile_read(argv[3], &bench.person, &error) != ERR_NONE)
		fail(error.text);
	if (statedir_find(NULL, &box_place) || client_open(&box_place, &client, &error) != ERR_NONE)
		fail("no master");
	bench.master = (pid_t)client_welcome(client)->pid;
	client_close(client);
	memory(&bench);
	handshakes(&bench);
	for (int i = 0; i < rounds; i++)
		for (int way = 0; way < WAYS; way++)
			costs[way][i] = run_jobs(&bench, (enum way)way, jobs);
	print_costs("jobs", "/s", "us", costs, rounds, (double)jobs, (double)jobs / 1e3);
	for (int i = 0; i < rounds; i++)
		for (int way = 0; way < WAYS; way++)
			costs[way][i] = send_log(&bench, (enum way)way, (uint64_t)mebibytes << 20);
	print_costs("log", "MB/s", "ms", costs, rounds, (double)(mebibytes << 20) / 1e6, (double)(mebibytes << 20) / 1e6);
	return 0;
}
