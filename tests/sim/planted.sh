# SPDX-License-Identifier: GPL-3.0-or-later
# The simulator must find each bug of planted.def.
#
# PLANTED_SCHEDULES: how many schedules each gets (15000). PLANTED: only bugs whose name has this in it.
# PLANTED_JOBS: how many are tried at once (as many as there are cores).
# time-out: 900 s
set -u

sim=${TITAN_SIM:?path of titan-sim}
planted=${TITAN_SIM_PLANTED:?path of titan-sim-planted}
schedules=${PLANTED_SCHEDULES:-15000}
at_once=${PLANTED_JOBS:-$(nproc)}
work=$(mktemp -d "${TMPDIR:-/tmp}/titan-planted.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
number=0
failed=0

result() { # STATUS TEXT
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number - $2"
	else
		echo "not ok $number - $2"
		failed=1
	fi
}

# Says what came of it, and ends with 0 if it was found.
try() { # NAME
	local out=$work/$1.out status
	timeout 300 "$planted" --bug "$1" --schedules "$schedules" >"$out" 2>&1
	status=$?
	grep -m 1 -E '^seed .* fails' "$out" || tail -n 3 "$out"
	[ $status != 124 ] || echo "it took too long"
	rm -f "$out"
	[ $status = 1 ]
}

said=$("$sim" --schedules 200 2>&1) && [ "$("$planted" --schedules 200 2>&1)" = "$said" ]
result $? "without a bug, titan-sim-planted does what titan-sim does"

names=$("$planted" --bugs | cut -f 1 | grep -F -e "${PLANTED-}")
[ -n "$names" ] || result 1 "a planted bug has '${PLANTED-}' in its name"
for name in $names; do
	while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
	{ try "$name" >"$work/$name.said" 2>&1; echo $? >"$work/$name.status"; } &
done
wait
for name in $names; do
	head -n 20 "$work/$name.said" | sed 's/^/# /'
	result "$(cat "$work/$name.status")" "$name is found"
done

echo "1..$number"
exit $failed
