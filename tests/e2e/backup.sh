# SPDX-License-Identifier: GPL-3.0-or-later
# Backups under load; and a restore while workers have newer attempts: jobs that the backup knows as ended aren't run
# again, and newer attempts are dropped.
. "$(dirname "$0")/lib.sh"

store=$TITAN_STATE/default/titan.db
exits "without a store there is nothing to check" 4 titan fsck
exits "and without a master nothing to copy" 69 titan backup b0
start_cluster --slots 4
lines=$test_dir/lines
jobs=400
# The last ones wait until the test lets them go: they run when the backup is restored.
seq $jobs | sed "s|.*|echo & >>$lines; sleep 0.02|" | titan run --lines >run1
first=$(cat run1)
long=$(titan run -e "l; l='echo long >>$lines; while ! test -e $test_dir/go; do sleep 0.05; done'")
once=$(titan run --mode once -e "o; o='echo once >>$lines; while ! test -e $test_dir/go; do sleep 0.05; done'" --priority 100)
ok "the long ones run" until_true 60 job_is "$once" o running
enough() { [ "$(wc -l <"$lines" 2>/dev/null || echo 0)" -ge "$1" ]; }
until_true 60 enough 50

exits "a backup under load" 0 titan backup b1
like "says what is in it" "$out" 'backup: .*/b1 \(generation 1, turn [0-9]+, [1-3] live runs'
is "is for its owner alone" "$(stat -c %a b1)" 600
is "is one file" "$(ls -A | grep -c '^b1')" 1
exits "is whole" 0 titan fsck b1
exits "isn't overwritten" 2 titan backup b1
exits "unless that is wanted" 0 titan -y backup b1
exits "never is the store" 2 titan -y backup "$store"
mkdir dir; exits "nor a directory" 2 titan -y backup dir
exits "a directory that isn't there" 71 titan backup nowhere/b
like "which says where it may be" "$err" "try: titan backup FILE, in an existing directory"
ended_in() { # BACKUP: the numbers of the lines that it knows as ended
	python3 -c "import sqlite3, sys
for (n,) in sqlite3.connect(sys.argv[1]).execute('select job - (select first from run where run = $first) + 1 from job where run = $first and ended_ms > 0'):
    print(n)" "$1" | sort -n
}
count=$(ended_in b1 | wc -l)
note "$count jobs have ended in the backup"
ok "jobs have ended in it, and not all" test "$count" -gt 10 -a "$count" -lt $jobs

