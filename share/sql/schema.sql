-- The tables of titan's store, made from src/core/rows/rows.def: change them there.
PRAGMA application_id = 1953068142;
PRAGMA user_version = 12;

-- counters: generation, boot, next_run, next_job, next_worker, turn; the steady clock
CREATE TABLE meta (
	name TEXT NOT NULL,
	value INTEGER NOT NULL,
	PRIMARY KEY (name)
) STRICT, WITHOUT ROWID;

-- workers that were ever seen
CREATE TABLE worker (
	worker INTEGER PRIMARY KEY, -- number, given by the core
	name TEXT NOT NULL, -- unique
	instance BLOB NOT NULL, -- number of its latest keeper process, drawn at random
	slots INTEGER NOT NULL,
	seen_ms INTEGER NOT NULL, -- UTC
	pool TEXT NOT NULL, -- name of its pool; empty: default
	standing INTEGER NOT NULL -- enum worker_standing, as a person set it: 1 cordoned, 2 draining
) STRICT;

-- pools whose state somebody set
CREATE TABLE pool (
	pool TEXT NOT NULL, -- name
	state INTEGER NOT NULL, -- enum pool_state: 0 active, 1 draining, 2 inactive
	PRIMARY KEY (pool)
) STRICT, WITHOUT ROWID;

-- tenants whose weight or limits a person set
CREATE TABLE tenant (
	name TEXT NOT NULL,
	weight INTEGER NOT NULL, -- share among tenants, 1 to 1000
	max_jobs INTEGER NOT NULL, -- most active jobs; 0: no limit
	max_queued INTEGER NOT NULL, -- most jobs that are neither active nor ended; 0: no limit
	PRIMARY KEY (name)
) STRICT, WITHOUT ROWID;

-- concurrency groups whose limit somebody set
CREATE TABLE job_group (
	name TEXT NOT NULL,
	most INTEGER NOT NULL, -- most active jobs, and separately most runs, of the group
	PRIMARY KEY (name)
) STRICT, WITHOUT ROWID;

-- numbers of pruned runs: consecutive ones that were pruned on one day share a row
CREATE TABLE pruned (
	first INTEGER PRIMARY KEY, -- number of the first
	last INTEGER NOT NULL, -- number of the last
	wall_ms INTEGER NOT NULL -- UTC; when the latest of them was pruned
) STRICT;

-- pruned runs of which something is still to be deleted
CREATE TABLE pruning (
	run INTEGER PRIMARY KEY, -- number
	logs_only INTEGER NOT NULL, -- 1: only the logs are removed, the run stays
	parts INTEGER NOT NULL, -- number of parts of its specification that still exist: the first ones
	part_cost INTEGER NOT NULL, -- cost of deleting one part, in rows
	jobs BLOB NOT NULL -- serial numbers of the job rows that still exist: ranges of two u64 little-endian, first and last + 1
) STRICT;

-- locks that people hold
CREATE TABLE lock_hold (
	lock TEXT NOT NULL, -- name
	owner TEXT NOT NULL,
	person TEXT NOT NULL, -- who took it
	reason TEXT NOT NULL,
	shared INTEGER NOT NULL,
	fence INTEGER NOT NULL, -- fencing number of the hold, larger than all before
	taken_ms INTEGER NOT NULL, -- UTC
	ttl_ms INTEGER NOT NULL, -- how long it was taken for; 0: until it is dropped
	due_ms INTEGER NOT NULL, -- when it expires, by the steady clock
	PRIMARY KEY (lock, owner)
) STRICT, WITHOUT ROWID;

