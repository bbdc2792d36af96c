/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values in scripts. The first bytes choose how a script prints a value that may be hostile; sh must print exactly the value.
 * All bytes are also taken as a script of their own, into which two different values are put: the script, or the number of
 * words of the command, must not depend on the value.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "lang/pipeline.h"
#include "lang/yaml_text.h"

#define PIECES_MAX 4
#define VALUE_MAX  4096
#define REF        "${params.v}"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Pieces of scripts that print the value, and what is printed with it. */
static const struct piece {
	const char *script, *before, *behind;
} pieces[] = {
	{ "printf '%s.' " REF "\n", "", "." },
	{ "printf '%s.' \"" REF "\" # it's " REF "\n", "", "." },
	{ "printf %s a" REF "b\n", "a", "b" },
	{ "x=" REF " y=\"" REF "\"\n[ \"$x\" = \"$y\" ] && printf '%s.' \"$x\"\n", "", "." },
	{ "cat <<END | cat\n<" REF ">\nEND\n", "<", ">\n" },
	{ "cat <<-'A' - <<B\n\t'\n\tA\n(" REF ")\nB\n", "(", ")\n" },
	{ "printf '%s.' \"$(printf '%s.' " REF ")\"\n", "", ".." },
	{ "case " REF " in \"" REF "\") printf '%s)' \"" REF "\";; *) exit 9;; esac\n", "", ")" },
	{ "unset u; printf '%s.' \"${u:-" REF "}\"\n", "", "." },
	{ "f() { printf '%s.' \"$1\"; }; (f " REF ")\n", "", "." },
	{ "for i in '' " REF "; do printf %s \"$i\"; done; echo\n", "", "\n" },
	{ "u=; printf '%s.' \"${u#" REF "}\"" REF " 2>&1 \\\n  >&1\n", "", "." },
};

#define PIECES (sizeof(pieces) / sizeof(pieces[0]))

/* Read a pipeline with this interpreter (or none), this script and this value of its parameter. */
static bool read_script(const char *shell, struct slice script, struct slice value, struct arena *arena, struct rec_job_spec *ret)
{
	const struct job_defaults defaults = { 0 };
	struct pipeline pipeline;
	struct buf yaml = { 0 }, entry = { 0 };
	struct slice given[1];
	bool right;

	buf_add_str(&yaml, "params: {v: x, w: '1 2'}\njobs:\n  a:\n");
	if (shell)
		buf_addf(&yaml, "    shell: %s\n", shell);
	buf_add_str(&yaml, "    run: ");
	yaml_text(&yaml, script, 6);
	buf_add_byte(&yaml, '\n');
	buf_add_str(&entry, "v=");
	buf_add_slice(&entry, value);
	given[0] = arena_copy(arena, buf_slice(&entry));
	right = pipeline_parse(arena_copy(arena, buf_slice(&yaml)), (struct slice_list){ given, 1 }, arena, &pipeline, NULL, NULL) == ERR_NONE;
	if (right)
		dagline_job(&pipeline.dag, 0, &defaults, arena, ret);
	buf_free(&yaml);
	buf_free(&entry);
	return right;
}

static char *string(struct arena *arena, struct slice text)
{
	char *copy = arena_zalloc(arena, text.len + 1, 1);

	if (text.len > 0)
		memcpy(copy, text.data, text.len);
	return copy;
}

/* Run the job as a worker does, and collect what it prints. */
static void run_job(const struct rec_job_spec *spec, struct arena *arena, struct buf *out)
{
	char **argv = arena_zalloc(arena, spec->argv.n + 4, sizeof(*argv)), **env = arena_zalloc(arena, spec->env.n + 2, sizeof(*env));
	posix_spawn_file_actions_t actions;
	uint8_t bytes[4096];
	int ends[2], status;
	ssize_t got;
	pid_t pid;

	for (size_t i = 0; i < spec->argv.n; i++)
		argv[i] = string(arena, spec->argv.at[i]);
	if (spec->argv.n == 0) {
		argv[0] = "sh";
		argv[1] = spec->interpreter.len > 0 ? "-euc" : "-c";
		argv[2] = string(arena, spec->script);
	}
	for (size_t i = 0; i < spec->env.n; i++)
		env[i] = string(arena, spec->env.at[i]);
	env[spec->env.n] = "PATH=/usr/bin:/bin";
	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	CHECK(posix_spawn_file_actions_init(&actions) == 0);
	CHECK(posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0);
	CHECK(posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) == 0);
	CHECK(posix_spawnp(&pid, argv[0], &actions, NULL, argv, env) == 0);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	while ((got = read(ends[0], bytes, sizeof(bytes))) > 0)
		buf_add(out, bytes, (size_t)got);
	close(ends[0]);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* Is the whole value printed, whatever it contains? */
static void check_printed(const uint8_t *choice, struct slice value)
{
	struct arena arena = { 0 };
	struct buf script = { 0 }, wanted = { 0 }, printed = { 0 };
	struct rec_job_spec spec;

	for (int i = 0; i < 1 + choice[0] % PIECES_MAX; i++) {
		const struct piece *piece = &pieces[choice[1 + i] % PIECES];

		buf_add_str(&script, piece->script);
		buf_add_str(&wanted, piece->before);
		buf_add_slice(&wanted, value);
		buf_add_str(&wanted, piece->behind);
	}
	CHECK(read_script(choice[0] & 0x80 ? "sh" : NULL, buf_slice(&script), value, &arena, &spec));
	run_job(&spec, &arena, &printed);
	CHECK(slice_eq(buf_slice(&printed), buf_slice(&wanted)));
	buf_clear(&printed);
	buf_clear(&wanted);
	/* Without a shell: printf is started with three words. */
	CHECK(read_script(NULL, slice_str("printf '<%s>' " REF), value, &arena, &spec) && spec.argv.n == 3);
	run_job(&spec, &arena, &printed);
	buf_add_byte(&wanted, '<');
	buf_add_slice(&wanted, value);
	buf_add_byte(&wanted, '>');
	CHECK(slice_eq(buf_slice(&printed), buf_slice(&wanted)));
	buf_free(&script);
	buf_free(&wanted);
	buf_free(&printed);
	arena_free(&arena);
}

static void check_independent(struct slice script)
{
	static const char *const shells[] = { NULL, "bash", "python3" };
	struct slice values[2] = { slice_str("a"), slice_str("'\"`id`$(id);\n*") };
	struct arena arena = { 0 };
	struct rec_job_spec specs[2];
	bool right[2];

	for (size_t shell = 0; shell < sizeof(shells) / sizeof(shells[0]); shell++) {
		for (int i = 0; i < 2; i++)
			right[i] = read_script(shells[shell], script, values[i], &arena, &specs[i]);
		if (right[0] && right[1]) {
			CHECK(slice_eq(specs[0].script, specs[1].script));
			CHECK(specs[0].argv.n == specs[1].argv.n && specs[0].env.n == specs[1].env.n);
			/* Another language than that of sh gets no values at all. */
			CHECK(shell < 2 || (specs[0].argv.n == 0 && specs[0].env.n == 0));
		}
	}
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t lead = 1 + PIECES_MAX;

	check_independent(slice_make(data, size));
	if (size >= lead && size - lead <= VALUE_MAX && memchr(data + lead, 0, size - lead) == NULL)
		check_printed(data, slice_make(data + lead, size - lead));
	return 0;
}
