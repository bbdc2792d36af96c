# SPDX-License-Identifier: GPL-3.0-or-later
# The chain of acts: a changed, removed, added or moved act is found and named, and a hash that was kept elsewhere shows more.
. "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || skip_all "sqlite3 isn't installed"

store=$TITAN_STATE/default/titan.db
sql() { sqlite3 "$store" "$@"; }
exits "without a store there is nothing to check" 4 titan audit
start_cluster --slots 1
run=$(titan run -e 'a; a="sleep 600"')
for prio in 10 20 30 40; do titan priority "$run" $prio >/dev/null 2>&1; done
titan cancel "$run" >/dev/null 2>&1
exits "the chain is whole while the master runs" 0 titan --json audit verify
is "all acts are checked" "$(printf %s "$out" | jq -c '[.first_act, .act, .act_count]')" '[1,6,6]'
is "no copy stays" "$(find "$TITAN_STATE/default" -name '*audit*' | wc -l)" 0
head=$(titan --json audit head | jq -r .hash)
like "the head is a hash" "$head" '^[0-9a-f]{64}$'
exits "which is found again" 0 titan audit verify --head "$head"
exits "another isn't" 74 titan audit verify --head "$(printf '0%.0s' $(seq 64))"
like "which is said" "$err" 'no act has the hash 000000000000'
exits "what is no hash is a mistake" 2 titan audit verify --head 12
is "the acts are exported in order" "$(titan --json audit export | jq -c 'map(.act)')" '[1,2,3,4,5,6]'
is "each with the hash of the one before" \
	"$(titan --json audit export | jq '[range(1; length) as $i | .[$i].previous_hash == .[$i - 1].hash] | all')" true
is "only those since a time" "$(titan --json audit export --since 2038-01-01 | jq -c .)" '[]'
like "and for people" "$(titan audit export | sed -n 2p)" '^ *1 .*submit'
titan -y down >/dev/null 2>&1
exits "it is whole without a master, too" 0 titan audit verify --head "$head"
cp "$store" kept.db
# breaks WHAT SQL PATTERN
breaks() {
	cp kept.db "$store"
	sql "$2" >/dev/null
	exits "$1 is found" 74 titan audit verify
	like "and named" "$err" "$3"
}
breaks "a changed act" "UPDATE act SET name = 'nobody' WHERE act = 3" 'act 3: its row was changed'
breaks "a changed reason" "UPDATE act SET reason = 'none' WHERE act = 6" 'act 6: its row was changed'
breaks "a removed act" "DELETE FROM act WHERE act = 4" 'act 4 is missing'
breaks "the removed newest act" "DELETE FROM act WHERE act = (SELECT max(act) FROM act)" 'act 7 is missing'
breaks "an added act" "INSERT INTO act SELECT act + 1, turn, wall_ms, principal, name, key_id, origin, by_job, run, verb, target, before, after, reason, previous, hash FROM act WHERE act = 7" 'act 8: its row was changed'
breaks "moved acts" "UPDATE act SET act = -2 WHERE act = 2; UPDATE act SET act = 2 WHERE act = 3; UPDATE act SET act = 3 WHERE act = -2" 'act 2: its row was changed'
breaks "the first acts, if only some are gone" "DELETE FROM act WHERE act = 2" 'act 2 is missing'
cp kept.db "$store"
sql "DELETE FROM act WHERE act < 4" >/dev/null
exits "acts that were pruned from the beginning break nothing" 0 titan --json audit verify
is "the chain begins later" "$(printf %s "$out" | jq .first_act)" 4
first=$(sqlite3 kept.db "SELECT lower(hex(hash)) FROM act WHERE act = 2")
exits "but a hash of one that is gone isn't found" 74 titan audit verify --head "$first"
# All hashes written anew, as somebody could who has the file and this program's source.
cp kept.db "$store"
python3 - "$store" <<'END'
import hashlib, sqlite3, struct, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE act SET reason = 'other' WHERE act = 2")
before = None
for row in db.execute("SELECT act, turn, wall_ms, principal, name, key_id, origin, by_job, run, verb, target, before, after, reason, previous FROM act ORDER BY act").fetchall():
    row = list(row)
    if before is not None:
        row[14] = before
    data = b''
    for value in row:
        if isinstance(value, int):
            data += struct.pack('<q', value)
        else:
            value = value.encode() if isinstance(value, str) else (value or b'')
            data += struct.pack('<q', len(value)) + value
    before = hashlib.sha256(data).digest()
    db.execute("UPDATE act SET previous = ?, hash = ? WHERE act = ?", (row[14], before, row[0]))
db.commit()
END
exits "a chain that was made anew is whole by itself" 0 titan audit verify
exits "but not for whoever kept its head" 74 titan audit verify --head "$head"
done_testing
