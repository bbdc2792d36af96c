/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines that programs wrote: tabs are expanded, colours are drawn, all other control characters are shown escaped. */
#include "base/text.h"
#include "tui/palette.h"
#include "tui/views.h"

#define SGR_MOST 16                      /* most numbers of one sequence */

/*
 * Is this a sign that only chooses between forms of the character before it, or joins two pictures to one? Behind a symbol it
 * is left out, and the symbols are shown side by side: how wide a terminal would draw the joined picture isn't known.
 */
static bool joins_symbols(struct slice left, uint32_t before)
{
	static const char *const joiners[] = { "\xef\xb8\x8e", "\xef\xb8\x8f", "\xe2\x80\x8d" };

	for (size_t i = 0; before >= 0x203c && i < 3; i++)
		if (left.len >= 3 && memcmp(left.data, joiners[i], 3) == 0)
			return before >= 0x1f000 || (before >= 0x203c && before < 0x3300);
	return false;
}

/* Leave out joiners of symbols. */
static void plain_symbols(struct buf *text)
{
	struct slice left = buf_slice(text);
	struct buf kept = { 0 };
	uint32_t before = 0;
	bool any = false;

	for (size_t i = 0; i < text->len && !any; i++)
		any = text->data[i] >= 0x80;
	while (any && left.len > 0) {
		uint32_t code;
		int width;
		size_t used = text_next(left, &code, &width);

		if (joins_symbols(left, before)) {
			left = slice_make(left.data + 3, left.len - 3);
			continue;
		}
		buf_add(&kept, left.data, used);
		before = code;
		left = slice_make(left.data + used, left.len - used);
	}
	if (!any)
		return;
	buf_free(text);
	*text = kept;
}

void program_text(struct slice raw, struct buf *out)
{
	struct buf text = { 0 };

	if (raw.len > 0 && raw.data[raw.len - 1] == '\r')
		raw.len--;
	for (size_t i = 0; i < raw.len; i++) {
		if (raw.data[i] != '\t') {
			buf_add_byte(&text, raw.data[i]);
			continue;
		}
		do {
			buf_add_byte(&text, ' ');
		} while (text.len % 8 != 0);
	}
	plain_symbols(&text);
	text_escape(out, buf_slice(&text), TEXT_KEEP_COLOUR);
	buf_free(&text);
}

void program_words(struct slice text, struct buf *out)
{
	bool escape = false;

	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == 0x1b)
			escape = true;
		else if (!escape)
			buf_add_byte(out, text.data[i]);
		else if (text.data[i] == 'm')
			escape = false;
	}
}

/* Read the numbers of one SGR sequence; return how many there are. */
static size_t sgr_numbers(struct slice parameters, unsigned numbers[SGR_MOST])
{
	size_t count = 1;

	numbers[0] = 0;
	for (size_t i = 0; i < parameters.len; i++) {
		if (parameters.data[i] >= '0' && parameters.data[i] <= '9')
			numbers[count - 1] = numbers[count - 1] * 10 % 1000 + (unsigned)(parameters.data[i] - '0');
		else if (count < SGR_MOST)
			numbers[count++] = 0;
	}
	return count;
}

/* Read a colour of the form 5;N or 2;R;G;B behind 38 or 48; return how many numbers it has, and the palette's number + 1. */
static size_t sgr_colour(const unsigned *numbers, size_t left, uint16_t *ret_number)
{
	if (left >= 2 && numbers[0] == 5) {
		*ret_number = (uint16_t)(numbers[1] % 256 + 1);
		return 2;
	}
	if (left >= 4 && numbers[0] == 2) {
		*ret_number = (uint16_t)(palette_nearest(numbers[1] % 256, numbers[2] % 256, numbers[3] % 256) + 1);
		return 4;
	}
	return left;
}

static void set_attribute(struct style *style, unsigned number)
{
	static const uint8_t on[] = { [1] = STYLE_BOLD, [2] = STYLE_DIM, [4] = STYLE_UNDERLINE, [7] = STYLE_REVERSE };
	unsigned off = number == 22 ? STYLE_BOLD | STYLE_DIM : number == 24 ? STYLE_UNDERLINE : number == 27 ? STYLE_REVERSE : 0;

	if (number < sizeof on)
		style->attributes |= on[number];
	style->attributes &= (uint8_t)~off;
}

/* Apply one SGR sequence. The 8 dark colours are those of the dashboard; black and white are left to the terminal. */
static struct style apply_sgr(struct style style, struct slice parameters)
{
	unsigned numbers[SGR_MOST];
	size_t count = sgr_numbers(parameters, numbers);

	for (size_t i = 0; i < count; i++) {
		unsigned number = numbers[i];

		if (number == 0)
			style = (struct style){ 0 };
		else if (number == 38)
			i += sgr_colour(numbers + i + 1, count - i - 1, &style.fine);
		else if (number == 48)
			i += sgr_colour(numbers + i + 1, count - i - 1, &style.behind);
		else if ((number >= 30 && number <= 37) || number == 39)
			style.fine = 0;
		else if (number >= 90 && number <= 97)
			style.fine = (uint16_t)(number - 90 + 8 + 1);
		else if (number >= 40 && number <= 47)
			style.behind = (uint16_t)(number - 40 + 1);
		else if (number >= 100 && number <= 107)
			style.behind = (uint16_t)(number - 100 + 8 + 1);
		else if (number == 49)
			style.behind = 0;
		else
			set_attribute(&style, number);
		if ((number >= 30 && number <= 37) || number == 39)
			style.colour = (uint8_t)palette_colour(number == 39 ? 7 : number - 30);
		else if (number == 38 || (number >= 90 && number <= 97))
			style.colour = (uint8_t)(style.fine ? palette_colour(style.fine - 1u) : COLOUR_DEFAULT);
	}
	return style;
}

static struct style themed(const struct app *app, struct style style)
{
	struct style plain = theme_style(&app->theme, style.colour, style.attributes);

	if (!app->theme.mono) {
		plain.fine = style.fine;
		plain.behind = style.behind;
	}
	return plain;
}

int program_draw(const struct app *app, struct pane pane, int x, int y, struct slice text)
{
	struct style style = { 0 };

	while (text.len > 0) {
		const uint8_t *escape = memchr(text.data, 0x1b, text.len);
		size_t plain = escape ? (size_t)(escape - text.data) : text.len;
		size_t end = plain + 2;

		x = pane_text(pane, x, y, themed(app, style),
			slice_make(text.data, plain));
		if (!escape)
			return x;
		while (end < text.len && text.data[end] != 'm')
			end++;
		if (end >= text.len)
			return x;
		style = apply_sgr(style, slice_make(text.data + plain + 2, end - plain - 2));
		text = slice_make(text.data + end + 1, text.len - end - 1);
	}
	return x;
}
