# SPDX-License-Identifier: GPL-3.0-or-later
# titan config shows each setting's value and where it comes from.
. "$(dirname "$0")/lib.sh"

mkdir -p project/below "$HOME/.config/titan" "$TITAN_STATE"
cd project/below || exit 1
is_from() { # KEY VALUE SOURCE WHERE [ARGUMENTS...]
	local key=$1 wanted="$2|$3|$4"
	shift 4
	is "$key is $wanted" "$(titan --json config "$key" "$@" | jq -r '.[0] | [.value // "", .source, .source_name // ""] | join("|")')" "$wanted"
}
is_from pool default default ''
is_from labels '' default ''
is_from keep_past 7d default ''
echo 'pool: ours' >"$HOME/.config/titan/titan.conf"
is_from pool ours user "$HOME/.config/titan/titan.conf"
echo 'cluster: lab' >"$test_dir/project/.titan.conf"
is_from cluster lab project "$test_dir/project/.titan.conf"
mkdir -m 700 "$TITAN_STATE/lab"
printf 'pool: theirs\nlabels: [a, b]\n' >"$TITAN_STATE/lab/titan.conf"
is_from pool theirs cluster "$TITAN_STATE/lab/titan.conf"
is_from labels a,b cluster "$TITAN_STATE/lab/titan.conf"
TITAN_CLUSTER=env is_from cluster env environment TITAN_CLUSTER
TITAN_CLUSTER=env is_from cluster flag flag --cluster -C flag
TITAN_LEASE=9s is_from lease 9s environment TITAN_LEASE
is_from timeout 3s flag --timeout --timeout 3s
is_from color never environment NO_COLOR
is_from color always flag --color --color always
is_from state_dir "$TITAN_STATE/lab" environment TITAN_STATE
is "no setting is left out" "$(titan --plain config | cut -f 1 | grep -cE '^(cluster|color|slots|heartbeat|keep_runs|state_dir)$')" 6
exits "a setting that isn't there" 4 titan config clutser
like "leads to its neighbour" "$err" "did you mean 'cluster'"
exits "a format with a wrong field" 2 titan --format '{nothing}' config
echo 'color: blue' >"$HOME/.config/titan/titan.conf"
exits "a file that is wrong is told" 2 titan config
like "with its place" "$err" 'titan.conf:1:8'
done_testing
