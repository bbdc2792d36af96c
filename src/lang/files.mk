# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

lang_sources = \
	src/lang/conf.c \
	src/lang/conf.h \
	src/lang/conf_people.c \
	src/lang/dag_expr.c \
	src/lang/dag_expr.h \
	src/lang/dag_expr_ask.c \
	src/lang/dag_expr_code.c \
	src/lang/dag_expr_internal.h \
	src/lang/dag_expr_value.c \
	src/lang/dagline.c \
	src/lang/dagline.h \
	src/lang/dagline_assign.c \
	src/lang/dagline_finish.c \
	src/lang/dagline_internal.h \
	src/lang/dagline_job.c \
	src/lang/dagline_lex.c \
	src/lang/dagline_old.c \
	src/lang/demand.c \
	src/lang/demand.h \
	src/lang/expr.h \
	src/lang/expr_check.c \
	src/lang/expr_code.c \
	src/lang/expr_parse.c \
	src/lang/failure.c \
	src/lang/failure.h \
	src/lang/faults.c \
	src/lang/faults.h \
	src/lang/label.c \
	src/lang/label.h \
	src/lang/log_max.c \
	src/lang/log_max.h \
	src/lang/pattern.c \
	src/lang/pattern.h \
	src/lang/pipeline.c \
	src/lang/pipeline.h \
	src/lang/pipeline_axes.c \
	src/lang/pipeline_code.c \
	src/lang/pipeline_fan.c \
	src/lang/pipeline_files.c \
	src/lang/pipeline_form.c \
	src/lang/pipeline_include.c \
	src/lang/pipeline_internal.h \
	src/lang/pipeline_job.c \
	src/lang/pipeline_loop.c \
	src/lang/pipeline_matrix.c \
	src/lang/pipeline_matrix.h \
	src/lang/pipeline_needs.c \
	src/lang/pipeline_place.c \
	src/lang/pipeline_retry.c \
	src/lang/pipeline_schedule.c \
	src/lang/pipeline_service.c \
	src/lang/pipeline_share.c \
	src/lang/pipeline_shell.c \
	src/lang/pipeline_sub.c \
	src/lang/pipeline_template.c \
	src/lang/pipeline_text.c \
	src/lang/pipeline_tree.c \
	src/lang/pipeline_tree.h \
	src/lang/pipeline_unknown.c \
	src/lang/pipeline_value.c \
	src/lang/pipeline_write.c \
	src/lang/pipeline_write.h \
	src/lang/pipeline_write_fan.c \
	src/lang/pipeline_write_job.c \
	src/lang/shell_place.c \
	src/lang/shell_place.h \
	src/lang/spec_compare.c \
	src/lang/spec_graph.h \
	src/lang/yaml_text.c \
	src/lang/yaml_text.h \
	src/lang/zone.c \
	src/lang/zone.h

lang_other = \
	src/lang/README.md \
	src/lang/conf.def \
	src/lang/expr_words.def
