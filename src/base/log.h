/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of a daemon about itself, to stderr: "2026-11-18T14:02:09.120Z master info  text". Libraries
 * return errors; only owners (master, keeper, link, cli) log. The text is escaped on its way out. What a peer or a job can
 * cause as often as it likes goes through the *_limited forms. Where stderr is the daemon's own file, that is put aside
 * when it is large, and a new one begun.
 */
#ifndef TITAN_BASE_LOG_H
#define TITAN_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Said in titan-up(1): with what is kept, 32 MiB at most. Months of what a quiet cluster says, and enough to find a cause. */
#define LOG_FILE_MAX  ((size_t)8 << 20)
#define LOG_FILES     3                  /* kept beside the current one, as .1 (the newest) and so on */
/* Of one kind of line: enough to see what happens, 9 MB a day if it never ends. */
#define LOG_BURST     20                 /* lines at once */
#define LOG_REFILL_S  3                  /* for each one more */
#define LOG_SAMPLE    96                 /* bytes of the line that says what was left out */

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

struct log_limit {                       /* of one kind of line; static and zeroed, it lasts as long as the process */
	bool known;
	unsigned used;                   /* of the burst */
	int64_t refilled_ns;
	uint64_t left_out;
	enum log_level level;
	char sample[LOG_SAMPLE];         /* the beginning of the last that was written */
	struct log_limit *next;
};

void log_init(const char *who, enum log_level level);    /* who: a string constant */
/* If stderr is this file now: it is put aside when it has max bytes (0: LOG_FILE_MAX), by whichever process sees that. */
void log_to_file(const char *path, size_t max);
void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_write_limited(struct log_limit *limit, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void log_left_out(void);                                 /* says at once what limits left out: before the end */

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
