# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

gen_sources = \
	src/gen/commands.c \
	src/gen/enums.c \
	src/gen/gen.c \
	src/gen/gen.h \
	src/gen/page.c \
	src/gen/protocol.c \
	src/gen/settings.c \
	src/gen/states.c

gen_other = \
	src/gen/README.md
