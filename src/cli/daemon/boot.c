/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/daemon/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/daemon/helper.h"

#define WORDS_MAX 24
#define UNIT_MAX  65536
#define DELETED   " (deleted)"

/* ---- systemd ---- */

/* Run systemctl --user with up to two words. Returns its exit status or -errno. */
static int systemctl(const char *verb, const char *unit, struct buf *said)
{
	const char *const argv[] = { "systemctl", "--user", verb, unit, NULL };
	struct buf out = { 0 };
	int status = helper_run(argv, slice_make(NULL, 0), &out, said);

	buf_free(&out);
	return status;
}

static bool systemd_runs(void)
{
	struct buf said = { 0 };
	int status = systemctl("show-environment", NULL, &said);

	buf_free(&said);
	return status == 0;
}

static bool unit_is_enabled(const char *unit)
{
	struct buf said = { 0 };
	int status = systemctl("is-enabled", unit, &said);

	buf_free(&said);
	return status == 0;
}

static bool user_lingers(void)
{
	char user[24];
	const char *const argv[] = { "loginctl", "show-user", user, "--property=Linger", "--value", NULL };
	struct buf out = { 0 }, said = { 0 };
	bool lingers;

	snprintf(user, sizeof(user), "%u", (unsigned)getuid());
	lingers = helper_run(argv, slice_make(NULL, 0), &out, &said) == 0 && out.len >= 3 && memcmp(out.data, "yes", 3) == 0;
	buf_free(&out);
	buf_free(&said);
	return lingers;
}

/* The directory for units of this user. False: HOME isn't set. */
static bool unit_dir(char out[PATH_MAX])
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int len;

	if (config && config[0] == '/')
		len = snprintf(out, PATH_MAX, "%s/systemd/user", config);
	else if (home && home[0] == '/')
		len = snprintf(out, PATH_MAX, "%s/.config/systemd/user", home);
	else
		return false;
	return len < PATH_MAX - BOOT_NAME_SIZE - 32;
}

static bool unit_path(const char *unit, char out[PATH_MAX])
{
	size_t len;

	if (!unit_dir(out))
		return false;
	len = strlen(out);
	snprintf(out + len, PATH_MAX - len, "/%s", unit);
	return true;
}

static void unit_name(const struct statedir *statedir, struct boot *boot)
{
	char name[BOOT_NAME_SIZE];

	boot_name(statedir, name);
	snprintf(boot->unit, sizeof(boot->unit), "%s.service", name);
}

static bool unit_is_there(const struct boot *boot, char path[PATH_MAX])
{
	return unit_path(boot->unit, path) && access(path, F_OK) == 0;
}

static enum err systemctl_or_fail(const char *verb, const char *unit, struct error *error)
{
	struct buf said = { 0 };
	int status = systemctl(verb, unit, &said);

	while (said.len > 0 && said.data[said.len - 1] == '\n')
		buf_cut(&said, said.len - 1);
	if (status < 0)
		error_system(error, -status, "can't run systemctl");
	else if (status > 0)
		error_set(error, ERR_SYSTEM, "systemctl --user %s %s failed: %s", verb, unit ? unit : "", buf_cstr(&said));
	buf_free(&said);
	return status == 0 ? ERR_NONE : error_next(error, "systemctl --user status");
}

static enum err unit_write(struct boot *boot, struct slice text, struct error *error)
{
	char path[PATH_MAX], dir[PATH_MAX];
	struct buf old = { 0 };
	bool same;
	int result;

	if (!unit_dir(dir) || !unit_path(boot->unit, path))
		return error_set(error, ERR_USAGE, "there is no directory for units of systemd: HOME isn't set, or its path is too long");
	same = io_read_file(AT_FDCWD, path, UNIT_MAX, &old) == 0 && slice_eq(buf_slice(&old), text);
	buf_free(&old);
	if (same && unit_is_enabled(boot->unit))
		return ERR_NONE;
	boot->changed = true;
	result = same ? 0 : io_make_dirs(dir, 0755);
	if (result == 0 && !same)
		result = io_write_file(AT_FDCWD, path, text.data, text.len, 0644);
	if (result < 0)
		return error_system(error, -result, "can't write %s", path);
	if (systemctl_or_fail("daemon-reload", NULL, error) != ERR_NONE)
		return error->code;
	return systemctl_or_fail("enable", boot->unit, error);
}

