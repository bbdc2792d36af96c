/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands that "titan worker add" and its kin run on the machine of a worker, through ssh. */
#include "worker/far.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/sha256.h"
#include "base/text.h"
#include "net/keyfile.h"

#define INPUT_MAX ((size_t)4 * FAR_LIST_MAX)

/* Print one line of the answer. */
static void answer(const char *word, const char *text)
{
	struct buf line = { 0 };

	buf_addf(&line, FAR_ANSWER "%s", word);
	if (text[0] != '\0') {
		buf_add_byte(&line, ' ');
		text_escape(&line, slice_str(text), TEXT_KEEP_NONE);
	}
	buf_add_byte(&line, '\n');
	io_write_all(STDOUT_FILENO, line.data, line.len);
	buf_free(&line);
}

static int fail(const struct error *error)
{
	answer("failed", error->text);
	return err_exit_status(error->code);
}

/* Read stdin up to its empty line. The other side keeps stdin open as long as it wants the answer. */
static enum err read_settings(struct buf *text, struct error *error)
{
	for (;;) {
		uint8_t byte;
		ssize_t count = read(STDIN_FILENO, &byte, 1);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return error_set(error, ERR_INVALID, "stdin ended before the worker's settings did");
		if (byte == '\n' && text->len > 0 && text->data[text->len - 1] == '\n')
			return ERR_NONE;
		if (text->len == INPUT_MAX)
			return error_set(error, ERR_TOO_LARGE, "the worker's settings have more than %zu bytes", INPUT_MAX);
		buf_add_byte(text, byte);
	}
}

static void key_path_of(const char *dir, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s/" FAR_KEY, dir);
}

static enum err keep_key(const char *dir, struct slice text, struct error *error)
{
	char path[PATH_MAX];
	struct key key;
	enum err err = key_parse(text, "stdin", &key, error);

	if (err == ERR_NONE) {
		key_path_of(dir, path);
		unlink(path);
		err = keyfile_write(path, &key, error);
	}
	explicit_bzero(&key, sizeof(key));
	return err;
}

/* Store the settings and the key, end the worker that runs with other settings, and start it. */
static enum err replace(const char *dir, const struct far_config *config, const char *key, struct error *error)
{
	struct far_config old;
	struct error none;
	enum err err = ERR_NONE;

	if (far_config_read(dir, &old, &none) == ERR_NONE && far_is_served(dir, &old))
		err = far_stop(dir, &old, false, error);
	if (err == ERR_NONE)
		err = far_config_write(dir, config, error);
	if (err == ERR_NONE && key[0] != '\0')
		err = keep_key(dir, slice_str(key), error);
	return err == ERR_NONE ? far_launch(dir, config, error) : err;
}

static int start(const char *dir)
{
	struct statedir statedir = { .cluster = "" };
	struct error error = { 0 };
	struct far_config config;
	char key[FAR_KEY_MAX] = "";
	struct buf text = { 0 };
	enum err err = read_settings(&text, &error);
	int made, lock_fd = -1;

	if (err == ERR_NONE)
		err = far_config_parse(buf_slice(&text), &config, key, &error);
	if (err == ERR_NONE) {
		snprintf(statedir.dir, sizeof(statedir.dir), "%s", dir);
		made = statedir_make(&statedir);
		if (made < 0)
			err = error_state_dir(&error, -made, dir);
	}
	if (err == ERR_NONE) {
		lock_fd = far_lock(dir);
		err = replace(dir, &config, key, &error);
	}
	explicit_bzero(key, sizeof(key));
	if (text.data)
		explicit_bzero(text.data, text.len);
	buf_free(&text);
	if (lock_fd >= 0)
		close(lock_fd);
	if (err != ERR_NONE)
		return fail(&error);
	answer("started", "");
	return 0;
}

/* Become the worker. */
static int run(const char *dir)
{
	struct worker_options options;
	struct far_config config;
	struct error error = { 0 };
	char key_path[PATH_MAX];
	int status;

	if (far_config_read(dir, &config, &error) != ERR_NONE) {
		fprintf(stderr, "titan: %s\n", error.text);
		return err_exit_status(error.code);
	}
	key_path_of(dir, key_path);
	far_options(dir, &config, key_path, &options);
	options.ready_fd = fcntl(3, F_GETFD) >= 0 ? 3 : -1;
	status = guardian_run(&options, &error);
	if (error.code != ERR_NONE)
		fprintf(stderr, "titan: %s\n", error.text);
	return status;
}

