# SPDX-License-Identifier: GPL-3.0-or-later
# Keeper, link, the whole worker and the master are killed with -9 in turn, while jobs count their own starts: a job
# with mode once never starts twice, a link's death disturbs no job, everything ends, and the state can always be
# loaded.
# time-out: 3000 s
#
# CHAOS_KILLS: how many of each (2), CHAOS_SEED: in which order, and after how long.
. "$(dirname "$0")/lib.sh"

each=${CHAOS_KILLS:-2}
kills=$((4 * each))
RANDOM=${CHAOS_SEED:-1}
starts=$test_dir/starts
mkdir "$starts"
note "seed ${CHAOS_SEED:-1}, $kills kills"

keeper_pid() { state_of '.workers[0].pid'; }
link_pid() { pgrep -f -P "$1" link | head -n 1; }
kill_one() { # KIND
	local keeper
	keeper=$(keeper_pid)
	case $1 in
	master) pids=$(master_pid) ;;
	link) pids=$(link_pid "$keeper") ;;
	keeper) pids=$keeper ;;
	worker) pids="$keeper $(guardian_pid) $(link_pid "$keeper")" ;;
	esac
	# shellcheck disable=SC2086
	kill -KILL $pids 2>/dev/null || return 1
	for pid in $pids; do until_true 5 process_gone "$pid"; done
	[ "$1" = link ] || titan up --slots 4 >"$test_dir/up.out" 2>&1 || note "$(cat "$test_dir/up.out")"
}

start_cluster --slots 4
again=$(counted "$starts" retry $((30 * kills)))
once=$(counted "$starts" once $((20 * kills)))
done=0
for kind in $(for kind in keeper link worker master; do yes $kind | head -n "$each"; done | shuf --random-source=<(yes "${CHAOS_SEED:-1}")); do
	until_true 20 worker_is_up
	sleep "0.$((RANDOM % 3))$((RANDOM % 9))"
	# A link may have just been started anew, and a master may know of the keeper before.
	for _ in 1 2 3 4 5; do
		kill_one "$kind" && done=$((done + 1)) && echo "$kind" >>"$test_dir/kinds" && break
		until_true 20 worker_is_up
	done
done
note "$(sort "$test_dir/kinds" | uniq -c | tr -s ' \n' ' ')"
amount "$(sort "$test_dir/kinds" | uniq -c | awk '{ print $1, $2 }' | paste -sd' ')"
is "all of them were killed" $done "$kills"
until_true 20 worker_is_up
ok "everything that may end by itself ends" until_true 600 nothing_pending
is "what may start once never started twice" "$(started_twice "$starts" once)" 0
is "what is run again ran at least once" "$(started_at_all "$starts" retry)" $((30 * kills))
# Of hundreds of kills three may well meet the same job, which is its crash limit.
crashed=$(titan --json dlq ls "$again" 2>/dev/null | jq '[.[] | select(.reason == "crash_limit")] | length')
note "${crashed:-0} jobs came to their crash limit"
is "all of it succeeded, or came to its crash limit" "$(($(titan --json ls -a | jq -r --argjson run "$again" '.[] | select(.run == $run) | .ok') + ${crashed:-0}))" $((30 * kills))
note "$(state_of '.counts.unknown // 0') jobs may have run and wait for a person"
titan -y cancel "$once" >/dev/null 2>&1
ok "a person settles the rest" until_true 60 run_ended "$once"
is "the state loads once more" "$(titan -y down --keep-workers >/dev/null 2>&1; titan up >/dev/null && echo good)" good
calm=$(titan run -e "c; c='i=0; while [ \$i -lt 50 ]; do echo line \$i; i=\$((i + 1)); sleep 0.05; done'")
ok "a job runs" until_true 20 job_is "$calm" c running
for _ in 1 2 3; do
	kill -KILL "$(link_pid "$(keeper_pid)")"
	sleep 0.4
done
exits "whose link is killed three times" 0 titan --timeout 60s wait "$calm"
is "writes all its lines, and runs once" "$(titan logs "$calm/c" | grep -c '^line') $(titan --json show "$calm/c" | jq -r '.[0] | .tries')" "50 1"

done_testing
