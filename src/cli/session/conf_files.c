/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds and reads titan.conf files; lang/conf.c parses them. A file that another user could have written is refused,
 * because its settings would act in this user's name. Directories that every user may write are skipped: otherwise
 * anybody could put a titan.conf there and stop the commands of all users who work below it.
 */
#include "cli/session/conf_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/session/output.h"

#define NAME    "titan.conf"
#define HIDDEN  "." NAME
#define SYSTEM  "/etc/titan/" NAME

static enum err check_owner(struct cli *cli, enum conf_place place, const char *path, const struct stat *info)
{
	uid_t own = geteuid();

	if (!S_ISREG(info->st_mode))
		return error_set(&cli->error, ERR_INVALID, "%s must be a regular file to hold settings", path);
	if (info->st_uid != own && info->st_uid != 0) {
		error_set(&cli->error, ERR_DENIED, "%s belongs to user %u, not to you or root, so titan refuses its settings",
			  path, (unsigned)info->st_uid);
		return error_next(&cli->error, "check the file, then chown %u %s, or %s", (unsigned)own, path,
				  place == FROM_USER ? "set HOME to your own directory" : "work in another directory");
	}
	if (info->st_mode & S_IWOTH) {
		error_set(&cli->error, ERR_DENIED, "every user may write to %s, so titan refuses its settings", path);
		return error_next(&cli->error, "check the file, then chmod o-w %s", path);
	}
	return ERR_NONE;
}

static enum err read_open(struct cli *cli, int fd, enum conf_place place, const char *path, struct buf *text)
{
	struct stat info;
	enum err err;
	ssize_t got = 1;

	if (fstat(fd, &info) != 0)
		return error_system(&cli->error, errno, "can't look at %s", path);
	err = check_owner(cli, place, path, &info);
	if (err != ERR_NONE)
		return err;
	while (got != 0 && text->len <= CONF_MAX) {
		got = read(fd, buf_reserve(text, CONF_MAX), CONF_MAX);
		if (got < 0 && errno != EINTR)
			return error_system(&cli->error, errno, "can't read %s", path);
		text->len += got > 0 ? (size_t)got : 0;
	}
	return ERR_NONE;
}

/*
 * Is the file in a directory that this user may not search? Such a titan.conf is ignored: it lies above the working
 * directory, or belongs to another user's cluster.
 */
static bool is_closed(const char *path)
{
	char dir[PATH_MAX + sizeof(HIDDEN)];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash == NULL || slash == dir)
		return false;
	*slash = '\0';
	return eaccess(dir, X_OK) != 0;
}

/* Read one file. at: index in files. ERR_NOT_FOUND without a text: there is no such file. */
static enum err read_file(struct cli *cli, struct conf_files *files, size_t at, enum conf_place place, const char *path)
{
	/* O_NONBLOCK: opening a named pipe would wait for a writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int why = fd < 0 ? errno : 0;
	struct buf text = { 0 };
	struct conf conf;
	struct dag_spot spot;
	enum err err;

	if (why == ENOENT || why == ENOTDIR || (why == EACCES && is_closed(path)))
		return ERR_NOT_FOUND;
	if (why != 0)
		return error_system(&cli->error, why, "can't open %s", path);
	err = read_open(cli, fd, place, path, &text);
	close(fd);
	if (err == ERR_NONE) {
		err = conf_parse(buf_slice(&text), place, &cli->arena, &conf, &spot, &cli->error);
		if (err != ERR_NONE)
			load_explain(cli, buf_slice(&text), path, &spot);
	}
	buf_free(&text);
	if (err != ERR_NONE)
		return err;
	memmove(&files->files[at + 1], &files->files[at], (files->count - at) * sizeof(files->files[0]));
	files->files[at].path = arena_strdup(&cli->arena, slice_str(path));
	files->files[at].place = place;
	files->files[at].conf = conf;
	files->count++;
	return ERR_NONE;
}

static bool holds_projects(const char *dir)
{
	struct stat info;

	return stat(dir, &info) == 0 && !(info.st_mode & S_IWOTH);
}

/* Read the nearest project file, in the working directory or a parent of it. */
static enum err read_project(struct cli *cli, struct conf_files *files)
{
	char dir[PATH_MAX], path[PATH_MAX + sizeof(HIDDEN)];
	enum err err = ERR_NOT_FOUND;
	char *slash;

	/* A working directory that was removed has no project. */
	if (getcwd(dir, sizeof(dir)) == NULL || dir[0] != '/')
		return ERR_NONE;
	for (;;) {
		bool top = strcmp(dir, "/") == 0;

		snprintf(path, sizeof(path), "%s/" HIDDEN, top ? "" : dir);
		if (holds_projects(dir))
			err = read_file(cli, files, files->count, FROM_PROJECT, path);
		if (err != ERR_NOT_FOUND || top)
			return err == ERR_NOT_FOUND ? ERR_NONE : err;
		slash = strrchr(dir, '/');
		slash[slash == dir] = '\0';
	}
}

static enum err read_user(struct cli *cli, struct conf_files *files)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char path[PATH_MAX];
	int len;

	/* The XDG specification says to ignore a relative path. */
	if (config != NULL && config[0] == '/')
		len = snprintf(path, sizeof(path), "%s/titan/" NAME, config);
	else if (home != NULL && home[0] == '/')
		len = snprintf(path, sizeof(path), "%s/.config/titan/" NAME, home);
	else
		return ERR_NONE;
	return len < (int)sizeof(path) ? read_file(cli, files, files->count, FROM_USER, path) : ERR_NONE;
}

enum err conf_read_files(struct cli *cli, struct conf_files *files)
{
	enum err err = read_project(cli, files);

	if (err == ERR_NONE)
		err = read_user(cli, files);
	if (err == ERR_NONE || err == ERR_NOT_FOUND)
		err = read_file(cli, files, files->count, FROM_SYSTEM, SYSTEM);
	return err == ERR_NOT_FOUND ? ERR_NONE : err;
}

enum err conf_read_cluster(struct cli *cli, struct conf_files *files)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s/" NAME, cli->statedir.dir);
	enum err err = len < (int)sizeof(path) ? read_file(cli, files, 0, FROM_CLUSTER, path) : ERR_NOT_FOUND;

	return err == ERR_NOT_FOUND ? ERR_NONE : err;
}
