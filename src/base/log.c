/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines to stderr, each in one write, so that lines of several threads don't mix. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"

#define LOG_LINE_MAX 4096

static const char *log_who = "titan";
static enum log_level log_most = LOG_LEVEL_INFO;
static const char *const level_names[] = { "error", "warn", "info", "debug" };

void log_init(const char *who, enum log_level level)
{
	log_who = who;
	log_most = level;
}

void log_write(enum log_level level, const char *format, ...)
{
	char text[LOG_LINE_MAX], stamp[CLOCK_TEXT_SIZE];
	struct buf line = { 0 };
	va_list args;
	int len;

	if (level > log_most)
		return;
	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len < 0)
		len = 0;
	if ((size_t)len >= sizeof(text))
		len = sizeof(text) - 1;
	buf_addf(&line, "%s %s %-5s ", clock_format_utc(clock_wall_ms(), stamp), log_who, level_names[level]);
	text_escape(&line, slice_make(text, (size_t)len), TEXT_KEEP_NONE);
	buf_add_byte(&line, '\n');
	/* nobody is left to tell when stderr is closed */
	(void)io_write_all(STDERR_FILENO, line.data, line.len);
	buf_free(&line);
}
