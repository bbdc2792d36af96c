-- The tables of titan's store, made from src/core/rows/rows.def: change them there.
PRAGMA application_id = 1953068142;
PRAGMA user_version = 20;

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
	instance BLOB NOT NULL, -- random number that identifies the worker's latest keeper process
	slots INTEGER NOT NULL,
	seen_ms INTEGER NOT NULL, -- UTC
	pool TEXT NOT NULL, -- name of the worker's pool; empty: default
	standing INTEGER NOT NULL -- enum worker_standing, as a person set it: 1 cordoned, 2 draining; plus 4 if the worker ended in order
) STRICT;

-- pools whose state a person set
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

-- concurrency groups whose limit a person set
CREATE TABLE job_group (
	name TEXT NOT NULL,
	most INTEGER NOT NULL, -- how many jobs of the group, and separately how many of its runs, may be active at once
	PRIMARY KEY (name)
) STRICT, WITHOUT ROWID;

-- numbers of pruned runs: consecutive runs that were pruned on one day share a row
CREATE TABLE pruned (
	first INTEGER PRIMARY KEY, -- number of the first run in the row
	last INTEGER NOT NULL, -- number of the last run in the row
	wall_ms INTEGER NOT NULL -- UTC; when the latest run of the row was pruned
) STRICT;

-- pruned runs whose rows or logs are not all deleted yet
CREATE TABLE pruning (
	run INTEGER PRIMARY KEY, -- number of the run
	logs_only INTEGER NOT NULL, -- 1: only the logs are removed, the run stays
	parts INTEGER NOT NULL, -- how many parts of the run's specification still exist (the first ones)
	part_cost INTEGER NOT NULL, -- what deleting one part of the specification costs, counted in rows
	jobs BLOB NOT NULL -- serial numbers of the job rows that still exist: ranges of two u64 little-endian, first and last + 1
) STRICT;

-- locks that people took and have
CREATE TABLE lock_hold (
	lock TEXT NOT NULL, -- name
	owner TEXT NOT NULL,
	person TEXT NOT NULL, -- the person who took the lock
	reason TEXT NOT NULL,
	shared INTEGER NOT NULL,
	fence INTEGER NOT NULL, -- fencing number of the lock, larger than that of every earlier lock
	taken_ms INTEGER NOT NULL, -- UTC
	ttl_ms INTEGER NOT NULL, -- for how many milliseconds the lock was taken; 0: until the person drops it
	due_ms INTEGER NOT NULL, -- when the lock expires, by the steady clock
	PRIMARY KEY (lock, owner)
) STRICT, WITHOUT ROWID;

-- one row for each run; ended_ms is 0 while the run is live
CREATE TABLE run (
	run INTEGER PRIMARY KEY, -- number
	name TEXT NOT NULL,
	owner TEXT NOT NULL, -- the person who submitted the run
	first INTEGER NOT NULL, -- serial number of the run's first job
	jobs INTEGER NOT NULL, -- number of jobs in the run
	state INTEGER NOT NULL, -- enum run_state, set when the run ended
	cancelled INTEGER NOT NULL, -- 1: a person cancelled the run
	held INTEGER NOT NULL, -- 1: a person put the run on hold
	max_jobs INTEGER NOT NULL, -- how many jobs of the run may be active at once; 0: no limit
	submitted_ms INTEGER NOT NULL, -- UTC; when the run was submitted; of an ended run, by the clock at its end
	ended_ms INTEGER NOT NULL, -- UTC; when the run ended; 0 while it is live
	tenant TEXT NOT NULL, -- the tenant that the run is charged to; empty: the owner's default tenant
	counts BLOB NOT NULL, -- of an ended run: number of jobs in each state, u32 little-endian each
	forgiven INTEGER NOT NULL, -- of an ended run: number of jobs whose bad end counts as a good one (continue_on)
	dead INTEGER NOT NULL, -- of an ended run: number of jobs with a dead letter
	steady_ms INTEGER NOT NULL, -- when the run was submitted, by the steady clock
	schedule TEXT NOT NULL, -- name of the schedule that began the run; empty: none
	concurrency TEXT NOT NULL, -- concurrency group of the run as a whole, NAME or NAME=LIMIT; empty: none
	seated INTEGER NOT NULL, -- 1: the run has a place in its concurrency group
	logs_gone_ms INTEGER NOT NULL, -- UTC; logs of the run from before this time were pruned; 0: none
	parent INTEGER NOT NULL, -- for a sub-run: serial number of its parent job; 0: the run isn't a sub-run
	parent_run INTEGER NOT NULL, -- for a sub-run: number of the run that contains its parent job
	parent_name TEXT NOT NULL, -- for a sub-run: name of its parent job
	depth INTEGER NOT NULL, -- for a sub-run: how many runs it is nested in
	priority INTEGER NOT NULL -- default priority of the run's jobs, plus 1; 0: the general default
) STRICT;

