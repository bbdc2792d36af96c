# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

goods_sources = \
	src/goods/blobs.c \
	src/goods/blobs.h \
	src/goods/blobs_internal.h \
	src/goods/folder.h \
	src/goods/folder_read.c \
	src/goods/folder_write.c \
	src/goods/manifest.c \
	src/goods/manifest.h \
	src/goods/pack.c \
	src/goods/part.c

goods_other = \
	src/goods/README.md
