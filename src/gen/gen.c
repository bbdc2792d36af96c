/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan-gen WHAT: prints one generated text. */
#include "gen/gen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/session/complete.h"
#include "store/ladder.h"
#include "store/store.h"

#define PAGE_MAX (4u << 20)

static int usage(void)
{
	fputs("titan-gen schema | frozen | before | dot | completion bash|zsh|fish   print a whole file\n"
	      "titan-gen json [COMMAND]                           print the schema of a command's JSON, or which there are\n"
	      "titan-gen page <MANUAL-PAGE                        print it with its generated parts made anew\n",
	      stderr);
	return 2;
}

static bool read_input(struct buf *in)
{
	for (;;) {
		ssize_t got = read(STDIN_FILENO, buf_reserve(in, 65536), 65536);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0;
		in->len += (size_t)got;
		if (in->len > PAGE_MAX)
			return false;
	}
}

static bool page(struct buf *out)
{
	struct buf in = { 0 };
	const char *wrong = read_input(&in) ? gen_page(buf_slice(&in), out) : "the page can't be read";

	if (wrong != NULL)
		fprintf(stderr, "titan-gen: %s\n", wrong);
	buf_free(&in);
	return wrong == NULL;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct buf out = { 0 };
	bool done;

	if (strcmp(what, "schema") == 0 && argc == 2) {
		store_schema(&out);
		done = true;
	} else if (strcmp(what, "frozen") == 0 && argc == 2) {
		ladder_freeze(&out);
		done = true;
	} else if (strcmp(what, "before") == 0 && argc == 2) {
		gen_before(&out);
		done = true;
	} else if (strcmp(what, "dot") == 0 && argc == 2) {
		gen_dot(&out);
		done = true;
	} else if (strcmp(what, "completion") == 0 && argc == 3) {
		const char *script = complete_script(argv[2]);

		buf_add_str(&out, script ? script : "");
		done = script != NULL;
	} else if (strcmp(what, "json") == 0 && argc == 2) {
		gen_schema_names(&out);
		done = true;
	} else if (strcmp(what, "json") == 0 && argc == 3) {
		done = gen_schema(argv[2], &out);
	} else if (strcmp(what, "page") == 0 && argc == 2) {
		done = page(&out);
	} else {
		return usage();
	}
	if (done && io_write_all(STDOUT_FILENO, out.data, out.len) != 0)
		done = false;
	buf_free(&out);
	return done ? 0 : 1;
}
