/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text of a key, as a person pastes it or a file holds it. What is a key is written as it was read, and its identity is
 * one that the handshake takes.
 */
#include <string.h>

#include "base/check.h"
#include "net/keyfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { .code = ERR_NONE };
	struct buf text = { 0 };
	struct key key, again;

	if (key_parse(slice_make(data, size), "a test", &key, &error) != ERR_NONE) {
		CHECK(error.code != ERR_NONE && error.text[0] != '\0');
		return 0;
	}
	CHECK(key.identity[0] == (key_is_worker(&key) ? 'w' : 't') && strncmp(key.identity + 1, "1:", 2) == 0);
	for (const char *at = key.identity; *at; at++)
		CHECK(*at > ' ' && *at <= '~');
	key_write(&key, &text);
	CHECK(key_parse(buf_slice(&text), "a test", &again, &error) == ERR_NONE);
	CHECK(strcmp(key.identity, again.identity) == 0 && memcmp(key.secret, again.secret, TLS_KEY_SIZE) == 0);
	buf_free(&text);
	return 0;
}
