# SPDX-License-Identifier: GPL-3.0-or-later
# titan up --upgrade: another program takes the master's place while 20 workers run 2,000 jobs. None is lost, none runs twice, the
# logs are whole, commands that follow go on, and the options of the earlier master are kept. What can't serve is taken back.
# time-out: 900 s
. "$(dirname "$0")/lib.sh"

export TITAN_HEARTBEAT=500ms TITAN_LEASE=20s TITAN_GRACE=60s
mkdir "$test_dir/ran" "$test_dir/new" "$test_dir/bad"
cp "$TITAN" "$test_dir/new/titan"
new() { "$test_dir/new/titan" "$@"; }
program_of() { readlink "/proc/$1/exe"; }
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
start_cluster --slots 2 --listen "127.0.0.1:$port"
for i in $(seq 19); do
	titan worker start --name "w$i" --slots 2 >/dev/null 2>&1 </dev/null &
done
twenty() { [ "$(state_of '[.workers[] | select(.state == "up")] | length')" = 20 ]; }
ok "20 workers are connected" until_true 120 twenty

# Each job notes its start in a file of its own, and prints a beginning and an end with some time between.
lines() { # MODE COUNT
	for i in $(seq "$2"); do echo "printf x >>$test_dir/ran/$1-$i; echo begin $1 $i; sleep 0.0$((RANDOM % 9)); echo end $1 $i"; done
}
once=$(lines once 500 | titan run --lines --mode once)
free=$(lines free 1500 | titan run --lines)
long=$(titan run -e "a='sleep 5; echo survived'")
titan wait "$once" "$free" >wait.out 2>&1 &
waiter=$!
titan logs -f "$long" >follow.out 2>&1 &
follower=$!
done_of() { [ "$(($(succeeded_of "$once") + $(succeeded_of "$free")))" -ge "$1" ]; }
ok "some jobs have run" until_true 300 done_of 100
old=$(master_pid)
exits "titan up with another program" 0 new up
like "says that the master is another program" "$err" 'the running master is another program than this command, .*titan; nothing was changed'
like "and which command replaces it" "$err" 'try: titan up --upgrade'
is "it changes nothing" "$(master_pid)" "$old"
keepers=$(state_of '[.workers[].pid] | sort | map(tostring) | join(" ")')
exits "titan up --upgrade in the middle" 0 new up --upgrade
pid=$(master_pid)
unlike "is another process" "$pid" "^$old\$"
is "of the other program" "$(program_of "$pid")" "$(realpath "$test_dir/new/titan")"
ok "the earlier one is gone" process_gone "$old"
ok "it listens where the earlier one did" bash -c "exec 3<>/dev/tcp/127.0.0.1/$port"
ok "all workers come back" until_true 60 twenty
is "and are the same processes" "$(state_of '[.workers[].pid] | sort | map(tostring) | join(" ")')" "$keepers"
exits "once more there is nothing to upgrade" 0 new up --upgrade
is "and the master stays" "$(master_pid)" "$pid"
ok "jobs go on" until_true 300 done_of 600
exits "the first program takes the place again" 0 titan up --upgrade
is "in a process of its own" "$(program_of "$(master_pid)")" "$(realpath "$TITAN")"
ok "jobs go on" until_true 300 done_of 1000

# The file of the running program was replaced, as a package manager does it.
exits "the other program once more" 0 new up --upgrade
cp "$test_dir/new/titan" "$test_dir/newer" && mv "$test_dir/newer" "$test_dir/new/titan"
pid=$(master_pid)
like "its file is gone" "$(program_of "$pid")" 'deleted'
# A program that can't read this store: in its text one word is spelt in another way.
sed 's/PRAGMA user_version/PRAGMA user_versiom/' "$TITAN" >"$test_dir/bad/titan" && chmod 755 "$test_dir/bad/titan"
"$test_dir/bad/titan" up --upgrade >bad.out 2>&1
unlike "a program that can't serve fails" "$?" '^0$'
like "and says why, and that the earlier one runs again" "$(cat bad.out)" "the master wasn't replaced, and its earlier program runs again: the master didn't start: "
unlike "it does, in another process" "$(master_pid)" "^$pid\$"
like "although its file is gone" "$(program_of "$(master_pid)")" 'deleted'
exits "the new file takes its place" 0 new up --upgrade
unlike "it is the one that is there" "$(program_of "$(master_pid)")" 'deleted'
ok "all workers come back" until_true 60 twenty

ok "titan wait, which began before all this, ends" until_true 400 process_gone "$waiter"
wait "$waiter"
is "well" "$?" 0
ok "titan logs -f ends" until_true 60 process_gone "$follower"
like "with the job's output" "$(cat follow.out)" 'survived'
is "all jobs with mode once have succeeded" "$(succeeded_of "$once")" 500
is "and the others" "$(succeeded_of "$free")" 1500
is "each ran" "$(find "$test_dir/ran" -type f | wc -l)" 2000
is "none twice" "$(find "$test_dir/ran" -type f -size +1c | wc -l)" 0
{
	for i in $(seq 500); do printf 'begin once %s\nend once %s\n' "$i" "$i"; done
	for i in $(seq 1500); do printf 'begin free %s\nend free %s\n' "$i" "$i"; done
} | sort >wanted
{ titan logs "$once"; titan logs "$free"; } 2>/dev/null | sed 's/^.*\(begin\|end\) /\1 /' | sort >got
ok "and the logs are whole" cmp wanted got

exits "titan upgrade isn't a command" 2 titan upgrade
like "but says which is" "$err" 'titan up --upgrade'
done_testing
