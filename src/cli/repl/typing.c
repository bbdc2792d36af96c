/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All calls of readline. readline owns the terminal's modes while a line is typed. */
#include "cli/repl/typing.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "base/mem.h"
#include "cli/repl/recall.h"
#include "cli/repl/typed.h"

#define KEYS_ONCE   4096                 /* most keys taken before the connection gets its turn */
#define HELP_LINES  40                   /* most lines that ? prints */
#define OPEN_PROMPT "...> "

static struct {
	const struct typing *typing;
	bool shown;                      /* the prompt is on the screen, and readline owns the terminal */
	struct buf before;               /* earlier lines of an incomplete command */
	struct buf prompt;
	struct recall history;
	struct buf words;                /* completions of the word at the cursor */
	const char *next;                /* the completion that readline gets next */
	bool ended;                      /* Ctrl-D */
} now;

static const char *prompt(void)
{
	return now.before.len > 0 ? OPEN_PROMPT : buf_cstr(&now.prompt);
}

/* ---- history ---- */

static void remember(const char *text)
{
	struct buf kept = { 0 };

	if (recall_clean(text, &kept)) {
		const char *line = buf_cstr(&kept);

		for (int i = history_length - 1; i >= 0; i--) {
			HIST_ENTRY *entry = history_get(history_base + i);

			if (entry && strcmp(entry->line, line) == 0) {
				free_history_entry(remove_history(i));
				break;
			}
		}
		add_history(line);
		recall_save(line);
	}
	buf_free(&kept);
}

/* ---- a typed line was entered ---- */

static void line_cb(char *line)
{
	now.shown = false;
	rl_callback_handler_remove();
	if (line == NULL) {
		now.ended = true;
		fputs("\n", rl_outstream);
		fflush(rl_outstream);
		now.typing->entered_cb(now.typing->owner, NULL);
		return;
	}
	if (now.before.len > 0)
		buf_add_byte(&now.before, '\n');
	buf_add_str(&now.before, line);
	mem_free(line);
	if (typed_is_open(buf_cstr(&now.before))) {
		typing_start(NULL);
		return;
	}
	/* Copy first: the callback may start a new line. */
	struct buf text = now.before;

	now.before = (struct buf){ 0 };
	remember(buf_cstr(&text));
	now.typing->entered_cb(now.typing->owner, buf_cstr(&text));
	buf_free(&text);
}

/* ---- completion ---- */

static char *next_word(const char *text, int state)
{
	size_t len;
	char *word;

	(void)text, (void)state;
	len = strcspn(now.next, "\t\n");
	if (*now.next == '\0')
		return NULL;
	word = mem_text(slice_make(now.next, len));
	now.next += strcspn(now.next, "\n");
	now.next += *now.next == '\n';
	return word;
}

/* Ask the owner what may stand at the end of the typed text. True: the name of a file. */
static bool ask(int end)
{
	struct buf text = { 0 };
	bool file;

	buf_add_slice(&text, buf_slice(&now.before));
	if (text.len > 0)
		buf_add_byte(&text, '\n');
	buf_add(&text, rl_line_buffer, (size_t)end);
	buf_clear(&now.words);
	file = now.typing->complete_cb(now.typing->owner, buf_cstr(&text), &now.words);
	now.next = buf_cstr(&now.words);
	buf_free(&text);
	return file;
}

static char **complete_cb(const char *text, int start, int end)
{
	char **matches;

	(void)start;
	if (ask(end)) {
		rl_attempted_completion_over = 0;        /* don't let readline fall back to names of files */
		return NULL;
	}
	rl_attempted_completion_over = 1;
	rl_sort_completion_matches = 0;
	matches = rl_completion_matches(text, next_word);
	if (matches && matches[0] && !matches[1] && matches[0][0] && strchr("[/=:", matches[0][strlen(matches[0]) - 1]))
		rl_completion_suppress_append = 1;       /* the word is only a prefix: add no space after it */
	return matches;
}

