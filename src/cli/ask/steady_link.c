/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The thread and the loop share struct link_opening. The thread opens the connection and writes to a pipe when it is
 * done; the loop must not read the results before that. Whichever of the two lets go of the struct last frees it.
 */
#include "cli/ask/steady_link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/mem.h"

#define RETRY_FIRST_MS 500
#define RETRY_LAST_MS  15000

struct link_opening {
	struct statedir statedir;
	struct remote_cluster remote;
	pthread_t thread;
	atomic_int holders;
	int pipe[2];
	struct client *client;
	struct error error;
	enum err err;
};

static void opening_leave(struct link_opening *opening)
{
	if (atomic_fetch_sub(&opening->holders, 1) > 1)
		return;
	close(opening->pipe[0]);
	close(opening->pipe[1]);
	client_close(opening->client);
	mem_free(opening);
}

static enum err open_one(const struct statedir *statedir, const struct remote_cluster *remote, struct client **ret_client,
			 struct error *error)
{
	if (remote->address[0])
		return client_open_remote(remote->address, &remote->key, ret_client, error);
	return client_open(statedir, ret_client, error);
}

static void *open_thread(void *owner)
{
	struct link_opening *opening = owner;
	ssize_t ignored;

	opening->err = open_one(&opening->statedir, &opening->remote, &opening->client, &opening->error);
	ignored = write(opening->pipe[1], "", 1);
	(void)ignored;
	opening_leave(opening);
	return NULL;
}

void steady_link_begin(struct steady_link *link, const struct statedir *statedir, const struct remote_cluster *remote)
{
	*link = (struct steady_link){ .statedir = statedir, .remote = remote, .retry_ms = RETRY_FIRST_MS };
}

enum err steady_link_open(struct steady_link *link, const struct statedir *statedir, const struct remote_cluster *remote,
			  struct error *error)
{
	steady_link_begin(link, statedir, remote);
	return open_one(statedir, remote, &link->client, error);
}

void steady_link_lost(struct steady_link *link, int64_t now_ms)
{
	client_close(link->client);
	link->client = NULL;
	link->retry_at_ms = now_ms + link->retry_ms;
	link->retry_ms = link->retry_ms * 2 > RETRY_LAST_MS ? RETRY_LAST_MS : link->retry_ms * 2;
}

void steady_link_retry(struct steady_link *link)
{
	struct link_opening *opening = mem_zalloc(sizeof *opening);

	opening->statedir = *link->statedir;
	opening->remote = *link->remote;
	opening->holders = 2;
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

int steady_link_fd(const struct steady_link *link)
{
	if (link->opening)
		return link->opening->pipe[0];
	return link->client ? client_fd(link->client) : -1;
}

short steady_link_events(const struct steady_link *link)
{
	return link->client && !link->opening ? client_events(link->client) : POLLIN;
}

bool steady_link_opened(struct steady_link *link, int64_t now_ms, struct error *error)
{
	struct link_opening *opening = link->opening;
	enum err err;

	pthread_join(opening->thread, NULL);
	link->opening = NULL;
	err = opening->err;
	if (err == ERR_NONE) {
		link->client = opening->client;
		opening->client = NULL;
		link->retry_ms = RETRY_FIRST_MS;
	} else {
		*error = opening->error;
		steady_link_lost(link, now_ms);
	}
	opening_leave(opening);
	return err == ERR_NONE;
}

void steady_link_close(struct steady_link *link)
{
	/*
	 * Don't wait for a thread that is still opening, because that could take seconds. The thread frees what it has
	 * opened.
	 */
	if (link->opening) {
		pthread_detach(link->opening->thread);
		opening_leave(link->opening);
	}
	link->opening = NULL;
	client_close(link->client);
	link->client = NULL;
}
