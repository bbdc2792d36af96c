# SPDX-License-Identifier: GPL-3.0-or-later
# Other machines: a master that listens, tokens of people and workers, and what they may and may not do.
. "$(dirname "$0")/lib.sh"

export XDG_CONFIG_HOME=$test_dir/config
mkdir -p -m 700 "$TITAN_STATE/default"
echo 'trust_submitters: yes' >"$TITAN_STATE/default/titan.conf"     # all here run as one user
start_cluster --slots 1 --listen 127.0.0.1:0
address=$(sed -n 's/.*listening on //p' "$TITAN_STATE/default/master.log" | tail -n 1)
home=$TITAN_STATE
away() { TITAN_STATE=$test_dir/away "$TITAN" "$@"; }           # as on another machine
anna() { away -H "$address" --key anna.key "$@"; }
like "it says where it listens" "$address" '^127\.0\.0\.1:[0-9]+$'

exits "nobody has a token at first" 0 titan --json token ls
is "and the list is empty" "$out" "[]"
exits "a token is made" 0 titan token add anna --role submitter,viewer
like "its key is printed" "$out" '^t1:anna\.[a-z0-9]{6}:[0-9a-f]{64}$'
titan token rm anna 2>/dev/null
exits "or written to a file" 0 titan token add anna --role submitter,viewer -o anna.key
is "that only its owner may read" "$(stat -c %a anna.key)" 600
exits "which isn't written over" 2 titan token add bert -o anna.key
is "and no token is left from that" "$(titan --json token ls | jq -r '.[].name')" anna
unlike "the secret isn't in the store" "$(strings -a "$home"/default/titan.db*)" "$(cut -d: -f3 anna.key)"
unlike "nor in the log" "$(cat "$home/default/master.log")" "$(cut -d: -f3 anna.key)"

exits "anna sees the cluster from elsewhere" 0 anna --json status
exits "submits a run" 0 anna run -w -e 'a; a="echo hello"'
is "which is hers" "$(titan --json ls | jq -r '.[0].owner // .[0].run.owner')" anna
exits "reads its log" 0 anna logs 1/a
is "as it was written" "$out" hello
is "but ends no master" "$(anna down 2>&1 | head -n 1 | grep -c 'only on the machine of the master')" 1
exits "sets no limits" 3 anna tenant set x --weight 2
exits "makes no tokens" 3 anna token add eve
like "which is said with her name and roles" "$err" 'anna.*viewer, submitter'
like "her token was used" "$(titan --json token ls | jq -r '.[0].used')" '^20[0-9]{2}-'

exits "her jobs submit runs" 0 anna run -w -e "a; a='$TITAN run -e \"b; b=true\"'"
is "which are hers, too" "$(titan --json ls | jq -r 'map(.owner // .run.owner) | unique | join(" ")')" anna

echo "t1:nobody.abcdef:$(printf '0%.0s' $(seq 64))" >stranger.key
sed "s/:[0-9a-f]*\$/:$(printf '1%.0s' $(seq 64))/" anna.key >wrong.key
chmod 600 stranger.key wrong.key
exits "a stranger is refused" 3 away -H "$address" --key stranger.key ls
stranger=$err
exits "a wrong secret, too" 3 away -H "$address" --key wrong.key ls
is "and both are told the same" "$stranger" "$err"
chmod 644 wrong.key
exits "a key that others may read isn't used" 3 away -H "$address" --key wrong.key ls
exits "no key, no connection" 2 away -H "$address" ls
exits "an address that is none is a mistake" 2 away -H 'a b' --key anna.key ls
exits "where nobody listens is unreachable" 69 away -H 127.0.0.1:1 --key anna.key ls

exits "the cluster gets a name" 0 away cluster add prod -H "$address" --key anna.key
exits "by which it is found" 0 away -C prod --json ls 1
exits "and can be the default" 0 away cluster default prod
is "without a word" "$(away --json ls 1 | jq -r '.[0].run')" 1
exits "until it is local again" 0 away cluster default local
exits "then nothing runs here" 69 away ls

exits "a worker gets a key" 0 titan token add db1 --worker -o db1.key
exits "which opens no client" 3 away -H "$address" --key db1.key ls
away worker start -H "$address" --key anna.key >refused.log 2>&1
like "and a person's makes no worker" "$(cat refused.log)" 'belongs to a person'
TITAN_STATE=$test_dir/away setsid "$TITAN" worker start -H "$address" --key db1.key --slots 2 --label far >db1.log 2>&1 &
guardian=$!
has_worker() { titan --json worker ls | jq -e ".[] | select(.name == \"$1\" and .state == \"$2\")" >/dev/null; }
ok "the worker connects under the name of its key" until_true 30 has_worker db1 up
run=$(anna run -e 'x*20; x="echo $i" label=far')
exits "it runs jobs" 0 titan --timeout 60s wait "$run"
is "all of them" "$(titan --json show "$run" | jq -r '.[0] | [.jobs[] | select(.worker == "db1")] | length')" 20
is "with their output" "$(titan logs "$run/x[7]")" 7

long=$(anna run -e 'y; y="echo begun; while [ ! -e '"$test_dir"'/go ]; do sleep 0.1; done; echo ended" label=far')
runs_now() { job_is "$long" y running; }
ok "a long job runs there" until_true 30 runs_now
kill -9 "$(master_pid)"
exits "the master comes back on the same address" 0 titan up --listen "$address"
ok "and so does the worker" until_true 30 has_worker db1 up
touch go
exits "its job went on" 0 titan --timeout 60s wait "$long"
is "once" "$(titan logs "$long/y" | tr '\n' ' ')" 'begun ended '

exits "a token is replaced" 0 titan token rotate anna -o new.key
exits "the old key is worth nothing" 3 anna ls
exits "the new one is" 0 away -H "$address" --key new.key ls
held=$(titan run -e 'z; z="while [ ! -e '"$test_dir"'/stop ]; do sleep 0.1; done" label=far')
holds() { job_is "$held" z running; }
ok "a job runs at the worker" until_true 30 holds
exits "its key is taken away" 0 titan token rm db1
is "and with it its connection" "$(until_true 30 has_worker db1 unreachable && echo gone)" gone
touch stop
exits "a short-lived token works" 0 titan token add fast --role viewer --expires 3s -o fast.key
fast() { away -H "$address" --key fast.key ls; }
ok "until it expires" until_true 30 eval '! fast'
exits "and is told so like a stranger" 3 fast
is "its connection is refused as any other" "$err" "$stranger"
kill -INT $guardian 2>/dev/null
done_testing
