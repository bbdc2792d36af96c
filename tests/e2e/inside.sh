# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs reach the master through TITAN_SOCKET under their own identity: they submit runs and look at their own, over
# kills of the master and of the link. Requests about other runs are refused, and so is an attempt that has ended.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 6
secret=$(titan run -e "private; private='echo mine; sleep 1000'")

# --- with no other configuration ---
cat >"$test_dir/begin" <<END
env | grep -c -E '^TITAN_(SOCKET|TOKEN)='
child=\$("$TITAN" run -e "hello -> world; hello='echo hi'; world='echo there'")
echo "child \$child"
"$TITAN" --timeout 60s wait \$child; echo "wait \$?"
"$TITAN" logs \$child/hello
"$TITAN" --json show last | tr , '\n' | grep -m 1 '"run"'
"$TITAN" --plain ls | wc -l
END
run=$(titan run -e "begin; begin='sh $test_dir/begin'")
ok "a job that begins a run and waits for it ends well" titan --timeout 60s wait "$run"
said=$(titan logs "$run/begin")
like "it has the socket and its token" "$said" '^2$'
like "it got the run's number" "$said" '^child [0-9]+$'
child=$(printf '%s\n' "$said" | sed -n 's/^child //p')
like "it waited for it" "$said" '^wait 0$'
like "it read its output" "$said" '^hi$'
like "last is the run that it began" "$said" "\"run\":$child\$"
is "it sees its own run and that one, and no other" "$(printf '%s\n' "$said" | tail -n 1)" 2
is "the run belongs to whoever submitted the first" \
	"$(titan --json show "$child" | jq -r '.[0] | .owner')" "$(titan --json show "$run" | jq -r '.[0] | .owner')"

# --- what a job may not ---
cat >"$test_dir/refused" <<END
try() { "$TITAN" "\$@" >/dev/null; echo "\$* => \$?"; }
try show $secret
try logs $secret/private
try wait $secret
try cancel $secret
try explain $secret/private
try approve $secret/private -m yes
try hold $secret
try priority 90 $secret
try status
try worker ls
try drain local
try metrics
try down
try schedule ls
try run --tenant others -e "x; x=true"
try show $child
try wait $child
END
run=$(titan run -e "refused; refused='sh $test_dir/refused'")
ok "a job that asks for what isn't its own lives on" titan --timeout 60s wait "$run"
said=$(titan logs "$run/refused" 2>/dev/null)
is "each request is refused" "$(printf '%s\n' "$said" | grep -c '=>')" 17
is "with status 3" "$(printf '%s\n' "$said" | grep '=>' | grep -v '=> 3$')" ''
like "and a reason" "$(titan logs "$run/refused" 2>&1)" "may not ask about run $secret"
like "a tenant, too" "$(titan logs "$run/refused" 2>&1)" "and may not name another; leave out the tenant"
is "nothing was done" "$(job_state "$secret" private)" running
like "the worker is still there" "$(state_of '.workers[0].state')" up

# --- what goes by a cluster's directory isn't done to another cluster ---
mkdir -m 700 -p "$test_dir/.local/state/titan/default"
cat >"$test_dir/elsewhere" <<END
try() { "$TITAN" "\$@" 2>&1; echo "\$* => \$?"; }
try fsck
try dash --dump-screen - --exit-after idle
try up
try restore "$test_dir/backup.db"
try fsck "$test_dir/backup.db"
try -C default fsck
END
titan backup "$test_dir/backup.db"
run=$(titan run -e "elsewhere; elsewhere='sh $test_dir/elsewhere'")
ok "a job that asks for a cluster's directory lives on" titan --timeout 60s wait "$run"
said=$(titan logs "$run/elsewhere")
for command in fsck 'dash .*idle' up 'restore .*'; do
	like "$command is refused" "$said" "^$command => 3\$"
done
is "as the job's cluster is behind TITAN_SOCKET" \
	"$(printf '%s\n' "$said" | grep -c 'a job reaches its cluster only through TITAN_SOCKET, so it may not')" 4
like "the dashboard's advice fits a job" "$said" 'try: titan watch self'
like "a file is checked" "$said" '^fsck /.* => 0$'
like "a cluster that is named is meant" "$said" "there is no store $test_dir/.local/state/titan/default/titan.db"
is "nothing was restored there" "$(ls "$test_dir/.local/state/titan/default")" ''

# --- it adds to its own run, and to no other ---
cat >"$test_dir/grow" <<END
"$TITAN" run --into self -e 'more; more="echo grown"' >/dev/null; echo "into \$?"
"$TITAN" show self | grep -c more
"$TITAN" run --into $secret -e 'spy; spy=true'; echo "other \$?"
"$TITAN" schedule ls >/dev/null 2>&1; echo "schedule \$?"
END
run=$(titan run -e "grow; grow='sh $test_dir/grow'")
ok "a job adds to its own run" titan --timeout 60s wait "$run"
said=$(titan logs "$run/grow" 2>/dev/null)
like "by the word self" "$said" '^into 0$'
like "sees it there" "$said" '^1$'
like "not to another's" "$said" '^other 3$'
is "what it added has run" "$(job_state "$run" more)" succeeded
is "what it didn't isn't there" "$(titan --json show $secret | jq '.[0] | .jobs | length')" 1

