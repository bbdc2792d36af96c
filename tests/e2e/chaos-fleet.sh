# SPDX-License-Identifier: GPL-3.0-or-later
# A fleet of workers on hosts of their own runs a large graph while networks are cut and processes are killed at random: links, keepers,
# guardians, whole workers and the master. In the end each job has run, and none more often than it was given out.
# time-out: 3000 s
#
# CHAOS_FLEET: how many workers (4), CHAOS_FLEET_JOBS: how many jobs the graph has (300), CHAOS_SEED: which faults.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-hosts.sh"

command -v python3 >/dev/null || skip_all "no python3"
fleet=${CHAOS_FLEET:-4}
jobs=${CHAOS_FLEET_JOBS:-300}
RANDOM=${CHAOS_SEED:-1}
mkdir -p -m 700 "$TITAN_STATE/default"
echo 'trust_submitters: yes' >"$TITAN_STATE/default/titan.conf"
start_master() { master_on_host --heartbeat 250ms --lease 2s --grace 5s; }
declare -A started
start_worker() {
	worker_on_host "$1" "$master_host:$master_port" --slots 4
	started[$1]=$!
}

make_hosts "$fleet"
start_master
mkfifo orders
on_host router python3 "$e2e_dir/networks.py" "$hosts" "$master_port" 7999 "$fleet" <orders >faults 2>faults.err &
exec 8>orders
ok "the router listens to orders" until_true 20 grep -q ready faults || done_testing
for k in $(seq "$fleet"); do start_worker "$k"; done
ok "$fleet workers on hosts of their own are up" until_true 120 workers_up "$fleet" || done_testing

# Four fans with a job between each, and at the side jobs that may start once only.
wide=$(((jobs - 4) / 4))
ledger=$test_dir/ledger
touch "$ledger"
# With so much trouble a worker may die more often under one job than jobs forgive by default.
graph=$(titan run -e "a*$wide -> b -> c*$wide -> d -> e*$wide -> f -> g*$wide -> h; a='echo a-\$i >>$ledger; sleep 0.5' crash_limit=200; b='echo b >>$ledger' crash_limit=200; c='echo c-\$i >>$ledger; sleep 0.5' crash_limit=200; d='echo d >>$ledger' crash_limit=200; e='echo e-\$i >>$ledger; sleep 1' crash_limit=200; f='echo f >>$ledger' crash_limit=200; g='echo g-\$i >>$ledger; sleep 0.5' crash_limit=200; h='echo h >>$ledger' crash_limit=200")
once=$(for i in $(seq $((jobs / 20))); do echo "echo once-$i >>$ledger; sleep 0.0$((RANDOM % 9))"; done | titan run --lines --mode once)
all=$((4 * wide + 4))

declare -A done_to
titan_on() { # K WORD: a process of that worker, by its name in ps
	local pid
	for pid in $(ip netns pids "$(host_space "$1")"); do
		[[ $(cat "/proc/$pid/comm" 2>/dev/null) = *$2* ]] && echo "$pid"
	done
}
# A worker outlives the death of one process. If the guardian is killed while its keeper is dead too, none is left: then
# the machine's service manager would start the worker again, and so does this.
start_dead_workers() {
	local k pid dead
	for k in $(seq "$fleet"); do
		dead=yes
		for pid in "${started[$k]}" $(titan_on "$k" titan); do process_gone "$pid" || dead=no; done
		[ $dead = no ] || start_worker "$k"
	done
}
kill_one() { # K
	local pids
	mapfile -t pids < <(titan_on "$1" titan)
	[ ${#pids[@]} = 0 ] || kill -KILL "${pids[RANDOM % ${#pids[@]}]}" 2>/dev/null
}
kill_whole() { # K
	local pids
	mapfile -t pids < <(titan_on "$1" titan)
	kill -STOP "${pids[@]}" 2>/dev/null
	kill -KILL "${pids[@]}" 2>/dev/null
	start_worker "$1"
}
cut_off() { # K: for a while, in the background
	[ ! -e "cut-$1" ] || return
	touch "cut-$1"
	(
		echo "cut $1" >&8
		sleep "$2"
		echo "heal $1" >&8
		rm "cut-$1"
	) &
}
kill_master() {
	local pid
	pid=$(master_pid)
	[ -n "$pid" ] && kill -KILL "$pid" && until_true 20 process_gone "$pid"
	start_master
}
trouble() {
	local k=$((RANDOM % fleet + 1)) kind
	case $((RANDOM % 20)) in
	0) kind=master && kill_master ;;
	1 | 2 | 3) kind=worker && kill_whole "$k" ;;
	4 | 5 | 6 | 7 | 8) kind=process && kill_one "$k" ;;
	9 | 10 | 11) kind=long-cut && cut_off "$k" $((RANDOM % 5 + 4)) ;;
	*) kind=cut && cut_off "$k" "$((RANDOM % 3)).$((RANDOM % 10))" ;;
	esac
	done_to[$kind]=$((${done_to[$kind]:-0} + 1))
}
deadline=$(($(date +%s) + 300 + jobs / 10))
until run_ended "$graph" || [ "$(date +%s)" -gt $deadline ]; do
	for _ in 1 2 3; do trouble; done
	start_dead_workers
	sleep "0.$((RANDOM % 9 + 1))"
done
troubles=$(for kind in "${!done_to[@]}"; do printf '%s %d, ' "$kind" "${done_to[$kind]}"; done)
note "troubles: $troubles"
start_dead_workers
whole() { ! ls cut-* >/dev/null 2>&1; }
ok "all networks are whole again" until_true 60 whole
exec 8>&-
all_up() { start_dead_workers && workers_up "$fleet"; }
ok "all $fleet workers are up" until_true 120 all_up || note "$(titan --plain worker ls; tail -n 5 w*.log)"
ok "everything that may end by itself ends" until_true 300 nothing_pending
is "the graph of $all jobs succeeded" "$(run_state "$graph")" succeeded
is "each of its jobs ran" "$(grep -v once ledger | sort -u | wc -l)" "$all"
is "what may start once never started twice" "$(grep once ledger | sort | uniq -d)" ""
# The low half of an epoch counts how often a job was given out.
titan --json show "$graph" | jq -r '.[0].jobs[] | "\(.name) \(.epoch % 4294967296)"' | sed 's/\[\([0-9]*\)\]/-\1/' | sort >given
grep -v once ledger | sort | uniq -c | awk '{ print $2, $1 }' | sort >ran
is "none ran more often than it was given out" "$(join given ran | awk '$3 > $2' | head -n 5)" ""
is "the master agrees on how many succeeded" "$(succeeded_of "$graph")" "$all"
idle() { [ "$(state_of '[.workers[].busy] | add')" = 0 ]; }
ok "no slot is left taken" until_true 60 idle
no_far_process() { ! readlink /proc/[0-9]*/cwd 2>/dev/null | grep -q "^$test_dir/far/"; }
ok "no job's process is left" until_true 60 no_far_process
amount "$fleet workers, $all jobs, ${troubles}$(awk '{ n += $2 - 1 } END { print n + 0 }' ran) ran again"
done_testing
