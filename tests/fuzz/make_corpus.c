/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Seeds for fuzz_frame, from messages.def, and for fuzz_handshake.
 *   make_corpus frames DIR    files in DIR: a frame of every message, every record on its own, malformed ones
 *   make_corpus handshakes DIR    files in DIR: the first words of clients
 *   make_corpus dictionary    libFuzzer's dictionary, to stdout
 */
#include <fcntl.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/io.h"
#include "net/transport_tls.h"
#include "proto/frame.h"
#include "../unit/message_random.h"

static int write_seed(const char *dir, const char *prefix, const char *name, const struct buf *bytes)
{
	struct buf path = { 0 };
	int result;

	buf_addf(&path, "%s/%s%s", dir, prefix, name);
	result = io_write_file(AT_FDCWD, buf_cstr(&path), bytes->data, bytes->len, 0644);
	if (result < 0)
		fprintf(stderr, "make_corpus: %s: %s\n", buf_cstr(&path), strerror(-result));
	buf_free(&path);
	return result;
}

/* Bodies that the guard and the decoder refuse, each for a reason of its own; behind the header of OK. */
static const struct {
	const char *name;
	const char *body;
	size_t len;
} malformed[] = {
#define BODY(name, text) { name, text, sizeof(text) - 1 }
	BODY("huge-list", "\x81\x01\xdd\xff\xff\xff\xff\xc0"),
	BODY("huge-map", "\xdf\x80\0\0\0\xc0"),
	BODY("huge-bytes", "\x81\x01\xc6\xff\xff\xff\xff\xc0"),
	BODY("deep", "\x81\x01\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\xc0"),
	BODY("ext", "\x81\x01\xd4\x01\x02"),
	BODY("key-twice", "\x82\x01\x05\x01\x06"),
	BODY("missing-id", "\x81\x02\x05"),
	BODY("negative-id", "\x81\x01\xff"),
	BODY("odd-keys", "\x84\x01\x05\xa1k\xc0\xca\0\0\0\0\x91\xc3\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x80"),
	BODY("trailing", "\x81\x01\x05\x80"),
	BODY("no-map", "\x91\x05"),
	BODY("empty", ""),
#undef BODY
};

static int write_malformed(const char *dir)
{
	struct buf out = { 0 };
	int result = 0;

	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		uint8_t header[FRAME_HEADER_SIZE];

		frame_header(header, OP_OK, (uint32_t)malformed[i].len);
		buf_clear(&out);
		buf_add(&out, header, sizeof(header));
		buf_add(&out, malformed[i].body, malformed[i].len);
		result |= write_seed(dir, "bad-", malformed[i].name, &out);
	}
	buf_free(&out);
	return result;
}

static int write_frames(const char *dir)
{
	struct random_messages random = { .list_max = 2 };
	alignas(max_align_t) uint8_t value[MESSAGE_STRUCT_MAX];
	struct buf out = { 0 };
	int result = 0;

	rand_seed(&random.rand, 2026);
	for (unsigned op = 0; op < OP_LIMIT; op++) {
		if (!message_shape(op))
			continue;
		buf_clear(&out);
		random_shape(&random, message_shape(op), value);
		message_encode(&out, (enum opcode)op, value);
		result |= write_seed(dir, "", message_shape(op)->name, &out);
	}
	for (unsigned kind = 0; kind < REC_COUNT; kind++) {
		buf_clear(&out);
		random_shape(&random, record_shape((enum record_kind)kind), value);
		record_encode(&out, (enum record_kind)kind, value);
		result |= write_seed(dir, "record-", record_shape((enum record_kind)kind)->name, &out);
	}
	buf_free(&out);
	arena_free(&random.arena);
	return result | write_malformed(dir);
}

/* The header of each message, and the bytes with which fields of each kind begin. */
static void print_dictionary(void)
{
	static const char *const forms[] = {
		"\\x80", "\\x90", "\\xa0", "\\xc0", "\\xc2", "\\xc3", "\\xc4\\x01", "\\xc5\\x00\\x01",
		"\\xc6\\x00\\x00\\x00\\x01", "\\xcc\\xff", "\\xcd\\xff\\xff", "\\xce\\xff\\xff\\xff\\xff",
		"\\xcf\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff", "\\xd0\\x80",
		"\\xd3\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x00",
		"\\xd9\\x01", "\\xda\\x00\\x01", "\\xdb\\x00\\x00\\x00\\x01", "\\xdc\\x00\\x01",
		"\\xdd\\x00\\x00\\x00\\x01", "\\xde\\x00\\x01",
		"\\xdf\\x00\\x00\\x00\\x01", "\\xdd\\xff\\xff\\xff\\xff",
	};

	for (unsigned op = 0; op < OP_LIMIT; op++) {
		const struct shape *shape = message_shape(op);

		if (!shape)
			continue;
		printf("%s=\"\\x%02x\\x%02x\\x00\\x00\"\n", shape->name, FRAME_FORMAT, op);
		for (size_t i = 0; i < shape->field_count; i++)
			printf("%s_%s=\"\\x%02x\"\n", shape->name, shape->fields[i].name, shape->fields[i].key);
	}
	for (unsigned kind = 0; kind < REC_COUNT; kind++) {
		const struct shape *shape = record_shape((enum record_kind)kind);

		printf("%s=\"\\x%02x\"\n", shape->name,
		       (unsigned)((shape->array ? 0x90 : 0x80) | (shape->field_count & 0x0f)));
	}
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		printf("form_%zu=\"%s\"\n", i, forms[i]);
}

/* The first words of a client with the key that fuzz_handshake knows, and of one with a key that it doesn't. */
static int write_handshakes(const char *dir)
{
	static const char *const identities[] = { "t1:known", "w1:unknown" };
	uint8_t key[TLS_KEY_SIZE], byte;
	int result = 0;

	memset(key, 'k', sizeof(key));
	for (size_t i = 0; i < sizeof(identities) / sizeof(identities[0]); i++) {
		struct transport *transport;
		struct buf said = { 0 };
		struct error error;
		ssize_t got;
		int fds[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0 ||
		    transport_tls_connect(fds[0], identities[i], key, &transport, &error) != ERR_NONE)
			return -1;
		(void)transport_read(transport, &byte, 1);
		got = recv(fds[1], buf_reserve(&said, 4096), 4096, MSG_DONTWAIT);
		said.len = got > 0 ? (size_t)got : 0;
		result |= write_seed(dir, "hello-", identities[i] + 3, &said);
		if (i == 0) {
			said.data[said.len - 1] ^= 1;
			result |= write_seed(dir, "hello-", "wrong-secret", &said);
			said.len /= 2;
			result |= write_seed(dir, "hello-", "half", &said);
		}
		buf_free(&said);
		transport_close(transport);
		close(fds[1]);
	}
	return result;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "frames") == 0)
		return write_frames(argv[2]) == 0 ? 0 : 1;
	if (argc == 3 && strcmp(argv[1], "handshakes") == 0)
		return write_handshakes(argv[2]) == 0 ? 0 : 1;
	if (argc == 2 && strcmp(argv[1], "dictionary") == 0) {
		print_dictionary();
		return 0;
	}
	fprintf(stderr, "usage: make_corpus frames DIR | make_corpus handshakes DIR | make_corpus dictionary\n");
	return 2;
}
