/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The far end of a bridge: moves bytes between the ssh connection, which is stdin and stdout, and the worker's socket. It
 * doesn't look at them: master and worker speak TLS through it, so this process and ssh can delay or cut the
 * connection, and nothing else.
 */
#include "worker/far.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/io.h"

#define PUMP_SIZE 65536

struct pump {                            /* one direction */
	int from, to;
	size_t at, len;                  /* bytes that were read and aren't written yet */
	bool ended;                      /* the descriptor from has no more bytes, or to takes none */
	uint8_t bytes[PUMP_SIZE];
};

static bool is_again(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static void pump_move(struct pump *pump, bool readable, bool writable)
{
	ssize_t count;

	if (pump->len == 0 && readable) {
		count = read(pump->from, pump->bytes, sizeof(pump->bytes));
		if (count > 0) {
			pump->at = 0;
			pump->len = (size_t)count;
			writable = true;
		} else if (count == 0 || !is_again()) {
			pump->ended = true;
		}
	}
	if (pump->len > 0 && writable) {
		count = write(pump->to, pump->bytes + pump->at, pump->len);
		if (count > 0) {
			pump->at += (size_t)count;
			pump->len -= (size_t)count;
		} else if (count < 0 && !is_again()) {
			pump->ended = true;
		}
	}
}

static void pump_both(int socket_fd)
{
	static struct pump in, out;

	in = (struct pump){ .from = STDIN_FILENO, .to = socket_fd };
	out = (struct pump){ .from = socket_fd, .to = STDOUT_FILENO };
	io_set_nonblock(STDIN_FILENO);
	io_set_nonblock(STDOUT_FILENO);
	io_set_nonblock(socket_fd);
	while (!in.ended && !out.ended) {
		struct pollfd fds[] = {
			{ .fd = in.len == 0 ? in.from : -1, .events = POLLIN },
			{ .fd = in.len > 0 ? in.to : -1, .events = POLLOUT },
			{ .fd = out.len == 0 ? out.from : -1, .events = POLLIN },
			{ .fd = out.len > 0 ? out.to : -1, .events = POLLOUT },
			/* Watch stdout for errors only: its reader may go while the worker is silent. */
			{ .fd = STDOUT_FILENO, .events = 0 },
		};

		if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0 && errno != EINTR)
			break;
		if (fds[4].revents & (POLLERR | POLLNVAL))
			break;
		pump_move(&in, fds[0].revents != 0, fds[1].revents != 0);
		pump_move(&out, fds[2].revents != 0, fds[3].revents != 0);
	}
}

static int connect_worker(const char *dir, const struct far_config *config, int *ret_fd)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/worker/%s", dir, config->name);
	return statedir_connect_in(path, FAR_BRIDGE, ret_fd);
}

/* The worker doesn't run: start it, unless it was stopped, or another process has started it meanwhile. */
static enum err start_worker(const char *dir, struct far_config *config, int *ret_fd, struct error *error)
{
	int lock_fd = far_lock(dir), result;
	enum err err = far_wake(dir, error);

	if (err == ERR_NONE)
		err = far_config_read(dir, config, error);
	if (err == ERR_NONE && (result = connect_worker(dir, config, ret_fd)) != 0)
		err = error_system(error, -result, "can't reach worker %s", config->name);
	if (lock_fd >= 0)
		close(lock_fd);
	return err;
}

static enum err open_worker(const char *dir, int *ret_fd, struct error *error)
{
	struct far_config config;
	enum err err = far_config_read(dir, &config, error);

	if (err != ERR_NONE || connect_worker(dir, &config, ret_fd) == 0)
		return err;
	return start_worker(dir, &config, ret_fd, error);
}

int far_bridge(const char *dir, const char *nonce)
{
	struct error error = { 0 };
	int fd;

	signal(SIGPIPE, SIG_IGN);
	if (open_worker(dir, &fd, &error) != ERR_NONE) {
		fprintf(stderr, "titan: %s\n", error.text);
		return err_exit_status(error.code);
	}
	if (io_write_all(STDOUT_FILENO, nonce, strlen(nonce)) < 0 || io_write_all(STDOUT_FILENO, "\n", 1) < 0)
		return err_exit_status(ERR_SYSTEM);
	pump_both(fd);
	close(fd);
	return 0;
}
