/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads and writes the files that name clusters on other machines. */
#include "cli/session/clusters.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/session/options.h"

#define FILE_MAX     4096
#define DEFAULT_FILE "default"

/* Find the directory of the files; false: neither XDG_CONFIG_HOME nor HOME is set. */
static bool directory(char ret_path[PATH_MAX])
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int len;

	if (config != NULL && config[0] == '/')
		len = snprintf(ret_path, PATH_MAX, "%s/titan/clusters", config);
	else if (home != NULL && home[0] == '/')
		len = snprintf(ret_path, PATH_MAX, "%s/.config/titan/clusters", home);
	else
		return false;
	return len < PATH_MAX;
}

static enum err file_path(const char *name, char ret_path[PATH_MAX], struct error *error)
{
	char dir[PATH_MAX];

	if (!text_is_name(slice_str(name)))
		return error_set(error, ERR_USAGE, "'%s' isn't a valid name for a cluster; use only letters, digits and _ . -", name);
	if (!directory(dir))
		return error_set(error, ERR_USAGE, "the configuration directory is unknown: neither XDG_CONFIG_HOME nor HOME is set");
	if (snprintf(ret_path, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX)
		return error_set(error, ERR_USAGE, "the path of the configuration directory is too long");
	return ERR_NONE;
}

/* Read a small file that only its owner may read. ERR_NOT_FOUND: there is none. */
static enum err read_private(const char *path, struct buf *out, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat info;
	ssize_t got;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return error_set(error, ERR_NOT_FOUND, "there is no %s", path);
	if (fd < 0)
		return error_system(error, errno, "can't open %s", path);
	if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 077) != 0) {
		close(fd);
		error_set(error, ERR_DENIED, "%s must belong to you, and nobody else may read it: it contains a token", path);
		return error_next(error, "chmod 600 %s", path);
	}
	got = read(fd, buf_reserve(out, FILE_MAX), FILE_MAX);
	close(fd);
	if (got < 0)
		return error_system(error, errno, "can't read %s", path);
	out->len += (size_t)got;
	return ERR_NONE;
}

/* Write a file with mode 0600, whole or not at all; makes the directories. */
static enum err write_private(const char *path, struct slice text, struct error *error)
{
	char part[PATH_MAX + 8], dir[PATH_MAX];
	int fd, result = 0;

	directory(dir);
	for (char *at = strchr(dir + 1, '/'); ; at = strchr(at + 1, '/')) {
		if (at)
			*at = '\0';
		if (mkdir(dir, 0700) < 0 && errno != EEXIST)
			return error_system(error, errno, "can't make %s", dir);
		if (!at)
			break;
		*at = '/';
	}
	snprintf(part, sizeof(part), "%s.part", path);
	unlink(part);
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_system(error, errno, "can't make %s", part);
	if (io_write_all(fd, text.data, text.len) < 0 || fsync(fd) < 0 || rename(part, path) < 0)
		result = errno;
	close(fd);
	if (result == 0)
		return ERR_NONE;
	unlink(part);
	return error_system(error, result, "can't write %s", path);
}

static enum err check_address(const char *address, struct error *error)
{
	return address[0] == '/' ? ERR_NONE : address_check(address, error);
}

enum err clusters_read(const char *name, struct remote_cluster *ret, struct error *error)
{
	struct buf text = { 0 };
	char path[PATH_MAX];
	const uint8_t *end;
	enum err err = file_path(name, path, error);

	if (err == ERR_NONE)
		err = read_private(path, &text, error);
	end = err == ERR_NONE && text.len > 0 ? memchr(text.data, '\n', text.len) : NULL;
	if (err == ERR_NONE && (!end || (size_t)(end - text.data) >= sizeof(ret->address)))
		err = error_set(error, ERR_DAMAGED, "%s must have an address on its first line and a token on the second", path);
	if (err == ERR_NONE) {
		size_t len = (size_t)(end - text.data);

		memcpy(ret->address, text.data, len);
		ret->address[len] = '\0';
		err = check_address(ret->address, error);
		if (err == ERR_NONE && ret->address[0] != '/')
			err = key_parse(slice_make(end + 1, text.len - len - 1), path, &ret->key, error);
	}
	buf_free(&text);
	return err;
}

enum err clusters_write(const char *name, const struct remote_cluster *remote, struct error *error)
{
	struct buf text = { 0 };
	char path[PATH_MAX];
	enum err err = file_path(name, path, error);

	if (strcmp(name, DEFAULT_FILE) == 0 || strcmp(name, "local") == 0)
		return error_set(error, ERR_USAGE, "'%s' means a cluster of this machine; take another name", name);
	buf_addf(&text, "%s\n", remote->address);
	if (remote->address[0] != '/')
		key_write(&remote->key, &text);
	if (err == ERR_NONE)
		err = write_private(path, buf_slice(&text), error);
	buf_free(&text);
	return err;
}

