/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan output: called inside a job, puts out values, which are appended to the file that TITAN_OUTPUT names. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "proto/job_output.h"
#include "proto/limits.h"

/* Write NAME<<END, the value and END, with a word that is no line of the value. */
static void add_value(struct buf *out, struct slice name, struct slice value)
{
	char end[40];

	for (unsigned number = 0;; number++) {
		snprintf(end, sizeof(end), "TITAN_END_%u", number);
		if (value.len == 0 || memmem(value.data, value.len, end, strlen(end)) == NULL)
			break;
	}
	buf_add_slice(out, name);
	buf_addf(out, "<<%s\n", end);
	buf_add_slice(out, value);
	buf_addf(out, "%s%s\n", value.len > 0 ? "\n" : "", end);
}

static enum err add_output(struct cli *cli, struct slice name, struct slice value, struct buf *out)
{
	if (!text_is_name(name)) {
		error_set(&cli->error, ERR_USAGE, "'%.*s' can't be the name of an output: it may only have letters, digits and _ . -",
			  name.len < 60 ? (int)name.len : 60, (const char *)name.data);
		return ERR_USAGE;
	}
	if (value.len > LIMIT_OUTPUT_VALUE_MAX) {
		error_set(&cli->error, ERR_TOO_LARGE, "the value of '%.*s' has %zu bytes; an output may have at most %d", (int)name.len,
			  (const char *)name.data, value.len, LIMIT_OUTPUT_VALUE_MAX);
		error_next(&cli->error, "keep the value in a file that the other jobs can read, and put out its path");
		return ERR_TOO_LARGE;
	}
	add_value(out, name, value);
	return ERR_NONE;
}

/* Read the value of one output from a file, or from standard input. */
static enum err read_file(struct cli *cli, const char *path, struct buf *out)
{
	struct slice name = slice_str(cli->invocation->args[0]);
	struct buf bytes = { 0 };
	int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int result = fd < 0 ? -errno : 0;
	enum err err;

	while (result == 0 && bytes.len <= LIMIT_OUTPUT_VALUE_MAX) {
		ssize_t got = read(fd, buf_reserve(&bytes, 4096), 4096);

		if (got == 0)
			break;
		if (got > 0)
			bytes.len += (size_t)got;
		else if (errno != EINTR)
			result = -errno;
	}
	if (fd > STDIN_FILENO)
		close(fd);
	if (result < 0)
		err = error_system(&cli->error, -result, "can't read %s", path);
	else
		err = add_output(cli, name, buf_slice(&bytes), out);
	buf_free(&bytes);
	return err;
}

static enum err read_words(struct cli *cli, struct buf *out)
{
	enum err err = ERR_NONE;

	for (size_t i = 0; err == ERR_NONE && i < cli->invocation->arg_count; i++) {
		const char *word = cli->invocation->args[i], *equals = strchr(word, '=');

		if (!equals)
			return error_set(&cli->error, ERR_USAGE, "'%s' must have the form NAME=VALUE; for a file write titan output NAME --file FILE", word);
		err = add_output(cli, slice_make(word, (size_t)(equals - word)), slice_str(equals + 1), out);
	}
	return err;
}

/* Append all at once, so that jobs may put out from several processes. */
static enum err append(struct cli *cli, const char *path, const struct buf *bytes)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	int result = fd < 0 ? -errno : io_write_all(fd, bytes->data, bytes->len);

	if (fd >= 0)
		close(fd);
	return result < 0 ? error_system(&cli->error, -result, "can't write to %s", path) : ERR_NONE;
}

int cmd_output(struct cli *cli)
{
	const char *path = getenv("TITAN_OUTPUT"), *file = option_value(cli->invocation, OPT_output_file);
	struct buf bytes = { 0 };
	enum err err;

	if (!path || !path[0]) {
		error_set(&cli->error, ERR_USAGE, "there is no TITAN_OUTPUT: titan output works only inside a job that declares outputs");
		error_next(&cli->error, "add outputs: [NAME] to the job in its pipeline; what a job printed is shown by titan logs RUN/JOB");
		return cli_fail(cli);
	}
	if (file && (cli->invocation->arg_count != 1 || strchr(cli->invocation->args[0], '=')))
		err = error_set(&cli->error, ERR_USAGE, "with --file give one NAME, without a value");
	else
		err = file ? read_file(cli, file, &bytes) : read_words(cli, &bytes);
	if (err == ERR_NONE)
		err = append(cli, path, &bytes);
	buf_free(&bytes);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}
