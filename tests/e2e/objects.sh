# SPDX-License-Identifier: GPL-3.0-or-later
# titan OBJECT: without a verb it lists; ls, show and rm mean the same for every object; a wrong verb's error names the
# right one.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
cat >nightly.yaml <<'END_YAML'
name: nightly
schedule: {cron: "0 3 * * *"}
jobs: {a: {run: "true"}}
END_YAML
titan -q schedule add nightly.yaml
titan -q group set db --max 2
titan -q tenant set ana --max-jobs 3
titan -q lock take deploy >/dev/null
for pair in worker:local pool:default tenant:ana group:db lock:deploy schedule:nightly; do
	object=${pair%:*} name=${pair#*:}
	exits "titan $object alone" 0 titan --plain "$object"
	like "lists" "$out" "^$name"
	exits "titan $object show $name" 0 titan --json "$object" show "$name"
	is "is that one" "$(printf '%s' "$out" | jq -r .name)" "$name"
	exits "titan $object show of another" 4 titan "$object" show nobody
	like "says so" "$err" "no $object 'nobody'"
	exits "titan $object list" 2 titan "$object" list
	like "leads to ls" "$err" "did you mean 'ls'"
	exits "titan $object frobnicate" 2 titan "$object" frobnicate
	like "lists the words" "$err" 'expected ls, '
	exits "titan $object ls of something" 2 titan "$object" ls this
done
exits "titan dlq alone lists, too" 0 titan --json dlq
is "nothing yet" "$out" '[]'
exits "delete leads to rm" 2 titan schedule delete nightly
like "as it means the same" "$err" "did you mean 'rm'"
exits "a misspelt word" 2 titan schedule mr nightly
unlike "doesn't lead there" "$err" "did you mean"
exits "a lock is taken, not acquired" 2 titan lock acquire x
like "it says" "$err" "did you mean 'take'"
exits "options of a worker without start" 2 titan worker --slots 3
like "lead to start" "$err" 'titan worker start'
is "the schedule is still there" "$(titan --plain schedule | cut -f 1)" nightly
exits "show of a removed one" 0 titan group rm db
exits "finds none" 4 titan group show db
done_testing
