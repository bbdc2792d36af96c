/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds colours on terminals that have fewer of them than a program used. */
#include "tui/palette.h"

#define CUBE  16
#define GREYS 232

static const unsigned steps[6] = { 0, 95, 135, 175, 215, 255 };

struct rgb {
	unsigned red, green, blue;
};

static unsigned square(unsigned a, unsigned b)
{
	return (a > b ? a - b : b - a) * (a > b ? a - b : b - a);
}

static unsigned distance(struct rgb a, struct rgb b)
{
	return square(a.red, b.red) + square(a.green, b.green) + square(a.blue, b.blue);
}

static struct rgb rgb_of(unsigned index)
{
	unsigned level = index < 8 ? 170 : 255;

	if (index >= GREYS) {
		level = 8 + 10 * (index - GREYS);
		return (struct rgb){ level, level, level };
	}
	if (index >= CUBE) {
		index -= CUBE;
		return (struct rgb){ steps[index / 36], steps[index / 6 % 6], steps[index % 6] };
	}
	return (struct rgb){ index & 1 ? level : 0, index & 2 ? level : 0, index & 4 ? level : 0 };
}

unsigned palette_nearest(unsigned red, unsigned green, unsigned blue)
{
	struct rgb wanted = { red, green, blue };
	unsigned best = CUBE;

	for (unsigned index = CUBE; index < 256; index++)
		if (distance(rgb_of(index), wanted) < distance(rgb_of(best), wanted))
			best = index;
	return best;
}

unsigned palette_ansi(unsigned index)
{
	struct rgb rgb = rgb_of(index);
	unsigned top = rgb.red > rgb.green ? rgb.red : rgb.green;

	if (index < 16)
		return index % 8;
	top = rgb.blue > top ? rgb.blue : top;
	if (top < 64)
		return 0;
	/* A part counts if it is at least two thirds as strong as the strongest one. */
	return (rgb.red * 3 >= top * 2) | (rgb.green * 3 >= top * 2) << 1 | (rgb.blue * 3 >= top * 2) << 2;
}

enum colour palette_colour(unsigned index)
{
	static const enum colour colours[8] = { COLOUR_DEFAULT, COLOUR_RED, COLOUR_GREEN, COLOUR_YELLOW,
		COLOUR_BLUE, COLOUR_MAGENTA, COLOUR_CYAN, COLOUR_DEFAULT };

	return colours[palette_ansi(index)];
}
