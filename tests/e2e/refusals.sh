# SPDX-License-Identifier: GPL-3.0-or-later
# Everything that keeps a master or a worker from starting is reported with what to do about it, has its documented
# status, and leaves everything as it was.
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip_all "no python3"
state=$TITAN_STATE/default
store=$state/titan.db

# refused WHAT STATUS SAYS NEXT [COMMAND...]: a master, or what is named, doesn't start
refused() {
	local what=$1 status=$2 says=$3 next=$4
	shift 4
	[ $# -gt 0 ] || set -- "$TITAN" master
	exits "$what: refused" "$status" timeout 20 "$@"
	like "$what: it says why" "$err" "$says"
	like "$what: and what to do" "$err" "try: .*$next"
}
pragma() { python3 -c "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()" "$store" "$1"; }

start_cluster --slots 1
titan run -w -e "a; a='true'" >/dev/null
refused "a second master" 75 'has the store .*open' 'titan status'
refused "a second worker of the name" 75 'worker local is already running' 'titan status' "$TITAN" worker start --name local
titan -y down >/dev/null 2>&1
cp -a "$store" "$test_dir/good"
again() { cp -a "$test_dir/good" "$store"; }

pragma "pragma user_version = 99"
refused "a store of a newer version" 76 'has version 99; this titan supports versions up to' 'titan version'
again
pragma "pragma application_id = 7"
refused "another program's database" 74 'is a database, but not one of titan' 'mv .* elsewhere'
again
chmod 644 "$store"
refused "a store that others may read" 74 'must belong to you, and nobody else may have access' "chmod 600 $store"
again
if [ "$(id -u)" = 0 ]; then
	chown nobody "$store"
	refused "a store of another user" 74 'must belong to you' "chown 0 $store"
	chown 0 "$store"
	chown nobody "$state"
	refused "a state directory of another user" 71 "can't use the state directory" "chown 0 $state"
	chown 0 "$state"
fi
: >"$store"
refused "a store that lost all it had" 74 'ends with turn 0, but turn [0-9]+ was acknowledged' 'titan restore FILE'
exits "fsck says so, too" 74 titan fsck
rm "$store"
refused "a store that is gone" 74 'ends with turn 0, but turn [0-9]+ was acknowledged' 'titan restore FILE'
rm -f "$store"
echo turned >"$store-mark"
again
refused "a mark that is none" 74 "doesn't contain the number of a turn" "ls -ld $store-mark"
: >"$store-mark"
exits "one that a power cut emptied is none at all" 0 titan fsck
rm -f "$store-wal"
mkdir "$store-wal"
refused "a directory in the place of its log" 74 "can't be read" "ls -ld $store"
rmdir "$store-wal"
rm "$store"
mkdir "$store"
refused "a directory in its place" 74 "isn't a regular file" 'mv .* elsewhere'
rmdir "$store"
again
dd if=/dev/urandom of="$store" bs=4096 seek=2 count=4 conv=notrunc 2>/dev/null
: >"$state/titan.db-wal"
refused "a damaged store" 74 'damaged|malformed|not a database' 'titan restore FILE'
rm -f "$state/titan.db-wal"
again
: >"$store-restoring"
refused "an interrupted restore" 74 'a restore of the store .* is running or was interrupted' 'titan restore FILE again'
rm "$store-restoring"
chmod 755 "$state"
refused "a state directory that others may enter" 71 "can't use the state directory" "chmod 700 $state"
chmod 700 "$state"
rm -f "$state/titan.sock"
echo kept >"$state/titan.sock"
refused "a file in the socket's place" 71 "can't listen on $state/titan.sock" "mv $state/titan.sock elsewhere"
is "which is kept" "$(cat "$state/titan.sock")" kept
rm "$state/titan.sock"
mv "$state/logs" "$state/worker" "$test_dir"
: >"$state/logs"
: >"$state/worker"
refused "a file in the place of the logs" 71 "can't use the directory of logs" "ls -ld $state/logs"
refused "a file in the place of the workers" 71 "can't use the worker's directory" "ls -ld $state/worker" "$TITAN" worker start
rm "$state/logs" "$state/worker"
mv "$test_dir/logs" "$test_dir/worker" "$state"
chmod 755 "$state/worker/local"
refused "a worker's directory that others may enter" 71 "can't use the worker's directory" \
	"chmod 700 $state/worker/local" "$TITAN" worker start --name local
chmod 700 "$state/worker/local"
mv "$state/master.log" "$test_dir"
mkdir "$state/master.log"
refused "a directory in the place of its messages" 71 "can't open $state/master.log" "mv $state/master.log elsewhere" "$TITAN" up
rmdir "$state/master.log"
exits "files that may not grow: it ends by itself" 134 env --default-signal=XFSZ bash -c 'ulimit -f 1; exec "$0" master' "$TITAN"
like "files that may not grow: it says what to do" "$err" 'Check the disk, then start again: titan up'
for option in heartbeat lease grace prune-every; do
	exits "no $option at all: refused" 2 timeout 20 "$TITAN" master --$option 0s
	like "no $option at all: it says so" "$err" "^titan: --$option: '0s' must be more than 0"
done
exits "a span that is none: refused" 2 env TITAN_LEASE=soon "$TITAN" master
like "a span that is none: it says what one is" "$err" "TITAN_LEASE: 'soon' isn't a time span such as"
refused "a grace within the lease" 2 'grace' 'titan help master' "$TITAN" master --lease 10s --grace 5s
refused "a grace within the lease that is so by default" 2 'the grace must be longer' 'titan help master' env TITAN_LEASE=5m "$TITAN" master
exits "a cluster's name that is a path: refused" 2 env TITAN_CLUSTER=../x "$TITAN" master
like "a cluster's name that is a path: it says so" "$err" "'../x' isn't a valid name for a cluster"
mv "$state" "$test_dir/moved"
: >"$state"
refused "a file where the state would be" 71 "can't use the state directory" "ls -ld $state"
rm "$state"
mv "$test_dir/moved" "$state"
exits "a file that is no backup isn't restored" 74 titan restore /etc/passwd
like "and it is said what may be" "$err" 'try: titan fsck with another backup'
exits "nor is a directory" 74 titan restore "$test_dir"
like "and it is said that it is none" "$err" "$test_dir isn't a regular file"
exits "after all this it starts" 0 titan up
is "and knows what it knew" "$(titan --json ls -a | jq -r '.[].state')" succeeded

done_testing
