# SPDX-License-Identifier: GPL-3.0-or-later
# titan approve with several gates, runs and selectors: what is listed, asked, refused and voted.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
two() { titan run --name "$1" -e '?qa -> a; ?legal -> b; qa="is it good?"; legal="is it \033[2Jallowed?"; a=true; b=true'; }
waits() { [ "$(titan --json approvals "$1" | jq length)" = "$2" ]; }
first=$(two first) second=$(two second) third=$(two third)
ok "gates wait" until_true 30 sh -c '[ "$("$TITAN" --json approvals | jq length)" = 6 ]'

exits "-n lists" 0 titan -q approve -n "$first"
is "the gates of a run" "$(printf '%s\n' "$out" | grep -c "^$first/")" 2
exits "as JSON, too" 0 titan --json approve -n "$first" "$second/qa"
is "in one list" "$(printf '%s' "$out" | jq -c 'map(.job) | sort')" "[\"$first/legal\",\"$first/qa\",\"$second/qa\"]"
exits "-n of one gate" 0 titan --json approve -n "$first/qa"
is "lists it" "$(printf '%s' "$out" | jq length)" 1
ok "and approves none" waits "$first" 2

exits "several need a yes" 2 titan approve "$first"
like "how many is said" "$err" 'approve 2 gates'
like "and what about" "$err" "$first/qa  is it good\?"
like "without driving the terminal" "$err" 'is it .*033\[2Jallowed|is it \\x1b\[2Jallowed'
ok "nothing was approved" waits "$first" 2
exits "a gate that isn't there" 2 titan -y approve "$first/qa" "$first/none"
exits "a job that is no gate" 2 titan -y approve "$first/qa" "$first/a"
like "is named" "$err" "$first/a isn't a gate that waits for approval; nothing was approved"
ok "nothing was approved then either" waits "$first" 2
exits "a digest is of one gate" 2 titan -y approve "$first" --digest 0123456789abcdef
exits "a run without gates" 4 titan -y approve "$(titan run -w -- true)"
like "has nothing to approve" "$err" 'no gate of [0-9]+ waits for approval'

exits "-y approves all of a run" 0 titan -y approve "$first" -m 'as agreed'
exits "which goes on" 0 titan --timeout 60s wait "$first"
is "with the reason of each" "$(titan --json approvals -a "$first" | jq -c 'map(.message) | unique')" '["as agreed"]'
exits "names" 0 titan -y --json approve "$second/qa" "$third/qa"
is "are counted each" "$(printf '%s' "$out" | jq -c 'map(.changed)')" '[1,1]'
exits "a selector" 0 titan -y approve name=legal
exits "reaches all runs" 0 titan --timeout 60s wait "$second" "$third"
exits "when none is left" 4 titan -y approve all
run=$(titan run -e '?qa -> a; a=true; qa="go?"')
ok "one gate by its name" until_true 30 waits "$run" 1
exits "needs no question" 0 titan approve "$run/qa"
exits "and goes on" 0 titan --timeout 60s wait "$run"
done_testing
