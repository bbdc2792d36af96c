/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Backups and restores: which names a power cut may leave, and that the generation only grows. Every change of a name
 * is recorded; until its directory is synced, the disk may have it or not. At each change all possible states of the
 * disk are checked.
 */
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "greatest.h"
#include "store/backup.h"
#include "store/trailer.h"
#include "store_fixture.h"

GREATEST_MAIN_DEFS();

enum name { NAME_STORE, NAME_LOG, NAME_TURN, NAME_RESTORING, NAME_PART, NAME_KEPT, NAME_KEPT_LOG, NAMES };
enum content { CONTENT_NONE, CONTENT_OLD, CONTENT_OLD_LOG, CONTENT_TURN, CONTENT_RESTORING, CONTENT_NEW };

#define NOWHERE NAMES
#define PENDING_MAX 10u

/* Content of a file when its name is made. */
static const enum content made[NAMES] = {
	[NAME_STORE] = CONTENT_OLD, [NAME_LOG] = CONTENT_OLD_LOG, [NAME_TURN] = CONTENT_TURN,
	[NAME_RESTORING] = CONTENT_RESTORING, [NAME_PART] = CONTENT_NEW,
};

struct change {
	enum name from, to;              /* from NOWHERE: the name was made; to NOWHERE: it was removed */
};

static struct {
	bool on;
	char paths[NAMES][SCRATCH_SIZE + 64];
	enum content durable[NAMES];
	struct change pending[PENDING_MAX];
	size_t count;
	struct stat synced;              /* status of the part file when it was synced */
	const char *(*check)(const enum content names[NAMES], bool in_order);
	const char *problem;
} disk;

static enum name name_of(const char *path)
{
	enum name name = 0;

	while (name < NAMES && strcmp(disk.paths[name], path) != 0)
		name++;
	return name;
}

static void make_change(enum content names[NAMES], struct change change)
{
	enum content content = change.from == NOWHERE ? made[change.to] : names[change.from];

	if (content == CONTENT_NONE)
		return;                  /* the file that would be renamed doesn't exist in this combination */
	if (change.from != NOWHERE)
		names[change.from] = CONTENT_NONE;
	if (change.to != NOWHERE)
		names[change.to] = content;
}

/* Cut the power now: try every combination of pending changes. */
static void cut(void)
{
	for (size_t set = 0; set < (size_t)1 << disk.count && !disk.problem; set++) {
		enum content names[NAMES];

		memcpy(names, disk.durable, sizeof(names));
		for (size_t i = 0; i < disk.count; i++)
			if (set & (size_t)1 << i)
				make_change(names, disk.pending[i]);
		disk.problem = disk.check(names, (set & (set + 1)) == 0);
	}
}

static void note(enum name from, enum name to)
{
	if (!disk.on || (from == NOWHERE && to == NOWHERE))
		return;
	if (disk.count == PENDING_MAX)
		abort();
	disk.pending[disk.count++] = (struct change){ from, to };
	cut();
}

int open(const char *path, int flags, ...)
{
	bool is_new = disk.on && flags & O_CREAT && access(path, F_OK) != 0;
	mode_t mode = 0;
	va_list list;
	int fd;

	va_start(list, flags);
	if (flags & O_CREAT)
		mode = va_arg(list, mode_t);
	va_end(list);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	if (fd >= 0 && is_new)
		note(NOWHERE, name_of(path));
	return fd;
}

int rename(const char *from, const char *to)
{
	struct stat info = { 0 };
	int result = stat(from, &info);

	if (disk.on && name_of(from) == NAME_PART && result == 0 &&
	    (info.st_size != disk.synced.st_size || info.st_mtim.tv_sec != disk.synced.st_mtim.tv_sec ||
	     info.st_mtim.tv_nsec != disk.synced.st_mtim.tv_nsec))
		disk.problem = "what is renamed isn't synced";
	result = (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
	if (result == 0)
		note(name_of(from), name_of(to));
	return result;
}

int unlink(const char *path)
{
	int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);

	if (result == 0)
		note(name_of(path), NOWHERE);
	return result;
}

