/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bytes that screen.c writes, read by a terminal: after any sequence of pictures, the cells of libvterm equal the
 * cells of the grid, and the picture made by differences equals a fresh drawing. libvterm is loaded at run time;
 * without it these tests are skipped.
 */
#include <dlfcn.h>
#include <locale.h>

#include "base/rand.h"
#include "greatest.h"
#include "tui/keys.h"
#include "tui/screen.h"
#include "tui_fixture.h"

GREATEST_MAIN_DEFS();

#if __has_include(<vterm.h>)
#include <vterm.h>

#define VTERM_FUNCTIONS(X)                                                                                   \
	X(vterm_new)                                                                                         \
	X(vterm_free) X(vterm_set_utf8) X(vterm_set_size) X(vterm_obtain_screen) X(vterm_screen_reset)       \
		X(vterm_screen_enable_altscreen) X(vterm_input_write) X(vterm_screen_get_cell)

static struct {
#define X(name) __typeof__(&name) name;
	VTERM_FUNCTIONS(X)
#undef X
} library;

static bool load(void)
{
	void *handle = dlopen("libvterm.so.0", RTLD_NOW);

	if (!handle)
		return false;
#define X(name) *(void **)&library.name = dlsym(handle, #name); if (!library.name) return false;
	VTERM_FUNCTIONS(X)
#undef X
	return true;
}

struct terminal {
	VTerm *vterm;
	VTermScreen *screen;
};

static struct terminal terminal_new(int width, int height)
{
	struct terminal terminal = { .vterm = library.vterm_new(height, width) };

	library.vterm_set_utf8(terminal.vterm, 1);
	terminal.screen = library.vterm_obtain_screen(terminal.vterm);
	library.vterm_screen_enable_altscreen(terminal.screen, 1);
	library.vterm_screen_reset(terminal.screen, 1);
	return terminal;
}

static void feed(struct terminal *terminal, struct buf *bytes)
{
	library.vterm_input_write(terminal->vterm, (const char *)bytes->data, bytes->len);
	buf_clear(bytes);
}

static size_t utf8(uint32_t code, char *out)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	out[0] = (char)(0xe0 | code >> 12);
	out[1] = (char)(0x80 | (code >> 6 & 0x3f));
	out[2] = (char)(0x80 | (code & 0x3f));
	return 3;
}

static bool same_cell(const struct cell *cell, const VTermScreenCell *seen)
{
	char text[VTERM_MAX_CHARS_PER_CELL * 4];
	size_t len = 0;
	bool blank = cell->len == 1 && cell->text[0] == ' ';

	for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && seen->chars[i]; i++)
		len += utf8(seen->chars[i], text + len);
	if (len == 0)
		text[len++] = ' ';
	if (len != cell->len || memcmp(text, cell->text, len) != 0)
		return false;
	if (!seen->attrs.reverse != !(cell->style.attributes & STYLE_REVERSE) ||
	    !seen->attrs.underline != !(cell->style.attributes & STYLE_UNDERLINE))
		return false;
	if (cell->style.behind == 0 ? !VTERM_COLOR_IS_DEFAULT_BG(&seen->bg)
				    : !VTERM_COLOR_IS_INDEXED(&seen->bg) || seen->bg.indexed.idx != cell->style.behind - 1)
		return false;
	if (blank)
		return true;
	if (!seen->attrs.bold != !(cell->style.attributes & STYLE_BOLD))
		return false;
	if (cell->style.fine != 0)
		return VTERM_COLOR_IS_INDEXED(&seen->fg) && seen->fg.indexed.idx == cell->style.fine - 1;
	if (cell->style.colour == COLOUR_DEFAULT)
		return VTERM_COLOR_IS_DEFAULT_FG(&seen->fg);
	return VTERM_COLOR_IS_INDEXED(&seen->fg) && seen->fg.indexed.idx == cell->style.colour;
}

static bool shows(const struct terminal *terminal, const struct grid *grid)
{
	for (int y = 0; y < grid->height; y++) {
		for (int x = 0; x < grid->width; x++) {
			VTermScreenCell seen;
			const struct cell *cell = grid_at(grid, x, y);

			if (cell->width == 0)
				continue;
			library.vterm_screen_get_cell(terminal->screen, (VTermPos){ y, x }, &seen);
			if (same_cell(cell, &seen))
				continue;
			printf("at %d,%d: want '%.*s' colour %u attributes %u, seen U+%04x\n", x, y,
				cell->len, cell->text, cell->style.colour, cell->style.attributes,
				seen.chars[0]);
			return false;
		}
	}
	return true;
}

static enum err open_screen(int width, int height, struct screen **ret_screen)
{
	struct error error;
	enum err err = screen_new("xterm-256color", width, height, ret_screen, &error);

	if (err != ERR_NONE)
		printf("%s\n", error.text);
	return err;
}

static void press(struct fixture *fixture, uint32_t key)
{
	app_key(fixture->app, key, FIXTURE_NOW);
	fixture_collect(fixture);
	if (fixture->log_id)
		fixture_log(fixture);
	fixture->log_id = 0;
}

