/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Colours, glyphs and bars for a line of text. They only repeat what the words say, so nothing is lost without them. */
#include "cli/show/look.h"

#include <inttypes.h>

void look_colour(const struct look *look, enum colour colour, enum attribute attribute, struct buf *out)
{
	static const char attributes[] = {
		[ATTR_PLAIN] = '0', [ATTR_BOLD] = '1', [ATTR_DIM] = '2', [ATTR_REVERSE] = '7', [ATTR_UNDERLINE] = '4',
	};
	static const char colours[] = {
		[COLOUR_DEFAULT] = '9', [COLOUR_RED] = '1', [COLOUR_GREEN] = '2', [COLOUR_YELLOW] = '3',
		[COLOUR_BLUE] = '4', [COLOUR_MAGENTA] = '5', [COLOUR_CYAN] = '6',
	};

	if (look->colour)
		buf_addf(out, "\x1b[0;%c;3%cm", attributes[attribute], colours[colour]);
}

void look_plain(const struct look *look, struct buf *out)
{
	if (look->colour)
		buf_add_str(out, "\x1b[0m");
}

void look_state(const struct look *look, const struct state_info *state, struct buf *out)
{
	look_colour(look, state->colour, state->attribute, out);
	buf_add_str(out, look->utf8 ? state->glyph : state->ascii);
	buf_add_byte(out, ' ');
	buf_add_str(out, state->word);
	look_plain(look, out);
}

void look_bar(const struct look *look, uint64_t part, uint64_t whole, int cells, struct buf *out)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	uint64_t steps = look->utf8 ? 8 : 1;
	uint64_t filled;
	int drawn = 0;

	if (part > whole)
		part = whole;
	filled = whole ? (uint64_t)((double)part / (double)whole * (double)((uint64_t)cells * steps)) : 0;
	for (; drawn < (int)(filled / steps); drawn++)
		buf_add_str(out, look->utf8 ? "█" : "#");
	if (filled % steps != 0) {
		buf_add_str(out, eighths[filled % steps]);
		drawn++;
	}
	for (; drawn < cells; drawn++)
		buf_add_byte(out, look->utf8 ? ' ' : '.');
}
