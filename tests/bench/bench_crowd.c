/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Submits to a master one by one, first alone and then beside a crowd: many clients that are connected and idle, and strangers
 * who come all the time with nonsense, foreign protocols, wrong keys, and nonsense after a right handshake. Prints lines
 * "name value unit". The submitted job never runs, so the cluster should have no worker.
 *
 * usage: bench_crowd ADDRESS KEYFILE IDLE SECONDS     the cluster is that of TITAN_STATE; the key is a person's
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/rand.h"
#include "net/client.h"
#include "net/dial.h"
#include "net/keyfile.h"
#include "proto/frame.h"

#define CROWD_PROCESSES 8                /* processes that connect idle clients at the same time */
#define STRANGERS_MUTE 64                /* strangers who say nothing at all, at the same time */
#define STRANGER_GAP_NS (4 * NS_PER_MS)  /* time between strangers who say something */
#define SUBMIT_GAP_NS   (2 * NS_PER_MS)
#define SUBMITS_MAX     100000

static const char *address;
static struct key key;
static SSL_CTX *context;
static struct error error;

static void fail(const char *what)
{
	fprintf(stderr, "bench_crowd: %s\n", what);
	exit(1);
}

static void pause_ns(int64_t span_ns)
{
	const struct timespec span = { .tv_sec = span_ns / NS_PER_S, .tv_nsec = span_ns % NS_PER_S };

	nanosleep(&span, NULL);
}

/* ---- the crowd ---- */

static int use_session_cb(SSL *ssl, const EVP_MD *digest, const unsigned char **ret_identity, size_t *ret_len,
			  SSL_SESSION **ret_session)
{
	static const uint8_t aes_128_gcm_sha256[] = { 0x13, 0x01 };
	const uint8_t *secret = SSL_get_app_data(ssl);
	SSL_SESSION *session = SSL_SESSION_new();

	(void)digest;
	if (!session || !SSL_SESSION_set1_master_key(session, secret, TLS_KEY_SIZE) ||
	    !SSL_SESSION_set_cipher(session, SSL_CIPHER_find(ssl, aes_128_gcm_sha256)) ||
	    !SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION))
		return 0;
	*ret_identity = (const unsigned char *)key.identity;
	*ret_len = strlen(key.identity);
	*ret_session = session;
	return 1;
}

