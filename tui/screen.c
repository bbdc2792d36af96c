/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The only file that uses curses, which writes to a file in memory. A character whose width differs between the C
 * library and our tables is replaced, because a wrong width would shift the row.
 */
#include "tui/screen.h"

#define NCURSES_NOMACROS 1
#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/palette.h"

#define PASTE_ON  "\033[?2004h"
#define PASTE_OFF "\033[?2004l"

struct screen {
	SCREEN *curses;
	FILE *file;
	struct grid shown;
	bool valid;                      /* the picture in shown is the one on the terminal */
	bool entered;
	bool colours;
};

static const short colour_numbers[COLOUR_CYAN + 1] = {
	[COLOUR_DEFAULT] = -1, [COLOUR_RED] = COLOR_RED, [COLOUR_GREEN] = COLOR_GREEN,
	[COLOUR_YELLOW] = COLOR_YELLOW, [COLOUR_BLUE] = COLOR_BLUE, [COLOUR_MAGENTA] = COLOR_MAGENTA,
	[COLOUR_CYAN] = COLOR_CYAN,
};

/*
 * Take what curses has written since the last call. Curses writes to the descriptor of the memory file, not through
 * stdio.
 */
static void take_output(struct screen *screen, struct buf *out)
{
	int fd = fileno(screen->file);
	struct stat stat;
	ssize_t got;

	fflush(screen->file);
	if (fstat(fd, &stat) < 0 || stat.st_size == 0)
		return;
	got = pread(fd, buf_reserve(out, (size_t)stat.st_size), (size_t)stat.st_size, 0);
	if (got > 0)
		out->len += (size_t)got;
	if (ftruncate(fd, 0) == 0)
		lseek(fd, 0, SEEK_SET);
}

static void start_colours(struct screen *screen)
{
	screen->colours = has_colors() && start_color() == OK;
	if (!screen->colours)
		return;
	use_default_colors();
	for (short colour = COLOUR_RED; colour <= COLOUR_CYAN; colour++)
		init_pair(colour, colour_numbers[colour], -1);
}

enum err screen_new(const char *term, int width, int height, struct screen **ret_screen, struct error *error)
{
	struct screen *screen;
	int fd = memfd_create("titan-screen", MFD_CLOEXEC);

	if (fd < 0)
		return error_system(error, errno, "can't make a memory file for the screen");
	screen = mem_zalloc(sizeof *screen);
	screen->file = fdopen(fd, "w+");
	set_escdelay(25);
	/*
	 * Remove LINES and COLUMNS, which curses would use on a terminal that reports no size, such as the Linux
	 * console; the size is set below.
	 */
	unsetenv("LINES");
	unsetenv("COLUMNS");
	screen->curses = newterm(term, screen->file, screen->file);
	if (!screen->curses || tigetstr("cup") == NULL || tigetstr("cup") == (char *)-1) {
		screen_free(screen);
		error_set(error, ERR_USAGE, "the terminal '%s' is unknown or can't move its cursor",
			term ? term : "");
		return error_next(error, "titan status");
	}
	resizeterm(height, width);
	start_colours(screen);
	leaveok(stdscr, false);
	curs_set(0);
	*ret_screen = screen;
	return ERR_NONE;
}

void screen_free(struct screen *screen)
{
	if (!screen)
		return;
	if (screen->curses) {
		endwin();
		delscreen(screen->curses);
	}
	if (screen->file)
		fclose(screen->file);
	grid_free(&screen->shown);
	mem_free(screen);
}

static attr_t curses_attributes(struct style style)
{
	attr_t attributes = A_NORMAL;

	if (style.attributes & STYLE_BOLD)
		attributes |= A_BOLD;
	if (style.attributes & STYLE_DIM)
		attributes |= A_DIM;
	if (style.attributes & STYLE_REVERSE)
		attributes |= A_REVERSE;
	if (style.attributes & STYLE_UNDERLINE)
		attributes |= A_UNDERLINE;
	return attributes;
}

