# SPDX-License-Identifier: GPL-3.0-or-later
# `log: lossless`: every byte arrives, whatever is killed on the way, and the job waits instead of filling the worker's
# disk.
# time-out: 600 s
. "$(dirname "$0")/lib.sh"

mib=${LOSSLESS_MIB:-200}
# Bytes that depend on where they stand, in lines.
numbers() { seq 1000000000 $((1000000000 + mib * 1048576 / 11 - 1)); }
wanted=$(numbers | sha256sum)
bytes=$((mib * 1048576 / 11 * 11))

cat >job.yaml <<END
jobs:
  talk:
    run: seq 1000000000 $((1000000000 + mib * 1048576 / 11 - 1)); echo done >&2
    log: lossless
END
start_cluster --slots 2
worker_dir=$TITAN_STATE/default/worker/local/attempts
used_kib() { du -k "$worker_dir" 2>/dev/null | tail -n 1 | cut -f1; }
link_pid() { pgrep -f -P "$(state_of '.workers[0].pid')" link | head -n 1; }

run=$(titan run job.yaml | grep -oE '[0-9]+' | head -n 1)
is "it is shown" "$(titan --json show "$run/talk" | jq -r '.[0] | .log')" lossless
most=0
kills=0
while ! run_ended "$run"; do
	now=$(used_kib)
	[ "${now:-0}" -gt $most ] && most=$now
	if [ $kills -lt 6 ]; then
		kills=$((kills + 1))
		case $((kills % 2)) in
		0)
			kill -KILL "$(master_pid)" 2>/dev/null
			titan up --slots 2 >/dev/null 2>&1
			;;
		1) kill -KILL "$(link_pid)" 2>/dev/null ;;
		esac
	fi
	sleep 0.3
done
is "it succeeds, with link and master killed again and again" "$(run_state "$run")" succeeded
note "killed $kills times; at most $most KiB at the worker"
ok "and there was never much of it at the worker" test "$most" -lt $((2 * 16 * 1024 + 8192))
is "all of it has arrived, in order" "$(titan logs --stdout "$run/talk" | sha256sum)" "$wanted"
is "nothing was dropped" "$(titan logs "$run/talk" 2>&1 >/dev/null)" ""
is "standard error, too" "$(titan logs --stderr "$run/talk")" "done"
is "it is known how much that was" "$(titan --json show "$run/talk" | jq -r '.[0] | .out_bytes')" $((bytes + 5))

# A slow one, in lengths that fit no block: what the master has on its disk ends anywhere when it is killed.
cat >slow.yaml <<END
jobs:
  talk:
    run: |
      n=1; i=0
      while [ ! -e $test_dir/enough ]; do
        n=\$((n * 7 % 1009)); i=\$((i + 1))
        printf "%0\${n}d." \$i; sleep 0.003
      done | tee $test_dir/said
    log: lossless
END
run=$(titan run slow.yaml | grep -oE '[0-9]+' | head -n 1)
said() { stat -c %s "$test_dir/said" 2>/dev/null || echo 0; }
more_said() { [ "$(said)" -ge $1 ]; }
until_true 20 more_said 5000
for kill in $(seq 12); do
	kill -KILL "$(master_pid)" 2>/dev/null
	titan up --slots 2 >/dev/null 2>&1
	until_true 20 worker_is_up
	until_true 20 more_said $(($(said) + 9000 + 777 * kill))
done
touch enough
exits "a slow one succeeds, with its master killed 12 times" 0 titan --timeout 60s wait "$run"
is "and its log is equal byte for byte" "$(titan logs --stdout "$run/talk" | cksum)" "$(cksum <"$test_dir/said")"

done_testing
