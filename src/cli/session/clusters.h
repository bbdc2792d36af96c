/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of clusters on other machines: a file each in clusters/ of the user's configuration directory, with address and
 * key on a line each. The file "default" has the name of the cluster that is used if none is named.
 */
#ifndef TITAN_CLI_CLUSTERS_H
#define TITAN_CLI_CLUSTERS_H

#include "base/arena.h"
#include "net/dial.h"
#include "net/keyfile.h"

struct remote_cluster {
	char address[ADDRESS_MAX];       /* empty: the cluster is on this machine */
	struct key key;
};

struct settings;

/*
 * Find out whether the settings name a cluster of another machine: by --host and --key, or by a name that has a file.
 * Otherwise ret->address is empty.
 */
enum err clusters_find(const struct settings *settings, struct remote_cluster *ret, struct error *error);
/* Read the file of a cluster; ERR_NOT_FOUND if there is none. */
enum err clusters_read(const char *name, struct remote_cluster *ret, struct error *error);
enum err clusters_write(const char *name, const struct remote_cluster *remote, struct error *error);
enum err clusters_remove(const char *name, struct error *error);
/* Name of the default cluster; NULL: none was set. */
const char *clusters_default(struct arena *arena);
enum err clusters_set_default(const char *name, struct error *error);    /* NULL: none */
/* Names of all clusters, in order. */
enum err clusters_list(struct arena *arena, const char ***ret_names, size_t *ret_count, struct error *error);

#endif
