# SPDX-License-Identifier: GPL-3.0-or-later
# Text from outside reaches no terminal raw: C0, C1, bidirectional and zero-width characters and broken UTF-8 are
# escaped by every command, in tables, tab-separated values, JSON, pictures and errors.
. "$(dirname "$0")/lib.sh"

# Each is a way to lie on a terminal: erase it by ESC and by C1, run backwards, hide, a tag beyond 16 bits, no UTF-8.
evil=$'E\x1b[2J\u009b2J\u202eR\u200bZ\ufeff\U000e0041\xff'
hidden='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f\xad]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf|\xf3\xa0[\x80-\x81]'
is_raw() { LC_ALL=C grep -aqP "$hidden" "$1"; }

# The JSON form, "\u..." throughout, and the form for people.
json_form='E\\u001b\[2J\\u009b2J\\u202eR\\u200bZ\\ufeff\\udb40\\udc41'
people_form='E\\x1b\[2J\\u009b2J\\u202eR\\u200bZ\\ufeff\\U000e0041\\xff'

# clean WANTED DESCRIPTION COMMAND...: neither stream has a raw character; the text comes out in the form
# WANTED (json, people), or needn't come out at all (-).
clean() {
	local wanted=$1 what=$2 form raw=no
	shift 2
	"$@" >"$test_dir/clean.out" 2>&1 </dev/null
	is_raw "$test_dir/clean.out" && raw=yes
	is "$what writes nothing raw" $raw no || note "$(cat -v "$test_dir/clean.out")"
	case $wanted in
	json) form=$json_form ;;
	people) form=$people_form ;;
	*) return ;;
	esac
	like "$what shows the text escaped" "$(cat "$test_dir/clean.out")" "$form"
}
everywhere() { # COMMAND...: where the text may be in none, but must be raw in none
	for style in -q --plain --json; do
		clean - "$* ($style)" titan "$style" "$@"
	done
}

# An error of a command that is given the text: the whole table of commands is asked, so that none is forgotten.
commands=$(sed -nE 's/^COMMAND\([a-z]+, "([a-z]+)".*/\1/p' "$TITAN_SRCDIR/proto/commands.def")

printf '%s' "$evil" >evil.txt
is 'what is looked for is found' "$(is_raw evil.txt && echo yes)" yes
start_cluster --slots 2

# YAML is UTF-8: the message of a gate has all but the broken byte.
cat >evil.yaml <<'YAML'
jobs:
  gate:
    approval: {message: "E\e[2J\x9b2J\u202eR\u200bZ\uFEFF\U000E0041"}
  last: {needs: [gate], run: "true"}
YAML
clean - 'a gate with a message' titan run evil.yaml
people_form=${people_form%\\\\xff}
titan watch 1 >watch.out 2>&1 &
watcher=$!
ok 'who watches it is told of the gate' until_true 20 grep -q 'gate APPR' watch.out
kill "$watcher"
wait "$watcher"
clean people 'what was told of a gate' cat watch.out
clean json 'approvals in JSON' titan --json approvals
clean people 'approvals for people' titan approvals
clean people 'one approval for people' titan approvals 1
clean json 'a job that is a gate in JSON' titan --json show 1/gate
clean people 'a job that is a gate for people' titan show 1/gate
clean - 'explain of a gate in JSON' titan --json explain 1/gate
clean - 'the picture of the dashboard' titan dash 1 --dump-screen - --exit-after idle --size 200x50
people_form=$people_form'\\xff'

# A command, an environment and a directory may be any bytes.
clean - 'a job in such a directory' titan run -f --dir "$test_dir/$evil" -e 'nowhere=true'
clean json 'a dry run in JSON' titan --json run -n -e "a='echo $evil'"
clean people 'a dry run for people' titan run -n -e "a='echo $evil'"
evil_job=$(titan -q run --env "EVIL=$evil" -e "bad='exit 1 # $evil'; bad" --wait)
for style in --plain --json; do
	for target in "$evil_job" "$evil_job/bad"; do
		clean - "show ($style)" titan $style show "$target"
	done
