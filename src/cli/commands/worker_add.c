/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan worker add, and the acts on workers that it put on other machines: start, restart, upgrade. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/io.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/dry_run.h"
#include "cli/commands/object.h"
#include "cli/commands/workers.h"
#include "cli/reach/machines.h"
#include "cli/reach/placing.h"
#include "cli/session/output.h"
#include "cli/show/records.h"

#define HOSTS_FILE_MAX ((size_t)1 << 20)

static const struct column reached_columns[] = {
	{ "name", "WORKER", false },
	{ "destination", "MACHINE", false },
	{ "result", "RESULT", false },
	{ "way", "WAY", false },
	{ "slots", "SLOTS", true },
	{ "failure", NULL, false },
	{ "next", NULL, false },
	{ "dry_run", NULL, false },
};
const struct table reached_table = TABLE_OF(reached_columns);

/* Print a row for each machine, and return the exit status of the first failure. */
static int tell_results(struct cli *cli, const struct placings *placings)
{
	struct records records;
	struct buf out = { 0 };
	int status = 0;

	records_begin(&records, reached_columns, reached_table.count, &cli->arena);
	for (size_t i = 0; i < placings->count; i++) {
		const struct placing *placing = placings->at[i];
		const struct machine *machine = &placing->machine;

		records_text(&records, slice_str(machine->name));
		records_text(&records, slice_str(machine->destination));
		records_text(&records, slice_str(placing->result));
		records_text(&records, slice_str(machine_is_bridged(machine) ? "ssh" : machine->address));
		if (placing->slots > 0)
			records_number(&records, placing->slots);
		else
			records_none(&records);
		records_text(&records, slice_str(placing->error.text));
		records_text(&records, slice_str(placing->error.next));
		records_bool(&records, placings->dry);
		if (status == 0 && placing->step == PLACING_FAILED)
			status = err_exit_status(placing->error.code);
	}
	records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	return status;
}

static int run_all(struct cli *cli, struct placings *placings)
{
	int status = placings_run(placings) == ERR_NONE ? tell_results(cli, placings) : cli_fail(cli);

	placings_free(placings);
	return status;
}

/* ---- what was typed ---- */

static enum err copy_option(char *out, size_t size, const char *value, const char *what, bool *changed, struct error *error)
{
	if (value == NULL)
		return ERR_NONE;
	if (strlen(value) >= size || strchr(value, '\n') != NULL)
		return error_set(error, ERR_USAGE, "%s: '%.100s' is too long", what, value);
	*changed = *changed || strcmp(out, value) != 0;
	snprintf(out, size, "%s", value);
	return ERR_NONE;
}

/* Take the command's options over into the machine's settings; settings without an option stay. */
static enum err take_options(struct cli *cli, struct placing *placing)
{
	const struct invocation *invocation = cli->invocation;
	struct machine *machine = &placing->machine;
	const char *config = option_value(invocation, OPT_worker_ssh_config), *pool = option_value(invocation, OPT_worker_pool);
	const char *address = option_value(invocation, OPT_worker_address), *labels = NULL;
	char path[PATH_MAX], number[24];
	bool other_way = false, *changed = &placing->changed_settings;
	uint64_t slots = 0;
	enum err err = option_number(invocation, OPT_worker_slots, 1, LIMIT_SLOTS_MAX, &slots, &cli->error);

