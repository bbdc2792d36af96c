# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

man_pages =
