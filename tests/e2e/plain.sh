# SPDX-License-Identifier: GPL-3.0-or-later
# The columns of --plain are those that the manual of the command lists, in that order.
# time-out: 200 s
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || skip_all "no jq"

manuals=$e2e_dir/../../man
# Print the columns that a page lists for what is typed, one a line.
in_manual() { # WORDS
	awk -v words=".Nm titan $1 :" '
		/^\.\\" BEGIN columns/ { within = 1 } /^\.\\" END/ { within = 0 }
		within && /^\.Nm titan/ { on = $0 == words }
		within && on && /^\.Sy / { print $2 }
	' "$manuals/titan-${1%% *}.1"
}
tested=
# The plain rows are what a template with the manual's columns prints. What grows with time is hidden by HIDE.
rows() { # WORDS HIDE ARG...
	local words=$1 hide=$2 template
	shift 2
	tested+="$words"$'\n'
	template=$(in_manual "$words" | sed 's/.*/{&}/' | paste -sd '\t' | sed 's/\t/\\t/g')
	exits "titan --plain $*" 0 titan --plain "$@"
	like '... prints rows' "$out" '.'
	is '... with the columns of the manual' "$(sed -E "s/$hide//g" <<<"$out")" \
		"$(titan --format "$template" "$@" | sed -E "s/$hide//g")"
}
# An object is lines of a name and a value.
object() { # WORDS ARG...
	local words=$1
	shift
	tested+="$words"$'\n'
	exits "titan --plain $*" 0 titan --plain -y "$@"
	is '... has the fields of the manual' "$(cut -f1 <<<"$out")" "$(in_manual "$words")"
}

start_cluster --slots 2
none='^$'
cat >nightly.yaml <<'END'
name: nightly
schedule: {cron: "0 3 * * *"}
jobs:
  good: {run: "echo hi"}
  bad: {run: "exit 3", needs: [good]}
  ask: {approval: {message: "good?"}, needs: [good]}
  later: {run: "true", needs: [ask], locks: [mine], env: {A: b}}
END
run=$(titan -q run nightly.yaml)
ended=$(titan -q run -w -e 'a -> b; a="echo one"; b=false' 2>/dev/null)
fine=$(titan -q run -w -e 'a="echo fine"')
until_true 30 job_is "$run" ask approval
until_true 30 job_is "$run" bad failed
titan -q token add anna -o anna.key
titan -q lock take mine -m "by hand"
titan -q group set db --max 2
titan -q topic set 'film.*' gpu
titan -q tenant set ana --weight 2
titan -q schedule add nightly.yaml

rows 'ls [RUN...]' "$none" ls "$ended"
rows 'show RUN' "$none" show "$ended"
object 'show RUN/JOB' show "$ended/b"
rows 'explain RUN[/JOB]...' "$none" explain "$ended"
rows 'wait RUN...' "$none" wait --timeout 10s "$fine"
rows 'graph RUN|FILE' "$none" graph "$ended"
rows 'watch RUN' "$none" watch "$fine"
rows 'events [RUN]' "$none" events "$ended"
rows 'history' "$none" history
rows 'analyze RUN' "$none" analyze "$ended"
rows 'plan FILE' "$none" plan nightly.yaml
rows 'run -n FILE' "$none" run -n nightly.yaml
rows 'validate FILE...' "$none" validate nightly.yaml
rows 'approvals [RUN]' '[0-9]+' approvals
rows 'approve -n RUN...' '[0-9]+' approve -n "$run/ask"
rows 'dlq ls' '[0-9]+' dlq ls
object 'dlq show' dlq show "$run/bad"
rows 'dlq requeue' "$none" dlq requeue -n "$run/bad"
rows 'cancel RUN[/JOB]...' "$none" cancel -n "$run"
rows 'retry RUN[/JOB]...' "$none" retry -n "$run"
rows 'hold RUN[/JOB]...' "$none" hold -n "$run"
rows 'release RUN[/JOB]...' "$none" release -n "$run"
rows 'priority RUN[/JOB] N' "$none" priority -n "$run" 70
rows 'schedule ls' "$none" schedule ls
object 'schedule show' schedule show nightly
rows 'group ls' "$none" group ls
object 'group show' group show db
rows 'lock ls' "$none" lock ls
object 'lock show' lock show mine
rows 'tenant ls' "$none" tenant ls
object 'tenant show' tenant show ana
rows 'token ls' "$none" token ls
rows 'worker ls' '[0-9.]+' worker ls
object 'worker show' worker show local
rows 'pool ls' '[0-9.]+' pool ls
object 'pool show' pool show default
rows 'topic ls' "$none" topic ls
object 'topic show' topic show 'film.*'
rows 'cordon WORKER...' "$none" cordon -n local
rows 'uncordon WORKER...' "$none" uncordon -n local
rows 'drain WORKER...' "$none" drain -n local
rows 'config [KEY...]' "$none" config
rows 'doctor' '[0-9.]+' doctor
titan -q priority "$run" 60
object 'undo [ACT]' undo -n
object 'prune' prune -n --keep 0
rows 'audit export' "$none" audit export
object 'audit verify' audit verify
object 'audit head' audit head
object 'up' up
printf 'jobs: {a: {artifacts: {out: x}, run: "echo hi >x"}}\n' >left.yaml
left=$(titan -q run -w --private left.yaml)
rows 'artifact ls RUN' "$none" artifact ls "$left"
rows 'artifact ls RUN/JOB' "$none" artifact ls "$left/a"
object 'artifact get' artifact get "$left/a" -o got.left
titan -q asset put nightly.yaml nightly >/dev/null
rows 'asset ls' "$none" asset ls
object 'asset show' asset show nightly
object 'asset put' asset put nightly.yaml nightly
object 'asset get' asset get nightly -o got
object 'asset pin' asset pin -n nightly
object 'asset rm' asset rm -n nightly
titan -q kv set cluster:color blue
titan -q kv sadd cluster:colors blue
rows 'kv ls' "$none" kv ls cluster:
object 'kv get' kv get cluster:color
rows 'kv smembers' "$none" kv smembers cluster:colors
titan -q -H master.example.org:7484 --key anna.key cluster add prod
rows 'cluster ls' "$none" cluster ls
titan -q approve "$run/ask" -m fine
rows 'approvals --all' "$none" approvals --all
tested+='logs RUN[/JOB]...'$'\n'
columns=$(in_manual 'logs RUN[/JOB]...' | sed 's/^/./' | paste -sd,)
is 'lines of output have the columns of the manual' \
	"$(titan --plain logs "$ended")" "$(titan --json logs "$ended" | jq -r "[$columns] | @tsv")"

# All others are looked at, but for those of acts that have no dry run and of commands that read from a pipe or go on (kv.sh has them).
for words in $(sed -nE 's/^\.Nm titan (.*) :$/\1/p' "$manuals"/*.1 | tr ' ' '_' | sort -u); do
	case ${words//_/ } in
	'run FILE' | 'run -f FILE' | reject* | pushback* | settle* | 'approve RUN'*) ;;
	'kv txn' | 'kv watch') ;;
	*' set' | *' pause' | *' fire' | *' take' | *' drop' | *' add' | *' rm' | 'worker restart' | 'worker upgrade' | 'worker start'* | 'worker stop' | 'diff RUN RUN' | 'dlq requeue --edit') ;;
	*) ok "the columns of ${words//_/ } are looked at" grep -qxF "${words//_/ }" <<<"$tested" ;;
	esac
done

done_testing
