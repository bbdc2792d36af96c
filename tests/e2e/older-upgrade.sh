# SPDX-License-Identifier: GPL-3.0-or-later
# A worker that the older titan put on another machine, with its bridge: it serves today's master, and titan worker upgrade
# brings it to today's version amid its jobs.
# time-out: 900 s
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-ssh.sh"
. "$(dirname "$0")/lib-older.sh"

export TITAN_HEARTBEAT=200ms TITAN_LEASE=10s TITAN_GRACE=20s
mkdir "$test_dir/ran"
start_cluster --slots 1
titan cordon local >/dev/null 2>&1
start_sshd </dev/null
machine web1
exits "the older titan puts a worker on a machine" 0 older worker add --ssh-config "$ssh_config" --slots 4 web1
ok "it connects" until_true 60 has_worker web1 up
is "with the version before" "$(protocol_of web1)" "$older_version"

jobs=100
run=$(for i in $(seq $jobs); do echo "printf x >>$test_dir/ran/$i; sleep 0.$((RANDOM % 3)); echo end $i"; done | titan -q run --lines --mode once)
some_ran() { [ "$(succeeded_of "$run")" -ge 10 ]; }
ok "it runs jobs" until_true 300 some_ran
exits "today's titan upgrades it meanwhile" 0 titan worker upgrade web1
like "which it says" "$out" '^web1 +web1 +upgraded'
ok "it connects again" until_true 120 has_worker web1 up
is "with today's version" "$(protocol_of web1)" $((older_version + 1))
unlike "and isn't of an older titan any more" "$(titan worker ls)" 'older titan'
exits "all jobs end" 0 titan --timeout 400s wait "$run"
is "each ran" "$(find "$test_dir/ran" -type f | wc -l)" $jobs
is "none twice" "$(find "$test_dir/ran" -type f -size +1c | wc -l)" 0
is "with what they print" "$(titan logs "$run" 2>/dev/null | grep -o 'end [0-9]*' | sort -u | wc -l)" $jobs
exits "the machine is given up" 0 titan worker rm web1
done_testing
