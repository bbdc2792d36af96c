/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Commands without a shell that are interpreters: in [sh, -c, TEXT] the text is code, so no value may be a part of it. A text that is
 * nothing but a value is left alone, since its author means that value to be the code.
 */
#include "lang/pipeline_internal.h"

#include "proto/spec.h"

static struct slice base_name(struct slice path)
{
	const uint8_t *slash = path.len > 0 ? memrchr(path.data, '/', path.len) : NULL;

	return slash ? slice_make(slash + 1, (size_t)(path.data + path.len - slash - 1)) : path;
}

static bool begins(struct slice text, const char *word)
{
	size_t len = strlen(word);

	return text.len >= len && memcmp(text.data, word, len) == 0;
}

/* Return the letter of the option behind which this program expects code; 0: it is no interpreter. */
static char code_option(struct slice program)
{
	struct slice base = base_name(program);

	if (base.len == 0)
		return 0;
	if (shell_reads_sh(base) || begins(base, "python") || slice_eq(base, slice_str("fish")))
		return 'c';
	return begins(base, "perl") || begins(base, "ruby") || slice_eq(base, slice_str("node")) ? 'e' : 0;
}

/* Is this word an option such as -c or -ec, or --? */
static bool is_option(struct slice word)
{
	return word.len > 1 && word.data[0] == '-';
}

size_t pipe_code_word(struct slice_list words)
{
	char letter = words.n > 2 ? code_option(words.at[0]) : 0;

	for (size_t i = 1; letter != 0 && i + 1 < words.n && is_option(words.at[i]); i++) {
		bool is_long = words.at[i].data[1] == '-';

		if (!is_long && words.at[i].data[words.at[i].len - 1] == letter)
			return i + 1;
		/* The option -o of a shell has a word of its own. */
		i += letter == 'c' && !is_long && words.at[i].data[words.at[i].len - 1] == 'o';
	}
	return 0;
}

enum err pipe_check_code(struct pipe *pipe, const struct tree_node *node, struct slice program, struct slice word)
{
	struct matrix_ref ref;
	bool found = false;
	const uint8_t *at;
	struct dag_spot spot;

	for (size_t from = 0; !found && matrix_next(word, from, &ref); from = ref.at + ref.len)
		found = ref.kind != REF_LITERAL;
	at = found && ref.len < word.len ? memmem(node->text.data, node->text.len, word.data + ref.at, ref.len) : NULL;
	if (at == NULL)
		return ERR_NONE;
	spot = pipe_part_spot(pipe, node, (size_t)(at - node->text.data), ref.len);
	/* This is wrong whatever the value is. */
	pipe->reader.guessed.len = 0;
	dag_fail(&pipe->reader, spot.at, spot.len, ERR_INVALID, "%.*s would run this value as a part of its code", (int)program.len,
		 (const char *)program.data);
	error_next(pipe->reader.error, "give the value as env: {NAME: VALUE}, and let the code read that variable");
	return ERR_INVALID;
}
