# SPDX-License-Identifier: GPL-3.0-or-later
# A job that writes without end takes a bounded amount of its worker's disk, with and without a master; what is kept is
# right.
# time-out: 300 s
. "$(dirname "$0")/lib.sh"

go=$test_dir/go half=$test_dir/half leave=$test_dir/leave lines=30000000
cap=$((64 * 1024 * 1024)) head=$((48 * 1024 * 1024))
cat >job.yaml <<END
jobs:
  talk:
    run: seq 1 $lines; touch $half; while [ ! -e $go ]; do sleep 0.05; done; seq $((lines + 1)) $((2 * lines)); while [ ! -e $leave ]; do sleep 0.05; done
END
bytes=$(seq 1 $((2 * lines)) | wc -c)
start_cluster --slots 2
worker_dir=$TITAN_STATE/default/worker/local/attempts
probe=$worker_dir/probe
head -c 1048576 /dev/zero >"$probe"
fallocate -p -o 0 -l 1048576 "$probe" 2>/dev/null || skip_all "the file system makes no holes"
rm "$probe"
used_mib() { du -m "$worker_dir" 2>/dev/null | tail -n 1 | cut -f1; }
link_pid() { pgrep -f -P "$(state_of '.workers[0].pid')" link | head -n 1; }
most=0
look() {
	local now
	now=$(used_mib)
	[ "${now:-0}" -le $most ] || most=$now
}
written() { look; [ -e "$half" ]; }
# Beside the end that is kept, what is given back in steps.
little() { look; [ "$(used_mib)" -le 20 ]; }
size_of_output() { stat -c %s "$worker_dir"/*.out | sort -n | tail -n 1; }
all_written() { look; [ "$(size_of_output)" -ge "$bytes" ]; }

run=$(titan run job.yaml | grep -oE '[0-9]+' | head -n 1)
ok "half of it is written" until_true 60 written
ok "when the master has the beginning, the worker keeps the end alone" until_true 20 little
worker=$(state_of '.workers[0].pid')
kill -KILL "$(pgrep -f -P "$worker" link)" "$(master_pid)"
: >"$go"
ok "all of it is written without a master" until_true 60 all_written
ok "and the worker still keeps no more while it runs" until_true 20 little
: >"$leave"
titan up --slots 2 >/dev/null 2>&1
ok "it ends" until_true 60 run_ended "$run"
is "well" "$(run_state "$run")" succeeded
note "$((bytes / 1048576)) MiB were written; at most $most MiB stood at the worker"
ok "there was never much more of it at the worker than is kept" test "$most" -lt 250
titan logs "$run/talk" >kept 2>said
is "as much is kept as may be" "$(wc -c <kept)" "$cap"
is "its beginning" "$(head -c $head kept | cksum)" "$(seq 1 $((2 * lines)) | head -c $head | cksum)"
is "and its end" "$(tail -c $((cap - head)) kept | cksum)" "$(seq $((lines + 1)) $((2 * lines)) | tail -c $((cap - head)) | cksum)"
like "the rest is counted" "$(cat said)" "$((bytes - cap)) bytes dropped"

done_testing
