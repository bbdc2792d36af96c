# SPDX-License-Identifier: GPL-3.0-or-later
# titan up on a cluster that already runs: it reports what differs from the options, and changes nothing.
. "$(dirname "$0")/lib.sh"

exits "titan up" 0 titan up --slots 2
unlike "says nothing about slots on a new cluster" "$err" slots
pid=$(master_pid)
exits "again with the same" 0 titan up --slots 2
is "there is nothing to say" "$err" ''
exits "without an option" 0 titan up
is "whatever runs is right" "$err" ''
exits "with another number" 0 titan up --slots 5
like "the difference is named" "$err" 'already runs with 2 slots, and --slots says 5; nothing was changed'
like "and what would change it" "$err" 'try: titan down --leave-jobs && titan up --slots 5'
is "the worker is as it was" "$(state_of '.workers[0].slots')" 2
is "so is the master" "$(master_pid)" "$pid"
exits "with -q" 0 titan -q up --slots 5
is "nothing is said" "$err$out" ''
exits "as JSON" 0 titan --json up --slots 5
is "the value has what runs" "$(printf '%s' "$out" | jq -c '[.worker, .slots, .worker_began]')" '["local",2,false]'
mkdir -p "$HOME/.config/titan"
printf 'slots: 7\n' >"$HOME/.config/titan/titan.conf"
exits "titan.conf counts, too" 0 titan up
like "by its own name" "$err" 'slots in titan.conf says 7'
rm "$HOME/.config/titan/titan.conf"

run=$(titan run -- sh -c 'until [ -e go ]; do sleep 0.05; done; echo went on')
ok "a job runs" until_true 30 job_is "$run" sh running
exits "what was said works" 0 sh -c '"$TITAN" -q down --leave-jobs && "$TITAN" -q up --slots 5'
is "the worker has the slots" "$(state_of '.workers[0].slots')" 5
touch go
exits "and the job went on" 0 titan --timeout 60s wait "$run"
is "as one process" "$(titan logs "$run")" "went on"
done_testing
