# SPDX-License-Identifier: GPL-3.0-or-later
# The logs of ended runs are compressed: readers don't notice, and wherever compression is interrupted, nothing is
# lost.
. "$(dirname "$0")/lib.sh"

logs=$TITAN_STATE/default/logs
packed() { [ -n "$(find "$logs/$1" -name '*.zst')" ] && [ -z "$(find "$logs/$1" -name '*.[0-9]*' ! -name '*.zst' -size +8k)" ]; }
metric() { titan --json metrics | jq -r ".$1"; }

start_cluster --slots 4
run=$(titan run -e "{big, small}; big='seq 1 300000; echo end >&2'; small='echo tiny'")
exits "a run of a large log and a small one ends" 0 titan --timeout 60s wait "$run"
titan logs --stdout "$run/big" >"$test_dir/big"
is "its last lines" "$(titan logs --tail 3 --stdout "$run/big" | tr '\n' ' ')" "299998 299999 300000 "
if ! until_true 20 packed "$run"; then
	strings -a "$TITAN" 2>/dev/null | grep -q ZSTD_ && { ok "its large log is compressed" false; done_testing; }
	skip_all "built without zstd"
fi
ok "its large log is compressed" packed "$run"
is "the small one stays as it is" "$(find "$logs/$run" -size -8k ! -name '*.zst' -type f | wc -l)" 1
is "there is one file a job, and none besides" "$(find "$logs/$run" -type f | wc -l)" 2
is "it reads as before" "$(titan logs --stdout "$run/big" | cksum)" "$(seq 1 300000 | cksum)"
is "that is how it was read before" "$(cksum <"$test_dir/big")" "$(seq 1 300000 | cksum)"
is "the other stream" "$(titan logs --stderr "$run/big")" end
is "followed, too" "$(titan logs -f --stdout "$run/big" | cksum)" "$(seq 1 300000 | cksum)"
is "its last lines" "$(titan logs --tail 3 --stdout "$run/big" | tr '\n' ' ')" "299998 299999 300000 "
is "many of them" "$(titan logs --tail 200000 --stdout "$run/big" | cksum)" "$(seq 100001 300000 | cksum)"
is "the small one reads as ever" "$(titan logs "$run/small")" tiny
like "it is counted" "$(metric log_bytes_before)" '^[12][0-9]{6}$'
ok "and is smaller" test "$(metric log_bytes_after)" -lt "$(($(metric log_bytes_before) / 2))"
is "nothing waits" "$(metric log_files_waiting) $(metric log_runs_waiting)" "0 0"

titan -y down >/dev/null
start_cluster --slots 4
is "the next master reads it" "$(titan logs --stdout "$run/big" | cksum)" "$(seq 1 300000 | cksum)"

done_testing
