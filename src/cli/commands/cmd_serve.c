/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan master and worker: this process becomes the daemon. */
#include <errno.h>
#include <stdio.h>
#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/object.h"
#include "cli/commands/prune.h"
#include "cli/commands/workers.h"
#include "cli/daemon/daemon.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "lang/demand.h"
#include "master/master.h"
#include "proto/label.h"
#include "proto/limits.h"
#include "worker/worker.h"

static enum err read_ready_fd(struct cli *cli, enum option_id id, int *ret_fd)
{
	uint64_t fd = 0;
	enum err err = option_number(cli->invocation, id, 0, INT32_MAX, &fd, &cli->error);

	if (err == ERR_NONE)
		*ret_fd = option_given(cli->invocation, id) ? (int)fd : -1;
	return err;
}

/* Find the user of a name, or of a number; *ret_name is the user's name if the system has one. */
static bool find_user(struct cli *cli, struct slice name, unsigned *ret_uid, const char **ret_name)
{
	const char *copy = arena_strdup(&cli->arena, name);
	const struct passwd *user = getpwnam(copy);
	uint64_t number = 0;

	if (!user && text_parse_u64(name, &number) && number < UINT32_MAX) {
		user = getpwuid((uid_t)number);
		*ret_uid = (unsigned)number;
		*ret_name = user && text_is_name(slice_str(user->pw_name)) ? arena_strdup(&cli->arena, slice_str(user->pw_name)) : copy;
		return true;
	}
	if (!user)
		return false;
	*ret_uid = user->pw_uid;
	*ret_name = copy;
	return true;
}

/*
 * Read with whom the cluster is shared. A user who was removed from the system keeps no master from starting; the owner has
 * all rights already.
 */
static void read_share(struct cli *cli, struct master_options *options)
{
	const struct conf *conf = conf_setting(cli->invocation->conf, CONF_share);
	struct person *people;
	unsigned uid;

	if (!conf || conf->share.socket.len == 0)
		return;
	options->share_socket = arena_strdup(&cli->arena, conf->share.socket);
	options->share_group = arena_strdup(&cli->arena, conf->share.group);
	people = arena_alloc(&cli->arena, (conf->share.user_count + 1) * sizeof(*people));
	options->people.at = people;
	for (size_t i = 0; i < conf->share.user_count; i++) {
		const struct conf_user *user = &conf->share.users[i];
		const char *name;

		if (!find_user(cli, user->name, &uid, &name))
			cli_note(cli, "titan.conf shares the cluster with user %.*s, whom this machine doesn't have", (int)user->name.len,
				 (const char *)user->name.data);
		else if (uid == getuid())
			cli_note(cli, "titan.conf shares the cluster with %s, who owns it and has all rights already", name);
		else
			people[options->people.count++] = (struct person){ .uid = uid, .name = name, .roles = user->roles };
	}
}

static void read_teams(struct cli *cli, struct master_options *options)
{
	const struct conf *conf = conf_setting(cli->invocation->conf, CONF_teams);
	struct core_team *teams = arena_alloc(&cli->arena, ((conf ? conf->team_count : 0) + 1) * sizeof(*teams));

	options->teams = teams;
	for (size_t i = 0; conf && i < conf->team_count; i++)
		teams[options->team_count++] = (struct core_team){ conf->teams[i].name, conf->teams[i].members };
}