	snprintf(number, sizeof(number), "%llu", (unsigned long long)slots);
	if (err == ERR_NONE && config && io_absolute(config, path) != 0)
		err = error_set(&cli->error, ERR_USAGE, "--ssh-config: too long a path");
	if (err == ERR_NONE && config && access(path, R_OK) != 0) {
		error_system(&cli->error, errno, "--ssh-config: can't read %s", path);
		err = cli->error.code = ERR_USAGE;
	}
	if (err == ERR_NONE && pool && !text_is_name(slice_str(pool)))
		err = error_set(&cli->error, ERR_USAGE, "--pool: '%s' isn't a valid name for a pool; use only letters, digits and _ . -", pool);
	if (err == ERR_NONE && address && strcmp(address, BRIDGE_ADDRESS) != 0)
		err = address_check(address, &cli->error);
	if (err == ERR_NONE)
		err = worker_labels(cli, &labels);
	if (err == ERR_NONE)
		err = copy_option(machine->ssh_config, sizeof(machine->ssh_config), config ? path : NULL, "--ssh-config", &other_way, &cli->error);
	if (err == ERR_NONE)
		err = copy_option(machine->pool, sizeof(machine->pool), pool, "--pool", changed, &cli->error);
	if (err == ERR_NONE)
		err = copy_option(machine->labels, sizeof(machine->labels), labels, "--label", changed, &cli->error);
	if (err == ERR_NONE)
		err = copy_option(machine->slots, sizeof(machine->slots), slots ? number : NULL, "--slots", changed, &cli->error);
	if (err == ERR_NONE && address == NULL && machine->address[0] == '\0')
		address = cli->remote.address[0] ? cli->remote.address : BRIDGE_ADDRESS;
	if (err == ERR_NONE)
		err = copy_option(machine->address, sizeof(machine->address), address, "--address", changed, &cli->error);
	return err;
}

/* Refuse a name that another worker already has. */
static enum err check_name(struct cli *cli, const struct placings *placings, const struct placing *placing, const char *destination)
{
	const char *name = placing->machine.name;
	struct msg_query query = { .what = QUERY_WORKERS };

	if (!text_is_name(slice_str(name)))
		return error_set(&cli->error, ERR_USAGE, "'%s' makes no name for a worker; give one with --name", destination);
	for (size_t i = 0; i + 1 < placings->count; i++)
		if (strcmp(placings->at[i]->machine.name, name) == 0)
			return error_set(&cli->error, ERR_USAGE, "two of the machines would be worker '%s'; add one of them alone, with --name", name);
	if (placing->known && strcmp(placing->machine.destination, destination) != 0) {
		error_set(&cli->error, ERR_USAGE, "worker '%s' is at %s, not at %s", name, placing->machine.destination, destination);
		return error_next(&cli->error, "titan worker add %s --name OTHER, or first titan worker rm %s", destination, name);
	}
	while (!placing->known) {
		struct msg_snapshot page;
		enum err err = cli_query(cli, query, &cli->arena, &page);

		if (err != ERR_NONE)
			return err;
		for (size_t i = 0; i < page.workers.n; i++)
			if (slice_eq(page.workers.at[i].name, slice_str(name)) && page.workers.at[i].state == WORKER_UP) {
				error_set(&cli->error, ERR_USAGE, "there is a worker '%s' already, and titan worker add didn't make it", name);
				return error_next(&cli->error, "titan worker add %s --name OTHER", destination);
			}
		query.cursor = page.cursor;
		if (query.cursor == 0)
			break;
	}
	return ERR_NONE;
}

static enum err add_one(struct cli *cli, struct placings *placings, const char *destination)
{
	const char *named = option_value(cli->invocation, OPT_worker_name);
	struct placing *placing;
	struct error none;
	char name[LIMIT_NAME_MAX_LEN + 1];
	enum err err;

	if (!destination_is_good(destination))
		return error_set(&cli->error, ERR_USAGE, "'%s' isn't a machine for ssh, as in HOST or USER@HOST", destination);
	placing = placings_add(placings);
	machine_name_of(destination, name);
	if (named)
		snprintf(name, sizeof(name), "%s", named);
	placing->known = machine_read(&cli->statedir, name, &placing->machine, &none) == ERR_NONE;
	snprintf(placing->machine.name, sizeof(placing->machine.name), "%s", name);
	if (!placing->known)
		snprintf(placing->machine.destination, sizeof(placing->machine.destination), "%s", destination);
	err = check_name(cli, placings, placing, destination);
	return err == ERR_NONE ? take_options(cli, placing) : err;
}

/* Read the machines from the file of --hosts: one per line; empty lines and text after # are ignored. */
static enum err add_file(struct cli *cli, struct placings *placings, const char *path)
{
	struct buf text = { 0 };
	int result = io_read_file(AT_FDCWD, path, HOSTS_FILE_MAX, &text);
	enum err err = ERR_NONE;

