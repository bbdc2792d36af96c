# SPDX-License-Identifier: GPL-3.0-or-later
# A worker that can't start jobs gives them back and gets none for a while: no job is lost, the worker reports what it
# lacks, and it is tried again.
. "$(dirname "$0")/lib.sh"

worker_of() { state_of ".workers[] | select(.name == \"$1\") | $2"; }
is_up() { [ "$(worker_of "$1" .state)" = up ]; }
refuses() { [ "$(worker_of "$1" .refused_why)" = "$2" ]; }
says_why() { titan explain "$1" | grep -q "$2"; }

start_cluster --slots 8
(
	ulimit -n 40
	exec "$TITAN" worker start --name poor --slots 8 --label poor
) >poor.log 2>&1 &
poor=$!
until_true 10 is_up poor || note "the poor worker never came up"

exits "1,000 jobs for two workers, one with 40 descriptors, all end well" 0 \
	titan --timeout 120s run --wait -e "{a*1000}; a='sleep 0.02'"
is "none is dead" "$(titan --json dlq ls | jq length)" 0

# Nothing else has its label: some start, and while they run the others wait for it.
hold=$test_dir/hold
: >"$hold"
run=$(titan run -e "{a*20}; a='while [ -e $hold ]; do sleep 0.1; done' label=poor")
ok "it can't open more files, and rests" until_true 20 refuses poor 'Too many open files'
like "status names it, and what to do" "$(titan status)" '^alarm +worker poor can.t start jobs: Too many open files; .* next: raise the worker.s limit of open files'
like "so does the list of workers" "$(titan worker ls)" '^alarm +worker poor can.t start jobs'
like "the dashboard needs a person" "$(titan dash --dump-screen - --exit-after idle --size 100x24)" "FAILS +poor +can't start jobs: Too many open files"
like "its log says it, and not for each job" "$(grep -c 'Too many open files; the job goes back' poor.log)" '^[1-9]$'
rm "$hold"
exits "they end well in turns, as many as it can start" 0 titan --timeout 120s wait "$run"
is "each with its first try" "$(titan --json show "$run" | jq -c '.[0] | [.jobs[].tries] | unique')" '[1]'
kill "$poor"
wait "$poor"

# A worker whose disk is full, in a mount namespace of its own.
dir=$TITAN_STATE/default/worker/tight
mkdir -p "$dir"
chmod 700 "$TITAN_STATE/default/worker" "$dir"
if unshare -m mount -t tmpfs -o size=2m,mode=700 none "$dir" 2>/dev/null; then
	unshare -m sh -c "mount -t tmpfs -o size=2m,mode=700 none '$dir' &&
		exec '$TITAN' worker start --name tight --slots 8 --label tight" >tight.log 2>&1 &
	tight=$!
	until_true 10 is_up tight || note "the tight worker never came up"
	pid=$(worker_of tight .pid)
	dd if=/dev/zero of="/proc/$pid/root$dir/filler" bs=4096 2>/dev/null
	run=$(titan run -e "j; j='echo there is room' label=tight")
	ok "a full disk starts nothing" until_true 10 refuses tight 'No space left on device'
	ok "explain says why the job waits" until_true 10 says_why "$run/j" "worker tight (No space left on device) can't start jobs"
	exits "other workers take all of 1,000 jobs" 0 titan --timeout 120s run --wait -e "{a*1000}; a='echo a'"
	is "and none is dead" "$(titan --json dlq ls | jq length)" 0
	rm "/proc/$pid/root$dir/filler"
	exits "with room the job runs by itself" 0 titan --timeout 60s wait "$run"
	is "with its first try" "$(titan --json show "$run" | jq -c '.[0] | .jobs[0].tries')" 1
	ok "and the alarm is over" until_true 10 refuses tight null
	unlike "status has no other" "$(titan status)" '^alarm .*tight'
	kill "$tight"
	wait "$tight"
else
	note "nothing can be mounted here: the full disk isn't tried"
fi

amount "2 workers"
done_testing
