/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decodes terminal input: characters, Esc, control sequences, single shifts, UTF-8. All state is in the pending bytes,
 * so a sequence may arrive in any pieces.
 */
#include "tui/input.h"

#include <string.h>

#include "base/text.h"
#include "tui/keys.h"

struct named {
	uint8_t final;
	uint32_t key;
};

static const struct named finals[] = {
	{ 'A', TUI_KEY_UP }, { 'B', TUI_KEY_DOWN }, { 'C', TUI_KEY_RIGHT }, { 'D', TUI_KEY_LEFT },
	{ 'H', TUI_KEY_HOME }, { 'F', TUI_KEY_END }, { 'M', TUI_KEY_ENTER },
};

static const struct named numbers[] = {
	{1, TUI_KEY_HOME},
	{7, TUI_KEY_HOME},
	{4, TUI_KEY_END},
	{8, TUI_KEY_END},
	{3, TUI_KEY_DELETE},
	{5, TUI_KEY_PAGE_UP},
	{6, TUI_KEY_PAGE_DOWN},
};

static void give(struct input *input, uint32_t key, input_key_cb *key_cb, void *owner)
{
	if (key != 0)
		key_cb(input->pasting ? key | TUI_KEY_PASTED : key, owner);
}

static uint32_t find(const struct named *table, size_t count, unsigned code)
{
	for (size_t i = 0; i < count; i++)
		if (table[i].final == code)
			return table[i].key;
	return 0;
}

/* Handle ESC [ parameters final. The first number and the final byte decide which key it is; modifiers are ignored. */
static void control_sequence(struct input *input, input_key_cb *key_cb, void *owner)
{
	uint8_t final = input->pending[input->len - 1];
	unsigned number = 0;

	for (size_t i = 2; i < input->len - 1 && input->pending[i] >= '0' && input->pending[i] <= '9'; i++)
		number = number > 9999 ? number : number * 10 + (unsigned)(input->pending[i] - '0');
	if (final != '~') {
		if (final != 'M')
			give(input, find(finals, sizeof finals / sizeof finals[0], final), key_cb, owner);
	} else if (number == 200) {
		input->pasting = true;
	} else if (number == 201) {
		input->pasting = false;
	} else {
		give(input, find(numbers, sizeof numbers / sizeof numbers[0], number), key_cb, owner);
	}
}

static bool character(struct input *input, input_key_cb *key_cb, void *owner);

/* The pending bytes are no sequence: the person pressed Esc and then these keys. */
static void separate_keys(struct input *input, input_key_cb *key_cb, void *owner)
{
	give(input, TUI_KEY_ESCAPE, key_cb, owner);
	for (size_t i = 1; i < input->len; i++)
		give(input, input->pending[i], key_cb, owner);
}

/*
 * Do terminals send ESC [ or ESC O and this final byte, without parameters? Some of these keys have no meaning here: function
 * keys, Shift-Tab, the keypad, and reports that the window gained or lost the focus.
 */
static bool sequence_is_known(uint8_t kind, uint8_t final)
{
	const char *known = kind == '[' ? "ABCDEFGHIMOPQRSZ" : "ABCDEFHIMPQRSX jklmnopqrstuvwxy";

	return strchr(known, final) != NULL;
}

/* Handle a sequence after ESC. True if the pending bytes are complete: they were used or dropped. */
static bool escape(struct input *input, input_key_cb *key_cb, void *owner)
{
	uint8_t kind = input->len > 1 ? input->pending[1] : 0;
	uint8_t last = input->pending[input->len - 1];

	if (input->len == 1)
		return false;
	if (last == 0x1b) {
		/* The first ESC was a key, or began an incomplete sequence; this ESC begins a new one. */
		if (input->len == 2)
			give(input, TUI_KEY_ESCAPE, key_cb, owner);
		input->skipping = false;
		input->len = 1;
		return false;
	}
	if (kind == '[' || kind == 'O') {
		if (input->len == 2)
			return false;
		if (last >= 0x40 && last <= 0x7e) {
			if (!input->skipping && input->len == 3 && !sequence_is_known(kind, last))
				separate_keys(input, key_cb, owner);
			else if (!input->skipping && kind == '[')
				control_sequence(input, key_cb, owner);
			else if (!input->skipping && input->len == 3)
				give(input, find(finals, sizeof finals / sizeof finals[0], last), key_cb,
					owner);
			return true;
		}
		return last < 0x20 || last > 0x7e;
	}
	/* Esc and another key arrived together. Alt and a key look the same; no key with Alt is bound. */
	give(input, TUI_KEY_ESCAPE, key_cb, owner);
	input->pending[0] = last;
	input->len = 1;
	return character(input, key_cb, owner);
}

static bool character(struct input *input, input_key_cb *key_cb, void *owner)
{
	uint8_t first = input->pending[0];
	size_t need = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
	uint8_t last = input->pending[input->len - 1];
	uint32_t code;
	int width;

	if (input->len > 1 && (last < 0x80 || last > 0xbf)) {
		/* A byte that doesn't continue the character begins a new one. */
		input->pending[0] = last;
		input->len = 1;
		return last != 0x1b && character(input, key_cb, owner);
	}
	if (input->len < need)
		return false;
	if (first == 0x0a)
		code = TUI_KEY_ENTER;
	else if (first == 0x08)
		code = TUI_KEY_BACKSPACE;
	else if (need == 1)
		code = first < 0x80 ? first : 0;
	else if (text_next(slice_make(input->pending, input->len), &code, &width) != need)
		code = 0;
	give(input, code, key_cb, owner);
	return true;
}

void input_feed(struct input *input, const void *data, size_t len, input_key_cb *key_cb, void *owner)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < len; i++) {
		if (input->len == INPUT_SEQUENCE_MAX) {
			input->skipping = true;
			input->len = 2;          /* keep ESC [ and continue to look for the sequence's end */
		}
		input->pending[input->len++] = bytes[i];
		if (input->pending[0] == 0x1b ? escape(input, key_cb, owner)
					      : character(input, key_cb, owner)) {
			input->len = 0;
			input->skipping = false;
		}
	}
}

bool input_waits(const struct input *input)
{
	return input->len > 0;
}

void input_expire(struct input *input, input_key_cb *key_cb, void *owner)
{
	bool lone = input->len == 1 && input->pending[0] == 0x1b;
	bool keys = input->len == 2 && input->pending[0] == 0x1b && !input->skipping && !input->pasting;

	if (keys)
		separate_keys(input, key_cb, owner);
	input->len = 0;
	input->skipping = false;
	input->pasting =
		input->pasting && !lone; /* a paste whose end was lost must not swallow keys for ever */
	if (lone)
		give(input, TUI_KEY_ESCAPE, key_cb, owner);
}
