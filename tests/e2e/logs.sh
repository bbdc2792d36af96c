# SPDX-License-Identifier: GPL-3.0-or-later
# A job's output is whole, in order, and can be followed while it runs.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
run=$(titan run -e "a; a='echo out; echo err >&2; echo out2'")
exits "it ends" 0 titan --timeout 20s wait "$run"
is "standard output alone" "$(titan logs --stdout "$run/a" | tr '\n' ' ')" "out out2 "
is "standard error alone" "$(titan logs --stderr "$run/a")" err
is "all of it" "$(titan logs "$run/a" | sort | tr '\n' ' ')" "err out out2 "

run=$(titan run -e "big; big='seq 1 300000'")
exits "a job writes two megabytes" 0 titan --timeout 60s wait "$run"
is "every byte is kept" "$(titan logs "$run" | cksum)" "$(seq 1 300000 | cksum)"

go=$test_dir/go
run=$(titan run -e "slow; slow='echo first; while [ ! -e $go ]; do sleep 0.05; done; echo last'")
titan logs -f "$run/slow" >"$test_dir/followed" &
follower=$!
first_is_there() { grep -qx first "$test_dir/followed"; }
ok "what it writes is seen while it runs" until_true 10 first_is_there
: >"$go"
wait $follower
is "and to the end" "$(tr '\n' ' ' <"$test_dir/followed")" "first last "

run=$(titan run -e "quiet; quiet=true")
titan --timeout 20s wait "$run"
exits "a silent job has an empty log" 0 titan logs "$run/quiet"
is "with nothing in it" "$out" ""
exits "an unknown job" 4 titan logs "$run/nope"

done_testing
