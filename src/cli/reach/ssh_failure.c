/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/reach/ssh_failure.h"

#include <string.h>
#include <sys/wait.h>

#include "base/text.h"

struct failure {
	int status;
	const char *text;
	enum err code;
	const char *sentence, *next;
};

static const struct failure failures[] = {
#define FAILURE(status, text, code, sentence, next) { status, text, ERR_##code, sentence, next },
#include "cli/reach/failures.def"
#undef FAILURE
};

static bool contains(const struct buf *where, const char *text)
{
	return where->len > 0 && memmem(where->data, where->len, text, strlen(text)) != NULL;
}

static const char *host_of(const struct machine *machine)
{
	const char *at = strrchr(machine->destination, '@');

	return at ? at + 1 : machine->destination;
}

static void add_ssh(const struct machine *machine, struct buf *out)
{
	buf_add_str(out, "ssh ");
	if (machine->ssh_config[0] != '\0')
		buf_addf(out, "-F %s ", machine->ssh_config);
	buf_add_str(out, machine->destination);
}

static void fill(const char *pattern, const struct machine *machine, struct buf *out)
{
	for (const char *at = pattern; *at; at++) {
		if (*at != '%') {
			buf_add_byte(out, (uint8_t)*at);
			continue;
		}
		at++;
		if (*at == 'D')
			buf_add_str(out, machine->destination);
		else if (*at == 'H')
			buf_add_str(out, host_of(machine));
		else if (*at == 'S')
			add_ssh(machine, out);
		else
			buf_add_byte(out, (uint8_t)*at);
	}
}

/* Add the place where ssh remembers another key of the machine, from its line "Offending KEY key in FILE:LINE". */
static void add_offending(const struct ssh_call *call, struct buf *out)
{
	static const char mark[] = "Offending ";
	const uint8_t *at, *end, *stop, *in;

	if (call->complained.len == 0)
		return;
	stop = call->complained.data + call->complained.len;
	at = memmem(call->complained.data, call->complained.len, mark, strlen(mark));
	if (!at || !(end = memchr(at, '\n', (size_t)(stop - at))) || !(in = memmem(at, (size_t)(end - at), " in ", 4)))
		return;
	while (end > in && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	buf_add_str(out, " (");
	buf_add(out, in + 4, (size_t)(end - in) - 4);
	buf_add_byte(out, ')');
}

enum err failure_of_login(const struct machine *machine, const struct ssh_call *call, struct error *error)
{
	int status = ssh_call_status(call);
	const struct failure *found = NULL;
	struct buf sentence = { 0 }, next = { 0 };

	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]) && !found; i++)
		if ((failures[i].status == 0 || failures[i].status == status) &&
		    (contains(&call->complained, failures[i].text) || contains(&call->said, failures[i].text)))
			found = &failures[i];
	if (found) {
		fill(found->sentence, machine, &sentence);
		if (strstr(found->text, "IDENTIFICATION"))
			add_offending(call, &sentence);
		fill(found->next, machine, &next);
		error_set(error, found->code, "%s", buf_cstr(&sentence));
	} else {
		add_ssh(machine, &next);
		if (call->timed_out)
			error_set(error, ERR_TIMEOUT, "%s took the login and then didn't answer in time", machine->destination);
		else if (status == 255)
			error_set(error, ERR_UNREACHABLE, "ssh to %s failed, or the login shell there did: ssh doesn't tell which",
				  machine->destination);
		else
			error_set(error, ERR_SYSTEM, "%s ran something else than the command that titan sent: its exit status is %d",
				  machine->destination, status);
	}
	error_next(error, "%s", buf_cstr(&next));
	buf_free(&sentence);
	buf_free(&next);
	return error->code;
}

enum err failure_of_command(const struct machine *machine, const struct ssh_call *call, const char *what, struct error *error)
{
	static const struct { const char *text, *why; } reasons[] = {
		{ "No space left", "its disk is full" }, { "Disk quota exceeded", "the quota is used up" },
		{ "File too large", "files may not be that large there" }, { "File size limit", "files may not be that large there" },
		{ "Read-only file system", "its file system is read-only" },
		{ "Exec format error", "the program isn't for its processor" },
		{ "Permission denied", "it isn't permitted" }, { "not found", "a program is missing there" },
	};
	struct buf next = { 0 };

	add_ssh(machine, &next);
	if (call->timed_out) {
		error_set(error, ERR_TIMEOUT, "%s at %s didn't end in time", what, machine->destination);
	} else {
		const char *why = NULL;

		for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]) && !why; i++)
			if (contains(&call->complained, reasons[i].text))
				why = reasons[i].why;
		error_set(error, ERR_SYSTEM, "%s at %s failed%s%s", what, machine->destination, why ? ": " : "", why ? why : "");
	}
	error_next(error, "%s", buf_cstr(&next));
	buf_free(&next);
	return error->code;
}