until_true 60 enough $((count + 60))
later=$(titan run -e "n; n='echo later >>$lines; sleep 1000'" --priority 100)
touch "$test_dir/go"
exits "what ran at the backup ends" 0 titan --timeout 60s wait "$long" "$once"
rm "$test_dir/go"
ok "what was submitted later runs" until_true 60 job_is "$later" n running
exits "with a master the store is checked as well" 0 titan fsck
is "nothing of that stays" "$(ls "$TITAN_STATE/default" | grep -c fsck)" 0
exits "a restore is refused while a master runs" 75 titan restore b1
like "and says what to do" "$err" 'titan down'
kill -KILL "$(master_pid)"
until_true 5 test ! -e /proc/"$(master_pid)"
exits "the store is whole after that" 0 titan fsck
: >bad; chmod 600 bad
exits "what isn't a backup is refused" 74 titan restore bad
head -c 20000 b1 >bad; dd if=/dev/urandom of=bad bs=4096 seek=1 count=3 conv=notrunc 2>/dev/null
exits "so is a damaged one" 74 titan restore bad
exits "so is one that isn't there" 4 titan restore nowhere
is "a backup has a checksum" "$(titan --json fsck b1 | jq .checksum)" true
# Bits by chance: how many such files fsck calls whole.
unseen=$(python3 - "$TITAN" b1 <<'END'
import random, subprocess, sys
data = open(sys.argv[2], 'rb').read()
random.seed(22)
unseen = 0
for _ in range(60):
    bit = random.randrange(len(data) * 8)
    bad = bytearray(data)
    bad[bit // 8] ^= 1 << bit % 8
    open('bad', 'wb').write(bad)
    unseen += subprocess.run([sys.argv[1], 'fsck', 'bad'], capture_output=True).returncode != 74
print(unseen)
END
)
is "a changed bit in it is seen" "$unseen" 0
{ cat b1; echo junk; } >bad
exits "something behind it is seen" 74 titan fsck bad
exits "and not restored" 74 titan restore bad
like "which says why" "$err" 'the backup was changed or cut off'
(umask 077; head -c -106 b1 >older)
exits "a backup without a checksum can be read" 0 titan fsck older
like "and it is said that it has none" "$out" 'this file has no checksum'
is "also as JSON" "$(titan --json fsck older | jq .checksum)" false
is "anybody can compare it" "$(sha256sum <older | cut -d' ' -f1)" "$(tail -c 106 b1 | cut -d' ' -f4)"
exits "the backup is restored" 0 titan --json restore b1
is "with a new generation" "$(echo "$out" | jq .generation)" 2
kept=$(echo "$out" | jq -r .kept)
ok "the old store is kept" test -s "$kept"
ended_in b1 >ended
start_cluster
is "it is the new generation" "$(state_of .master.generation)" 2
no_such() { titan show "$later" >/dev/null 2>&1; [ $? = 4 ]; }
ok "what was submitted later is forgotten" no_such
later_gone() { ! job_processes | while read -r pid; do tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline"; echo; done | grep -q 'sleep 1000'; }
ok "and its job is ended" until_true 60 later_gone
touch "$test_dir/go"
exits "what hadn't ended goes on" 0 titan --timeout 100s wait "$first" "$long"
ok "a job that may run once, and did, waits for a person" until_true 20 job_is "$once" o unknown
is "what had ended in the backup ran once" "$(sort -n "$lines" | uniq -c | awk 'NR == FNR { n[$2] = $1; next } n[$1] != 1' - ended | wc -l)" 0
is "nothing is missing" "$(grep -E '^[0-9]+$' "$lines" | sort -un | wc -l)" $jobs
is "what may run once did" "$(grep -c once "$lines")" 1
again=$(titan run -w -e "n; n='echo again >>$lines'")
is "numbers that were forgotten are given again" "$again" "$later"
is "and what has one is run" "$(grep -c again "$lines")" 1

titan -y down --keep-workers >/dev/null 2>&1
exits "the same backup a second time" 0 titan --json restore b1
is "had the right checksum" "$(echo "$out" | jq .checksum)" true
is "begins another generation" "$(echo "$out" | jq .generation)" 3
titan up >/dev/null 2>&1
exits "and goes on" 0 titan --timeout 100s wait "$first"
titan -y down >/dev/null 2>&1

letters() { # STATEMENT: on a job of a run that has ended, which no master loads
	python3 - "$store" "$1" <<'END'
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
job, run = c.execute("select job.job, job.run from job join run on run.run = job.run where run.ended_ms > 0 limit 1").fetchone()
columns = [row[1:3] for row in c.execute("pragma table_info(dead)")]
values = [job if name == "job" else run if name == "run" else 0 if kind == "INTEGER" else b"" if kind == "BLOB" else "" for name, kind in columns]
if sys.argv[2] == "letter":
    c.execute("insert into dead (%s) values (%s)" % (", ".join(n for n, _ in columns), ", ".join("?" * len(values))), values)
else:
    c.execute(sys.argv[2], (job,))
c.commit()
END
}
letters "update job set flags = flags | 8 where job = ?"
exits "a dead letter that isn't there is missed" 74 titan fsck
like "it says of which job" "$err" 'job [0-9]+ has no dead letter, but the row of the job says that it has one'
letters letter
exits "with it all is well" 0 titan fsck
letters "update job set flags = flags & ~8 where job = ?"
exits "one that shouldn't be there is found" 74 titan fsck
like "and named" "$err" 'job [0-9]+ has a dead letter, but the row of the job says that it has none'
letters "delete from dead where job = ?"
exits "without it all is well" 0 titan fsck

: >"$store-restoring"
exits "an interrupted restore keeps a master from starting" 74 titan master
like "and it says what to do" "$err" 'titan restore FILE again'
mv "$store" "$test_dir/moved"
exits "repeated, with the store already put aside, it is completed" 0 titan restore b1
ok "its mark is gone" test ! -e "$store-restoring"
exits "the store is whole" 0 titan fsck
python3 - "$store" <<'END'
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("update run set jobs = jobs + 1 where ended_ms = 0")
c.commit()
END
exits "rows that contradict each other are found" 74 titan fsck
exits "and no master starts with them" 74 titan master
like "it names the restore" "$err" 'try: titan restore FILE'

done_testing