int cmd_master(struct cli *cli)
{
	struct master_options options = { .statedir = cli->statedir };
	struct intervals intervals;
	char what[SETTING_NAME_SIZE];
	uint64_t as_of_ms = 0;
	char path[PATH_MAX];
	int status;

	if (read_ready_fd(cli, OPT_master_ready_fd, &options.ready_fd) != ERR_NONE ||
	    intervals_read(cli->invocation, &intervals, &cli->error) != ERR_NONE ||
	    prune_rules_read(cli->invocation, &options.prune, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	options.listen = setting_value(cli->invocation, OPT_master_listen, CONF_listen, what);
	if (option_number(cli->invocation, OPT_master_as_of, 1, INT64_MAX / 2, &as_of_ms, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	options.as_of_ms = (int64_t)as_of_ms;
	options.listen = as_of_ms != 0 ? NULL : options.listen;
	if (as_of_ms != 0 && access(statedir_path(&cli->statedir, "at", path), F_OK) != 0) {
		error_set(&cli->error, ERR_USAGE, "--as-of: %s has no store of an earlier time", cli->statedir.dir);
		error_next(&cli->error, "titan ls --at TIME");
		return cli_fail(cli);
	}
	options.trust_submitters = conf_value(cli->invocation->conf, CONF_trust_submitters) != NULL &&
				   strcmp(conf_value(cli->invocation->conf, CONF_trust_submitters), "yes") == 0;
	options.privacy_open = conf_value(cli->invocation->conf, CONF_privacy) != NULL &&
			       strcmp(conf_value(cli->invocation->conf, CONF_privacy), "open") == 0;
	read_teams(cli, &options);
	read_share(cli, &options);
	options.heartbeat_ms = intervals.heartbeat_ms;
	options.lease_ms = intervals.lease_ms;
	options.grace_ms = intervals.grace_ms;
	status = master_run(&options, &cli->error);
	if (as_of_ms != 0 && status == 0)
		io_remove_tree(AT_FDCWD, cli->statedir.dir);
	if (status != 0)
		cli_fail(cli);
	return status;
}

enum err worker_labels(struct cli *cli, const char **ret_labels)
{
	const struct invocation *invocation = cli->invocation;
	struct slice list[LIMIT_LABELS_MAX + 1];
	struct error why = { 0 };
	size_t count = 0;
	struct buf labels = { 0 };

	for (size_t i = 0; i < invocation->option_count; i++) {
		const char *label = invocation->options[i].value;

		if (invocation->options[i].id != OPT_worker_label)
			continue;
		if (count < sizeof(list) / sizeof(list[0]))
			list[count++] = slice_str(label);
		if (labels_check((struct slice_list){ list, count }, &why) != ERR_NONE) {
			buf_free(&labels);
			return error_set(&cli->error, ERR_USAGE, "--label: %s", why.text);
		}
		buf_addf(&labels, "%s%s", labels.len ? "," : "", label);
	}
	if (labels.len == 0 && conf_value(invocation->conf, CONF_labels) != NULL)
		buf_add_str(&labels, conf_value(invocation->conf, CONF_labels));
	*ret_labels = labels.len ? arena_strdup(&cli->arena, buf_slice(&labels)) : NULL;
	buf_free(&labels);
	return ERR_NONE;
}

/* Parse one offered resource from the command line and add it in the form that the wire uses. */
static enum err add_offer(struct cli *cli, const char *option, struct slice name, struct slice amount, struct buf *out)
{
	struct resource resource = { .amount = 0 };
	struct error why = { 0 };

	if (!resource_is_name(name))
		return error_set(&cli->error, ERR_USAGE, "--%s: expected a name of letters, digits and _ . - before "
			"the =", option);
	memcpy(resource.name, name.data, name.len);
	/* A worker may offer 0 of a resource, but a job may not ask for 0. */
	if (!slice_eq(amount, slice_str("0")) && demand_amount(resource.name, amount, &resource.amount, &why) != ERR_NONE)
		return error_set(&cli->error, ERR_USAGE, "--%s: %s", option, why.text);
	if (out->len > 0)
		buf_add_byte(out, ',');
	resource_put(&resource, out);
	return ERR_NONE;
}

static enum err read_resource(struct cli *cli, enum option_id id, const char *value, struct buf *out)
{
	const char *equals = strchr(value, '=');

	switch (id) {
	case OPT_worker_cpus:
		return add_offer(cli, "cpus", slice_str(RESOURCE_CPUS), slice_str(value), out);
	case OPT_worker_memory:
		return add_offer(cli, "memory", slice_str(RESOURCE_MEMORY), slice_str(value), out);
	case OPT_worker_gpus:
		return add_offer(cli, "gpus", slice_str(RESOURCE_GPUS), slice_str(value), out);
	case OPT_worker_resource:
		if (!equals)
			return error_set(&cli->error, ERR_USAGE, "--resource: expected NAME=N, such as license=2");
		return add_offer(cli, "resource", slice_make(value, (size_t)(equals - value)), slice_str(equals + 1), out);
	default:
		return ERR_NONE;
	}
}

static enum err read_resources(struct cli *cli, const char **ret_resources)
{
	const struct invocation *invocation = cli->invocation;
	struct buf text = { 0 };
	enum err err = ERR_NONE;

	for (size_t i = 0; i < invocation->option_count && err == ERR_NONE; i++)
		if (invocation->options[i].value)
			err = read_resource(cli, invocation->options[i].id, invocation->options[i].value, &text);
	if (err == ERR_NONE)
		*ret_resources = arena_strdup(&cli->arena, buf_slice(&text));
	buf_free(&text);
	return err;
}

bool worker_starts(const struct invocation *invocation)
{
	return invocation->arg_count > 0 ? invocation->arg_count == 1 && strcmp(invocation->args[0], "start") == 0 : settings_renewed();
}

/*
 * Write the key of a worker whose master is on another machine to a file in the cluster's directory, because the worker
 * needs it again after a restart. Return the file's path; NULL: cli->error says what failed.
 */
static const char *worker_key(struct cli *cli, const struct worker_options *options)
{
	char path[PATH_MAX], below[LIMIT_NAME_MAX_LEN + 16];
	struct error gone;
	struct key old;
	int made = statedir_make(&cli->statedir);

	if (made != 0) {
		error_state_dir(&cli->error, -made, cli->statedir.dir);
		return NULL;
	}
	if (key_joins(&cli->remote.key) && worker_join(cli, options->name) != ERR_NONE)
		return NULL;
	if (!key_is_worker(&cli->remote.key)) {
		error_set(&cli->error, ERR_USAGE, "token %s belongs to a person, so a worker can't connect with it", key_id(&cli->remote.key));
		error_next(&cli->error, "titan token add NAME --worker, on the master's machine, makes a token for a worker");
		return NULL;
	}
	snprintf(below, sizeof(below), "worker-%s.key", options->name);
	statedir_path(&cli->statedir, below, path);
	if (keyfile_read(path, &old, &gone) == ERR_NONE && strcmp(old.identity, cli->remote.key.identity) == 0 &&
	    memcmp(old.secret, cli->remote.key.secret, sizeof(old.secret)) == 0)
		return arena_strdup(&cli->arena, slice_str(path));
	unlink(path);
	if (keyfile_write(path, &cli->remote.key, &cli->error) != ERR_NONE)
		return NULL;
	return arena_strdup(&cli->arena, slice_str(path));
}

/* Without --name, a worker with a key is named like the key: its id without the random end. */
static const char *worker_name(struct cli *cli)
{
	const char *name = option_value(cli->invocation, OPT_worker_name), *id = key_id(&cli->remote.key), *end;

	if (name || !cli->remote.address[0])
		return name ? name : LOCAL_WORKER;
	if (key_joins(&cli->remote.key))
		return worker_join_name(cli);
	end = strrchr(id, '.');
	return arena_strdup(&cli->arena, end ? slice_make(id, (size_t)(end - id)) : slice_str(id));
}

static int worker_start(struct cli *cli)
{
	const char *name = worker_name(cli);
	struct worker_options options = { .statedir = cli->statedir, .name = name };
	uint64_t slots = 0, containment = CONTAIN_AUTO;
	char what[SETTING_NAME_SIZE];
	int status;

	if (!text_is_name(slice_str(options.name))) {
		error_set(&cli->error, ERR_USAGE, "--name: '%s' isn't a valid name for a worker; use only letters, "
			"digits and _ . -",
			  options.name);
		return cli_fail(cli);
	}
	options.pool = setting_value(cli->invocation, OPT_worker_pool, CONF_pool, what);
	if (options.pool && !text_is_name(slice_str(options.pool))) {
		error_set(&cli->error, ERR_USAGE, "%s: '%s' isn't a valid name for a pool; use only letters, digits "
			"and _ . -", what,
			  options.pool);
		return cli_fail(cli);
	}
	if (worker_labels(cli, &options.labels) != ERR_NONE || read_resources(cli, &options.resources) != ERR_NONE ||
	    read_ready_fd(cli, OPT_worker_ready_fd, &options.ready_fd) != ERR_NONE ||
	    option_choice(cli->invocation, OPT_worker_containment, &containment, &cli->error) != ERR_NONE ||
	    setting_number_value(cli->invocation, OPT_worker_slots, CONF_slots, 1, LIMIT_SLOTS_MAX, &slots, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	if (option_given(cli->invocation, OPT_worker_join) && !cli->remote.address[0]) {
		error_set(&cli->error, ERR_USAGE, "--join needs the address of the master: -H ADDRESS");
		return cli_fail(cli);
	}
	if (cli->remote.address[0]) {
		options.address = cli->remote.address;
		options.key_path = worker_key(cli, &options);
		if (options.key_path == NULL)
			return cli_fail(cli);
	}
	if (option_given(cli->invocation, OPT_worker_user)) {
		options.user = arena_alloc(&cli->arena, sizeof(*options.user));
		if (job_user_find(option_value(cli->invocation, OPT_worker_user), options.user, &cli->error) != ERR_NONE)
			return cli_fail(cli);
	}
	options.slots = (uint32_t)slots;
	options.end_jobs = option_given(cli->invocation, OPT_worker_end_jobs);
	options.containment = (enum containment)containment;
	status = guardian_run(&options, &cli->error);
	/* If the keeper failed, it has printed its error; the guardian only returns the status. */
	if (cli->error.code != ERR_NONE)
		cli_fail(cli);
	return status;
}

enum worker_use { USE_LIST = 1, USE_START = 2, USE_ADD = 4, USE_STOP = 8, USE_CHANGE = 16 };

/* What the typed verb of titan worker does, as one of enum worker_use. */
static unsigned use_of(const struct invocation *invocation)
{
	const char *verb = invocation->arg_count > 0 ? invocation->args[0] : "ls";

	if (worker_starts(invocation))
		return USE_START;
	if (strcmp(verb, "add") == 0)
		return USE_ADD;
	if (strcmp(verb, "stop") == 0)
		return USE_STOP;
	return strcmp(verb, "ls") == 0 || strcmp(verb, "show") == 0 ? USE_LIST : USE_CHANGE;
}

/*
 * The verbs for which an option is meant, as bits of enum worker_use; an option without a row here belongs to titan
 * worker start.
 */
static unsigned uses_of_option(enum option_id id)
{
	switch (id) {
	case OPT_worker_limit:
	case OPT_worker_all:
	case OPT_worker_sort:
	case OPT_worker_where:
		return USE_LIST;
	case OPT_worker_name:
		return USE_LIST | USE_START | USE_ADD;
	case OPT_worker_label:
		return USE_LIST | USE_START | USE_ADD;
	case OPT_worker_slots:
	case OPT_worker_pool:
		return USE_START | USE_ADD;
	case OPT_worker_ssh_config:
	case OPT_worker_hosts:
	case OPT_worker_address:
		return USE_ADD;
	case OPT_worker_now:
		return USE_STOP;
	case OPT_worker_dry:
		return USE_ADD | USE_STOP | USE_CHANGE | USE_LIST;
	default:
		return USE_START;
	}
}

/* Refuse options that belong to another verb. Global options have no row in the command's list. */
static enum err check_options(struct cli *cli)
{
	const struct invocation *invocation = cli->invocation;
	unsigned use = use_of(invocation);

	for (size_t i = 0; i < invocation->option_count; i++)
		for (const struct option_info *option = invocation->command->options; option->id != OPT_none; option++) {
			unsigned uses = option->id == invocation->options[i].id ? uses_of_option(option->id) : ~0u;

			if (uses & use)
				continue;
			if (uses & USE_START)
				return error_set(&cli->error, ERR_USAGE, "--%s is an option of titan worker start, which runs a worker",
						 option->word);
			return error_set(&cli->error, ERR_USAGE, "--%s isn't an option of titan worker %s", option->word,
					 invocation->arg_count > 0 ? invocation->args[0] : "ls");
		}
	return ERR_NONE;
}

static int start_one(struct cli *cli)
{
	return cli->invocation->arg_count == 1 ? worker_start(cli) : workers_start_again(cli);
}

/* The shared socket is for people: workers come by the owner's socket, or with a key. */
static int refuse_shared(struct cli *cli)
{
	error_set(&cli->error, ERR_USAGE, "a worker can't be started or added through the shared socket %s", cli->remote.address);
	error_next(&cli->error, "titan worker start -H ADDRESS --key FILE, with a key from: titan token add NAME --worker");
	return cli_fail(cli);
}

int cmd_worker(struct cli *cli)
{
	static const struct object_verb verbs[] = {
		{ "ls", 0, 0, "", workers_list }, { "show", 1, 1, "WORKER", workers_show },
		{ "start", 0, -1, "", start_one }, { "add", 0, -1, "", workers_add },
		{ "stop", 1, -1, "WORKER", workers_stop }, { "restart", 1, -1, "WORKER", workers_restart },
		{ "upgrade", 0, -1, "", workers_upgrade }, { "rm", 1, -1, "WORKER", workers_remove },
		{ "logs", 1, 1, "WORKER", workers_logs }, { "check-net", 1, 1, "WORKER", workers_check_net },
	};

	if (worker_starts(cli->invocation) && cli->invocation->arg_count == 0 && cli->remote.address[0] != '/')
		return worker_start(cli);
	if (check_options(cli) != ERR_NONE)
		return object_usage(cli);
	if (cli->remote.address[0] == '/' && use_of(cli->invocation) & (USE_START | USE_ADD))
		return refuse_shared(cli);
	return object_run(cli, verbs, sizeof(verbs) / sizeof(verbs[0]));
}
