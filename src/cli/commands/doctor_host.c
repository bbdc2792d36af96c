/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan doctor HOST: takes the steps of titan worker add that only look, and tells what each found. Each step needs the one
 * before it, so the first problem ends the list.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "cli/commands/doctor.h"
#include "cli/reach/placing.h"
#include "cli/session/output.h"

#define TEXT_SIZE (PATH_MAX + 256)

/* Find the machine: that of a worker, or one that nothing is known about. */
static enum err take_host(struct cli *cli, const char *host, struct placing *placing)
{
	const char *config = option_value(cli->invocation, OPT_doctor_ssh_config);
	struct machine *machine = &placing->machine;
	char name[LIMIT_NAME_MAX_LEN + 1];
	struct error none;

	if (!destination_is_good(host)) {
		error_set(&cli->error, ERR_USAGE, "'%s' isn't a machine for ssh, as in HOST or USER@HOST", host);
		return error_next(&cli->error, "titan doctor --help");
	}
	placing->known = machine_read(&cli->statedir, host, machine, &none) == ERR_NONE;
	if (!placing->known) {
		machine_name_of(host, name);
		placing->known = machine_read(&cli->statedir, name, machine, &none) == ERR_NONE && strcmp(machine->destination, host) == 0;
	}
	if (!placing->known) {
		*machine = (struct machine){ .name = "" };
		snprintf(machine->name, sizeof(machine->name), "%s", name);
		snprintf(machine->destination, sizeof(machine->destination), "%s", host);
		snprintf(machine->address, sizeof(machine->address), "%s", BRIDGE_ADDRESS);
	}
	if (config == NULL)
		return ERR_NONE;
	if (io_absolute(config, machine->ssh_config) != 0)
		return error_set(&cli->error, ERR_USAGE, "--ssh-config: too long a path");
	if (access(machine->ssh_config, R_OK) == 0)
		return ERR_NONE;
	error_system(&cli->error, errno, "--ssh-config: can't read %s", machine->ssh_config);
	return cli->error.code = ERR_USAGE;
}

static void add_problem(const struct placing *placing, const char *check, enum finding_state verdict, struct findings *findings)
{
	struct buf text = { 0 };

	/* The last words of ssh or of the other machine; they are escaped and each stands on a line of its own. */
	buf_add_str(&text, placing->error.text);
	for (size_t i = 0; i < placing->details.len; i++)
		buf_add_byte(&text, placing->details.data[i] == '\n' ? ' ' : placing->details.data[i]);
	while (text.len > 0 && text.data[text.len - 1] == ' ')
		buf_cut(&text, text.len - 1);
	finding_add(findings, check, verdict, buf_cstr(&text), placing->error.next[0] ? placing->error.next : "titan help worker");
	buf_free(&text);
}

static void tell_probe(const struct placing *placing, struct findings *findings)
{
	const struct probe *probe = &placing->probe;
	char text[TEXT_SIZE];

	snprintf(text, sizeof(text), "ssh reaches %s, and commands run there", placing->machine.destination);
	finding_add(findings, "ssh", FINDING_OK, text, NULL);
	if (probe->noise == 0)
		return;
	snprintf(text, sizeof(text), "the shell's profile there prints %zu bytes for every command; titan skips them, other programs may not", probe->noise);
	finding_add(findings, "shell", FINDING_ADVICE, text, "print only in interactive shells: in .bashrc, behind: case $- in *i*) ;; *) return ;; esac");
}

static void tell_system(const struct placing *placing, struct findings *findings)
{
	char text[TEXT_SIZE];

	snprintf(text, sizeof(text), "%s on %s", placing->probe.system, placing->probe.processor);
	finding_add(findings, "system", FINDING_OK, text, NULL);
}

static void tell_program(const struct placing *placing, struct findings *findings)
{
	const struct remote_program *program = placing->program;
	char text[TEXT_SIZE];

	snprintf(text, sizeof(text), "%s is for this processor, %zu kB%s", program->path, program->bytes.len / 1000,
		 program->shared ? "; it needs the same libraries there" : "");
	finding_add(findings, "program", program->shared ? FINDING_ADVICE : FINDING_OK, text,
		    program->shared ? "install titan-static beside titan" : NULL);
}

