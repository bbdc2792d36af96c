# SPDX-License-Identifier: GPL-3.0-or-later
# A small file system without any free space: requests that change something are refused at once, and the cluster can
# still be looked at.

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

fillers=0
fill_disk() {
	fillers=$((fillers + 1))
	dd if=/dev/zero of="$TITAN_STATE/filler$fillers" bs=65536 2>/dev/null
	dd if=/dev/zero of="$TITAN_STATE/filler$fillers.1" bs=1024 2>/dev/null
}

start_cluster --slots 1
run=$(titan run -e "j; j='sleep 1000'")
held=$(titan run -e "h; h=true")
failed=$(titan run -e "f; f=false" --priority 100)
ok "a job runs" until_true 10 job_is "$run" j running
is "status has no alarm" "$(state_of '.store | [.full, .stuck] | join(" ")')" "false false"
for i in $(seq 500); do echo "a$i; a$i='true # $(printf %0500d 0)'"; done >graph
fill_disk
is_full() {
	timeout 20 "$TITAN" run - <graph >/dev/null 2>&1
	[ "$(state_of .store.full)" = true ]
}
ok "the store is full after a while" until_true 30 is_full
like "status says what is, and what that means" "$(titan status)" "^alarm +the disk of $TITAN_STATE/default is nearly full: new runs are refused +next: df $TITAN_STATE/default\$"
exits "what makes work is refused" 75 titan -y retry "$failed"
like "which says what is full" "$err" "the disk of $TITAN_STATE/default is nearly full, so new runs are refused"
exits "there is room to hold something" 0 titan hold "$held"

# The reserve that was given up goes to somebody else.
fill_disk
# Nothing has failed to be written yet: the room is looked at before the act is taken.
exits "the first act without any room is refused at once" 75 timeout 5 "$TITAN" release "$held"
like "which says what is full" "$err" "the disk of $TITAN_STATE/default is full: nothing can be changed"

# What is kept for a full disk is lost, and nothing can be written over.
store=$TITAN_STATE/default/titan.db
rm -f "$TITAN_STATE"/filler*
store_is() { [ "$(state_of '.store | [.full, .stuck] | join(" ")')" = "$1" ]; }
ok "with room the alarm is over" until_true 20 store_is "false false"
exits "the master ends in order" 0 titan -y down --keep-workers
rm -f "$store-ballast" "$store-last-reserve"
fill_disk
exits "the next one serves, and titan up says what it can't" 75 titan up
ok "without any room" store_is "true true"
for act in "hold $run" "release $held" "priority $run 5" "-y retry $failed" "-y cancel $run" "tenant set a --weight 2" "lock take l" \
	"worker rm local" "schedule pause s" "run --again $failed"; do
	exits "refused at once: titan $act" 75 timeout 5 "$TITAN" $act
done
exits "status answers" 0 timeout 5 "$TITAN" status
like "and says that nothing can be written" "$out" "^alarm +the disk of $TITAN_STATE/default is full: the master can't write, and all changes wait until there is space +next: df"
like "also as text" "$(titan --plain status)" '^store.stuck	1$'
exits "titan ls answers" 0 timeout 5 "$TITAN" ls
like "and says that it is from memory" "$err" 'the disk of the store is full: this answer comes from memory, and some of it may not be on disk; see titan status'
is "with the run" "$(titan --json ls 2>/dev/null | jq -r ".[] | select(.run == $run) | .state")" running
exits "so does titan worker ls" 0 timeout 5 "$TITAN" worker ls
exits "another question is refused" 75 timeout 5 "$TITAN" explain "$run/j"
like "and says which are answered" "$err" 'only titan status, ls and worker ls'

rm -f "$TITAN_STATE"/filler*
ok "with room the alarm is over again" until_true 20 store_is "false false"
exits "and all is taken" 0 titan release "$held"
exits "cancels, too" 0 titan -y cancel "$run"
ok "what was held runs" until_true 20 run_is "$held" succeeded

amount "24 MiB"
done_testing