int fsync(int fd)
{
	char link[64], path[PATH_MAX];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (!disk.on || len < 0)
		return 0;
	path[len] = '\0';
	if (strcmp(path, box_dir) == 0) {
		for (size_t i = 0; i < disk.count; i++)
			make_change(disk.durable, disk.pending[i]);
		disk.count = 0;
	} else if (name_of(path) == NAME_PART && fstat(fd, &disk.synced) < 0) {
		abort();
	}
	return 0;
}

/* Start recording; the first names are these. */
static void disk_begin(const char *store, const char *part, uint64_t generation,
		       const char *(*check)(const enum content names[NAMES], bool in_order))
{
	static const char *const suffixes[NAMES] = { "", "-wal", "-mark", "-restoring", NULL, NULL, NULL };

	memset(&disk, 0, sizeof(disk));
	for (enum name name = 0; name < NAME_PART; name++)
		snprintf(disk.paths[name], sizeof(disk.paths[name]), "%s%s", store, suffixes[name]);
	snprintf(disk.paths[NAME_PART], sizeof(disk.paths[NAME_PART]), "%s", part);
	snprintf(disk.paths[NAME_KEPT], sizeof(disk.paths[NAME_KEPT]), "%s-before-%lu", store, (unsigned long)generation);
	snprintf(disk.paths[NAME_KEPT_LOG], sizeof(disk.paths[NAME_KEPT_LOG]), "%s-before-%lu-wal", store,
		 (unsigned long)generation);
	for (enum name name = 0; name < NAMES; name++)
		disk.durable[name] = access(disk.paths[name], F_OK) == 0 ? made[name] : CONTENT_NONE;
	disk.check = check;
	disk.on = true;
}

/* Make a copy with rows as titan backup does. */
static bool make_copy(struct store *store, const char *file, struct error *error)
{
	struct store_copy copy = { .part = file };

	store_copy(store, &copy);
	while (!store_copied(store))
		box_sleep();
	*error = copy.error;
	return copy.error.code == ERR_NONE && backup_complete(file, error) == ERR_NONE &&
	       trailer_write(file, error) == ERR_NONE;
}

static struct store *store_with_jobs(void)
{
	struct store *store = box_start(0);
	struct outbox *turn = box_turn(1);
	struct row *row = outbox_row(turn, TABLE_meta);

	row->meta = (struct row_meta){ .name = slice_str("turn"), .value = 1 };
	for (int64_t job = 1; job <= 50; job++)
		box_job(turn, 1, job, STATE_READY);
	box_commit(store, turn);
	return store;
}

static char backup[SCRATCH_SIZE + 16];

