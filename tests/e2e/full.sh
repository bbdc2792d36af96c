# SPDX-License-Identifier: GPL-3.0-or-later
# A small file system becomes full: new work is refused, running jobs can be looked at and cancelled, and when there is
# room again everything goes on.

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
mount -t tmpfs -o size=64m,mode=700 none "$TITAN_STATE" || skip_all "no tmpfs"
trap 'titan -y down >/dev/null 2>&1; umount -l "$TITAN_STATE"; finish' EXIT

start_cluster --slots 1
run=$(titan run -e "j; j='sleep 1000'")
ok "a job runs" until_true 10 job_is "$run" j running
ballast=$(find "$TITAN_STATE" -name '*-ballast' | head -n 1)
is "room is kept" "$(stat -c %s "$ballast")" 8388608
dd if=/dev/zero of="$TITAN_STATE/filler" bs=65536 2>/dev/null
dd if=/dev/zero of="$TITAN_STATE/filler2" bs=1024 2>/dev/null

fill() {
	local i
	for i in $(seq 500); do echo "a$i; a$i='true # $(printf %0500d 0)'"; done >"$test_dir/graph"
	timeout 20 "$TITAN" run - <"$test_dir/graph" >/dev/null 2>"$test_dir/run.err"
	[ $? = 75 ]
}
ok "with a full disk graphs are refused after a while" until_true 30 fill
like "and it is said why" "$(cat "$test_dir/run.err")" 'new runs are refused'
ok "the reserve was given up" test ! -e "$ballast"
exits "the cluster can be looked at" 0 titan status
exits "the run can be cancelled" 0 titan -y cancel "$run"
ok "and has ended" until_true 20 run_is "$run" cancelled
exits "a backup beside it is refused" 75 titan backup "$TITAN_STATE/b1"
like "which says why" "$err" 'not enough disk space for the backup'
is "and nothing of it is left" "$(find "$TITAN_STATE" -name 'b1*' | wc -l)" 0
exits "where there is room one is made" 0 titan backup "$test_dir/b2"
exits "that is whole" 0 titan fsck "$test_dir/b2"
rm -f "$TITAN_STATE/filler" "$TITAN_STATE/filler2"
accepted() { run=$(titan run -e "j; j='echo there is room'"); }
ok "with room graphs are taken again" until_true 20 accepted
exits "and run" 0 titan --timeout 60s wait "$run"
ok "the reserve is there again" test -s "$ballast"

amount "64 MiB"
done_testing
