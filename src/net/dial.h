/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TCP addresses: HOST, HOST:PORT, [V6]:PORT or :PORT. Without a port it is LIMIT_TCP_PORT; without a host, for
 * listening, all addresses of this machine. Sockets are non-blocking and close-on-exec.
 */
#ifndef TITAN_NET_DIAL_H
#define TITAN_NET_DIAL_H

#include <stddef.h>
#include <stdint.h>

#include "proto/error.h"

#define ADDRESS_MAX 300                  /* most bytes of an address as text, with its NUL */
/* stands for the address of a master that reaches the worker by bridges; no host name has this form */
#define BRIDGE_ADDRESS "@bridge"

/* Check an address's form without looking the host up. */
enum err address_check(const char *address, struct error *error);
/* Connect and wait for it, at most until until_ns. Tries all addresses of the host's name. */
enum err dial(const char *address, int64_t until_ns, int *ret_fd, struct error *error);
/*
 * Begin to connect to one of the addresses of the host's name; each value of turn takes another one. The socket may not
 * be connected yet: until then it takes no bytes. Looking up a name may take seconds; numeric addresses take no time.
 */
enum err dial_start(const char *address, unsigned turn, int *ret_fd, struct error *error);
/*
 * Let TCP notice within span_ms that the peer of a silent connection is gone, to whole seconds, 4 s at least and 60 s at most. Its
 * probes also keep the connection in the tables of NATs. A socket that isn't TCP stays as it is, here and below.
 */
void tcp_watch_silence(int fd, int64_t span_ms);
/* End the connection once sent bytes, or the first packet, have had no answer for span_ms; 0: as late as the system does. */
void tcp_limit_unanswered(int fd, int64_t span_ms);
/* Listen. ret_bound gets the address as numbers; its port is the one that the system chose if 0 was given. */
enum err listen_at(const char *address, int *ret_fd, char ret_bound[ADDRESS_MAX], struct error *error);

#endif
