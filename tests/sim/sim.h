/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulator: one master, some workers and a client in one process, on a virtual clock, over an unreliable
 * network, with crashes of every part at any step. The core and the worker's ledger are the product's own code.
 * What is on disk survives a crash; messages under way may be lost.
 *
 * A schedule is determined by its seed. The oracle watches what really happened (processes, rows that became
 * durable, answers that were sent) and knows nothing of how the core decides.
 */
#ifndef TITAN_SIM_H
#define TITAN_SIM_H

#include <setjmp.h>

#include "base/sha256.h"
#include "base/map.h"
#include "base/rand.h"
#include "core/core.h"
#include "core/view/view.h"
#include "proto/expr.h"
#include "proto/limits.h"
#include "worker/ledger.h"

#define SIM_WORKERS_MAX 4
#define MS NS_PER_MS
#define WALL_START_MS INT64_C(1700000000000)
/* number of people; the first, "sim", is principal 1 and submits everything */
#define SIM_PEOPLE 4
#define SIM_TEAM "crew"                  /* the team of the first three people */
/* acts have request numbers from here on; graphs have lower ones */
#define ACT_BASE UINT64_C(1000000)

/* ---- graphs that the client makes (graph.c) ---- */

#define CONDITION_PARTS 4

enum sim_condition_kind { CONDITION_CONST, CONDITION_STATE, CONDITION_CODE, CONDITION_ASK, CONDITION_NOT, CONDITION_GATE };

/* The questions about values: is the output first there, is it of the first epoch, the exit code, is it that of another need, is it
 * among those of all needs, is it empty? */
enum sim_question { ASK_HAS, ASK_FIRST_EPOCH, ASK_EXIT, ASK_SAME, ASK_AMONG, ASK_EMPTY, ASK_COUNT };

struct sim_condition {
	enum sim_condition_kind kind;
	/* of STATE, CODE and ASK: the parent asked about, as an index into the job's needs */
	uint64_t need;
	/* CONST: 0 or 1; STATE: a mask of states; CODE: the exit code; GATE: how many parts must be true */
	uint64_t value;
	enum expr_compare compare;
	/* of an ASK: the question, another need, and how many needs the job has */
	enum sim_question question;
	uint64_t other, needs;
	struct sim_condition *of[CONDITION_PARTS];
	size_t count;
};

struct sim_parent {
	const struct sim_graph *graph;
	uint32_t index;
};

struct sim_graph {
	uint8_t key[16];
	uint8_t digest[32];
	char name[32];
	uint32_t count;
	bool invalid;                    /* the graph has a mistake for which the master must refuse it */
	uint32_t max_jobs;
	uint32_t tenant;                 /* 0: the submitter's own tenant; else t1 to t3 */
	unsigned group;                  /* concurrency group of the run: index in graph_group_names + 1; 0: none */
	uint32_t group_states;           /* the limit that the run states for that group; 0: none */
	struct {                         /* the run after the latest turn that changed it, durable or not */
		uint64_t run, first;     /* run 0: the graph isn't a run yet */
		bool live, seated;
		bool sits_down;          /* the run took its place in its group in this turn */
	} decided;
	struct slice context;            /* encoded run_context of all jobs, in the arena; or empty */
	struct rec_job_spec *jobs;       /* all jobs, in the arena */
	/* the expressions of each job; NULL: no job has one */
	struct sim_condition **needs_trees, **when_trees;
	/* for each job the graph of its sub-run, or NULL; NULL: no job is a sub-run */
	struct sim_graph **subs;
	unsigned machine;                /* the jobs run in a directory of this machine, from 1; 0: anywhere */
	bool stranger;                   /* the run belongs to another person than the master's owner */
	unsigned within;                 /* depth: number of graphs around this one; 0: not a sub-run */
	uint64_t features;
	/* the struct is a copy for a sub-run; its contents belong to the enclosing graph */
	bool borrowed;
	struct blob *body;
	struct arena arena;
	uint64_t run;                    /* number of the run that the client was told; 0: none yet */
	bool answered;
	/* the turn that accepted the graph, until that turn is durable; 0: none */
	uint64_t admitted;
	const struct sim_schedule *schedule;     /* the schedule that began the run; NULL: it was submitted */
	/* serial number of the graph's first job, and its run; 0 until they are durable */
	uint64_t first, durable_run;
	/* the graph to whose run this one is added; NULL: the graph is a run of its own */
	struct sim_graph *into;
	struct sim_parent *parents;      /* parents in that run: a need of count + i means parents[i] */
	uint32_t parent_count;
	bool was_closed;                 /* the graph's run ended or was cancelled at some time */
	int64_t submitted_ns;            /* when the graph's submit was decided; 0 until that is durable */
	uint64_t submitted_run;          /* number of the run that the submit became */
	struct row_run last_row;         /* the run's latest durable row, without its texts */
};

