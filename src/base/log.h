/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Log lines of a daemon, to stderr: "2026-11-18T14:02:09.120Z master info text". Libraries return errors; only master,
 * keeper, link and cli log. Text is escaped. Lines that a peer or a job can cause any number of times use the *_limited
 * forms. If stderr is the daemon's own file, it is renamed when it gets large, and a new one is begun.
 */
#ifndef TITAN_BASE_LOG_H
#define TITAN_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With the old files that are kept, 32 MiB at most, as titan-up(1) says: months of a quiet cluster. */
#define LOG_FILE_MAX  ((size_t)8 << 20)
#define LOG_FILES     3                  /* number of old files kept, as .1 (the newest) and so on */
/* Limits for one kind of line: enough to see what happens, and 9 MB a day if it never ends. */
#define LOG_BURST     20                 /* lines of one kind that may be logged at once */
#define LOG_REFILL_S  3                  /* seconds until one more line is allowed */
#define LOG_SAMPLE    96                 /* most bytes quoted in the line that reports omitted lines */

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Limit of one kind of line; static and zeroed, used as long as the process lives. */
struct log_limit {
	bool known;
	unsigned used;                   /* number of lines of the burst that were used */
	int64_t refilled_ns;
	uint64_t left_out;
	enum log_level level;
	char sample[LOG_SAMPLE];         /* the beginning of the last line that was written */
	struct log_limit *next;
};

/* who: the program's name in each line, a string constant */
void log_init(const char *who, enum log_level level);
/* If stderr is this file, rename it when it has max bytes (0: LOG_FILE_MAX). The process that notices first does it. */
void log_to_file(const char *path, size_t max);
void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_write_limited(struct log_limit *limit, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Log at once how many lines were omitted; call it before the process ends. */
void log_left_out(void);

#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)  log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

#define LOG_LIMITED(level, ...)                                       \
	do {                                                          \
		static struct log_limit limit_;                       \
		log_write_limited(&limit_, level, __VA_ARGS__);       \
	} while (0)
#define log_error_limited(...) LOG_LIMITED(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn_limited(...)  LOG_LIMITED(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info_limited(...)  LOG_LIMITED(LOG_LEVEL_INFO, __VA_ARGS__)

#endif
