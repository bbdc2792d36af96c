/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Removes secrets from typed lines, and keeps the lines in a file. */
#include "cli/repl/recall.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/map.h"
#include "base/mem.h"

#define LINES_MAX 2000                   /* lines remembered */
#define FILE_MAX  (4u << 20)             /* most bytes read of the file */

/* ---- secrets ---- */

static bool is_secret_name(const char *name, size_t len)
{
	static const char *const words[] = { "token", "secret", "password", "passwd", "key" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (size_t at = 0, n = strlen(words[i]); at + n <= len; at++)
			if (strncasecmp(name + at, words[i], n) == 0)
				return true;
	return false;
}

static bool in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* Find the end of a value: the next space outside quotes. */
static const char *value_end(const char *at)
{
	char quote = '\0';

	for (; *at != '\0'; at++) {
		if (*at == '\\' && at[1] != '\0' && quote != '\'')
			at++;
		else if (quote != '\0')
			quote = *at == quote ? '\0' : quote;
		else if (*at == '\'' || *at == '"')
			quote = *at;
		else if (strchr(" \t\n;,}", *at))
			break;
	}
	return at;
}

bool recall_clean(const char *line, struct buf *ret)
{
	const char *at = line;

	buf_clear(ret);
	if (line[0] == ' ' || line[strspn(line, " \t\n")] == '\0')
		return false;
	while (*at != '\0') {
		const char *name = at, *end;
		bool option;

		while (in_name(*at))
			at++;
		buf_add(ret, name, (size_t)(at - name));
		option = strncmp(name, "--", 2) == 0;
		if (at > name && is_secret_name(name, (size_t)(at - name)) && (*at == '=' || (option && *at == ' '))) {
			buf_add_byte(ret, (uint8_t)*at++);
			end = value_end(at + (*at == ' ' ? strspn(at, " ") : 0));
			if (end > at && *at != '-')
				buf_add_str(ret, "***");
			at = end > at && *at != '-' ? end : at;
		} else if (*at != '\0' && !in_name(*at)) {
			buf_add_byte(ret, (uint8_t)*at++);
		}
	}
	while (ret->len > 0 && strchr(" \t\n", ret->data[ret->len - 1]))
		buf_cut(ret, ret->len - 1);
	return true;
}

/* ---- lines ---- */

void recall_add(struct recall *recall, const char *line)
{
	uint64_t hash = hash_bytes(line, strlen(line), 0);

	for (size_t i = recall->count; i-- > 0;) {
		struct recall_entry *entry = &recall->entries[i];

		if (entry->hash != hash || strcmp(entry->line, line) != 0)
			continue;
		mem_free(entry->line);
		memmove(entry, entry + 1, (recall->count - i - 1) * sizeof(*entry));
		recall->count--;
		break;
	}
	if (recall->count == recall->room) {
		recall->room = recall->room ? recall->room * 2 : 64;
		recall->entries = mem_resize(recall->entries, recall->room, sizeof(*recall->entries));
	}
	recall->entries[recall->count++] = (struct recall_entry){ .line = mem_strdup(line), .hash = hash };
}

void recall_free(struct recall *recall)
{
	for (size_t i = 0; i < recall->count; i++)
		mem_free(recall->entries[i].line);
	mem_free(recall->entries);
	*recall = (struct recall){ 0 };
}

void recall_encode(const char *line, struct buf *out)
{
	for (; *line != '\0'; line++) {
		if (*line == '\n')
			buf_add_str(out, "\\n");
		else if (*line == '\\')
			buf_add_str(out, "\\\\");
		else
			buf_add_byte(out, (uint8_t)*line);
	}
	buf_add_byte(out, '\n');
}

void recall_decode(struct recall *recall, const char *text)
{
	struct buf line = { 0 };

	for (; *text != '\0'; text++) {
		if (*text == '\n') {
			if (line.len > 0)
				recall_add(recall, buf_cstr(&line));
			buf_clear(&line);
		} else if (*text == '\\' && text[1] != '\0' && text[1] != '\n') {
			text++;
			buf_add_byte(&line, *text == 'n' ? '\n' : (uint8_t)*text);
		} else {
			buf_add_byte(&line, (uint8_t)*text);
		}
	}
	buf_free(&line);
}

/* ---- the file ---- */

/* Write the path of the file, and make its directory. False: no home directory is known. */
static bool file_path(char path[PATH_MAX])
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int len;

	if (state != NULL && state[0] == '/')
		len = snprintf(path, PATH_MAX - 16, "%s/titan", state);
	else if (home != NULL && home[0] == '/')
		len = snprintf(path, PATH_MAX - 16, "%s/.local/state/titan", home);
	else
		return false;
	if (len >= PATH_MAX - 16)
		return false;
	for (char *at = path + 1; *at != '\0'; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	mkdir(path, 0700);
	snprintf(path + len, (size_t)(PATH_MAX - len), "/history");
	return true;
}

void recall_load(struct recall *recall)
{
	char path[PATH_MAX];
	struct buf text = { 0 };
	int result = file_path(path) ? io_read_file(AT_FDCWD, path, FILE_MAX, &text) : -ENOENT;
	size_t lines = 0, from;

	if (result == -EFBIG)
		unlink(path);            /* the file is larger than typing could make it: remove it */
	if (result != 0) {
		buf_free(&text);
		return;
	}
	for (size_t i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	recall_decode(recall, buf_cstr(&text));
	from = recall->count > LINES_MAX ? recall->count - LINES_MAX : 0;
	if (from > 0 || lines != recall->count) {
		buf_clear(&text);
		for (size_t i = from; i < recall->count; i++)
			recall_encode(recall->entries[i].line, &text);
		io_write_file(AT_FDCWD, path, text.data, text.len, 0600);
	}
	buf_free(&text);
}

void recall_save(const char *line)
{
	char path[PATH_MAX];
	struct buf text = { 0 };
	int fd;

	if (!file_path(path))
		return;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	recall_encode(line, &text);
	if (fchmod(fd, 0600) == 0)
		io_write_all(fd, text.data, text.len);
	close(fd);
	buf_free(&text);
}
