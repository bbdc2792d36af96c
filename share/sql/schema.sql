-- The tables of titan's store, made from src/core/rows/rows.def: change them there.
PRAGMA application_id = 1953068142;
PRAGMA user_version = 7;

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
	instance BLOB NOT NULL, -- the latest life of its keeper
	slots INTEGER NOT NULL,
	seen_ms INTEGER NOT NULL, -- UTC
	pool TEXT NOT NULL, -- empty: default
	standing INTEGER NOT NULL -- enum worker_standing: 1 cordoned, 2 draining, as a person said
) STRICT;

-- pools whose state somebody set
CREATE TABLE pool (
	pool TEXT NOT NULL, -- name
	state INTEGER NOT NULL, -- enum pool_state: 0 active, 1 draining, 2 inactive
	PRIMARY KEY (pool)
) STRICT, WITHOUT ROWID;

-- what people set of tenants
CREATE TABLE tenant (
	name TEXT NOT NULL,
	weight INTEGER NOT NULL, -- share among tenants, 1 to 1000
	max_jobs INTEGER NOT NULL, -- that hold attempts at once; 0: no bound
	max_queued INTEGER NOT NULL, -- that neither hold one nor have ended; 0: no bound
	PRIMARY KEY (name)
) STRICT, WITHOUT ROWID;

-- concurrency groups whose limit somebody set
CREATE TABLE job_group (
	name TEXT NOT NULL,
	most INTEGER NOT NULL, -- jobs, and runs, that may be going at once
	PRIMARY KEY (name)
) STRICT, WITHOUT ROWID;

-- runs that were pruned, by number, in one row those of a day that follow each other
CREATE TABLE pruned (
	first INTEGER PRIMARY KEY, -- number of the first
	last INTEGER NOT NULL, -- number of the last
	wall_ms INTEGER NOT NULL -- UTC; when the latest of them went
) STRICT;

-- of runs that were pruned: what of them isn't gone yet
CREATE TABLE pruning (
	run INTEGER PRIMARY KEY, -- number
	logs_only INTEGER NOT NULL, -- its logs go, the run stays
	parts INTEGER NOT NULL, -- of its specification that are still there: the first ones
	part_cost INTEGER NOT NULL, -- what the removal of one counts for, in rows
	jobs BLOB NOT NULL -- serial numbers that are still there: ranges, two u64 little-endian each, the second behind the last
) STRICT;

-- locks that people have
CREATE TABLE lock_hold (
	lock TEXT NOT NULL, -- name
	owner TEXT NOT NULL,
	person TEXT NOT NULL, -- who took it
	reason TEXT NOT NULL,
	shared INTEGER NOT NULL,
	fence INTEGER NOT NULL, -- larger than any before
	taken_ms INTEGER NOT NULL, -- UTC
	ttl_ms INTEGER NOT NULL, -- that it was taken for; 0: until it is dropped
	due_ms INTEGER NOT NULL, -- its end, by the steady clock of intervals
	PRIMARY KEY (lock, owner)
) STRICT, WITHOUT ROWID;

-- one row a run; ended_ms is 0 while it is live
CREATE TABLE run (
	run INTEGER PRIMARY KEY, -- number
	name TEXT NOT NULL,
	owner TEXT NOT NULL, -- who submitted it
	first INTEGER NOT NULL, -- serial number of its first job
	jobs INTEGER NOT NULL, -- how many
	state INTEGER NOT NULL, -- enum run_state when it ended
	cancelled INTEGER NOT NULL, -- somebody cancelled it
	held INTEGER NOT NULL, -- somebody holds it back
	max_jobs INTEGER NOT NULL, -- that hold attempts at once; 0: no bound
	submitted_ms INTEGER NOT NULL, -- UTC; of a run that has ended by the clock of its end
	ended_ms INTEGER NOT NULL, -- UTC
	tenant TEXT NOT NULL, -- whose share it takes; empty: the owner's
	counts BLOB NOT NULL, -- when ended: jobs by state, u32 little-endian each
	forgiven INTEGER NOT NULL, -- when ended: bad ends of jobs that count as good ones
	dead INTEGER NOT NULL, -- when ended: jobs with a dead letter
	steady_ms INTEGER NOT NULL, -- submitted, by the steady clock of intervals
	schedule TEXT NOT NULL, -- that began it
	concurrency TEXT NOT NULL, -- group of the run as a whole, NAME or NAME=LIMIT; empty: none
	seated INTEGER NOT NULL, -- it has its place there
	logs_gone_ms INTEGER NOT NULL, -- UTC; its logs up to then were pruned; 0: they weren't
	parent INTEGER NOT NULL, -- serial number of the job whose sub-run it is; 0: none
	parent_run INTEGER NOT NULL, -- the run of that job
	parent_name TEXT NOT NULL, -- the name of that job
	depth INTEGER NOT NULL, -- how many runs it is within
	priority INTEGER NOT NULL -- priority + 1 of its jobs that say none; 0: the default
) STRICT;