	if (result < 0) {
		error_system(&cli->error, -result, "--hosts: can't read %s", path);
		err = cli->error.code = ERR_USAGE;
	}
	for (size_t at = 0; at < text.len && err == ERR_NONE;) {
		const uint8_t *end = memchr(text.data + at, '\n', text.len - at);
		size_t len = end ? (size_t)(end - text.data) - at : text.len - at, from = 0, to;
		const char *line = (const char *)text.data + at;

		for (to = 0; to < len && line[to] != '#'; to++)
			;
		while (from < to && strchr(" \t\r", line[from]))
			from++;
		while (to > from && strchr(" \t\r", line[to - 1]))
			to--;
		if (to > from)
			err = add_one(cli, placings, arena_strdup(&cli->arena, slice_make(line + from, to - from)));
		at += len + 1;
	}
	buf_free(&text);
	return err;
}

int workers_add(struct cli *cli)
{
	struct placings placings = { .cli = cli, .dry = dry_run_wanted(cli) };
	const char *file = option_value(cli->invocation, OPT_worker_hosts);
	size_t typed = cli->invocation->arg_count - 1;
	enum err err = ERR_NONE;

	if (typed == 0 && file == NULL) {
		error_set(&cli->error, ERR_USAGE, "titan worker add needs a machine, as in HOST or USER@HOST");
		return object_usage(cli);
	}
	if (option_given(cli->invocation, OPT_worker_name) && (typed != 1 || file != NULL)) {
		error_set(&cli->error, ERR_USAGE, "--name is for one machine");
		return object_usage(cli);
	}
	err = cli_connect(cli);
	for (size_t i = 0; i < typed && err == ERR_NONE; i++)
		err = add_one(cli, &placings, cli->invocation->args[1 + i]);
	if (err == ERR_NONE && file != NULL)
		err = add_file(cli, &placings, file);
	if (err == ERR_NONE && placings.count == 0)
		err = error_set(&cli->error, ERR_USAGE, "--hosts: %s names no machine", file);
	if (err != ERR_NONE) {
		placings_free(&placings);
		return cli_fail(cli);
	}
	return run_all(cli, &placings);
}

/* ---- on workers that were added ---- */

/* Take the workers that were named, or without names all workers that titan worker add has put on machines. */
static enum err take_workers(struct cli *cli, struct placings *placings, bool all)
{
	const struct invocation *invocation = cli->invocation;
	struct slice_list names = { 0 };
	enum err err = ERR_NONE;

	if (all && invocation->arg_count == 1)
		err = machines_list(cli, &names);
	for (size_t i = 0; err == ERR_NONE && i < (names.n ? names.n : invocation->arg_count - 1); i++) {
		const char *name = names.n ? (const char *)names.at[i].data : invocation->args[1 + i];
		struct placing *placing = placings_add(placings);

		placing->known = true;
		err = machine_read(&cli->statedir, name, &placing->machine, &cli->error);
		if (err == ERR_NOT_FOUND)
			error_next(&cli->error, "titan worker ls");
	}
	if (err == ERR_NONE && placings->count == 0) {
		error_set(&cli->error, ERR_NOT_FOUND, "no worker was put on a machine from here");
		err = error_next(&cli->error, "titan worker add HOST");
	}
	return err;
}

static int place_again(struct cli *cli, bool all, bool restart)
{
	struct placings placings = { .cli = cli, .dry = dry_run_wanted(cli) };
	enum err err = cli_connect(cli);

	if (err == ERR_NONE)
		err = take_workers(cli, &placings, all);
	if (err != ERR_NONE) {
		placings_free(&placings);
		return cli_fail(cli);
	}
	for (size_t i = 0; i < placings.count; i++)
		placings.at[i]->restart = restart;
	return run_all(cli, &placings);
}

int workers_upgrade(struct cli *cli)
{
	return place_again(cli, true, false);
}

int workers_restart(struct cli *cli)
{
	return place_again(cli, false, true);
}

int workers_start_again(struct cli *cli)
{
	return place_again(cli, false, false);
}
