/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker.conf of a worker that was put on this machine: a few lines, each a word and its value. */
#include "worker/far.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/text.h"

#define CONF_MAX ((size_t)3 * FAR_LIST_MAX)

static bool take(struct slice value, char *out, size_t size)
{
	if (value.len >= size || (value.len > 0 && memchr(value.data, '\0', value.len) != NULL))
		return false;
	memcpy(out, value.data, value.len);
	out[value.len] = '\0';
	return true;
}

static bool is(struct slice word, const char *text)
{
	return slice_eq(word, slice_str(text));
}

static bool take_line(struct slice word, struct slice value, struct far_config *ret, struct slice *ret_key)
{
	uint64_t number;

	if (is(word, "name"))
		return take(value, ret->name, sizeof(ret->name)) && text_is_name(value);
	if (is(word, "cluster"))
		return take(value, ret->cluster, sizeof(ret->cluster)) && text_is_name(value);
	if (is(word, "pool"))
		return take(value, ret->pool, sizeof(ret->pool)) && text_is_name(value);
	if (is(word, "address"))
		return take(value, ret->address, sizeof(ret->address));
	if (is(word, "labels"))
		return take(value, ret->labels, sizeof(ret->labels));
	if (is(word, "resources"))
		return take(value, ret->resources, sizeof(ret->resources));
	if (is(word, "slots")) {
		if (!text_parse_u64(value, &number) || number > LIMIT_SLOTS_MAX)
			return false;
		ret->slots = (uint32_t)number;
		return true;
	}
	if (is(word, "stopped")) {
		ret->stopped = is(value, "yes");
		return true;
	}
	if (is(word, "key") && ret_key != NULL) {
		*ret_key = value;
		return true;
	}
	return false;
}

enum err far_config_parse(struct slice text, struct far_config *ret, struct slice *ret_key, struct error *error)
{
	size_t number = 0;

	*ret = (struct far_config){ .slots = 0 };
	for (const uint8_t *at = text.data, *end = at + text.len; at < end && *at != '\n';) {
		const uint8_t *line_end = memchr(at, '\n', (size_t)(end - at)), *space;
		struct slice line = slice_make(at, (size_t)((line_end ? line_end : end) - at));

		number++;
		space = memchr(line.data, ' ', line.len);
		if (space == NULL || !take_line(slice_make(line.data, (size_t)(space - line.data)),
						slice_make(space + 1, (size_t)(line.data + line.len - space) - 1), ret, ret_key))
			return error_set(error, ERR_INVALID, "line %zu of the worker's settings can't be understood", number);
		at = line.data + line.len + (line_end != NULL);
	}
	if (ret->name[0] == '\0' || ret->cluster[0] == '\0' || ret->address[0] == '\0')
		return error_set(error, ERR_INVALID, "the worker's settings lack name, cluster or address");
	return ERR_NONE;
}

enum err far_config_read(const char *dir, struct far_config *ret, struct error *error)
{
	char path[PATH_MAX];
	struct buf text = { 0 };
	enum err err;
	int result;

	snprintf(path, sizeof(path), "%s/" FAR_CONF, dir);
	result = io_read_file(AT_FDCWD, path, CONF_MAX, &text);
	err = result < 0 ? error_system(error, -result, "can't read %s", path) : far_config_parse(buf_slice(&text), ret, NULL, error);
	buf_free(&text);
	return err;
}

static void add_line(struct buf *out, const char *word, const char *value)
{
	if (value[0] != '\0')
		buf_addf(out, "%s %s\n", word, value);
}

enum err far_config_write(const char *dir, const struct far_config *config, struct error *error)
{
	char path[PATH_MAX];
	struct buf text = { 0 };
	int result;

	add_line(&text, "name", config->name);
	add_line(&text, "cluster", config->cluster);
	add_line(&text, "address", config->address);
	add_line(&text, "pool", config->pool);
	add_line(&text, "labels", config->labels);
	add_line(&text, "resources", config->resources);
	buf_addf(&text, "slots %u\n", config->slots);
	add_line(&text, "stopped", config->stopped ? "yes" : "");
	snprintf(path, sizeof(path), "%s/" FAR_CONF, dir);
	result = io_write_file(AT_FDCWD, path, text.data, text.len, 0600);
	buf_free(&text);
	return result < 0 ? error_system(error, -result, "can't write %s", path) : ERR_NONE;
}

void far_options(const char *dir, const struct far_config *config, const char *key_path, struct worker_options *ret)
{
	*ret = (struct worker_options){
		.name = config->name, .slots = config->slots, .labels = config->labels, .resources = config->resources,
		.address = config->address, .key_path = key_path, .pool = config->pool, .ready_fd = -1,
	};
	snprintf(ret->statedir.dir, sizeof(ret->statedir.dir), "%s", dir);
	snprintf(ret->statedir.cluster, sizeof(ret->statedir.cluster), "%s", config->cluster);
}
