/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Terminal input to keys: every sequence, split in every way, and storms of random bytes. */
#include "base/rand.h"
#include "greatest.h"
#include "tui/input.h"
#include "tui/keys.h"

GREATEST_MAIN_DEFS();

struct keys {
	uint32_t at[64];
	size_t count;
};

static void note_cb(uint32_t key, void *owner)
{
	struct keys *keys = owner;

	if (keys->count < 64)
		keys->at[keys->count] = key;
	keys->count++;
}

static const struct sequence {
	const char *bytes;
	uint32_t keys[5];
} sequences[] = {
	{ "a", { 'a' } },
	{ "\x1b[A", { TUI_KEY_UP } },
	{ "\x1bOB", { TUI_KEY_DOWN } },
	{ "\x1b[1;5C", { TUI_KEY_RIGHT } },
	{ "\x1b[H\x1b[F", { TUI_KEY_HOME, TUI_KEY_END } },
	{ "\x1b[1~\x1b[8~", { TUI_KEY_HOME, TUI_KEY_END } },
	{ "\x1b[5~\x1b[6~", { TUI_KEY_PAGE_UP, TUI_KEY_PAGE_DOWN } },
	{ "\r\n", { TUI_KEY_ENTER, TUI_KEY_ENTER } },
	{ "\x7f\b", { TUI_KEY_BACKSPACE, TUI_KEY_BACKSPACE } },
	{ "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", { 0xe9, 0x4e2d, 0x1f600 } },
	{ "\x1b[200~cy\x1b[201~q", { 'c' | TUI_KEY_PASTED, 'y' | TUI_KEY_PASTED, 'q' } },
	{ "\x1b[999;999Rz", { 'z' } },
	{ "\x1bxz", { TUI_KEY_ESCAPE, 'x', 'z' } },
	{ "\x1bq", { TUI_KEY_ESCAPE, 'q' } },
	{ "\x1b\x1b\x1bj", { TUI_KEY_ESCAPE, TUI_KEY_ESCAPE, TUI_KEY_ESCAPE, 'j' } },
	{ "\x1b\r\x1b\xc3\xa9", { TUI_KEY_ESCAPE, TUI_KEY_ENTER, TUI_KEY_ESCAPE, 0xe9 } },
	{ "\x1b[j\x1b[Z", { TUI_KEY_ESCAPE, '[', 'j' } },
	{ "\x1bOz\x1bOP", { TUI_KEY_ESCAPE, 'O', 'z' } },
	{ "\xffz\xc3z", { 'z', 'z' } },
	{ "\x1b[1234567890123456789012345678901234567890Az", { 'z' } },
	{ "\x1b[\x1b[A", { TUI_KEY_UP } },
	{ "\x1b\x1b[A", { TUI_KEY_ESCAPE, TUI_KEY_UP } },
	{ "\xe4\x1b[B", { TUI_KEY_DOWN } },
};

static bool gives(const struct sequence *sequence, const struct keys *keys)
{
	size_t count = 0;

	while (count < 5 && sequence->keys[count])
		count++;
	return keys->count == count && memcmp(keys->at, sequence->keys, count * sizeof keys->at[0]) == 0;
}

TEST every_split(void)
{
	for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
		const char *bytes = sequences[i].bytes;
		size_t len = strlen(bytes);

		for (size_t a = 0; a <= len; a++) {
			for (size_t b = a; b <= len; b++) {
				struct input input = { 0 };
				struct keys keys = { 0 };

				input_feed(&input, bytes, a, note_cb, &keys);
				input_feed(&input, bytes + a, b - a, note_cb, &keys);
				input_feed(&input, bytes + b, len - b, note_cb, &keys);
				ASSERTm(bytes, gives(&sequences[i], &keys));
				ASSERT_FALSE(input_waits(&input));
			}
		}
	}
	PASS();
}

