/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/reach/ssh_call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"
#include "cli/ask/ask.h"

#define SAID_MAX   ((size_t)1 << 20)
#define KEPT_MAX   ((size_t)65536)
#define LAST_LINES 5
/* how long to wait for output after ssh has ended; a ControlMaster may keep the pipe open */
#define AFTER_NS   (2 * NS_PER_S)

void ssh_call_init(struct ssh_call *call)
{
	*call = (struct ssh_call){ .pidfd = -1, .in = -1, .out = -1, .err = -1 };
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

enum err ssh_call_start(struct ssh_call *call, const struct machine *machine, const char *command, bool alone, int64_t for_ms,
			struct error *error)
{
	const char *argv[MACHINE_SSH_ARGS];
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, err[2] = { -1, -1 }, result;

	machine_ssh(machine, command, argv);
	call->sent = 0;
	call->ended = call->timed_out = false;
	buf_clear(&call->said);
	buf_clear(&call->complained);
	call->until_ns = clock_mono_ns() + for_ms * NS_PER_MS;
	/* Use a socket: writing to a pipe whose reader has gone would end this process by a signal. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		result = -errno;
	else
		result = machine_spawn(argv, in[0], out[1], err[1], alone, &call->pid);
	close_fd(&in[0]);
	close_fd(&out[1]);
	close_fd(&err[1]);
	call->in = in[1];
	call->out = out[0];
	call->err = err[0];
	if (result == 0) {
		call->pidfd = pidfd_open(call->pid, 0);
		io_set_nonblock(call->in);
		io_set_nonblock(call->out);
		io_set_nonblock(call->err);
		return ERR_NONE;
	}
	call->pid = 0;
	close_fd(&call->in);
	close_fd(&call->out);
	close_fd(&call->err);
	error_system(error, -result, "can't start ssh");
	return error_next(error, "install OpenSSH's client: apt-get install openssh-client");
}

int ssh_call_status(const struct ssh_call *call)
{
	return call->timed_out || !WIFEXITED(call->status) ? -1 : WEXITSTATUS(call->status);
}

static void finish(struct ssh_call *call)
{
	close_fd(&call->in);
	close_fd(&call->out);
	close_fd(&call->err);
	close_fd(&call->pidfd);
	if (call->input.data)
		explicit_bzero(call->input.data, call->input.len);
	buf_clear(&call->input);
	call->payload = slice_make(NULL, 0);
	call->pid = 0;
	call->ended = true;
}

void ssh_call_free(struct ssh_call *call)
{
	if (call->pid > 0) {
		kill(call->pid, SIGTERM);
		while (waitpid(call->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	finish(call);
	buf_free(&call->input);
	buf_free(&call->said);
	buf_free(&call->complained);
}

static void take(int *fd, struct buf *out, bool keeps_end)
{
	static uint8_t bytes[65536];
	ssize_t count;

	while (*fd >= 0 && (count = read(*fd, bytes, sizeof(bytes))) != 0) {
		if (count < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (count < 0)
			break;
		if (keeps_end || out->len < SAID_MAX)
			buf_add(out, bytes, (size_t)count);
		if (keeps_end && out->len > 2 * KEPT_MAX)
			buf_drop(out, out->len - KEPT_MAX);
	}
	close_fd(fd);
}

static void give(struct ssh_call *call)
{
	while (call->in >= 0) {
		bool first = call->sent < call->input.len;
		struct slice part = first ? buf_slice(&call->input) : call->payload;
		size_t at = first ? call->sent : call->sent - call->input.len;
		ssize_t count;

		if (at == part.len) {
			if (!call->holds_stdin)
				close_fd(&call->in);
			return;
		}
		count = send(call->in, part.data + at, part.len - at, MSG_NOSIGNAL);
		if (count < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (count < 0)           /* The command takes no more input; its answer will say why. */
			close_fd(&call->in);
		else
			call->sent += (size_t)count;
	}
}

/* Move all bytes that can be moved now, and notice the end of ssh. */
static void pump(struct ssh_call *call)
{
	int64_t now_ns = clock_mono_ns();

	give(call);
	take(&call->out, &call->said, false);
	take(&call->err, &call->complained, true);
	if (call->pid > 0 && waitpid(call->pid, &call->status, WNOHANG) == call->pid) {
		call->pid = 0;
		close_fd(&call->in);
		call->until_ns = now_ns + AFTER_NS;
	}
	if (call->pid > 0 && now_ns >= call->until_ns) {
		call->timed_out = true;
		kill(call->pid, SIGTERM);
		while (waitpid(call->pid, &call->status, 0) < 0 && errno == EINTR)
			;
		call->pid = 0;
		finish(call);
	} else if (call->pid == 0 && ((call->out < 0 && call->err < 0) || now_ns >= call->until_ns)) {
		finish(call);
	}
}

static void watch(int epoll_fd, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };

	if (fd >= 0)
		epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

enum err ssh_calls_wait(struct cli *cli, struct ssh_call *const *calls, size_t count, int64_t until_ns)
{
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	enum err err;

	if (epoll_fd < 0)
		return error_system(&cli->error, errno, "can't wait for ssh");
	for (size_t i = 0; i < count; i++) {
		const struct ssh_call *call = calls[i];

		if (call->ended || call->until_ns == 0)
			continue;
		if (call->until_ns < until_ns)
			until_ns = call->until_ns;
		watch(epoll_fd, call->out, EPOLLIN);
		watch(epoll_fd, call->err, EPOLLIN);
		watch(epoll_fd, call->pid > 0 ? call->pidfd : -1, EPOLLIN);
		if (call->sent < call->input.len + call->payload.len)
			watch(epoll_fd, call->in, EPOLLOUT);
	}
	err = cli_wait_for(cli, epoll_fd, POLLIN, until_ns);
	close(epoll_fd);
	if (err != ERR_NONE && err != ERR_PENDING)
		return err;
	for (size_t i = 0; i < count; i++)
		if (!calls[i]->ended && calls[i]->until_ns != 0)
			pump(calls[i]);
	return ERR_NONE;
}

void ssh_call_last_lines(const struct ssh_call *call, const char *indent, struct buf *out)
{
	const uint8_t *data = call->complained.data, *starts[LAST_LINES + 1];
	size_t len = call->complained.len, count = 0;

	while (len > 0 && (data[len - 1] == '\n' || data[len - 1] == '\r'))
		len--;
	if (len == 0)
		return;
	starts[count++] = data + len + 1;
	for (size_t i = len; i-- > 0 && count <= LAST_LINES;)
		if (i == 0 || data[i - 1] == '\n')
			starts[count++] = data + i;
	for (size_t i = count; i-- > 1;) {
		size_t line_len = (size_t)(starts[i - 1] - starts[i]) - 1;

		if (line_len > 0 && starts[i][line_len - 1] == '\r')
			line_len--;
		buf_add_str(out, indent);
		text_escape(out, slice_make(starts[i], line_len), TEXT_KEEP_NONE);
		buf_add_byte(out, '\n');
	}
}
