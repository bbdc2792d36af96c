/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/reach/machines.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/text.h"
#include "net/machine.h"

static int by_name(const void *a, const void *b)
{
	return strcmp((const char *)((const struct slice *)a)->data, (const char *)((const struct slice *)b)->data);
}

enum err machines_list(struct cli *cli, struct slice_list *ret)
{
	char path[PATH_MAX];
	struct dirent *entry;
	struct buf list = { 0 };
	struct slice *at;
	DIR *dir = opendir(statedir_path(&cli->statedir, MACHINES, path));

	*ret = (struct slice_list){ 0 };
	if (dir == NULL)
		return errno == ENOENT ? ERR_NONE : error_system(&cli->error, errno, "can't read %s", path);
	while ((entry = readdir(dir)) != NULL) {
		struct slice name = slice_str(entry->d_name);

		if (entry->d_name[0] == '.' || !text_is_name(name))
			continue;
		name = slice_str(arena_strdup(&cli->arena, name));
		buf_add(&list, &name, sizeof(name));
	}
	closedir(dir);
	ret->n = list.len / sizeof(*at);
	ret->at = at = arena_alloc(&cli->arena, list.len + 1);
	if (list.len > 0) {
		memcpy(at, list.data, list.len);
		qsort(at, ret->n, sizeof(*at), by_name);
	}
	buf_free(&list);
	return ERR_NONE;
}
