# SPDX-License-Identifier: GPL-3.0-or-later
# titan events: every event is printed once, with names; a follower gets all of them over kills of the master.
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip_all "no python3"
jobs=${EVENTS_JOBS:-10000}
events() { titan --json events "$@"; }
start_cluster --slots 4
titan events -f --json --from 0 >"$test_dir/followed" 2>"$test_dir/followed.err" &
follower=$!

# Jobs without processes, but for some behind them that are there when the master is killed.
run=$(titan run --name many -e "a*$jobs -> {b, c! -> d}; a='' kind=noop; b='sleep 0.3'; c='exit 3'; d='true'")
for _ in 1 2; do
	kill -KILL "$(master_pid)"
	exits "a master begins again" 0 titan up
done
ok "the run ends" until_true 120 run_ended "$run"
titan cordon local >/dev/null
titan uncordon local >/dev/null
titan -y down >/dev/null 2>&1

# The rows of the table, decoded without titan: arrays are moves of jobs, maps are other events.
python3 - "$TITAN_STATE/default/titan.db" >"$test_dir/rows" <<'END'
import sqlite3, sys
def value(b, i):
    t = b[i]
    if t <= 0x7f: return t, i + 1
    if 0x90 <= t <= 0x9f or t == 0xdc:
        n, i = (t & 15, i + 1) if t != 0xdc else (int.from_bytes(b[i+1:i+3], "big"), i + 3)
        out = []
        for _ in range(n):
            v, i = value(b, i); out.append(v)
        return out, i
    if 0x80 <= t <= 0x8f:
        n, i, out = t & 15, i + 1, {}
        for _ in range(n):
            k, i = value(b, i); out[k], i = value(b, i)
        return out, i
    if 0xa0 <= t <= 0xbf: n = t & 31; return b[i+1:i+1+n].decode(), i + 1 + n
    if t == 0xd9: n = b[i+1]; return b[i+2:i+2+n].decode(), i + 2 + n
    size = {0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8}[t]
    return int.from_bytes(b[i+1:i+1+size], "big"), i + 1 + size
for turn, body in sqlite3.connect(sys.argv[1]).execute("SELECT turn, body FROM event ORDER BY turn"):
    i = 0
    while i < len(body):
        record, i = value(body, i)
        if isinstance(record, list): print(turn, 0, *record)
        else: print(turn, record.get(1), record.get(2, 0))
END
titan up >/dev/null 2>&1
lines() { # of events as JSON: turn, kind and what the rows have
	jq -r --argjson states "$(printf '["%s"]' "$(sed -n 's/^STATE([A-Z_]*, *\([a-z_]*\),.*/\1/p' "$TITAN_SRCDIR/proto/states.def" | paste -sd, | sed 's/,/","/g')")" \
		--argjson names "$(printf '["%s"]' "$(sed -n 's/^EVENT([A-Z_]*, *\([a-z_]*\),.*/\1/p' "$TITAN_SRCDIR/proto/states.def" | paste -sd, | sed 's/,/","/g')")" '
		(.about | IN("job", "gate")) as $job | . as $row |
		if $job then [.turn, 0, .serial, ($states | index($row.state_before)), ($names | index($row.event)), ($states | index($row.what)), .epoch // 0]
		else [.turn, .about, .what] end | map(tostring) | join(" ")' "$1"
}
last=$(tail -n 1 "$test_dir/rows" | cut -d' ' -f1)
caught_up() { [ "$(tail -n 1 "$test_dir/followed" | jq -r .turn 2>/dev/null || echo 0)" -ge "$last" ]; }
ok "the follower comes to the end" until_true 60 caught_up
kill -TERM "$follower" 2>/dev/null
wait "$follower" 2>/dev/null
is "and ends when it is told to" "$?" 143

events --from 0 >"$test_dir/all" || note "status $?"
jq -c "select(.turn <= $last)" "$test_dir/all" >"$test_dir/then"
jq -c "select(.turn <= $last)" "$test_dir/followed" >"$test_dir/seen"
is "all rows are told" "$(wc -l <"$test_dir/then")" "$(wc -l <"$test_dir/rows")"
lines "$test_dir/then" | awk '$2 == 0' >"$test_dir/moves"
is "each move of a job as its row says" "$(awk '$2 == 0 { print $1, $2, $3, $4, $5, $6, $7 }' "$test_dir/rows" | diff - "$test_dir/moves" | head -n 5)" ""
like "there is at least one for each job" "$(wc -l <"$test_dir/moves")" '^[0-9]{5,}$'
is "a follower over kills of the master has seen the same" "$(diff "$test_dir/then" "$test_dir/seen" | head -n 5)" ""
like "and says that it waited" "$(cat "$test_dir/followed.err")" "the connection to the master is lost"

one() { jq -c "$1" "$test_dir/then"; }
is "jobs have names" "$(one "select(.run == $run and .name == \"a[7]\") | .object" | sort -u)" "\"$run/a[7]\""
is "an end says how" "$(one 'select(.name == "c" and .what == "failed") | [.exit_code, .outcome, .worker]')" '[3,"exit 3","local"]'
is "runs begin and end" "$(one "select(.about == \"run\") | [.run, .what, .name]" | tr '\n' ' ')" \
	"[$run,\"began\",\"many\"] [$run,\"failed\",\"many\"] "
is "each start of a master" "$(one 'select(.about == "master") | .what' | wc -l)" 3
ok "and workers that come" [ "$(one 'select(.about == "worker" and .what == "up")' | wc -l)" -ge 3 ]
is "acts with who did them" "$(one 'select(.about == "act" and .what == "pause") | [.object, .person, .before, .after]')" \
	"[\"worker local\",\"$(id -un)\",\"active\",\"cordoned\"]"

middle=$(sed -n 5000p "$test_dir/then" | jq .turn)
is "a later command goes on from a turn" "$(events --from "$middle" | jq -c "select(.turn <= $last)" | diff - <(jq -c "select(.turn >= $middle)" "$test_dir/then") | head -n 3)" ""
is "one run alone" "$(events "$run" | jq -r .run | sort -u)" "$run"
is "has all its moves" "$(events "$run" --kind job,gate | wc -l)" "$(wc -l <"$test_dir/moves")"
is "no more than was asked for" "$(events --from 0 --limit 7 | wc -l)" 7
is "one kind" "$(events --from 0 --kind act,master | jq -r .about | sort -u | tr '\n' ' ')" "act master "
is "of the future there is none" "$(events --since "$(date -u -d '+1 hour' +%FT%TZ)" --limit 1 | wc -l)" 0
is "of an hour ago neither" "$(events --until 1h | wc -l)" 0
like "people see a line each" "$(titan events --kind run | tail -n 1)" "^[0-9:]+  run  .*FAIL  $run  many"
like "plain has fixed columns" "$(titan --plain events --from 0 --kind run --limit 1)" "^20[^	]*Z	[0-9]+	run	began	$run	many\$"
exits "a kind that is none" 2 titan events --kind jobs
like "is refused with those that there are" "$err" "must be one of job, run, gate"
exits "a run that is none" 4 titan events 999999
done_testing
