/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns the bytes of a terminal into keys. All bytes are accepted: at most the longest sequence is kept. ESC and a byte with
 * which no sequence begins are two keys, also when they arrive together. An ESC with no byte after it for INPUT_ESCAPE_MS is the Esc key: the owner calls
 * input_waits and input_expire for that.
 */
#ifndef TITAN_TUI_INPUT_H
#define TITAN_TUI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INPUT_ESCAPE_MS 25
#define INPUT_SEQUENCE_MAX 32

struct input {                           /* state of the decoder; all zeros: nothing is pending */
	uint8_t pending[INPUT_SEQUENCE_MAX];
	size_t len;
	bool skipping;                   /* the decoder drops the rest of a sequence that is too long */
	bool pasting;
};

typedef void input_key_cb(uint32_t key, void *owner);

void input_feed(struct input *input, const void *data, size_t len, input_key_cb *key_cb, void *owner);
bool input_waits(const struct input *input);             /* is an incomplete sequence pending? */
void input_expire(struct input *input, input_key_cb *key_cb, void *owner);

#endif
