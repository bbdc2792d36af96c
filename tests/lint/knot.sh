# SPDX-License-Identifier: GPL-3.0-or-later
#
# Core's largest knot: the objects of src/core that need each other in a circle, each by way of the others, told from the
# symbols of what was built. The table of hooks (src/core/life/hooks.def) names every part that a job's move concerns;
# its arrows are told apart and not counted. The knot may only shrink: lower the number when it has.

. "$(dirname "$0")/lib.sh"

largest=8
table=src/core/life/hooks

build=${TITAN_BUILDDIR:-build}
objects=
for source in $(sed -n 's/^	\(src\/core\/.*\)\.c.*/\1/p' src/core/files.mk); do
	[ -f "$build/$source.o" ] || { objects=; break; }
	objects="$objects $build/$source.o"
done
if [ -z "$objects" ] || ! command -v nm >/dev/null; then
	skip "no more than $largest objects of core need each other in a circle" 'no objects, or no nm'
	finish
fi

# OBJECT SYMBOL KIND, KIND being U where the symbol is only needed
found=$(nm -A -g -P $objects | sed -e "s,^$build/,," -e 's/\.o://' | awk -v table=$table '
	{ object[$1] = 1 }
	$3 == "U" { needs[$1, $2] = $2; next }
	{ home[$2] = $1 }
	END {
		for (need in needs) {
			split(need, pair, SUBSEP)
			from = pair[1]
			to = home[needs[need]]
			if (to == "" || to == from)
				continue
			if (from == table) { apart++; continue }
			if (!((from, to) in reach)) { reach[from, to] = 1; arrows++ }
		}
		for (by in object)
			for (from in object)
				if ((from, by) in reach)
					for (to in object)
						if ((by, to) in reach)
							reach[from, to] = 1
		for (one in object) {
			size = 0
			names = ""
			for (other in object)
				if ((one, other) in reach && (other, one) in reach) { size++; names = names " " other }
			if (size > most) { most = size; knot = names }
			count++
		}
		printf "%d %d %d %d%s\n", most, count, arrows, apart, knot
	}')
read -r most count arrows apart knot <<<"$found"
echo "# the largest knot of core has $most of its $count objects ($arrows arrows, and $apart of the table of hooks):"
printf '%s\n' $knot | sort | sed 's,^src/core/,#   ,'
[ "$most" -ge "$largest" ] || echo "# it has shrunk: lower the number in tests/lint/knot.sh from $largest to $most"
{
	if [ "$most" -gt "$largest" ]; then
		echo "$most objects need each other in a circle, $largest did: the new arrow goes from a part below to one above;"
		echo "move the function to where it belongs, pass in what is needed, or give the part a row in $table.def"
	fi
} | verdict "no more than $largest objects of core need each other in a circle"
finish
