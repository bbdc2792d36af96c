#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Each fuzz target for a while, from its corpus on, with libFuzzer and the sanitizers; a table of executions and findings.
# What was found stays in the directory that is named. Builds the targets with clang in fuzz-build/ below the build directory.
#
# usage: long.sh SECONDS [NAME...]

set -u
seconds=${1:-300}
shift
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
found=$PWD/fuzz-found
mkdir -p fuzz-build "$found"
command -v clang >/dev/null || { echo "clang isn't here: no libFuzzer"; exit 1; }
(
	cd fuzz-build || exit 1
	[ -e Makefile ] || "$source_dir/configure" CC=clang --enable-fuzz --enable-asan --enable-ubsan >configure.out 2>&1 ||
		{ tail -n 20 configure.out; exit 1; }
	make -s -j2 programs >make.out 2>&1 || { tail -n 20 make.out; exit 1; }
) || exit 1

bad=0
printf '%-10s| %7s| %12s| %9s| %8s\n' target seconds executions 'a second' findings
for source in "$source_dir"/tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	name=${name#fuzz_}
	[ $# = 0 ] || [[ " $* " = *" $name "* ]] || continue
	mkdir -p "$found/$name-corpus"
	"fuzz-build/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$found/$name-" "$found/$name-corpus" "$source_dir/tests/fuzz/corpus/$name" >"$found/$name.out" 2>&1
	findings=$(find "$found" -maxdepth 1 -name "$name-*" -type f | wc -l)
	awk -v name="$name" -v seconds="$seconds" -v findings="$findings" '
		/number_of_executed_units/ { units = $2 }
		/average_exec_per_sec/ { rate = $2 }
		END { printf "%-10s| %7d| %12d| %9d| %8d\n", name, seconds, units, rate, findings }' "$found/$name.out"
	[ "$findings" = 0 ] || bad=1
done
[ $bad = 0 ] || echo "what was found: $found"
exit $bad