TEST cells_arrive(bool ascii)
{
	static const char keys[] = "jd3jjjfjjjjjjx?\x1b" "4jc\x1b" "2/thu\r\x1b" "1Z";
	struct fixture fixture;
	struct grid grid = { 0 };
	struct buf bytes = { 0 };
	struct screen *screen = NULL;
	struct terminal terminal = terminal_new(100, 30), fresh;

	ASSERT_EQ(ERR_NONE, open_screen(100, 30, &screen));
	fixture_fill(&fixture, VIEW_HOME, ascii, false, 100, 30);
	for (size_t i = 0; i < sizeof keys; i++) {
		app_draw(fixture.app, &grid, FIXTURE_NOW);
		screen_render(screen, &grid, &bytes);
		feed(&terminal, &bytes);
		ASSERT(shows(&terminal, &grid));
		/* Drawing the same picture again writes no bytes. */
		screen_render(screen, &grid, &bytes);
		ASSERT_EQ(0, bytes.len);
		if (keys[i])
			press(&fixture, (uint8_t)keys[i]);
		if (fixture.graph_id && i == 3)
			fixture_graph(&fixture);
	}
	/* Drawing the picture from scratch gives the same cells as drawing only its differences. */
	fresh = terminal_new(100, 30);
	screen_redraw(screen);
	screen_render(screen, &grid, &bytes);
	feed(&fresh, &bytes);
	ASSERT(shows(&fresh, &grid));
	screen_free(screen);
	library.vterm_free(terminal.vterm);
	library.vterm_free(fresh.vterm);
	buf_free(&bytes);
	grid_free(&grid);
	fixture_close(&fixture);
	PASS();
}

TEST sizes_and_suspend(void)
{
	struct rand_state rand;
	struct fixture fixture;
	struct grid grid = { 0 };
	struct buf bytes = { 0 };
	struct screen *screen = NULL;
	struct terminal terminal = terminal_new(80, 24);

	rand_seed(&rand, 5);
	ASSERT_EQ(ERR_NONE, open_screen(80, 24, &screen));
	fixture_fill(&fixture, VIEW_HOME, false, false, 80, 24);
	for (int i = 0; i < 150; i++) {
		if (rand_below(&rand, 3) == 0) {
			int width = 10 + (int)rand_below(&rand, 180), height = 2 + (int)rand_below(&rand, 60);

			library.vterm_set_size(terminal.vterm, height, width);
			app_resize(fixture.app, width, height);
		} else if (rand_below(&rand, 5) == 0) {
			screen_leave(screen, &bytes);
		} else {
			press(&fixture, (uint32_t)"jk123dfx?4\x1b"[rand_below(&rand, 11)]);
			if (fixture.graph_id)
				fixture_graph(&fixture);
		}
		app_draw(fixture.app, &grid, FIXTURE_NOW);
		screen_render(screen, &grid, &bytes);
		feed(&terminal, &bytes);
		ASSERT(shows(&terminal, &grid));
	}
	screen_free(screen);
	library.vterm_free(terminal.vterm);
	buf_free(&bytes);
	grid_free(&grid);
	fixture_close(&fixture);
	PASS();
}

/* Draw random cells, one picture after another. */
TEST scribbles(uint64_t seed)
{
	static const char *const words[] = { "plain", "中文", "e\xcc\x81", "▸✓✗◌∅", "█▌", "a b" };
	struct rand_state rand;
	struct grid grid = { 0 };
	struct buf bytes = { 0 };
	struct screen *screen = NULL;
	struct terminal terminal = terminal_new(40, 10);

	rand_seed(&rand, seed);
	ASSERT_EQ(ERR_NONE, open_screen(40, 10, &screen));
	grid_resize(&grid, 40, 10);
	for (int i = 0; i < 400; i++) {
		struct style style = { .colour = (uint8_t)rand_below(&rand, 7), .attributes = (uint8_t)rand_below(&rand, 16) };

		if (rand_below(&rand, 3) == 0)
			style.fine = (uint16_t)rand_below(&rand, 257), style.behind = (uint16_t)rand_below(&rand, 257);

		/* libvterm puts a combining mark behind the last column elsewhere, so nothing is drawn there. */
		for (int k = 0; k < 5; k++)
			pane_str(pane_cut(grid_pane(&grid), 0, 0, 39, 10), (int)rand_below(&rand, 40),
				(int)rand_below(&rand, 10), style, words[rand_below(&rand, 6)]);
		if (rand_below(&rand, 20) == 0)
			grid_clear(&grid);
		screen_render(screen, &grid, &bytes);
		feed(&terminal, &bytes);
		ASSERT(shows(&terminal, &grid));
	}
	screen_free(screen);
	library.vterm_free(terminal.vterm);
	buf_free(&bytes);
	grid_free(&grid);
	PASS();
}

SUITE(vterm)
{
	if (!load() || !setlocale(LC_CTYPE, "C.UTF-8")) {
		printf("no libvterm, or no C.UTF-8\n");
		return;
	}
	RUN_TESTp(cells_arrive, false);
	RUN_TESTp(cells_arrive, true);
	RUN_TEST(sizes_and_suspend);
	for (uint64_t seed = 1; seed <= 4; seed++)
		RUN_TESTp(scribbles, seed);
}
#else
SUITE(vterm)
{
}
#endif

/* Curses keeps some memory of a terminal that it couldn't open. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtinfo\n";
}

TEST unknown_terminal(void)
{
	struct screen *screen = NULL;
	struct error error = { 0 };

	ASSERT_EQ(ERR_USAGE, screen_new("no-such-terminal", 80, 24, &screen, &error));
	ASSERT_EQ(NULL, screen);
	ASSERT(strstr(error.text, "no-such-terminal") != NULL);
	PASS();
}

/*
 * A terminal that reports no size, such as the Linux console: the size comes from the caller, not from the environment.
 */
TEST terminal_without_a_size(void)
{
	struct screen *screen = NULL;
	struct error error = { 0 };

	setenv("COLUMNS", "31", 1);
	ASSERT_EQm(error.text, ERR_NONE, screen_new("linux", 80, 24, &screen, &error));
	screen_free(screen);
	PASS();
}

SUITE(screen)
{
	RUN_TEST(terminal_without_a_size);
	RUN_TEST(unknown_terminal);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(vterm);
	RUN_SUITE(screen);
	GREATEST_MAIN_END();
}