-- the graph of each run as submitted, in parts; added jobs follow in parts of their own; parts never change
CREATE TABLE spec (
	run INTEGER NOT NULL,
	part INTEGER NOT NULL, -- number of this part of the run's graph, from 0
	count INTEGER NOT NULL, -- number of jobs in the part
	first INTEGER NOT NULL, -- in the first part of added jobs: serial number of the first added job; 0: the part continues the one before
	jobs INTEGER NOT NULL, -- in the first part of a submit: number of jobs in the submit; 0: an older version of titan wrote the row
	body BLOB NOT NULL, -- job_spec records, one after the other
	context BLOB NOT NULL, -- in the first part of a submit: the run_context record of its jobs; empty: none
	PRIMARY KEY (run, part)
) STRICT, WITHOUT ROWID;

-- jobs that have changed since they were submitted
CREATE TABLE job (
	job INTEGER PRIMARY KEY, -- serial number; the jobs of one submit have consecutive numbers
	run INTEGER NOT NULL,
	state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 15), -- enum job_state
	epoch INTEGER NOT NULL, -- epoch of the job's latest attempt
	round INTEGER NOT NULL,
	tries INTEGER NOT NULL, -- attempts of the job in this round that may have started
	crashes INTEGER NOT NULL, -- attempts of the job in this round that were lost with their worker
	worker INTEGER NOT NULL, -- number of the worker of the latest attempt; 0: none
	stop_cause INTEGER NOT NULL, -- enum job_event because of which the worker was told to stop the job
	outcome INTEGER NOT NULL, -- enum outcome of the job's latest attempt
	code INTEGER NOT NULL,
	cause INTEGER NOT NULL, -- serial number + 1 of another job because of which this one ended; 0: none
	due_ms INTEGER NOT NULL, -- when the timer of the job's present state is due, by the steady clock
	started_ms INTEGER NOT NULL, -- UTC; when the job started; of an ended job, by the clock at its end
	ended_ms INTEGER NOT NULL, -- UTC
	cpu_us INTEGER NOT NULL,
	rss_kib INTEGER NOT NULL,
	out_bytes INTEGER NOT NULL,
	priority INTEGER NOT NULL, -- 0 to 100
	flags INTEGER NOT NULL, -- bits: 1 the job is on hold, 2 a parent began a new round and this job didn't, 4 the gate is open, 8 the job has a dead letter, 32 the job's deadline had passed when its round began, 64 the job was skipped because its condition was false
	child INTEGER NOT NULL, -- number of the sub-run that the job's latest attempt began; 0: none
	passes INTEGER NOT NULL, -- how many passes of the job's loop have ended and were followed by another; tries and crashes count in the present pass
	interrupted INTEGER NOT NULL, -- attempts in this round that ended because their worker ended or its lease ran out; at most 63
	kind INTEGER NOT NULL, -- kind of the job by proto/kinds.def; 0: an older version of titan wrote the row
	ending_ms INTEGER NOT NULL, -- steady-clock time by which the job must end after its run was told to end; 1: this time hasn't begun
	outputs BLOB NOT NULL, -- job_output records of the attempt that ended the job: its outputs, or what is wrong with one; empty: none
	artifacts BLOB NOT NULL -- job_artifacts record of the latest attempt that named files which it leaves, or why it left none; empty: none
) STRICT;

