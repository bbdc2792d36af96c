/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The steps of one machine. Whether a command ran there is told by its sentinel, not by ssh's exit status, which is 255
 * both if ssh failed and if the command was killed.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/reach/ssh_failure.h"
#include "cli/reach/placing.h"
#include "cli/session/output.h"
#include "proto/rights.h"

#define LOGIN_MS   60000
#define COPY_MS    600000
#define START_MS   120000
#define UP_NS      (60 * NS_PER_S)
#define HASH_SHORT 16                    /* number of digits of the hash in the program's file name */

void placing_fail(struct placings *placings, struct placing *placing)
{
	struct buf shown = { 0 };

	if (placing->drained && placings_resume(placings, placing) != ERR_NONE)
		error_clear(&placings->cli->error);
	placing->step = PLACING_FAILED;
	placing->result = "failed";
	ssh_call_last_lines(&placing->call, "   | ", &placing->details);
	if (placings->quiet)
		return;
	text_escape(&shown, slice_str(placing->error.text), TEXT_KEEP_NONE);
	cli_note(placings->cli, "%s: failed: %s", placing->machine.name, buf_cstr(&shown));
	if (placing->details.len > 0 && !placings->cli->settings.quiet)
		cli_tell(placings->cli, buf_slice(&placing->details));
	if (placing->error.next[0] != '\0')
		cli_note(placings->cli, "   try: %s", placing->error.next);
	buf_free(&shown);
}

static void fail_if(struct placings *placings, struct placing *placing, enum err err)
{
	if (err != ERR_NONE)
		placing_fail(placings, placing);
}

/* Start a command on the machine that first prints the sentinel with a new nonce. */
static void begin_script(struct placings *placings, struct placing *placing, enum placing_step step, const char *script, int64_t for_ms)
{
	struct buf command = { 0 };

	placing->step = step;
	nonce_make(placing->nonce);
	sentinel_command(placing->nonce, script, &command);
	fail_if(placings, placing, ssh_call_start(&placing->call, &placing->machine, buf_cstr(&command), step == PLACING_ALONE, for_ms,
						  &placing->error));
	buf_free(&command);
}

void placing_begin(struct placings *placings, struct placing *placing)
{
	struct buf command = { 0 };

	if (placing->act != NULL) {
		machine_far(&placing->machine, placing->machine.hash, placing->act, "", &command);
		placing->step = PLACING_ACT;
		fail_if(placings, placing, ssh_call_start(&placing->call, &placing->machine, buf_cstr(&command), false, START_MS,
							  &placing->error));
	} else {
		nonce_make(placing->nonce);
		probe_command(placing->nonce, &command);
		placing->step = PLACING_PROBE;
		fail_if(placings, placing, ssh_call_start(&placing->call, &placing->machine, buf_cstr(&command), false, LOGIN_MS,
							  &placing->error));
	}
	buf_free(&command);
}

/* Find a line of the machine's answer, such as "titan-far started", and return the text after its word. */
static bool answer_find(const struct buf *said, const char *word, char *out, size_t size)
{
	char mark[64];
	size_t len = (size_t)snprintf(mark, sizeof(mark), "titan-far %s", word);
	const uint8_t *at = said->len > 0 ? memmem(said->data, said->len, mark, len) : NULL, *end;

	if (at == NULL)
		return false;
	at += len;
	end = memchr(at, '\n', (size_t)(said->data + said->len - at));
	if (end == NULL)
		return false;
	if (at < end && *at == ' ')
		at++;
	snprintf(out, size, "%.*s", (int)(end - at), (const char *)at);
	return true;
}

static bool contains_line(struct slice text, const char *line)
{
	size_t len = strlen(line);

	for (const uint8_t *at = text.data, *end = at + text.len; at < end;) {
		const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));

		stop = stop ? stop : end;
		if ((size_t)(stop - at) == len && memcmp(at, line, len) == 0)
			return true;
		at = stop + 1;
	}
	return false;
}

/* ---- probe ---- */

