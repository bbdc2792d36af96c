/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TCP sockets by the addresses that people write. */
#include "net/dial.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "proto/limits.h"

#define BACKLOG      1024
#define ONE_TRY_NS   (3 * NS_PER_S)      /* time for each of several addresses of a host */
/* most seconds of silence before TCP checks whether the peer is still there: NATs keep idle connections for a minute or more */
#define IDLE_MAX_S   30
#define KEEP_TRIES   3

struct parts {
	char host[256];                  /* empty: none was given */
	char port[8];
};

static enum err malformed(const char *address, struct error *error)
{
	error_set(error, ERR_USAGE, "'%.200s' isn't an address such as db1:%d, 10.0.0.1 or [::1]:%d", address, LIMIT_TCP_PORT,
		  LIMIT_TCP_PORT);
	return ERR_USAGE;
}

static enum err split(const char *address, struct parts *ret, struct error *error)
{
	const char *colon = strrchr(address, ':'), *end = address + strlen(address), *host = address;
	uint64_t port = LIMIT_TCP_PORT;

	if (address[0] == '[') {
		const char *bracket = strchr(address, ']');

		if (!bracket || (bracket[1] != '\0' && bracket[1] != ':'))
			return malformed(address, error);
		host++;
		end = bracket;
		colon = bracket[1] == ':' ? bracket + 1 : NULL;
	} else if (colon && strchr(address, ':') != colon) {
		colon = NULL;            /* several colons without brackets: an IPv6 address without a port */
	} else if (colon) {
		end = colon;
	}
	if (colon && (!text_parse_u64(slice_str(colon + 1), &port) || port > 65535))
		return malformed(address, error);
	if ((size_t)(end - host) >= sizeof(ret->host) || address[0] == '\0')
		return malformed(address, error);
	memcpy(ret->host, host, (size_t)(end - host));
	ret->host[end - host] = '\0';
	/*
	 * Refuse a host that begins with '-', because a program that gets it as an argument could take it for an
	 * option.
	 */
	if (ret->host[0] == '-' || ret->host[strspn(ret->host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:%")] != '\0')
		return malformed(address, error);
	snprintf(ret->port, sizeof(ret->port), "%u", (unsigned)port);
	return ERR_NONE;
}

enum err address_check(const char *address, struct error *error)
{
	struct parts parts;

	return split(address, &parts, error);
}

static enum err look_up(const char *address, bool listens, struct addrinfo **ret_list, struct error *error)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | (listens ? AI_PASSIVE : 0) };
	struct parts parts;
	enum err err = split(address, &parts, error);
	int result;

	if (err != ERR_NONE)
		return err;
	result = getaddrinfo(parts.host[0] ? parts.host : listens ? NULL : "localhost", parts.port, &hints, ret_list);
	if (result == 0)
		return ERR_NONE;
	error_set(error, ERR_UNREACHABLE, "the name of host '%s' can't be looked up: %s", parts.host,
		  result == EAI_SYSTEM ? strerror(errno) : gai_strerror(result));
	return error_next(error, "getent hosts %s", parts.host);
}

static int within(int64_t value, int least, int most)
{
	return value < least ? least : value > most ? most : (int)value;
}

void tcp_watch_silence(int fd, int64_t span_ms)
{
	int64_t span_s = span_ms / 1000;
	int yes = 1, interval = within(span_s / 6, 1, 10), idle = within(span_s - KEEP_TRIES * interval - 1, 1, IDLE_MAX_S);
	int tries = KEEP_TRIES;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof(tries));
}

void tcp_limit_unanswered(int fd, int64_t span_ms)
{
	unsigned limit_ms = (unsigned)within(span_ms, 0, INT_MAX);

	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof(limit_ms));
}

static int start(const struct addrinfo *to)      /* the descriptor, or -errno */
{
	int fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	tcp_watch_silence(fd, LIMIT_LEASE_MS);
	if (connect(fd, to->ai_addr, to->ai_addrlen) < 0 && errno != EINPROGRESS) {
		int result = -errno;

		close(fd);
		return result;
	}
	return fd;
}

