# SPDX-License-Identifier: GPL-3.0-or-later
#
# What is generated from the tables and kept in the tree is what the tables say now.

. "$(dirname "$0")/lib.sh"

generator=${TITAN_GEN:-${TITAN_BUILDDIR:-build}/titan-gen}
if [ ! -x "$generator" ]; then
	skip 'generated files' 'no titan-gen yet'
	finish
fi
finish
