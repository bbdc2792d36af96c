/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the pipelines to run. A file is read whole, but not beyond the size limit. */
#include "cli/graph/load_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "proto/limits.h"

/* how long to wait for a writer to a pipe: a command that was started together with titan writes sooner */
#define WRITER_MS 2000

/* Read until the end. Until expect_ns (monotonic) an empty pipe may still get a writer; 0: empty input is the end. */
static enum err read_all(struct cli *cli, int fd, const char *what, size_t max, int64_t expect_ns, struct buf *out)
{
	for (;;) {
		uint8_t *place = buf_reserve(out, 65536);
		ssize_t got = read(fd, place, 65536);
		bool has_writer = got < 0 && errno == EAGAIN;
		enum err err;

		if (has_writer || (got == 0 && out->len == 0 && clock_mono_ns() < expect_ns)) {
			err = cli_wait_for(cli, fd, POLLIN, has_writer ? TIME_NEVER : expect_ns);
			if (err != ERR_NONE && err != ERR_PENDING)
				return err;
			/* Something came: bytes, or a writer that has already closed the pipe, which ends the input. */
			if (err == ERR_NONE)
				expect_ns = 0;
		} else if (got == 0) {
			return ERR_NONE;
		} else if (got < 0 && errno != EINTR) {
			return error_system(&cli->error, errno, "can't read %s", what);
		}
		if (got > 0)
			out->len += (size_t)got;
		if (out->len > max)
			return error_set(&cli->error, ERR_TOO_LARGE, "%s has more than %zu bytes", what, max);
	}
}

enum err load_stdin(struct cli *cli, size_t max, struct buf *out)
{
	return read_all(cli, cli->session->in_fd, "standard input", max, 0, out);
}

/*
 * Read a named pipe, as made by <(command) or mkfifo. Until its writer opens it, such a pipe looks as if it had ended.
 */
static enum err read_pipe(struct cli *cli, int fd, const char *path, struct buf *out)
{
	enum err err = read_all(cli, fd, path, LIMIT_PIPELINE_MAX, clock_mono_ns() + WRITER_MS * NS_PER_MS, out);

	if (err != ERR_NONE || out->len > 0)
		return err;
	error_set(&cli->error, ERR_INVALID, "%s is a pipe, and no program has it open for writing", path);
	return error_next(&cli->error, "write the pipeline to a regular file, or start the writer of the pipe first");
}

enum err load_file(struct cli *cli, const char *path, struct buf *text)
{
	int fd;
	struct stat info;
	enum err err;

	if (strcmp(path, LOAD_STDIN) == 0)
		/* the session's input, which may be another descriptor than 0 */
		return load_stdin(cli, LIMIT_PIPELINE_MAX, text);
	/* O_NONBLOCK: opening a pipe would wait for its writer. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		int why = errno;

		error_system(&cli->error, why, "can't open %s", path);
		if (why == ENOENT)
			cli->error.code = ERR_NOT_FOUND;
		return cli->error.code;
	}
	if (fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode))
		err = read_pipe(cli, fd, path, text);
	else
		err = read_all(cli, fd, path, LIMIT_PIPELINE_MAX, 0, text);
	close(fd);
	return err;
}

/* The pipeline's name from its file: "deploy" from "ci/deploy.yaml"; "pipeline" if that is no valid name. */
static struct slice name_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	struct slice name = slice_make(base, dot && dot != base ? (size_t)(dot - base) : strlen(base));

	return text_is_name(name) ? name : slice_str("pipeline");
}

static size_t name_len(struct slice given)
{
	const uint8_t *equals = memchr(given.data, '=', given.len);

	return equals ? (size_t)(equals - given.data) : given.len;
}

static bool given_twice(struct cli *cli, struct slice_list given)
{
	for (size_t i = 0; i < given.n; i++)
		for (size_t before = 0; before < i; before++) {
			size_t len = name_len(given.at[i]);

			if (len != name_len(given.at[before]) || memcmp(given.at[i].data, given.at[before].data, len) != 0)
				continue;
			error_set(&cli->error, ERR_USAGE, "--param: '%.*s' is given twice", (int)len,
				  (const char *)given.at[i].data);
			return true;
		}
	return false;
}

static const char *shown_path(const char *path)
{
	return strcmp(path, LOAD_STDIN) == 0 ? "standard input" : path;
}

const char *load_path_beside(struct cli *cli, const char *file, struct slice path)
{
	const char *slash = strrchr(file, '/');
	size_t lead = slash && path.data[0] != '/' ? (size_t)(slash + 1 - file) : 0;
	char *joined = arena_zalloc(&cli->arena, 1, lead + path.len + 1);

	memcpy(joined, file, lead);
	memcpy(joined + lead, path.data, path.len);
	return joined;
}

