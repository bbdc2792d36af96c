/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "proto/input.h"

#include "base/arena.h"
#include "proto/limits.h"

bool input_path_fits(struct slice path)
{
	size_t from = 0;

	if (path.len == 0 || path.len > LIMIT_INPUT_PATH || memchr(path.data, '\0', path.len) ||
	    (path.len >= strlen(INPUT_OWN) && memcmp(path.data, INPUT_OWN, strlen(INPUT_OWN)) == 0))
		return false;
	while (from <= path.len) {
		const uint8_t *part = path.data + from, *end = from < path.len ? memchr(part, '/', path.len - from) : NULL;
		size_t len = end ? (size_t)(end - part) : path.len - from;

		if (len == 0 || len > 255 || (part[0] == '.' && (len == 1 || (len == 2 && part[1] == '.'))))
			return false;
		from += len + 1;
	}
	return true;
}

bool input_next(struct slice *rest, struct arena *arena, struct rec_input *ret)
{
	return rest->len > 0 && record_decode(REC_input, rest, arena, ret, NULL) == ERR_NONE && ret->hash.len == INPUT_HASH_SIZE &&
	       ret->kind >= ASSET_FILE && ret->kind <= ASSET_DIR;
}

bool inputs_collide(struct slice one, struct slice other)
{
	struct slice shorter = one.len < other.len ? one : other, longer = one.len < other.len ? other : one;

	return memcmp(shorter.data, longer.data, shorter.len) == 0 && (longer.len == shorter.len || longer.data[shorter.len] == '/');
}

bool input_is_all(const struct rec_input *input)
{
	return input->kind == ASSET_DIR && slice_eq(input->path, slice_str("."));
}

const char *inputs_fault(struct slice inputs, struct slice *ret_path)
{
	struct slice paths[LIMIT_INPUTS_MAX];
	struct arena arena = { 0 };
	const char *fault = NULL;
	struct rec_input input;
	size_t count = 0;

	*ret_path = slice_make(NULL, 0);
	while (!fault && inputs.len > 0) {
		if (!input_next(&inputs, &arena, &input)) {
			fault = "it isn't a list of inputs";
			break;
		}
		*ret_path = input.path;
		/* The names in a directory are known only when the worker puts it in place. */
		if (input_is_all(&input))
			continue;
		if (count == LIMIT_INPUTS_MAX)
			fault = "the job has too many files";
		else if (!input_path_fits(input.path))
			fault = "the name of a file must be relative, have no . and .. in it, and not begin with .titan";
		for (size_t i = 0; !fault && i < count; i++)
			if (inputs_collide(paths[i], input.path))
				fault = paths[i].len == input.path.len ? "two files have the same name" : "a file can't be inside another file";
		if (!fault)
			paths[count++] = input.path;
	}
	arena_free(&arena);
	return fault;
}

const char *contents_fault(struct slice contents)
{
	struct arena arena = { 0 };
	struct rec_input input;

	while (input_next(&contents, &arena, &input))
		continue;
	arena_free(&arena);
	return contents.len > 0 ? "it isn't a list of contents" : NULL;
}

bool inputs_have_path(struct slice inputs, struct slice path)
{
	struct arena arena = { 0 };
	struct rec_input input;
	bool found = false;

	while (!found && input_next(&inputs, &arena, &input))
		found = inputs_collide(input.path, path);
	arena_free(&arena);
	return found;
}

bool inputs_have(struct slice inputs, const struct rec_input *input)
{
	struct arena arena = { 0 };
	struct rec_input other;
	bool found = false;

	while (!found && input_next(&inputs, &arena, &other))
		found = slice_eq(other.hash, input->hash) && (other.kind == ASSET_DIR) == (input->kind == ASSET_DIR);
	arena_free(&arena);
	return found;
}
