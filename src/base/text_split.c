/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Splits commands that need no shell. A command is split only if sh would certainly run the same program with the same
 * words; otherwise sh runs it.
 */
#include "base/text.h"

/* Words that sh handles itself: keywords, and builtins that no program can replace. */
static const char *const shell_words[] = {
	"!", ".", ":", "[[", "alias", "bg", "bind", "break", "builtin", "caller", "case", "cd",
	"chdir", "command", "compgen", "complete", "continue", "coproc", "declare", "dirs", "disown",
	"do", "done", "elif", "else", "enable", "esac", "eval", "exec", "exit", "export", "fc", "fg",
	"fi", "for", "function", "getopts", "hash", "help", "history", "if", "in", "jobs", "let",
	"local", "logout", "mapfile", "popd", "pushd", "read", "readarray", "readonly", "return",
	"select", "set", "shift", "shopt", "source", "suspend", "then", "time", "times", "trap",
	"type", "typeset", "ulimit", "umask", "unalias", "unset", "until", "wait", "while",
};

struct splitter {
	struct slice text;
	size_t at;
	struct buf *words;
	size_t count;
	size_t first_len;        /* length of the first word */
	size_t start;            /* where the first word begins in words */
};

static bool is_blank(uint8_t byte)
{
	return byte == ' ' || byte == '\t';
}

static bool is_control(uint8_t byte)
{
	return byte < 0x20 || byte == 0x7f;
}

/* Has this byte a meaning for sh anywhere outside of quotes? */
static bool is_special(uint8_t byte)
{
	return is_control(byte) || strchr("$`\\*?[|&;<>(){}#~!^", byte) != NULL;
}

/* Take a quoted string, from the opening quote to the closing one, into the word. */
static bool take_quoted(struct splitter *splitter)
{
	uint8_t quote = splitter->text.data[splitter->at++];

	for (; splitter->at < splitter->text.len; splitter->at++) {
		uint8_t byte = splitter->text.data[splitter->at];

		if (byte == quote) {
			splitter->at++;
			return true;
		}
		if (is_control(byte) && byte != '\t')
			return false;
		if (quote == '"' && (byte == '$' || byte == '`' || byte == '\\' || byte == '!'))
			return false;
		buf_add_byte(splitter->words, byte);
	}
	return false;
}

static bool take_word(struct splitter *splitter)
{
	size_t start = splitter->words->len;

	while (splitter->at < splitter->text.len) {
		uint8_t byte = splitter->text.data[splitter->at];

		if (is_blank(byte))
			break;
		if (byte == '\'' || byte == '"') {
			if (!take_quoted(splitter))
				return false;
			continue;
		}
		if (is_special(byte) || (byte == '=' && splitter->count == 0))
			return false;
		buf_add_byte(splitter->words, byte);
		splitter->at++;
	}
	if (splitter->count == 0)
		splitter->first_len = splitter->words->len - start;
	buf_add_byte(splitter->words, '\0');
	splitter->count++;
	return true;
}

static bool split_words(struct splitter *splitter)
{
	for (;;) {
		while (splitter->at < splitter->text.len && is_blank(splitter->text.data[splitter->at]))
			splitter->at++;
		if (splitter->at == splitter->text.len)
			return splitter->count > 0;
		if (!take_word(splitter))
			return false;
	}
}

static bool is_shell_word(struct slice word)
{
	for (size_t i = 0; i < sizeof(shell_words) / sizeof(shell_words[0]); i++)
		if (slice_eq(word, slice_str(shell_words[i])))
			return true;
	return false;
}

/* Do sh's own echo and the program echo differ for these words? They agree only without backslashes and options. */
static bool echo_differs(struct slice first, struct slice words)
{
	if (!slice_eq(first, slice_str("echo")))
		return false;
	return memchr(words.data, '\\', words.len) != NULL ||
	       (words.len > first.len + 1 && words.data[first.len + 1] == '-');
}

bool text_split_plain(struct slice command, struct buf *ret_words, size_t *ret_count)
{
	struct splitter splitter = { .text = command, .words = ret_words, .start = ret_words->len };
	bool plain = split_words(&splitter) && splitter.first_len > 0;

	if (plain) {
		size_t len = ret_words->len - splitter.start;
		struct slice words = slice_make(ret_words->data + splitter.start, len);
		struct slice first = slice_make(words.data, splitter.first_len);

		plain = !is_shell_word(first) && !echo_differs(first, words);
	}
	if (!plain) {
		buf_cut(ret_words, splitter.start);
		return false;
	}
	*ret_count = splitter.count;
	return true;
}
