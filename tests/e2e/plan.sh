# SPDX-License-Identifier: GPL-3.0-or-later
# A dry run shows what a graph would run, one row per job, in memory that doesn't grow with the fan-out.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip_all "no python3"

# A sanitizer keeps what was freed for a while.
export ASAN_OPTIONS="${ASAN_OPTIONS-}:quarantine_size_mb=1"

# The most memory, in MiB, that a command took, on the last line behind what it printed.
cat >"$test_dir/peak" <<'END'
import resource, subprocess, sys
lines = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.count(b"\n")
print(lines, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
END
mib() { python3 "$test_dir/peak" "$@" | cut -d ' ' -f 2; }
graph() { echo "a*$1; a='echo hi'"; }

is "a table has a row for each job" "$(python3 "$test_dir/peak" "$TITAN" run -n -e "$(graph 300000)" | cut -d ' ' -f 1)" 300001
for style in --plain --json; do
	small=$(mib "$TITAN" $style run -n -e "$(graph 1000)")
	large=$(mib "$TITAN" $style run -n -e "$(graph 300000)")
	ok "$style: 300,000 jobs take $large MiB, a thousand $small" [ "$large" -lt $((small + 40)) ]
done
small=$(mib "$TITAN" run -n -e "$(graph 1000)")
large=$(mib "$TITAN" run -n -e "$(graph 300000)")
ok "a table of 300,000 jobs takes $large MiB, one of a thousand $small" [ "$large" -lt $((small + 40)) ]
is "its columns are as wide as the widest cell of all" \
	"$(titan run -n -e 'a*30000 -> b; a=true; b=true' 2>/dev/null | sed -n '1p;2p' | cut -c 1-15)" 'JOB       NEEDS
a[0]      -    '
done_testing
