# SPDX-License-Identifier: GPL-3.0-or-later
# Completion: what titan offers for each kind of argument, and that bash, zsh and fish show it.
. "$(dirname "$0")/lib.sh"
command -v tmux >/dev/null || skip_all 'no tmux'

words() { titan completion words -- "$@" | cut -f1 | tr '\n' ' '; }

start_cluster --slots 4
titan -q run --wait -e 'quick=true' >/dev/null
titan -q run --wait -e 'broken=false' >/dev/null
live=$(titan -q run -e 'slow -> ?ask; slow="sleep 600"')
titan -q run -e 'go -> ?qa; go=true' >/dev/null
gate=$((live + 1))
until_true 20 sh -c "\"$TITAN\" --json approvals | grep -q qa"
titan lock take deploy --owner ci >/dev/null 2>&1

is 'a verb' "$(words canc)" 'cancel '
is 'a verb has its help behind a tab' "$(titan completion words -- canc | cut -f2)" "$(titan completion words -- cance | cut -f2)"
like 'and that is no empty text' "$(titan completion words -- canc)" "	[a-z]"
is 'live runs to cancel' "$(words cancel '' | tr ' ' '\n' | grep -c '^[0-9]')" 2
unlike 'no ended run' "$(words cancel '')" '(^| )1 '
like 'all runs to show' "$(words show '')" '(^| )1 '
like 'and the newest by its word' "$(words show l)" '^last $'
is 'a run that failed to retry' "$(words retry '' | tr ' ' '\n' | grep -c '^[0-9]')" 1
is 'jobs of a live run' "$(words logs "$live/s")" "$live/slow "
is 'jobs of an ended one' "$(words logs 1/q)" '1/quick '
is 'gates to approve' "$(words approve '')" "$gate/qa "
is 'workers to cordon' "$(words cordon '')" 'local '
is 'locks to drop' "$(words lock drop '')" 'deploy '
is 'files to run' "$(words run '')" ':files '
is 'values of an option' "$(words --color=al)" '--color=always '
is 'jobs of the run, to push back to' "$(words pushback "$gate/qa" --to '')" 'go qa '
is 'or to run alone' "$(words retry 2 --only b)" 'broken '
is 'live runs to add to' "$(words run --into '' | tr ' ' '\n' | grep -c '^[0-9]')" 2
is 'words of states' "$(words ls FA)" 'FAIL '
like 'settings' "$(words config sl)" '^slots $'
is 'one of a choice' "$(words events --kind g)" 'gate '
is 'and a further one behind a comma' "$(words events --kind job,g)" 'job,gate '
is 'also behind =' "$(words events --kind=job,g)" '--kind=job,gate '
titan -q token add anna -o anna.key
is 'tokens to remove' "$(words token rm '')" 'anna '
like 'also by their ids' "$(words token rm anna.)" '^anna\.[a-z0-9]{6} $'
is 'but none to add' "$(words token add '')" ''
export XDG_CONFIG_HOME=$test_dir/config
titan -q -H master.example.org --key anna.key cluster add prod
is 'clusters of other machines to forget' "$(words cluster rm '')" 'prod '
like 'or to talk to' "$(words -C '')" '(^| )prod '
printf 'name: nightly\nschedule: {cron: "0 3 * * *"}\njobs: {a: {run: "true"}}\n' >nightly.yaml
titan -q schedule add nightly.yaml
is 'schedules to fire' "$(words schedule fire '')" 'nightly '
mkdir -m 700 "$TITAN_STATE/other"
like 'clusters' "$(words -C '')" '(^| )other '
is "another cluster's runs, without a master" "$(words -C other cancel '')" ''
for key in zebra/1 zebra/2 'a$(b)'; do titan kv set "cluster:$key" x; done
titan kv set "run/$live:step" x
is 'namespaces of values' "$(words kv get '')" 'cluster: def/ run/ '
is 'keys behind their namespace' "$(words kv get cluster:z)" 'cluster:zebra/1 cluster:zebra/2 '
is 'none that a shell would run' "$(words kv get cluster:a)" ''
is 'namespaces of live runs' "$(words kv set "run/$live")" "run/$live: "
is 'keys of a run' "$(words kv watch "run/$live:")" "run/$live:step "
is 'namespaces of definitions' "$(words kv ls def/qu)" 'def/quick: '
exits 'a shell without completion' 2 titan completion tcsh
like 'is told the three that have one' "$err" 'choose bash, zsh or fish'