static enum err unit_remove(struct boot *boot, struct error *error)
{
	char path[PATH_MAX];
	struct buf said = { 0 };

	if (!unit_is_there(boot, path))
		return ERR_NONE;
	boot->changed = true;
	/* Where systemd doesn't run any more, the file alone is removed. disable doesn't stop the unit, so the cluster runs on. */
	if (systemd_runs() && systemctl_or_fail("disable", boot->unit, error) != ERR_NONE)
		return error->code;
	if (unlink(path) != 0 && errno != ENOENT)
		return error_system(error, errno, "can't remove %s", path);
	systemctl("daemon-reload", NULL, &said);
	buf_free(&said);
	return ERR_NONE;
}

/* ---- cron ---- */

/* Read the user's crontab; it is empty if there is none. ERR_NOT_FOUND: there is no program crontab. */
static enum err cron_read(struct buf *table, struct error *error)
{
	static const char *const argv[] = { "crontab", "-l", NULL };
	struct buf said = { 0 };
	int status = helper_run(argv, slice_make(NULL, 0), table, &said);
	enum err err = ERR_NONE;

	if (status == -ENOENT)
		err = error_set(error, ERR_NOT_FOUND, "there is no program crontab");
	else if (status < 0)
		err = error_system(error, -status, "can't run crontab");
	/* An empty table isn't written over one that only couldn't be read. */
	else if (status > 0 && !strstr(buf_cstr(&said), "no crontab for") && !strstr(buf_cstr(&said), "No such file"))
		err = error_set(error, ERR_SYSTEM, "crontab -l failed with exit status %d: %s", status, buf_cstr(&said));
	else if (status > 0)
		buf_clear(table);
	buf_free(&said);
	return err;
}

static enum err cron_write(struct slice table, struct error *error)
{
	static const char *const argv[] = { "crontab", "-", NULL };
	struct buf out = { 0 }, said = { 0 };
	int status = helper_run(argv, table, &out, &said);

	if (status < 0)
		error_system(error, -status, "can't run crontab");
	else if (status > 0)
		error_set(error, ERR_SYSTEM, "crontab failed with exit status %d: %s", status, buf_cstr(&said));
	buf_free(&out);
	buf_free(&said);
	return status == 0 ? ERR_NONE : error->code;
}

/* Put the line into the crontab, or take it out if it is empty. */
static enum err cron_put(const struct statedir *statedir, struct slice line, struct boot *boot, struct error *error)
{
	struct buf old = { 0 }, new = { 0 };
	char name[BOOT_NAME_SIZE];
	enum err err = cron_read(&old, error);

	if (err == ERR_NONE) {
		boot_name(statedir, name);
		boot_cron_replace(buf_slice(&old), name, line, &new);
		if (!slice_eq(buf_slice(&old), buf_slice(&new))) {
			boot->changed = true;
			err = cron_write(buf_slice(&new), error);
		}
	}
	buf_free(&old);
	buf_free(&new);
	return err;
}

static bool cron_has(const struct statedir *statedir)
{
	struct buf table = { 0 }, rest = { 0 };
	char name[BOOT_NAME_SIZE];
	struct error none;
	bool found = false;

	boot_name(statedir, name);
	if (cron_read(&table, &none) == ERR_NONE)
		found = boot_cron_replace(buf_slice(&table), name, slice_make(NULL, 0), &rest);
	buf_free(&table);
	buf_free(&rest);
	return found;
}

/* ---- both ---- */