-- votes on gates (the last vote of each person in a round) and settlements of unknown jobs
CREATE TABLE decision (
	job INTEGER NOT NULL, -- serial number
	round INTEGER NOT NULL, -- low 16 bits: round of the job; higher bits: epoch of the attempt that a person settled
	person INTEGER NOT NULL, -- number of the principal who decided; -1: the gate expired
	run INTEGER NOT NULL,
	name TEXT NOT NULL, -- name of the person who decided
	verdict INTEGER NOT NULL, -- enum verdict: 1 approved, 0 rejected
	reason TEXT NOT NULL,
	wall_ms INTEGER NOT NULL, -- UTC
	job_name TEXT NOT NULL,
	digest BLOB NOT NULL, -- digest of what the person was shown about the gate
	target INTEGER NOT NULL, -- for a push back: serial number of the job to which the gate was pushed back
	target_round INTEGER NOT NULL, -- for a push back: the new round of that job
	target_name TEXT NOT NULL,
	self INTEGER NOT NULL, -- 1: the submitter of the run approved the gate, because no other person was able to
	given BLOB NOT NULL, -- job_output records: the values that the person gave for the fields of the gate; empty: it has none
	PRIMARY KEY (job, round, person)
) STRICT, WITHOUT ROWID;

-- dead letters: jobs as they were when they failed or timed out for good; a new round of the job deletes the row
CREATE TABLE dead (
	job INTEGER PRIMARY KEY, -- serial number
	run INTEGER NOT NULL,
	run_name TEXT NOT NULL,
	owner TEXT NOT NULL, -- the person who submitted the run
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
	worker TEXT NOT NULL, -- name of the worker that had the job's latest attempt
	priority INTEGER NOT NULL, -- 0 to 100
	spec BLOB NOT NULL -- the job_spec record of the job
) STRICT;

-- keys of acknowledged submits, so that a repeated submit finds its run; a row lives as long as the run
CREATE TABLE submit_key (
	run INTEGER NOT NULL, -- number of the run; the first column of the key, so that new rows lie together
	principal INTEGER NOT NULL,
	submit_key BLOB NOT NULL, -- 16 bytes
	digest BLOB NOT NULL, -- SHA-256 of what was submitted
	by_run INTEGER NOT NULL, -- number of the run whose job submitted; 0: a person submitted
	PRIMARY KEY (run, principal, submit_key)
) STRICT, WITHOUT ROWID;

-- schedules: graphs that the master begins as runs at times of the wall clock
CREATE TABLE schedule (
	schedule TEXT NOT NULL, -- name of the schedule and of its runs
	owner TEXT NOT NULL, -- the person who added the schedule or last replaced it
	principal INTEGER NOT NULL,
	tenant TEXT NOT NULL, -- tenant of the schedule's runs, as submitted; empty: the owner's default tenant
	spec BLOB NOT NULL, -- the schedule_spec record of the schedule
	max_jobs INTEGER NOT NULL, -- as in run
	paused INTEGER NOT NULL,
	next_ms INTEGER NOT NULL, -- UTC; when the schedule's next run is due; 0: never
	last_ms INTEGER NOT NULL, -- UTC; the time at which the schedule's last run was due
	last_run INTEGER NOT NULL,
	queued INTEGER NOT NULL, -- number of due runs that wait until the live ones have ended
	fired INTEGER NOT NULL, -- number of runs that the schedule has begun
	skipped INTEGER NOT NULL, -- number of scheduled times at which no run began
	skip_why INTEGER NOT NULL, -- enum skip_why: why the schedule began no run at the last time that it skipped
	skip_ms INTEGER NOT NULL, -- UTC; the last scheduled time at which the schedule began no run
	concurrency TEXT NOT NULL, -- as in run
	submit_key BLOB NOT NULL, -- submit key with which the schedule was last set: principal (8 bytes little-endian) and key; empty: unknown
	digest BLOB NOT NULL, -- SHA-256 of what was last submitted for the schedule
	context BLOB NOT NULL, -- the run_context record of the schedule's jobs; empty: none
	PRIMARY KEY (schedule)
) STRICT, WITHOUT ROWID;

