# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

tui_sources = \
	tui/app.c \
	tui/app.h \
	tui/app_draw.c \
	tui/app_keys.c \
	tui/app_load.c \
	tui/app_send.c \
	tui/cells.c \
	tui/cells.h \
	tui/dag_reasons.c \
	tui/dialog_act.c \
	tui/dialog_gate.c \
	tui/fold.c \
	tui/fold.h \
	tui/input.c \
	tui/input.h \
	tui/keys.c \
	tui/keys.h \
	tui/lane_graph.c \
	tui/lane_graph.h \
	tui/lanes.c \
	tui/lanes.h \
	tui/line_edit.c \
	tui/line_edit.h \
	tui/list.c \
	tui/list.h \
	tui/log_read.c \
	tui/log_search.c \
	tui/log_tries.c \
	tui/log_window.c \
	tui/log_window.h \
	tui/model.c \
	tui/model.h \
	tui/model_gates.c \
	tui/model_internal.h \
	tui/model_letters.c \
	tui/model_load.c \
	tui/model_rows.c \
	tui/palette.c \
	tui/palette.h \
	tui/program_text.c \
	tui/run_reason.c \
	tui/screen.c \
	tui/screen.h \
	tui/theme.c \
	tui/theme.h \
	tui/tty.c \
	tui/tty.h \
	tui/view_approvals.c \
	tui/view_dag.c \
	tui/view_dag_act.c \
	tui/view_dag_draw.c \
	tui/view_help.c \
	tui/view_home.c \
	tui/view_home_cluster.c \
	tui/view_home_needs.c \
	tui/view_job.c \
	tui/view_log.c \
	tui/view_output.c \
	tui/view_runs.c \
	tui/view_table.c \
	tui/view_workers.c \
	tui/views.h

tui_other = \
	tui/README.md \
	tui/acts.def \
	tui/keys.def \
	tui/looks.def \
	tui/views.def
