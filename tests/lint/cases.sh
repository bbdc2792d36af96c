# SPDX-License-Identifier: GPL-3.0-or-later
#
# Each case of share/doc/cases.md has the test that it names.

. "$(dirname "$0")/lib.sh"

rows() {
	sed -nE 's/^\|[^|]*\| *`([^`]+)` *\| *`([^`]+)` *\|$/\1	\2/p' share/doc/cases.md
}

rows | while IFS='	' read -r file name; do
	case $file in
	*.c) pattern="^TEST $name\\(" ;;
	*) pattern="^(exits|ok|is|like|unlike) [\"']$(printf '%s' "$name" | sed 's/[.()]/\\&/g')" ;;
	esac
	grep -Eq "$pattern" "tests/$file" || echo "tests/$file: no test '$name'"
done | verdict 'every case of scheduling has its test'

grep '^|' share/doc/cases.md | grep -vE '^\|---|^\| (Case|Mistake) \||^\|[^|]*\| *`[^`]+` *\| *`[^`]+` *\|$' |
	verdict 'and every row has a file and a name'
finish
