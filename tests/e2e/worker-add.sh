# SPDX-License-Identifier: GPL-3.0-or-later
# titan worker add: from a list of machines to workers that run jobs, with nothing installed there.
# time-out: 600 s
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-ssh.sh"

export TITAN_HEARTBEAT=200ms TITAN_LEASE=4s TITAN_GRACE=6s
start_cluster --slots 1
start_sshd </dev/null
machine web1
machine web2
add() { titan worker add --ssh-config "$ssh_config" "$@"; }

exits "a dry run only looks" 0 add -n --json web1
is "and says what would be done" "$(jq -r '.[0] | "\(.result) \(.way) \(.dry_run)"' <<<"$out")" 'added ssh true'
is "no key was made" "$(titan --json token ls)" '[]'
is "nothing was copied" "$(find "$far_home/web1" -type f | wc -l)" 0

exits "two machines at once" 0 add --slots 2 --label web web1 web2
like "a line for each" "$out" '^web1 +web1 +added +ssh +2$'
like "and for the other" "$out" '^web2 +web2 +added +ssh +2$'
like "progress is told" "$err" '^web2: copying titan, [0-9]+ kB'
is "each has a key of its own, which is a worker's" "$(titan --json token ls | jq -r '[.[] | "\(.name) \(.roles | join(","))"] | sort | join("; ")')" 'web1 worker; web2 worker'
key=$(cut -d: -f3 "$far_home"/web1/.local/share/titan/web1.*/worker.key)
is "only its owner may read it" "$(stat -c %a "$far_home"/web1/.local/share/titan/web1.*/worker.key)" 600
unlike "it was in no argument and no log" "$(cat "$sshd_dir/log" "$TITAN_STATE/default/master.log" "$far_home"/web1/.local/share/titan/*/*.log; cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ')" "$key"
run=$(titan run --lines --label web < <(for i in $(seq 20); do echo "echo \$((6*7)) \$HOME"; done))
exits "they run jobs" 0 titan --timeout 120s wait "$run"
is "at both" "$(titan --json show "$run" | jq -r '[.[0].jobs[].worker] | unique | join(" ")')" 'web1 web2'
like "whose output arrives" "$(titan logs "$run" 2>/dev/null)" '42'

pid() { titan --json worker ls | jq -r ".[] | select(.name == \"$1\") | .pid"; }
before=$(pid web1)
exits "again: nothing changes" 0 add web1
like "which it says" "$out" 'nothing to change'
is "the same process runs" "$(pid web1)" "$before"

cp "$far_home"/web1/.local/share/titan/web1.*/worker.conf conf.before
exits "other settings take effect" 0 add --slots 3 web1
like "as another start" "$out" '^web1 +web1 +restarted +ssh +3$'
is "labels stay" "$(titan --json worker show web1 | jq -r '.labels | join(",")')" web

kill -9 "$(master_pid)"
exits "the master comes back" 0 titan up
ok "and so do its bridges" until_true 60 has_worker web1 up
ok "both of them" until_true 60 has_worker web2 up

exits "a worker is stopped" 0 titan worker stop web2
ok "the master sees that" until_true 60 eval '! has_worker web2 up'
is "and stays so" "$(pgrep -f "far run $far_home/web2" | wc -l)" 0
exits "it is started again" 0 titan worker start web2
ok "and takes jobs" until_true 60 has_worker web2 up
is "it isn't drained" "$(titan --json worker show web2 | jq -r .standing)" null

exits "its log can be read" 0 titan worker logs web1
like "from here" "$out" 'worker web1 has 3 slots'
exits "the way can be checked" 0 titan worker check-net web1
like "in sentences" "$out" '^ok the worker runs'

# After a reboot of the machine the master starts the worker again.
pkill_far() { for p in $(pgrep -f "far run $far_home/web1"); do kill -STOP "$p"; done; for p in $(pgrep -f "far run $far_home/web1"); do kill -KILL "$p"; done; }
before=$(pid web1)
pkill_far
changed() { has_worker web1 up && [ "$(pid web1)" != "$before" ]; }
ok "a worker that is gone is started by its bridge" until_true 90 changed

exits "a worker is removed" 0 titan worker rm web1
is "with its directory" "$(ls -d "$far_home"/web1/.local/share/titan/web1.* 2>/dev/null | wc -l)" 0
is "and its key" "$(titan --json token ls | jq -r '[.[].name] | join(" ")')" web2
is "and its row" "$(titan --json worker ls | jq -r '[.[] | select(.name == "web1")] | length')" 0
exits "the other, too" 0 titan worker rm web2
is "no process is left there" "$(pgrep -f "$far_home/.*titan|far run $far_home" | wc -l)" 0
done_testing
