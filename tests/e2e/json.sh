# SPDX-License-Identifier: GPL-3.0-or-later
# What commands print with --json fits share/schema; errors are JSON on standard error.
# time-out: 200 s
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip_all "python3 isn't installed"

tests=$e2e_dir/..
schema=$tests/../share/schema
mkdir said
said=0
# fits SCHEMA DESCRIPTION ARG...: keep what the command says; all of it is checked at the end. Its exit status doesn't matter.
fits() {
	local name=$1 what=$2
	shift 2
	said=$((said + 1))
	echo "$what: titan --json $*" >"said/$said.$name.what"
	titan --json -y "$@" >"said/$said.$name.json" 2>"said/$said.$name.err" </dev/null
}
# The same for a command that prints a value on each line.
fits_lines() {
	fits "$@"
	mv "said/$said.$1.json" "said/$said.$1.lines"
}

start_cluster --slots 2
me=$(id -un)
cat >work.yaml <<'END'
name: work
jobs:
  good: {run: "echo hi"}
  bad: {run: "exit 3", retry: {max: 1, backoff: 10ms}, needs: [good]}
  after: {run: "true", needs: [bad]}
  none: {run: "true", worker: {labels: [nobody-has]}}
  gone: {run: "no-such-program-anywhere", needs: [good]}
  shot: {run: "kill -9 $$", needs: [good]}
  ask: {approval: {message: "good?"}}
  next: {run: "true", needs: [ask]}
  fan: {run: "true", matrix: {at: [a, b, c]}, delay: 1h}
  held: {run: "true", locks: [mine], delay: 1h}
END
sed 's/^name: work/name: nightly\nschedule: {cron: "0 3 * * *"}/' work.yaml >nightly.yaml

fits validate "validate" validate work.yaml
fits plan "plan" plan work.yaml
fits run "a dry run" run -n work.yaml
fits run "run" run work.yaml
fits run "and wait" run -w -e "one=true"
run=$(titan --json ls --name work | jq '.[0].run')
until_true 30 job_is "$run" bad failed
until_true 30 job_is "$run" gone failed
until_true 30 job_is "$run" shot failed
until_true 30 job_is "$run" ask approval

fits status "status" status
fits version "version" version
fits metrics "metrics" metrics
fits graph "a graph" graph "$run"
fits graph "of a pipeline" graph work.yaml
fits_lines logs "logs" logs "$run"
fits_lines logs "of one job" logs "$run/good"
fits_lines events "events" events
fits_lines run "run -f" run -f -e "ok=true; bad='exit 3'; shot='kill -9 \$\$'"
fits_lines watch "watch" watch last
fits up "up" up
fits token "a token" token add anna
fits token "tokens" token ls
fits token "one goes" token rm anna
(umask 77 && echo "t1:ann.abcdef:$(printf '0%.0s' $(seq 64))" >ann.key)
export XDG_CONFIG_HOME=$test_dir/config
fits cluster "a cluster" -H master.example.org --key ann.key cluster add prod
fits cluster "clusters" cluster ls
fits cluster "the default" cluster default prod
fits cluster "it is local again" cluster default local
fits cluster "one goes" cluster rm prod
fits config "settings" config
fits doctor "doctor" doctor
fits ls "ls" ls
fits ls "ls of none" ls --name nobody
fits show "show of a run" show "$run"
fits show "of several" show "$run" last
for job in good bad after none gone shot ask next 'fan[0]' held; do
	fits show "show of $job" show "$run/$job"
	fits explain "explain of $job" explain "$run/$job"