-- one row a run; ended_ms is 0 while it is live
CREATE TABLE run (
	run INTEGER PRIMARY KEY, -- number
	name TEXT NOT NULL,
	owner TEXT NOT NULL, -- who submitted it
	first INTEGER NOT NULL, -- serial number of its first job
	jobs INTEGER NOT NULL, -- number of its jobs
	state INTEGER NOT NULL, -- enum run_state, set when it ended
	cancelled INTEGER NOT NULL, -- 1: a person cancelled it
	held INTEGER NOT NULL, -- 1: a person put it on hold
	max_jobs INTEGER NOT NULL, -- most active jobs; 0: no limit
	submitted_ms INTEGER NOT NULL, -- UTC; of an ended run, by the clock at its end
	ended_ms INTEGER NOT NULL, -- UTC
	tenant TEXT NOT NULL, -- the tenant that it is charged to; empty: the owner's
	counts BLOB NOT NULL, -- when ended: jobs by state, u32 little-endian each
	forgiven INTEGER NOT NULL, -- when ended: bad ends of jobs that count as good ones
	dead INTEGER NOT NULL, -- when ended: jobs with a dead letter
	steady_ms INTEGER NOT NULL, -- when it was submitted, by the steady clock
	schedule TEXT NOT NULL, -- name of the schedule that began it; empty: none
	concurrency TEXT NOT NULL, -- group of the run as a whole, NAME or NAME=LIMIT; empty: none
	seated INTEGER NOT NULL, -- 1: it has a place in that group
	logs_gone_ms INTEGER NOT NULL, -- UTC; logs up to this time were pruned; 0: none
	parent INTEGER NOT NULL, -- serial number of the job whose sub-run it is; 0: none
	parent_run INTEGER NOT NULL, -- the run of that job
	parent_name TEXT NOT NULL, -- the name of that job
	depth INTEGER NOT NULL, -- how many runs it is nested in
	priority INTEGER NOT NULL -- default priority of its jobs + 1; 0: the general default
) STRICT;

-- a run's graph as submitted, in parts; parts of jobs that were added later follow; never changed
CREATE TABLE spec (
	run INTEGER NOT NULL,
	part INTEGER NOT NULL, -- number of the part, from 0
	count INTEGER NOT NULL, -- number of jobs in the part
	first INTEGER NOT NULL, -- first part of an addition: serial number of its first job; 0: the part continues the one before
	jobs INTEGER NOT NULL, -- first part of a submit: number of jobs in the submit; 0: written by an older version
	body BLOB NOT NULL, -- job_spec records, one after the other
	context BLOB NOT NULL, -- first part of a submit: the run_context record of its jobs; empty: none
	PRIMARY KEY (run, part)
) STRICT, WITHOUT ROWID;

-- jobs that have changed since their submit
CREATE TABLE job (
	job INTEGER PRIMARY KEY, -- serial number; jobs of one submit are consecutive
	run INTEGER NOT NULL,
	state INTEGER NOT NULL CHECK (state IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)), -- enum job_state
	epoch INTEGER NOT NULL, -- epoch of the latest attempt
	round INTEGER NOT NULL,
	tries INTEGER NOT NULL, -- attempts in this round that may have started
	crashes INTEGER NOT NULL, -- attempts in this round that were lost with their worker
	worker INTEGER NOT NULL, -- number of the worker of the latest attempt; 0: none
	stop_cause INTEGER NOT NULL, -- enum job_event because of which it was stopped
	outcome INTEGER NOT NULL, -- enum outcome of the latest attempt
	code INTEGER NOT NULL,
	cause INTEGER NOT NULL, -- serial number + 1 of the job that ended it; 0: none
	due_ms INTEGER NOT NULL, -- when the timer of its state is due, by the steady clock
	started_ms INTEGER NOT NULL, -- UTC; of an ended job, by the clock at its end
	ended_ms INTEGER NOT NULL, -- UTC
	cpu_us INTEGER NOT NULL,
	rss_kib INTEGER NOT NULL,
	out_bytes INTEGER NOT NULL,
	priority INTEGER NOT NULL, -- 0 to 100
	flags INTEGER NOT NULL, -- bits: 1 on hold, 2 a parent began a new round without it, 4 its gate is open, 8 it has a dead letter, 32 its deadline had passed when its round began, 64 skipped because its condition was false
	child INTEGER NOT NULL, -- number of the latest attempt's sub-run; 0: none
	passes INTEGER NOT NULL, -- finished passes of its loop that another followed; tries and crashes count in the present pass
	interrupted INTEGER NOT NULL, -- attempts in this round that their worker interrupted, by its lease or its own end; at most 63
	kind INTEGER NOT NULL, -- kind by proto/kinds.def; 0: written by an older version
	ending_ms INTEGER NOT NULL -- when its time to end is over after its run was told to end, by the steady clock; 1: that time hasn't begun
) STRICT;

