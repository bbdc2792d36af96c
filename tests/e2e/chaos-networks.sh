# SPDX-License-Identifier: GPL-3.0-or-later
# Three workers on hosts of their own, one of them behind a proxy, and networks that fail by seeded schedules while
# graphs run: after each schedule everything converges, nothing is lost, and nothing ran more often than it may.
# time-out: 3000 s
#
# CHAOS_NETWORKS: how many schedules (6), CHAOS_SEED: the seed of the first, CHAOS_CONVERGE_MS: how long after a
# schedule until all workers are up again; two graces are 2400.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-hosts.sh"

command -v python3 >/dev/null || skip_all "no python3"
command -v flock >/dev/null || skip_all "no flock"
schedules=${CHAOS_NETWORKS:-6}
first=${CHAOS_SEED:-1}
converge_ms=${CHAOS_CONVERGE_MS:-15000}
workers=3
proxy_port=7999
mkdir -p -m 700 "$TITAN_STATE/default"
echo 'trust_submitters: yes' >"$TITAN_STATE/default/titan.conf"

make_hosts $workers
master_on_host --heartbeat 100ms --lease 500ms --grace 1200ms
mkfifo orders
on_host router python3 "$e2e_dir/networks.py" "$hosts" "$master_port" $proxy_port $workers <orders >faults 2>faults.err &
exec 8>orders
ok "the proxy listens" until_true 20 grep -q ready faults || { note "$(cat faults.err)"; done_testing; }
worker_on_host 1 "$master_host:$master_port" --slots 4
worker_on_host 2 "$master_host:$master_port" --slots 4
worker_on_host 3 "10.7.3.1:$proxy_port" --slots 4
ok "$workers workers on hosts of their own are up" until_true 30 workers_up $workers || { note "$(tail -n 5 w?.log)"; done_testing; }

# A job writes its name into the ledger when it starts; an exclusive one fails to lock its file if it runs twice at once.
lines_of() { # SEED MODE COUNT
	local i
	for i in $(seq "$3"); do
		echo "echo $1-$2-$i >>$test_dir/ledger; exec 9>>$test_dir/lock-$2-$i; flock -n 9 || echo $1-$2-$i >>$test_dir/overlaps; sleep 0.$((RANDOM % 4))"
	done | titan run --lines --mode "$2"
}
graph_of() { # SEED: two layers with a job between, and the last one waits for all
	titan run -e "a*15 -> b -> c*15 -> d; a='echo $1-a-\$i >>$test_dir/ledger; sleep 0.2'; b='echo $1-b >>$test_dir/ledger'; c='echo $1-c-\$i >>$test_dir/ledger; sleep 0.2'; d='echo $1-d >>$test_dir/ledger'"
}
now_ms() { date +%s%3N; }
count_of() { grep -cxF -- "$1" ledger; }
# Names of jobs that ran more often than the master gave them out: the low half of an epoch counts that. A job whose worker
# was lost is given out again.
too_often() { # RUN SEED
	titan --json show "$1" | jq -r '.[0].jobs[] | "\(.name) \(.epoch % 4294967296)"' | sed 's/\[\([0-9]*\)\]/-\1/' |
		while read -r name most; do
			[ "$(count_of "$2-$name")" -le "$most" ] || echo "$name"
		done
}
check_schedule() { # SEED: false and a note for whatever is wrong
	local seed=$1 graph retry once sole began took wrong=
	touch ledger overlaps
	: >ledger
	RANDOM=$seed
	graph=$(graph_of "$seed") && retry=$(lines_of "$seed" retry 20) && once=$(lines_of "$seed" once 10) && sole=$(lines_of "$seed" exclusive 10) || wrong="a submit failed;"
	echo "schedule $seed" >&8
	until_true 120 grep -qx "healed $seed" faults || wrong+=" the schedule didn't end;"
	began=$(now_ms)
	until_true 60 workers_up $workers || wrong+=" not all workers are up;"
	took=$(($(now_ms) - began))
	[ $took -le "$slowest" ] || slowest=$took
	[ $took -le "$converge_ms" ] || wrong+=" the workers took $took ms to be up again;"
	until_true 90 nothing_pending || wrong+=" jobs are still pending;"
	[ "$(run_state "$graph") $(run_state "$retry") $(run_state "$sole")" = "succeeded succeeded succeeded" ] ||
		wrong+=" a run didn't succeed: $graph $(run_state "$graph"), $retry $(run_state "$retry"), $sole $(run_state "$sole");"
	[ "$(grep -v -- '-once-' ledger | sort -u | wc -l)" = 62 ] || wrong+=" $(grep -v -- '-once-' ledger | sort -u | wc -l) of 62 jobs ran;"
	[ -z "$(grep -- '-once-' ledger | sort | uniq -d)" ] || wrong+=" jobs of mode once started twice: $(grep -- '-once-' ledger | sort | uniq -d | tr '\n' ' ');"
	[ ! -s overlaps ] || wrong+=" exclusive jobs ran twice at once: $(tr '\n' ' ' <overlaps);"
	often=$(too_often "$graph" "$seed")
	[ -z "$often" ] || wrong+=" ran more often than given out: $often;"
	unknown=$((unknown + $(titan --json show "$once" | jq '[.[0].jobs[] | select(.state == "unknown")] | length')))
	titan -y cancel "$once" >/dev/null 2>&1
	until_true 30 run_ended "$once" || wrong+=" the run of mode once didn't end;"
	rm -f overlaps lock-*
	[ -z "$wrong" ] && return
	note "schedule $seed:$wrong" "$(grep "^fault $seed " faults)" "workers: $(titan --json worker ls | jq -c '[.[] | [.name, .state, .busy, .seen_ms]]')" \
		"$(tail -n 8 w1.log w2.log w3.log)" "master: $(tail -n 8 master.log)" \
		"run it alone: CHAOS_SEED=$seed CHAOS_NETWORKS=1 tests/run-tests -k tests/e2e/chaos-networks.sh"
	return 1
}

slowest=0
unknown=0
failed=
for seed in $(seq "$first" $((first + schedules - 1))); do
	check_schedule "$seed" || failed+=" $seed"
done
is "all of $schedules schedules converge, lose nothing and run nothing twice; these didn't" "$failed" ""
note "faults: $(awk '$1 == "fault" { n[$4]++ } END { for (k in n) printf "%s %d  ", k, n[k] }' faults)"
note "the workers were up again after $slowest ms at most; $unknown jobs of mode once waited for a person"
amount "$schedules schedules, $(grep -c '^fault' faults) faults, up in $slowest ms"
no_far_process() { ! readlink /proc/[0-9]*/cwd 2>/dev/null | grep -q "^$test_dir/far/"; }
ok "no job's process is left" until_true 20 no_far_process
exec 8>&-
done_testing