done
fits analyze "an analysis" analyze "$run"
fits diff "a difference" diff "$run" last
fits show "show of a fan-out" show "$run/fan"
fits explain "explain of a run" explain "$run"
fits wait "wait" --timeout 0 wait "$run"
fits approvals "approvals" approvals
fits dlq "dead letters" dlq ls
fits dlq "one of them" dlq show "$run/bad"
fits dlq "a dry run of a requeue" dlq requeue -n all
fits dlq "a requeue" dlq requeue "$run/bad"
fits dlq "a discard" dlq discard "$run/gone"
fits hold "hold" hold "$run" "$run/next"
fits undo "a dry undo" undo -n
fits release "release" release "$run" "$run/next"
fits priority "priority" priority "$run" 70
fits retry "retry" retry -n "$run"
fits schedule "a schedule" schedule add nightly.yaml
fits schedule "schedules" schedule ls
fits schedule "one of them" schedule show nightly
fits schedule "fired" schedule fire nightly
fits schedule "paused" schedule pause nightly
fits schedule "resumed" schedule resume nightly
fits schedule "removed" schedule rm nightly
fits lock "lock take" lock take prod -m "by hand" --ttl 1h
fits lock "locks" lock ls
fits lock "lock drop" lock drop prod
fits kv "kv set" kv set cluster:colour blue
fits kv "kv incr" kv incr cluster:count 3
fits kv "kv sadd" kv sadd cluster:hosts one
fits kv "kv get" kv get cluster:colour
fits kv "a set" kv get cluster:hosts
fits kv "keys" kv ls
fits kv "members" kv smembers cluster:hosts
fits_lines kv "a watch" kv watch --from 0 --limit 2
printf 'jobs: {a: {artifacts: {out: x}, run: "echo hi >x"}}\n' >left.yaml
left=$(titan -q run -w --private left.yaml)
fits artifact "artifacts of a run" artifact ls "$left"
fits artifact "artifacts of a job" artifact ls "$left/a"
fits artifact "artifacts fetched" artifact get "$left/a" -o got.left
echo hi >asset
fits asset "asset put" asset put asset
fits asset "asset put, dry" asset put -n asset other
fits asset "assets" asset ls
fits asset "versions" asset ls asset
fits asset "asset show" asset show asset
fits asset "asset get" asset get asset -o got
fits asset "asset pin" asset pin asset
fits asset "asset pin off" asset pin asset --off
fits asset "asset rm, dry" asset rm -n asset
fits asset "asset rm" asset rm asset
fits group "group set" group set db --max 2
fits group "groups" group ls
fits group "group rm" group rm db
fits tenant "tenant set" tenant set "$me" --weight 2
fits tenant "tenants" tenant ls
fits tenant "tenant rm" tenant rm "$me"
fits worker "workers" worker ls
fits cordon "cordon" cordon local
fits uncordon "uncordon" uncordon local
fits drain "drain, dry" drain -n local
fits pool "pools" pool ls
fits pool "pool set" pool set default draining
fits pool "pool set" pool set default active
fits pool "pool set, dry" pool set default --provide cuda -n
fits topic "topic set, dry" topic set 'film.*' gpu -n
fits topic "topic set" topic set 'film.*' gpu
fits topic "topics" topic ls
fits topic "topic show" topic show 'film.*'
fits topic "topic rm" topic rm 'film.*'
fits backup "backup" backup "$test_dir/copy.db"
fits fsck "fsck" fsck "$test_dir/copy.db"
fits audit "audit verify" audit verify
fits audit "audit head" audit head
fits audit "audit export" audit export
titan -q approve "$run/ask" -m fine 2>/dev/null
fits approvals "decisions" approvals --all
fits cancel "cancel" cancel --wait all
fits prune "prune, dry" prune -n --keep 0
fits prune "prune" prune --keep 0

