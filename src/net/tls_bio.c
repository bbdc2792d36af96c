/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The BIO under OpenSSL. It never makes OpenSSL wait for room to write: records are appended to the transport's own buffer,
 * which tls_flush sends in one system call. It reads straight into OpenSSL's buffer.
 */
#include "net/tls_internal.h"

#include <errno.h>
#include <sys/socket.h>

static int bio_write(BIO *bio, const char *data, size_t len, size_t *ret_len)
{
	struct tls *tls = BIO_get_data(bio);

	buf_add(&tls->out, data, len);
	*ret_len = len;
	return 1;
}

static int bio_read(BIO *bio, char *place, size_t len, size_t *ret_len)
{
	struct tls *tls = BIO_get_data(bio);
	ssize_t got;

	BIO_clear_retry_flags(bio);
	do
		got = recv(tls->transport.fd, place, len, MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	*ret_len = got > 0 ? (size_t)got : 0;
	if (got > 0)
		return 1;
	if (got < 0 && errno == EAGAIN)
		BIO_set_retry_read(bio);
	else
		tls->cut = true;
	return 0;
}

static long bio_control(BIO *bio, int command, long number, void *argument)
{
	const struct tls *tls = BIO_get_data(bio);

	(void)number;
	(void)argument;
	if (command == BIO_CTRL_EOF)
		return tls->cut;
	return command == BIO_CTRL_FLUSH;        /* 1: success; the real sending is done by tls_flush */
}

static BIO_METHOD *bio_method(void)
{
	static BIO_METHOD *method;               /* made once and never freed */

	if (!method) {
		method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "titan");
		if (!method)
			return NULL;
		BIO_meth_set_write_ex(method, bio_write);
		BIO_meth_set_read_ex(method, bio_read);
		BIO_meth_set_ctrl(method, bio_control);
	}
	return method;
}

int tls_flush(struct tls *tls)
{
	while (tls->out.len > 0) {
		ssize_t sent = send(tls->transport.fd, tls->out.data, tls->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent >= 0)
			buf_drop(&tls->out, (size_t)sent);
		else if (errno != EINTR)
			return -errno;
	}
	buf_free(&tls->out);                     /* an idle connection keeps no buffer */
	return 0;
}

BIO *tls_bio_new(struct tls *tls)
{
	BIO_METHOD *method = bio_method();
	BIO *bio = method ? BIO_new(method) : NULL;

	if (!bio)
		return NULL;
	BIO_set_data(bio, tls);
	BIO_set_init(bio, 1);
	return bio;
}
