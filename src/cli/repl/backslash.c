/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The console's own commands. They begin with a backslash, which no command of titan does. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/repl/repl_internal.h"
#include "cli/session/options.h"

#define WATCH_MS    2000
#define EDITED_MAX  (1u << 20)

typedef int backslash_fn(struct repl *repl, const struct typed_line *line);

static int usage(struct repl *repl, const char *text)
{
	repl_say(repl, "titan: %s\n   try: \\?\n", text);
	return err_exit_status(ERR_USAGE);
}

/* Switch a setting over, or set it to on or off. */
static int toggle(struct repl *repl, const struct typed_line *line, bool *setting, const char *what)
{
	const char *value = line->count > 1 ? line->words[1] : NULL;

	if (value && strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
		return usage(repl, "expected on or off");
	*setting = value ? strcmp(value, "on") == 0 : !*setting;
	repl_say(repl, "%s is %s\n", what, *setting ? "on" : "off");
	return 0;
}

static int do_expanded(struct repl *repl, const struct typed_line *line)
{
	return toggle(repl, line, &repl->expanded, "one line per field");
}

static int do_timing(struct repl *repl, const struct typed_line *line)
{
	return toggle(repl, line, &repl->timing, "timing");
}

static int do_json(struct repl *repl, const struct typed_line *line)
{
	return toggle(repl, line, &repl->json, "JSON");
}

static int write_file(void *arg, const void *data, size_t len)
{
	return io_write_all(*(int *)arg, data, len);
}

static int do_output(struct repl *repl, const struct typed_line *line)
{
	int fd = -1;

	if (line->count > 2)
		return usage(repl, "\\o takes one file");
	if (line->count == 2) {
		fd = open(line->words[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
		if (fd < 0) {
			struct buf name = { 0 };
			int why = errno;

			text_escape(&name, slice_str(line->words[1]), TEXT_KEEP_NONE);
			repl_say(repl, "titan: can't write to %s: %s\n", buf_cstr(&name), strerror(why));
			buf_free(&name);
			return err_exit_status(ERR_SYSTEM);
		}
	}
	if (repl->out_fd >= 0)
		close(repl->out_fd);
	repl->out_fd = fd;
	repl->inner.out = fd < 0 ? repl->session->out : (struct sink){ .write_cb = write_file, .arg = &repl->out_fd };
	return 0;
}

static int do_connect(struct repl *repl, const struct typed_line *line)
{
	const struct settings settings = { .cluster = line->count > 1 ? line->words[1] : NULL };
	const char *name = settings.cluster;
	struct remote_cluster remote;
	struct statedir statedir;
	struct error error;

	if (repl->options->stays)
		return usage(repl, "the dashboard stays with its cluster; for another one, start titan -C CLUSTER dash");
	if (line->count > 2)
		return usage(repl, "\\c takes one cluster");
	if (statedir_find(name, &statedir) != 0)
		return usage(repl, "that isn't a valid name for a cluster");
	if (clusters_find(&settings, &remote, &error) != ERR_NONE)
		return usage(repl, error.text);
	repl->remote = remote;
	repl->host = repl->key_file = NULL;
	mem_free(repl->cluster);
	repl->cluster = mem_strdup(name ? name : "default");
	repl->statedir = statedir;
	repl->moved = true;
	return 0;
}

/* Parse i=SECONDS or a time span, and c=COUNT. */
static bool watch_options(const struct typed_line *line, int64_t *ms, uint64_t *count)
{
	for (size_t i = 1; i < line->count; i++) {
		const char *word = line->words[i];
		uint64_t value;

		if (strncmp(word, "c=", 2) == 0) {
			if (!text_parse_u64(slice_str(word + 2), count) || *count == 0)
				return false;
			continue;
		}
		word += strncmp(word, "i=", 2) == 0 ? 2 : 0;
		if (text_parse_u64(slice_str(word), &value) && value < 86400)
			*ms = (int64_t)value * 1000;
		else if (clock_parse_span(word, ms) != 0)
			return false;
		if (*ms < 100)
			return false;
	}
	return true;
}

static int do_watch(struct repl *repl, const struct typed_line *line)
{
	char when[CLOCK_TEXT_SIZE], every[CLOCK_TEXT_SIZE];
	uint64_t count = 0;
	int64_t ms = WATCH_MS;
	struct arena arena = { 0 };
	struct typed_line again;
	char *text;
	int status = 0;

	if (!watch_options(line, &ms, &count))
		return usage(repl, "\\watch takes i=SECONDS, at least 100ms, and c=COUNT");
	if (repl->last == NULL)
		return usage(repl, "there is no command to repeat yet");
	text = mem_strdup(repl->last);
	typed_take(text, &arena, &again);
	for (uint64_t nth = 1;; nth++) {
		repl_say(repl, "%s, every %s: ", clock_format_local(clock_wall_ms(), when), clock_write_span(ms, every));
		for (size_t i = 0; i < again.count; i++) {
			struct buf word = { 0 };

			text_escape(&word, slice_str(again.words[i]), TEXT_KEEP_NONE);
			repl_say(repl, "%s ", buf_cstr(&word));
			buf_free(&word);
		}
		repl_say(repl, "\n");
		status = repl_do(repl, &again, text);
		if (status == err_exit_status(ERR_INTERRUPTED) || nth == count || !repl_pause(repl, ms))
			break;
	}
	arena_free(&arena);
	mem_free(text);
	return status;
}

static int do_edit(struct repl *repl, const struct typed_line *line)
{
	const char *editor = getenv("VISUAL"), *directory = getenv("XDG_RUNTIME_DIR");
	struct buf text = { 0 };
	char path[4096];
	int fd, status;

	(void)line;
	if (editor == NULL || editor[0] == '\0')
		editor = getenv("EDITOR");
	if (editor == NULL || editor[0] == '\0')
		editor = "vi";
	snprintf(path, sizeof(path), "%s/titan-edit.XXXXXX", directory && directory[0] == '/' ? directory : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0) {
		repl_say(repl, "titan: can't make a file to edit: %s\n", strerror(errno));
		return err_exit_status(ERR_SYSTEM);
	}
	if (repl->last)
		io_write_all(fd, repl->last, strlen(repl->last));
	close(fd);
	/*
	 * EDITOR may contain options, so a shell runs it. The file's name is passed as an argument and is never part of
	 * the shell's script.
	 */
	status = repl_spawn(repl, (char *[]){ (char[]){ "/bin/sh" }, (char[]){ "-c" }, (char[]){ "eval \"$1 \\\"\\$2\\\"\"" },
					      (char[]){ "sh" }, (char *)editor, path, NULL });
	if (status == 0 && io_read_file(AT_FDCWD, path, EDITED_MAX, &text) == 0) {
		mem_free(repl->edited);
		repl->edited = mem_strdup(buf_cstr(&text));
	}
	buf_free(&text);
	unlink(path);
	return status;
}

static int do_quit(struct repl *repl, const struct typed_line *line)
{
	(void)line;
	repl->over = true;
	return 0;
}

static int do_help(struct repl *repl, const struct typed_line *line)
{
	struct buf text = { 0 };

	(void)line;
	backslash_list(&text);
	repl_say(repl, "%s", buf_cstr(&text));
	buf_free(&text);
	return 0;
}

static const struct {
	const char *word, *argument, *help;
	backslash_fn *fn;
} table[] = {
	{ "\\?", "", "list these commands", do_help },
	{ "\\c", " [CLUSTER]", "talk to another cluster", do_connect },
	{ "\\e", "", "edit the last command in $VISUAL or $EDITOR, then run it", do_edit },
	{ "\\json", " [on|off]", "print results as JSON", do_json },
	{ "\\o", " [FILE]", "write results to a file; without FILE to the terminal again", do_output },
	{ "\\q", "", "end, as Ctrl-D does", do_quit },
	{ "\\timing", " [on|off]", "print how long each command took", do_timing },
	{ "\\watch", " [i=2] [c=N]", "repeat the last command every 2 seconds, N times or until Ctrl-C", do_watch },
	{ "\\x", " [on|off]", "print each field of a row on a line of its own", do_expanded },
};

#define TABLE_SIZE (sizeof(table) / sizeof(table[0]))

void backslash_list(struct buf *out)
{
	for (size_t i = 0; i < TABLE_SIZE; i++) {
		char left[32];

		snprintf(left, sizeof(left), "%s%s", table[i].word, table[i].argument);
		buf_addf(out, "  %-20s %s\n", left, table[i].help);
	}
	buf_addf(out, "  %-20s %s\n", "!COMMAND", "run a command of the shell; ! alone opens one");
	buf_addf(out, "  %-20s %s\n", "?", "list the words that may follow; Tab completes them");
}

void backslash_complete(const char *begun, struct buf *out)
{
	for (size_t i = 0; i < TABLE_SIZE; i++)
		if (strncmp(table[i].word, begun, strlen(begun)) == 0)
			buf_addf(out, "%s\t%s\n", table[i].word, table[i].help);
}

int backslash_do(struct repl *repl, const struct typed_line *line)
{
	struct buf word = { 0 };

	for (size_t i = 0; i < TABLE_SIZE; i++)
		if (strcmp(table[i].word, line->words[0]) == 0)
			return table[i].fn(repl, line);
	text_escape(&word, slice_str(line->words[0]), TEXT_KEEP_NONE);
	repl_say(repl, "titan: unknown command %s\n   try: \\?\n", buf_cstr(&word));
	buf_free(&word);
	return err_exit_status(ERR_USAGE);
}
