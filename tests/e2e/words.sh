# SPDX-License-Identifier: GPL-3.0-or-later
# Texts for people: causes down to the first one, tries, next commands that are right, and help where no state
# directory can be made.
. "$(dirname "$0")/lib.sh"

for command in --help --version version help 'help dag' 'run --help' 'completion bash'; do
	# shellcheck disable=SC2086
	exits "titan $command needs no place for state" 0 env -i "$TITAN" $command
done
exits 'a command that has state does' 2 env -i "$TITAN" ls
like 'and says how to name one' "$err" 'TITAN_STATE'
exits 'too large a number' 2 titan ls --limit 99999999999999999999
like 'is a number all the same' "$err" 'must be between 1 and'

mkdir -p -m 700 "$TITAN_STATE/broken"
echo 'no store at all, whatever else' >"$TITAN_STATE/broken/titan.db"
chmod 600 "$TITAN_STATE/broken/titan.db"
exits "a master that doesn't start lends its status to titan up" 74 titan -C broken up
like 'its words' "$err" "^titan: the master didn't start: .*broken/titan.db.*not a database"
like 'and its advice' "$err" "try: titan restore FILE.* move .*/broken away"

start_cluster --slots 2

out=$(titan run -f -e 'fetch -> unpack -> enc*2 -> pub; fetch="exit 7" retry=1; unpack=true; enc=true; pub=true')
like 'a try has its limit beside it' "$out" 'fetch FAIL exit=7 try=2/2'
like 'who waited for it names it' "$out" 'unpack SKIP because of fetch$'
like 'and who waited for that names both' "$out" 'pub SKIP because of enc\[0\], as fetch failed$'
like 'so does show' "$(titan show last)" 'because enc\[0\] was skipped, as fetch failed$'
like 'and the dashboard' "$(titan dash --view dag --dump-screen - --size 120x30 --exit-after idle)" \
	'pub .*SKIP +because of enc\[0\], as fetch failed'

out=$(titan run -f -e 'away=true' --dir "$test_dir/nowhere")
like 'a working directory that is missing is the reason' "$out" "away FAIL not started: the working directory isn't there"

exits 'a job in full' 0 titan --json show last/away
is 'has its priority' "$(printf '%s' "$out" | jq '.[0].priority')" 50
is 'and how often its worker was lost' "$(printf '%s' "$out" | jq '.[0].crashes')" 0
is 'and why it was not started' "$(printf '%s' "$out" | jq -r '.[0].spawn_error')" 'No such file or directory'

out=$(titan run -w -e "named=true dir=$test_dir/nowhere" 2>&1)
like 'a job that names the directory tells its name' "$out" "named FAIL.* not started: the working directory $test_dir/nowhere isn't there"
exits 'the reason is that of explain' 0 titan explain last/named
like 'too' "$out" "the working directory $test_dir/nowhere isn't there"

if [ -c /dev/full ]; then
	exits 'a number that nobody can read' 71 sh -c '"$1" run -e lone=true >/dev/full' sh "$TITAN"
	like 'is told all the same' "$err" 'run [0-9]+ was accepted'
fi

slow=$(titan -q run -e 'slow="sleep 600"')
until_true 20 job_is "$slow" slow running
exits 'one that has ended is no reason to leave the others' 1 titan cancel 1 "$slow" --wait
like 'and is named' "$err" 'run 1 has already ended'
is 'they are cancelled' "$(run_state "$slow")" cancelled
exits 'a cancelled job' 0 titan --json ls --limit 1
is "isn't counted as a failure" "$(printf '%s' "$out" | jq -c '.[0] | [.failed, .cancelled]')" '[0,1]'
slow=$(titan -q run -e 'slow="sleep 600"')
exits 'cancel has a value too' 0 titan --json cancel "$slow"
is 'that says what it did' "$(printf '%s' "$out" | jq -c '[.[] | [.run, .changed, .job]]')" "[[$slow,1,null]]"

# Nobody knows what became of a job that may start once only, until its worker comes back.
export TITAN_CLUSTER=once TITAN_HEARTBEAT=200ms TITAN_LEASE=600ms TITAN_GRACE=1500ms
start_cluster
titan run -f -e 'pay="sleep 600" mode=once' >"$test_dir/once.out" 2>&1 &
until_true 20 job_is 1 pay running
kill_worker "$(guardian_pid)"
ok 'a lost worker leaves a job unknown' until_true 30 grep -q 'pay UNKN lost' "$test_dir/once.out"
like 'with what can be done' "$(cat "$test_dir/once.out")" 'pay UNKN .*titan cancel 1/pay$'
like 'in the dashboard it needs a person' "$(titan dash --dump-screen - --exit-after idle)" '^  . UNKN +1[ /]pay .*may have run'
titan up >/dev/null
ok 'and its worker says that it runs' until_true 30 job_is 1 pay running
is 'with no result of before' "$(titan --json show 1/pay | jq '.[0] | .outcome')" null
titan cancel 1 --wait
wait $!
titan -y down
unset TITAN_CLUSTER TITAN_HEARTBEAT TITAN_LEASE TITAN_GRACE

exits 'a log can be JSON lines' 0 titan --json logs 1/fetch
exits "a run that isn't there isn't drawn" 4 titan dash 4711 --dump-screen - --exit-after idle
mkfifo "$test_dir/fifo"
timeout 20 cat "$test_dir/fifo" >"$test_dir/picture" &
ok 'a picture goes into what is no file' titan dash --dump-screen "$test_dir/fifo" --exit-after idle
ok 'and leaves it what it was' test -p "$test_dir/fifo"
wait $!
like 'whole' "$(cat "$test_dir/picture")" 'NEEDS YOU'

done_testing
