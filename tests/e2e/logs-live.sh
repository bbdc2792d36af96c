# SPDX-License-Identifier: GPL-3.0-or-later
# The newest output of a job that writes more than its log keeps can be seen while the job runs, and the count is exact in
# the end.
. "$(dirname "$0")/lib.sh"

go=$test_dir/go
cat >job.yaml <<END
jobs:
  talk:
    run: seq 1 60000; echo here I am; while [ ! -e $go ]; do sleep 0.05; done; seq 60001 100000; echo the end
    log: {max: 64K}
END
bytes=$({ seq 1 60000; echo here I am; seq 60001 100000; echo the end; } | wc -c)
start_cluster --slots 2
run=$(titan run job.yaml | grep -oE '[0-9]+' | head -n 1)
is "the bound is shown" "$(titan --json show "$run/talk" | jq -r '.[0] | .log')" 64K
titan logs -f "$run/talk" >"$test_dir/followed" 2>"$test_dir/said" &
follower=$!
in_followed() { grep -q "$1" "$test_dir/followed"; }
ok "while it runs, its newest output is seen, far beyond what is kept" until_true 20 in_followed 'here I am'
shows_newest() { titan logs "$run/talk" 2>/dev/null | tail -n 1 | grep -qx 'here I am'; }
ok "also by one who looks once" until_true 20 shows_newest
like "what is skipped is said" "$(titan logs "$run/talk" 2>&1 >/dev/null)" 'bytes skipped: the job writes more than its log keeps'
: >"$go"
wait $follower
is "who follows sees the end" "$(tail -n 1 "$test_dir/followed")" "the end"
is "and nothing twice" "$(grep -cE 'here I am|the end' "$test_dir/followed")" 2
titan logs "$run/talk" >"$test_dir/kept" 2>"$test_dir/said"
dropped=$(grep -oE '[0-9]+ bytes dropped' "$test_dir/said" | awk '{ sum += $1 } END { print sum + 0 }')
is "every byte is kept or counted" $(($(wc -c <"$test_dir/kept") + dropped)) "$bytes"
is "as many are kept as asked for" "$(wc -c <"$test_dir/kept")" 65536
is "the beginning" "$(head -n 5 "$test_dir/kept" | tr '\n' ' ')" "1 2 3 4 5 "
is "and the end" "$(tail -n 2 "$test_dir/kept" | tr '\n' ' ')" "100000 the end "
is "its last lines alone" "$(titan logs --tail 3 "$run/talk" 2>/dev/null | tr '\n' ' ')" "99999 100000 the end "
is "none of them" "$(titan logs --tail 0 "$run/talk" 2>/dev/null)" ""
is "more than there are is all" "$(titan logs --tail 100000 "$run/talk" 2>/dev/null | cksum)" "$(cksum <"$test_dir/kept")"
cat >bad.yaml <<'END'
jobs:
  a:
    run: "true"
    log: {max: 17}
END
exits "a bound that is too small is refused" 2 titan validate bad.yaml
like "with its place" "$err" 'bad.yaml:4:16: error: log must be lossless or a size from 4K to 1T'
exits "on one line, too" 2 titan run -e "a; a=true log=often"
exits "where it is right" 0 titan --timeout 20s run -w -e "a; a=true log=1M"

done_testing
