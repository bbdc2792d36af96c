# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs that run in a directory of a third machine may go to every machine that has it mounted. A tmpfs whose source has the form of an
# NFS export stands for it, and workers with another machine-id, in mount namespaces of their own, stand for other machines.
# time-out: 300 s
if [ "${1:-}" != inside ] && [ -f /etc/machine-id ] && unshare -m --propagation private mount -t tmpfs files:/export /mnt 2>/dev/null; then
	exec unshare -m --propagation private bash "$0" inside
fi
. "$(dirname "$0")/lib.sh"

[ "${1:-}" = inside ] || skip_all "needs /etc/machine-id and the right to mount"
is_up() { titan --json worker ls | jq -e ".[] | select(.name == \"$1\" and .state == \"up\")" >/dev/null; }
explained() { titan --json explain "$1" | jq -r '.[0].reason'; }
guardian_of() { ps -o ppid= -p "$(titan --json worker show "$1" | jq .pid)" | tr -d ' '; }

mkdir files
mount -t tmpfs files:/export files
mkdir files/src
start_cluster --slots 1
tr 0-9a-f 1-9a-f0 </etc/machine-id >other-id
on_machine() { # NAME MOUNT: a worker of another machine, whose mounts MOUNT makes out of those of here
	unshare -m --propagation private sh -c 'mount --bind "$1" /etc/machine-id && eval "$2" && exec "$3" worker start --name "$4" --slots 4 --label "$4"' \
		sh "$PWD/other-id" "$2" "$TITAN" "$1" >"$1.log" 2>&1 </dev/null &
	ok "worker $1 connects" until_true 60 is_up "$1" || note "$(cat "$1.log")"
}
on_machine far :
on_machine bare "umount '$PWD/files'"
on_machine other "umount '$PWD/files' && mount -t tmpfs files:/export '$PWD/files' && mkdir '$PWD/files/one' '$PWD/files/src'"
cd files/src || exit 1

run=$(titan run -e 'a=pwd label=far')
exits "a worker of another machine with that mount runs the job" 0 titan --timeout 120s wait "$run"
is "in that directory" "$(titan logs "$run/a")" "$PWD"
run=$(titan run -e '{a*20}; a="sleep 0.1; pwd >>done"')
exits "twenty jobs" 0 titan --timeout 120s wait "$run"
is "all ran in that directory" "$(sort done | uniq -c | tr -s ' ')" " 20 $PWD"
is "each with its first try" "$(titan --json show "$run" | jq -c '.[0] | [.jobs[].tries] | unique')" '[1]'
for worker in bare other; do
	run=$(titan run -e "a=pwd label=$worker")
	ok "a job that only worker $worker could run waits" until_true 60 eval "[ \"\$(explained $run/a)\" = no_worker_shares ]"
	like "and explain says why" "$(titan explain "$run/a")" "worker $worker \\(has another one there, or none\\)"
	titan -y cancel "$run" >/dev/null
done
cd ../..
run=$(titan run -e 'a=pwd label=far')
ok "a job in a directory of this machine alone waits, too" until_true 60 eval "[ \"\$(explained $run/a)\" = no_worker_shares ]"
like "for that other reason" "$(titan explain "$run/a")" 'worker far \(on another machine\)'
for worker in far bare other; do
	guardian=$(guardian_of "$worker")
	kill -TERM "$guardian"
	until_true 60 process_gone "$guardian"
done
done_testing
