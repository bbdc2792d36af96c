/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan worker check-net, on the worker's machine: prints one sentence for each part of the way to the master. */
#include "worker/far.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "net/keyfile.h"
#include "net/transport_tls.h"

#define PATIENCE_NS (10 * NS_PER_S)

static int say(bool good, const char *what, const char *why)
{
	printf(FAR_ANSWER "check %s %s%s%s\n", good ? "ok" : "failed", what, why[0] ? ": " : "", why);
	return good ? 0 : err_exit_status(ERR_UNREACHABLE);
}

/* Do the TLS handshake, in which the master and this worker prove to each other that they know the key. */
static bool shake_hands(struct transport *transport, const char **ret_why)
{
	int64_t until_ns = clock_mono_ns() + PATIENCE_NS;
	struct identity identity;
	char byte;

	*ret_why = "it doesn't answer";
	while (transport_identity(transport, &identity) != 0 && clock_mono_ns() < until_ns) {
		ssize_t count = transport_read(transport, &byte, 1);
		struct pollfd fd = { .fd = transport->fd };

		if (count == -EAGAIN) {
			fd.events = (short)(((transport->read_want & TRANSPORT_READ) ? POLLIN : 0) |
					    ((transport->read_want & TRANSPORT_WRITE) ? POLLOUT : 0));
			poll(&fd, 1, (int)(PATIENCE_NS / NS_PER_MS));
			continue;
		}
		if (count >= 0 && transport_identity(transport, &identity) == 0)
			break;
		*ret_why = transport->fault ? transport->fault->text : count == 0 ? "it hung up" : strerror((int)-count);
		return false;
	}
	return transport_identity(transport, &identity) == 0;
}

int far_check(const char *dir)
{
	struct error error = { 0 };
	struct far_config config;
	struct transport *transport;
	char path[PATH_MAX];
	const char *why;
	struct key key;
	bool good;
	int fd;

	if (far_config_read(dir, &config, &error) != ERR_NONE)
		return say(false, "the worker's settings", error.text);
	if (!far_is_served(dir, &config))
		return say(false, "the worker", config.stopped[0] ? "it was stopped" : "it doesn't run");
	say(true, "the worker runs", "");
	if (strcmp(config.address, BRIDGE_ADDRESS) == 0)
		return say(true, "it waits for the master, which comes through ssh", "");
	snprintf(path, sizeof(path), "%s/" FAR_KEY, dir);
	if (keyfile_read(path, &key, &error) != ERR_NONE)
		return say(false, "its key", error.text);
	if (dial(config.address, clock_mono_ns() + PATIENCE_NS, &fd, &error) != ERR_NONE) {
		explicit_bzero(&key, sizeof(key));
		return say(false, "the way to the master", error.text);
	}
	say(true, "somebody listens at the master's address", config.address);
	good = transport_tls_connect(fd, key.identity, key.secret, &transport, &error) == ERR_NONE;
	explicit_bzero(&key, sizeof(key));
	if (!good)
		return say(false, "TLS", error.text);
	good = shake_hands(transport, &why);
	transport_close(transport);
	return good ? say(true, "the master there has the worker's key", "") : say(false, "the handshake with the master", why);
}