-- a run's graph as submitted, in parts; those that came later follow; immutable
CREATE TABLE spec (
	run INTEGER NOT NULL,
	part INTEGER NOT NULL, -- from 0
	count INTEGER NOT NULL, -- jobs in it
	first INTEGER NOT NULL, -- serial number of its first job, if they came later; 0: it goes on with the part before
	jobs INTEGER NOT NULL, -- of the first part of those that came together: how many; 0 of an older version, where all did
	body BLOB NOT NULL, -- job_spec records, one after the other
	context BLOB NOT NULL, -- of the first part of those that came together: a run_context record, theirs; empty: none
	PRIMARY KEY (run, part)
) STRICT, WITHOUT ROWID;

-- a job that has moved
CREATE TABLE job (
	job INTEGER PRIMARY KEY, -- serial number: live ones are neighbours
	run INTEGER NOT NULL,
	state INTEGER NOT NULL CHECK (state IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)), -- enum job_state
	epoch INTEGER NOT NULL, -- of the latest attempt
	round INTEGER NOT NULL,
	tries INTEGER NOT NULL, -- attempts in this round
	crashes INTEGER NOT NULL, -- attempts lost in this round
	worker INTEGER NOT NULL, -- of the latest attempt; 0 none
	stop_cause INTEGER NOT NULL, -- enum job_event that made it stopping
	outcome INTEGER NOT NULL, -- enum outcome of the latest attempt
	code INTEGER NOT NULL,
	cause INTEGER NOT NULL, -- serial number + 1 of the job that ended it; 0: none
	due_ms INTEGER NOT NULL, -- when what its state waits for is due, by the steady clock of intervals
	started_ms INTEGER NOT NULL, -- UTC, by the clock that tells its end
	ended_ms INTEGER NOT NULL, -- UTC
	cpu_us INTEGER NOT NULL,
	rss_kib INTEGER NOT NULL,
	out_bytes INTEGER NOT NULL,
	priority INTEGER NOT NULL, -- 0 to 100
	flags INTEGER NOT NULL, -- bits: 1 held back, 2 a parent began a new round without it, 4 its gate is open, 8 it has a dead letter, 32 its deadline had passed when its round began, 64 skipped by its condition
	child INTEGER NOT NULL, -- number of its sub-run, of the latest attempt; 0: none
	passes INTEGER NOT NULL, -- of its loop that are over, but for the last; tries and crashes are of the one after them
	interrupted INTEGER NOT NULL, -- attempts in this round that their worker ended, by its lease or its own end; the first 63
	kind INTEGER NOT NULL, -- of proto/kinds.def, as its specification makes it; 0 of an older version, which didn't say
	ending_ms INTEGER NOT NULL -- its run was told to end and it goes on: when its time is over, by the steady clock of intervals; 1: it waits
) STRICT;

-- what people said of a gate, each their last word in a round; or of a job nobody could know about
CREATE TABLE decision (
	job INTEGER NOT NULL, -- serial number
	round INTEGER NOT NULL, -- 16 bits; above them the attempt that was settled
	person INTEGER NOT NULL, -- principal; -1: nobody in time
	run INTEGER NOT NULL,
	name TEXT NOT NULL, -- of the person
	verdict INTEGER NOT NULL, -- enum verdict: 1 approved, 0 rejected
	reason TEXT NOT NULL,
	wall_ms INTEGER NOT NULL, -- UTC
	job_name TEXT NOT NULL,
	digest BLOB NOT NULL, -- of what was shown
	target INTEGER NOT NULL, -- serial number of the job it was pushed back to
	target_round INTEGER NOT NULL, -- that this opened
	target_name TEXT NOT NULL,
	PRIMARY KEY (job, round, person)
) STRICT, WITHOUT ROWID;

