# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every file of the tree is known to the build: the files.mk say what lies in their folders, and whatever
# is in the tree is named in one of them, in Makefile.am, or lies in a directory named there.

. "$(dirname "$0")/lib.sh"

tests/list-sources 2>&1 | verdict 'the files.mk are up to date (tests/list-sources --write)'

words=$(mktemp)
trap 'rm -f "$words"' EXIT
cat Makefile.am $(tree_files | grep '\.mk$') | tr -s ' \t\\' '\n' | sort -u >"$words"
{
	cat "$words"
	echo Makefile.am
	echo configure.ac
	tree_files | grep '\.mk$'
} | sort -u -o "$words"

known() { # PATH: itself or a directory above it is named
	local path=$1
	while :; do
		grep -qxF -e "$path" "$words" && return 0
		case $path in
		*/*) path=${path%/*} ;;
		*) return 1 ;;
		esac
	done
}

tree_files | while IFS= read -r file; do
	known "$file" || echo "$file: in no files.mk and not in Makefile.am"
done | verdict 'every file is part of the build and of the tarball'

grep -E '^(src|proto|tui|tests|man|share)/.*\.[a-z0-9]+$' "$words" | while IFS= read -r file; do
	[ -e "$file" ] || echo "$file: named, but not there"
done | verdict 'every file that is named exists'
finish
