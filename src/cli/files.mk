# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

cli_sources = \
	src/cli/act.h \
	src/cli/ask.c \
	src/cli/cli.c \
	src/cli/cli.h \
	src/cli/cmd_act.c \
	src/cli/cmd_cancel.c \
	src/cli/cmd_dash.c \
	src/cli/cmd_demo.c \
	src/cli/cmd_dlq.c \
	src/cli/cmd_explain.c \
	src/cli/cmd_logs.c \
	src/cli/cmd_look.c \
	src/cli/cmd_metrics.c \
	src/cli/cmd_people.c \
	src/cli/cmd_pipeline.c \
	src/cli/cmd_rest.c \
	src/cli/cmd_run.c \
	src/cli/cmd_serve.c \
	src/cli/cmd_store.c \
	src/cli/cmd_up.c \
	src/cli/cmd_wait.c \
	src/cli/complete.c \
	src/cli/complete.h \
	src/cli/daemon.c \
	src/cli/dagline.c \
	src/cli/dagline.h \
	src/cli/dagline_assign.c \
	src/cli/dagline_finish.c \
	src/cli/dagline_internal.h \
	src/cli/dagline_job.c \
	src/cli/dagline_lex.c \
	src/cli/dash.c \
	src/cli/dash.h \
	src/cli/dash_link.c \
	src/cli/dash_link.h \
	src/cli/decisions.c \
	src/cli/decisions.h \
	src/cli/demo.h \
	src/cli/demo_check.c \
	src/cli/demo_stage.c \
	src/cli/failure.c \
	src/cli/failure.h \
	src/cli/follow.c \
	src/cli/follow.h \
	src/cli/follow_internal.h \
	src/cli/follow_show.c \
	src/cli/help.c \
	src/cli/help.h \
	src/cli/invocation.c \
	src/cli/json.c \
	src/cli/json.h \
	src/cli/load.c \
	src/cli/load.h \
	src/cli/logread.c \
	src/cli/logread.h \
	src/cli/look.c \
	src/cli/options.c \
	src/cli/options.h \
	src/cli/pipeline.c \
	src/cli/pipeline.h \
	src/cli/pipeline_internal.h \
	src/cli/pipeline_job.c \
	src/cli/pipeline_matrix.c \
	src/cli/pipeline_matrix.h \
	src/cli/pipeline_needs.c \
	src/cli/pipeline_retry.c \
	src/cli/pipeline_tree.c \
	src/cli/pipeline_tree.h \
	src/cli/pipeline_value.c \
	src/cli/plan.c \
	src/cli/process.c \
	src/cli/process.h \
	src/cli/records.c \
	src/cli/records.h \
	src/cli/rows.c \
	src/cli/rows.h \
	src/cli/submit.c \
	src/cli/submit.h \
	src/cli/up.h

cli_other = \
	src/cli/README.md
