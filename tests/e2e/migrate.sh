# SPDX-License-Identifier: GPL-3.0-or-later
# A state directory of an older titan with live runs is opened by this version and goes on. Jobs that were delayed then
# are due by now, whatever this machine's clock says.
fixtures=$(cd "$(dirname "$0")/../fixtures" && pwd)
. "$(dirname "$0")/lib.sh"

store=$TITAN_STATE/default/titan.db
# What was delayed then is due by now, whatever the clock here says.
make_store() { # VERSION
	mkdir -m 700 -p "$TITAN_STATE/default"
	python3 - "$store" "$fixtures/store-$1.sql" <<-'END' || exit 1
	import os, sqlite3, struct, sys
	store = sqlite3.connect(sys.argv[1])
	store.executescript(open(sys.argv[2]).read())
	store.execute("update job set due_ms = 1 where due_ms > 0")
	store.commit()
	# What the first job of each run that had ended then wrote: one record, as that version kept it.
	for run, job, epoch in store.execute("select run.run, job, epoch from run join job on job = first"
			" where run.ended_ms > 0 and job.started_ms > 0").fetchall():
	    text = b"output of long ago\n"
	    at = os.path.join(os.path.dirname(sys.argv[1]), "logs", str(run))
	    os.makedirs(at, 0o700)
	    with open(os.path.join(at, "%d.%d" % (job, epoch)), "wb") as log:
	        log.write(struct.pack("<BBHIqQ", 1, 0, 0x746f, len(text), 1, 0) + text)
	END
	chmod 600 "$store"
}
python3 -c 'import sqlite3' 2>/dev/null || skip_all "python has no sqlite3"

umask 077
make_store 1
: >"$HOME/go"
"$TITAN" master --heartbeat 200ms --lease 500ms --grace 1s 2>"$test_dir/master.log" &
until_true 20 titan status
like "the log says where the old one is" "$(cat "$test_dir/master.log")" \
	'tables of version 1, which are changed to version [0-9]+; a copy of the old store is .*titan\.db-version-1$'
is "it is kept, for us alone" "$(stat -c %a "$store-version-1")" 600
is "all runs are there" "$(titan --json ls | jq -c '[.[].run] | sort')" "[1,2,3,4,5,6,7,8,9]"
is "what ended is as it was" "$(titan --json ls | jq -c '[.[] | select(.run == 1 or .run == 2 or .run == 8) | .state] | sort')" \
	'["cancelled","failed","succeeded"]'
old=$(ls "$TITAN_STATE/default/logs" | head -n 1)
like "so is what it wrote" "$(titan logs "$old/$(titan --json show "$old" | jq -r '.[0] | .jobs[0].name')")" '^output of long ago$'
ok "the gate waits" job_is 3 review approval
ok "what was held is held" job_is 9 h ready
titan up --slots 2 >"$test_dir/up.out" 2>&1
exits "the delayed run goes on" 0 titan --timeout 60s wait 4
exits "so does the one that waited for a slot" 0 titan --timeout 60s wait 7
exits "a job that ran then is run again" 0 titan --timeout 60s wait 6
ok "one that may run once waits for a person" until_true 60 job_is 5 x unknown
exits "the gate is approved" 0 titan approve 3/review
exits "and its run ends" 0 titan --timeout 60s wait 3
exits "the held run is released" 0 titan release 9
exits "and ends" 0 titan --timeout 60s wait 9
exits "a graph is taken" 0 titan run -w -e "n; n='echo new'"
is "numbers go on" "$(titan --json ls | jq '[.[].run] | max')" 10
is "the generation stays, it is the same history" "$(state_of .master.generation)" 1
titan -y down >/dev/null 2>&1

start_cluster --slots 1
exits "the next start has nothing to do" 0 titan ls
is "and makes no further copy" "$(ls "$TITAN_STATE/default" | grep -c version)" 1
exits "runs of then can be pruned" 0 titan -y --json prune --keep 0 --dead
is "all but the one that waits" "$(printf '%s' "$out" | jq .run_count)" 9
exits "one is known as pruned" 4 titan logs "$old"
like "since today" "$err" "run $old was pruned on $(date -u +%F)"
ok "with its output" test ! -e "$TITAN_STATE/default/logs/$old"
exits "the store is whole" 0 titan fsck
titan -y down >/dev/null 2>&1

# Versions since then, all of whose runs tests/fixtures/make-store knows.
for fixture in "$fixtures"/store-*.sql; do
	version=${fixture##*-}
	version=${version%.sql}
	[ "$version" != 1 ] || continue
	rm -rf "$TITAN_STATE"
	make_store "$version"
	kinds=$(python3 -c "import sqlite3; print(sqlite3.connect('$store').execute(\"select run from run where name = 'kinds'\").fetchone()[0])")
	titan up --slots 4 >"$test_dir/up.out" 2>&1
	ok "version $version: the gate waits" until_true 20 job_is "$kinds" check approval
	exits "version $version: it is approved" 0 titan approve "$kinds/check"
	is "version $version: a person holds the lock that a job needs" "$(titan --json lock ls | jq -r '.[] | select(.name == "prod") | .message')" "by hand"
	ok "version $version: its job waits" until_true 20 job_is "$kinds" ship ready
	ok "version $version: the schedule is there" titan schedule show nightly
	titan -y down >/dev/null 2>&1
	exits "version $version: the store is whole" 0 titan fsck
	exits "version $version: a store of it is restored" 0 titan restore "$store"
done

done_testing
