/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes of a terminal into keys. Any bytes are fine: what isn't understood is dropped, nothing is kept
 * for longer than the longest sequence. An ESC that is followed by nothing for INPUT_ESCAPE_MS is the
 * key Esc; the owner asks input_waits and calls input_expire.
 */
#ifndef TITAN_TUI_INPUT_H
#define TITAN_TUI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INPUT_ESCAPE_MS 25
#define INPUT_SEQUENCE_MAX 32

struct input {                           /* zeroed: nothing pending */
	uint8_t pending[INPUT_SEQUENCE_MAX];
	size_t len;
	bool skipping;                   /* in a sequence too long to be one of ours */
	bool pasting;
};

typedef void input_key_cb(uint32_t key, void *owner);

void input_feed(struct input *input, const void *data, size_t len, input_key_cb *key_cb, void *owner);
bool input_waits(const struct input *input);             /* something incomplete is pending */
void input_expire(struct input *input, input_key_cb *key_cb, void *owner);

#endif
