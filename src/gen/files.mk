# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

gen_sources = \
	src/gen/gen.c \
	src/gen/gen.h \
	src/gen/gen_before.c \
	src/gen/gen_commands.c \
	src/gen/gen_enums.c \
	src/gen/gen_page.c \
	src/gen/gen_protocol.c \
	src/gen/gen_schema.c \
	src/gen/gen_settings.c \
	src/gen/gen_states.c

gen_other = \
	src/gen/README.md
