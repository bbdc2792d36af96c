/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines that programs wrote: tabs are expanded, colours are drawn, all other control characters are shown escaped. */
#include "base/text.h"
#include "tui/views.h"

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

/* Apply the numbers of one SGR sequence; 256 colours and true colours are ignored. */
static struct style apply_sgr(struct style style, struct slice parameters)
{
	static const uint8_t colours[] = {COLOUR_DEFAULT, COLOUR_RED, COLOUR_GREEN, COLOUR_YELLOW,
		COLOUR_BLUE, COLOUR_MAGENTA, COLOUR_CYAN, COLOUR_DEFAULT};
	unsigned number = 0;

	for (size_t i = 0; i <= parameters.len; i++) {
		if (i < parameters.len && parameters.data[i] >= '0' && parameters.data[i] <= '9') {
			number = number * 10 % 1000 + (unsigned)(parameters.data[i] - '0');
			continue;
		}
		if (number == 38 || number == 48)
			return style;
		if (number == 0)
			style = (struct style){ 0 };
		else if (number == 1)
			style.attributes |= STYLE_BOLD;
		else if (number == 2)
			style.attributes |= STYLE_DIM;
		else if (number == 4)
			style.attributes |= STYLE_UNDERLINE;
		else if (number == 7)
			style.attributes |= STYLE_REVERSE;
		else if (number == 22)
			style.attributes &= (uint8_t)~(STYLE_BOLD | STYLE_DIM);
		else if ((number >= 30 && number <= 37) || (number >= 90 && number <= 97))
			style.colour = colours[number % 10];
		else if (number == 39)
			style.colour = COLOUR_DEFAULT;
		number = 0;
	}
	return style;
}

int program_draw(const struct app *app, struct pane pane, int x, int y, struct slice text)
{
	struct style style = { 0 };

	while (text.len > 0) {
		const uint8_t *escape = memchr(text.data, 0x1b, text.len);
		size_t plain = escape ? (size_t)(escape - text.data) : text.len;
		size_t end = plain + 2;

		x = pane_text(pane, x, y, theme_style(&app->theme, style.colour, style.attributes),
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
