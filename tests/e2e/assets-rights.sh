# SPDX-License-Identifier: GPL-3.0-or-later
# Assets from another machine, and who may read and change them: with tokens of several people, and in jobs.
. "$(dirname "$0")/lib.sh"

export XDG_CONFIG_HOME=$test_dir/config
mkdir -p -m 700 "$TITAN_STATE/default"
echo 'trust_submitters: yes' >"$TITAN_STATE/default/titan.conf"     # all here run as one user
start_cluster --slots 2 --listen 127.0.0.1:0
address=$(sed -n 's/.*listening on //p' "$TITAN_STATE/default/master.log" | tail -n 1)
goods=$TITAN_STATE/default/goods
for person in anna:submitter bert:submitter vera:viewer otto:operator; do
	titan -q token add "${person%:*}" --role "${person#*:}" -o "${person%:*}.key"
done
by() { # PERSON ARGUMENT...
	local person=$1
	shift
	TITAN_STATE=$test_dir/away "$TITAN" -H "$address" --key "$person.key" "$@"
}
contents() { find "$goods/blobs" "$goods/packs" -type f | wc -l; }

# --- over TLS ---
head -c 3000000 /dev/urandom >secret
mkdir tree
cp secret tree/inside
echo small >tree/small
exits "anna puts a file" 0 by anna asset put secret
exits "and a directory" 0 by anna asset put tree
exits "and gets them back" 0 by anna asset get tree -o tree2
ok "as they were" diff -r tree tree2

# --- people ---
is "bert sees none of them" "$(by bert --json asset ls)" '[]'
exits "nor gets one" 4 by bert asset get secret -o stolen
like "which is as if there was none" "$err" "there is no asset 'secret'"
exits "nor removes one" 4 by bert asset rm secret
exits "a name that is taken is refused" 3 by bert asset put tree2/small secret
like "which is said" "$err" 'somebody else'
before=$(contents)
sent=$(by bert --json asset put secret mine | jq .sent_bytes)
is "equal content has to be sent all the same" "$sent" 3000000
is "but is kept once" "$(contents)" "$before"
exits "then it is bert's, too" 0 by bert asset get mine -o mine
ok "and the same" cmp secret mine
exits "a viewer sees all" 0 by vera asset get secret -o seen
is "by name and owner" "$(by vera --json asset ls | jq -r '[.[] | .name + ":" + .owner] | join(" ")')" "mine:bert secret:anna tree:anna"
exits "but puts nothing" 3 by vera asset put tree2/small
exits "and removes nothing" 3 by vera asset rm secret
exits "an operator puts one" 0 by otto asset put tree2/small tool
exits "and pins that of anna" 0 by otto asset pin secret
exits "so she can't remove it" 3 by anna asset rm secret
exits "but she can unpin it" 0 by anna asset pin secret --off
exits "anna removes hers" 0 by anna asset rm secret
exits "bert's stays" 0 by bert asset get mine -o mine2
ok "whole" cmp secret mine2
is "acts have the names of people" "$(titan --json history --verb remove | jq -r '.[0].by // .[0].name // .[0].person')" anna

# --- jobs ---
run=$(titan run -q -e "a -> b; a='echo from a job >made && $TITAN asset put made'; b='$TITAN asset get made -o got && cat got'")
exits "jobs put and get assets" 0 titan --timeout 60s wait "$run"
is "and hand them on" "$(titan logs -q "$run/b")" "from a job"
is "in the name of the run's owner" "$(titan --json asset show made | jq -r .owner)" "$(id -un)"
run=$(by bert run -q -e "a='$TITAN asset get tree -o tree3'")
exits "a job sees what its owner sees" 1 titan --timeout 60s wait "$run"
like "and no more" "$(titan logs -q "$run/a")" "there is no asset 'tree'"
run=$(by bert run -q -e "a='$TITAN asset get mine -o mine3 && cmp mine3 $test_dir/secret'")
exits "its owner's it gets" 0 titan --timeout 60s wait "$run"
run=$(by bert run -q -e "a='$TITAN asset rm made'")
exits "those of others it can't remove" 1 titan --timeout 60s wait "$run"
exits "they are still there" 0 titan asset show made
done_testing