enum sim_feature {
#define JOB_FEATURE(name, per_mille, what) FEATURE_##name,
#include "topics.def"
#undef JOB_FEATURE
	JOB_FEATURES,
	FEATURE_BEFORE_GRAPHS = JOB_FEATURES - 1,
#define GRAPH_FEATURE(name, per_mille, what) FEATURE_##name,
#include "topics.def"
#undef GRAPH_FEATURE
	FEATURE_COUNT                    /* number of features, at most 64 */
};

#define JOB_FEATURE(name, per_mille, what) void job_##name(struct rand_state *rand, struct sim_graph *graph, \
							   struct rec_job_spec *job, uint32_t index);
#define GRAPH_FEATURE(name, per_mille, what) void graph_##name(struct rand_state *rand, struct sim_graph *graph);
#include "topics.def"
#undef JOB_FEATURE
#undef GRAPH_FEATURE

/* Make a graph. into, others: the run that it is added to, and the graphs of that run whose jobs it may need. */
struct sim_graph *graph_make(struct rand_state *rand, uint64_t number, uint32_t most, uint64_t features,
			     struct sim_graph *into, struct sim_graph *const *others, size_t other_count);
/* graph_grow.c: let some jobs need jobs of the run to which the graph is added */
void graph_take_parents(struct rand_state *rand, struct sim_graph *graph, struct sim_graph *const *others,
			size_t other_count);
struct sim_graph *graph_make_within(struct rand_state *rand, uint64_t number, uint32_t most, uint64_t features,
				    unsigned within, struct sim_graph *into, struct sim_graph *const *others,
				    size_t other_count);
uint64_t graph_features_draw(struct rand_state *rand);
void graph_free(struct sim_graph *graph);
#define SIM_LABELS 3
#define SIM_MACHINES 2
#define SIM_KINDS 3                      /* number of kinds of resources */
#define SIM_MOST 4                       /* most of one kind that a worker offers */
#define SIM_POOLS 3
#define SIM_TOPICS 2
#define SIM_PATTERNS 3                   /* patterns of topics that people map to pools */
#define SIM_CAPABILITIES 2
#define SIM_TENANTS 3
#define SIM_GROUPS 3
#define SIM_LOCKS 3
#define SIM_WATCHERS 2                   /* number of watchers of values (values.h) */
#define SIM_OWNERS 2                     /* number of people who take locks */
extern const char *const graph_lock_names[SIM_LOCKS], *const graph_owner_names[SIM_OWNERS];
bool graph_names_lock(const struct rec_job_spec *job, unsigned lock, bool *ret_shared);
/* A request for a lock packed into the number of an act: owner, shared or exclusive, and its time limit. */
#define LOCK_NUMBER(owner, shared, ttl_ms) ((uint64_t)(owner) | (uint64_t)(shared) << 1 | (uint64_t)(ttl_ms) << 2)
#define LOCK_OWNER(number) ((unsigned)(number) & 1)
#define LOCK_SHARED(number) (((number) >> 1 & 1) != 0)
#define LOCK_TTL_MS(number) ((number) >> 2)
/*
 * A request for a tenant packed into the number of an act: weight, limit of active jobs, limit of queued jobs (0:
 * no limit).
 */
#define TENANT_NUMBER(weight, limit, most) ((uint64_t)(most) << 16 | (uint64_t)(weight) << 8 | (limit))
#define TENANT_MOST(number) ((number) >> 16)
#define TENANT_WEIGHT(number) ((number) >> 8 & 255)
#define TENANT_LIMIT(number) ((number) & 255)
extern const char *const graph_group_names[SIM_GROUPS];
/* Check whether the job names this group; *ret_states is the limit that it states, or 0. */
bool graph_names_group(const struct rec_job_spec *job, unsigned group, uint32_t *ret_states);
extern const char *const graph_label_names[SIM_LABELS];
extern const char *const graph_machine_names[SIM_MACHINES];      /* worker N is on machine N % SIM_MACHINES */
extern const char *const graph_kind_names[SIM_KINDS];
extern const char *const graph_tenant_names[SIM_TENANTS];
extern const char *const graph_pool_names[SIM_POOLS];    /* the first is the default pool */
extern const char *const graph_topic_names[SIM_TOPICS], *const graph_pattern_names[SIM_PATTERNS];
extern const char *const graph_capability_names[SIM_CAPABILITIES];
/* the capabilities that the job requires, as bits */
unsigned graph_requires(const struct rec_job_spec *job);
void graph_asks(const struct rec_job_spec *job, uint64_t ret_asks[SIM_KINDS]);
extern const char *const graph_people[SIM_PEOPLE];       /* people's names, by principal - 1 */