-- the graph of a schedule, in parts
CREATE TABLE schedule_part (
	schedule TEXT NOT NULL,
	part INTEGER NOT NULL, -- from 0
	count INTEGER NOT NULL, -- number of jobs in the part
	body BLOB NOT NULL, -- job_spec records, one after the other
	PRIMARY KEY (schedule, part)
) STRICT, WITHOUT ROWID;

-- history of events: all that happened in each turn
CREATE TABLE event (
	turn INTEGER PRIMARY KEY,
	wall_ms INTEGER NOT NULL, -- UTC
	body BLOB NOT NULL -- event and happening records, one after the other
) STRICT;

-- history of acts: what people and jobs did; each row has the hash of the row before, so that a changed or missing row is noticed
CREATE TABLE act (
	act INTEGER PRIMARY KEY, -- number of the act, from 1, without gaps
	turn INTEGER NOT NULL, -- the turn in which the act was done; the act and the rows that it changed became durable together
	wall_ms INTEGER NOT NULL, -- UTC
	principal INTEGER NOT NULL, -- number of the principal who acted, or for whom a job acted
	name TEXT NOT NULL, -- name of the principal at that time
	key_id BLOB NOT NULL, -- of a submit: its submit key, 16 bytes; of other acts: the id of the connection's token; empty: none
	origin TEXT NOT NULL, -- where the request came from: the transport, or the job that sent it
	by_job INTEGER NOT NULL, -- serial number of the job that sent the request; 0: a person sent it
	run INTEGER NOT NULL, -- number of the run that the act changed or began; 0: none
	verb TEXT NOT NULL,
	target TEXT NOT NULL,
	before TEXT NOT NULL, -- values of the target before the act; empty: the target didn't exist
	after TEXT NOT NULL, -- values of the target after the act
	reason TEXT NOT NULL, -- the reason that the person gave
	previous BLOB NOT NULL, -- hash of the act before this one; in the first act 32 zero bytes
	hash BLOB NOT NULL -- SHA-256 of all columns above, in this order: integers as 8 bytes, others as length and bytes, little-endian
) STRICT;

-- the rows that each turn changed, as they were before the turn, so that earlier states can be computed
CREATE TABLE change (
	turn INTEGER PRIMARY KEY,
	wall_ms INTEGER NOT NULL, -- UTC
	body BLOB NOT NULL -- the changed rows, encoded as in src/store/past_body.c
) STRICT;