-- dead letters: jobs that ended badly for good, as they were then; deleted with the next round
CREATE TABLE dead (
	job INTEGER PRIMARY KEY, -- serial number
	run INTEGER NOT NULL,
	run_name TEXT NOT NULL,
	owner TEXT NOT NULL, -- who submitted the run
	name TEXT NOT NULL, -- of the job
	place INTEGER NOT NULL, -- in the run
	reason INTEGER NOT NULL, -- enum dead_reason
	died_ms INTEGER NOT NULL, -- UTC
	state INTEGER NOT NULL, -- enum job_state
	round INTEGER NOT NULL,
	tries INTEGER NOT NULL,
	crashes INTEGER NOT NULL,
	outcome INTEGER NOT NULL, -- enum outcome of the latest attempt
	code INTEGER NOT NULL,
	epoch INTEGER NOT NULL, -- of the latest attempt
	worker TEXT NOT NULL, -- of the latest attempt
	priority INTEGER NOT NULL, -- 0 to 100
	spec BLOB NOT NULL -- a job_spec record
) STRICT;

-- submits that were acknowledged; lives as long as its run
CREATE TABLE submit_key (
	principal INTEGER NOT NULL,
	submit_key BLOB NOT NULL, -- 16 bytes
	run INTEGER NOT NULL,
	digest BLOB NOT NULL, -- SHA-256 of the content
	by_run INTEGER NOT NULL, -- the run whose job submitted it; 0: a person did
	PRIMARY KEY (principal, submit_key)
) STRICT, WITHOUT ROWID;

-- graphs that begin at times of the wall clock
CREATE TABLE schedule (
	schedule TEXT NOT NULL, -- name, also of its runs
	owner TEXT NOT NULL, -- who added it, or replaced it last
	principal INTEGER NOT NULL,
	tenant TEXT NOT NULL, -- as given; empty: the owner
	spec BLOB NOT NULL, -- a schedule_spec record
	max_jobs INTEGER NOT NULL, -- as in run
	paused INTEGER NOT NULL,
	next_ms INTEGER NOT NULL, -- UTC; 0: never
	last_ms INTEGER NOT NULL, -- UTC; the time that its last run was for
	last_run INTEGER NOT NULL,
	queued INTEGER NOT NULL, -- runs that begin when those that live have ended
	fired INTEGER NOT NULL, -- runs that began
	skipped INTEGER NOT NULL, -- times without a run
	skip_why INTEGER NOT NULL, -- enum skip_why of the last of those
	skip_ms INTEGER NOT NULL, -- UTC
	concurrency TEXT NOT NULL, -- as in run
	submit_key BLOB NOT NULL, -- that set it last: principal, 8 bytes little-endian, and key; empty: unknown
	digest BLOB NOT NULL, -- SHA-256 of what came with it
	context BLOB NOT NULL, -- a run_context record, of all its jobs; empty: none
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
	body BLOB NOT NULL -- event records, one after the other
) STRICT;

-- what people and jobs did; each row has the hash of the one before it, so none can be changed or left out unseen
CREATE TABLE act (
	act INTEGER PRIMARY KEY, -- number, from 1, without gaps
	turn INTEGER NOT NULL, -- in which it was done, and became durable with what it did
	wall_ms INTEGER NOT NULL, -- UTC
	principal INTEGER NOT NULL, -- who did it, or in whose name a job did
	name TEXT NOT NULL, -- of the principal, then
	key_id BLOB NOT NULL, -- of a submit: its key, 16 bytes; else of the key that the connection showed; empty: none
	origin TEXT NOT NULL, -- from where: the transport, or the job that spoke
	by_job INTEGER NOT NULL, -- serial number of the job that spoke; 0: a person did
	run INTEGER NOT NULL, -- that it was done to, or that it began; 0: none
	verb TEXT NOT NULL,
	target TEXT NOT NULL,
	before TEXT NOT NULL, -- what the act changed, as it was; empty: it was not there
	after TEXT NOT NULL, -- the same behind the act
	reason TEXT NOT NULL, -- as given
	previous BLOB NOT NULL, -- hash of the act before; 32 times 0 in the first
	hash BLOB NOT NULL -- SHA-256 of the columns before, in this order: integers as 8 bytes, all others as length and bytes, little-endian
) STRICT;

-- what each turn changed: its rows as they were before it, so that the past follows from the present
CREATE TABLE change (
	turn INTEGER PRIMARY KEY,
	wall_ms INTEGER NOT NULL, -- UTC
	body BLOB NOT NULL -- rows as they were, one after the other: src/store/past.c
) STRICT;

-- what a start reads
CREATE INDEX run_live ON run (run) WHERE ended_ms = 0;
