# SPDX-License-Identifier: GPL-3.0-or-later
# Every command in four forms: on terminals of 80 and 160 columns, with --plain, with --json, and with bad input. No line of a
# table is wider than its terminal, nothing is cut for programs, JSON is what its schema says, and bad input is an error
# with a documented exit status.
# time-out: 600 s
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip_all "python3 isn't installed"

tests=$e2e_dir/..
schema=$TITAN_SRCDIR/share/schema
commands=$(sed -nE 's/^COMMAND\([a-z]+, "([a-z]+)".*/\1/p' "$TITAN_SRCDIR/proto/commands.def")
mkdir said errors
said=0

# --- a cluster with long names, wide characters, and something of everything ---
start_cluster --slots 4
long=the-quick-brown-fox-jumps-over-the-lazy-dog
titan worker start --name a-worker-with-a-name-that-is-far-too-long-for-any-column --slots 2 --label $long --label other-$long \
	--resource licences-of-a-long-name=7 --pool pool-of-$long </dev/null >w2.log 2>&1 &
both_up() { [ "$(titan --json worker ls | jq '[.[] | select(.state == "up")] | length')" = 2 ]; }
ok "two workers run" until_true 30 both_up
cat >rich.yaml <<END
name: pipeline-of-$long
jobs:
  $long: {run: "echo 世界世界世界世界世界世界世界世界世界世界世界世界世界世界; exit 3", retry: {max: 1, backoff: 10ms}}
  after-$long-and-more: {run: "true", needs: [$long]}
  nowhere: {run: "echo $long $long $long", worker: {labels: [nobody-has-this-label-$long]}}
  gone: {run: "/no/such/program/anywhere/$long --with --many --arguments"}
  ask: {approval: {message: "世界世界世界世界世界世界世界世界世界世界世界世界, shall we go on with $long?", from: [$(id -un)]}}
  next: {run: "true", needs: [ask]}
  slow: {run: "sleep 900"}
  shard: {run: "true", matrix: {at: [$(seq -s, 0 39)]}, delay: 1h}
  kept: {run: "true", locks: [lock-$long], needs: [slow]}
END
sed "s/^name: .*/name: nightly-$long/; 2i schedule: {cron: \"0 3 * * 1-5\", tz: America\/Argentina\/ComodRivadavia}" rich.yaml >nightly.yaml
run=$(titan run -q rich.yaml)
titan -q run -w -e "good='echo one; echo two'" >/dev/null
good=$(titan --json ls --name good | jq '.[0].run')
titan -q run -j 2 -e 'shard*60; shard="sleep 900"' >/dev/null
until_true 30 job_is "$run" $long failed
until_true 30 job_is "$run" gone failed
until_true 30 job_is "$run" ask approval
titan -q schedule add nightly.yaml
titan -q group set group-$long --max 2
titan -q tenant set tenant-$long --max-jobs 3 --weight 7
titan -q lock take lock-$long --owner owner-$long -m "世界世界世界 because $long has to be $long" >/dev/null
titan -q token add token-$long --role submitter,viewer,approver,operator --expires 90d -o key >/dev/null
titan -q cluster add cluster-$long -H master.of.$long.example.org:7484 --key key
titan -q run -e "held='echo $long' delay=1h" >held
titan -q hold "$(cat held)"
held_act=$(titan --json history --verb hold | jq '.[0].act')
titan -q approve "$run/ask" -m "世界世界世界世界世界世界 $long $long" 2>/dev/null
titan -q topic set "film.$long" gpu
titan -q asset put rich.yaml "asset-$long" >/dev/null
printf 'jobs:\n  job-%s: {artifacts: {out: "*"}, run: "echo hi >世界-%s; ln -s 世界-%s link"}\n' "$long" "$long" "$long" >left.yaml
left=$(titan -q run -w --private left.yaml)
asks=$(titan run -q -e 'load -> ?qa -> pub; load=true; pub=true')
until_true 30 job_is "$asks" qa approval
printf '\002\003\000\000\000\000\000\001\200' >frames.bin