enum err clusters_remove(const char *name, struct error *error)
{
	char path[PATH_MAX];
	enum err err = file_path(name, path, error);

	if (err != ERR_NONE)
		return err;
	if (strcmp(name, DEFAULT_FILE) != 0 && unlink(path) == 0)
		return ERR_NONE;
	if (errno != ENOENT)
		return error_system(error, errno, "can't remove %s", path);
	error_set(error, ERR_NOT_FOUND, "no cluster of another machine is named '%s'", name);
	return error_next(error, "titan cluster ls");
}

const char *clusters_default(struct arena *arena)
{
	struct buf text = { 0 };
	char path[PATH_MAX];
	struct error ignored;
	const char *name = NULL;

	if (file_path(DEFAULT_FILE, path, &ignored) == ERR_NONE && read_private(path, &text, &ignored) == ERR_NONE) {
		while (text.len > 0 && text.data[text.len - 1] == '\n')
			buf_cut(&text, text.len - 1);
		if (text_is_name(buf_slice(&text)))
			name = arena_strdup(arena, buf_slice(&text));
	}
	buf_free(&text);
	return name;
}

enum err clusters_set_default(const char *name, struct error *error)
{
	struct buf text = { 0 };
	char path[PATH_MAX];
	enum err err = file_path(DEFAULT_FILE, path, error);

	if (err != ERR_NONE)
		return err;
	if (name == NULL)
		return unlink(path) == 0 || errno == ENOENT ? ERR_NONE : error_system(error, errno, "can't remove %s", path);
	buf_addf(&text, "%s\n", name);
	err = write_private(path, buf_slice(&text), error);
	buf_free(&text);
	return err;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum err clusters_list(struct arena *arena, const char ***ret_names, size_t *ret_count, struct error *error)
{
	struct buf names = { 0 };
	char dir[PATH_MAX];
	struct dirent *entry;
	DIR *list;

	*ret_names = NULL;
	*ret_count = 0;
	if (!directory(dir))
		return ERR_NONE;
	list = opendir(dir);
	if (!list)
		return errno == ENOENT ? ERR_NONE : error_system(error, errno, "can't read %s", dir);
	while ((entry = readdir(list))) {
		const char *name = entry->d_name, *copy;
		size_t len = strlen(name);

		if (!text_is_name(slice_str(name)) || name[0] == '.' || strcmp(name, DEFAULT_FILE) == 0 ||
		    (len > 5 && strcmp(name + len - 5, ".part") == 0))
			continue;
		copy = arena_strdup(arena, slice_str(name));
		buf_add(&names, &copy, sizeof(copy));
	}
	closedir(list);
	*ret_count = names.len / sizeof(char *);
	*ret_names = arena_alloc(arena, names.len + 1);
	if (names.len > 0) {
		memcpy(*ret_names, names.data, names.len);
		qsort(*ret_names, *ret_count, sizeof(char *), by_name);
	}
	buf_free(&names);
	return ERR_NONE;
}

enum err clusters_find(const struct settings *settings, struct remote_cluster *ret, struct error *error)
{
	struct arena arena = { 0 };
	const char *name = settings->cluster;
	struct error missing;
	enum err err = ERR_NONE;

	*ret = (struct remote_cluster){ .address = "" };
	if (settings->socket != NULL)
		return ERR_NONE;
	if (settings->host != NULL) {
		bool shared = settings->host[0] == '/';

		err = check_address(settings->host, error);
		if (err == ERR_NONE && strlen(settings->host) >= sizeof(ret->address))
			err = error_set(error, ERR_USAGE, "the address is too long");
		if (err == ERR_NONE && !shared && settings->key_file == NULL) {
			error_set(error, ERR_USAGE, "--host needs a key: --key FILE, or TITAN_KEY_FILE");
			return error_next(error, "titan token add NAME, on the master's machine, makes a token");
		}
		if (err == ERR_NONE && !shared)
			err = keyfile_read(settings->key_file, &ret->key, error);
		if (err == ERR_NONE)
			snprintf(ret->address, sizeof(ret->address), "%s", settings->host);
		return err;
	}
	if (name == NULL)
		name = clusters_default(&arena);
	if (name != NULL && text_is_name(slice_str(name)) && strcmp(name, DEFAULT_FILE) != 0) {
		err = clusters_read(name, ret, &missing);
		if (err == ERR_NOT_FOUND || err == ERR_USAGE) {
			ret->address[0] = '\0';
			err = ERR_NONE;
		} else if (err != ERR_NONE) {
			*error = missing;
		}
	}
	arena_free(&arena);
	return err;
}
