/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A keeper on a disk whose syncs fail: it writes its spool to a new file without being asked. */
#include <sys/syscall.h>

#include "keeper_rig.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

static struct rig *rig;

static const char *below(const char *name)
{
	static char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", rig->options.statedir.dir, name);
	return path;
}

/* Replaces the C library's function, also in the keeper: fails once for each new file. */
int fdatasync(int fd)
{
	if (rig && unlink(below("fdatasync")) == 0) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fdatasync, fd);
}

static void setup_cb(void *data)
{
	(void)data;
	rig = rig_new(2);
	if (!rig_start(rig))
		abort();
	rig_lease(rig);
}

static void teardown_cb(void *data)
{
	(void)data;
	rig_free(rig);
	rig = NULL;
}

static ino_t spool_inode(void)
{
	struct stat st;

	return stat(below("worker/w1/spool"), &st) == 0 ? st.st_ino : 0;
}

/* The result isn't acknowledged, and nothing else happens that would wake the keeper. */
TEST a_spool_whose_sync_failed_is_written_anew(void)
{
	ino_t before = spool_inode();
	struct ipc_inventory known;
	struct ipc_exited exited;
	int fd = open(below("fdatasync"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	ASSERT(fd >= 0);
	close(fd);
	rig_sh(rig, 1, 1, "exit 3");
	ASSERT(rig_exited(rig, 1, &exited));
	for (int i = 0; i < RIG_WAIT_MS / 5 && spool_inode() == before; i++)
		usleep(5000);
	ASSERT(spool_inode() != before);
	ASSERT(access(below("fdatasync"), F_OK) < 0);
	kill(rig->keeper, SIGKILL);
	rig_wait_keeper(rig);
	ASSERT(rig_start(rig));
	ASSERT(rig_wait(rig, IPC_INVENTORY, 0, &known, sizeof(known)));
	ASSERT_EQ(1, known.job);
	PASS();
}

SUITE(worker_unsynced)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(a_spool_whose_sync_failed_is_written_anew);
}

int main(int argc, char **argv)
{
	rig_stub(argc, argv);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(worker_unsynced);
	GREATEST_MAIN_END();
}
