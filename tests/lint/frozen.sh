# SPDX-License-Identifier: GPL-3.0-or-later
#
# The tables of a version stay as they are: stores of it are out there. The tables of rows.def are those of the newest
# version, and each version has a store in tests/fixtures.

. "$(dirname "$0")/lib.sh"

frozen=src/store/frozen.def
versions=$(sed -n 's/^VERSION(\([0-9]*\),.*/\1/p' $frozen)
newest=$(printf '%s\n' "$versions" | tail -n 1)

block() { # VERSION: its OBJECT lines
	sed -n "/^OBJECT($1,/,/\")\$/p" $frozen
}

[ "$versions" = "$(seq "$newest")" ] || echo "$frozen: the versions aren't 1 to $newest, in this order"
for version in $versions; do
	sum=$(block "$version" | sha256sum)
	grep -q "^VERSION($version, \"${sum%% *}\")\$" $frozen || {
		echo "$frozen: version $version was changed, and stores of it are in use"
		echo "to change a table: git checkout $frozen, then add a STEP to src/store/steps.def, then make freeze"
	}
done | verdict 'the tables of each version are as they were frozen'

{
	(cd tests/fixtures && sha256sum -c --quiet stores.sums 2>&1) | grep -v WARNING
	for version in $versions; do
		grep -q "  store-$version\\.sql\$" tests/fixtures/stores.sums ||
			echo "tests/fixtures/store-$version.sql isn't in tests/fixtures/stores.sums (tests/fixtures/make-store)"
	done
} | verdict 'each version has its store in tests/fixtures, unchanged'

generator=${TITAN_GEN:-${TITAN_BUILDDIR:-build}/titan-gen}
if [ ! -x "$generator" ]; then
	skip 'the tables of rows.def are frozen' 'no titan-gen yet'
	finish
fi
now=$("$generator" frozen)
version=$(printf '%s\n' "$now" | sed -n '1s/^OBJECT(\([0-9]*\),.*/\1/p')
{
	if [ "$version" != "$newest" ]; then
		echo "version $version of the tables isn't frozen: make freeze"
	elif [ "$now" != "$(block "$version")" ]; then
		diff <(block "$version") <(printf '%s\n' "$now") | grep '^[<>]'
		echo "the tables of src/core/rows/rows.def aren't those of version $version, which is frozen"
		echo "add STEP($((version + 1)), \"what is new\") to src/store/steps.def, then run make generate freeze"
	fi
} | verdict 'the tables of rows.def are frozen as the newest version'
finish