# Each row: the exit statuses that are right, with a ~ if its output is no table; the schema of its JSON (- if it has none);
# the command.
rows=$(cat <<END
0   status     status
0   ls         ls
0   ls         ls --all --sort name
0   ls         ls --name none-of-them
0   show       show $run
0   show       show $run/$long
0   show       show $run/gone
0   show       show $run/nowhere
0   show       show $run/shard
0   show       show last $good
0   explain    explain $run
0   explain    explain $run/nowhere
0   explain    explain $run/kept
0   explain    explain $run/gone
0   -          graph $run
0   -          graph rich.yaml
0   plan       plan rich.yaml
0   validate   validate rich.yaml
0   run        run -n rich.yaml
0   run        run -w -e one=true
124 wait       --timeout 10ms wait $run
0   wait       wait $good
0   -          logs $good
0~  -          logs -t $run
0   -          watch $good
1~  -          run -f -e "bad-$long='exit 3'"
0   -          events --limit 30
0   -          events --since 1h
0   history    history
0   analyze    analyze $good
1   diff       diff $run $good
0   approvals  approvals
0   approvals  approvals --all
0   approve    approve -n $asks
0   dlq        dlq
0   dlq        dlq show $run/$long
0   dlq        dlq requeue -n all
0   retry      retry -n $run
0   cancel     cancel -n all
0   hold       hold -n all
0   release    release -n all
0   priority   priority -n $run 70
0   undo       undo -n $held_act
0   prune      prune -n --keep 0
0   audit      audit verify
0   audit      audit export
0   audit      audit head
0   schedule   schedule
0   schedule   schedule show nightly-$long
0   schedule   schedule fire nightly-$long
0   group      group
0   group      group show group-$long
0   tenant     tenant
0   tenant     tenant show tenant-$long
0   lock       lock
0   lock       lock show lock-$long
0   worker     worker
0   worker     worker show local
0   pool       pool
0   pool       pool show default
0   topic      topic
0   topic      topic show film.$long
0   artifact   artifact ls $left
0   artifact   artifact ls $left/job-$long
0   asset      asset
0   asset      asset show asset-$long
0~  kv         kv set cluster:$long blue
0   kv         kv ls cluster:
0~  kv         kv get cluster:$long
2~  -          output a=1
0   cordon     cordon -n local
0   uncordon   uncordon -n local
0   drain      drain -n local
0   token      token
0   cluster    cluster
0   metrics    metrics
0   config     config
0,1 doctor     doctor
0   version    version
0   -          help
0   -          help states
0   -          help dag
0   -          completion words -- show ""
0   -          wire dump frames.bin
0~  fsck       fsck
0~  backup     backup copy.db
0~  -          dash --dump-screen - --exit-after idle
2   -          progress 50
0   -          repl
2   reject     reject $run/slow -m no
2   pushback   pushback $run/slow --to gone -m no
8   settle     settle $run/slow done -m yes
4   restore    restore no-such-copy.db
END
)
# Of these every form would be another daemon; their own tests look at what they print.
daemons="up down master demo"

right() { case ",$1," in *,"$2",*) ;; *) return 1 ;; esac; }
# on_terminal COLUMNS STATUSES COMMAND...
on_terminal() {
	local columns=$1 wanted=$2 status
	shift 2
	python3 "$e2e_dir/on-terminal.py" "$columns" screen timeout 60 "$TITAN" -y --no-input "$@" 2>screen.err
	status=$?
	test_count=$((test_count + 1))
	if right "${wanted%\~}" $status && { [ "$wanted" != "${wanted%\~}" ] || ! grep -q '^is wider' screen.err; }; then
		echo "ok $test_count - at $columns columns: titan $*"
	else
		note "status $status, wanted $wanted" "$(head -n 20 screen.err)"
		echo "not ok $test_count - at $columns columns: titan $*"
		test_failed=$((test_failed + 1))
	fi
}
programs() { # STATUSES COMMAND...
	local wanted=$1 status
	shift
	timeout 60 "$TITAN" --plain -y "$@" >plain 2>plain.err </dev/null
	status=$?
	ok "plain: titan $*: status $status" right "$wanted" $status
	[ "$table" = no ] || unlike "is neither cut nor coloured" "$(cat plain)" "…|$(printf '\033')"
}
json() { # STATUSES SCHEMA COMMAND...
	local wanted=$1 name=$2 status
	shift 2
	timeout 60 "$TITAN" --json -y "$@" >json 2>json.err </dev/null
	status=$?
	ok "JSON: titan $*: status $status" right "$wanted" $status
	said=$((said + 1))
	sed '/^{"note":/d' json.err >errors/$said.error.json
	echo "titan --json $*" >errors/$said.error.what
	[ -s errors/$said.error.json ] || rm errors/$said.error.*
	[ $status = 0 ] || [ $status = 1 ] || return 0
	if [ "$name" != - ]; then
		cp json said/$said.$name.json
		echo "titan --json $*" >said/$said.$name.what
	fi
}
seen=
while read -r statuses name line; do
	eval "set -- $line"
	for word; do [ "${word#-}" = "$word" ] && ! [[ $word =~ ^[0-9]+m?s$ ]] && break; done
	seen="$seen $word"
	rm -f copy.db
	for columns in 80 160; do on_terminal $columns "$statuses" "$@"; rm -f copy.db; done
	case $statuses in *~) table=no ;; *) table=yes ;; esac
	programs "${statuses%\~}" "$@"
	rm -f copy.db
	json "${statuses%\~}" "$name" "$@"