void load_explain_in(struct cli *cli, const struct pipeline_texts *texts, const char *path, struct dag_spot spot)
{
	struct slice included, text;
	size_t begin;

	pipeline_place(texts, spot.at, &included, &text, &begin);
	spot.at -= begin;
	load_explain(cli, text, included.len > 0 ? load_path_beside(cli, path, included) : shown_path(path), &spot);
}

struct including {                       /* the file whose included files are read */
	struct cli *cli;
	const char *path;
};

static enum err include_cb(void *arg, struct slice path, struct slice *ret_text, struct error *error)
{
	const struct including *including = arg;
	struct cli *cli = including->cli;
	const char *file = load_path_beside(cli, including->path, path);
	struct buf text = { 0 };
	enum err err;

	if (strcmp(file, LOAD_STDIN) == 0)
		return error_set(error, ERR_INVALID, "standard input can't be included");
	err = load_file(cli, file, &text);
	if (err != ERR_NONE)
		*error = cli->error;
	*ret_text = arena_copy(&cli->arena, buf_slice(&text));
	buf_free(&text);
	return err;
}

/*
 * Print the faults. A single one without a place in the text is left in cli->error, so that the caller can tell where the
 * parameters come from.
 */
static enum err tell_faults(struct cli *cli, const char *path, const struct pipeline_texts *texts, const struct dag_faults *faults)
{
	enum err code = faults->at[0].error.code;

	for (size_t i = 0; i < faults->count; i++) {
		const struct dag_fault *fault = &faults->at[i];

		cli->error = fault->error;
		if (fault->spot.len > 0) {
			load_explain_in(cli, texts, path, fault->spot);
			continue;
		}
		error_set(&cli->error, fault->error.code, "%s: %s", shown_path(path), fault->error.text);
		error_next(&cli->error, "%s", fault->error.next);
		if (faults->count == 1)
			return code;
		cli_fail(cli);
		cli->error.text[0] = '\0';
	}
	if (faults->left_out > 0)
		cli_note(cli, "%s has %zu more error%s", shown_path(path), faults->left_out, faults->left_out == 1 ? "" : "s");
	cli->error.code = code;
	return code;
}

enum err load_line(struct cli *cli, struct slice line, const char *what, const struct dag_old *old, struct dagline *ret)
{
	struct dag_faults faults;
	enum err err = dagline_read(line, old, &cli->arena, ret, &faults);

	return err == ERR_NONE ? err : tell_faults(cli, what, &(struct pipeline_texts){ .all = line }, &faults);
}

enum err load_source(struct cli *cli, const char *path, const struct pipeline_source *source, struct pipeline *ret)
{
	struct including including = { cli, path };
	struct pipeline_source whole = *source;
	struct dag_faults faults;
	enum err err;

	whole.include_cb = include_cb;
	whole.include_arg = &including;
	err = pipeline_read(&whole, &cli->arena, ret, &faults);
	if (err != ERR_NONE)
		return tell_faults(cli, path, &ret->texts, &faults);
	ret->name = ret->name.len ? ret->name : name_of_file(path);
	return ERR_NONE;
}

static enum err load_given(struct cli *cli, const char *path, enum option_id param, struct pipeline_source *source,
			   struct pipeline *ret)
{
	const struct invocation *invocation = cli->invocation;
	struct slice_list *given = &source->given;
	enum err err;

	given->at = arena_zalloc(&cli->arena, invocation->option_count + 1, sizeof(*given->at));
	for (size_t i = 0; i < invocation->option_count; i++)
		if (invocation->options[i].id == param)
			given->at[given->n++] = slice_str(invocation->options[i].value);
	if (given_twice(cli, *given))
		return ERR_USAGE;
	err = load_source(cli, path, source, ret);
	return err == ERR_NONE ? load_subs(cli, path, ret) : err;
}

enum err load_pipeline_text(struct cli *cli, const char *path, enum option_id param, const struct dag_old *old,
			    struct slice text, struct pipeline *ret)
{
	return load_given(cli, path, param, &(struct pipeline_source){ .text = text, .old = old }, ret);
}

enum err load_check(struct cli *cli, const char *path, enum option_id param, struct slice text, struct pipeline *ret)
{
	return load_given(cli, path, param, &(struct pipeline_source){ .text = text, .check_only = true }, ret);
}

enum err load_pipeline(struct cli *cli, const char *path, enum option_id param, const struct dag_old *old,
		       struct buf *text, struct pipeline *ret)
{
	enum err err = load_file(cli, path, text);

	return err == ERR_NONE ? load_pipeline_text(cli, path, param, old, buf_slice(text), ret) : err;
}
