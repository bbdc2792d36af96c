/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text fields: whole characters of any length, never a byte past the end. */
#include <string.h>

#include "base/text.h"
#include "greatest.h"
#include "tui/keys.h"
#include "tui/views.h"

GREATEST_MAIN_DEFS();

#define FIELD_MAX 70u
#define CANARY    0x5a

static char field[FIELD_MAX + 8];
static size_t len;

static void clear(void)
{
	memset(field, CANARY, sizeof(field));
	len = 0;
}

static bool canaries_live(size_t size)
{
	for (size_t i = size; i < sizeof(field); i++)
		if (field[i] != CANARY)
			return false;
	return true;
}

/* Number of characters that fit into the field. */
static size_t fill(size_t size, uint32_t code)
{
	size_t before, count = 0;

	do {
		before = len;
		edit_text(field, &len, size, code);
		count += len > before;
	} while (len > before);
	return count;
}

TEST full_field_keeps_whole_characters_in_its_bounds(void)
{
	static const struct {
		uint32_t code;
		const char *bytes;
	} characters[] = { { 'a', "a" }, { 0x7ff, "\xdf\xbf" }, { 0x800, "\xe0\xa0\x80" }, { 0x20ac, "\xe2\x82\xac" },
			   { 0xffff, "\xef\xbf\xbf" } };

	for (size_t i = 0; i < sizeof(characters) / sizeof(characters[0]); i++) {
		size_t bytes = strlen(characters[i].bytes);

		for (size_t size = 5; size <= FIELD_MAX; size++) {
			size_t count;

			clear();
			count = fill(size, characters[i].code);
			ASSERT_EQ_FMT(count * bytes, len, "%zu");
			ASSERT(len < size);
			ASSERT(canaries_live(size));
			for (size_t at = 0; at < len; at += bytes)
				ASSERT_EQ(0, memcmp(field + at, characters[i].bytes, bytes));
		}
	}
	PASS();
}

/* A character that doesn't fit completely is left out; the one-byte characters before it stay. */
TEST character_that_doesnt_fit_leaves_nothing_of_it(void)
{
	for (size_t ahead = 0; ahead < 24; ahead++) {
		clear();
		for (size_t i = 0; i < ahead; i++)
			edit_text(field, &len, 24, 'a');
		fill(24, 0x20ac);
		ASSERT(len < 24);
		ASSERT(canaries_live(24));
		ASSERT_EQ(0, ((len - (ahead < len ? ahead : len)) % 3));
	}
	PASS();
}

TEST backspace_takes_one_whole_character(void)
{
	size_t count;

	clear();
	count = fill(FIELD_MAX, 0x20ac);
	ASSERT(count > 20);
	for (; count > 0; count--) {
		ASSERT_EQ_FMT(3 * count, len, "%zu");
		edit_text(field, &len, FIELD_MAX, TUI_KEY_BACKSPACE);
	}
	ASSERT_EQ(0, len);
	edit_text(field, &len, FIELD_MAX, TUI_KEY_BACKSPACE);
	ASSERT_EQ(0, len);
	edit_text(field, &len, FIELD_MAX, 'a');
	edit_text(field, &len, FIELD_MAX, 0xe9);
	edit_text(field, &len, FIELD_MAX, TUI_KEY_BACKSPACE);
	ASSERT_EQ(1, len);
	ASSERT_EQ('a', field[0]);
	PASS();
}

TEST control_characters_stay_out(void)
{
	static const uint32_t codes[] = { 0x00, 0x1b, 0x1f, 0x7f, 0x10000, '\n' | TUI_KEY_PASTED };

	clear();
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		edit_text(field, &len, FIELD_MAX, codes[i]);
	ASSERT_EQ(0, len);
	edit_text(field, &len, FIELD_MAX, 'b' | TUI_KEY_PASTED);
	ASSERT_EQ(1, len);
	ASSERT_EQ('b', field[0]);
	PASS();
}

SUITE(tui_field)
{
	RUN_TEST(full_field_keeps_whole_characters_in_its_bounds);
	RUN_TEST(character_that_doesnt_fit_leaves_nothing_of_it);
	RUN_TEST(backspace_takes_one_whole_character);
	RUN_TEST(control_characters_stay_out);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(tui_field);
	GREATEST_MAIN_END();
}
