# SPDX-License-Identifier: GPL-3.0-or-later
# titan worker start --join: workers of other machines make their own keys with a token that several may share. A token that is
# used up, has expired or was removed is refused, and so is a name that somebody has.
# time-out: 300 s
. "$(dirname "$0")/lib.sh"

export TITAN_HEARTBEAT=200ms TITAN_LEASE=4s TITAN_GRACE=6s
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
here=$TITAN_STATE
start_cluster --slots 1 --listen "127.0.0.1:$port"
exits "a token for two workers" 0 titan token add lab --join --uses 2 --pool lab -o lab.join
is "only its owner may read it" "$(stat -c %a lab.join)" 600
like "it is a key of its own kind" "$(cat lab.join)" '^j1:lab\.'
is "its uses are listed" "$(titan --json token ls | jq -r '.[0] | "\(.roles | join(",")) \(.uses) \(.pool)"')" 'joiner 2 lab'
exits "it is no person's token" 3 titan -H "127.0.0.1:$port" --key lab.join status
exits "--uses alone is refused" 2 titan token add x --uses 2
exits "and so is a role beside --join" 2 titan token add x --join --role viewer
exits "and --join without an address" 2 titan worker start --join lab.join
like "with a sentence" "$err" 'needs the address of the master: -H ADDRESS'

# Each worker has a state directory of its own, as on a machine of its own.
far() { mkdir -p "$test_dir/far-$1"; TITAN_STATE=$test_dir/far-$1 titan worker start --join lab.join -H "127.0.0.1:$port" --name "$1" --slots 1 "${@:2}" >"far-$1.out" 2>&1 </dev/null; }
is_up() { titan --json worker ls | jq -e ".[] | select(.name == \"$1\" and .state == \"up\")" >/dev/null; }
guardian_of() { ps -o ppid= -p "$(titan --json worker show "$1" | jq .pid)" | tr -d ' '; }
far w1 &
ok "a worker joins" until_true 60 is_up w1
key=$test_dir/far-w1/default/worker-w1.key
is "it keeps its key" "$(stat -c %a "$key")" 600
like "which is a worker's" "$(cat "$key")" '^w1:w1\.'
is "and belongs to the pool of the token" "$(titan --json worker show w1 | jq -r .pool)" lab
is "its key is listed" "$(titan --json token ls | jq -r '.[] | select(.name == "w1") | "\(.roles | join(",")) \(.pool)"')" 'worker lab'
is "as made by the token" "$(titan --json token ls | jq -r '.[] | select(.name == "w1") | .made_by')" "$(cut -d: -f2 lab.join)"
is "one use is left" "$(titan --json token ls | jq -r '.[] | select(.name == "lab") | .uses')" 1
titan cordon local >/dev/null 2>&1
run=$(titan run -e "a='echo there'")
exits "jobs run there" 0 titan --timeout 60s wait "$run"
is "at the new worker" "$(titan --json show "$run" | jq -r '.[0].jobs[0].worker')" w1

# The same worker again is no other one: it has its key.
one=$(guardian_of w1)
kill -TERM "$one"
ok "it ends" until_true 60 process_gone "$one"
ok "and the master knows that" until_true 60 eval '! is_up w1'
far w1 &
ok "and comes back with its own key" until_true 60 is_up w1
is "which takes no use" "$(titan --json token ls | jq -r '.[] | select(.name == "lab") | .uses')" 1

far w1b --name w1
like "a name that a worker has is refused" "$(cat far-w1b.out)" 'the name w1 is taken: a worker or a token has it'
far lo --name local
like "also that of the master's own worker" "$(cat far-lo.out)" 'the name local is taken'
is "that takes no use" "$(titan --json token ls | jq -r '.[] | select(.name == "lab") | .uses')" 1
far w2 &
ok "another worker joins" until_true 60 is_up w2
far w3
like "a third is too many" "$(cat far-w3.out)" 'token lab\.[a-z0-9]+ for joining is used up'
like "and is told what to do" "$(cat far-w3.out)" 'try: titan token add NAME --join'
is "no key was made" "$(titan --json token ls | jq '[.[] | select(.name == "w3")] | length')" 0

# An answer that was lost: the key that was asked for is there, and is asked for again.
exits "another token" 0 titan token add again --join -o again.join
mkdir -p "$test_dir/far-w4/default" && chmod 700 "$test_dir/far-w4/default"
cp again.join lab.join
far w4 &
ok "joins a worker" until_true 60 is_up w4
four=$(guardian_of w4)
kill -TERM "$four"
ok "which ends" until_true 60 process_gone "$four"
ok "and the master knows that" until_true 60 eval '! is_up w4'
mv "$test_dir/far-w4/default/worker-w4.key" "$test_dir/far-w4/default/worker-w4.key.asked"
far w4 &
ok "the same key once more is the same worker" until_true 60 is_up w4

exits "a token that is removed" 0 titan token rm again
far w5
like "joins nobody" "$(cat far-w5.out)" 'titan: .*(token|key)'
ok "but its workers stay" is_up w4
exits "a token that expires" 0 titan token add brief --join --expires 1ms -o brief.join
cp brief.join lab.join
far w6
like "joins nobody either" "$(cat far-w6.out)" 'titan: .*(token|key)'
is "no key was made of either" "$(titan --json token ls | jq '[.[] | select(.name == "w5" or .name == "w6")] | length')" 0

# After a restart of the master the counts are the same, and so are the keys.
kill -KILL "$(master_pid)"
titan up --listen "127.0.0.1:$port" >/dev/null
ok "the workers come back" until_true 60 is_up w2
is "the token is still used up" "$(titan --json token ls | jq -r '.[] | select(.name == "lab") | .uses')" 0
for dir in "$test_dir"/far-*; do TITAN_STATE=$dir titan -y down >/dev/null 2>&1; done
export TITAN_STATE=$here
done_testing