done
clean json 'a command in JSON' titan --json show "$evil_job/bad"
clean people 'a command for people' titan show "$evil_job/bad"
clean people 'a dead letter for people' titan dlq show "$evil_job/bad"
clean json 'a dead letter in JSON' titan --json dlq show "$evil_job/bad"
clean - 'a rejection with a reason' titan reject 1/gate -m "$evil"
clean json 'a decision in JSON' titan --json show 1/gate
clean people 'a decision for people' titan show 1/gate
clean - 'a lock with a reason' titan lock take door -m "$evil" --ttl 1h
clean json 'locks in JSON' titan --json lock ls
clean people 'locks for people' titan lock ls
clean - 'a value' titan kv set "cluster:$evil" "$evil"
clean people 'keys for people' titan kv ls
clean json 'keys in JSON' titan --json kv ls
clean json 'a value in JSON' titan --json kv get "cluster:$evil"
clean people 'changes of values' titan kv watch --from 0 --limit 1
for command in ls status 'worker ls' 'dlq ls' 'lock ls' 'group ls' 'tenant ls' 'schedule ls' 'pool ls' approvals metrics history 'events --from 0' \
	"show $evil_job" "explain $evil_job/bad" 'watch 1' 'wait 1'; do
	# shellcheck disable=SC2086
	everywhere $command
done

# What a person gave is told in an error as it was written, but escaped.
for command in show explain cancel retry hold release approvals approve watch wait 'dlq show' 'schedule rm' cordon drain validate plan run restore fsck; do
	# shellcheck disable=SC2086
	clean json "the error of $command in JSON" titan --json -y $command "$evil"
	# shellcheck disable=SC2086
	clean people "the error of $command for people" titan -y $command "$evil"
done
for command in logs 'lock take' 'tenant set' 'group rm'; do
	# shellcheck disable=SC2086
	clean - "the error of $command" titan --json -y $command "$evil"
done
is 'there are commands' "$(wc -w <<<"$commands")" "$(grep -c '^COMMAND(' "$TITAN_SRCDIR/proto/commands.def")"
for command in $commands; do
	clean json "$command with such an option in JSON" titan --json "$command" "--$evil"
	clean people "$command with such an option for people" titan "$command" "--$evil"
	clean - "$command with such an argument in JSON" titan --timeout 5s --json "$command" "$evil" "$evil"
	clean - "$command with such an argument for people" titan --timeout 5s "$command" "$evil" "$evil"
done
clean json 'an unknown command in JSON' titan --json "$evil"
clean people 'an unknown command for people' titan "$evil"
clean json 'an unknown option in JSON' titan --json ls "--$evil"
clean people 'an unknown option for people' titan ls "--$evil"
clean people 'a graph that is wrong' titan run -e "$evil -> b"
clean - 'a graph that is wrong in JSON' titan --json run -e "$evil -> b"
printf 'jobs: {a: {run: x, "%s": 1}}\n' 'E\e[2J\x9b2J\u202eR\u200bZ\uFEFF\U000E0041' >wrong.yaml
clean json 'a pipeline that is wrong in JSON' titan --json run wrong.yaml
clean - 'a pipeline that is wrong' titan run wrong.yaml
clean json 'a state directory in JSON' env TITAN_STATE="$test_dir/$evil" "$TITAN" --json ls
clean people 'a state directory for people' env TITAN_STATE="$test_dir/$evil" "$TITAN" ls
clean - 'a backup to such a file' titan backup "$evil.db"
clean - 'a check of it' titan --json fsck "$evil.db"
clean people 'a check of it for people' titan fsck "$evil.db"

# What a person is asked, on a terminal.
if command -v python3 >/dev/null; then
	asked() { printf 'n\n' | timeout 20 python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$TITAN" "$@" | tr -d '\r'; }
	clean people 'a question' asked backup "$evil.db"
	like 'which is one' "$(cat "$test_dir/clean.out")" 'overwriting .*\? \[y/N\]'
fi

# The rest of what is printed while a job runs and is followed, and of what a person is told of places and daemons.
clean - 'a run that is followed' titan run -f --name plain -e "bad='echo $evil; exit 1'"
clean - 'the same in JSON' titan --json run -f -e "bad='echo $evil; exit 1'"
clean - 'a run that is watched in JSON' titan --json watch "$evil_job"
mkdir -m 700 "$test_dir/$evil"
mkdir -m 777 "$test_dir/$evil/open"
chmod 777 "$test_dir/$evil/open"
clean people 'a warning of up' env TITAN_STATE="$test_dir/$evil/open" "$TITAN" up
clean - 'the log of a master' cat "$test_dir/$evil/open/default/master.log"
clean - 'the state of such a cluster' env TITAN_STATE="$test_dir/$evil/open" "$TITAN" --json status
clean - 'its end' env TITAN_STATE="$test_dir/$evil/open" "$TITAN" -y down

done_testing
