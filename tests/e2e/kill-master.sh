# SPDX-License-Identifier: GPL-3.0-or-later
# The master is killed with -9 again and again in the middle of 1,000 jobs, each of which appends a line to
# a file: each line is there once.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
jobs=1000
seq 1 $jobs | sed "s|.*|echo & >>$test_dir/lines|" >"$test_dir/commands"
run=$(titan run --lines <"$test_dir/commands")
like "the run has a number" "$run" '^[0-9]+$'

enough() { [ "$(wc -l <"$test_dir/lines" 2>/dev/null || echo 0)" -ge "$1" ]; }

for after in 100 350 700; do
	ok "$after jobs are done" until_true 60 enough $after
	pid=$(master_pid)
	kill -KILL "$pid"
	ok "the master is dead" until_true 5 process_gone "$pid"
	exits "commands say that there is no master" 69 titan ls
	start_cluster
	is "the generation stays, it is the same history" "$(state_of .master.generation)" 1
done

exits "the run ends well" 0 titan --timeout 100s wait "$run"
is "each line is there once" "$(sort -n "$test_dir/lines" | uniq -c | awk '$1 != 1' | wc -l)" 0
is "and none is missing" "$(wc -l <"$test_dir/lines")" $jobs
is "every job succeeded" "$(titan --json ls | jq -r --argjson run "$run" '.[] | select(.run == $run) | .ok')" $jobs

done_testing