static void tell_place(const struct placing *placing, struct findings *findings)
{
	static const char *const words[] = { "not needed", "not writable", "mounted noexec", "full" };
	const struct probe *probe = &placing->probe;
	struct buf text = { 0 };

	buf_addf(&text, "titan %s in %s", placing->known ? "is" : "would be", placing->machine.base);
	for (size_t i = 0; i < probe->place_count; i++) {
		const struct probe_place *place = &probe->places[i];

		if (strcmp(place->path, placing->machine.base) == 0)
			buf_addf(&text, " (%" PRIu64 " MB free)", place->free_kib / 1024);
		else if (place->state != PLACE_OK)
			buf_addf(&text, "; %s is %s", place->path, words[place->state]);
	}
	finding_add(findings, "place", FINDING_OK, buf_cstr(&text), NULL);
	finding_add(findings, "logout", FINDING_OK, probe->logout_kills ? "the processes of a user end at logout; titan starts the worker outside of the login, "
		    "by systemd-run" : "processes live on after a logout", NULL);
	buf_free(&text);
}

static void tell_worker(const struct placing *placing, struct findings *findings)
{
	char text[TEXT_SIZE], next[TEXT_SIZE];
	const char *name = placing->machine.name;

	if (!placing->known) {
		snprintf(text, sizeof(text), "no worker was put there from here; titan worker add %s would do it", placing->machine.destination);
		finding_add(findings, "worker", FINDING_OK, text, NULL);
	} else if (!placing->has_program) {
		snprintf(text, sizeof(text), "worker %s has another version than the program here", name);
		snprintf(next, sizeof(next), "titan worker upgrade %s", name);
		finding_add(findings, "worker", FINDING_ADVICE, text, next);
	} else if (placing->running) {
		snprintf(text, sizeof(text), "worker %s runs", name);
		finding_add(findings, "worker", FINDING_OK, text, NULL);
	} else {
		bool stopped = strcmp(placing->state, "stopped") == 0;

		snprintf(text, sizeof(text), stopped ? "worker %s was stopped" : "worker %s doesn't run", name);
		snprintf(next, sizeof(next), "titan worker start %s", name);
		finding_add(findings, "worker", stopped ? FINDING_ADVICE : FINDING_PROBLEM, text, next);
	}
}

/* Tell the steps in their order, up to the one that failed. */
static void tell(const struct placing *placing, struct findings *findings)
{
	bool failed = placing->step == PLACING_FAILED;

	if (!placing->probed) {
		add_problem(placing, "ssh", FINDING_PROBLEM, findings);
		return;
	}
	tell_probe(placing, findings);
	if (strcmp(placing->probe.system, "Linux") != 0) {
		add_problem(placing, "system", FINDING_PROBLEM, findings);
		return;
	}
	tell_system(placing, findings);
	if (placing->program == NULL) {
		add_problem(placing, "program", FINDING_PROBLEM, findings);
		return;
	}
	tell_program(placing, findings);
	if (placing->machine.base[0] == '\0') {
		add_problem(placing, "place", FINDING_PROBLEM, findings);
		return;
	}
	tell_place(placing, findings);
	if (failed && placing->alone_failed) {
		add_problem(placing, "master", placing->known ? FINDING_PROBLEM : FINDING_ADVICE, findings);
		return;
	}
	if (machine_is_bridged(&placing->machine))
		finding_add(findings, "master", FINDING_OK, "the master can log in, too, without your ssh agent", NULL);
	if (failed)
		add_problem(placing, "worker", FINDING_PROBLEM, findings);
	else
		tell_worker(placing, findings);
}

enum err doctor_host(struct cli *cli, const char *host, struct findings *findings)
{
	struct placings placings = { .cli = cli, .dry = true, .quiet = true };
	struct placing *placing = placings_add(&placings);
	enum err err = take_host(cli, host, placing);

	if (err == ERR_NONE)
		err = placings_run(&placings);
	if (err == ERR_NONE)
		tell(placing, findings);
	placings_free(&placings);
	return err;
}
