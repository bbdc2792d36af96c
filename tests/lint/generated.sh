# SPDX-License-Identifier: GPL-3.0-or-later
#
# What is generated from the tables and kept in the tree is what the tables say now.

. "$(dirname "$0")/lib.sh"

generator=${TITAN_GEN:-${TITAN_BUILDDIR:-build}/titan-gen}
if [ ! -x "$generator" ]; then
	skip 'generated files' 'no titan-gen yet'
	finish
fi
generator=$(realpath "$generator")
TITAN_GEN=$generator bash tests/generate 2>&1 | verdict 'generated files are what the tables say'

commands() {
	sed -n 's/^COMMAND([a-z_]*, "\([a-z]*\)".*/\1/p' proto/commands.def | sort
}

pages() { # titan-static is a program of its own
	ls man/titan-*.1 | sed 's,^man/titan-\(.*\)\.1$,\1,' | grep -vx static | sort
}

diff <(commands) <(pages) | grep '^[<>]' |
	verdict 'every command has a manual page, and every page a command'
finish