# --- its own may be cancelled ---
run=$(titan run -e "stop; stop='n=\$($TITAN run -e \"long; long=\\\"sleep 1000\\\"\") && $TITAN cancel \$n && $TITAN --timeout 60s wait \$n; echo ended \$?'")
ok "a job cancels what it began" titan --timeout 60s wait "$run"
like "which ends" "$(titan logs "$run/stop")" '^ended 1$'

# --- through kills ---
cat >"$test_dir/many" <<END
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	"$TITAN" run --name begun -e 'step; step=true' >>"$test_dir/numbers" || exit 1
	echo >>"$test_dir/count"
done
END
counted() { [ "$(wc -l <"$test_dir/count" 2>/dev/null || echo 0)" -ge "$1" ]; }
link_pid() { pgrep -f -P "$(state_of '.workers[0].pid')" 'link' | head -n 1; }
run=$(titan run -e "many; many='sh $test_dir/many'")
ok "a job submits" until_true 30 counted 3
kill -KILL "$(master_pid)"
start_cluster
ok "and goes on with another master" until_true 60 counted 8
link=$(link_pid)
kill -KILL "$link"
other_link() { [ -n "$(link_pid)" ] && [ "$(link_pid)" != "$link" ]; }
ok "and with another link" until_true 60 counted 14
ok "which there is" until_true 20 other_link
kill -KILL "$(master_pid)"
start_cluster
ok "all are submitted, and it isn't run again" titan --timeout 90s wait "$run"
is "each is a run of its own" "$(sort -u "$test_dir/numbers" | wc -l)" 20
is "and none is there twice" "$(titan --json ls | jq '[.[] | select(.name == "begun")] | length')" 20

# --- who it is ---
cat >"$test_dir/loan" <<END
env | grep -E '^TITAN_(SOCKET|TOKEN)=' >"$test_dir/loan.env"
sleep 1000
END
run=$(titan run -e "loan; loan='sh $test_dir/loan'")
ok "an attempt's token is known" until_true 20 test -s "$test_dir/loan.env"
as_loan() { env -u TITAN_STATE -u TITAN_CLUSTER $(cat "$test_dir/loan.env") "$TITAN" "$@"; }
ok "whoever has it is that attempt" as_loan show "$run"
exits "a token with another number proves nothing" 3 env -u TITAN_STATE $(sed 's/TOKEN=[0-9]*/TOKEN=1/' "$test_dir/loan.env") "$TITAN" show 1
like "and says so" "$err" "TITAN_TOKEN doesn't belong to a job of this worker"
titan cancel "$run" >/dev/null
ok "the attempt ends" until_true 30 run_ended "$run"
exits "then its token is refused" 3 as_loan show "$run"
like "as stale" "$err" 'has ended'
exits "and nothing is begun with it" 3 as_loan run -e 'x; x=true'
like "by no command" "$err" 'has ended'

# --- a job can't hurt its worker ---
cat >"$test_dir/flood.py" <<'END'
import os, socket, struct, sys, time
os.chdir(os.path.dirname(os.environ["TITAN_SOCKET"]))
kept = []
for i in range(300):
    s = socket.socket(socket.AF_UNIX)
    s.setblocking(False)
    try:
        s.connect(os.path.basename(os.environ["TITAN_SOCKET"]))
        s.send(struct.pack(">BBBBI", 2, 1, 0, 0, 4000)[:1 + i % 8] if i % 2 else os.urandom(64))
    except OSError:
        pass
    kept.append(s)
open(sys.argv[1], "w").close()
time.sleep(1000)
END
cat >"$test_dir/nine.py" <<'END'
import os, socket, struct
os.chdir(os.path.dirname(os.environ["TITAN_SOCKET"]))
token = os.environ["TITAN_TOKEN"].encode()
hello = b"\x83\x01\x02\x02\x01\x0c\xd9" + bytes([len(token)]) + token
kept, said = [], ""
for i in range(9):
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.path.basename(os.environ["TITAN_SOCKET"]))
    s.sendall(struct.pack(">BBBBI", 2, 1, 0, 0, len(hello)) + hello)
    said += {3: "W", 4: "E"}.get(s.recv(2)[1], "?")
    kept.append(s)
print(said)
END
if command -v python3 >/dev/null; then
	nine=$(titan run -e "nine; nine='python3 $test_dir/nine.py'")
	ok "a job asks for nine connections" titan --timeout 30s wait "$nine"
	is "eight are welcome, one is told that it is one too many" "$(titan logs "$nine/nine")" WWWWWWWWE
	run=$(titan run -e "flood; flood='python3 $test_dir/flood.py $test_dir/flooded'")
	ok "300 connections say nothing, or nonsense" until_true 30 test -e "$test_dir/flooded"
	other=$(titan run -e "other; other='$TITAN show \$TITAN_RUN'")
	ok "another job's request is answered" titan --timeout 30s wait "$other"
	titan cancel "$run" >/dev/null
	ok "and the worker does what it is told" titan --timeout 30s wait "$other"
fi
titan cancel "$secret" >/dev/null
done_testing
