#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Where the time of a job and the bytes of a commit go: processor time, calls of read and write and bytes of each of
# our processes, and what the store made of it, for each of many jobs "true". For people: see share/doc/profile.md.
# With -b instead: which tables the pages belong to that commits write (needs strace and sqlite3).
#
# usage: profile.sh [-b] [-n JOBS] BUILD-DIRECTORY
set -eu

jobs=10000
bytes=no
while getopts bn: option; do
	case $option in
	b) bytes=yes ;;
	n) jobs=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
titan=$(cd "${1:?usage: profile.sh [-b] [-n JOBS] BUILD-DIRECTORY}" && pwd)/titan
dir=$(mktemp -d "${TMPDIR:-/tmp}/titan-profile.XXXXXX")
export TITAN_STATE=$dir/state NO_COLOR=1
trap '"$titan" -y down >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
declare -A before

ticks_us=$((1000000 / $(getconf CLK_TCK)))
cpu_us() { awk -v t="$ticks_us" '{ print $14 * t, $15 * t }' "/proc/$1/stat"; }
children_us() { awk -v t="$ticks_us" '{ print ($16 + $17) * t }' "/proc/$1/stat"; }
io_of() { awk '/^(syscr|syscw|wchar):/ { printf "%s ", $2 }' "/proc/$1/io"; }
metric() { "$titan" metrics --plain | awk -F'\t' -v name="$1" '$1 == name { print $3; exit }'; }
spent() { cpu_us "$1"; io_of "$1"; }

"$titan" up --slots 2 >/dev/null
yes true | head -n 500 | "$titan" run --lines -w >/dev/null      # until it knows how long they take
master=$("$titan" --json status | sed -E 's/.*"master":\{"pid":([0-9]+).*/\1/')
keeper=$("$titan" --json status | sed -E 's/.*"workers":\[[^]]*"pid":([0-9]+).*/\1/')
link=$(pgrep -P "$keeper" -f link | head -n 1)

# A frame of the write-ahead log is a header of 24 bytes, its first four the page's number, and a page behind it.
if [ $bytes = yes ]; then
	strace -f -qq -e trace=pwrite64,fdatasync -xx -s 4 -o "$dir/writes" -p "$master" &
	tracer=$!
	until [ "$(awk '/^TracerPid/ { print $2 }' "/proc/$master/status")" != 0 ]; do sleep 0.02; done
	yes true | head -n "$jobs" | "$titan" run --lines -w >/dev/null
	kill -INT $tracer
	wait $tracer || true
	"$titan" -y down >/dev/null
	sqlite3 -separator ' ' "$TITAN_STATE"/default/titan.db 'SELECT pageno, name FROM dbstat' >"$dir/pages"
	printf '%-16s %16s %16s\n' 'pages of' 'in a commit' 'bytes a job'
	awk -v jobs="$jobs" 'function byte(hex) { return 16 * digit(substr(hex, 1, 1)) + digit(substr(hex, 2, 1)) }
		function digit(c) { return index("123456789abcdef", c) }
		NR == FNR { name[$1] = $2; next }
		/fdatasync/ && !/resumed/ { commits++ }
		/, 24, / { split($0, part, "\""); split(part[2], hex, "\\\\x"); page = 0
			for (i = 2; i <= 5; i++) page = page * 256 + byte(hex[i])
			pages[page in name ? name[page] : "other"]++ }
		END { for (table in pages) printf "%-16s %16.2f %16.0f\n", table, pages[table] / commits, pages[table] * 4120 / jobs }
	' "$dir/pages" "$dir/writes" | sort -k 3,3nr
	exit
fi
for name in master keeper link; do before[$name]=$(spent "${!name}" | tr '\n' ' '); done
for name in commits rows rows_replaced; do before[$name]=$(metric $name); done
before[jobs]=$(children_us "$keeper")
from=$(date +%s%N)
yes true | head -n "$jobs" | "$titan" run --lines -w >/dev/null
took=$(($(date +%s%N) - from))

printf '%s jobs in %s ms: %s a second\n\n' "$jobs" $((took / 1000000)) $((jobs * 1000000000 / took))
printf '%-10s %10s %10s %10s %10s %12s   (each job)\n' process 'user us' 'system us' reads writes 'bytes out'
for name in master keeper link; do
	echo "$name ${before[$name]} $(spent "${!name}" | tr '\n' ' ')" | awk -v n="$jobs" '{
		printf "%-10s %10.1f %10.1f %10.2f %10.2f %12.0f\n", $1, ($7 - $2) / n, ($8 - $3) / n, ($10 - $5) / n, ($11 - $6) / n, ($9 - $4) / n }'
done
printf '%-10s %21.1f\n' 'the jobs' "$(awk -v a="${before[jobs]}" -v b="$(children_us "$keeper")" -v n="$jobs" 'BEGIN { print (b - a) / n }')"
printf '\n%-24s %8.2f\n' 'jobs a commit' "$(awk -v n="$jobs" -v a="${before[commits]}" -v b="$(metric commits)" 'BEGIN { print n / (b - a) }')"
printf '%-24s %8.2f\n' 'rows a job' "$(awk -v n="$jobs" -v a="${before[rows]}" -v b="$(metric rows)" 'BEGIN { print (b - a) / n }')"
printf '%-24s %8.2f\n' 'of them not written' "$(awk -v n="$jobs" -v a="${before[rows_replaced]}" -v b="$(metric rows_replaced)" 'BEGIN { print (b - a) / n }')"
"$titan" metrics | grep -E '^(stall|commit|job_run) '
