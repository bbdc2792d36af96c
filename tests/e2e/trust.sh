# SPDX-License-Identifier: GPL-3.0-or-later
# A worker that runs as the master's user takes only the owner's jobs: a job of somebody else could use the owner's socket.
. "$(dirname "$0")/lib.sh"

export XDG_CONFIG_HOME=$test_dir/config
start_cluster --slots 2 --listen 127.0.0.1:0
address=$(sed -n 's/.*listening on //p' "$TITAN_STATE/default/master.log" | tail -n 1)
anna() { TITAN_STATE=$test_dir/away "$TITAN" -H "$address" --key anna.key "$@"; }
titan token add anna -o anna.key

exits "a job of the owner runs" 0 titan --timeout 60s run -w -e 'a; a=true'
run=$(anna run -e 'a; a="echo hello"')
reason() { anna --json explain "$run/a" | jq -r '.[0].reason // .reason'; }
waits() { [ "$(reason)" = worker_of_owner ]; }
ok "one of anna's waits" until_true 30 waits
like "and says for what, and what to do" "$(anna explain "$run/a")" 'worker local.*trust_submitters: yes'
titan token add far --worker -o far.key
TITAN_STATE=$test_dir/far setsid "$TITAN" worker start -H "$address" --key far.key --slots 1 >far.log 2>&1 &
far=$!
has_far() { titan --json worker ls | jq -e '.[] | select(.name == "far" and .state == "up")' >/dev/null; }
ok "a worker connects over TLS, as the same user on the same machine" until_true 30 has_far
is "anna's job waits for another one" "$(job_state "$run" a)" ready
kill -INT $far
titan -y down >/dev/null 2>&1
echo 'trust_submitters: yes' >"$TITAN_STATE/default/titan.conf"
exits "the owner says that submitters are trusted" 0 titan up --listen "$address"
exits "then anna's job runs" 0 anna --timeout 60s wait "$run"
is "and says what it had to say" "$(anna logs "$run/a")" hello
done_testing
