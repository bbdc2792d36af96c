/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of a daemon about itself, to stderr: "2026-11-18T14:02:09.120Z master info  text". Libraries
 * return errors; only owners (master, keeper, link, cli) log. The text is escaped on its way out.
 */
#ifndef TITAN_BASE_LOG_H
#define TITAN_BASE_LOG_H

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_init(const char *who, enum log_level level);    /* who: a string constant */
void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)  log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
