/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Backups that clients requested. The store's thread makes the copies; this file remembers which client waits for each.
 */
#include "master/internal.h"

#include "base/log.h"
#include "base/mem.h"
#include "master/dispatch.h"

#define COPIES_MAX 8                     /* most backups under way at once */

struct copy {
	struct store_copy store;         /* must be first: a pointer to it is a pointer to the copy */
	uint64_t conn, request;
	char path[];
};

enum err on_backup(struct incoming_frame *in)
{
	struct master *master = in->master;
	struct msg_backup msg;
	struct error error = { .code = ERR_NONE };
	struct copy *copy;
	enum err err = decode(in, OP_BACKUP, &msg);

	if (err != ERR_NONE)
		return err;
	if (msg.path.len == 0 || msg.path.len >= PATH_MAX || msg.path.data[0] != '/' ||
	    memchr(msg.path.data, '\0', msg.path.len))
		error_set(&error, ERR_INVALID, "the file of a backup must be given as an absolute path");
	else if (master->copies >= COPIES_MAX)
		error_set(&error, ERR_BUSY, "%d backups are already being written; try again", COPIES_MAX);
	if (error.code != ERR_NONE) {
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	copy = mem_zalloc(sizeof(*copy) + msg.path.len + 1);
	memcpy(copy->path, msg.path.data, msg.path.len);
	copy->store.part = copy->path;
	copy->conn = in->session->id;
	copy->request = msg.id;
	master->copies++;
	store_copy(master->store, &copy->store);
	return ERR_NONE;
}

void copies_answer(struct master *master)
{
	struct store_copy *done;

	while ((done = store_copied(master->store))) {
		struct copy *copy = (struct copy *)done;
		struct peer_session *session = session_find(master, copy->conn);
		struct msg_ok ok = { .id = copy->request };

		if (done->error.code != ERR_NONE)
			log_warn_limited("the backup failed: %s", done->error.text);
		if (session && done->error.code == ERR_NONE)
			session_send(session, OP_OK, &ok);
		else if (session)
			session_refuse(session, copy->request, &done->error);
		mem_free(copy);
		master->copies--;
	}
}

void copies_free(struct master *master)
{
	struct store_copy *done;

	while (master->store && (done = store_copied(master->store)))
		mem_free(done);
}