/* Make a backup, and its store as a killed master leaves it: with a log and an acknowledged turn. */
static bool make_backup_and_killed_store(void)
{
	struct error error;
	struct store *store;
	int status;
	pid_t pid;

	snprintf(backup, sizeof(backup), "%s/backup", box_dir);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		store = store_with_jobs();
		_exit(make_copy(store, backup, &error) ? 0 : 1);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static const char *check_restore(const enum content names[NAMES], bool in_order)
{
	bool old = names[NAME_STORE] == CONTENT_OLD && names[NAME_LOG] == CONTENT_OLD_LOG;
	bool new = names[NAME_STORE] == CONTENT_NEW && names[NAME_LOG] == CONTENT_NONE && names[NAME_TURN] == CONTENT_NONE;

	if (names[NAME_RESTORING] == CONTENT_NONE && !old && !new)
		return "a master would start with half a restore";
	if (in_order && names[NAME_STORE] != CONTENT_OLD && names[NAME_KEPT] != CONTENT_OLD)
		return "the store that was there is lost";
	return NULL;
}

TEST power_cut_at_any_rename_of_a_restore_leaves_one_of_the_stores(void)
{
	char part[SCRATCH_SIZE + 64];
	struct restored restored;
	struct error error;

	ASSERT(make_backup_and_killed_store());
	snprintf(part, sizeof(part), "%s-restored", box_path);
	disk_begin(box_path, part, 1, check_restore);
	ASSERT_EQ(CONTENT_OLD_LOG, disk.durable[NAME_LOG]);
	ASSERT_EQ(CONTENT_TURN, disk.durable[NAME_TURN]);
	ASSERT_EQ_FMTm(error.text, ERR_NONE, store_restore(backup, box_path, &restored, &error), "%d");
	disk.on = false;
	ASSERT_EQm(disk.problem, NULL, disk.problem);
	ASSERT_EQ_FMT((uint64_t)1, restored.generation, "%lu");
	ASSERT_EQm("all is on the disk when it is done", 0, disk.count);
	ASSERT_EQ(CONTENT_NEW, disk.durable[NAME_STORE]);
	ASSERT_EQ(CONTENT_NONE, disk.durable[NAME_RESTORING]);
	ASSERT_EQ(CONTENT_OLD, disk.durable[NAME_KEPT]);
	ASSERT_EQ(CONTENT_OLD_LOG, disk.durable[NAME_KEPT_LOG]);
	PASS();
}

static const char *check_backup(const enum content names[NAMES], bool in_order)
{
	(void)in_order;
	/* The name is reserved and empty, or has a whole backup. */
	return names[NAME_STORE] == CONTENT_NONE || names[NAME_STORE] == CONTENT_OLD || names[NAME_STORE] == CONTENT_NEW ? NULL :
	       "half a backup has its name";
}

TEST backup_that_is_reported_has_its_name_on_the_disk(void)
{
	struct store *store = store_with_jobs();
	char part[SCRATCH_SIZE + 64];
	struct error error;

	snprintf(backup, sizeof(backup), "%s/backup", box_dir);
	snprintf(part, sizeof(part), "%s.titan-part", backup);
	disk_begin(backup, part, 0, check_backup);
	ASSERT_EQ(ERR_NONE, backup_reserve(backup, &error));
	ASSERTm(error.text, make_copy(store, part, &error));
	ASSERT_EQ_FMTm(error.text, ERR_NONE, backup_place(part, backup, &error), "%d");
	disk.on = false;
	store_close(store);
	ASSERT_EQm(disk.problem, NULL, disk.problem);
	ASSERT_EQ(0, disk.count);
	ASSERT_EQ(CONTENT_NEW, disk.durable[NAME_STORE]);
	PASS();
}

/* After each restore over a store that can't be read, the generation must rise, so that no epoch is given twice. */
TEST each_restore_over_a_damaged_store_raises_the_generation(void)
{
	char kept[SCRATCH_SIZE + 64];
	struct restored restored;
	struct error error;

	ASSERT(make_backup_and_killed_store());
	ASSERT(sql(backup, "INSERT OR REPLACE INTO meta (name, value) VALUES ('generation', 5)") != -2);
	for (uint64_t generation = 6; generation < 10; generation++) {
		ASSERT_EQ(0, io_write_file(AT_FDCWD, box_path, "damaged", 7, 0600));
		ASSERT_EQ_FMTm(error.text, ERR_NONE, store_restore(backup, box_path, &restored, &error), "%d");
		ASSERT_EQ_FMT(generation, restored.generation, "%lu");
		ASSERT_EQ_FMT((long)generation, sql(box_path, "SELECT value FROM meta WHERE name = 'generation'"), "%ld");
		snprintf(kept, sizeof(kept), "%s-before-%lu", box_path, (unsigned long)generation);
		ASSERT_STR_EQ(kept, restored.kept);
		ASSERT_EQ(0, access(kept, F_OK));
	}
	PASS();
}

SUITE(store_restore_suite)
{
	box_in_memory();
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(power_cut_at_any_rename_of_a_restore_leaves_one_of_the_stores);
	RUN_TEST(backup_that_is_reported_has_its_name_on_the_disk);
	RUN_TEST(each_restore_over_a_damaged_store_raises_the_generation);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(store_restore_suite);
	GREATEST_MAIN_END();
}