/* ---- schedules, in minutes of local time (client_schedule.c) ---- */

#define SIM_SCHEDULES 2

struct sim_schedule {                    /* a schedule as a person sent it once */
	uint32_t name;                   /* the schedule's name, as an index in sim_schedule_names */
	struct sim_graph *graph;
	uint64_t minutes;                /* one bit for each minute of the hour at which it fires */
	uint32_t hours;
	int32_t offset_s;
	char cron[200];
	struct rec_schedule_spec spec;
	uint8_t zone[12];
	bool borrowed;                   /* key and graph are those of another schedule that was sent before */
	uint8_t digest[32];
};

extern const char *const sim_schedule_names[SIM_SCHEDULES];

/* ---- the simulated disk (disk.c) ---- */

struct disk_row {
	struct row row;
	struct arena arena;              /* memory of the row's texts and blobs */
};

struct disk {
	struct name_map rows;            /* the rows on disk, by the bytes of the key */
	struct name_map buried;          /* pruned rows, which the oracle still reads */
	struct disk_row **order;         /* the rows on disk, in the order in which they were first put */
	size_t count, cap;
	uint64_t turn;                   /* the latest turn on disk */
	uint64_t hash_after;             /* hash of the core's state after that turn */
	struct now now;                  /* the time of the latest turn on disk */
	bool restored;                   /* put back from a backup, and no turn since */
};

void disk_apply(struct disk *disk, const struct outbox *outbox, uint64_t hash_after, struct now now);
const struct row *disk_get(const struct disk *disk, enum row_table table, uint64_t key);  /* finds pruned rows, too */
bool disk_is_buried(const struct disk *disk, uint64_t run);
const struct row *disk_get_text(const struct disk *disk, enum row_table table, struct slice key);
enum err disk_load(const struct disk *disk, struct core *core, struct error *error);
void disk_copy(const struct disk *from, struct disk *ret);      /* without pruned rows */
/* Begin a new generation, as a restore does. */
void disk_raise_generation(struct disk *disk, uint64_t generation);
void disk_free(struct disk *disk);

/* ---- messages and events ---- */

struct sim_load {                        /* load of a worker's machine, as the worker reports it */
	uint64_t cpu_permille, gpu_permille, start_us;
};

struct message {
	enum opcode op;
	struct sim_graph *graph;                 /* of SUBMIT and its answer: the graph */
	uint64_t request, run;
	enum act_verb verb;
	uint64_t value, principal;
	char job[16];                            /* of ACT: the job's name; empty: the whole run */
	char target[16];                         /* of PUSHBACK: the job to push back to */
	uint8_t digest[32];                      /* of a vote: what the person was shown */
	size_t digest_len;
	enum object_kind kind;                   /* of SET: kind of the object that is set */
	uint64_t number;                         /* of SET: the number to set, whose meaning depends on kind */
	const struct sim_schedule *schedule;     /* of SUBMIT: the schedule, if one is set */
	uint64_t offers[SIM_KINDS];              /* of HELLO: the resources that the worker offers */
	struct sim_load load;                    /* of HEARTBEAT: load of the worker's machine */
	bool ending;                             /* of HEARTBEAT: the worker was told to end */
	unsigned pool;
	struct rec_held *held;
	struct rec_assign *assign;
	/* of CONTEXT: the context that the worker keeps in slot number `value` */
	struct blob *context;
	struct rec_stop *stop;
	struct rec_attempt *attempts;            /* of RECALL and ACK: the attempts */
	struct rec_started *started;
	struct rec_done *done;
	struct sim_page *page;                   /* of VALUES_CHANGED */
	size_t count;
	uint64_t instance;
	int64_t sent_ns, lease_ms;
	bool existing;
	enum err code;                           /* of ERROR: its code */
};

