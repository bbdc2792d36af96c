# SPDX-License-Identifier: GPL-3.0-or-later
#
# The dashboard of a cluster with more runs than an answer of the master has: keys page on, and a failure that nobody has
# dealt with stays in NEEDS YOU. And why jobs wait.
. "$(dirname "$0")/lib.sh"

ok 'the cluster starts' titan up --slots 2
old=$(titan -q run -e 'fetch; fetch="exit 3"')
titan wait "$old" >/dev/null 2>&1
for ((i = 0; i < 1100; i++)); do
	echo "-q run -e 'skipped; skipped=true when=\"1 == 2\"'"
done >script
ok '1,100 runs follow a failed one' eval 'titan repl <script >numbers'
titan wait "$(tail -n 1 numbers)" >/dev/null 2>&1

exits 'Home shows the newest runs' 0 titan dash --dump-screen - --exit-after=idle
like 'and says how many there are' "$out" 'RUNS \(newest 1,000 of 1,101\)'
like 'the old failure needs somebody' "$out" "FAIL +$old/fetch +exit 3"

waits=$(titan -q run -e 'gpu; held; ?gate; gpu=true label=gpu; held=true label=gpu; gate="good?"')
ok 'a job is held' titan hold "$waits/held"
graph=$(titan dash "$waits" --view dag --dump-screen - --exit-after=idle --size 100x24)
like 'a job shows the reason that explain tells' "$graph" 'gpu +QUEUE +no connected worker meets the label requirement gpu'
like 'a held one that it is held' "$graph" 'held +HOLD +'
like 'and a gate how many have approved' "$graph" 'gate +APPR +0 of 1 approved'
titan cancel "$waits" -y >/dev/null 2>&1

command -v tmux >/dev/null 2>&1 || done_testing

open_terminal
ok 'a shell in a terminal' until_true 10 sees 'shell>'
keys 'titan dash' Enter
ok 'the dashboard opens' until_true 10 sees 'titan default rw LIVE'
keys 2
until_true 10 sees 'newest 1,000 of 1,102'
keys End
ok 'the last key reads all runs' until_true 20 sees 'RUNS \(1,102\)'
ok 'and selects the first of all' until_true 10 sees "^> $old +fetch +. FAIL"
keys d
ok 'whose graph opens' until_true 10 sees "^DAG fetch #$old"
keys 1
until_true 10 sees 'NEEDS YOU \(1\)'
ok 'its failure is discarded' titan dlq discard "$old" -y
ok 'and needs nobody any more' until_true 10 sees 'NEEDS YOU: nothing'

done_testing
