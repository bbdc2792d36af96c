/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which titan.conf files are read, in which order, and which ones are trusted. */
#include "cli/session/conf_files.h"

#include <sys/stat.h>

#include "cli_rig.h"
#include "greatest.h"

static struct cli cli;
static struct conf_files files;
static char cwd[4096];

/* The home and the project are siblings: neither is an ancestor of the other. */
static void setup_cb(void *data)
{
	char path[SCRATCH_SIZE + 64];

	rig_setup_cb(data);
	rig_cli_begin(&cli);
	files = (struct conf_files){ 0 };
	snprintf(path, sizeof(path), "%s/home", rig.home);
	if (getcwd(cwd, sizeof(cwd)) == NULL || mkdir(path, 0755) != 0 || setenv("HOME", path, 1) != 0)
		abort();
	unsetenv("XDG_CONFIG_HOME");
	snprintf(path, sizeof(path), "%s/project", rig.home);
	if (mkdir(path, 0755) != 0 || chdir(path) != 0 || mkdir("deep", 0755) != 0 || mkdir("deep/down", 0755) != 0)
		abort();
}

static void teardown_cb(void *data)
{
	if (chdir(cwd) != 0)
		abort();
	rig_cli_end(&cli);
	rig_teardown_cb(data);
}

/* Write a file below the rig's home; makes its directories. */
static void put(const char *name, const char *text, mode_t mode)
{
	char path[SCRATCH_SIZE + 128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", rig.home, name);
	for (char *slash = path + strlen(rig.home) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || io_write_all(fd, text, strlen(text)) != 0 || fchmod(fd, mode) != 0)
		abort();
	close(fd);
}

static enum err read_files(void)
{
	files = (struct conf_files){ 0 };
	cli.error = (struct error){ 0 };
	buf_clear(&rig.err);
	return conf_read_files(&cli, &files);
}

static bool ends_with(const char *text, const char *end)
{
	return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

TEST project_comes_before_the_user(void)
{
	put("project/.titan.conf", "color: always\n", 0644);
	put("home/.config/titan/titan.conf", "color: never\ntimeout: 9s\n", 0644);
	ASSERT_EQ(ERR_NONE, read_files());
	ASSERT(files.count >= 2);
	ASSERT(ends_with(files.files[0].path, "/project/.titan.conf"));
	ASSERT(ends_with(files.files[1].path, "/home/.config/titan/titan.conf"));
	ASSERT_STR_EQ("always", conf_value(&files, CONF_color));
	ASSERT_STR_EQ("9s", conf_value(&files, CONF_timeout));
	PASS();
}

TEST cluster_comes_before_all_others(void)
{
	put("project/.titan.conf", "color: always\n", 0644);
	put("home/.config/titan/titan.conf", "grace: 90s\n", 0644);
	put("default/titan.conf", "grace: 70s\n", 0600);
	ASSERT_EQ(ERR_NONE, read_files());
	ASSERT_EQ(ERR_NONE, conf_read_cluster(&cli, &files));
	ASSERT(files.count >= 3);
	ASSERT(ends_with(files.files[0].path, "/default/titan.conf"));
	ASSERT(ends_with(files.files[1].path, "/project/.titan.conf"));
	ASSERT_STR_EQ("70s", conf_value(&files, CONF_grace));
	ASSERT_STR_EQ("always", conf_value(&files, CONF_color));
	PASS();
}

TEST nearest_project_is_the_only_one(void)
{
	put("project/.titan.conf", "color: always\ntimeout: 9s\n", 0644);
	put("project/deep/.titan.conf", "color: never\n", 0644);
	ASSERT_EQ(0, chdir("deep/down"));
	ASSERT_EQ(ERR_NONE, read_files());
	ASSERT(ends_with(files.files[0].path, "/project/deep/.titan.conf"));
	ASSERT_STR_EQ("never", conf_value(&files, CONF_color));
	ASSERT_EQ(NULL, conf_value(&files, CONF_timeout));
	PASS();
}

TEST directory_that_every_user_may_write_holds_no_project(void)
{
	put("project/.titan.conf", "color: always\n", 0644);
	put("project/deep/.titan.conf", "color: never\n", 0644);
	ASSERT_EQ(0, chmod("deep", 01777));
	ASSERT_EQ(0, chdir("deep"));
	ASSERT_EQ(ERR_NONE, read_files());
	ASSERT_STR_EQ("always", conf_value(&files, CONF_color));
	PASS();
}

TEST file_that_every_user_may_write_is_refused(void)
{
	put("project/.titan.conf", "color: always\n", 0646);
	ASSERT_EQ(ERR_DENIED, read_files());
	ASSERT(strstr(cli.error.text, "every user may write ") != NULL);
	ASSERT(strstr(cli.error.next, "chmod o-w /") != NULL);
	ASSERT_EQ(0, files.count);
	put("project/.titan.conf", "color: always\n", 0664);
	ASSERT_EQ(ERR_NONE, read_files());
	PASS();
}

TEST file_of_another_user_is_refused(void)
{
	put("project/.titan.conf", "color: always\n", 0644);
	if (geteuid() != 0 || chown(".titan.conf", 12345, 12345) != 0)
		SKIPm("only root can give a file away");
	ASSERT_EQ(ERR_DENIED, read_files());
	ASSERT(strstr(cli.error.text, "belongs to user 12345") != NULL);
	ASSERT(strstr(cli.error.next, "work in another directory") != NULL);
	PASS();
}

TEST file_that_is_none_is_refused_without_waiting(void)
{
	ASSERT_EQ(0, mkfifo(".titan.conf", 0600));
	ASSERT_EQ(ERR_INVALID, read_files());
	ASSERT(strstr(cli.error.text, "must be a regular file") != NULL);
	ASSERT_EQ(0, unlink(".titan.conf"));
	ASSERT_EQ(0, mkdir(".titan.conf", 0755));
	ASSERT_EQ(ERR_INVALID, read_files());
	PASS();
}

TEST user_has_another_place_by_an_absolute_path_alone(void)
{
	char path[SCRATCH_SIZE + 64];

	put("home/.config/titan/titan.conf", "color: never\n", 0644);
	put("elsewhere/titan/titan.conf", "color: always\n", 0644);
	snprintf(path, sizeof(path), "%s/elsewhere", rig.home);
	setenv("XDG_CONFIG_HOME", path, 1);
	ASSERT_EQ(ERR_NONE, read_files());
	ASSERT_STR_EQ("always", conf_value(&files, CONF_color));
	setenv("XDG_CONFIG_HOME", "../elsewhere", 1);
	ASSERT_EQ(ERR_NONE, read_files());
	ASSERT_STR_EQ("never", conf_value(&files, CONF_color));
	setenv("HOME", "../home", 1);
	ASSERT_EQ(ERR_NONE, read_files());
	ASSERT_EQ(NULL, conf_value(&files, CONF_color));
	PASS();
}

TEST mistake_is_shown_at_its_place_and_nothing_more_is_said(void)
{
	put("project/.titan.conf", "color: always\ncolour: red\n", 0644);
	ASSERT(read_files() != ERR_NONE);
	ASSERT(strstr(rig_err(), "/project/.titan.conf:2:1: ") != NULL);
	ASSERT_STR_EQ("", cli.error.text);
	PASS();
}

TEST project_says_nothing_about_the_machine(void)
{
	put("project/.titan.conf", "grace: 90s\n", 0644);
	ASSERT(read_files() != ERR_NONE);
	ASSERT(strstr(rig_err(), "/project/.titan.conf:1:1: ") != NULL);
	PASS();
}

TEST file_that_is_too_large_is_refused(void)
{
	static char text[CONF_MAX + 2];

	memset(text, '#', CONF_MAX + 1);
	put("project/.titan.conf", text, 0644);
	ASSERT(read_files() != ERR_NONE);
	text[CONF_MAX] = '\0';
	put("project/.titan.conf", text, 0644);
	ASSERT_EQ(ERR_NONE, read_files());
	PASS();
}

SUITE(cli_conf)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(project_comes_before_the_user);
	RUN_TEST(cluster_comes_before_all_others);
	RUN_TEST(nearest_project_is_the_only_one);
	RUN_TEST(directory_that_every_user_may_write_holds_no_project);
	RUN_TEST(file_that_every_user_may_write_is_refused);
	RUN_TEST(file_of_another_user_is_refused);
	RUN_TEST(file_that_is_none_is_refused_without_waiting);
	RUN_TEST(user_has_another_place_by_an_absolute_path_alone);
	RUN_TEST(mistake_is_shown_at_its_place_and_nothing_more_is_said);
	RUN_TEST(project_says_nothing_about_the_machine);
	RUN_TEST(file_that_is_too_large_is_refused);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	setenv("LC_ALL", "C", 1);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cli_conf);
	GREATEST_MAIN_END();
}