TEST lone_escape(void)
{
	struct input input = { 0 };
	struct keys keys = { 0 };

	input_feed(&input, "\x1b", 1, note_cb, &keys);
	ASSERT_EQ(0, keys.count);
	ASSERT(input_waits(&input));
	input_expire(&input, note_cb, &keys);
	ASSERT_EQ(1, keys.count);
	ASSERT_EQ(TUI_KEY_ESCAPE, keys.at[0]);
	ASSERT_FALSE(input_waits(&input));
	/* So are Esc and a key with which sequences begin. */
	input_feed(&input, "\x1b[", 2, note_cb, &keys);
	ASSERT_EQ(1, keys.count);
	input_expire(&input, note_cb, &keys);
	ASSERT_EQ(3, keys.count);
	ASSERT_EQ(TUI_KEY_ESCAPE, keys.at[1]);
	ASSERT_EQ('[', keys.at[2]);
	keys.count = 1;
	/* An incomplete sequence is dropped. */
	input_feed(&input, "\x1b[1;", 4, note_cb, &keys);
	input_expire(&input, note_cb, &keys);
	input_feed(&input, "j", 1, note_cb, &keys);
	ASSERT_EQ(2, keys.count);
	ASSERT_EQ('j', keys.at[1]);
	PASS();
}

TEST sequence_after_one_that_is_too_long_is_read(void)
{
	char sequence[3 * INPUT_SEQUENCE_MAX] = "\x1b[";
	struct input input = { 0 };
	struct keys keys = { 0 };

	memset(sequence + 2, '1', sizeof(sequence) - 3);
	sequence[sizeof(sequence) - 1] = 'A';
	input_feed(&input, sequence, sizeof(sequence), note_cb, &keys);
	ASSERT_EQ(0, keys.count);
	input_feed(&input, "\x1b[B", 3, note_cb, &keys);
	ASSERT_EQ(1, keys.count);
	ASSERT_EQ(TUI_KEY_DOWN, keys.at[0]);
	PASS();
}

TEST paste_whose_end_was_lost_is_over_with_an_escape(void)
{
	struct input input = { 0 };
	struct keys keys = { 0 };

	input_feed(&input, "\x1b[200~ab\x1b", 9, note_cb, &keys);
	ASSERT_EQ(2, keys.count);
	ASSERT_EQ('b' | TUI_KEY_PASTED, keys.at[1]);
	input_expire(&input, note_cb, &keys);
	input_feed(&input, "j", 1, note_cb, &keys);
	ASSERT_EQ(4, keys.count);
	ASSERT_EQ(TUI_KEY_ESCAPE, keys.at[2]);
	ASSERT_EQ('j', keys.at[3]);
	PASS();
}

/* After random bytes and a pause, a plain key is that key. */
TEST storm(uint64_t seed)
{
	struct rand_state rand;
	struct input input = { 0 };

	rand_seed(&rand, seed);
	for (int round = 0; round < 5000; round++) {
		uint8_t noise[48];
		size_t len = rand_below(&rand, sizeof noise);
		struct keys keys = { 0 };

		for (size_t i = 0; i < len; i++)
			noise[i] = rand_below(&rand, 3)
					   ? (uint8_t) "\x1b[O;0123456789~ABM\xe4\xb8"[rand_below(&rand, 20)]
					   : (uint8_t)rand_next(&rand);
		input_feed(&input, noise, len, note_cb, &keys);
		ASSERT(keys.count <= len + 1);
		ASSERT(input.len < INPUT_SEQUENCE_MAX + 1);
		input_feed(&input, "\x1b", 1, note_cb, &keys);
		input_expire(&input, note_cb, &keys);
		keys.count = 0;
		input_feed(&input, "\x1b[201~j", 7, note_cb, &keys);
		ASSERT_EQ(1, keys.count);
		ASSERT_EQ('j', keys.at[0]);
	}
	PASS();
}

SUITE(input)
{
	RUN_TEST(every_split);
	RUN_TEST(lone_escape);
	RUN_TEST(sequence_after_one_that_is_too_long_is_read);
	RUN_TEST(paste_whose_end_was_lost_is_over_with_an_escape);
	for (uint64_t seed = 1; seed <= 5; seed++)
		RUN_TESTp(storm, seed);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(input);
	GREATEST_MAIN_END();
}
