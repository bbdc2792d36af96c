/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys as text and in files, and addresses as people write them. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "greatest.h"
#include "net/dial.h"
#include "net/keyfile.h"
#include "scratch.h"

#define HEX "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

TEST key_is_read_as_it_was_written(void)
{
	struct key made, read;
	struct buf text = { 0 };
	struct error error;

	for (int worker = 0; worker < 2; worker++) {
		key_make(&made, worker ? KEY_WORKER : KEY_PERSON, "db1");
		buf_clear(&text);
		key_write(&made, &text);
		ASSERT_EQ(ERR_NONE, key_parse(buf_slice(&text), "a test", &read, &error));
		ASSERT_STR_EQ(made.identity, read.identity);
		ASSERT_MEM_EQ(made.secret, read.secret, TLS_KEY_SIZE);
		ASSERT_EQ(worker, key_is_worker(&read));
		ASSERT_EQ(0, strncmp(key_id(&read), "db1.", 4));
	}
	buf_free(&text);
	PASS();
}

TEST text_that_is_no_key_is_refused(void)
{
	const char *bad[] = { "", "t1", "t1:", "t1::" HEX, "t1:a:" HEX "0", "t1:a:0" HEX, "t2:a:" HEX, "x1:a:" HEX, "t1:a b:" HEX,
			      "t1:a:" "zz" HEX, "t1:a", "hello\n", "t1:a:AA112233445566778899aabbccddeeff00112233445566778899aabbccddeeff" };
	struct error error;
	struct key key;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ASSERT_EQ_FMTm(bad[i], (int)ERR_INVALID, (int)key_parse(slice_str(bad[i]), "a test", &key, &error), "%d");
	ASSERT_EQ(ERR_NONE, key_parse(slice_str("t1:a:" HEX "\n"), "a test", &key, &error));
	PASS();
}

TEST key_file_that_others_may_read_is_refused(void)
{
	char dir[SCRATCH_SIZE], path[SCRATCH_SIZE + 8];
	struct error error;
	struct key key, read;

	scratch_new("key", dir);
	snprintf(path, sizeof(path), "%s/key", dir);
	key_make(&key, KEY_PERSON, "anna");
	ASSERT_EQ(ERR_NONE, keyfile_write(path, &key, &error));
	ASSERT(keyfile_write(path, &key, &error) != ERR_NONE);   /* a key isn't written over an existing file */
	ASSERT_EQ(ERR_NONE, keyfile_read(path, &read, &error));
	chmod(path, 0604);
	ASSERT_EQ(ERR_DENIED, keyfile_read(path, &read, &error));
	unlink(path);
	ASSERT(keyfile_read(path, &read, &error) != ERR_NONE);
	ASSERT(keyfile_read(dir, &read, &error) != ERR_NONE);
	PASS();
}

TEST addresses_are_checked_as_written(void)
{
	const char *good[] = { "db1", "db1:7484", "10.0.0.1", "10.0.0.1:1", "[::1]", "[::1]:65535", "::1", ":7484", "a-b.c_d:0" };
	const char *bad[] = { "", "db1:", "db1:65536", "db1:x", "[::1", "[::1]x", "-oProxyCommand=x", "a b", "a;b:1", "db1:-1" };
	struct error error;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ASSERT_EQ_FMTm(good[i], (int)ERR_NONE, (int)address_check(good[i], &error), "%d");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ASSERT_EQ_FMTm(bad[i], (int)ERR_USAGE, (int)address_check(bad[i], &error), "%d");
	PASS();
}

TEST dial_reaches_what_listens_and_says_what_does_not(void)
{
	char bound[ADDRESS_MAX], again[ADDRESS_MAX];
	struct error error;
	int listening, fd, other;

	ASSERT_EQ(ERR_NONE, listen_at("127.0.0.1:0", &listening, bound, &error));
	ASSERT_EQ(0, strncmp(bound, "127.0.0.1:", 10));
	ASSERT_EQ(ERR_NONE, dial(bound, clock_mono_ns() + 20 * NS_PER_S, &fd, &error));
	close(fd);
	ASSERT_EQ(ERR_NONE, dial_start(bound, 3, &fd, &error));
	close(fd);
	ASSERT_EQ(ERR_SYSTEM, listen_at(bound, &other, again, &error));
	close(listening);
	ASSERT_EQ(ERR_UNREACHABLE, dial(bound, clock_mono_ns() + 20 * NS_PER_S, &fd, &error));
	PASS();
}

static int tcp_option(int fd, int option)
{
	int value = -1;
	socklen_t len = sizeof(value);

	getsockopt(fd, IPPROTO_TCP, option, &value, &len);
	return value;
}

TEST a_silent_peer_is_noticed_within_the_span(void)
{
	/* Spans in seconds, and the most that may pass: at least 4, and a minute at most, so that NATs keep the connection. */
	const int64_t spans[][2] = { { 0, 4 }, { 1, 4 }, { 4, 4 }, { 5, 5 }, { 20, 20 }, { 60, 60 }, { 86400, 60 } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		int idle, notice;

		tcp_watch_silence(fd, spans[i][0] * 1000);
		idle = tcp_option(fd, TCP_KEEPIDLE);
		notice = idle + tcp_option(fd, TCP_KEEPCNT) * tcp_option(fd, TCP_KEEPINTVL);
		ASSERT(notice <= spans[i][1] && idle >= 1 && idle <= 30);
	}
	tcp_limit_unanswered(fd, 1500);
	ASSERT_EQ(1500, tcp_option(fd, TCP_USER_TIMEOUT));
	tcp_limit_unanswered(fd, 0);
	ASSERT_EQ(0, tcp_option(fd, TCP_USER_TIMEOUT));
	close(fd);
	PASS();
}

SUITE(net_keyfile)
{
	RUN_TEST(key_is_read_as_it_was_written);
	RUN_TEST(text_that_is_no_key_is_refused);
	RUN_TEST(key_file_that_others_may_read_is_refused);
	RUN_TEST(addresses_are_checked_as_written);
	RUN_TEST(dial_reaches_what_listens_and_says_what_does_not);
	RUN_TEST(a_silent_peer_is_noticed_within_the_span);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(net_keyfile);
	GREATEST_MAIN_END();
}