enum happening {
	HAPPENS_TO_MASTER, HAPPENS_TO_WORKER, HAPPENS_TO_CLIENT, HAPPENS_GONE,
	HAPPENS_TURN, HAPPENS_COMMIT, HAPPENS_MASTER_BOOT, HAPPENS_CONNECT, HAPPENS_BEAT, HAPPENS_LEASE_END,
	HAPPENS_TO_KEEPER, HAPPENS_FROM_KEEPER, HAPPENS_LINK_BOOT, HAPPENS_LINK_BEAT,
	HAPPENS_PEER_GONE, HAPPENS_JOB_END, HAPPENS_KILL, HAPPENS_KEEPER_BOOT, HAPPENS_CLIENT, HAPPENS_FAULT, HAPPENS_VALUES,
	HAPPENS_STAGED,
};

struct event {
	int64_t at_ns;
	uint64_t order;
	enum happening what;
	/* index of the worker; SIM_WORKERS_MAX: the client; above: one of the peers of values.h */
	uint32_t who;
	uint64_t a, b;
	struct message *message;
};

struct sim_conn {
	uint64_t id;
	uint32_t who;
	bool peer_open;                  /* the peer's end is open */
	bool master_open;                /* the master's end is open: it hasn't noticed a break yet */
	bool lossy;                      /* messages under way at the break are lost */
	int64_t last_to_master_ns, last_to_peer_ns;
};

/* ---- processes and workers ---- */

struct process {
	uint64_t job, epoch;
	uint64_t id;
	bool alive;
	bool asked_to_stop;
	/* the process is a child of the present keeper, which gets its exit status */
	bool ours;
	bool dies;                       /* the process is killed when its keeper dies */
	int64_t started_ns;
};

struct spooled {
	uint64_t job, epoch;
	bool ended;
	/* the record of the start, or of the end, is on disk; not while the disk is full */
	bool started_written, ended_written;
	bool acked;                      /* the master acknowledged the result; this isn't written to the spool */
	int64_t at_ns;                   /* when the latest record was written; a crash of the machine may lose it */
	struct rec_done result;
};

struct link_item {
	uint64_t job, epoch;
	enum attempt_phase phase;
	struct rec_started started;      /* job 0: the keeper hasn't reported the start yet */
	struct rec_done done;
};

struct sim_link {
	bool up;
	bool listed;                     /* the keeper has sent this link its whole inventory */
	uint64_t life;
	int64_t cut_ns;                  /* until then the keeper still reads what the previous link sent */
	int64_t echo_ns;                 /* when the master was last heard */
	int64_t paused_until_ns;
	int64_t last_to_keeper_ns, last_to_link_ns;
	struct link_item *items;
	size_t count, cap;
	/* the context in each slot, as sent by the master on this connection */
	struct blob *contexts[LIMIT_WORKER_CONTEXTS];
};

struct sim_worker {
	char name[16];
	uint32_t index, slots;
	uint32_t contexts;               /* number of context slots that it offers; 0: it doesn't support contexts */
	bool lacks_here;                 /* the worker gives back jobs that run in a directory of its machine */
	bool owners_only;                /* the worker takes only jobs of the master's owner */
	unsigned labels;                 /* bits by graph_label_names */
	uint64_t offers[SIM_KINDS];      /* resources that the worker's present keeper offers, by graph_kind_names */
	struct resource_list offer_list;
	unsigned pool;                   /* the worker's pool, as an index in graph_pool_names */
	uint64_t instance;
	bool keeper_up;
	bool welcomed;
	int64_t hello_ns, welcomed_ns, lease_ms;
	int64_t paused_until_ns;         /* the keeper is paused until then */
	int64_t cut_until_ns;            /* the network between worker and master is down until then */
	int64_t deaf_until_ns, mute_until_ns;    /* until then, messages in one direction are delayed */
	int64_t full_until_ns;           /* the worker's disk is full until then */
	struct sim_link link;
	struct sim_conn *conn;           /* the link's connection to the master */
	struct ledger *ledger;
	struct process *processes;
	size_t process_count, process_cap;
	struct spooled *spool;
	size_t spool_count, spool_cap;
};

struct sim_turn {
	struct outbox outbox;            /* the turn's outbox; first member, because the commit queue points to it */
	uint64_t hash_after;
	struct now now;
	int64_t decided_ns;              /* when the turn was decided, by the world's own clock */
	int64_t wall_offset_ms;
	/* what watchers of values are sent with the turn; conn 0: nothing */
	struct { uint64_t conn; struct message *message; } pages[SIM_WATCHERS];
};

struct sim_prune {                       /* rows that the master read and will prune in a later turn */
	struct row *rows;
	size_t count, cap;
	struct arena arena;
	uint64_t as_of;
};

