/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the jobs of a submit share, as the link gives it to the keeper: variables, directory, and what of the directory is compared. */
#include "link_rig.h"

#include "base/host.h"
#include "greatest.h"
#include "proto/spec.h"

GREATEST_MAIN_DEFS();

static void share(uint64_t slot, const char *dir, const char *variable)
{
	struct slice env[] = { slice_str(variable) };
	const struct rec_run_context context = { .dir = slice_str(dir), .env = { env, 1 } };
	struct msg_context msg = { .slot = slot };
	struct buf bytes = { 0 };

	record_encode(&bytes, REC_run_context, &context);
	msg.context = buf_slice(&bytes);
	say(OP_CONTEXT, &msg);
	buf_free(&bytes);
}

TEST what_jobs_share_completes_their_specifications(void)
{
	struct slice words[] = { slice_str("ls") }, env[] = { slice_str("A=own") };
	const struct rec_job_spec plain = { .name = slice_str("a"), .argv = { words, 1 } };
	const struct rec_job_spec own = { .name = slice_str("a"), .argv = { words, 1 }, .env = { env, 1 }, .dir = slice_str("/own") };
	const struct msg_context nonsense = { .slot = 2, .context = slice_str("\xc1 nonsense") };

	ASSERT(connected());
	share(0, "/one", "A=1");
	share(1, "/two", "B=2");
	assign_sharing(1, &plain, slice_str(""), 1);
	ASSERT(told_spawn(1, 1, 1, "ls\0A=1\0/one", 12));
	assign_sharing(2, &plain, slice_str(""), 2);
	ASSERT(told_spawn(2, 1, 1, "ls\0B=2\0/two", 12));
	assign_sharing(3, &own, slice_str(""), 1);
	ASSERT(told_spawn(3, 1, 1, "ls\0A=own\0/own", 14));
	assign_sharing(4, &own, slice_str(""), 2);
	ASSERT(told_spawn(4, 1, 2, "ls\0A=own\0B=2\0/own", 18));
	/* The master fills the slot with another context. */
	share(0, "/three", "C=3");
	assign_sharing(5, &plain, slice_str(""), 1);
	ASSERT(told_spawn(5, 1, 1, "ls\0C=3\0/three", 14));
	/* A job doesn't start without its shared context. */
	say(OP_CONTEXT, &nonsense);
	for (uint64_t number = 3; number <= 5; number++) {
		assign_sharing(6 + number, &plain, slice_str(""), number);
		ASSERT(told_spawn(6 + number, 0, 0, "", 1));
	}
	assign_sharing(99, &plain, slice_str(""), LIMIT_WORKER_CONTEXTS + 1);
	ASSERT(told_spawn(99, 0, 0, "", 1));
	PASS();
}

static void share_here(const char *machine, const char *dir)
{
	struct slice here_env[] = { slice_str("HERE=1") };
	const struct rec_run_context context = { .machine = slice_str(machine), .here_dir = slice_str(dir), .here_env = { here_env, 1 } };
	struct msg_context msg = { .slot = 0 };
	struct buf bytes = { 0 };

	record_encode(&bytes, REC_run_context, &context);
	msg.context = buf_slice(&bytes);
	say(OP_CONTEXT, &msg);
	buf_free(&bytes);
}

TEST the_submitters_directory_is_for_its_own_machine(void)
{
	struct slice words[] = { slice_str("ls") };
	struct rec_job_spec spec = { .name = slice_str("a"), .argv = { words, 1 } };
	char machine[HOST_ID_SIZE], attempts[PATH_MAX + 32];

	host_id(machine);
	ASSERT(machine[0] != '\0');
	ASSERT(connected());
	share_here(machine, "/here");
	assign_sharing(1, &spec, slice_str(""), 1);
	ASSERT(told_spawn(1, 1, 1, "ls\0HERE=1\0/here", 16));
	share_here("machine:another", "/here");
	assign_sharing(2, &spec, slice_str(""), 1);
	ASSERT(told_spawn(2, 1, 0, "ls\0", 4));
	share_here("", "/here");
	assign_sharing(3, &spec, slice_str(""), 1);
	ASSERT(told_spawn(3, 1, 0, "ls\0", 4));
	/* A job's directory may not lie within another attempt's. */
	snprintf(attempts, sizeof(attempts), "%s/7/deep", below("worker/w1/attempts"));
	share_here(machine, attempts);
	assign_sharing(4, &spec, slice_str(""), 1);
	ASSERT(told_spawn(4, 1, 1, "ls\0HERE=1\0", 11));
	share_here(machine, "/here");
	spec.dir = slice_str(DIR_PRIVATE);
	assign_sharing(5, &spec, slice_str(""), 1);
	ASSERT(told_spawn(5, 1, 1, "ls\0HERE=1\0", 11));
	PASS();
}