/* The ? key: list what may follow, each with its help. In quotes and in graphs it types a question mark. */
static int help_cb(int count, int key)
{
	struct buf text = { 0 }, lines = { 0 };
	size_t shown = 0;

	buf_add_slice(&text, buf_slice(&now.before));
	buf_add(&text, rl_line_buffer, (size_t)rl_point);
	if (rl_line_buffer[0] == '!' || rl_line_buffer[0] == '\\' || typed_is_quoted(buf_cstr(&text))) {
		buf_free(&text);
		return rl_insert(count, key);
	}
	buf_free(&text);
	if (ask(rl_point))
		buf_add_str(&lines, "  a file\n");
	for (; *now.next != '\0' && shown < HELP_LINES; shown++) {
		size_t word = strcspn(now.next, "\t\n"), len = strcspn(now.next, "\n");

		buf_addf(&lines, "  %-20.*s %.*s\n", (int)word, now.next, (int)(len - word - (len > word)),
			 now.next + word + (len > word));
		now.next += len + 1;
	}
	if (*now.next != '\0')
		buf_add_str(&lines, "  ... and more\n");
	if (lines.len == 0)
		buf_add_str(&lines, "  titan knows no word that may follow here; \\? lists the console's own commands\n");
	typing_tell(buf_cstr(&lines), NULL);
	buf_free(&lines);
	return 0;
}

/* ---- the terminal ---- */

void typing_open(const struct typing *typing)
{
	now.typing = typing;
	rl_readline_name = "titan";
	rl_catch_signals = 0;
	rl_catch_sigwinch = 0;
	rl_change_environment = 0;
	rl_attempted_completion_function = complete_cb;
	rl_basic_word_break_characters = " \t\n";
	rl_completer_word_break_characters = " \t\n";
	rl_completer_quote_characters = "'\"";
	rl_initialize();
	rl_bind_key('?', help_cb);
	using_history();
	recall_load(&now.history);
	for (size_t i = 0; i < now.history.count; i++)
		add_history(now.history.entries[i].line);
	recall_free(&now.history);
}

void typing_close(void)
{
	typing_stop();
	recall_load(&now.history);       /* remove duplicates from the file */
	recall_free(&now.history);
	clear_history();
	buf_free(&now.before);
	buf_free(&now.prompt);
	buf_free(&now.words);
	now.typing = NULL;
}

void typing_start(const char *text)
{
	if (text) {
		buf_clear(&now.prompt);
		buf_add_str(&now.prompt, text);
	}
	if (now.shown || now.ended)
		return;
	now.shown = true;
	rl_callback_handler_install(prompt(), line_cb);
}

void typing_stop(void)
{
	if (!now.shown)
		return;
	rl_callback_handler_remove();
	now.shown = false;
}

void typing_keys(void)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };

	for (int i = 0; i < KEYS_ONCE && now.shown; i++) {
		if (i > 0 && poll(&fd, 1, 0) <= 0)
			return;
		rl_callback_read_char();
	}
}

void typing_tell(const char *lines, const char *text)
{
	if (text) {
		buf_clear(&now.prompt);
		buf_add_str(&now.prompt, text);
	}
	if (!now.shown) {
		fputs(lines ? lines : "", rl_outstream);
		fflush(rl_outstream);
		return;
	}
	rl_clear_visible_line();
	fputs(lines ? lines : "", rl_outstream);
	rl_set_prompt(prompt());
	rl_on_new_line();
	rl_redisplay();
	fflush(rl_outstream);
}

void typing_clear(void)
{
	buf_clear(&now.before);
	if (!now.shown)
		return;
	rl_callback_sigcleanup();
	rl_free_line_state();
	rl_point = rl_end;
	rl_redisplay();
	fputs("^C\n", rl_outstream);
	rl_callback_handler_remove();
	now.shown = false;
	rl_replace_line("", 0);
	typing_start(NULL);
}

void typing_resize(void)
{
	if (now.shown)
		rl_resize_terminal();
}

void typing_suspend(void)
{
	bool shown = now.shown;

	if (shown)
		rl_deprep_terminal();
	kill(0, SIGSTOP);
	if (!shown)
		return;
	rl_prep_terminal(1);
	rl_on_new_line();
	rl_forced_update_display();
}
