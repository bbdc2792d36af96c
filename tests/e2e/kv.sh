# SPDX-License-Identifier: GPL-3.0-or-later
# Values: any bytes, versions, integers, sets, transactions, ends, watches; and what they are after a kill -9 of the master.
# time-out: 240 s
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
kv() { titan kv "$@"; }
version() { titan --json kv get "$1" | jq -r .revision; }
restart() {
	local pid
	pid=$(master_pid)
	kill -KILL "$pid"
	until_true 10 process_gone "$pid"
	titan up >/dev/null 2>&1
	until_true 30 worker_is_up
}

exits "a value is set" 0 kv set cluster:a hello
is "and nothing is printed" "$out" ""
exits "it is read" 0 kv get cluster:a
is "as it is" "$out" hello
is "without a newline" "$(kv get cluster:a | wc -c)" 5
head -c 300 /dev/urandom >bytes
printf 'a\0b\xff\n' >>bytes
exits "any bytes come from standard input" 0 bash -c "'$TITAN' kv set cluster:bytes <bytes"
kv get cluster:bytes >got
ok "and leave as they came" cmp -s bytes got
exits "or from a file" 0 kv set cluster:file --file bytes
kv get cluster:file >got
ok "which is the same" cmp -s bytes got
is "JSON has bytes in base64" "$(titan --json kv get cluster:bytes | jq -r .base64 | base64 -d | cmp - bytes && echo same)" same
exits "an empty value is one" 0 kv set cluster:empty ""
exits "which can be read" 0 kv get cluster:empty
exits "a key that isn't there" 4 kv get cluster:none
like "is named" "$err" "there is no key 'cluster:none'"
exits "nor deleted" 4 kv del cluster:none
exits "a key without a namespace outside a job" 2 kv get a
like "is explained" "$err" 'cluster:KEY, def/NAME:KEY or run/RUN:KEY'
exits "a key of 512 bytes" 0 kv set "cluster:$(printf 'k%.0s' $(seq 512))" x
exits "but not of 513" 2 kv set "cluster:$(printf 'k%.0s' $(seq 513))" x
head -c 65536 /dev/zero >full
exits "a value of 64 KiB" 0 kv set cluster:full --file full
printf x >>full
exits "but not of a byte more" 2 kv set cluster:full --file full
exits "of a run that doesn't exist" 4 kv set run/99:a x

exits "add makes a key" 0 kv add cluster:lead me
exits "once" 8 kv add cluster:lead you
like "and says why not" "$err" "exists already"
is "nothing changed" "$(kv get cluster:lead)" me
seen=$(version cluster:lead)
exits "cas with its version" 0 kv cas cluster:lead "$seen" she
exits "but not with an old one" 8 kv cas cluster:lead "$seen" he
like "says what it is now" "$err" "has revision [0-9]+ now, not $seen"
ok "versions grow" test "$(version cluster:lead)" -gt "$seen"
kv del cluster:lead
exits "cas with 0 makes a key" 0 kv cas cluster:lead 0 again
ok "with a version above all before" test "$(version cluster:lead)" -gt $((seen + 1))

exits "a dry run checks a change" 0 kv set -n cluster:lead other
like "says that it isn't made" "$err" "dry run: this change would be made; nothing was changed"
is "and makes none" "$(kv get cluster:lead)" again
exits "it says why it couldn't be made" 8 kv add -n cluster:lead other
is "it prints what it would return" "$(kv incr -n cluster:dry 5 2>/dev/null)" 5
exits "and nothing is there" 4 kv get cluster:dry
is "JSON says so" "$(titan --json kv set -n cluster:lead x | jq -c '[.dry_run, .revision]')" '[true,null]'
is "of changes it says false" "$(titan --json kv set cluster:lead again | jq .dry_run)" false
is "a transaction, too" "$(printf 'incr dry 2\nincr dry 3\n' | titan --json kv txn cluster: -n | jq -c 'map([.number, .dry_run])')" '[[2,true],[5,true]]'
exits "and changes nothing" 4 kv get cluster:dry
exits "values of an earlier time aren't kept" 2 kv --at 0s get cluster:lead
like "so titan names the commands that show one" "$err" "titan kv has no option --at; .* earlier time are: status, ls, show, explain"

is "incr begins at 0" "$(kv incr cluster:n)" 1
is "adds" "$(kv incr cluster:n 41)" 42
is "and takes" "$(kv incr -- cluster:n -50)" -8
kv set cluster:text 5x
exits "but no text" 2 kv incr cluster:text
like "which it says" "$err" "isn't an integer"
kv set cluster:big 9223372036854775807
exits "nor past the range" 2 kv incr cluster:big
is "which changes nothing" "$(kv get cluster:big)" 9223372036854775807

is "sadd adds a member" "$(kv sadd cluster:s b)" 1
is "once" "$(kv sadd cluster:s b)" 0
is "another" "$(kv sadd cluster:s a)" 1
is "smembers has them in order" "$(kv smembers cluster:s | tr '\n' ' ')" "a b "
is "any bytes are a member" "$(printf '\xff\0' | kv sadd cluster:s)" 1
is "and come back in JSON" "$(titan --json kv smembers cluster:s | jq -r '.[2].base64')" /wA=
is "srem removes one" "$(kv srem cluster:s b)" 1
is "once" "$(kv srem cluster:s b)" 0
exits "a set is no integer" 2 kv incr cluster:s
exits "nor is a value a set" 2 kv sadd cluster:a x

