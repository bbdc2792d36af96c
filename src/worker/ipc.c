/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The byte stream between keeper and link: many messages in one system call, in both directions. Never blocks. */
#include "worker/ipc.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"

#define READ_STEP 65536u
#define BODY_MAX  (16u * 1024 * 1024)

void ipc_close(struct ipc_end *end)
{
	if (end->fd >= 0)
		close(end->fd);
	end->fd = -1;
	buf_free(&end->in);
	buf_free(&end->out);
}

void ipc_put_tail(struct ipc_end *end, enum ipc_type type, const void *body, size_t size, const void *tail,
		  size_t tail_size)
{
	struct ipc_header header = { .version = IPC_VERSION, .type = (uint8_t)type,
				     .size = (uint32_t)(size + tail_size) };

	CHECK(size + tail_size <= BODY_MAX);
	if (end->fd < 0)
		return;
	buf_add(&end->out, &header, sizeof(header));
	buf_add(&end->out, body, size);
	buf_add(&end->out, tail, tail_size);
}

void ipc_put(struct ipc_end *end, enum ipc_type type, const void *body, size_t size)
{
	ipc_put_tail(end, type, body, size, "", 0);
}

int ipc_flush(struct ipc_end *end)
{
	while (end->fd >= 0 && end->out.len > 0) {
		ssize_t sent = send(end->fd, end->out.data, end->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 1;
		if (sent < 0)
			return -errno;
		buf_drop(&end->out, (size_t)sent);
	}
	return 0;
}

int ipc_fill(struct ipc_end *end)
{
	for (;;) {
		ssize_t got = recv(end->fd, buf_reserve(&end->in, READ_STEP), READ_STEP, MSG_DONTWAIT);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -errno;
		if (got == 0)
			return -EPIPE;
		end->in.len += (size_t)got;
		if ((size_t)got < READ_STEP)
			return 0;
	}
}

bool ipc_next(struct ipc_end *end, struct ipc_header *ret_header, struct slice *ret_body)
{
	struct ipc_header header;

	if (end->in.len < sizeof(header))
		return false;
	memcpy(&header, end->in.data, sizeof(header));
	/* Both ends run the same program, so any other version or size is a bug. */
	CHECK(header.version == IPC_VERSION && header.size <= BODY_MAX);
	if (end->in.len < sizeof(header) + header.size)
		return false;
	*ret_header = header;
	*ret_body = slice_make(end->in.data + sizeof(header), header.size);
	/* buf_drop leaves the bytes in place until the buffer is next written to. */
	buf_drop(&end->in, sizeof(header) + header.size);
	return true;
}
