# SPDX-License-Identifier: GPL-3.0-or-later
# Turns that were acknowledged and are in the write-ahead log only: if the log of a killed master was damaged, cut or
# removed, the next master refuses to start, because SQLite would take the log for one that ended earlier. A person may
# make it go on without.
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip_all "no python3"
state=$TITAN_STATE/default
store=$state/titan.db
# In the middle of what was written: zeros follow, where the log may grow.
log_middle() { python3 -c "
import sys
print(len(open(sys.argv[1], 'rb').read().rstrip(b'\0')) // 2)" "$store-wal"; }
flip() { python3 -c "
import sys
path, place = sys.argv[1], int(sys.argv[2])
data = bytearray(open(path, 'rb').read())
data[place] ^= 1
open(path, 'wb').write(data)" "$store-wal" "$(log_middle)"; }
cut_half() { truncate -s "$(log_middle)" "$store-wal"; }
# lost HOW COMMAND...: what is told to the next master when that has been done to the log
lost() {
	local how=$1
	shift
	rm -rf "$state"
	cp -a "$test_dir/killed" "$state"
	"$@"
	exits "$how: no master begins with it" 74 timeout 20 "$TITAN" master
	like "$how: it says what is lost" "$err" 'titan.db ends with turn [0-9]+, but turn [0-9]+ was acknowledged'
	like "$how: and both ways to go on" "$err" "try: titan restore FILE with a backup; or, .* titan restore $store\$"
	exits "$how: fsck says so, too" 74 titan fsck
}

start_cluster --slots 1
titan run -w -e "a; a='echo before'" >/dev/null
titan -y down >/dev/null 2>&1
# After a second without work all is in the file, too, and the log may go.
in_the_file() { python3 -c "
import sqlite3, sys
file = sqlite3.connect('file:%s?immutable=1' % sys.argv[1], uri=True)
print(file.execute(\"SELECT value FROM meta WHERE name = 'turn'\").fetchone()[0])" "$store" 2>/dev/null || echo 0; }
for i in 1 2 3 4 5; do
	"$TITAN" master 2>/dev/null &
	master=$!
	until_true 20 titan status
	for k in 1 2 3; do run=$(titan run -e "a; a='echo $i.$k'"); done
	kill -KILL "$master"
	wait "$master" 2>/dev/null
	[ "$(in_the_file)" -ge "$(sed 's/^0*//' "$store-mark")" ] || break
done
cp -a "$state" "$test_dir/killed"

lost "a bit of it turned" flip
lost "its second half is gone" cut_half
lost "it is gone" rm "$store-wal"
exits "a person goes on without what was lost" 0 titan restore "$store"
exits "then a master starts" 0 titan up
is "with what was there before" "$(titan logs 1)" before
titan run -w -e "a; a='echo new'" >/dev/null
is "and what runs now is nobody else's" "$(titan logs last)" new

titan -y down >/dev/null 2>&1
rm -rf "$state"
cp -a "$test_dir/killed" "$state"
exits "with its log as it was a killed master lost nothing" 0 titan up
exits "what it acknowledged last runs" 0 titan --timeout 60s wait "$run"
is "and is itself" "$(titan logs "$run")" "$i.3"
done_testing
