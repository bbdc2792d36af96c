/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Directories read into manifests and made from them; what isn't read, and files that change meanwhile. */
#include "goods/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "greatest.h"
#include "scratch.h"

static char home[SCRATCH_SIZE];
static int home_fd = -1;
static struct arena arena;
static struct folder folder;
static struct error error;

static void setup_cb(void *data)
{
	(void)data;
	scratch_new("folder", home);
	home_fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error_clear(&error);
}

static void teardown_cb(void *data)
{
	(void)data;
	close(home_fd);
	folder_free(&folder);
	arena_free(&arena);
	io_remove_tree(AT_FDCWD, home);
}

static void put(const char *path, const char *text, mode_t mode)
{
	int fd = openat(home_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || io_write_all(fd, text, strlen(text)) < 0 || fchmod(fd, mode) < 0)
		abort();
	close(fd);
}

static enum err read_home(void)
{
	folder_free(&folder);
	return folder_read(home_fd, "home", &arena, &folder, &error);
}

static bool says(enum err code, const char *words)
{
	if (error.code == code && strstr(error.text, words))
		return true;
	fprintf(stderr, "%s: %s\n", err_name(error.code), error.text);
	return false;
}

TEST all_of_a_directory_is_read_and_made_again(void)
{
	struct buf first = { 0 }, again = { 0 };
	char copy[SCRATCH_SIZE];
	int copy_fd;

	ASSERT_EQ(0, mkdirat(home_fd, "a", 0700));
	put("a/program", "#!/bin/sh\n", 0755);
	put(".hidden", "", 0644);
	put("odd \n\033", "x", 0444);
	ASSERT_EQ(0, symlinkat("a/program", home_fd, "link"));
	ASSERT_EQ(0, symlinkat("nowhere", home_fd, "dangling"));
	ASSERT_EQ(ERR_NONE, read_home());
	ASSERT_EQ(6, folder.manifest.count);
	ASSERT_EQ(ERR_NONE, manifest_write(&folder.manifest, &first, &error));

	scratch_new("folder-copy", copy);
	copy_fd = open(copy, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT_EQ(ERR_NONE, folder_make_dirs(copy_fd, &folder.manifest, &error));
	for (size_t i = 0; i < folder.manifest.count; i++) {
		const struct manifest_entry *entry = &folder.manifest.at[i];
		const char *text = entry->kind == ENTRY_PROGRAM ? "#!/bin/sh\n" : entry->size == 1 ? "x" : "";
		int fd;

		if (entry->kind != ENTRY_FILE && entry->kind != ENTRY_PROGRAM)
			continue;
		fd = folder_create(copy_fd, entry);
		ASSERT(fd >= 0 && io_write_all(fd, text, strlen(text)) == 0);
		close(fd);
	}
	ASSERT_EQ(ERR_NONE, folder_make_links(copy_fd, &folder.manifest, &error));
	folder_free(&folder);
	ASSERT_EQ(ERR_NONE, folder_read(copy_fd, "copy", &arena, &folder, &error));
	ASSERT_EQ(ERR_NONE, manifest_write(&folder.manifest, &again, &error));
	ASSERTm("both have the same manifest", slice_eq(buf_slice(&first), buf_slice(&again)));
	close(copy_fd);
	io_remove_tree(AT_FDCWD, copy);
	buf_free(&first);
	buf_free(&again);
	PASS();
}

TEST pipes_and_links_that_leave_are_refused(void)
{
	ASSERT_EQ(0, mkfifoat(home_fd, "pipe", 0600));
	ASSERT(read_home() != ERR_NONE && says(ERR_INVALID, "home/pipe: it is no regular file"));
	ASSERT_EQ(0, unlinkat(home_fd, "pipe", 0));
	ASSERT_EQ(0, symlinkat("/etc/passwd", home_fd, "absolute"));
	ASSERT(read_home() != ERR_NONE && says(ERR_INVALID, "home/absolute: the link leaves"));
	ASSERT_EQ(0, unlinkat(home_fd, "absolute", 0));
	ASSERT_EQ(0, symlinkat("..", home_fd, "up\033[31m"));
	ASSERT(read_home() != ERR_NONE && says(ERR_INVALID, "home/up\\x1b[31m: the link leaves"));
	PASS();
}

/* The paths that these patterns choose, each with a space behind it. */
static const char *chosen(const char *const *texts, size_t count)
{
	static char out[512];
	struct slice patterns[8];

	for (size_t i = 0; i < count; i++)
		patterns[i] = slice_str(texts[i]);
	folder_free(&folder);
	out[0] = '\0';
	if (folder_read_chosen(home_fd, ".", (struct slice_list){ patterns, count }, &arena, &folder, &error) != ERR_NONE)
		return error.text;
	for (size_t i = 0; i < folder.manifest.count; i++)
		snprintf(out + strlen(out), sizeof(out) - strlen(out), "%.*s ", (int)folder.manifest.at[i].path.len,
			 (const char *)folder.manifest.at[i].path.data);
	return out;
}

#define CHOSEN(...) chosen((const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static bool names(const char *text, const char *path)
{
	char word[64];

	snprintf(word, sizeof(word), " %s ", path);
	return strstr(text, word) != NULL || strncmp(text, word + 1, strlen(word + 1)) == 0;
}

TEST patterns_choose_files(void)
{
	const char *got;

	ASSERT_EQ(0, mkdirat(home_fd, "dist", 0700));
	ASSERT_EQ(0, mkdirat(home_fd, "dist/deep", 0700));
	ASSERT_EQ(0, mkdirat(home_fd, "empty", 0700));
	ASSERT_EQ(0, mkdirat(home_fd, "other", 0700));
	put("dist/a.o", "a", 0600);
	put("dist/deep/.b.c", "b", 0600);
	put("other/c.c", "c", 0600);
	put(".titan-output", "x=1", 0600);
	ASSERT_EQ(0, mkfifoat(home_fd, "other/pipe", 0600));
	got = CHOSEN("+dist");
	ASSERT(names(got, "dist") && names(got, "dist/a.o") && names(got, "dist/deep") && names(got, "dist/deep/.b.c"));
	ASSERT_EQ(4, folder.manifest.count);
	got = CHOSEN("+**/*.c");
	ASSERT(names(got, "dist/deep/.b.c") && names(got, "other/c.c") && !names(got, "dist/a.o"));
	ASSERTm("directories above are there", names(got, "dist") && names(got, "dist/deep") && names(got, "other"));
	ASSERT_EQ(5, folder.manifest.count);
	ASSERT_STR_EQ("dist dist/a.o ", CHOSEN("+dist/**", "-dist/deep"));
	ASSERT_STR_EQ("empty ", CHOSEN("+empty"));
	ASSERT_STR_EQ("", CHOSEN("?nothing/**"));
	ASSERT_STR_EQ("no file matches 'nothing'", CHOSEN("+dist", "+nothing"));
	ASSERT_EQ(ERR_NOT_FOUND, error.code);
	ASSERT_STR_EQ("no file matches 'dist/*.o'", CHOSEN("+dist/*.o", "-**/a.*"));
	ASSERT_STR_EQ("no file matches '.titan-*'", CHOSEN("+.titan-*"));
	ASSERT(strstr(CHOSEN("+other"), "./other/pipe: it is no regular file"));
	ASSERT_EQ(0, symlinkat("../../up", home_fd, "dist/up"));
	ASSERT(strstr(CHOSEN("+dist"), "./dist/up: the link leaves"));
	ASSERT_STR_EQ("dist dist/a.o ", CHOSEN("+dist/*.o"));
	PASS();
}

TEST directories_that_are_not_needed_are_not_read(void)
{
	if (geteuid() == 0)
		SKIPm("root reads all");
	ASSERT_EQ(0, mkdirat(home_fd, "closed", 0));
	put("file", "x", 0600);
	ASSERT_STR_EQ("file ", CHOSEN("+file"));
	ASSERT(strstr(CHOSEN("+**"), "./closed: can't be read") || strstr(error.text, "closed"));
	ASSERT_EQ(0, unlinkat(home_fd, "closed", AT_REMOVEDIR));
	PASS();
}

TEST changed_file_is_noticed(void)
{
	uint8_t hash[SHA256_SIZE];
	struct folder_mark mark;
	int fd;

	put("file", "one", 0600);
	fd = openat(home_fd, "file", O_RDWR | O_CLOEXEC);
	ASSERT_EQ(ERR_NONE, folder_hash_file(fd, "file", hash, &mark, &error));
	ASSERT_FALSE(folder_changed(fd, &mark));
	ASSERT_EQ(3, write(fd, "two", 3));
	ASSERT_EQ(0, ftruncate(fd, 2));
	ASSERT(folder_changed(fd, &mark));
	close(fd);
	PASS();
}

/* Between reading and sending, somebody puts a link in the place of a file or of its directory. */
TEST link_in_the_place_of_a_file_is_not_followed(void)
{
	int fd;

	ASSERT_EQ(0, mkdirat(home_fd, "d", 0700));
	put("d/file", "mine", 0600);
	fd = folder_open(home_fd, slice_str("d/file"));
	ASSERT(fd >= 0);
	close(fd);
	ASSERT_EQ(0, unlinkat(home_fd, "d/file", 0));
	ASSERT_EQ(0, symlinkat("/etc/passwd", home_fd, "d/file"));
	ASSERT_EQ(-ELOOP, folder_open(home_fd, slice_str("d/file")));
	ASSERT_EQ(0, unlinkat(home_fd, "d/file", 0));
	ASSERT_EQ(0, unlinkat(home_fd, "d", AT_REMOVEDIR));
	ASSERT_EQ(0, symlinkat("/etc", home_fd, "d"));
	ASSERT_EQ(-ELOOP, folder_open(home_fd, slice_str("d/passwd")));
	ASSERT_EQ(-EXDEV, folder_open(home_fd, slice_str("../etc/passwd")));
	PASS();
}

TEST nothing_is_made_through_a_link(void)
{
	struct manifest_entry entry = { .kind = ENTRY_FILE, .path = slice_str("d/file") };

	ASSERT_EQ(0, symlinkat("/tmp", home_fd, "d"));
	ASSERT_EQ(-ELOOP, folder_create(home_fd, &entry));
	entry.path = slice_str("../file");
	ASSERT_EQ(-EXDEV, folder_create(home_fd, &entry));
	put("file", "there", 0600);
	entry.path = slice_str("file");
	ASSERT_EQ(-EEXIST, folder_create(home_fd, &entry));
	PASS();
}

SUITE(goods_folder)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(all_of_a_directory_is_read_and_made_again);
	RUN_TEST(pipes_and_links_that_leave_are_refused);
	RUN_TEST(patterns_choose_files);
	RUN_TEST(directories_that_are_not_needed_are_not_read);
	RUN_TEST(changed_file_is_noticed);
	RUN_TEST(link_in_the_place_of_a_file_is_not_followed);
	RUN_TEST(nothing_is_made_through_a_link);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(goods_folder);
	GREATEST_MAIN_END();
}