static void look(struct placings *placings, struct placing *placing)
{
	const struct machine *machine = &placing->machine;
	struct buf script = { 0 };

	buf_addf(&script, "f=%s/titan.%.*s; if [ -x $f ]; then echo hash $($f far hash); ", machine->base, HASH_SHORT, placing->program->hash);
	if (placing->known)
		buf_addf(&script, "$f far state %s/%s; ", machine->base, machine->token);
	buf_add_str(&script, "fi; echo end");
	begin_script(placings, placing, PLACING_LOOK, buf_cstr(&script), LOGIN_MS);
	buf_free(&script);
}

static enum err judge_probe(struct placings *placings, struct placing *placing)
{
	struct machine *machine = &placing->machine;
	struct probe *probe = &placing->probe;
	const char *base;

	if (!probe_parse(&placing->call.said, placing->nonce, probe)) {
		struct slice rest;
		size_t noise;

		return sentinel_find(&placing->call.said, placing->nonce, &rest, &noise)
			       ? failure_of_command(machine, &placing->call, "the look around", &placing->error)
			       : failure_of_login(machine, &placing->call, &placing->error);
	}
	placing->probed = true;
	if (probe->noise > 0 && !placings->quiet)
		cli_note(placings->cli, "%s: its shell profile prints %zu bytes for every command, which were skipped", machine->name,
			 probe->noise);
	if (strcmp(probe->system, "Linux") != 0) {
		error_set(&placing->error, ERR_SYSTEM, "%s runs %s, and workers need Linux", machine->destination,
			  probe->system[0] ? probe->system : "no system that can be told");
		return ERR_SYSTEM;
	}
	if (remote_program_find(placings->cli, probe->processor, machine->destination, &placings->programs,
				&placing->program) != ERR_NONE) {
		placing->error = placings->cli->error;
		error_clear(&placings->cli->error);
		return placing->error.code;
	}
	if (placing->program->shared && !placings->quiet)
		cli_note(placings->cli, "%s: there is no titan-static beside titan, so titan itself is copied; it needs the same libraries there",
			 machine->name);
	if (machine->base[0] == '\0') {
		if (probe_choose(probe, machine, placing->program->bytes.len / 1024 * 2 + 1024, &base, &placing->error) != ERR_NONE)
			return placing->error.code;
		snprintf(machine->base, sizeof(machine->base), "%s", base);
	}
	return ERR_NONE;
}

static void after_probe(struct placings *placings, struct placing *placing)
{
	if (judge_probe(placings, placing) != ERR_NONE)
		placing_fail(placings, placing);
	else if (machine_is_bridged(&placing->machine))
		begin_script(placings, placing, PLACING_ALONE, "echo end", LOGIN_MS);
	else
		look(placings, placing);
}

static void after_alone(struct placings *placings, struct placing *placing)
{
	struct slice rest;
	size_t noise;

	if (sentinel_find(&placing->call.said, placing->nonce, &rest, &noise)) {
		look(placings, placing);
		return;
	}
	placing->alone_failed = true;
	error_set(&placing->error, ERR_DENIED, "you can log in to %s, but the master can't: it has no ssh agent, and it must come by ssh as it "
		  "doesn't listen for workers", placing->machine.destination);
	error_next(&placing->error, "titan down --leave-jobs && titan up --listen ADDRESS, then titan worker add --address ADDRESS %s; or an "
		   "IdentityFile without a passphrase", placing->machine.destination);
	placing_fail(placings, placing);
}

/* ---- look, copy ---- */

static void copy(struct placings *placings, struct placing *placing)
{
	const char *base = placing->machine.base, *hash = placing->program->hash;
	struct buf script = { 0 };

	cli_note(placings->cli, "%s: copying titan, %zu kB, to %s", placing->machine.name, placing->program->bytes.len / 1000, base);
	placing->call.payload = placing->program->bytes;
	buf_addf(&script, "f=%s/titan.%.*s; p=$f.$$.part; mkdir -p %s && cat >$p && chmod 700 $p && echo size $(wc -c <$p) && h=$($p far hash) && [ \"$h\" = %s ] && "
		 "mv $p $f && echo end; s=$?; rm -f $p; exit $s", base, HASH_SHORT, hash, base, hash);
	begin_script(placings, placing, PLACING_COPY, buf_cstr(&script), COPY_MS);
	buf_free(&script);
}