is "ls lists a prefix" "$(titan --json kv ls cluster:f | jq -r '[.[].key] | join(" ")')" "cluster:file cluster:full"
for i in $(seq 1 30); do echo "set many/$i v$i"; done | kv txn cluster: >/dev/null
is "a transaction sets many" "$(titan --json kv ls cluster:many/ | jq length)" 30
is "and --limit shows few" "$(titan --json kv ls cluster:many/ --limit 7 | jq length)" 7
exits "one whose condition fails" 8 bash -c "printf 'set t1 x\ncheck n 1\nset t2 y\n' | '$TITAN' kv txn cluster:"
like "names the operation" "$err" "operation 2 of 3: key 'n' has revision .* nothing was changed"
exits "and does nothing" 4 kv get cluster:t1
is "a good one does all, in order" "$(printf 'check a %s\nset a x\\ty\nincr n 9\nget a\n' "$(version cluster:a)" | kv txn cluster: --json | jq -c '[.[3].value, .[2].number]')" '["x\ty",1]'
exits "a wrong line" 2 bash -c "echo 'put a b' | '$TITAN' kv txn cluster:"
exits "65 operations" 2 bash -c "for i in \$(seq 65); do echo \"set x\$i y\"; done | '$TITAN' kv txn cluster:"

kv set cluster:soon x --ttl 300ms
gone() { ! kv get "$1" >/dev/null 2>&1; }
ok "a value ends by itself" until_true 20 gone cluster:soon
kv set cluster:later x --ttl 1h
like "a later one says when" "$(titan --json kv get cluster:later | jq -r .until)" '^20'
kv touch cluster:later
is "touch keeps it for ever" "$(titan --json kv get cluster:later | jq -r .until)" null
exits "what isn't there can't be touched" 4 kv touch cluster:soon
kv set cluster:while x --ttl 2s

from=$(version cluster:a)
(titan --json kv watch cluster:w/ --limit 20 >watched) &
watcher=$!
# The watch has begun when it shows a change.
begun() { kv set cluster:w/begin "$RANDOM" && [ -s watched ]; }
ok "a watch shows changes" until_true 30 begun
restart
kv set cluster:w/1 one
kv del cluster:w/1
kv set cluster:w/2 two
count() { kv incr cluster:w/n >/dev/null; process_gone "$watcher"; }
ok "it goes on after a kill -9 of the master" until_true 60 count
is "until it has shown enough" "$(wc -l <watched)" 20
ok "in the order of versions" bash -c "jq -r .revision watched | sort -nu | cmp - <(jq -r .revision watched)"
exits "a watch from an old version tells all that changed since" 0 bash -c "timeout 60 '$TITAN' --json kv watch cluster:w/ --from $from --limit 3"
is "with the deletion" "$(jq -r 'select(.key == "cluster:w/1") | .kind' <<<"$out")" deleted

is "after the kill all is as it was" "$(kv get cluster:lead) $(kv get cluster:n) $(kv smembers cluster:s | head -n 1)" "again 1 a"
ok "and times went on" until_true 20 gone cluster:while
for i in $(seq 1 17); do for k in $(seq 1 64); do echo "set gone/$i-$k x"; done | kv txn cluster: >/dev/null; done
for i in $(seq 1 17); do for k in $(seq 1 64); do echo "del gone/$i-$k"; done | kv txn cluster: >/dev/null; done
exits "a watch from before forgotten deletions" 8 kv watch cluster: --from "$from"
like "must begin anew" "$err" 'compacted.*'
exits "which works" 0 kv watch cluster:w/ --from 0 --limit 2

like "a person's change is an act" "$(titan history --json | jq -r '.[] | select(.target == "value cluster:lead") | .verb' | sort -u | tr '\n' ' ')" 'add cas del'

# A storm: every acknowledged increment is there, none twice.
storm() {
	local i
	# Without a master a command that has sent nothing ends at once; only then is it typed again.
	for i in $(seq 1 12); do until titan kv incr cluster:storm >>"storm.$1" 2>/dev/null; do sleep 0.05; done; done
}
kv set cluster:storm 0
clients=
for client in $(seq 1 16); do storm "$client" & clients="$clients $!"; done
some() { [ "$(cat storm.* 2>/dev/null | wc -l)" -ge 20 ]; }
ok "16 clients count" until_true 60 some
restart
failed=0
for pid in $clients; do wait "$pid" || failed=$((failed + 1)); done
acked=$(cat storm.* | wc -l)
is "no increment failed through the kill" "$failed" 0
is "each acknowledged increment counts once" "$(kv get cluster:storm)" "$acked"
is "and returned a number of its own" "$(sort -nu storm.* | wc -l)" "$acked"

# After a restore all versions are higher, and watches begin anew.
last=$(version cluster:storm)
titan backup copy.titan >/dev/null
kv set cluster:after-backup x
lost=$(version cluster:after-backup)
titan -y down >/dev/null
exits "a backup is restored" 0 titan -y restore copy.titan
titan up >/dev/null 2>&1
ok "and runs" until_true 30 worker_is_up
is "with the values of then" "$(kv get cluster:storm)" "$acked"
exits "and none from after it" 4 kv get cluster:after-backup
kv set cluster:after-restore x
ok "a change has a version above those that were lost" test "$(version cluster:after-restore)" -gt "$lost"
exits "a watch from before is told" 8 kv watch cluster: --from "$last"
like "that it is compacted" "$err" compacted

done_testing
