# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

store_sources = \
	src/store/backup.c \
	src/store/backup.h \
	src/store/ballast.c \
	src/store/ballast.h \
	src/store/database.c \
	src/store/database.h \
	src/store/gather.c \
	src/store/gather.h \
	src/store/job_names.c \
	src/store/ladder.c \
	src/store/ladder.h \
	src/store/mark.c \
	src/store/mark.h \
	src/store/migrate.c \
	src/store/past.c \
	src/store/past.h \
	src/store/past_body.c \
	src/store/past_replay.c \
	src/store/read.c \
	src/store/read_events.c \
	src/store/restore.c \
	src/store/ring.c \
	src/store/ring.h \
	src/store/store.c \
	src/store/store.h \
	src/store/tables.c \
	src/store/tables.h \
	src/store/thread.c \
	src/store/thread.h \
	src/store/trailer.c \
	src/store/trailer.h \
	src/store/write.c

store_other = \
	src/store/README.md \
	src/store/frozen.def \
	src/store/steps.def