struct sim_master {
	bool up;
	struct sim_prune prune;
	struct core *core;
	struct outbox *deciding;         /* outbox of the turn that is being decided */
	struct commit_queue commits;
	struct outbox **committing;      /* turns that were handed to the store, oldest first */
	size_t commit_count, commit_cap;
	size_t batch;                    /* how many of the turns in `committing` are in the transaction under way */
	/* number of the master's process; events planned for an earlier one do nothing */
	uint64_t life;
	struct event *inbox;
	size_t inbox_count, inbox_cap;
	bool turn_planned;
	uint64_t turn_number;            /* number of the latest planned turn, which replaces earlier plans */
	int64_t due_planned_ns, lease_ms;
	int64_t paused_until_ns, full_until_ns, slow_until_ns;
	bool commit_fails;               /* true: the next commit fails */
};

struct oracle_job;

struct sim_act {                         /* a request of the client, by its number */
	uint64_t run, value;
	enum act_verb verb;
	bool whole;                      /* the act is about the whole run */
	const struct rec_job_spec *spec; /* the named job; NULL: none */
	uint64_t job, person;            /* of a vote: serial number of the gate, and principal */
	uint8_t digest[32];              /* of a vote: the digest of what the person was shown */
	size_t digest_len;               /* 0: the person was shown nothing */
	uint32_t round;                  /* round of the gate when it was shown */
	enum object_kind kind;           /* of SET: the kind of object, such as a worker or a pool */
	enum set_verb set;
	uint32_t object;                 /* of SET: index of the object */
	uint64_t number;                 /* of SET: its meaning depends on kind */
	const struct sim_schedule *schedule;     /* of SET with PUT: the schedule that is set */
	uint64_t fence;                  /* fencing number in the master's answer */
	/* of CANCEL: the jobs that it covers, and the round that each had when the cancel was decided */
	uint64_t *jobs;
	uint32_t *rounds;
	uint32_t job_count;
};

struct oracle_worker {                   /* a worker as the latest turn left it, by its index */
	uint64_t number;                 /* number of the worker; 0: it never connected, or was forgotten */
	enum worker_standing standing;
	uint64_t newest_conn;
	uint64_t offers[SIM_KINDS];      /* resources that the worker offered in its latest HELLO */
	unsigned pool;
	uint64_t conn;                   /* the connection that the master surely believes alive; 0: none */
	int64_t heard_ns;
	struct sim_load load;
	bool load_known;
	/* when the worker sent its latest HELLOs to the present process of the master */
	int64_t hellos_ns[LIMIT_FLAP_DROPS - 1];
	int64_t refused_ns;              /* when the worker last returned a job that it couldn't start; 0: never */
};

struct oracle_schedule {                 /* a schedule, durable */
	const struct sim_schedule *said;         /* the schedule as a person set it last; NULL: it doesn't exist */
	struct row_schedule row;         /* the schedule's row, numbers only */
	uint64_t live;                   /* number of live runs of the schedule */
	uint64_t last_begun;             /* number of the schedule's latest run */
	unsigned stalled;                /* consecutive turns in which a waiting run could have begun and didn't */
};

struct oracle_tenant {                   /* a tenant as the latest turn left it */
	uint32_t weight, limit, most;    /* weight, and limits of active and of queued jobs; 0: no limit */
	uint32_t least;                  /* smallest weight that the tenant ever had; 0: never set */
	uint32_t given;                  /* number of the tenant's jobs assigned in this turn */
};

struct oracle_share_pair {               /* for two tenants: jobs that each was given while both had more waiting */
	uint64_t a, b;
};

struct oracle {
	struct oracle_tenant tenants[SIM_TENANTS];
	struct oracle_share_pair shares[SIM_TENANTS * SIM_TENANTS];
	struct oracle_schedule schedules[SIM_SCHEDULES];
	/* rows are being loaded at the master's start, during which no schedule fires */
	bool loading;
	struct oracle_worker workers[SIM_WORKERS_MAX];
	enum pool_state pools[SIM_POOLS];
	unsigned provides[SIM_POOLS];    /* bits of capabilities */
	unsigned topics[SIM_PATTERNS];   /* index + 1 of the pool to which the pattern is mapped; 0: none */
	uint32_t groups[SIM_GROUPS];     /* limits of concurrency groups that people set; 0: none */
	struct oracle_hold {             /* a person's hold of a lock; fence 0: none */
		uint64_t fence, ttl_ms;
		bool shared;
		int64_t since_ns;        /* when the lock was taken or renewed */
	} holds[SIM_LOCKS][SIM_OWNERS], holds_durable[SIM_LOCKS][SIM_OWNERS];
	uint64_t fence;                  /* largest fencing number in any answer */
	struct map jobs;                 /* all jobs: map from serial number to struct oracle_job */
	struct map runs;                 /* durable runs: map from run number to struct sim_graph */
	int64_t act;                     /* number of the latest durable act, followed by its hash */
	uint8_t act_hash[SHA256_SIZE];
	struct map held_runs;            /* runs that are held, as the latest turn left them */
	/* first serial number of the latest added part among the rows of this turn */
	uint64_t came;
	uint64_t starts, results;
	int64_t decided_ns;              /* when the turn that is becoming durable was decided */
	int64_t wall_offset_ms;          /* the wall clock's error at that time */
	/* when a reboot took a wrong wall clock as the time that had passed; 0: never */
	int64_t wrong_ns;
};