-- votes on gates, each person's last in a round, and settlements of unknown jobs
CREATE TABLE decision (
	job INTEGER NOT NULL, -- serial number
	round INTEGER NOT NULL, -- round in the low 16 bits; above them the epoch of the attempt that was settled
	person INTEGER NOT NULL, -- principal; -1: the gate expired
	run INTEGER NOT NULL,
	name TEXT NOT NULL, -- name of the person
	verdict INTEGER NOT NULL, -- enum verdict: 1 approved, 0 rejected
	reason TEXT NOT NULL,
	wall_ms INTEGER NOT NULL, -- UTC
	job_name TEXT NOT NULL,
	digest BLOB NOT NULL, -- digest of what the person was shown
	target INTEGER NOT NULL, -- serial number of the job it was pushed back to
	target_round INTEGER NOT NULL, -- the round of that job that the push back opened
	target_name TEXT NOT NULL,
	self INTEGER NOT NULL, -- whether the submitter of the run approved it, since no other person could
	PRIMARY KEY (job, round, person)
) STRICT, WITHOUT ROWID;

-- dead letters: jobs as they were when they failed or timed out for good; deleted when a new round begins
CREATE TABLE dead (
	job INTEGER PRIMARY KEY, -- serial number
	run INTEGER NOT NULL,
	run_name TEXT NOT NULL,
	owner TEXT NOT NULL, -- who submitted the run
	name TEXT NOT NULL, -- name of the job
	place INTEGER NOT NULL, -- index of the job in the run
	reason INTEGER NOT NULL, -- enum dead_reason
	died_ms INTEGER NOT NULL, -- UTC
	state INTEGER NOT NULL, -- enum job_state
	round INTEGER NOT NULL,
	tries INTEGER NOT NULL,
	crashes INTEGER NOT NULL,
	outcome INTEGER NOT NULL, -- enum outcome of the latest attempt
	code INTEGER NOT NULL,
	epoch INTEGER NOT NULL, -- epoch of the latest attempt
	worker TEXT NOT NULL, -- name of the worker of the latest attempt
	priority INTEGER NOT NULL, -- 0 to 100
	spec BLOB NOT NULL -- a job_spec record
) STRICT;

-- keys of acknowledged submits; a row lives as long as its run
CREATE TABLE submit_key (
	run INTEGER NOT NULL, -- first, so that new rows lie together
	principal INTEGER NOT NULL,
	submit_key BLOB NOT NULL, -- 16 bytes
	digest BLOB NOT NULL, -- SHA-256 of the content
	by_run INTEGER NOT NULL, -- the run whose job submitted it; 0: a person did
	PRIMARY KEY (run, principal, submit_key)
) STRICT, WITHOUT ROWID;

-- schedules: graphs that begin at times of the wall clock
CREATE TABLE schedule (
	schedule TEXT NOT NULL, -- name of the schedule and of its runs
	owner TEXT NOT NULL, -- the person who added or last replaced it
	principal INTEGER NOT NULL,
	tenant TEXT NOT NULL, -- as given; empty: the owner
	spec BLOB NOT NULL, -- a schedule_spec record
	max_jobs INTEGER NOT NULL, -- as in run
	paused INTEGER NOT NULL,
	next_ms INTEGER NOT NULL, -- UTC; when the next run is due; 0: never
	last_ms INTEGER NOT NULL, -- UTC; the due time of its last run
	last_run INTEGER NOT NULL,
	queued INTEGER NOT NULL, -- runs that wait until the live ones have ended
	fired INTEGER NOT NULL, -- number of runs that began
	skipped INTEGER NOT NULL, -- number of times that were skipped
	skip_why INTEGER NOT NULL, -- enum skip_why of the last skip
	skip_ms INTEGER NOT NULL, -- UTC; when the last skip was
	concurrency TEXT NOT NULL, -- as in run
	submit_key BLOB NOT NULL, -- submit key that set it last: principal (8 bytes little-endian) and key; empty: unknown
	digest BLOB NOT NULL, -- SHA-256 of what was submitted with that key
	context BLOB NOT NULL, -- the run_context record of its jobs; empty: none
	PRIMARY KEY (schedule)
) STRICT, WITHOUT ROWID;

-- the graph of a schedule, in parts
CREATE TABLE schedule_part (
	schedule TEXT NOT NULL,
	part INTEGER NOT NULL, -- from 0
	count INTEGER NOT NULL, -- jobs in it
	body BLOB NOT NULL, -- job_spec records, one after the other
	PRIMARY KEY (schedule, part)
) STRICT, WITHOUT ROWID;

-- history: what happened in a turn
CREATE TABLE event (
	turn INTEGER PRIMARY KEY,
	wall_ms INTEGER NOT NULL, -- UTC
	body BLOB NOT NULL -- event and happening records, one after the other
) STRICT;