/* Wait until the connection is made; 0 or -errno. */
static int await(int fd, int64_t until_ns)
{
	int failure = 0;
	socklen_t len = sizeof(failure);

	for (;;) {
		struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };
		int64_t left_ms = (until_ns - clock_mono_ns()) / NS_PER_MS;
		int count = poll(&poll_fd, 1, left_ms > 0 ? (int)left_ms : 0);

		if (count > 0)
			break;
		if (count < 0)
			return -errno;
		if (left_ms <= 0)
			return -ETIMEDOUT;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &len) < 0)
		return -errno;
	return -failure;
}

static enum err unreachable(const char *address, int result, struct error *error)
{
	if (result == -EINTR)
		return error_set(error, ERR_INTERRUPTED, "interrupted while connecting to %s", address);
	error_set(error, ERR_UNREACHABLE, "no master answers at %s: %s", address, strerror(-result));
	return error_next(error, result == -ECONNREFUSED ? "start the master there with: titan up --listen ADDRESS"
							 : "look for a fault or a firewall in the network");
}

enum err dial(const char *address, int64_t until_ns, int *ret_fd, struct error *error)
{
	struct addrinfo *list;
	enum err err = look_up(address, false, &list, error);
	int result = -EHOSTUNREACH;

	if (err != ERR_NONE)
		return err;
	for (struct addrinfo *at = list; at && result != -EINTR; at = at->ai_next) {
		int64_t one_ns = clock_mono_ns() + ONE_TRY_NS;
		int fd = start(at);

		result = fd < 0 ? fd : await(fd, at->ai_next && one_ns < until_ns ? one_ns : until_ns);
		if (result == 0) {
			freeaddrinfo(list);
			*ret_fd = fd;
			return ERR_NONE;
		}
		if (fd >= 0)
			close(fd);
	}
	freeaddrinfo(list);
	return unreachable(address, result, error);
}

enum err dial_start(const char *address, unsigned turn, int *ret_fd, struct error *error)
{
	struct addrinfo *list, *at;
	enum err err = look_up(address, false, &list, error);
	unsigned count = 0;
	int fd;

	if (err != ERR_NONE)
		return err;
	for (at = list; at; at = at->ai_next)
		count++;
	at = list;
	for (turn %= count; turn > 0; turn--)
		at = at->ai_next;
	fd = start(at);
	freeaddrinfo(list);
	if (fd < 0)
		return unreachable(address, fd, error);
	*ret_fd = fd;
	return ERR_NONE;
}

static void bound_at(int fd, char ret_bound[ADDRESS_MAX])
{
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);
	char host[64] = "?", port[8] = "?";

	if (getsockname(fd, (struct sockaddr *)&name, &len) == 0)
		getnameinfo((struct sockaddr *)&name, len, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(ret_bound, ADDRESS_MAX, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

enum err listen_at(const char *address, int *ret_fd, char ret_bound[ADDRESS_MAX], struct error *error)
{
	struct addrinfo *list;
	enum err err = look_up(address, true, &list, error);
	int result = -EADDRNOTAVAIL, yes = 1;

	if (err != ERR_NONE)
		return err;
	for (struct addrinfo *at = list; at; at = at->ai_next) {
		int fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

		if (fd < 0)
			continue;
		/* A master that restarts at once must get its port again, although old connections linger. */
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
		if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0) {
			freeaddrinfo(list);
			bound_at(fd, ret_bound);
			*ret_fd = fd;
			return ERR_NONE;
		}
		result = -errno;
		close(fd);
	}
	freeaddrinfo(list);
	error_system(error, -result, "can't listen on %s", address);
	return error_next(error, result == -EADDRINUSE ? "ss -ltnp shows which program listens on the port" : "ip addr shows the addresses of this machine");
}
