# SPDX-License-Identifier: GPL-3.0-or-later
# titan diff: specifications, variables without their values, results and times of two runs.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
cat >one.yaml <<'EOF'
name: work
env: {SHARED: s3cret-one, SAME: x}
jobs:
  build: {run: "true", timeout: 5m}
  old: {run: "true"}
  test: {run: "exit 3", retry: {max: 1, backoff: 1ms}, needs: [build], env: {MODE: s3cret-fast, GONE: x}}
  fan: {run: "echo $i", fan_out: 20, priority: 40}
  mixed: {run: "echo ${matrix.a}", fan_out: [{a: x}, {a: y}]}
EOF
sed -e 's/5m/10m/; s/s3cret-one/s3cret-two/; s/exit 3/true/; s/s3cret-fast/s3cret-slow/; s/GONE: x/NEW: y/; s/priority: 40/priority: 60/; s/old:/new:/; s/a: x/a: z/; s/a: y/a: w/' one.yaml >two.yaml
run_file() { titan -q run -w "$1" 2>/dev/null | head -n 1; }
one=$(run_file one.yaml)
same=$(run_file one.yaml)
two=$(run_file two.yaml)

exits "two runs of one file are the same" 0 titan diff "$one" "$same"
is "nothing is printed" "$out" ""
exits "a run is the same as itself" 0 titan --json diff "$one" "$one"
is "an empty list" "$out" "[]"
exits "other runs differ" 1 titan diff "$one" "$two"
like "a setting with both values" "$out" 'build +setting +timeout +5m +10m'
like "a job that is gone" "$out" 'old +job +job +there +-'
like "a new job" "$out" 'new +job +job +- +there'
like "a variable of the run" "$out" '\(run\) +variable +SHARED +a value +another'
like "variables of a job" "$out" 'test +variable +MODE +a value +another'
like "one that is gone" "$out" 'test +variable +GONE +set +-'
like "one that is new" "$out" 'test +variable +NEW +- +set'
unlike "what is the same isn't there" "$out" 'SAME'
like "the outcome" "$out" 'test +result +outcome +failed, exit 3 +succeeded'
like "the tries" "$out" 'test +result +tries +2 +1'
like "the run's own state" "$out" '\(run\) +result +state +failed +succeeded'
like "a fan-out is one row" "$out" 'fan\[20\] +setting +priority +40 +60'
is "and no more" "$(printf '%s\n' "$out" | grep -c '^fan')" 1
like "with various values where they differ" "$out" 'mixed\[2\] +setting +command +\(various\) +\(various\)'
unlike "no value of a variable is shown" "$out$err$(titan --json diff "$one" "$two")$(titan --plain diff "$one" "$two")" 's3cret'
is "for programs nothing is folded" "$(titan --json diff "$one" "$two" | jq '[.[] | select((.name // "") | startswith("fan["))] | length')" 20
is "--plain has its columns" "$(titan --plain diff "$one" "$two" | grep -m 1 "^build")" "$(printf 'build\tsetting\ttimeout\t5m\t10m')"
is "fits 80 columns" "$(titan diff "$one" "$two" | awk 'length > 80' | wc -l)" 0

slow=$(titan -q run -w -e 'a; a="sleep 4"' --name time | head -n 1)
fast=$(titan -q run -w -e 'a; a="sleep 0.1"' --name time | head -n 1)
like "a notable duration" "$(titan diff "$slow" "$fast")" 'a +time +duration'
a=$(titan -q run -w -e 'a; a="test -e stop || sleep 2"' --name time | head -n 1)
touch stop
b=$(titan -q run -w -e 'a; a="test -e stop || sleep 2"' --name time | head -n 1)
exits "times alone don't count" 0 titan diff "$a" "$b"

nl=$(titan -q run -w -e "$(printf 'a; a="echo x\n\033[31mred"')" --name esc 2>/dev/null | head -n 1)
unlike "control characters don't reach the terminal" "$(titan diff "$a" "$nl")" "$(printf '\033')"
exits "a run that isn't there" 4 titan diff "$one" 4711
exits "one run alone" 2 titan diff "$one"
exits "a job" 2 titan diff "$one/build" "$two"

done_testing
