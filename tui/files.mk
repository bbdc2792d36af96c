# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

tui_sources = \
	tui/app.c \
	tui/app.h \
	tui/app_draw.c \
	tui/app_keys.c \
	tui/app_send.c \
	tui/cells.c \
	tui/cells.h \
	tui/dag.c \
	tui/dag_draw.c \
	tui/decide.c \
	tui/fold.c \
	tui/fold.h \
	tui/help.c \
	tui/home.c \
	tui/home_cluster.c \
	tui/home_needs.c \
	tui/input.c \
	tui/input.h \
	tui/job.c \
	tui/keys.c \
	tui/keys.h \
	tui/lanes.c \
	tui/lanes.h \
	tui/log.c \
	tui/model.c \
	tui/model.h \
	tui/model_internal.h \
	tui/model_rows.c \
	tui/screen.c \
	tui/screen.h \
	tui/theme.c \
	tui/theme.h \
	tui/tty.c \
	tui/tty.h \
	tui/view.h \
	tui/workers.c

tui_other = \
	tui/README.md \
	tui/keys.def