# --- fields ---
run=$(titan run -e "ok=true; bad='exit 7'; shot='kill -9 \$\$'; gone=no-such-program-anywhere")
until_true 30 run_ended "$run"
ends() { titan --json show "$run/$1" | jq -c '.[0] | [.exit_code, .signal, .spawn_error != null]'; }
is "an exit code" "$(ends bad)" "[7,null,false]"
is "is 0 of what succeeded" "$(ends ok)" "[0,null,false]"
is "a job is RUN/NAME everywhere" "$(for c in show explain "dlq ls" "retry -n"; do titan --json $c "$run/bad" 2>/dev/null | jq -r '.[0].job'; done | sort -u)" "$run/bad"
is "a run is its number" "$(for c in show ls explain "hold -n"; do titan --json $c "$run" 2>/dev/null | jq -r '.[0].run'; done | sort -u)" "$run"
ok "each of $said commands printed what its schema says" "$tests/schema-check" --all "$schema" said
ok "a field has one shape in all commands" "$tests/schema-check" --same "$schema"/*.json

# --- errors ---
mkdir errors
for words in "show 999" "show x" "ls --limit x" "nonsense" "approve last" "explain 999/a" "run nofile.yaml" "ls --sort size"; do
	# shellcheck disable=SC2086
	titan --json $words >/dev/null 2>"errors/${words%% *}-${#words}.error.json"
	echo "titan --json $words" >"errors/${words%% *}-${#words}.error.what"
done
titan run -e "one=true" >/dev/null
titan --json ls --limit 1 2>errors/9.note.json >/dev/null
echo "titan --json ls --limit 1" >errors/9.note.what
ok "each error is a value" "$tests/schema-check" --all "$schema" errors
is "a note is JSON as well" "$(titan --json ls --limit 1 2>&1 >/dev/null | jq -r .note)" "there is more than this one run: titan ls --limit 4"

# --- all commands ---
mkdir usage
wrong=0
# refuses WORDS...: an error, on each line of standard error a value, and on standard output nothing else.
refuses() {
	wrong=$((wrong + 1))
	echo "titan $*" >"usage/$wrong.error.what"
	timeout 60 "$TITAN" "$@" >usage/out 2>usage/err </dev/null
	[ $? != 0 ] || echo "titan $* succeeds" >>usage/told
	grep '^{"error":' usage/err >"usage/$wrong.error.lines"
	grep -v '^{"error":' usage/err >"usage/$wrong.note.lines" && cp "usage/$wrong.error.what" "usage/$wrong.note.what"
	[ -s "usage/$wrong.note.lines" ] || rm "usage/$wrong.note.lines"
	jq -e . usage/out >usage/parsed 2>&1 || [ ! -s usage/out ] || echo "titan $* prints $(head -c 80 usage/out)" >>usage/told
}
for command in $(sed -nE 's/^COMMAND\([a-z_]+, "([a-z]+)".*/\1/p' "$tests/../proto/commands.def"); do
	described=$(ls "$schema/$command.json" 2>/dev/null | wc -l)
	text=$(grep -c "^OUTPUT_TEXT($command)$" "$tests/../src/cli/commands/outputs.def")
	is "titan $command has a schema, or prints text" "$((described + text))" 1
	refuses --json "$command" --no-such-option
	refuses "$command" --no-such-option --json
	refuses --json "$command" -x
	refuses --json "$command" a b c d e f
	refuses --json -C 'no/cluster' "$command" --nonsense
	case $command in
	help | version | wire | config | doctor | up | down | demo | master | repl | completion | cluster | fsck | worker) ;;
	*) refuses --json -C nobody "$command" 1 ;;                     # no master, or not enough arguments
	esac
done
refuses --json
refuses --json nonsense
refuses nonsense --json
refuses --nonsense --json
refuses --json --timeout
refuses --json --timeout x ls
refuses ls --json=3
refuses ls --json --plain
refuses ls --json --format '{run}'
refuses --json -H nowhere ls
refuses --json --at never ls
ok "each of $wrong mistakes is told as JSON" "$tests/schema-check" --all "$schema" usage
is "and nothing else is printed" "$(cat usage/told 2>/dev/null)" ''
ok "text is printed in spite of --json where there are no data" sh -c "'$TITAN' --json help | grep -q '^Cluster'"

done_testing
