# SPDX-License-Identifier: GPL-3.0-or-later
#
# Replays the corpus of each fuzz target: tests/fuzz/corpus/NAME goes through fuzz_NAME. A target without
# a corpus is a failure, and so is a corpus without a target.

set -u
corpus=$TITAN_SRCDIR/tests/fuzz/corpus
number=0
failed=0

say() { # STATUS TEXT
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number - $2"
	else
		echo "not ok $number - $2"
		failed=1
	fi
}

for source in "$TITAN_SRCDIR"/tests/fuzz/fuzz_*.c; do
	[ -e "$source" ] || continue
	name=$(basename "$source" .c)
	inputs=$(find "$corpus/${name#fuzz_}" -type f 2>/dev/null | wc -l)
	if [ "$inputs" = 0 ]; then
		say 1 "$name has no corpus in tests/fuzz/corpus/${name#fuzz_}"
		continue
	fi
	# libFuzzer would write what it finds into its first directory: it gets one of ours
	mkdir -p found
	output=$("$TITAN_BUILDDIR/tests/fuzz/$name" -runs=0 -timeout=10 found "$corpus/${name#fuzz_}" 2>&1)
	status=$?
	[ $status = 0 ] || printf '%s\n' "$output" | tail -n 60 | sed 's/^/# /'
	say $status "$name takes its $inputs inputs"
done
for directory in "$corpus"/*/; do
	[ -d "$directory" ] || continue
	name=$(basename "$directory")
	[ -e "$TITAN_SRCDIR/tests/fuzz/fuzz_$name.c" ] || say 1 "tests/fuzz/corpus/$name has no target"
done
[ $number != 0 ] || { echo '1..0 # SKIP there are no fuzz targets'; exit 0; }
echo "1..$number"
exit $failed
