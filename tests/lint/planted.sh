# SPDX-License-Identifier: GPL-3.0-or-later
#
# A planted bug has a line in tests/sim/planted.def and a point in the core or the ledger, under the same name.

. "$(dirname "$0")/lib.sh"

table=tests/sim/planted.def
names=$(sed -nE 's/^BUG\(([a-z0-9_]+), ".+"\)$/\1/p' $table)
points=$(perl tests/lint/strip-c $(c_files; tree_files | grep -E '^src/core/.*\.def$') | grep -v '^src/base/planted\.h:' |
	grep -oE '^[^:]*:[0-9]+|\bPLANTED\([^)]*\)' | awk '/^PLANTED/ { print at ": " $0 } { if (!/^PLANTED/) at = $0 }')

grep -E '^[A-Z]+ *\(' $table | grep -vE '^BUG\([a-z0-9_]+, "[^"]+"\)$' | verdict "a line of $table is BUG(name, \"what\")"
printf '%s\n' "$names" | sort -cu 2>&1 | verdict "the bugs of $table are in the order of the alphabet, none twice"
printf '%s\n' "$points" | grep -vE '^src/(core/|worker/ledger)' | grep . |
	verdict 'points of planted bugs are in the core and the ledger alone'
printf '%s\n' "$names" | while read -r name; do
	printf '%s\n' "$points" | grep -q "PLANTED($name)" || echo "$table: $name has no PLANTED($name) in the core"
done | verdict 'each planted bug has its point'
printf '%s\n' "$points" | sed -nE 's/^(.*): PLANTED\((.*)\)$/\1 \2/p' | while read -r place name; do
	printf '%s\n' "$names" | grep -qx "$name" || echo "$place: $name isn't in $table"
done | verdict 'each point has its bug'
grep -oE 'planted `[a-z0-9_*]+`(, `[a-z0-9_*]+`)*' share/doc/promises.md | grep -oE '`[^`]+`' | tr -d '`' |
	while read -r name; do
		printf '%s\n' "$names" | grep -qx "${name//\*/.*}" || echo "share/doc/promises.md: there is no planted bug $name"
	done | verdict 'each planted bug that promises.md names is there'
finish
