# SPDX-License-Identifier: GPL-3.0-or-later
# A master that starts on a full disk serves what it can: lists are shown, jobs are cancelled, runs are pruned. When
# even the reserve for that is used up, it says which disk is full.

if [ "${1-}" != inside ]; then
	for how in -m -rm; do
		if unshare $how mount -t tmpfs -o size=1m none /mnt 2>/dev/null; then
			exec unshare $how bash "$0" inside
		fi
	done
	echo "1..0 # SKIP nothing can be mounted here"
	exit 0
fi

. "$(dirname "$0")/lib.sh"

mkdir -m 700 "$TITAN_STATE"
mount -t tmpfs -o size=24m,mode=700 none "$TITAN_STATE" || skip_all "no tmpfs"
trap 'rm -f "$TITAN_STATE"/filler*; titan -y down >/dev/null 2>&1; umount -l "$TITAN_STATE"; finish' EXIT

store=$TITAN_STATE/default/titan.db
fillers=0
fill_disk() {
	fillers=$((fillers + 1))
	dd if=/dev/zero of="$TITAN_STATE/filler$fillers" bs=65536 2>/dev/null
	dd if=/dev/zero of="$TITAN_STATE/filler$fillers.1" bs=1024 2>/dev/null
	is "nothing is free" "$(stat -f -c %a "$TITAN_STATE")" 0
}
# Also cuts the log behind its last frame: the zeros there are room that a full disk wouldn't take away.
kill_master() {
	local pid used
	pid=$(master_pid)
	kill -KILL "$pid"
	until_true 5 process_gone "$pid"
	used=$(cmp -l "$store-wal" /dev/zero 2>/dev/null | tail -n 1 | awk '{ print $1 }')
	truncate -s $((32 + (used - 32 + 4119) / 4120 * 4120)) "$store-wal"
}
store_is() { [ "$(state_of '.store | [.full, .stuck] | join(" ")')" = "$1" ]; }

start_cluster --slots 2
for _ in 1 2; do titan run -w -e "o; o=true" >/dev/null; done
run=$(titan run -e "j; j='sleep 1000'")
other=$(titan run -e "q; q='sleep 1000'")
ok "a job runs" until_true 10 job_is "$run" j running

note "what is kept for a full disk is there"
kill_master
fill_disk
exits "a master starts" 0 timeout 20 "$TITAN" up
like "and says what is full" "$out" "^alarm +the disk of $TITAN_STATE/default is nearly full: new runs are refused +next: df"
ok "the ballast is used for it" test ! -e "$store-ballast"
is "the last reserve isn't" "$(stat -c %s "$store-last-reserve")" 2097152

note "the ballast is gone, too"
fill_disk
kill_master
fill_disk
exits "a master starts" 0 timeout 20 "$TITAN" up
exits "status answers" 0 titan status
ok "and says that it is full" until_true 5 store_is "true false"
exits "ls answers" 0 titan ls
is "with the runs" "$(titan --json ls | jq length)" 4
exits "a run is cancelled" 0 timeout 20 "$TITAN" -y cancel "$other"
ok "and ends" until_true 20 run_is "$other" cancelled
exits "so is what runs" 0 timeout 20 "$TITAN" -y cancel "$run"
ok "and its processes are gone" until_true 20 no_job_process
ended() { [ "$(titan --json ls | jq '[.[] | select(.state | IN("succeeded", "failed", "cancelled") | not)] | length')" = 0 ]; }
ok "all has ended" until_true 20 ended
exits "runs are pruned" 0 timeout 20 "$TITAN" -y prune --keep 0
is "and gone" "$(titan --json ls | jq length)" 0
exits "a backup elsewhere is made" 0 timeout 20 "$TITAN" backup "$test_dir/b1"
exits "and is whole" 0 titan fsck "$test_dir/b1"
exits "the store is checked by a copy among the temporary files" 0 env TMPDIR="$test_dir" timeout 20 "$TITAN" fsck

note "nothing is kept any more"
rm -f "$TITAN_STATE"/filler*
ok "with room the alarm is over" until_true 20 store_is "false false"
run=$(titan run -e "j; j='sleep 1000'")
ok "a job runs" until_true 10 job_is "$run" j running
exits "the master ends" 0 titan -y down --keep-workers
rm -f "$store-ballast" "$store-last-reserve"
fill_disk
exits "titan up says what is full" 75 timeout 20 "$TITAN" up
like "and what can't be" "$err" "the master is running, but the disk of $TITAN_STATE/default is full: workers can't connect"
exits "status answers" 0 timeout 5 "$TITAN" status
like "and says that nothing can be written" "$out" "^alarm +the disk of .* is full: the master can't write"
is "ls knows the run" "$(titan --json ls 2>/dev/null | jq -r ".[] | select(.run == $run) | .state")" running
exits "a cancel is refused at once" 75 timeout 5 "$TITAN" -y cancel "$run"
exits "so is pruning" 75 timeout 5 "$TITAN" -y prune --keep 0
exits "but not what it would remove" 0 timeout 5 "$TITAN" prune --keep 0 --dry-run
exits "a backup elsewhere is made" 0 timeout 20 "$TITAN" -y backup "$test_dir/b1"
exits "a cluster isn't ended as a whole" 75 timeout 5 "$TITAN" -y down
like "since its workers can't be told" "$err" "workers can't be told to end"
exits "the master alone is" 0 timeout 20 "$TITAN" -y down --keep-workers
exits "and started again" 75 timeout 20 "$TITAN" up
rm -f "$TITAN_STATE"/filler*
ok "with room it goes on" until_true 20 store_is "false false"
ok "its worker is back" until_true 30 worker_is_up
is "and the job was kept" "$(job_state "$run" j)" running
exits "and is cancelled" 0 titan -y cancel "$run"

note "a copy needs as much room as it has bytes, and 1 MiB beside the store"
size=$(stat -c %s "$test_dir/b1")
dd if=/dev/zero of="$TITAN_STATE/filler" bs=1024 count=$(($(stat -f -c %a "$TITAN_STATE") * $(stat -f -c %S "$TITAN_STATE") / 1024 - 2048 - size / 1024)) 2>/dev/null
exits "a backup is made where 2 MiB more are free" 0 titan backup "$TITAN_STATE/b2"
rm -f "$TITAN_STATE/b2"
exits "the store is checked there" 0 titan fsck

amount "24 MiB"
done_testing
