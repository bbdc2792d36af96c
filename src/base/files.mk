# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

base_sources = \
	src/base/arena.c \
	src/base/arena.h \
	src/base/blob.c \
	src/base/blob.h \
	src/base/buf.c \
	src/base/buf.h \
	src/base/check.c \
	src/base/check.h \
	src/base/clock.c \
	src/base/clock.h \
	src/base/cron.c \
	src/base/cron.h \
	src/base/glob.c \
	src/base/glob.h \
	src/base/histogram.c \
	src/base/histogram.h \
	src/base/host.c \
	src/base/host.h \
	src/base/io.c \
	src/base/io.h \
	src/base/io_remove.c \
	src/base/log.c \
	src/base/log.h \
	src/base/map.c \
	src/base/map.h \
	src/base/mem.c \
	src/base/mem.h \
	src/base/mounts.c \
	src/base/mounts.h \
	src/base/planted.h \
	src/base/rand.c \
	src/base/rand.h \
	src/base/sha256.c \
	src/base/sha256.h \
	src/base/slice.h \
	src/base/statedir.c \
	src/base/statedir.h \
	src/base/text.c \
	src/base/text.h \
	src/base/text_escape.c \
	src/base/text_internal.h \
	src/base/text_json.c \
	src/base/text_split.c \
	src/base/text_width.c \
	src/base/when.c \
	src/base/when.h

base_other = \
	src/base/README.md