static int stop(const char *dir, bool now, bool remove)
{
	struct far_config config;
	struct error error = { 0 };
	int lock_fd = far_lock(dir), result = 0;
	enum err err = far_config_read(dir, &config, &error);

	if (err != ERR_NONE && remove && lock_fd < 0) {
		answer("stopped", "");   /* the worker's directory was removed before, so there is nothing to stop */
		return 0;
	}
	/* Record this first, so that no bridge starts the worker again. */
	if (err == ERR_NONE) {
		snprintf(config.stopped, sizeof(config.stopped), "yes");
		err = far_config_write(dir, &config, &error);
	}
	if (err == ERR_NONE)
		err = far_stop(dir, &config, now, &error);
	if (err == ERR_NONE && remove)
		result = io_remove_tree(AT_FDCWD, dir);
	if (result < 0)
		err = error_system(&error, -result, "can't remove %s", dir);
	if (lock_fd >= 0)
		close(lock_fd);
	if (err != ERR_NONE)
		return fail(&error);
	answer("stopped", "");
	return 0;
}

/* Start the worker if its process is gone, as after a reboot, and no person has stopped it. */
static int wake(const char *dir)
{
	struct error error = { 0 };
	int lock_fd = far_lock(dir);
	enum err err = far_wake(dir, &error);

	if (lock_fd >= 0)
		close(lock_fd);
	if (err == ERR_NONE)
		return 0;
	fprintf(stderr, "titan: %s\n", error.text);
	return err_exit_status(err);
}

static int tell_state(const char *dir)
{
	struct far_config config;
	struct error error = { 0 };

	if (far_config_read(dir, &config, &error) != ERR_NONE)
		answer("state", "absent");
	else
		answer("state", far_is_served(dir, &config) ? "running" : config.stopped[0] ? "stopped" : "dead");
	return 0;
}

int far_version(bool hash)
{
	static uint8_t bytes[65536];
	uint8_t digest[SHA256_SIZE];
	struct sha256 sum;
	ssize_t count;
	int fd;

	if (!hash) {
		printf("titan " TITAN_VERSION "\n");
		return 0;
	}
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "titan: can't read this program through /proc/self/exe: %s\n", strerror(errno));
		return err_exit_status(ERR_SYSTEM);
	}
	sha256_init(&sum);
	while ((count = read(fd, bytes, sizeof(bytes))) > 0)
		sha256_add(&sum, slice_make(bytes, (size_t)count));
	close(fd);
	sha256_end(&sum, digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		printf("%02x", digest[i]);
	printf("\n");
	return 0;
}

int far_main(int argc, char **argv)
{
	const char *verb = argc > 2 ? argv[2] : "", *dir = argc > 3 ? argv[3] : NULL;

	if (strcmp(verb, "hash") == 0)
		return far_version(true);
	if (dir && dir[0] == '/' && strlen(dir) < PATH_MAX - 256) {
		if (strcmp(verb, "start") == 0)
			return start(dir);
		if (strcmp(verb, "run") == 0)
			return run(dir);
		if (strcmp(verb, "state") == 0)
			return tell_state(dir);
		if (strcmp(verb, "bridge") == 0 && argc > 4)
			return far_bridge(dir, argv[4]);
		if (strcmp(verb, "wake") == 0)
			return wake(dir);
		if (strcmp(verb, "check") == 0)
			return far_check(dir);
		if (strcmp(verb, "stop") == 0)
			return stop(dir, false, false);
		if (strcmp(verb, "end") == 0)
			return stop(dir, true, false);
		if (strcmp(verb, "remove") == 0)
			return stop(dir, true, true);
	}
	fprintf(stderr, "titan: '%s' isn't run by hand; titan worker add runs it on other machines\n", FAR_WORD);
	return err_exit_status(ERR_USAGE);
}
