/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes from a terminal, through the decoder of keys: whole, and byte by byte with pauses. The same bytes give the same
 * keys in any pieces, and after a pause a plain key is that key.
 */
#include "base/check.h"
#include "tui/input.h"
#include "tui/keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sum {
	uint64_t hash;
	size_t count;
	uint32_t last;
};

static void note_cb(uint32_t key, void *owner)
{
	struct sum *sum = owner;

	CHECK((key & ~(uint32_t)TUI_KEY_PASTED) <= TUI_KEY_DELETE && key != 0);
	sum->hash = sum->hash * 31 + key;
	sum->count++;
	sum->last = key;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input whole = { 0 }, pieces = { 0 };
	struct sum one = { 0 }, two = { 0 };

	input_feed(&whole, data, size, note_cb, &one);
	for (size_t i = 0; i < size; i++)
		input_feed(&pieces, data + i, 1, note_cb, &two);
	CHECK(one.hash == two.hash && one.count == two.count && one.count <= size);
	CHECK(whole.len <= INPUT_SEQUENCE_MAX);
	input_feed(&whole, "\x1b", 1, note_cb, &one);
	input_expire(&whole, note_cb, &one);
	input_feed(&whole, "j", 1, note_cb, &one);
	CHECK(one.last == 'j' || one.last == ('j' | TUI_KEY_PASTED));
	return 0;
}
