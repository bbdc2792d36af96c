# SPDX-License-Identifier: GPL-3.0-or-later
# Many clients of other machines that are connected and idle, and strangers who come all the time with nonsense, foreign protocols and
# wrong keys, before and after the handshake: a submit takes no more than twice as long.
# time-out: 900 s
#
# CHAOS_CROWD: how many idle clients (200); CHAOS_SECONDS: for how long submits are measured (2), and then judged exactly.
. "$(dirname "$0")/lib.sh"

program=$TITAN_BUILDDIR/tests/bench/bench_crowd
[ -x "$program" ] || skip_all "make programs builds $program"
crowd=${CHAOS_CROWD:-200}
"$TITAN" master --listen 127.0.0.1:0 2>master.log &
until_true 30 titan status || skip_all "no master"
address=$(sed -n 's/.*listening on //p' master.log | tail -n 1)
titan token add viewer --role viewer -o viewer.key >/dev/null
exits "$crowd idle clients and a stream of strangers come" 0 "$program" "$address" viewer.key "$crowd" "${CHAOS_SECONDS:-2}"
note "$out"
figure() { awk -v name="$1" '$1 == name { print $2 }' <<<"$out"; }
is "all of the clients are held" "$(figure crowd_held)" "$crowd"
quiet=$(figure submit_p99_quiet)
beside=$(figure submit_p99_crowd)
# Below some milliseconds it is the machine that is measured; two seconds beside other tests say only that nobody stood still.
most=$(awk -v quiet="$quiet" -v exact="${CHAOS_SECONDS:-}" 'BEGIN { print exact ? 2 * (quiet > 5 ? quiet : 5) : 5000 }')
ok "99 of 100 submits take no more than $most ms beside them" awk -v a="$beside" -v b="$most" 'BEGIN { exit !(a <= b) }'
ok "a connection takes no more than 60 KB" test "$(figure crowd_memory)" -le $((60 * 1024 + ${MEMORY_SLACK_MIB:-0} * 1048576 / crowd))
amount "$crowd idle: $(figure crowd_memory) B each, p99 $quiet ms alone, $beside ms beside"
few() { [ "$(find "/proc/$(master_pid)/fd" -lname 'socket:*' | wc -l)" -lt 20 ]; }
ok "they leave nothing behind" until_true 60 few
exits "and the master serves" 0 titan run -e 'a; a=true'
done_testing