-- what people and jobs did; each row has the hash of the one before, so a changed or missing row is noticed
CREATE TABLE act (
	act INTEGER PRIMARY KEY, -- number, from 1, without gaps
	turn INTEGER NOT NULL, -- the turn in which it was done, whose rows became durable with it
	wall_ms INTEGER NOT NULL, -- UTC
	principal INTEGER NOT NULL, -- the person who did it, or in whose name a job did it
	name TEXT NOT NULL, -- name of the principal at that time
	key_id BLOB NOT NULL, -- of a submit: its submit key, 16 bytes; else the id of the connection's key; empty: none
	origin TEXT NOT NULL, -- where it came from: the transport, or the job that did it
	by_job INTEGER NOT NULL, -- serial number of the job that did it; 0: a person
	run INTEGER NOT NULL, -- number of the run that it was done to, or that it began; 0: none
	verb TEXT NOT NULL,
	target TEXT NOT NULL,
	before TEXT NOT NULL, -- state of the target before the act; empty: it didn't exist
	after TEXT NOT NULL, -- state of the target after the act
	reason TEXT NOT NULL, -- reason that the person gave
	previous BLOB NOT NULL, -- hash of the act before; 32 times 0 in the first
	hash BLOB NOT NULL -- SHA-256 of the columns before, in this order: integers as 8 bytes, all others as length and bytes, little-endian
) STRICT;

-- what each turn changed: the rows as they were before it, so that earlier states can be computed
CREATE TABLE change (
	turn INTEGER PRIMARY KEY,
	wall_ms INTEGER NOT NULL, -- UTC
	body BLOB NOT NULL -- the rows, encoded as in src/store/past_body.c
) STRICT;

-- keys with which people, programs and workers of other machines connect
CREATE TABLE token (
	id TEXT NOT NULL, -- the name of the key, by which its holder is known
	name TEXT NOT NULL, -- the principal, or the worker
	roles INTEGER NOT NULL, -- bits of enum role
	secret BLOB NOT NULL, -- the key, sealed by the master with its own key, which is in another file
	made_ms INTEGER NOT NULL, -- UTC; when it was added, or its secret replaced
	expires_ms INTEGER NOT NULL, -- UTC; 0: never
	used_ms INTEGER NOT NULL, -- UTC; its last use, to the minute; 0: never
	made_by TEXT NOT NULL, -- name of the principal who added it
	PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;

-- history: what is still known of runs that were pruned
CREATE TABLE pruned_run (
	run INTEGER PRIMARY KEY, -- number
	name TEXT NOT NULL,
	owner TEXT NOT NULL, -- who submitted it
	schedule TEXT NOT NULL, -- that began it
	state INTEGER NOT NULL, -- enum run_state when it ended
	jobs INTEGER NOT NULL, -- how many it had
	submitted_ms INTEGER NOT NULL, -- UTC
	ended_ms INTEGER NOT NULL, -- UTC
	wall_ms INTEGER NOT NULL, -- UTC; when it was pruned
	person TEXT NOT NULL -- who asked for that; empty: a rule of the master
) STRICT;

-- history: tries that were not the last of their job; of the last one the job's own row tells
CREATE TABLE attempt (
	job INTEGER NOT NULL, -- serial number
	epoch INTEGER NOT NULL,
	run INTEGER NOT NULL,
	round INTEGER NOT NULL, -- of the job
	pass INTEGER NOT NULL, -- of its loop, from 1; 0: it is none
	try INTEGER NOT NULL, -- number in that round, or in that pass
	worker INTEGER NOT NULL, -- 0: none
	outcome INTEGER NOT NULL, -- enum outcome
	code INTEGER NOT NULL,
	stop_cause INTEGER NOT NULL, -- enum job_event that made it stop; 0: none
	started_ms INTEGER NOT NULL, -- UTC; 0: it never did, or nobody saw it
	ended_ms INTEGER NOT NULL, -- UTC
	cpu_us INTEGER NOT NULL,
	rss_kib INTEGER NOT NULL,
	out_bytes INTEGER NOT NULL,
	child INTEGER NOT NULL, -- number of its sub-run; 0: none
	PRIMARY KEY (job, epoch)
) STRICT, WITHOUT ROWID;

-- what a start reads
CREATE INDEX run_live ON run (run) WHERE ended_ms = 0;