struct sim_world {
	uint64_t seed;
	struct rand_state rand;
	int64_t now_ns;
	int64_t wall_offset_ms;          /* error of all machines' wall clocks */
	uint64_t boots;                  /* reboots of the master's machine */
	int64_t boot_ns;                 /* when the master's machine was last rebooted */
	int64_t up_ns;                   /* when the master's present process started */
	struct event *heap;
	size_t heap_count, heap_cap;
	uint64_t order;
	uint64_t next_conn, next_process;
	struct map conns;
	struct disk disk;
	struct sim_master master;
	struct sim_worker workers[SIM_WORKERS_MAX];
	uint32_t worker_count;
	struct sim_conn *client_conn;
	struct sim_graph **graphs;       /* all graphs, including runs of schedules and sub-runs */
	size_t graph_count, graph_submitted, graph_target;
	struct sim_schedule **schedules;
	size_t schedule_count;
	/* bits of the tenants that were set once; afterwards only people change them */
	unsigned tenants_set;
	bool scheduling;                 /* people add schedules */
	size_t client_steps;
	struct sim_act *acts;
	size_t act_count, act_cap;
	struct oracle oracle;
	struct sim_values *values;       /* NULL: nobody uses values */
	uint64_t features;               /* FEATURE_ bits that the graphs of this schedule may have */
	bool faults;                     /* true: faults still happen; false: everything must come to rest */
	bool fair;                       /* all jobs ask for the same, and only their tenants differ */
	bool lengthy;                    /* jobs last longer than keepers, connections and offers */
	bool crowded;                    /* tenants have small limits of queued jobs */
	bool brittle;                    /* many attempts can't be started */
	bool laden;                      /* the workers' machines have other load and report it */
	bool hasty;                      /* leases and graces are short, so that they often end */
	int64_t ending_ms;               /* the time that LIMIT_ENDING_MS stands for in this world */
	int64_t slow_until_ns;           /* the network is slow until then */
	int64_t stopped_until_ns;        /* when the latest pause of the master ends */
	int64_t calm_ns;                 /* when the faults stopped */
	unsigned fault_percent, fail_percent;
	uint64_t trace;                  /* hash of everything that happened */
	bool story;                      /* the story of the schedule is printed */
	uint64_t events_done;
};

struct sim_totals {
	uint64_t schedules, failures, hash, events, starts, moves[STATE_COUNT][EVENT_COUNT][STATE_COUNT];
};

extern struct sim_totals sim_totals;
extern const char *sim_failure;

/* prune.c */
bool prune_some(struct sim_world *world);        /* returns false if nothing is left to prune */
bool prune_left(const struct sim_world *world);  /* returns true while something is left to prune */
void prune_forget(struct sim_world *world);      /* drops the rows that were read */

/* moves.c */
bool moves_print(uint64_t least);

