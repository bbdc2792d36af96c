# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs that run where they are submitted go only to workers that share that directory. A worker with another machine-id, in a mount
# namespace of its own, stands for another machine.
# time-out: 300 s
. "$(dirname "$0")/lib.sh"

[ -f /etc/machine-id ] && unshare -m true 2>/dev/null || skip_all "needs /etc/machine-id and the right to make mount namespaces"
is_up() { titan --json worker ls | jq -e ".[] | select(.name == \"$1\" and .state == \"up\")" >/dev/null; }
explained() { titan --json explain "$1" | jq -r '.[0].reason'; }
guardian_of() { ps -o ppid= -p "$(titan --json worker show "$1" | jq .pid)" | tr -d ' '; }

start_cluster --slots 2
tr 0-9a-f 1-9a-f0 </etc/machine-id >other-id
unshare -m --propagation private sh -c 'mount --bind "$1" /etc/machine-id && exec "$2" worker start --name far --slots 8 --label far' \
	sh "$PWD/other-id" "$TITAN" >far.log 2>&1 </dev/null &
ok "a worker of another machine connects" until_true 60 is_up far || note "$(cat far.log)"
mkdir src
cd src || exit 1

run=$(titan run -e '{a*20}; a=pwd')
exits "twenty jobs" 0 titan --timeout 120s wait "$run"
is "all run where the directory is" "$(titan --json show "$run" | jq -r '[.[0].jobs[].worker] | unique | join(" ")')" local

run=$(titan run -e 'a=pwd label=far')
ok "a job that only the other machine could run waits" until_true 60 eval "[ \"\$(explained $run/a)\" = no_worker_shares ]"
titan explain "$run/a" >told
like "explain says why" "$(cat told)" "the job runs where it was submitted, in $PWD, and no suitable connected worker shares that directory: worker far"
like "and what lifts it" "$(cat told)" 'titan run --private gives jobs an empty directory'
is "it hasn't run" "$(job_state "$run" a)" ready
like "the list says it in short" "$(titan --json ls | jq -r ".[] | select(.run == $run) | .why")" 'no suitable connected worker shares that directory$'

private=$(titan run --private -e 'a=pwd label=far')
exits "with --private it runs there" 0 titan --timeout 120s wait "$private"
is "on the other machine" "$(titan --json show "$private" | jq -r '.[0].jobs[0].worker')" far
like "in an empty directory" "$(titan logs "$private/a")" '/attempts/[0-9]+$'
named=$(titan run -e 'a=pwd label=far dir=/')
exits "and so does a job that names a directory" 0 titan --timeout 120s wait "$named"
is "in that one" "$(titan logs "$named/a")" /
named=$(titan run -e "a=pwd label=far dir=$PWD/nowhere")
exits "one whose directory isn't there" 1 titan --timeout 120s wait "$named"
like "fails with that reason" "$(titan explain "$named/a")" "the working directory $PWD/nowhere isn't there"

# The same worker, started again on the machine of the submitter, gets the job that waits.
far=$(guardian_of far)
kill -TERM "$far"
ok "the worker ends" until_true 60 process_gone "$far"
titan worker start --name far --slots 8 --label far >near.log 2>&1 </dev/null &
ok "and comes back on this machine" until_true 60 is_up far
exits "the job that waited runs" 0 titan --timeout 120s wait "$run"
is "where it was submitted" "$(titan logs "$run/a")" "$PWD"
far=$(guardian_of far)
kill -TERM "$far"
until_true 60 process_gone "$far"

# Workers of this machine with other mounts, as in containers: one shares the directory, the other has its own there.
in_box() { # NAME MOUNT: a worker whose mounts are those of here, and what MOUNT adds
	unshare -m --propagation private sh -c 'eval "$1" && exec "$2" worker start --name "$3" --slots 4 --label "$3"' \
		sh "$2" "$TITAN" "$1" >"$test_dir/$1.log" 2>&1 </dev/null &
	ok "worker $1 connects" until_true 60 is_up "$1" || note "$(cat "$test_dir/$1.log")"
}
in_box same :
in_box other "mount -t tmpfs none '$PWD'"
run=$(titan run -e 'a=pwd label=same')
exits "a worker with other mounts runs what it shares" 0 titan --timeout 120s wait "$run"
is "there" "$(titan logs "$run/a")" "$PWD"
run=$(titan run -e '{a*20}; a=pwd')
exits "twenty jobs, which one of three can't run" 0 titan --timeout 120s wait "$run"
is "all ran where the directory is" "$(for i in $(seq 0 19); do titan logs "$run/a[$i]"; done | sort -u)" "$PWD"
is "none at the worker that doesn't have it" "$(titan --json show "$run" | jq -r '[.[0].jobs[].worker] | any(. == "other")')" false
is "each with its first try" "$(titan --json show "$run" | jq -c '.[0] | [.jobs[].tries] | unique')" '[1]'
run=$(titan run -e 'a=pwd label=other')
ok "a job that only that one could run waits" until_true 60 eval "[ \"\$(explained $run/a)\" = no_worker_shares ]"
like "explain says what that worker has" "$(titan explain "$run/a")" 'worker other \(has another one there, or none\)'
private=$(titan run --private -e 'a=pwd label=other')
exits "with --private it runs there, too" 0 titan --timeout 120s wait "$private"
titan -y cancel "$run" >/dev/null

# Who submits again in a directory that was made anew means the same, and a directory that is gone fails its job.
key=0123456789abcdef0123456789abcdef
run=$(titan run --submit-key $key --label same -e 'a=pwd')
titan --timeout 120s wait "$run" >/dev/null
cd ..
mv src src-before
mkdir src
cd src || exit 1
is "the same key in a directory that was made anew is the same run" "$(titan run --submit-key $key --label same -e 'a=pwd')" "$run"
run=$(titan run -e 'go -> a; go="until [ -e ../go ]; do sleep 0.05; done"; a=pwd')
until_true 60 eval "[ \"\$(job_state $run go)\" = running ]"
cd ..
mv src src-again
mkdir src
: >go
exits "a job whose directory is another one by now, on the mounts of its submitter" 0 titan --timeout 120s wait "$run"
is "runs in the one that has the path" "$(titan logs "$run/a")" "$PWD/src"
for worker in same other; do
	guardian=$(guardian_of "$worker")
	kill -TERM "$guardian"
	until_true 60 process_gone "$guardian"
done
done_testing