/* Make a key for the worker. It only has the role worker, for this worker's name. */
static enum err mint(struct placings *placings, struct placing *placing)
{
	struct machine *machine = &placing->machine;
	struct cli *cli = placings->cli;
	struct msg_set set = { .kind = OBJECT_TOKEN, .verb = SET_PUT, .number = ROLES_WORKER };
	struct msg_ok ok;
	enum err err;

	key_make(&placing->key, KEY_WORKER, machine->name);
	set.name = slice_str(key_id(&placing->key));
	set.text = slice_str(machine->name);
	set.secret = slice_make(placing->key.secret, sizeof(placing->key.secret));
	err = cli_call(cli, OP_SET, &set, OP_OK, &cli->arena, &ok);
	if (err != ERR_NONE) {
		placing->error = cli->error;
		error_clear(&cli->error);
		return err;
	}
	placing->minted = true;
	snprintf(machine->token, sizeof(machine->token), "%s", key_id(&placing->key));
	return ERR_NONE;
}

static void unmint(struct placings *placings, struct placing *placing)
{
	struct msg_set set = { .kind = OBJECT_TOKEN, .verb = SET_REMOVE, .name = slice_str(placing->machine.token) };
	struct msg_ok ok;

	if (placing->minted && cli_call(placings->cli, OP_SET, &set, OP_OK, &placings->cli->arena, &ok) != ERR_NONE)
		error_clear(&placings->cli->error);
	placing->minted = false;
}

void placing_start(struct placings *placings, struct placing *placing)
{
	struct machine *machine = &placing->machine;
	struct buf command = { 0 }, *input = &placing->call.input;

	placing->was_stopped = machine->stopped[0] != '\0';
	if ((!placing->known || placing->absent) && mint(placings, placing) != ERR_NONE) {
		placing_fail(placings, placing);
		return;
	}
	buf_addf(input, "name %s\ncluster %s\naddress %s\n", machine->name, placings->cli->statedir.cluster, machine->address);
	for (const char *const *line = (const char *const[]){ "slots", machine->slots, "pool", machine->pool, "labels", machine->labels, NULL };
	     *line; line += 2)
		if (line[1][0] != '\0')
			buf_addf(input, "%s %s\n", line[0], line[1]);
	if (placing->minted) {
		buf_add_str(input, "key ");
		key_write(&placing->key, input);
	}
	buf_add_byte(input, '\n');
	placing->call.holds_stdin = true;
	/* If logind ends the processes of users who log out, the worker must not be part of the login session. */
	buf_addf(&command, "exec /bin/sh -c 'exec %s%s/titan.%.*s far start %s/%s'",
		 placing->probe.logout_kills ? "systemd-run --user --scope -q " : "", machine->base, HASH_SHORT, placing->program->hash,
		 machine->base, machine->token);
	placing->step = PLACING_START;
	fail_if(placings, placing, ssh_call_start(&placing->call, machine, buf_cstr(&command), false, START_MS, &placing->error));
	buf_free(&command);
}

/* Start the worker; if an older one is connected, drain it first. */
static void replace(struct placings *placings, struct placing *placing)
{
	/* A new worker replaces none. Else ask the master: before the copy the machine may have no program that can tell. */
	if (!placing->known) {
		placing_start(placings, placing);
		return;
	}
	if (placings_drain(placings, placing) != ERR_NONE) {
		placing->error = placings->cli->error;
		error_clear(&placings->cli->error);
		placing_fail(placings, placing);
		return;
	}
	placing->step = PLACING_DRAIN;
	placing->until_ns = clock_mono_ns() + (placing->drained ? UP_NS : 0);
}

static void await_up(struct placing *placing)
{
	placing->step = PLACING_UP;
	placing->until_ns = clock_mono_ns() + UP_NS;
}

