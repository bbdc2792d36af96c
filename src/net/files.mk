# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

net_sources = \
	src/net/channel.c \
	src/net/channel.h \
	src/net/client.c \
	src/net/client.h \
	src/net/client_call.c \
	src/net/client_internal.h \
	src/net/conn.c \
	src/net/conn.h \
	src/net/conn_internal.h \
	src/net/conn_set.c \
	src/net/dial.c \
	src/net/dial.h \
	src/net/keyfile.c \
	src/net/keyfile.h \
	src/net/listen.c \
	src/net/listen.h \
	src/net/machine.c \
	src/net/machine.h \
	src/net/tls_bio.c \
	src/net/tls_handshake.c \
	src/net/tls_internal.h \
	src/net/transport.h \
	src/net/transport_tls.c \
	src/net/transport_tls.h \
	src/net/transport_unix.c \
	src/net/wordfile.c \
	src/net/wordfile.h

net_other = \
	src/net/README.md
