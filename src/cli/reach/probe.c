/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command must mean the same to every login shell through which sshd may run it, so it is "exec /bin/sh -c '...'"
 * without a single quote, a '!' or a newline inside. The sentinel is written in two halves, so that a shell that only
 * repeats the command doesn't print it.
 */
#include "cli/reach/probe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/rand.h"
#include "base/text.h"

#define SENTINEL "titan-"

void nonce_make(char ret_nonce[NONCE_SIZE])
{
	uint8_t random[(NONCE_SIZE - 1) / 2];

	rand_system(random, sizeof(random));
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(ret_nonce + 2 * i, 3, "%02x", random[i]);
}

void sentinel_command(const char *nonce, const char *script, struct buf *out)
{
	buf_addf(out, "exec /bin/sh -c 'echo " SENTINEL "\"\"%s; LC_ALL=C; PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin; "
		 "export LC_ALL PATH; umask 077; %s'", nonce, script);
}

bool sentinel_find(const struct buf *said, const char *nonce, struct slice *ret_rest, size_t *ret_noise)
{
	char line[NONCE_SIZE + 16];
	size_t len = (size_t)snprintf(line, sizeof(line), SENTINEL "%s\n", nonce);
	const uint8_t *at = said->len > 0 ? memmem(said->data, said->len, line, len) : NULL;

	if (at == NULL)
		return false;
	*ret_noise = (size_t)(at - said->data);
	*ret_rest = slice_make(at + len, said->len - *ret_noise - len);
	return true;
}

void probe_command(const char *nonce, struct buf *out)
{
	sentinel_command(nonce,
		"echo system $(uname -s); echo processor $(uname -m); echo client $SSH_CONNECTION; "
		"if [ \"$(loginctl show-user \"$(id -un)\" -p Linger --value 2>/dev/null)\" = no ] && "
		"[ \"$(busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager "
		"KillUserProcesses 2>/dev/null)\" = \"b true\" ]; then echo logout kills; fi; "
		"for d in \"$HOME/.local/share/titan\" \"$HOME/.cache/titan\" \"$XDG_RUNTIME_DIR/titan\" \"/var/tmp/titan-$(id -u)\"; do "
		"[ \"$d\" = /titan ] && continue; "
		"set -- x x x 0; state=unusable; t=\"$d/.probe.$$\"; "
		"if mkdir -p \"$d\" 2>/dev/null && [ -O \"$d\" ] && [ -w \"$d\" ]; then "
		"set -- $(df -Pk \"$d\" 2>/dev/null | tail -n 1); "
		"if printf \"#\\041/bin/sh\\necho runs\\n\" 2>/dev/null >\"$t\" && [ -s \"$t\" ]; then "
		"state=noexec; chmod 700 \"$t\"; [ \"$(\"$t\" 2>/dev/null)\" = runs ] && state=ok; "
		"elif [ -e \"$t\" ]; then state=full; fi; rm -f \"$t\"; rmdir \"$d\" 2>/dev/null; fi; "
		"echo place $state \"${4:-0}\" \"$d\"; done; echo end", out);
}

static void copy_word(struct slice value, char *out, size_t size)
{
	size_t len = 0;

	while (len < value.len && len + 1 < size && value.data[len] > ' ' && value.data[len] < 127) {
		out[len] = (char)value.data[len];
		len++;
	}
	out[len] = '\0';
}

static void take_place(const char *value, struct probe *ret)
{
	static const char *const states[] = { "ok", "unusable", "noexec", "full" };
	char word[16], path[PATH_MAX / 4];
	struct probe_place *place = &ret->places[ret->place_count];
	uint64_t free_kib;

	_Static_assert(sizeof(path) == 1024, "the width below");
	if (ret->place_count == PROBE_PLACES || sscanf(value, "%15s %" SCNu64 " %1023[^\n]", word, &free_kib, path) != 3)
		return;
	place->state = PLACE_UNUSABLE;
	for (unsigned state = 0; state < sizeof(states) / sizeof(states[0]); state++)
		if (strcmp(word, states[state]) == 0)
			place->state = (enum place_state)state;
	place->free_kib = free_kib;
	snprintf(place->path, sizeof(place->path), "%s", path);
	if (!machine_path_is_plain(path) || strstr(path, "/../"))
		place->state = PLACE_UNUSABLE;
	ret->place_count++;
}

bool probe_parse(const struct buf *said, const char *nonce, struct probe *ret)
{
	struct slice rest;
	bool ended = false;

	*ret = (struct probe){ .place_count = 0 };
	if (!sentinel_find(said, nonce, &rest, &ret->noise))
		return false;
	while (rest.len > 0 && !ended) {
		const uint8_t *line_end = memchr(rest.data, '\n', rest.len);
		size_t len = line_end ? (size_t)(line_end - rest.data) : rest.len;
		char line[PATH_MAX / 4 + 64];

		snprintf(line, sizeof(line), "%.*s", (int)len, (const char *)rest.data);
		if (strncmp(line, "system ", 7) == 0)
			copy_word(slice_str(line + 7), ret->system, sizeof(ret->system));
		else if (strncmp(line, "processor ", 10) == 0)
			copy_word(slice_str(line + 10), ret->processor, sizeof(ret->processor));
		else if (strncmp(line, "client ", 7) == 0)
			copy_word(slice_str(line + 7), ret->client, sizeof(ret->client));
		else if (strcmp(line, "logout kills") == 0)
			ret->logout_kills = true;
		else if (strncmp(line, "place ", 6) == 0)
			take_place(line + 6, ret);
		ended = strcmp(line, "end") == 0;
		rest = slice_make(rest.data + len, rest.len - len);
		if (rest.len > 0)
			rest = slice_make(rest.data + 1, rest.len - 1);
	}
	return ended;
}

enum err probe_choose(const struct probe *probe, const struct machine *machine, uint64_t need_kib, const char **ret_path,
		      struct error *error)
{
	static const char *const words[] = { "too little space", "not writable", "mounted noexec", "full" };
	struct buf list = { 0 };
	bool full = false;

	for (size_t i = 0; i < probe->place_count; i++) {
		const struct probe_place *place = &probe->places[i];

		if (place->state == PLACE_OK && place->free_kib >= need_kib) {
			*ret_path = place->path;
			buf_free(&list);
			return ERR_NONE;
		}
		full = full || place->state == PLACE_FULL || place->state == PLACE_OK;
		buf_addf(&list, "%s%s is %s", list.len ? ", " : "", place->path,
			 place->state == PLACE_OK ? "nearly full" : words[place->state]);
	}
	error_set(error, ERR_SYSTEM, "no directory at %s can hold titan and run it: %s", machine->destination, buf_cstr(&list));
	buf_free(&list);
	return error_next(error, full ? "ssh %s df -h; make %" PRIu64 " MB of room there" : "ssh %s mount; titan needs a directory there "
			  "that programs can run from, with %" PRIu64 " MB", machine->destination, need_kib / 1024 + 1);
}