static void after_look(struct placings *placings, struct placing *placing)
{
	char hash[96];
	struct slice rest;
	size_t noise;

	if (!sentinel_find(&placing->call.said, placing->nonce, &rest, &noise) || !contains_line(rest, "end")) {
		failure_of_command(&placing->machine, &placing->call, "the look at what is installed", &placing->error);
		placing_fail(placings, placing);
		return;
	}
	snprintf(hash, sizeof(hash), "hash %s", placing->program->hash);
	placing->has_program = contains_line(rest, hash);
	answer_find(&placing->call.said, "state", placing->state, sizeof(placing->state));
	placing->running = strcmp(placing->state, "running") == 0;
	placing->absent = strcmp(placing->state, "absent") == 0;
	if (placing->known && placing->has_program && placing->running && !placing->changed_settings && !placing->restart &&
	    strcmp(placing->machine.hash, placing->program->hash) == 0) {
		placing->result = "nothing to change";
		if (placings->dry)
			placing->step = PLACING_DONE;
		else
			await_up(placing);
		return;
	}
	placing->result = !placing->known ? "added" : strcmp(placing->machine.hash, placing->program->hash) != 0 ? "upgraded"
			  : placing->running ? "restarted" : "started";
	if (placings->dry) {
		placing->step = PLACING_DONE;
		return;
	}
	if (placing->has_program)
		replace(placings, placing);
	else
		copy(placings, placing);
}

static void after_copy(struct placings *placings, struct placing *placing)
{
	struct slice rest;
	char size[32];
	size_t noise;

	if (sentinel_find(&placing->call.said, placing->nonce, &rest, &noise) && contains_line(rest, "end")) {
		replace(placings, placing);
		return;
	}
	snprintf(size, sizeof(size), "size %zu", placing->program->bytes.len);
	if (sentinel_find(&placing->call.said, placing->nonce, &rest, &noise) && contains_line(rest, size) && ssh_call_status(&placing->call) > 0) {
		error_set(&placing->error, ERR_SYSTEM, "%s has got all of titan and can't run it: what it says about its processor (%s) isn't true "
			  "for programs", placing->machine.destination, placing->probe.processor);
		error_next(&placing->error, "ssh %s file /bin/sh", placing->machine.destination);
	} else {
		failure_of_command(&placing->machine, &placing->call, "the copy of titan", &placing->error);
	}
	placing_fail(placings, placing);
}

/* ---- start ---- */

static void after_start(struct placings *placings, struct placing *placing)
{
	struct machine *machine = &placing->machine;
	char text[600];

	if (!answer_find(&placing->call.said, "started", text, sizeof(text))) {
		if (answer_find(&placing->call.said, "failed", text, sizeof(text))) {
			error_set(&placing->error, ERR_SYSTEM, "%s: %s", machine->destination, text);
			error_next(&placing->error, "ssh %s tail %s/%s/worker-%s.log", machine->destination, machine->base, machine->token,
				   machine->name);
		} else {
			failure_of_command(machine, &placing->call, "the start of the worker", &placing->error);
		}
		unmint(placings, placing);
		placing_fail(placings, placing);
		return;
	}
	snprintf(machine->hash, sizeof(machine->hash), "%s", placing->program->hash);
	machine->stopped[0] = '\0';
	if (machine_write(&placings->cli->statedir, machine, &placing->error) != ERR_NONE)
		placing_fail(placings, placing);
	else
		await_up(placing);
}

static void after_act(struct placings *placings, struct placing *placing)
{
	char text[600];

	if (answer_find(&placing->call.said, "stopped", text, sizeof(text))) {
		placing->step = PLACING_DONE;
		return;
	}
	if (answer_find(&placing->call.said, "failed", text, sizeof(text)))
		error_set(&placing->error, ERR_SYSTEM, "%s: %s", placing->machine.destination, text);
	else
		failure_of_login(&placing->machine, &placing->call, &placing->error);
	placing_fail(placings, placing);
}

void placing_go_on(struct placings *placings, struct placing *placing)
{
	placing->call.holds_stdin = false;
	switch (placing->step) {
	case PLACING_PROBE:
		after_probe(placings, placing);
		break;
	case PLACING_ALONE:
		after_alone(placings, placing);
		break;
	case PLACING_LOOK:
		after_look(placings, placing);
		break;
	case PLACING_COPY:
		after_copy(placings, placing);
		break;
	case PLACING_START:
		after_start(placings, placing);
		break;
	case PLACING_ACT:
		after_act(placings, placing);
		break;
	default:
		break;
	}
}
