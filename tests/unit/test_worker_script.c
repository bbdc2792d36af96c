/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scripts that their interpreters get as files. */
#include "keeper_rig.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

static struct rig *rig;
static struct buf text;

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
}

TEST interpreter_gets_its_script_as_a_file(void)
{
	const char *const argv[] = { "sh", "-eu", "# it's a script\necho \"$(basename \"$0\") $#\"\ntest \"$0\" -ef \"$TITAN_SCRATCH/.titan-script\"\nexit 4\n", NULL };
	const char *const missing[] = { "/no/such/shell", "x", NULL };
	struct ipc_exited exited;

	rig->spawn_flags = SPAWN_SCRIPT;
	rig_spawn_in(rig, 1, 1, argv, NULL, "/");
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_EXIT, exited.done.outcome);
	ASSERT_EQ(4, exited.done.code);
	ASSERT_STR_EQ(".titan-script 0\n", rig_output(rig, exited.space, "out", &text));
	rig_spawn_in(rig, 2, 1, missing, NULL, "");
	ASSERT(rig_exited(rig, 2, &exited));
	ASSERT_EQ(OUTCOME_SPAWN, exited.done.outcome);
	ASSERT_EQ(ENOENT, exited.done.code);
	/* The files of a script are gone before another attempt has the directory. */
	rig->spawn_flags = 0;
	rig_sh(rig, 3, 1, "test ! -e \"$TITAN_SCRATCH/.titan-script\"");
	ASSERT(rig_exited(rig, 3, &exited));
	ASSERT_EQ(0, exited.done.code);
	PASS();
}

TEST job_reads_its_text_from_standard_input(void)
{
	const char *const command[] = { "sh", "-c", "cat; echo \"$#$0\"; exit 4", "a line\nand one without an end", NULL };
	const char *const script[] = { "sh", "-eu", "read -r line; echo \"<$line>\"; read -r line || echo end\n", "one\n", NULL };
	struct ipc_exited exited;

	rig->spawn_flags = SPAWN_STDIN;
	rig_spawn_in(rig, 1, 1, command, NULL, "/");
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(4, exited.done.code);
	ASSERT_STR_EQ("a line\nand one without an end0sh\n", rig_output(rig, exited.space, "out", &text));
	rig->spawn_flags = SPAWN_STDIN | SPAWN_SCRIPT;
	rig_spawn_in(rig, 2, 1, script, NULL, "");
	ASSERT(rig_exited(rig, 2, &exited));
	ASSERT_EQ(0, exited.done.code);
	ASSERT_STR_EQ("<one>\nend\n", rig_output(rig, exited.space, "out", &text));
	PASS();
}

SUITE(worker_script)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(interpreter_gets_its_script_as_a_file);
	RUN_TEST(job_reads_its_text_from_standard_input);
}

int main(int argc, char **argv)
{
	rig_stub(argc, argv);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(worker_script);
	GREATEST_MAIN_END();
}