static int reach(void)
{
	const struct timeval patience = { .tv_sec = 30 };
	int fd;

	if (dial(address, clock_mono_ns() + 30 * NS_PER_S, &fd, &error) != ERR_NONE)
		return -1;
	fcntl(fd, F_SETFL, 0);           /* blocking */
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

/* A handshake with this secret; NULL: it was refused. */
static SSL *shake_hands(int fd, const uint8_t *secret)
{
	SSL *ssl = SSL_new(context);

	SSL_set_fd(ssl, fd);
	SSL_set_app_data(ssl, (void *)(uintptr_t)secret);
	if (SSL_connect(ssl) == 1)
		return ssl;
	SSL_free(ssl);
	return NULL;
}

/* Say HELLO and read the start of the answer; false: there was none. */
static bool greet(SSL *ssl)
{
	const struct msg_hello hello = { .version = PROTOCOL_VERSION, .kind = PEER_CLIENT };
	struct buf frame = { 0 };
	char answer[4096];
	bool good;

	message_encode(&frame, OP_HELLO, &hello);
	good = SSL_write(ssl, frame.data, (int)frame.len) > 0 && SSL_read(ssl, answer, sizeof(answer)) > 1 && answer[1] == OP_WELCOME;
	buf_free(&frame);
	return good;
}

/* A client that is connected and says no more. What OpenSSL keeps of it is freed: only the master's side matters. */
static bool join_idle(void)
{
	int fd = reach();
	SSL *ssl = fd < 0 ? NULL : shake_hands(fd, key.secret);
	bool good = ssl && greet(ssl);

	SSL_free(ssl);
	if (!good && fd >= 0)
		close(fd);
	return good;
}

enum stranger { RANDOM, HTTP, SSH, TLS_1_2, HALF_A_HELLO, WRONG_KEY, NONSENSE_AFTER_HANDSHAKE, NONSENSE_AFTER_HELLO, STRANGERS };

static void visit(enum stranger kind)
{
	static const char http[] = "GET / HTTP/1.1\r\nHost: titan\r\n\r\n", ssh[] = "SSH-2.0-OpenSSH_9.2\r\n";
	static const uint8_t tls_1_2[] = "\x16\x03\x01\x00\x2f\x01\x00\x00\x2b\x03\x03"
					 "01234567890123456789012345678901\x00\x00\x04\xc0\x2f\x00\xff\x01\x00";
	static const uint8_t half[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" "0123456789";
	uint8_t noise[512], wrong[TLS_KEY_SIZE];
	const struct { const void *bytes; size_t len; } said[] = {
		[RANDOM] = { noise, sizeof(noise) }, [HTTP] = { http, sizeof(http) - 1 }, [SSH] = { ssh, sizeof(ssh) - 1 },
		[TLS_1_2] = { tls_1_2, sizeof(tls_1_2) - 1 }, [HALF_A_HELLO] = { half, sizeof(half) - 1 },
	};
	int fd = reach();
	SSL *ssl = NULL;

	if (fd < 0)
		return;
	rand_system(noise, sizeof(noise));
	rand_system(wrong, sizeof(wrong));
	if (kind <= HALF_A_HELLO) {
		if (send(fd, said[kind].bytes, said[kind].len, MSG_NOSIGNAL) > 0 && kind != HALF_A_HELLO)
			recv(fd, noise, sizeof(noise), MSG_DONTWAIT);
	} else {
		ssl = shake_hands(fd, kind == WRONG_KEY ? wrong : key.secret);
		if (ssl && (kind == NONSENSE_AFTER_HANDSHAKE || greet(ssl)))
			SSL_write(ssl, noise, sizeof(noise));
	}
	SSL_free(ssl);
	close(fd);
}

/* Clients that are connected and idle. Never returns. */
static void be_idle(unsigned count, int ready_fd)
{
	int joined = 0;

	for (unsigned i = 0; i < count; i++)
		joined += join_idle();
	if (write(ready_fd, &joined, sizeof(joined)) < 0)
		exit(1);
	for (;;)
		pause();
}

/* Never returns. The mute ones come again in turn: the master closes them after some seconds. */
static void be_strangers(void)
{
	int mute[STRANGERS_MUTE];

	for (unsigned i = 0; i < STRANGERS_MUTE; i++)
		mute[i] = reach();
	for (unsigned turn = 0;; turn++) {
		unsigned at = turn % STRANGERS_MUTE;

		visit((enum stranger)(turn % STRANGERS));
		if (turn % 16 == 0) {
			if (mute[at] >= 0)
				close(mute[at]);
			mute[at] = reach();
		}
		pause_ns(STRANGER_GAP_NS);
	}
}

/* Start the processes of the idle clients, and wait until all of these have tried; how many are connected. */
static int gather_crowd(unsigned idle, pid_t *crowd)
{
	int ready[2], joined, held = 0;

	if (pipe(ready) < 0)
		fail(strerror(errno));
	for (unsigned i = 0; i < CROWD_PROCESSES; i++) {
		crowd[i] = fork();
		if (crowd[i] < 0)
			fail(strerror(errno));
		if (crowd[i] == 0)
			be_idle(idle / CROWD_PROCESSES + (i < idle % CROWD_PROCESSES), ready[1]);
	}
	close(ready[1]);
	for (int i = 0; i < CROWD_PROCESSES && read(ready[0], &joined, sizeof(joined)) == sizeof(joined); i++)
		held += joined;
	close(ready[0]);
	return held;
}

static pid_t start_strangers(void)
{
	pid_t strangers = fork();

	if (strangers < 0)
		fail(strerror(errno));
	if (strangers == 0)
		be_strangers();
	return strangers;
}

static void start_context(void)
{
	context = SSL_CTX_new(TLS_client_method());
	if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) ||
	    !SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") || !SSL_CTX_set1_groups_list(context, "X25519"))
		fail("OpenSSL can't do TLS 1.3");
	SSL_CTX_set_psk_use_session_callback(context, use_session_cb);
}

/* ---- the measurement ---- */

static int by_length(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Submit one job after the other; how long the longest but one in a hundred took. */
static int64_t submit_p99(struct client *client, double seconds)
{
	static int64_t took_ns[SUBMITS_MAX];
	struct rec_job_spec job = { .name = slice_str("a"), .script = slice_str("true") };
	int64_t from = clock_mono_ns();
	size_t count = 0;

	while ((double)(clock_mono_ns() - from) < seconds * 1e9 && count < SUBMITS_MAX) {
		struct msg_submit submit = { .id = client_next_id(client), .name = slice_str("crowd"), .count = 1 };
		struct buf jobs = { 0 };
		struct incoming frame;
		uint8_t once[16];
		int64_t began_ns = clock_mono_ns();

		rand_system(once, sizeof(once));
		submit.key = slice_make(once, sizeof(once));
		record_encode(&jobs, REC_job_spec, &job);
		submit.jobs = buf_slice(&jobs);
		if (client_send(client, OP_SUBMIT, &submit, &error) || client_receive(client, 60000, &frame, &error))
			fail(error.text);
		if (frame.op != OP_ACCEPTED)
			fail("a submit was refused");
		took_ns[count++] = clock_mono_ns() - began_ns;
		buf_free(&jobs);
		pause_ns(SUBMIT_GAP_NS);
	}
	qsort(took_ns, count, sizeof(took_ns[0]), by_length);
	return took_ns[count * 99 / 100];
}

static long memory_kib(uint64_t pid)
{
	char path[64], line[256];
	long kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%llu/status", (unsigned long long)pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

int main(int argc, char **argv)
{
	struct statedir statedir;
	struct client *client = NULL;
	int64_t quiet_ns, crowd_ns;
	long before_kib;
	int held;
	pid_t crowd[CROWD_PROCESSES + 1];
	unsigned idle;
	double seconds;

	if (argc != 5 || (idle = (unsigned)atoi(argv[3])) == 0 || (seconds = atof(argv[4])) <= 0.) {
		fprintf(stderr, "usage: bench_crowd ADDRESS KEYFILE IDLE SECONDS\n");
		return 2;
	}
	address = argv[1];
	signal(SIGPIPE, SIG_IGN);
	io_fd_count_limit();
	if (keyfile_read(argv[2], &key, &error) || statedir_find(NULL, &statedir) || client_open(&statedir, &client, &error))
		fail(error.text);
	start_context();
	submit_p99(client, seconds / 4);
	quiet_ns = submit_p99(client, seconds);
	before_kib = memory_kib(client_welcome(client)->pid);
	held = gather_crowd(idle, crowd);
	printf("crowd_held %d connections\n", held);
	printf("crowd_memory %ld B/connection\n", held > 0 ? (memory_kib(client_welcome(client)->pid) - before_kib) * 1024 / held : 0);
	crowd[CROWD_PROCESSES] = start_strangers();
	crowd_ns = submit_p99(client, seconds);
	printf("submit_p99_quiet %.3f ms\nsubmit_p99_crowd %.3f ms\n", (double)quiet_ns / 1e6, (double)crowd_ns / 1e6);
	for (int i = 0; i <= CROWD_PROCESSES; i++) {
		kill(crowd[i], SIGKILL);
		waitpid(crowd[i], NULL, 0);
	}
	client_close(client);
	return held == (int)idle ? 0 : 1;
}
