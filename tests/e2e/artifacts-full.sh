# SPDX-License-Identifier: GPL-3.0-or-later
# The disk of the master is full when a job leaves files: the job fails with a sentence, and what other jobs left stays.

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
mount -t tmpfs -o size=96m,mode=700 none "$TITAN_STATE" || skip_all "no tmpfs"
trap 'titan -y down >/dev/null 2>&1; umount -l "$TITAN_STATE"; finish' EXIT

start_cluster --slots 1
goods=$TITAN_STATE/default/goods
mkdir work
printf 'jobs:\n  a: {dir: %s/work, artifacts: {out: x}, run: "true"}\n' "$test_dir" >job.yaml
leave() { run=$(titan -q run -w job.yaml 2>/dev/null); }

echo small >work/x
leave
first=$run
is "with room a job leaves its file" "$(titan artifact get "$first/a" x -o -)" small
before=$(find "$goods" -type f | wc -l)
head -c 120000000 /dev/zero >work/x
leave
is "without room the job fails" "$(titan --json show "$run/a" | jq -r '.[0].outcome')" "bad artifacts"
like "with a sentence" "$(titan --json show "$run/a" | jq -r '.[0].artifact_fault')" 'MiB available'
exits "it left nothing" 4 titan artifact ls "$run/a"
is "and nothing of it is there" "$(find "$goods" -type f | wc -l)" "$before"
is "what another left is still there" "$(titan artifact get "$first/a" x -o -)" small
echo again >work/x
exits "with room it is tried again" 0 titan -q retry "$run/a"
exits "and succeeds" 0 titan --timeout 60s wait "$run"
is "with its file" "$(titan artifact get "$run/a" x -o -)" again
done_testing
