# SPDX-License-Identifier: GPL-3.0-or-later
# The same facts for people, for scripts and for programs.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
titan run --name nightly -w -e "a -> b; a=true; b=true" >/dev/null
ok "status is JSON" sh -c "'$TITAN' --json status | jq -e '.master.pid and .master.generation == 1 and (.workers | length) == 1 and .counts'"
ok "ls is JSON" sh -c "'$TITAN' --json ls | jq -e '.[0].name == \"nightly\" and .[0].state == \"succeeded\"'"
ok "show is JSON" sh -c "'$TITAN' --json show last | jq -e '.[0] | .jobs | length == 2'"
is "plain output is tab-separated, without a header" "$(titan --plain ls | awk -F'\t' 'NR == 1 {print $2}')" nightly
is "a template" "$(titan --format '{name}={state}' ls)" nightly=succeeded
like "a table for people" "$(titan ls)" 'PIPELINE'
run=$(titan --json run -e "a; a=true" | jq -r .run)
like "run answers in JSON" "$run" '^[0-9]+$'

out=$(titan run -f -e "a -> b; a='echo hello'; b='echo oops; false'" 2>"$test_dir/err")
is "following a run that fails has its exit status" $? 1
like "it says that it began" "$out" '^#[0-9]+ start .* 2 jobs'
like "each failure" "$out" '^#[0-9]+ b FAIL exit=1'
like "its last lines" "$out" 'oops'
like "and the end" "$out" '^#[0-9]+ FAIL ok=1 fail=1'

for shell in bash zsh fish; do
	ok "completion for $shell" titan completion $shell
done
ok "bash takes it" bash -n <(titan completion bash)
exits "a dashboard can be dumped" 0 titan dash --dump-screen "$test_dir/screen" --exit-after idle --size 80x24
like "it shows the run" "$(cat "$test_dir/screen")" 'nightly'
is "in its size" "$(head -n 24 "$test_dir/screen" | wc -l)" 24

done_testing
