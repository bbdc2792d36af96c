/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dashboard's connection. A thread opens it and reports through a pipe; until then the loop must not read what the
 * thread fills in.
 */
#include "cli/dash/dash_link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "base/mem.h"

#define RETRY_FIRST_MS 500
#define RETRY_LAST_MS  15000

struct dash_opening {
	struct statedir statedir;
	pthread_t thread;
	int pipe[2];
	struct client *client;
	struct error error;
	enum err err;
};

static void *open_thread(void *owner)
{
	struct dash_opening *opening = owner;
	ssize_t ignored;

	opening->err = client_open(&opening->statedir, &opening->client, &opening->error);
	ignored = write(opening->pipe[1], "", 1);
	(void)ignored;
	return NULL;
}

enum err dash_link_open(struct dash_link *link, const struct statedir *statedir, struct error *error)
{
	*link = (struct dash_link){ .statedir = statedir, .retry_ms = RETRY_FIRST_MS };
	return client_open(statedir, &link->client, error);
}

void dash_link_lost(struct dash_link *link, int64_t now_ms)
{
	client_close(link->client);
	link->client = NULL;
	link->retry_at_ms = now_ms + link->retry_ms;
	link->retry_ms = link->retry_ms * 2 > RETRY_LAST_MS ? RETRY_LAST_MS : link->retry_ms * 2;
}

void dash_link_retry(struct dash_link *link)
{
	struct dash_opening *opening = mem_zalloc(sizeof *opening);

	opening->statedir = *link->statedir;
	if (pipe2(opening->pipe, O_CLOEXEC) < 0) {
		mem_free(opening);
		return;
	}
	if (pthread_create(&opening->thread, NULL, open_thread, opening) != 0) {
		close(opening->pipe[0]);
		close(opening->pipe[1]);
		mem_free(opening);
		return;
	}
	link->opening = opening;
}

int dash_link_fd(const struct dash_link *link)
{
	if (link->opening)
		return link->opening->pipe[0];
	return link->client ? client_fd(link->client) : -1;
}

short dash_link_events(const struct dash_link *link)
{
	return link->client && !link->opening ? client_events(link->client) : POLLIN;
}

bool dash_link_opened(struct dash_link *link, int64_t now_ms, struct error *error)
{
	struct dash_opening *opening = link->opening;
	enum err err;

	pthread_join(opening->thread, NULL);
	link->opening = NULL;
	err = opening->err;
	if (err == ERR_NONE) {
		link->client = opening->client;
		link->retry_ms = RETRY_FIRST_MS;
	} else {
		*error = opening->error;
		dash_link_lost(link, now_ms);
	}
	close(opening->pipe[0]);
	close(opening->pipe[1]);
	mem_free(opening);
	return err == ERR_NONE;
}

void dash_link_close(struct dash_link *link)
{
	/* Don't wait for a thread that is opening: that could take seconds. It ends with the process. */
	if (link->opening)
		pthread_detach(link->opening->thread);
	link->opening = NULL;
	client_close(link->client);
	link->client = NULL;
}
