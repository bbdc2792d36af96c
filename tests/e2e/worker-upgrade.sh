# SPDX-License-Identifier: GPL-3.0-or-later
# titan worker upgrade, and restart, in the middle of many jobs: none runs twice, none is lost, and the logs are whole.
# time-out: 900 s
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-ssh.sh"

export TITAN_HEARTBEAT=200ms TITAN_LEASE=10s TITAN_GRACE=20s
mkdir "$test_dir/programs" "$test_dir/ran"
# A copy of the programs, so that another version can take their place.
cp "$TITAN" "$test_dir/programs/titan"
static=$(dirname "$(realpath "$TITAN")")/titan-static
[ ! -x "$static" ] || cp "$static" "$test_dir/programs/titan-static"
program=$test_dir/programs/titan-static
[ -x "$program" ] || program=$test_dir/programs/titan
reach() { "$test_dir/programs/titan" "$@"; }

start_cluster --slots 1
titan cordon local >/dev/null 2>&1
start_sshd </dev/null
machine web1
exits "a machine gets a worker" 0 reach worker add --ssh-config "$ssh_config" --slots 8 web1
hash() { sed -n 's/^hash //p' "$TITAN_STATE/default/machines/web1"; }
old=$(hash)

# Each job notes its start in a file of its own, and prints a beginning and an end with some time between.
jobs=500
for i in $(seq $jobs); do
	echo "printf x >>$test_dir/ran/$i; echo begin $i; sleep 0.$((RANDOM % 3))$((RANDOM % 10)); echo end $i"
done >lines
run=$(titan run --lines --mode once <lines)
ended() { [ "$(succeeded_of "$run")" -ge "$1" ]; }
ok "a fifth of the jobs have run" until_true 300 ended 100

# Another version of the program: the same with some bytes behind its end.
cp "$program" newer && echo another version >>newer && mv newer "$program"
exits "the worker is upgraded meanwhile" 0 reach worker upgrade
like "which it says" "$out" '^web1 +web1 +upgraded +ssh +8$'
unlike "it is another program" "$(hash)" "$old"
is "the one that is here" "$(hash)" "$(sha256sum "$program" | cut -d' ' -f1)"
ok "that runs there" eval 'readlink /proc/$(titan --json worker show web1 | jq .pid)/exe | grep -q "titan\.$(hash | cut -c1-16)"'
ok "half of the jobs have run" until_true 300 ended 250
exits "the worker is restarted meanwhile" 0 reach worker restart web1
exits "again there is nothing to upgrade" 0 reach worker upgrade web1
like "which it says" "$out" 'nothing to change'

exits "all jobs end" 0 titan --timeout 400s wait "$run"
is "well" "$(succeeded_of "$run")" $jobs
is "each ran" "$(find "$test_dir/ran" -type f | wc -l)" $jobs
is "none twice" "$(find "$test_dir/ran" -type f -size +1c | wc -l)" 0
for i in $(seq $jobs); do echo "begin $i"; echo "end $i"; done | sort >wanted
titan logs "$run" 2>/dev/null | sed 's/^.*\(begin\|end\) /\1 /' | sort >got
ok "and the logs are whole" cmp wanted got
exits "the machine is given up" 0 reach worker rm web1
done_testing
