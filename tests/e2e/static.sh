# SPDX-License-Identifier: GPL-3.0-or-later
# titan-static: the worker as one static program, which runs jobs where there is nothing else.
. "$(dirname "$0")/lib.sh"

static=$(dirname "$(realpath "$TITAN")")/titan-static
[ -x "$static" ] || skip_all "built without titan-static"

is "it is static" "$(ldd "$static" 2>&1 | grep -c 'not a dynamic executable')" 1
is "it has less than 7 MB" "$([ "$(stat -c %s "$static")" -lt 7000000 ] && echo yes)" yes
is "it knows its own hash" "$("$static" version --hash)" "$(sha256sum "$static" | cut -d' ' -f1)"
is "and its version" "$("$static" version)" "$(titan version)"
unlike "it has no database, no screen and no line editor" "$(strings -a "$static")" 'SQLite format 3|terminfo|inputrc'

exits "without arguments it says how it is used" 2 "$static"
like "in words" "$err" '^usage: titan-static worker start -H ADDRESS --key FILE'
exits "an address is needed" 2 "$static" worker start --key x
like "and named" "$err" 'missing is .--host'
exits "bad slots are refused" 2 "$static" worker start -H a --key x --slots 0
like "by name" "$err" '^titan-static: --slots: .*0'
exits "a missing key file, too" 71 "$static" worker start -H 127.0.0.1:1 --key nowhere
like "with its path" "$err" 'nowhere'
exits "far is for other machines" 2 "$static" far

start_cluster --slots 1 --listen 127.0.0.1:0
address=$(sed -n 's/.*listening on //p' "$TITAN_STATE/default/master.log" | tail -n 1)
titan token add bare --worker -o bare.key 2>/dev/null
has_worker() { titan --json worker ls | jq -e ".[] | select(.name == \"$1\" and .state == \"$2\")" >/dev/null; }

if [ "$(id -u)" != 0 ] || ! unshare --mount true 2>/dev/null; then
	note "not root: without the empty root"
	done_testing
fi
root=$test_dir/root
mkdir -p "$root/proc" "$root/dev"
cp "$static" "$root/titan"
cp bare.key "$root/bare.key"
# An empty root: the program, its key, and what the kernel has to show.
setsid unshare --mount --pid --fork --kill-child --propagation private sh -c '
	mount -t proc proc "$1/proc" && : >"$1/dev/null" && mount --bind /dev/null "$1/dev/null" &&
	exec chroot "$1" /titan worker start -H "$2" --key /bare.key --slots 2 --label bare --state /state' \
	sh "$root" "$address" >bare.log 2>&1 &
outer=$!
ok "a worker in an empty root connects" until_true 60 has_worker bare up || note "$(cat bare.log)"
run=$(titan run --private --label bare -- /titan version)
exits "it runs jobs" 0 titan --timeout 120s wait "$run"
is "all succeed" "$(run_state "$run")" succeeded
like "and their output arrives" "$(titan logs "$run")" "titan $("$static" version | cut -d' ' -f2)"
is "nothing else is in there" "$(cd "$root" && find . -maxdepth 1 | sort | tr '\n' ' ')" '. ./bare.key ./dev ./proc ./state ./titan '
kill -KILL $outer
wait $outer 2>/dev/null
done_testing