void boot_find(const struct statedir *statedir, struct boot *ret)
{
	char path[PATH_MAX];

	*ret = (struct boot){ .way = BOOT_NONE };
	unit_name(statedir, ret);
	if (unit_is_there(ret, path) && unit_is_enabled(ret->unit)) {
		ret->way = BOOT_SYSTEMD;
		ret->lingers = user_lingers();
	} else if (cron_has(statedir)) {
		ret->way = BOOT_CRON;
	}
}

struct words {                           /* a command, as words that use the texts beside them */
	const char *at[WORDS_MAX + 1];
	char state[PATH_MAX + 16], config[PATH_MAX + 24], program[PATH_MAX];
};

/* Build the words of a command of this program for this cluster, in an environment that has hardly any variables. */
static enum err build(const struct statedir *statedir, const char *const *verb, const char *const *options, struct words *words,
		      struct error *error)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	ssize_t len = readlink("/proc/self/exe", words->program, sizeof(words->program) - 1);
	size_t count = 0, tail = strlen(DELETED);
	char *slash;

	if (len <= 0)
		return error_system(error, errno, "can't find the file of this program");
	words->program[len] = '\0';
	if ((size_t)len > tail && strcmp(words->program + len - tail, DELETED) == 0)
		words->program[(size_t)len - tail] = '\0';
	snprintf(words->state, sizeof(words->state), "TITAN_STATE=%s", statedir->dir);
	slash = strrchr(words->state, '/');
	if (slash && slash[-1] != '=')
		*slash = '\0';
	words->at[count++] = words->state;
	if (config && config[0] == '/') {
		snprintf(words->config, sizeof(words->config), "XDG_CONFIG_HOME=%s", config);
		words->at[count++] = words->config;
	}
	words->at[count++] = words->program;
	words->at[count++] = "-q";
	words->at[count++] = "-C";
	words->at[count++] = statedir->cluster;
	for (; *verb; verb++)
		words->at[count++] = *verb;
	for (; *options && count < WORDS_MAX; options++)
		words->at[count++] = *options;
	words->at[count] = NULL;
	return ERR_NONE;
}

enum err boot_set(const struct statedir *statedir, const char *const *options, struct boot *ret, struct error *error)
{
	static const char *const up[] = { "up", NULL }, *const down[] = { "-y", "down", NULL }, *const none[] = { NULL };
	static struct words start, stop;
	struct buf text = { 0 };
	struct error ignored;
	char name[BOOT_NAME_SIZE];
	enum err err = build(statedir, up, options, &start, error);

	*ret = (struct boot){ .way = systemd_runs() ? BOOT_SYSTEMD : BOOT_CRON };
	unit_name(statedir, ret);
	boot_name(statedir, name);
	if (err == ERR_NONE && ret->way == BOOT_SYSTEMD) {
		err = build(statedir, down, none, &stop, error);
		if (err == ERR_NONE)
			err = boot_unit(statedir->cluster, start.at, stop.at, &text, error);
		if (err == ERR_NONE)
			err = unit_write(ret, buf_slice(&text), error);
		/* Only one of the two may start the cluster. */
		if (err == ERR_NONE && cron_has(statedir))
			cron_put(statedir, slice_make(NULL, 0), ret, &ignored);
		ret->lingers = user_lingers();
	} else if (err == ERR_NONE) {
		err = boot_cron_line(name, start.at, &text, error);
		if (err == ERR_NONE)
			err = cron_put(statedir, buf_slice(&text), ret, error);
		if (err == ERR_NOT_FOUND) {
			error_set(error, ERR_NOT_FOUND, "nothing here starts programs with the machine: neither systemd --user nor crontab can be used");
			error_next(error, "let the machine run: %s up", start.program);
		}
		if (err == ERR_NONE)
			err = unit_remove(ret, error);
	}
	buf_free(&text);
	return err;
}

enum err boot_unset(const struct statedir *statedir, struct boot *ret, struct error *error)
{
	enum err err;

	*ret = (struct boot){ .way = BOOT_NONE };
	unit_name(statedir, ret);
	err = unit_remove(ret, error);
	if (err == ERR_NONE && cron_has(statedir))
		err = cron_put(statedir, slice_make(NULL, 0), ret, error);
	return err;
}