/* Share /here of this machine as seen in this boot with these mounts; the next job has this directory of its own, or "". */
static bool compares(uint64_t job, uint64_t boot, uint64_t view, const char *dir)
{
	struct slice words[] = { slice_str("ls") };
	const struct rec_job_spec spec = { .name = slice_str("a"), .argv = { words, 1 }, .dir = slice_str(dir) };
	char machine[HOST_ID_SIZE];
	struct rec_run_context context = { .machine = slice_str(machine), .here_dir = slice_str("/here"), .here_boot = boot, .here_view = view,
					   .here_device = 7, .here_inode = 8 };
	struct msg_context msg = { .slot = 0 };
	struct buf bytes = { 0 };
	struct ipc_spawn spawn = { 0 };
	struct slice body;

	host_id(machine);
	context.machine = slice_str(machine);
	record_encode(&bytes, REC_run_context, &context);
	msg.context = buf_slice(&bytes);
	say(OP_CONTEXT, &msg);
	buf_free(&bytes);
	assign_sharing(job, &spec, slice_str(""), 1);
	if (told(IPC_SPAWN, &body))
		memcpy(&spawn, body.data, sizeof(spawn));
	return spawn.job == job && spawn.here_device == 7 && spawn.here_inode == 8;
}

TEST a_directory_seen_through_other_mounts_is_compared(void)
{
	const uint64_t boot = clock_boot_id(), view = host_view();

	ASSERT(boot != 0 && view != 0);
	ASSERT(connected());
	ASSERT(compares(1, boot, view + 1, ""));
	ASSERT(!compares(2, boot, view, ""));
	ASSERT(!compares(3, boot + 1, view + 1, ""));    /* device numbers of another boot mean nothing */
	ASSERT(!compares(4, 0, 0, ""));
	ASSERT(!compares(5, boot, view + 1, "/own"));
	ASSERT(!compares(6, boot, view + 1, DIR_PRIVATE));
	PASS();
}

TEST a_directory_of_a_third_machine_is_compared_on_another(void)
{
	struct slice words[] = { slice_str("ls") }, here_env[] = { slice_str("HERE=1") };
	const struct rec_job_spec spec = { .name = slice_str("a"), .argv = { words, 1 } };
	struct rec_run_context context = { .machine = slice_str("machine:another"), .here_dir = slice_str("/here"), .here_env = { here_env, 1 },
					   .here_device = 7, .here_inode = 8, .here_source = slice_str("files:/export") };
	struct msg_context msg = { .slot = 0 };
	struct buf bytes = { 0 };
	struct ipc_spawn spawn;
	struct slice body;

	ASSERT(connected());
	record_encode(&bytes, REC_run_context, &context);
	msg.context = buf_slice(&bytes);
	say(OP_CONTEXT, &msg);
	assign_sharing(1, &spec, slice_str(""), 1);
	ASSERT(told(IPC_SPAWN, &body));
	memcpy(&spawn, body.data, sizeof(spawn));
	ASSERT(spawn.flags & SPAWN_SOURCE);
	ASSERT_EQ(0, (int)spawn.envc);
	ASSERT_EQ(0, (int)spawn.here_device);
	ASSERT_EQ(8, (int)spawn.here_inode);
	ASSERT_EQ(23, (int)spawn.strings_size);
	ASSERT_MEM_EQ("ls\0/here\0files:/export", body.data + sizeof(spawn), 23);
	/* Without an inode nothing can be compared, so the job has a directory of its own. */
	context.here_inode = 0;
	buf_clear(&bytes);
	record_encode(&bytes, REC_run_context, &context);
	msg.context = buf_slice(&bytes);
	say(OP_CONTEXT, &msg);
	buf_free(&bytes);
	assign_sharing(2, &spec, slice_str(""), 1);
	ASSERT(told_spawn(2, 1, 0, "ls\0", 4));
	PASS();
}

SUITE(link_context)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(what_jobs_share_completes_their_specifications);
	RUN_TEST(the_submitters_directory_is_for_its_own_machine);
	RUN_TEST(a_directory_seen_through_other_mounts_is_compared);
	RUN_TEST(a_directory_of_a_third_machine_is_compared_on_another);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(link_context);
	GREATEST_MAIN_END();
}