# More jobs than one answer looks at, and a fan-out is one word.
big=$(titan -q run -e 'first -> many*60000 -> zlast; first="sleep 600"; many=true; zlast=true')
is 'a fan-out is one word' "$(words logs "$big/m")" "$big/many[ "
is 'its members come behind the bracket' "$(words logs "$big/many[5999" | tr ' ' '\n' | grep -c many)" 11
is 'and the last job is found' "$(words logs "$big/z")" "$big/zlast "
titan cancel -y "$big" >/dev/null

open_terminal
keys 'source <(titan completion bash)' Enter 'titan canc' Tab
ok 'bash completes a verb' until_true 20 sees 'titan cancel ?$'
keys "$live/sl" Tab
ok 'and a job' until_true 20 sees "titan cancel $live/slow ?$"
keys C-u 'titan approve ' Tab
ok 'and a gate' until_true 20 sees "titan approve $gate/qa ?$"
keys C-u 'titan --color al' Tab
ok 'and the value of an option' until_true 20 sees 'titan --color always ?$'
keys C-u 'titan token rm a' Tab
ok 'and a token' until_true 20 sees 'titan token rm anna ?$'
keys C-u 'titan schedule fi' Tab
ok 'and a word of an object' until_true 20 sees 'titan schedule fire ?$'
keys C-u 'titan kv get clu' Tab
ok 'and a namespace, without a blank behind it' until_true 20 sees 'titan kv get cluster:$'
keys 'ze' Tab 2 Tab
ok 'and a key behind its colon' until_true 20 sees 'titan kv get cluster:zebra/2 ?$'
touch "$test_dir/my pipeline.yaml"
keys C-u 'titan run my' Tab
ok 'and a file with a blank' until_true 20 sees 'titan run my\\ pipeline.yaml ?$'
rm "$test_dir/my pipeline.yaml"
keys C-u

shell_has() { # SHELL
	command -v "$1" >/dev/null && return
	test_count=$((test_count + 1))
	echo "ok $test_count - $1 # SKIP $1 isn't installed"
	return 1
}

if shell_has zsh; then
	keys "PS1='zsh> ' zsh -f -i" Enter
	until_true 20 sees 'zsh> $'
	keys 'source <(titan completion zsh)' Enter
	until_true 20 sees 'completion zsh'
	keys 'titan canc' Tab
	ok 'zsh completes a verb' until_true 20 sees 'titan cancel ?$'
	keys C-u "titan logs $live/sl" Tab
	ok 'and a job' until_true 20 sees "titan logs $live/slow ?$"
	keys C-u 'titan approve ' Tab
	ok 'and a gate' until_true 20 sees "titan approve $gate/qa ?$"
	keys C-u 'titan kv get cluster:ze' Tab 2 Tab
	ok 'and a key' until_true 20 sees 'titan kv get cluster:zebra/2 ?$'
	keys C-u 'titan cluster rm p' Tab
	ok 'and a cluster' until_true 20 sees 'titan cluster rm prod ?$'
	keys C-u exit Enter
	unlike 'it says nothing when it is sourced' "$(PATH=$test_dir/bin:$PATH zsh -f -i -c 'source <(titan completion zsh)' 2>&1)" .
	mkdir "$test_dir/zfunc"
	titan completion zsh >"$test_dir/zfunc/_titan"
	is 'compinit finds it as a file too' "$(zsh -f -c "fpath=($test_dir/zfunc \$fpath); autoload -Uz compinit; compinit -u -D; echo \$_comps[titan]")" _titan
fi

if shell_has fish; then
	fish_words() {
		PATH=$test_dir/bin:$PATH fish --no-config -c "titan completion fish | source; complete -C '$1'" | cut -f1 | tr '\n' ' '
	}
	is 'fish completes a verb' "$(fish_words 'titan canc')" 'cancel '
	is 'and a job' "$(fish_words "titan logs $live/sl")" "$live/slow "
	is 'and a gate' "$(fish_words 'titan approve ')" "$gate/qa "
	is 'and a schedule' "$(fish_words 'titan schedule rm ')" 'nightly '
	is 'and a worker' "$(fish_words 'titan drain lo')" 'local '
	is 'and keys' "$(fish_words 'titan kv get cluster:ze')" 'cluster:zebra/1 cluster:zebra/2 '
	is 'and an option' "$(fish_words 'titan cancel --wai')" '--wait '
	touch "$test_dir/pipeline.yaml"
	is 'and a file' "$(fish_words 'titan run pipel')" 'pipeline.yaml '
fi

done_testing
