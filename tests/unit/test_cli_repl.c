/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The console's pure parts: splitting of lines, open brackets and quotes, history, and notices. */
#include "base/arena.h"
#include "cli/repl/recall.h"
#include "cli/repl/typed.h"
#include "cli/repl/notice.h"
#include "proto/states.h"

#include "tests/greatest.h"

GREATEST_MAIN_DEFS();

/* Split the first command and return its words in brackets. */
static const char *words(const char *text)
{
	static struct buf out;
	struct arena arena = { 0 };
	struct typed_line line;

	buf_clear(&out);
	if (!typed_take(text, &arena, &line))
		buf_add_str(&out, "open ");
	for (size_t i = 0; i < line.count; i++)
		buf_addf(&out, "[%s]", line.words[i]);
	if (line.has_input)
		buf_addf(&out, " <%.*s>", (int)line.input.len, (const char *)line.input.data);
	arena_free(&arena);
	return buf_cstr(&out);
}

TEST words_split_as_in_a_shell(void)
{
	ASSERT_STR_EQ("[ls]", words("ls"));
	ASSERT_STR_EQ("[cancel][4127/load]", words("  cancel   4127/load  # the slow one\nls"));
	ASSERT_STR_EQ("[a b][c\"d][e'f][]", words("'a b' \"c\\\"d\" e\\'f ''"));
	ASSERT_STR_EQ("[--format][{id} {state}][-q]", words("--format {id}\\ {state} -q"));
	ASSERT_STR_EQ("[a{b c}d]", words("a{b c}d"));
	ASSERT_STR_EQ("[one][two]", words("one \\\ntwo"));
	ASSERT_STR_EQ("[x}]", words("x}"));
	ASSERT_STR_EQ("", words("  # nothing"));
	PASS();
}

TEST graph_behind_e_needs_no_quotes(void)
{
	ASSERT_STR_EQ("[run][-e][a -> {b, c} -> d; a='x y' retry=3]", words("run -e a -> {b, c} -> d; a='x y' retry=3"));
	ASSERT_STR_EQ("[run][-e][a -> b; a=true][-f][--name][x]", words("run -e a -> b; a=true -f --name x"));
	ASSERT_STR_EQ("[run][-e][a -> b][-f]", words("run -e 'a -> b' -f"));
	ASSERT_STR_EQ("[run][-e][a -> {b,\n c} -> d]", words("run -e a -> {b,\n c} -> d\nls"));
	PASS();
}

TEST open_lines_want_more(void)
{
	ASSERT(typed_is_open("run -e a -> {b,"));
	ASSERT(typed_is_open("run -e a ->"));
	ASSERT(typed_is_open("run -e 'a"));
	ASSERT(typed_is_open("approve 1/qa -m \"it is"));
	ASSERT(typed_is_open("ls \\"));
	ASSERT(typed_is_open("run - <<END\njobs:\n"));
	ASSERT(typed_is_open("ls\nshow {"));
	ASSERT_FALSE(typed_is_open("run - <<END\njobs: {\nEND\n"));
	ASSERT_FALSE(typed_is_open("ls\nstatus"));
	ASSERT_FALSE(typed_is_open("!echo '"));
	ASSERT_FALSE(typed_is_open("# isn't a quote"));
	ASSERT_FALSE(typed_is_open(""));
	PASS();
}

TEST input_is_the_lines_up_to_its_word(void)
{
	ASSERT_STR_EQ("[run][-] <name: x\njobs: {}\n>", words("run - <<END\nname: x\njobs: {}\nEND\nls"));
	ASSERT_STR_EQ("[run][-][-f] <a\n>", words("run - << 'E' -f\na\nE"));
	ASSERT_STR_EQ("[run][/dev/stdin][-f] <a\n>", words("run <<E -f\na\nE"));
	ASSERT_STR_EQ("[run][--lines] <a\n>", words("run --lines <<E\na\nE"));
	PASS();
}

TEST lines_of_other_kinds(void)
{
	struct arena arena = { 0 };
	struct typed_line line;

	ASSERT(typed_take("!ls {\nshow", &arena, &line));
	ASSERT_EQ(TYPED_SHELL, line.kind);
	ASSERT(slice_eq(line.input, slice_str("ls {")));
	ASSERT_EQ(6, line.len);
	ASSERT(typed_take("\n# c\n\\watch i=5\n", &arena, &line));
	ASSERT_EQ(TYPED_BACKSLASH, line.kind);
	ASSERT_STR_EQ("\\watch", line.words[0]);
	ASSERT_EQ(5, line.skipped);
	ASSERT(typed_take(" \n", &arena, &line));
	ASSERT_EQ(TYPED_EMPTY, line.kind);
	ASSERT(typed_is_quoted("run -e a -> "));
	ASSERT(typed_is_quoted("show 'a"));
	ASSERT_FALSE(typed_is_quoted("show "));
	ASSERT_FALSE(typed_is_quoted("run -e 'a' "));
	arena_free(&arena);
	PASS();
}

