/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/daemon/boot_text.h"

#include <stdio.h>
#include <string.h>

#include "base/sha256.h"

#define MARK "# titan up --boot: "       /* begins the comment at the end of a crontab's line */
#define CRON_LINE_MAX 990                /* bytes; some crons cut longer lines */

void boot_name(const struct statedir *statedir, char ret_name[BOOT_NAME_SIZE])
{
	uint8_t digest[SHA256_SIZE];
	struct sha256 sum;

	sha256_init(&sum);
	sha256_add(&sum, slice_str(statedir->dir));
	sha256_end(&sum, digest);
	snprintf(ret_name, BOOT_NAME_SIZE, "titan-%s-%02x%02x%02x%02x", statedir->cluster, digest[0], digest[1], digest[2],
		 digest[3]);
}

static enum err check_word(const char *word, struct error *error)
{
	for (const char *c = word; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return error_set(error, ERR_INVALID, "'%s' has a control character, so it can't be run at the start of the machine", word);
	return ERR_NONE;
}

/* A word for systemd: in double quotes, with its own meanings of backslash, percent and dollar taken away. */
static void add_for_systemd(const char *word, struct buf *out)
{
	buf_add_byte(out, '"');
	for (const char *c = word; *c; c++) {
		if (*c == '\\' || *c == '"')
			buf_add_byte(out, '\\');
		else if (*c == '%' || *c == '$')
			buf_add_byte(out, (uint8_t)*c);
		buf_add_byte(out, (uint8_t)*c);
	}
	buf_add_byte(out, '"');
}

static enum err add_command(const char *key, const char *const *words, struct buf *out, struct error *error)
{
	/* env is the program, because the words of the program itself may not have all characters. */
	buf_addf(out, "%s=/usr/bin/env", key);
	for (; *words; words++) {
		if (check_word(*words, error) != ERR_NONE)
			return error->code;
		buf_add_byte(out, ' ');
		add_for_systemd(*words, out);
	}
	buf_add_byte(out, '\n');
	return ERR_NONE;
}

enum err boot_unit(const char *cluster, const char *const *words, const char *const *stop_words, struct buf *out, struct error *error)
{
	enum err err;

	buf_addf(out, "# Written by titan up --boot; titan up --no-boot removes it.\n[Unit]\nDescription=titan cluster %s\n\n"
		 "[Service]\nType=oneshot\nRemainAfterExit=yes\nRestart=on-failure\nRestartSec=10\n", cluster);
	err = add_command("ExecStart", words, out, error);
	if (err == ERR_NONE)
		err = add_command("ExecStop", stop_words, out, error);
	buf_add_str(out, "\n[Install]\nWantedBy=default.target\n");
	return err;
}

/* A word for cron: in single quotes for the shell; cron itself takes an unescaped % for the end of the line. */
static enum err add_for_cron(const char *word, struct buf *out, struct error *error)
{
	if (check_word(word, error) != ERR_NONE)
		return error->code;
	if (strstr(word, "\\%"))
		return error_set(error, ERR_INVALID, "'%s' has a backslash before a percent sign, which can't be written in a crontab", word);
	buf_add_byte(out, '\'');
	for (const char *c = word; *c; c++) {
		if (*c == '\'')
			buf_add_str(out, "'\\'");
		else if (*c == '%')
			buf_add_byte(out, '\\');
		buf_add_byte(out, (uint8_t)*c);
	}
	buf_add_byte(out, '\'');
	return ERR_NONE;
}

enum err boot_cron_line(const char *name, const char *const *words, struct buf *out, struct error *error)
{
	size_t from = out->len;

	buf_add_str(out, "@reboot /usr/bin/env");
	for (; *words; words++) {
		buf_add_byte(out, ' ');
		if (add_for_cron(*words, out, error) != ERR_NONE)
			return error->code;
	}
	buf_addf(out, " " MARK "%s\n", name);
	if (out->len - from > CRON_LINE_MAX)
		return error_set(error, ERR_TOO_LARGE, "the line for the crontab has %zu bytes, but some crons read only %d", out->len - from,
				 CRON_LINE_MAX);
	return ERR_NONE;
}

static bool is_ours(struct slice line, const char *name)
{
	char mark[BOOT_NAME_SIZE + sizeof(MARK)];
	size_t len = (size_t)snprintf(mark, sizeof(mark), MARK "%s", name);

	return line.len >= len && line.data[0] == '@' && memcmp(line.data + line.len - len, mark, len) == 0;
}

bool boot_cron_replace(struct slice table, const char *name, struct slice line, struct buf *out)
{
	bool found = false;

	for (size_t from = 0, len; from < table.len; from += len + 1) {
		const uint8_t *at = table.data + from, *stop = memchr(at, '\n', table.len - from);

		len = stop ? (size_t)(stop - at) : table.len - from;
		if (!is_ours(slice_make(at, len), name)) {
			buf_add(out, at, len + (stop != NULL));
			continue;
		}
		if (!found)
			buf_add_slice(out, line);
		found = true;
	}
	if (found || line.len == 0)
		return found;
	if (out->len > 0 && out->data[out->len - 1] != '\n')
		buf_add_byte(out, '\n');
	buf_add_slice(out, line);
	return false;
}
