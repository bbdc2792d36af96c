/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bridges: connections that the master makes through ssh to a worker, because the worker can't reach the master. They
 * arrive at a socket in the worker's directory. The worker then speaks TLS with its key as if it had dialled, so a
 * bridge proves nothing and needn't be trusted. The master makes a new bridge when it has lost the old one, so only the
 * newest one counts.
 */
#include "worker/link.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/keyfile.h"
#include "net/listen.h"
#include "net/transport_tls.h"
#include "worker/far.h"

bool link_is_bridged(const struct link *link)
{
	return link->options->address != NULL && strcmp(link->options->address, BRIDGE_ADDRESS) == 0;
}

static void accept_cb(int fd, void *owner)
{
	struct link *link = owner;

	if (link->bridge_fd >= 0)
		close(link->bridge_fd);
	link->bridge_fd = fd;
	link->bridge_come_cb(link);
}

bool link_bridge_open(struct link *link, void (*come_cb)(struct link *link), struct error *error)
{
	char below[LIMIT_NAME_MAX_LEN + 16], path[PATH_MAX];
	int fd, result;

	if (!link_is_bridged(link))
		return true;
	snprintf(below, sizeof(below), "worker/%s", link->options->name);
	statedir_path(&link->options->statedir, below, path);
	result = statedir_listen_in(path, FAR_BRIDGE, &fd);
	if (result < 0) {
		error_system(error, -result, "can't make the socket for bridges in %s", path);
		return false;
	}
	link->bridge_come_cb = come_cb;
	link->bridges = listener_new(link->loop, fd, link, accept_cb);
	return true;
}

void link_bridge_close(struct link *link)
{
	listener_free(link->bridges);
	if (link->bridge_fd >= 0)
		close(link->bridge_fd);
}

struct transport *link_bridge_take(struct link *link, struct error *error)
{
	struct transport *transport = NULL;
	int fd = link->bridge_fd;
	struct key key;

	if (fd < 0)
		return NULL;
	link->bridge_fd = -1;
	if (keyfile_read(link->options->key_path, &key, error) != ERR_NONE)
		close(fd);
	else if (transport_tls_connect(fd, key.identity, key.secret, &transport, error) != ERR_NONE)
		transport = NULL;
	explicit_bzero(&key, sizeof(key));
	return transport;
}
