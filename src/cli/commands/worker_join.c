/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan worker start --join: a worker makes its own key and has it accepted by the master, with the right of a token that many
 * workers may share. The key is on disk before it is sent, so that an answer that was lost costs no second use of the token.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli/ask/ask.h"
#include "cli/commands/workers.h"
#include "net/client.h"
#include "net/keyfile.h"
#include "net/machine.h"

const char *worker_join_name(struct cli *cli)
{
	char host[256] = "", name[LIMIT_NAME_MAX_LEN + 1];

	gethostname(host, sizeof(host) - 1);
	machine_name_of(host, name);
	return arena_strdup(&cli->arena, slice_str(name));
}

/* Read the key that an earlier start made but whose answer it may not have seen, or make one. */
static enum err prepare_key(const char *path, const char *name, struct key *key, struct error *error)
{
	if (access(path, F_OK) == 0)
		return keyfile_read(path, key, error);
	key_make(key, KEY_WORKER, name);
	return keyfile_write(path, key, error);
}

static enum err send_join(struct cli *cli, const struct key *key, const char *name)
{
	struct msg_join join = { .key = slice_str(key_id(key)), .name = slice_str(name),
				 .secret = slice_make(key->secret, sizeof(key->secret)) };
	struct msg_ok ok;
	enum err err = cli_connect(cli);

	if (err == ERR_NONE)
		err = cli_call(cli, OP_JOIN, &join, OP_OK, &cli->arena, &ok);
	client_close(cli->client);
	cli->client = NULL;
	return err;
}

enum err worker_join(struct cli *cli, const char *name)
{
	char path[PATH_MAX], asked[PATH_MAX], below[LIMIT_NAME_MAX_LEN + 32];
	struct key key;
	enum err err;

	snprintf(below, sizeof(below), "worker-%s.key", name);
	statedir_path(&cli->statedir, below, path);
	snprintf(below, sizeof(below), "worker-%s.key.asked", name);
	statedir_path(&cli->statedir, below, asked);
	if (access(path, F_OK) == 0) {
		err = keyfile_read(path, &key, &cli->error);
	} else {
		err = prepare_key(asked, name, &key, &cli->error);
		if (err == ERR_NONE)
			err = send_join(cli, &key, name);
		if (err == ERR_NONE && rename(asked, path) != 0)
			err = error_system(&cli->error, errno, "can't rename %s", asked);
	}
	if (err == ERR_NONE)
		cli->remote.key = key;
	explicit_bzero(&key, sizeof(key));
	return err;
}
