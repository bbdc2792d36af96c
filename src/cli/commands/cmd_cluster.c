/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan cluster: names for the masters of other machines. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/object.h"
#include "cli/commands/share.h"
#include "cli/session/clusters.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/records.h"

static const struct column cluster_columns[] = {
	{ "name", "CLUSTER", false },
	{ "address", "ADDRESS", false },
	{ "token", "TOKEN", false },
	{ "default", "DEFAULT", false },
};
const struct table cluster_table = TABLE_OF(cluster_columns);

static int list(struct cli *cli)
{
	const char *chosen = clusters_default(&cli->arena), **names;
	struct records records;
	struct buf out = { 0 };
	size_t count;

	records_begin(&records, cluster_columns, cluster_table.count, &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE ||
	    clusters_list(&cli->arena, &names, &count, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	for (size_t i = 0; i < count; i++) {
		struct remote_cluster *remote = arena_alloc(&cli->arena, sizeof(*remote));

		if (clusters_read(names[i], remote, &cli->error) != ERR_NONE)
			return cli_fail(cli);
		records_text(&records, slice_str(names[i]));
		records_text(&records, slice_str(remote->address));
		records_text(&records, slice_str(key_id(&remote->key)));
		records_bool(&records, chosen != NULL && strcmp(chosen, names[i]) == 0);
	}
	records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	if (count == 0 && cli_chatty(cli))
		cli_note(cli, "no cluster of another machine is stored here");
	return 0;
}

static enum err add(struct cli *cli, const char *name)
{
	struct remote_cluster remote = { .address = "" };
	const char *socket = cli->invocation->arg_count > 2 ? cli->invocation->args[2] : NULL;

	if (socket != NULL && socket[0] != '/')
		return error_set(&cli->error, ERR_USAGE, "'%s' isn't the path of a shared socket, such as /run/titan/prod.sock; for a cluster "
				 "of another machine give -H ADDRESS --key FILE", socket);
	if (socket != NULL && (cli->settings.host != NULL || strlen(socket) >= sizeof(remote.address)))
		return error_set(&cli->error, ERR_USAGE, cli->settings.host ? "give either a socket or -H ADDRESS" : "the path is too long");
	if (socket == NULL && (cli->settings.host == NULL || cli->settings.key_file == NULL))
		return error_set(&cli->error, ERR_USAGE, "give the cluster's address and key: -H ADDRESS --key FILE; or its shared socket: /PATH");
	if (socket == NULL && (address_check(cli->settings.host, &cli->error) != ERR_NONE ||
			       keyfile_read(cli->settings.key_file, &remote.key, &cli->error) != ERR_NONE))
		return cli->error.code;
	snprintf(remote.address, sizeof(remote.address), "%s", socket ? socket : cli->settings.host);
	if (clusters_write(name, &remote, &cli->error) != ERR_NONE)
		return cli->error.code;
	if (cli_chatty(cli))
		cli_note(cli, "cluster %s: titan -C %s ls", name, name);
	return ERR_NONE;
}

static enum err set_default(struct cli *cli, const char *name)
{
	bool local = strcmp(name, "local") == 0;
	struct remote_cluster remote;
	enum err err = local ? ERR_NONE : clusters_read(name, &remote, &cli->error);

	if (err == ERR_NOT_FOUND)
		error_next(&cli->error, "titan cluster ls");
	if (err == ERR_NONE)
		err = clusters_set_default(local ? NULL : name, &cli->error);
	return err;
}

static enum err forget(struct cli *cli, const char *name)
{
	return clusters_remove(name, &cli->error);
}

static int change(struct cli *cli, enum err (*change_cb)(struct cli *cli, const char *name))
{
	const char *name = cli->invocation->args[1];
	struct records records;

	if (share_changed_begin(cli, &records) != ERR_NONE || change_cb(cli, name) != ERR_NONE)
		return cli_fail(cli);
	share_changed(cli, &records, slice_str(name), 1);
	return 0;
}

static int cluster_add(struct cli *cli)
{
	return change(cli, add);
}

static int cluster_default(struct cli *cli)
{
	return change(cli, set_default);
}

static int cluster_rm(struct cli *cli)
{
	return change(cli, forget);
}

int cmd_cluster(struct cli *cli)
{
	static const struct object_verb verbs[] = {
		{ "ls", 0, 0, "", list }, { "add", 1, 2, "NAME [SOCKET]", cluster_add }, { "rm", 1, 1, "NAME", cluster_rm },
		{ "default", 1, 1, "NAME", cluster_default },
	};

	return object_run(cli, verbs, sizeof(verbs) / sizeof(verbs[0]));
}
