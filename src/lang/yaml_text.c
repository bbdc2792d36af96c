/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses between the plain, quoted and block forms of YAML. In doubt it quotes: then each character has one meaning. */
#include "lang/yaml_text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* Would another reader of YAML take this text for a truth value, null or a number? */
static bool means_else(struct slice text)
{
	static const char *const words[] = { "true", "false", "yes", "no", "on", "off", "null", "y", "n", "~" };
	size_t digits = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == text.len && strncasecmp(words[i], (const char *)text.data, text.len) == 0)
			return true;
	for (size_t i = 0; i < text.len; i++)
		digits += isdigit(text.data[i]) || strchr("+-._eExXoabcdfABCDF:", text.data[i]) != NULL;
	return text.len > 0 && digits == text.len && (isdigit(text.data[0]) || strchr("+-.", text.data[0]) != NULL);
}

static bool is_shown(uint32_t code)
{
	return code >= 0x20 && code < 0x7f;
}

/* Can the text be written without quotes? flow: it is inside brackets or braces, where more characters have a meaning. */
static bool is_plain(struct slice text, bool flow)
{
	if (text.len == 0 || means_else(text) || strchr("-?:,[]{}#&*!|>'\"%@`= ", text.data[0]) != NULL ||
	    text.data[text.len - 1] == ' ' || text.data[text.len - 1] == ':')
		return false;
	for (size_t i = 0; i < text.len; i++) {
		uint8_t byte = text.data[i];

		if (!is_shown(byte) || (flow && strchr(",[]{}:#'\"", byte) != NULL))
			return false;
		if ((byte == ':' && text.data[i + 1] == ' ') || (byte == ' ' && text.data[i + 1] == '#'))
			return false;
	}
	return true;
}

/* Can the text be written as a block? It needs several lines, and only characters that a reader leaves unchanged. */
static bool is_block(struct slice text)
{
	bool lines = memchr(text.data, '\n', text.len) != NULL;
	struct slice rest = text;

	if (!lines || text.len < 2 || memchr(" \t\n", text.data[0], 3) != NULL)
		return false;
	while (rest.len > 0) {
		uint32_t code;
		int width;
		size_t len = text_next(rest, &code, &width);

		if (len == 0 || (code != '\n' && code != '\t' && (code == 0xfffd || text_is_hidden(code))))
			return false;
		rest = slice_make(rest.data + len, rest.len - len);
	}
	return true;
}

static void add_block(struct buf *out, struct slice text, size_t indent)
{
	size_t breaks = 0;

	while (breaks < text.len && text.data[text.len - 1 - breaks] == '\n')
		breaks++;
	buf_add_str(out, breaks == 0 ? "|-\n" : breaks == 1 ? "|\n" : "|+\n");
	while (text.len > 0) {
		const uint8_t *end = memchr(text.data, '\n', text.len);
		size_t len = end ? (size_t)(end - text.data) : text.len;

		for (size_t i = 0; i < indent && len > 0; i++)
			buf_add_byte(out, ' ');
		buf_add(out, text.data, len);
		buf_add_byte(out, '\n');
		len += end != NULL;
		text = slice_make(text.data + len, text.len - len);
	}
	/* Take back the last line break, because the caller ends the line. */
	out->len--;
}

static void add_quoted(struct buf *out, struct slice text)
{
	buf_add_byte(out, '"');
	while (text.len > 0) {
		uint32_t code;
		int width;
		size_t len = text_next(text, &code, &width);

		if (code == '"' || code == '\\')
			buf_addf(out, "\\%c", (int)code);
		else if (code == '\n')
			buf_add_str(out, "\\n");
		else if (code == '\t')
			buf_add_str(out, "\\t");
		else if (len == 1 && (text.data[0] < 0x20 || text.data[0] >= 0x7f))
			buf_addf(out, "\\x%02x", text.data[0]);
		else if (code >= 0x80 && text_is_hidden(code))
			buf_addf(out, "\\U%08x", code);
		else
			buf_add(out, text.data, len);
		text = slice_make(text.data + len, text.len - len);
	}
	buf_add_byte(out, '"');
}

void yaml_text(struct buf *out, struct slice text, size_t indent)
{
	if (is_plain(text, false))
		buf_add_slice(out, text);
	else if (is_block(text))
		add_block(out, text, indent);
	else
		add_quoted(out, text);
}

void yaml_word(struct buf *out, struct slice text)
{
	if (is_plain(text, true))
		buf_add_slice(out, text);
	else
		add_quoted(out, text);
}

void yaml_words(struct buf *out, const struct slice_list *words)
{
	buf_add_byte(out, '[');
	for (size_t i = 0; i < words->n; i++) {
		buf_add_str(out, i > 0 ? ", " : "");
		yaml_word(out, words->at[i]);
	}
	buf_add_byte(out, ']');
}