static const char *cleaned(const char *line)
{
	static struct buf out;

	return recall_clean(line, &out) ? buf_cstr(&out) : "nothing";
}

TEST history_keeps_no_secret(void)
{
	ASSERT_STR_EQ("ls", cleaned("ls"));
	ASSERT_STR_EQ("nothing", cleaned(" show 1"));
	ASSERT_STR_EQ("nothing", cleaned(""));
	ASSERT_STR_EQ("run x.yaml --env API_TOKEN=*** -f", cleaned("run x.yaml --env API_TOKEN=abc123 -f"));
	ASSERT_STR_EQ("x --token=***", cleaned("x --token=abc"));
	ASSERT_STR_EQ("x --token *** y", cleaned("x --token 'a b' y"));
	ASSERT_STR_EQ("x -p db_password=*** y", cleaned("x -p db_password=\"a b\" y"));
	ASSERT_STR_EQ("x -p secretKey=***", cleaned("x -p secretKey=zzz\n"));
	ASSERT_STR_EQ("x --token -f", cleaned("x --token -f"));
	ASSERT_STR_EQ("run -e a; a='key.sh' retry=3", cleaned("run -e a; a='key.sh' retry=3"));
	PASS();
}

TEST history_has_each_line_once(void)
{
	struct recall history = { 0 };
	struct buf text = { 0 };

	recall_encode("ls", &text);
	recall_encode("run -e {a,\nb}\\x", &text);
	recall_encode("ls", &text);
	recall_decode(&history, buf_cstr(&text));
	ASSERT_EQ(2, history.count);
	ASSERT_STR_EQ("run -e {a,\nb}\\x", history.entries[0].line);
	ASSERT_STR_EQ("ls", history.entries[1].line);
	recall_free(&history);
	buf_free(&text);
	PASS();
}

static struct rec_run_row run_row(uint64_t run, enum run_state state, uint64_t counts[STATE_COUNT])
{
	return (struct rec_run_row){
		.run = run, .name = slice_str("et\033l"), .state = state, .jobs = 3, .submitted_ms = 1000,
		.counts = { .at = counts, .n = STATE_COUNT },
	};
}

TEST news_are_few_and_escaped(void)
{
	uint64_t none[STATE_COUNT] = { 0 }, bad[STATE_COUNT] = { [STATE_FAILED] = 1 }, asks[STATE_COUNT] = { [STATE_APPROVAL] = 1 };
	struct notices notices = { 0 };
	struct buf out = { 0 };
	struct rec_run_row row = run_row(1, RUN_FAILED, bad);

	notices_runs(&notices, &row, 1, false);
	notices_runs(&notices, &row, 1, true);
	notices_take(&notices, &out);
	ASSERT_STR_EQ("", buf_cstr(&out));       /* nothing new */
	row = run_row(2, RUN_RUNNING, none);
	notices_runs(&notices, &row, 1, true);
	row = run_row(2, RUN_FAILED, bad);
	notices_runs(&notices, &row, 1, true);
	row = run_row(3, RUN_RUNNING, asks);
	notices_runs(&notices, &row, 1, true);
	notices_runs(&notices, &row, 1, true);
	notices_take(&notices, &out);
	ASSERT_STR_EQ("x run 2 et\\x1bl failed: 1 of 3 jobs    show 2\n? run 3 et\\x1bl waits for people    approvals 3\n",
		      buf_cstr(&out));
	buf_clear(&out);
	for (uint64_t i = 10; i < 1010; i++) {
		row = run_row(i, RUN_FAILED, bad);
		notices_runs(&notices, &row, 1, true);
	}
	notices_take(&notices, &out);
	ASSERT(strstr(buf_cstr(&out), "... and 995 more"));
	/* No notice for a run that the present command has submitted: that command reports it. */
	notices.silent_ms = 1000;
	buf_clear(&out);
	row = run_row(2000, RUN_FAILED, bad);
	notices_runs(&notices, &row, 1, true);
	notices_take(&notices, &out);
	ASSERT_STR_EQ("", buf_cstr(&out));
	notices_free(&notices);
	buf_free(&out);
	PASS();
}

SUITE(cli_repl)
{
	RUN_TEST(words_split_as_in_a_shell);
	RUN_TEST(graph_behind_e_needs_no_quotes);
	RUN_TEST(open_lines_want_more);
	RUN_TEST(input_is_the_lines_up_to_its_word);
	RUN_TEST(lines_of_other_kinds);
	RUN_TEST(history_keeps_no_secret);
	RUN_TEST(history_has_each_line_once);
	RUN_TEST(news_are_few_and_escaped);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cli_repl);
	GREATEST_MAIN_END();
}