-- tokens: keys with which people, programs and workers of other machines connect
CREATE TABLE token (
	id TEXT NOT NULL, -- id of the token
	name TEXT NOT NULL, -- name of the principal or worker that connects with the token
	roles INTEGER NOT NULL, -- bits of enum role
	secret BLOB NOT NULL, -- secret of the token, encrypted with the master's own key, which is in another file
	made_ms INTEGER NOT NULL, -- UTC; when the token was added or its secret replaced
	expires_ms INTEGER NOT NULL, -- UTC; when the token expires; 0: never
	used_ms INTEGER NOT NULL, -- UTC; when the token was last used, to the minute; 0: never
	made_by TEXT NOT NULL, -- name of the principal who added the token, or id of the token by which the worker joined
	uses INTEGER NOT NULL, -- of a token for joining: how many more workers may join with it
	pool TEXT NOT NULL, -- pool to which the worker belongs that connects or joins with the token; empty: as the worker says
	PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;

-- history of pruned runs: what the master still knows about each
CREATE TABLE pruned_run (
	run INTEGER PRIMARY KEY, -- number
	name TEXT NOT NULL,
	owner TEXT NOT NULL, -- the person who submitted the run
	schedule TEXT NOT NULL, -- name of the schedule that began the run
	state INTEGER NOT NULL, -- enum run_state that the run had when it ended
	jobs INTEGER NOT NULL, -- number of jobs that the run had
	submitted_ms INTEGER NOT NULL, -- UTC
	ended_ms INTEGER NOT NULL, -- UTC
	wall_ms INTEGER NOT NULL, -- UTC; when the run was pruned
	person TEXT NOT NULL -- the person who pruned the run; empty: a rule of the master pruned it
) STRICT;

-- history of earlier tries of jobs; a job's latest try is in the job's own row
CREATE TABLE attempt (
	job INTEGER NOT NULL, -- serial number
	epoch INTEGER NOT NULL,
	run INTEGER NOT NULL,
	round INTEGER NOT NULL, -- round of the job
	pass INTEGER NOT NULL, -- pass of the job's loop, from 1; 0: the job isn't a loop
	try INTEGER NOT NULL, -- number of the try in its round, or in its pass
	worker INTEGER NOT NULL, -- number of the worker; 0: none
	outcome INTEGER NOT NULL, -- enum outcome
	code INTEGER NOT NULL,
	stop_cause INTEGER NOT NULL, -- enum job_event because of which the worker was told to stop the try; 0: none
	started_ms INTEGER NOT NULL, -- UTC; when the try started; 0: the master never heard that it started
	ended_ms INTEGER NOT NULL, -- UTC
	cpu_us INTEGER NOT NULL,
	rss_kib INTEGER NOT NULL,
	out_bytes INTEGER NOT NULL,
	child INTEGER NOT NULL, -- number of the sub-run that the try began; 0: none
	PRIMARY KEY (job, epoch)
) STRICT, WITHOUT ROWID;

-- capabilities of pools
CREATE TABLE pool_provides (
	pool TEXT NOT NULL, -- name
	provides TEXT NOT NULL, -- capabilities, with commas between them
	PRIMARY KEY (pool)
) STRICT, WITHOUT ROWID;

-- mappings of topics to pools
CREATE TABLE topic (
	topic TEXT NOT NULL, -- a topic or a pattern
	pool TEXT NOT NULL, -- name of the pool
	PRIMARY KEY (topic)
) STRICT, WITHOUT ROWID;

-- namespaces that have values
CREATE TABLE value_space (
	run INTEGER NOT NULL, -- number of the run; 0: none
	definition TEXT NOT NULL, -- name of the definition; empty: none, so with run 0 the namespace of the cluster
	owner TEXT NOT NULL, -- of a run: the person who submitted the run
	compacted INTEGER NOT NULL, -- deletions up to this revision are forgotten
	PRIMARY KEY (run, definition)
) STRICT, WITHOUT ROWID;

-- values that jobs and people keep, and the latest deleted keys
CREATE TABLE value (
	run INTEGER NOT NULL, -- namespace, as in value_space
	definition TEXT NOT NULL,
	name BLOB NOT NULL, -- the key of the value
	kind INTEGER NOT NULL, -- enum value_kind; 0: the key was deleted
	version INTEGER NOT NULL, -- revision of the last change of the key; no two changes have the same revision
	body BLOB NOT NULL, -- the value
	due_ms INTEGER NOT NULL, -- when the value ends, by the steady clock; 0: never
	ttl_ms INTEGER NOT NULL, -- for how many milliseconds the value was set; 0: for ever
	PRIMARY KEY (run, definition, name)
) STRICT, WITHOUT ROWID;

-- changes of values that had a request key: the latest ones, so that a repeated change is done once
CREATE TABLE value_request (
	revision INTEGER PRIMARY KEY, -- revision of the change
	request BLOB NOT NULL, -- principal (8 bytes little-endian) and request key
	digest BLOB NOT NULL, -- SHA-256 of the operations
	answer BLOB NOT NULL -- value_row records, one after the other: the answer
) STRICT;

-- versions of assets
CREATE TABLE asset (
	asset TEXT NOT NULL, -- name
	version INTEGER NOT NULL, -- from 1
	hash BLOB NOT NULL, -- SHA-256 of the file, or of the directory's manifest; empty: the newest version was removed, and its number isn't given again
	kind INTEGER NOT NULL, -- enum asset_kind
	size INTEGER NOT NULL, -- bytes of all files
	files INTEGER NOT NULL, -- number of files
	owner TEXT NOT NULL, -- the person who put the asset's first version
	made_ms INTEGER NOT NULL, -- UTC
	pinned INTEGER NOT NULL, -- 1: the version is kept until a person unpins it
	PRIMARY KEY (asset, version)
) STRICT, WITHOUT ROWID;

-- what a start reads
CREATE INDEX run_live ON run (run) WHERE ended_ms = 0;
CREATE INDEX job_artifacts ON job (job) WHERE length(artifacts) > 0;
