# SPDX-License-Identifier: GPL-3.0-or-later
#
# Each header compiles alone, with nothing included before it, and twice in a row.

. "$(dirname "$0")/lib.sh"

compiler=${CC:-cc}
if ! command -v "${compiler%% *}" >/dev/null; then
	skip 'headers compile alone' "no compiler $compiler"
	finish
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$PWD
number=0
for header in $(tree_files | grep -E '^(src|proto|tui|tests)/.*\.h$'); do
	number=$((number + 1))
	printf '#include "%s"\n#include "%s"\nextern int nothing_%d;\n' "$tree/$header" "$tree/$header" $number \
		>"$scratch/$(echo "$header" | tr / _).c"
done
# ncursesw and others may want flags of their own: ask, don't guess
flags=$(pkg-config --cflags msgpack 2>/dev/null || pkg-config --cflags msgpack-c 2>/dev/null)
find "$scratch" -name '*.c' -print0 | xargs -0 -n 16 $compiler -std=c17 -D_GNU_SOURCE -DTITAN_VERSION='""' \
	-I"$tree" -I"$tree/src" -I"$tree/tests" $flags -Wall -Wextra -Werror -Wno-unused-function \
	-Wno-unused-const-variable -fsyntax-only 2>&1 |
	grep -E '(error|warning):' | sed "s,$tree/,," | verdict "each of $number headers compiles alone"
finish