/* world.c */
void world_run(struct sim_world *world, uint64_t seed, bool story);
void world_free(struct sim_world *world);
struct event *world_plan(struct sim_world *world, int64_t after_ns, enum happening what, uint32_t who);
uint64_t world_rand(struct sim_world *world, uint64_t limit);
bool world_chance(struct sim_world *world, unsigned per_mille);
void world_clock_set(struct sim_world *world);
struct now world_time(const struct sim_world *world);
/* time by the clocks of the master's machine, which may have been rebooted */
struct now master_time(const struct sim_world *world);
void world_note(struct sim_world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void world_fail(struct sim_world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct sim_conn *conn_make(struct sim_world *world, uint32_t who);
void conn_break(struct sim_world *world, struct sim_conn *conn);
void conn_reset(struct sim_world *world, struct sim_conn *conn);
void conn_close(struct sim_world *world, struct sim_conn *conn, bool silently);
void conn_to_master(struct sim_world *world, struct sim_conn *conn, struct message *message);
void conn_to_peer(struct sim_world *world, uint64_t conn_id, struct message *message);
struct message *message_make(enum opcode op);
void message_free(struct message *message);

/* faults.c */
void faults_begin(struct sim_world *world);
void fault_happens(struct sim_world *world, uint64_t kind);

/* master.c */
void sim_master_boot(struct sim_world *world);
void sim_master_crash(struct sim_world *world);
void sim_master_receive(struct sim_world *world, const struct event *event);
void sim_master_turn(struct sim_world *world);
void sim_master_commit_done(struct sim_world *world);
void turn_free(struct outbox *outbox);                  /* frees the sim_turn that the outbox begins */
/* Give a request to the core in the name of a person, and let the oracle see what it produced. */
void sim_master_ask(struct sim_world *world, struct core_input *input, uint64_t principal);
void sim_master_clock(struct sim_world *world);         /* called when the master's wall clock was set */

/* worker.c */
void sim_worker_boot(struct sim_world *world, struct sim_worker *worker);
void sim_worker_keeper_crash(struct sim_world *world, struct sim_worker *worker, bool machine);
void sim_worker_tell_everything(struct sim_world *world, struct sim_worker *worker);
void sim_worker_receive(struct sim_world *world, struct sim_worker *worker, const struct message *message);
/* The files of an attempt are in place, or can't be. */
void sim_worker_staged(struct sim_world *world, struct sim_worker *worker, uint64_t job, uint64_t epoch);
void sim_worker_job_end(struct sim_world *world, struct sim_worker *worker, uint64_t process, bool killed);
void sim_worker_lease_end(struct sim_world *world, struct sim_worker *worker);
void sim_worker_beat(struct sim_world *world, struct sim_worker *worker);
void sim_worker_free(struct sim_worker *worker);
bool sim_worker_at_rest(const struct sim_worker *worker);

/* link.c */
void link_boot(struct sim_world *world, struct sim_worker *worker);
void link_crash(struct sim_world *world, struct sim_worker *worker, bool alone);
void link_connect(struct sim_world *world, struct sim_worker *worker);
void link_beat(struct sim_world *world, struct sim_worker *worker, uint64_t life);
/* handle a message from the master */
void link_receive(struct sim_world *world, struct sim_worker *worker, struct event *event);
void link_from_keeper(struct sim_world *world, struct sim_worker *worker, const struct event *event);
void link_from_keeper_plan(struct sim_world *world, struct sim_worker *worker, struct message *message);
/* true: the message reached the keeper before its link died */
bool link_said(const struct sim_worker *worker, const struct event *event);

/* graph_people.c: what a person who approves gives for the fields of a gate */
enum sim_given { SIM_GIVEN_NONE, SIM_GIVEN_A, SIM_GIVEN_B, SIM_GIVEN_WRONG, SIM_GIVEN_COUNT };
struct slice_list sim_given(enum sim_given given);

/* client.c, client_people.c */
#define PERSON(name, weight, what) bool person_##name(struct sim_world *world, const struct sim_graph *graph);
#define TIDY(name, what) void tidy_##name(struct sim_world *world, const struct sim_graph *graph);
#include "topics.def"
#undef PERSON
#undef TIDY
/* Send a vote on the index-th job, based on what it shows now, or (old) on what an earlier voter was shown. */
void client_answer_given(struct sim_world *world, const struct sim_graph *graph, enum act_verb verb, uint32_t index, bool old,
			 const struct rec_job_spec *target, uint64_t person, enum sim_given given);
void client_answer(struct sim_world *world, const struct sim_graph *graph, enum act_verb verb, uint32_t index, bool old,
		   const struct rec_job_spec *target, uint64_t person);
void client_act(struct sim_world *world, const struct sim_graph *graph, enum act_verb verb, uint64_t value,
		const struct rec_job_spec *job, uint64_t person);        /* job: NULL for the whole run */
void client_set(struct sim_world *world, enum object_kind kind, enum set_verb verb, uint32_t object);
void client_set_number(struct sim_world *world, enum object_kind kind, enum set_verb verb, uint32_t object, uint64_t number);
struct sim_act *client_act_new(struct sim_world *world, uint64_t *ret_request);
void client_tidy_schedules(struct sim_world *world);
void client_admit_all(struct sim_world *world);
void client_schedule_free(struct sim_world *world);
void client_step(struct sim_world *world);
void client_receive(struct sim_world *world, const struct message *message);
bool client_at_rest(const struct sim_world *world);

void link_forget_contexts(struct sim_worker *worker);

/* graph_artifacts.c: what an attempt leaves follows from its job and epoch; EARLY: it names its files when it starts, too */
enum sim_artifacts { SIM_ARTIFACTS_RIGHT, SIM_ARTIFACTS_EARLY, SIM_ARTIFACTS_FAULT, SIM_ARTIFACTS_NONE };
enum sim_artifacts sim_artifacts_kind(uint64_t job, uint64_t epoch);
void sim_artifacts_hash(uint64_t job, uint64_t epoch, uint8_t ret_hash[SHA256_SIZE]);
/* Tell the core which files these attempts leave that started, or whose processes end now. */
void sim_artifacts_started(struct sim_world *world, const struct rec_started *at, size_t count);
void sim_artifacts_ended(struct sim_world *world, const struct rec_done *at, size_t count);

/* graph_outputs.c: what an attempt puts out follows from its job and epoch */
enum sim_outputs { SIM_OUTPUTS_RIGHT, SIM_OUTPUTS_MISSING, SIM_OUTPUTS_WRONG, SIM_OUTPUTS_UNDECLARED };
/* Let a noop or a sub-run compute the output c of the first output of this job. */
void job_computes(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, const struct rec_job_spec *from);
enum sim_outputs sim_outputs_kind(uint64_t job, uint64_t epoch);
void sim_outputs(const struct rec_job_spec *spec, uint64_t job, uint64_t epoch, struct buf *out);

/* oracle.c: events that the oracle checks; oracle.h lists the checks */
/* a turn was decided and isn't durable yet */
void oracle_turn(struct sim_world *world, const struct outbox *outbox);
void oracle_durable(struct sim_world *world, const struct outbox *outbox);       /* a turn just became durable */
void oracle_accepted(struct sim_world *world, struct sim_graph *graph, uint64_t run);
/* A person's request was handled: its results are the rows and frames of the turn from these indices on. */
void oracle_asked(struct sim_world *world, const struct core_input *input, const struct outbox *outbox, size_t rows, size_t frames);
void oracle_acted(struct sim_world *world, const struct sim_act *act);            /* the request was acknowledged */
/* called while the master handles the HELLO */
void oracle_hello(struct sim_world *world, uint32_t index, uint64_t conn, const struct message *hello);
/* called while the master handles a worker's message */
void oracle_heard(struct sim_world *world, const struct event *event);
/* The worker receives this attempt; the contexts of its slots arrived before. */
void oracle_told(struct sim_world *world, const struct sim_worker *worker, const struct rec_assign *assign);
/* the master was killed: turns that weren't durable never happened */
void oracle_crashed(struct sim_world *world);
void oracle_started(struct sim_world *world, const struct sim_worker *worker, uint64_t job, uint64_t epoch);
/* returns the specification of a durable job, or NULL */
bool oracle_runs_here(struct sim_world *world, uint64_t serial);  /* does the job run in a directory of a machine? */
void oracle_given_back(struct sim_world *world, const struct sim_worker *worker, uint64_t serial);
const struct rec_job_spec *oracle_spec(struct sim_world *world, uint64_t job);
void oracle_ended(struct sim_world *world, uint64_t job, uint64_t epoch);
/* called from time to time with an undisturbed worker */
void oracle_quiet(struct sim_world *world, const struct sim_worker *worker);
void oracle_paused(struct sim_world *world, const struct sim_worker *worker);
/* true: the run has a job in state unknown */
bool oracle_run_unknown(struct sim_world *world, uint64_t run);
/* returns 0 if the job isn't durable */
uint64_t oracle_serial(const struct sim_graph *graph, uint32_t index);
uint32_t oracle_round(struct sim_world *world, uint64_t job);                     /* returns the durable round */
bool oracle_job_unknown(struct sim_world *world, const struct sim_graph *graph, uint32_t index);
/* true: the job is a gate that waits for votes */
bool oracle_job_asks(struct sim_world *world, const struct sim_graph *graph, uint32_t index);
/* true: no worker can ever run the job */
bool oracle_job_hopeless(struct sim_world *world, const struct sim_graph *graph, uint32_t index);
bool oracle_run_held(struct sim_world *world, uint64_t run);
bool oracle_schedules_gone(const struct sim_world *world);
bool oracle_job_held(struct sim_world *world, const struct sim_graph *graph, uint32_t index);
void oracle_rest(struct sim_world *world);
void oracle_free(struct oracle *oracle);

#endif