/* The terminal's colour for a number of the palette + 1; 0: other, which stands for itself. */
static int colour_of(unsigned number, int other)
{
	if (number == 0)
		return other;
	return number - 1 < (unsigned)COLORS ? (int)number - 1 : (int)palette_ansi(number - 1);
}

static short pair_of(const struct screen *screen, struct style style)
{
	int pair;

	if (!screen->colours)
		return 0;
	if (style.fine == 0 && style.behind == 0)
		return style.colour;
	pair = alloc_pair(colour_of(style.fine, colour_numbers[style.colour]), colour_of(style.behind, -1));
	return pair > 0 && pair <= SHRT_MAX ? (short)pair : style.colour;
}

static void put_cell(const struct screen *screen, int y, int x, const struct cell *cell)
{
	struct slice left = slice_make(cell->text, cell->len);
	wchar_t wide[CCHARW_MAX + 1] = { 0 };
	size_t count = 0;
	cchar_t character;

	while (left.len > 0 && count < CCHARW_MAX) {
		uint32_t code;
		int width;
		size_t used = text_next(left, &code, &width);

		wide[count++] = (wchar_t)code;
		left = slice_make(left.data + used, left.len - used);
	}
	if (count == 0 || wcwidth(wide[0]) != cell->width) {
		wmemset(wide, 0, CCHARW_MAX + 1);
		wide[0] = L'?';
	}
	setcchar(&character, wide, curses_attributes(cell->style),
		 pair_of(screen, cell->style), NULL);
	mvadd_wch(y, x, &character);
	if (cell->width == 2 && wide[0] == L'?')
		mvaddch(y, x + 1, ' ');
}

/*
 * Set the scrolling region to the whole screen. Curses sets it once, for terminfo's size; after a change of size some
 * terminals don't scroll outside that region.
 */
static void whole_region(const struct grid *grid, struct buf *out)
{
	const char *set = tigetstr("csr");
	const char *bytes;

	if (!set || set == (const char *)-1 || grid->height < 2)
		return;
	bytes = tiparm(set, 0, grid->height - 1);
	if (bytes)
		buf_add_str(out, bytes);
}

void screen_render(struct screen *screen, const struct grid *grid, struct buf *out)
{
	if (screen->valid && grid_equal(&screen->shown, grid))
		return;
	set_term(screen->curses);
	if (grid->width != COLS || grid->height != LINES) {
		resizeterm(grid->height > 0 ? grid->height : 1, grid->width > 0 ? grid->width : 1);
		screen->valid = false;
	}
	if (!screen->valid)
		clearok(curscr, true);
	werase(stdscr);
	for (int y = 0; y < grid->height; y++) {
		for (int x = 0; x < grid->width; x++) {
			const struct cell *cell = grid_at(grid, x, y);
			bool blank = cell->len == 1 && cell->text[0] == ' ' && cell->style.attributes == 0 &&
				     cell->style.behind == 0;

			if (cell->width > 0 && !blank)
				put_cell(screen, y, x, cell);
		}
	}
	wnoutrefresh(stdscr);
	if (!screen->valid) {
		take_output(screen, out);        /* curses begins with a scrolling region, which is replaced next */
		whole_region(grid, out);
	}
	doupdate();
	if (!screen->entered) {
		curs_set(0);
		buf_add_str(out, PASTE_ON);
		screen->entered = true;
	}
	take_output(screen, out);
	grid_copy(&screen->shown, grid);
	screen->valid = true;
}

void screen_redraw(struct screen *screen)
{
	screen->valid = false;
}

void screen_leave(struct screen *screen, struct buf *out)
{
	set_term(screen->curses);
	endwin();
	take_output(screen, out);
	buf_add_str(out, PASTE_OFF);
	screen->valid = false;
	screen->entered = false;
}

struct slice screen_reset(void)
{
	/* Attributes off, default character set, no bracketed paste, cursor on, leave the alternate screen. */
	static const char bytes[] = "\033[m\017" PASTE_OFF "\033[?25h\033[?1049l\r\n";

	return slice_make(bytes, sizeof bytes - 1);
}
