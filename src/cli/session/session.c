/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the session of a process from its three streams. */
#include "cli/session/session.h"

#include <langinfo.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/io.h"

static int write_fd(void *arg, const void *data, size_t len)
{
	return io_write_all((int)(intptr_t)arg, data, len);
}

static unsigned columns_of(void *arg)
{
	struct winsize size;

	return ioctl((int)(intptr_t)arg, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static struct sink sink_of(int fd)
{
	return (struct sink){ .write_cb = write_fd, .columns_cb = columns_of, .arg = (void *)(intptr_t)fd, .terminal = isatty(fd) == 1 };
}

void session_of_process(struct session *session)
{
	setlocale(LC_CTYPE, "");
	*session = (struct session){
		.out = sink_of(STDOUT_FILENO), .err = sink_of(STDERR_FILENO), .in_fd = STDIN_FILENO,
		.asks = isatty(STDIN_FILENO) == 1, .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
	};
}