done <<<"$rows"
for columns in 40 60; do
	for words in ls "show $run" worker dlq approvals history schedule lock token "explain $run" pool tenant group config "plan rich.yaml"; do
		# shellcheck disable=SC2086
		on_terminal $columns 0 $words
	done
done
ok "each value is what its schema says" "$tests/schema-check" --all "$schema" said
is "no command was forgotten" "$(for c in $commands; do case " $seen $daemons " in *" $c "*) ;; *) echo "$c" ;; esac; done)" ""

# --- help ---
for command in $commands; do
	on_terminal 80 0 "$command" --help
done

# --- bad input ---
# bad STATUS PATTERN COMMAND...: an error that says so, nothing on standard output, no crash
bad() {
	local wanted=$1 pattern=$2
	shift 2
	exits "titan $*" "$wanted" timeout 60 "$TITAN" --no-input "$@"
	like "says why" "$err" "$pattern"
	is "and nothing else" "$out" ""
	said=$((said + 1))
	titan --json --no-input "$@" >/dev/null 2>errors/$said.error.json </dev/null
	echo "titan --json $*" >errors/$said.error.what
}
for command in $commands; do
	bad 2 "has no option --no-such-option" "$command" --no-such-option
done
while read -r status line; do
	eval "set -- $line"
	bad "$status" "^titan: |^-e:[0-9:]+ error: " "$@"
done <<END
2 up now
2 down now
2 demo now
2 status now
2 master now
2 master --lease nonsense
4 worker start now
4 worker show nobody
4 worker rm nobody
2 worker start --slots none
2 token add
2 token add '!'
4 token rm nobody
2 cluster add
4 cluster rm nobody
4 restore /no/such/file
2 backup
4 fsck /no/such/file
2 prune --older soon
2 prune
4 cordon nobody
4 uncordon nobody
4 drain nobody
2 cordon
4 pool show nobody
2 pool set default sideways
2 run
4 run /no/such/file
2 run -e 'a -> '
2 run --again never
4 run --again 999999
4 validate /no/such/file
2 validate
4 plan /no/such/file
2 graph
4 graph 999999
2 graph -e '('
4 watch 999999
2 watch never
4 wait 999999
2 wait
4 logs 999999
4 logs $run/nothing
2 logs --tail none $run
4 cancel 999999
2 cancel
4 retry 999999
2 retry 'state=nothing'
4 dlq show 999999/a
2 dlq sideways
4 schedule show nobody
4 schedule add /no/such/file
4 hold 999999
4 release 999999
2 priority $run 101
4 priority 999999 50
4 group show nobody
2 group set db --max none
4 lock drop nobody
2 lock take
4 tenant show nobody
2 tenant set a --weight 0
4 approvals 999999
4 approve 999999
4 reject 999999/a -m no
2 reject $asks/qa
4 pushback 999999/a --to b -m no
4 settle 999999/a done -m seen
2 settle $run/slow perhaps
2 ls --limit none
4 ls 999999
4 show 999999
2 show
2 show never
4 show $run/nothing
4 events 999999
2 events --kind nothing
2 history --since soon
2 undo never
2 audit verify --head never
4 undo 999999
2 metrics now
4 explain 999999
2 explain
2 dash --size big
4 dash 999999 --dump-screen - --exit-after idle
4 config nothing
2 doctor one two
4 wire dump /no/such/file
2 wire
2 completion ksh
4 help nothing
2 version now
2 progress
2 output a=1
4 topic show nothing
4 asset get nothing
2 artifact get $run
4 artifact ls 999999
2 kv get nowhere:a
4 kv get cluster:nothing
2 repl now
2 nonsense
END
ok "each error is a value" "$tests/schema-check" --all "$schema" errors

done_testing
