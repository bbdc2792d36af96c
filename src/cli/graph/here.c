/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directory and environment that jobs take over from where they are submitted. Only workers on the same machine use
 * them. Variables with names that look secret are left out unless they are named by an option, because the store keeps
 * what is submitted.
 */
#include "cli/graph/here.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "base/mounts.h"

extern char **environ;

/* ---- directory ---- */

/*
 * Is the directory inside an attempt's scratch directory? That is removed when the attempt ends, so submitted jobs
 * can't use it.
 */
static bool is_scratch(const char *dir)
{
	const char *scratch = getenv("TITAN_SCRATCH");
	char resolved[PATH_MAX];
	size_t len;

	if (scratch == NULL || realpath(scratch, resolved) == NULL)
		return false;
	len = strlen(resolved);
	return strncmp(dir, resolved, len) == 0 && (dir[len] == '\0' || dir[len] == '/');
}

static bool directory_of(const char *file, char out[PATH_MAX])
{
	struct stat info;
	char *slash;

	/* A pipeline that is read from a pipe has no directory. */
	if (file == NULL || (stat(file, &info) == 0 && !S_ISREG(info.st_mode)))
		return getcwd(out, PATH_MAX) != NULL && out[0] == '/';
	if (realpath(file, out) == NULL)
		return false;
	slash = strrchr(out, '/');
	slash[slash == out] = '\0';
	return true;
}

/* ---- environment ---- */

static bool has_word(const char *name, size_t len, const char *word)
{
	size_t size = strlen(word);

	for (size_t at = 0; at + size <= len; at++) {
		size_t same = 0;

		while (same < size && toupper((unsigned char)name[at + same]) == word[same])
			same++;
		if (same == size)
			return true;
	}
	return false;
}

static bool looks_secret(const char *name, size_t len)
{
	static const char *const words[] = { "TOKEN", "KEY", "PASSWORD", "SECRET" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (has_word(name, len, words[i]))
			return true;
	return false;
}

static bool is_one_of(const char *name, size_t len, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strlen(*list) == len && memcmp(*list, name, len) == 0)
			return true;
	return false;
}

static bool goes_along(const char *name, size_t len, bool all)
{
	static const char *const always[] = { "PATH", "HOME", "LANG", "TZ", "VIRTUAL_ENV", "CONDA_PREFIX", NULL };
	static const char *const never[] = { "PWD", "OLDPWD", "SHLVL", "_", "TMPDIR", NULL };

	if (is_one_of(name, len, always) || (len > 3 && memcmp(name, "LC_", 3) == 0))
		return true;
	return all && !is_one_of(name, len, never) && (len < 6 || memcmp(name, "TITAN_", 6) != 0) && !looks_secret(name, len);
}

/* Append this program's directory to PATH, so that jobs can call titan; workers do the same. */
static struct slice with_own_path(struct cli *cli, const char *entry)
{
	char own[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash;
	struct buf text = { 0 };
	struct slice copy;

	own[len > 0 ? len : 0] = '\0';
	slash = strrchr(own, '/');
	if (slash == NULL || slash == own || strchr(own, ':') != NULL)
		return slice_str(entry);
	*slash = '\0';
	buf_addf(&text, "%s:%s", entry, own);
	copy = arena_copy(&cli->arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

const char *here_variable(struct cli *cli, const char *name)
{
	size_t len = strlen(name);

	for (char **entry = environ; *entry != NULL; entry++)
		if (strncmp(*entry, name, len) == 0 && (*entry)[len] == '=')
			return arena_strdup(&cli->arena, slice_str(*entry));
	error_set(&cli->error, ERR_USAGE, "--env: variable %s isn't set in this shell; give it a value: --env NAME=VALUE", name);
	error_next(&cli->error, "--env %s=VALUE", name);
	return NULL;
}

void here_read(struct cli *cli, const char *file, bool all, struct job_defaults *defaults)
{
	char machine[HOST_ID_SIZE], dir[PATH_MAX];
	size_t count = 0;

	host_id(machine);
	if (machine[0] == '\0')
		return;
	defaults->machine = arena_copy(&cli->arena, slice_str(machine));
	if (directory_of(file, dir) && !is_scratch(dir))
		defaults->here_dir = arena_copy(&cli->arena, slice_str(dir));
	while (environ[count] != NULL)
		count++;
	defaults->here_env.at = arena_zalloc(&cli->arena, count + 1, sizeof(struct slice));
	for (size_t i = 0; i < count; i++) {
		const char *equals = strchr(environ[i], '=');
		struct slice entry = arena_copy(&cli->arena, slice_str(environ[i]));

		if (equals == NULL || equals == environ[i] || !goes_along(environ[i], (size_t)(equals - environ[i]), all))
			continue;
		if (strncmp(environ[i], "PATH=", 5) == 0)
			entry = with_own_path(cli, environ[i]);
		defaults->here_env.at[defaults->here_env.n++] = entry;
	}
}

void here_identify(struct cli *cli, struct job_defaults *defaults)
{
	uint64_t boot = clock_boot_id(), view = host_view();
	struct buf source = { 0 };
	char dir[PATH_MAX];
	struct stat info;

	if (defaults->here_dir.len == 0 || defaults->here_dir.len >= sizeof(dir) || boot == 0 || view == 0)
		return;
	memcpy(dir, defaults->here_dir.data, defaults->here_dir.len);
	dir[defaults->here_dir.len] = '\0';
	if (stat(dir, &info) != 0)
		return;
	defaults->here_boot = boot;
	defaults->here_view = view;
	defaults->here_device = info.st_dev;
	defaults->here_inode = info.st_ino;
	if (mount_of(dir, slice_make(NULL, 0), &source) == info.st_dev)
		defaults->here_source = arena_copy(&cli->arena, buf_slice(&source));
	buf_free(&source);
}
