/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * worker.conf of a worker that titan worker add put on this machine: the settings for its starts, now and after a
 * reboot.
 */
#include "worker/far.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "base/text.h"
#include "net/wordfile.h"

#define FIELDS 7                         /* number of settings in the file; the key has a file of its own */

static void fields_of(struct far_config *config, char *key, struct word_field ret[FIELDS + 1])
{
	const struct word_field fields[FIELDS + 1] = {
		{ "name", config->name, sizeof(config->name) },
		{ "cluster", config->cluster, sizeof(config->cluster) },
		{ "address", config->address, sizeof(config->address) },
		{ "pool", config->pool, sizeof(config->pool) },
		{ "labels", config->labels, sizeof(config->labels) },
		{ "slots", config->slots, sizeof(config->slots) },
		{ "stopped", config->stopped, sizeof(config->stopped) },
		{ "key", key, FAR_KEY_MAX },
	};

	memcpy(ret, fields, sizeof(fields));
}

static enum err check(const struct far_config *config, const char *what, struct error *error)
{
	uint64_t slots = 0;

	if (text_is_name(slice_str(config->name)) && text_is_name(slice_str(config->cluster)) && config->address[0] != '\0' &&
	    (config->pool[0] == '\0' || text_is_name(slice_str(config->pool))) &&
	    (config->slots[0] == '\0' || (text_parse_u64(slice_str(config->slots), &slots) && slots <= LIMIT_SLOTS_MAX)))
		return ERR_NONE;
	return error_set(error, ERR_INVALID, "%s: name, cluster, address, pool or slots of the worker are wrong", what);
}

enum err far_config_parse(struct slice text, struct far_config *ret, char ret_key[FAR_KEY_MAX], struct error *error)
{
	struct word_field fields[FIELDS + 1];
	enum err err;

	fields_of(ret, ret_key, fields);
	err = words_read(text, fields, FIELDS + 1, "stdin", error);
	return err == ERR_NONE ? check(ret, "stdin", error) : err;
}

static void path_of(const char *dir, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s/" FAR_CONF, dir);
}

enum err far_config_read(const char *dir, struct far_config *ret, struct error *error)
{
	struct word_field fields[FIELDS + 1];
	char path[PATH_MAX];
	enum err err;

	path_of(dir, path);
	fields_of(ret, NULL, fields);
	err = words_read_file(path, fields, FIELDS, error);
	return err == ERR_NONE ? check(ret, path, error) : err;
}

int far_lock(const char *dir)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/far.lock", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	while (fd >= 0 && flock(fd, LOCK_EX) < 0 && errno == EINTR)
		;
	return fd;
}

enum err far_config_write(const char *dir, const struct far_config *config, struct error *error)
{
	struct far_config copy = *config;
	struct word_field fields[FIELDS + 1];
	char path[PATH_MAX];

	path_of(dir, path);
	fields_of(&copy, NULL, fields);
	return words_write_file(path, fields, FIELDS, error);
}

void far_options(const char *dir, const struct far_config *config, const char *key_path, struct worker_options *ret)
{
	uint64_t slots = 0;

	if (config->slots[0] != '\0')
		text_parse_u64(slice_str(config->slots), &slots);
	*ret = (struct worker_options){
		.name = config->name, .slots = (uint32_t)slots, .labels = config->labels, .address = config->address,
		.key_path = key_path, .pool = config->pool, .ready_fd = -1,
	};
	snprintf(ret->statedir.dir, sizeof(ret->statedir.dir), "%s", dir);
	snprintf(ret->statedir.cluster, sizeof(ret->statedir.cluster), "%s", config->cluster);
}
