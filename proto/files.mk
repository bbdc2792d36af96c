# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

proto_sources = \
	proto/commands.c \
	proto/commands.h \
	proto/dead.c \
	proto/dead.h \
	proto/error.c \
	proto/error.h \
	proto/expr.c \
	proto/expr.h \
	proto/expr_value.c \
	proto/expr_value.h \
	proto/form.c \
	proto/form.h \
	proto/frame.c \
	proto/frame.h \
	proto/input.c \
	proto/input.h \
	proto/job_output.c \
	proto/job_output.h \
	proto/label.c \
	proto/label.h \
	proto/limits.h \
	proto/message.h \
	proto/message_decode.c \
	proto/message_encode.c \
	proto/message_print.c \
	proto/message_table.c \
	proto/metrics.c \
	proto/metrics.h \
	proto/output_text.c \
	proto/output_text.h \
	proto/pack.c \
	proto/pack.h \
	proto/reasons.c \
	proto/reasons.h \
	proto/resource.c \
	proto/resource.h \
	proto/rights.c \
	proto/rights.h \
	proto/spec.c \
	proto/spec.h \
	proto/states.c \
	proto/states.h \
	proto/value_name.h \
	proto/version.c \
	proto/version.h

proto_other = \
	proto/README.md \
	proto/before.def \
	proto/commands.def \
	proto/dead.def \
	proto/enums.def \
	proto/errors.def \
	proto/guesses.def \
	proto/kinds.def \
	proto/limits.def \
	proto/messages.def \
	proto/metrics.def \
	proto/reasons.def \
	proto/rights.def \
	proto/sight.def \
	proto/spec.def \
	proto/states.def
