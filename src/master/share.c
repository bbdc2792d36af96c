/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The socket by which other users of this machine come. The mode of the socket keeps everybody outside its group away; the
 * kernel says which user is at the other end, and a user who isn't listed is refused before a session exists, so that the
 * members of the group can't use up the places of others. A user and a token of the same name are the same principal.
 */
#include "master/share.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"

static bool find_group(const char *name, gid_t *ret_group)
{
	const struct group *group = getgrnam(name);
	uint64_t number;

	if (group)
		*ret_group = group->gr_gid;
	else if (text_parse_u64(slice_str(name), &number) && number < UINT32_MAX)
		*ret_group = (gid_t)number;
	else
		return false;
	return true;
}

static void accept_cb(int fd, void *owner)
{
	struct master *master = owner;
	struct identity identity = { .kind = IDENTITY_USER };
	struct principal principal;
	struct ucred peer;
	socklen_t len = sizeof(peer);
	struct error error;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0) {
		close(fd);
		return;
	}
	identity.uid = peer.uid;
	if (principal_of(&identity, &master->options.people, &principal, &error) == ERR_NONE) {
		session_accept(master, fd, &(struct caller){ 0 });
		return;
	}
	log_warn_limited("refused user %u at the shared socket: titan.conf doesn't list that user", (unsigned)peer.uid);
	session_turn_away(fd, &error);
}

static enum err refused(const struct master *master, int result, struct error *error)
{
	const char *path = master->options.share_socket, *group = master->options.share_group;
	int dir = (int)(strrchr(path, '/') - path);

	switch (result) {
	case -EPERM:
		error_set(error, ERR_DENIED, "share: other users may write to %.*s or to a directory above it, and so replace the socket in it", dir, path);
		return error_next(error, "chmod go-w those of: ls -ld %.*s", dir, path);
	case -EACCES:
		error_set(error, ERR_DENIED, "share: the members of group %s can't enter %.*s, the directory of the socket", group, dir, path);
		return error_next(error, "chmod o+x %.*s", dir, path);
	case -EDOM:
		error_set(error, ERR_DENIED, "share: this user isn't in group %s, and so can't give %s to it", group, path);
		return error_next(error, "choose one of the groups that are shown by: id");
	case -EADDRINUSE:
		error_set(error, ERR_INVALID, "share: another process listens on %s; give each cluster a socket of its own", path);
		return error_next(error, "ss -xlp shows which process it is");
	case -ENOTSOCK:
		error_set(error, ERR_INVALID, "share: %s is there, and isn't a socket", path);
		return error_next(error, "ls -ld %s", path);
	default:
		error_system(error, -result, "share: can't listen on %s", path);
		return error_next(error, "ls -ld %.*s", dir, path);
	}
}

enum err share_open(struct master *master, struct error *error)
{
	const char *path = master->options.share_socket;
	gid_t group;
	int fd, result;

	if (!path || master->options.as_of_ms != 0)
		return ERR_NONE;
	if (!find_group(master->options.share_group, &group)) {
		error_set(error, ERR_NOT_FOUND, "share: this machine has no group '%s'", master->options.share_group);
		return error_next(error, "getent group shows all groups");
	}
	result = statedir_listen_shared(path, group, &fd);
	if (result < 0)
		return refused(master, result, error);
	master->share = listener_new(master->loop, fd, master, accept_cb);
	log_info("listening for other users on %s", path);
	return ERR_NONE;
}

void share_stop(struct master *master)
{
	listener_free(master->share);
	master->share = NULL;
}

bool share_has_rights(const struct master *master, uint64_t uid)
{
	for (size_t i = 0; i < master->options.people.count; i++)
		if (master->options.people.at[i].uid == uid)
			return true;
	return uid == getuid();
}
