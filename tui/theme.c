/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Colours, glyphs and number formats. A state is always shown with its word: colour is never the only sign. */
#include "tui/theme.h"

#include <inttypes.h>
#include <stdio.h>

struct style theme_style(const struct theme *theme, enum colour colour, unsigned attributes)
{
	return (struct style){ .colour = (uint8_t)(theme->mono ? COLOUR_DEFAULT : colour), .attributes = (uint8_t)attributes };
}

struct style theme_look(const struct theme *theme, enum look look)
{
	static const struct { enum colour colour; unsigned attributes; } looks[LOOK_COUNT] = {
#define LOOK(NAME, colour, attributes) [LOOK_##NAME] = { COLOUR_##colour, attributes },
#include "tui/looks.def"
#undef LOOK
	};

	return theme_style(theme, looks[look].colour, looks[look].attributes);
}

struct style theme_state(const struct theme *theme, const struct state_info *info)
{
	static const unsigned attributes[] = {
		[ATTR_PLAIN] = 0, [ATTR_BOLD] = STYLE_BOLD, [ATTR_DIM] = STYLE_DIM,
		[ATTR_REVERSE] = STYLE_REVERSE, [ATTR_UNDERLINE] = STYLE_UNDERLINE,
	};

	return theme_style(theme, info->colour, attributes[info->attribute]);
}

const char *theme_glyph(const struct theme *theme, const struct state_info *info)
{
	return theme->ascii ? info->ascii : info->glyph;
}

const char *theme_pick(const struct theme *theme, const char *utf8, const char *ascii)
{
	return theme->ascii ? ascii : utf8;
}

const struct state_info *theme_worker(enum worker_state state)
{
	static const struct state_info up = {
		"up", "up", "✓", "+", COLOUR_GREEN, ATTR_PLAIN, KIND_HOLDS, "it sends heartbeats",
	};
	static const struct state_info silent = {
		"unreachable",
		"unreachable",
		"?",
		"L",
		COLOUR_YELLOW,
		ATTR_UNDERLINE,
		KIND_HOLDS,
		"the worker isn't connected or is silent; its lease is over",
	};
	static const struct state_info lost = {
		"lost",
		"LOST",
		"?",
		"L",
		COLOUR_RED,
		ATTR_UNDERLINE,
		KIND_TERMINAL,
		"the worker is lost; others got its jobs",
	};

	static const struct state_info ended = {
		"ended", "ended", "∅", "s", COLOUR_DEFAULT, ATTR_DIM, KIND_TERMINAL, "it was told to end",
	};

	switch (state) {
	case WORKER_UP:
		return &up;
	case WORKER_UNREACHABLE:
		return &silent;
	case WORKER_ENDED:
		return &ended;
	case WORKER_LOST:
		break;
	}
	return &lost;
}

const char *number_short(uint64_t value, int cells, char out[NUMBER_SIZE])
{
	static const char units[] = "kMGTPE";
	uint64_t tenths = value;
	int len;

	len = snprintf(out, NUMBER_SIZE, "%" PRIu64, value > 999999999 ? 999999999 : value);
	if (len <= cells && value <= 999999999)
		return out;
	for (const char *unit = units; *unit; unit++) {
		/* Tenths of the next unit, cut instead of rounded, so that 999,999 doesn't become 1000k. */
		tenths = unit == units ? value / 100 : tenths / 1000;
		len = snprintf(out, NUMBER_SIZE, "%u.%u%c", (unsigned)(tenths / 10 % 100000),
			(unsigned)(tenths % 10), *unit);
		if (tenths < 10000 && len <= cells)
			return out;
		len = snprintf(out, NUMBER_SIZE, "%u%c", (unsigned)(tenths / 10 % 100000), *unit);
		if (tenths < 10000 && len <= cells)
			return out;
	}
	return out;
}

const char *number_full(uint64_t value, char out[NUMBER_FULL_SIZE])
{
	char digits[NUMBER_FULL_SIZE];
	int len = snprintf(digits, sizeof digits, "%" PRIu64, value), to = 0;

	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			out[to++] = ',';
		out[to++] = digits[i];
	}
	out[to] = '\0';
	return out;
}

const char *span_short(int64_t ms, char out[NUMBER_SIZE])
{
	int64_t seconds = ms > 0 ? ms / 1000 : 0;

	if (seconds < 100)
		snprintf(out, NUMBER_SIZE, "%ds", (int)seconds);
	else if (seconds < 100 * 60)
		snprintf(out, NUMBER_SIZE, "%dm", (int)(seconds / 60));
	else if (seconds < 48 * 3600)
		snprintf(out, NUMBER_SIZE, "%dh", (int)(seconds / 3600));
	else
		snprintf(out, NUMBER_SIZE, "%dd", (int)(seconds / 86400 % 100000));
	return out;
}
