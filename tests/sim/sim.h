/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulator: one master, some workers and a client in one process, on a virtual clock, over an
 * unreliable network, with crashes of every part at any step. The core and the worker's ledger are the
 * product's own code. What the disk holds survives a crash; what was in flight may or may not.
 *
 * A schedule is a function of its seed. The oracle watches what really happened (processes, rows that
 * became durable, answers that were given) and knows nothing of how the core decides.
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
#define SIM_PEOPLE 4                     /* principal 1, sim, submits */
#define ACT_BASE UINT64_C(1000000)       /* requests of acts, behind those of graphs */

/* ---- graphs that the client makes (graph.c) ---- */

#define CONDITION_PARTS 4

enum sim_condition_kind { CONDITION_CONST, CONDITION_STATE, CONDITION_CODE, CONDITION_NOT, CONDITION_GATE };

struct sim_condition {
	enum sim_condition_kind kind;
	uint64_t need;                   /* STATE, CODE */
	uint64_t value;                  /* CONST; a mask; a code; GATE: least */
	enum expr_compare compare;
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
	bool invalid;                    /* must be refused */
	uint32_t max_jobs;
	uint32_t tenant;                 /* 0: who submits; else t1 to t3 */
	unsigned group;                  /* of the run as a whole, in graph_group_names, + 1; 0: none */
	uint32_t group_states;           /* the limit that it gives that */
	struct {                         /* the run, by the latest turn that said something of it */
		uint64_t run, first;     /* run 0: there is none */
		bool live, seated;
		bool sits_down;          /* in this turn */
	} decided;
	struct slice context;            /* a run_context record of all jobs, in the arena; or empty */
	struct rec_job_spec *jobs;       /* in the arena */
	struct sim_condition **needs_trees, **when_trees;        /* of jobs; NULL: the graph has none */
	struct sim_graph **subs;         /* of jobs: what runs instead of a command; NULL: the graph has none */
	unsigned within;                 /* how many graphs it is within */
	uint64_t features;
	bool borrowed;                   /* of a sub-run: all but itself is that of its graph */
	struct blob *body;
	struct arena arena;
	uint64_t run;                    /* as acknowledged; 0 until then */
	bool answered;
	uint64_t admitted;               /* the turn that took it and isn't durable; 0: none */
	const struct sim_schedule *schedule;     /* that began it: nobody submitted it */
	uint64_t first, durable_run;     /* serial number of its first job and its run, once durable */
	struct sim_graph *into;          /* what it is added to, or NULL: it is a run of its own */
	struct sim_parent *parents;      /* jobs of that run: needs of count + i */
	uint32_t parent_count;
	bool was_closed;                 /* its run has ended or was cancelled, at some time */
	int64_t submitted_ns;            /* decided, durably */
	uint64_t submitted_run;          /* as which */
	struct row_run last_row;         /* durable; numbers only */
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
	FEATURE_COUNT                    /* 64 at most */
};

#define JOB_FEATURE(name, per_mille, what) void job_##name(struct rand_state *rand, struct sim_graph *graph, \
							   struct rec_job_spec *job, uint32_t index);
#define GRAPH_FEATURE(name, per_mille, what) void graph_##name(struct rand_state *rand, struct sim_graph *graph);
#include "topics.def"
#undef JOB_FEATURE
#undef GRAPH_FEATURE

/* Beside others that were added to it, if it is added to one. */
struct sim_graph *graph_make(struct rand_state *rand, uint64_t number, uint32_t most, uint64_t features,
			     struct sim_graph *into, struct sim_graph *const *others, size_t other_count);
/* graph_grow.c: some of its jobs need jobs of the run that they are added to */
void graph_take_parents(struct rand_state *rand, struct sim_graph *graph, struct sim_graph *const *others,
			size_t other_count);
struct sim_graph *graph_make_within(struct rand_state *rand, uint64_t number, uint32_t most, uint64_t features,
				    unsigned within, struct sim_graph *into, struct sim_graph *const *others,
				    size_t other_count);
uint64_t graph_features_draw(struct rand_state *rand);
void graph_free(struct sim_graph *graph);
#define SIM_LABELS 3
#define SIM_KINDS 3                      /* of resources */
#define SIM_MOST 4                       /* of a kind, that a worker offers */
#define SIM_POOLS 3
#define SIM_TENANTS 3
#define SIM_GROUPS 3
#define SIM_LOCKS 3
#define SIM_OWNERS 2                     /* people who take locks */
extern const char *const graph_lock_names[SIM_LOCKS], *const graph_owner_names[SIM_OWNERS];
bool graph_names_lock(const struct rec_job_spec *job, unsigned lock, bool *ret_shared);
/* What people want of a lock, in the number of an act: owner, shared, and for how long. */
#define LOCK_NUMBER(owner, shared, ttl_ms) ((uint64_t)(owner) | (uint64_t)(shared) << 1 | (uint64_t)(ttl_ms) << 2)
#define LOCK_OWNER(number) ((unsigned)(number) & 1)
#define LOCK_SHARED(number) (((number) >> 1 & 1) != 0)
#define LOCK_TTL_MS(number) ((number) >> 2)
/* What a person sets of a tenant, as the number of an act: jobs that queue and that are out, 0 for any. */
#define TENANT_NUMBER(weight, limit, most) ((uint64_t)(most) << 16 | (uint64_t)(weight) << 8 | (limit))
#define TENANT_MOST(number) ((number) >> 16)
#define TENANT_WEIGHT(number) ((number) >> 8 & 255)
#define TENANT_LIMIT(number) ((number) & 255)
extern const char *const graph_group_names[SIM_GROUPS];
/* Does the job name this one, and which limit does it state? */
bool graph_names_group(const struct rec_job_spec *job, unsigned group, uint32_t *ret_states);
extern const char *const graph_label_names[SIM_LABELS];
extern const char *const graph_kind_names[SIM_KINDS];
extern const char *const graph_tenant_names[SIM_TENANTS];
extern const char *const graph_pool_names[SIM_POOLS];    /* the first is the default */
void graph_asks(const struct rec_job_spec *job, uint64_t ret_asks[SIM_KINDS]);
extern const char *const graph_people[SIM_PEOPLE];       /* by principal - 1 */

/* ---- schedules, in minutes of a clock that is so far from UTC (client_schedule.c) ---- */

#define SIM_SCHEDULES 2

struct sim_schedule {                    /* as somebody put it, once */
	uint32_t name;                   /* of sim_schedule_names */
	struct sim_graph *graph;
	uint64_t minutes;                /* bits */
	uint32_t hours;
	int32_t offset_s;
	char cron[200];
	struct rec_schedule_spec spec;
	uint8_t zone[12];
	bool borrowed;                   /* its key is that of another, and so is its graph */
	uint8_t digest[32];
};

extern const char *const sim_schedule_names[SIM_SCHEDULES];

/* ---- what is durable (disk.c) ---- */

struct disk_row {
	struct row row;
	struct arena arena;              /* its texts and blobs */
};

struct disk {
	struct name_map rows;            /* key bytes to struct disk_row */
	struct name_map buried;          /* what was pruned, for those who watch */
	struct disk_row **order;         /* as first put */
	size_t count, cap;
	uint64_t turn;                   /* latest applied */
	uint64_t hash_after;             /* of the core's state in that turn */
	struct now now;                  /* when it was decided */
};

void disk_apply(struct disk *disk, const struct outbox *outbox, uint64_t hash_after, struct now now);
const struct row *disk_get(const struct disk *disk, enum row_table table, uint64_t key);  /* buried ones, too */
bool disk_is_buried(const struct disk *disk, uint64_t run);
const struct row *disk_get_text(const struct disk *disk, enum row_table table, struct slice key);
enum err disk_load(const struct disk *disk, struct core *core, struct error *error);
void disk_free(struct disk *disk);

/* ---- messages and the world's events ---- */

struct sim_load {                        /* of a worker's machine, as it says */
	uint64_t cpu_permille, gpu_permille, start_us;
};

struct message {
	enum opcode op;
	struct sim_graph *graph;                 /* SUBMIT, ACCEPTED, ERROR to it */
	uint64_t request, run;
	enum act_verb verb;
	uint64_t value, principal;
	char job[16];                            /* of ACT; empty: the whole run */
	char target[16];                         /* of PUSHBACK */
	uint8_t digest[32];                      /* of a decision */
	size_t digest_len;
	enum object_kind kind;                   /* of SET */
	uint64_t number;                         /* of SET */
	const struct sim_schedule *schedule;     /* of SUBMIT */
	uint64_t offers[SIM_KINDS];              /* of HELLO */
	struct sim_load load;                    /* of HEARTBEAT */
	unsigned pool;
	struct rec_held *held;
	struct rec_assign *assign;
	struct blob *context;                    /* of CONTEXT, for slot value */
	struct rec_stop *stop;
	struct rec_attempt *attempts;            /* RECALL, ACK */
	struct rec_started *started;
	struct rec_done *done;
	size_t count;
	uint64_t instance;
	int64_t sent_ns, lease_ms;
	bool existing;
	enum err code;                           /* of ERROR */
};

enum happening {
	HAPPENS_TO_MASTER, HAPPENS_TO_WORKER, HAPPENS_TO_CLIENT, HAPPENS_GONE,
	HAPPENS_TURN, HAPPENS_COMMIT, HAPPENS_MASTER_BOOT, HAPPENS_CONNECT, HAPPENS_BEAT, HAPPENS_LEASE_END,
	HAPPENS_TO_KEEPER, HAPPENS_FROM_KEEPER, HAPPENS_LINK_BOOT, HAPPENS_LINK_BEAT,
	HAPPENS_PEER_GONE, HAPPENS_JOB_END, HAPPENS_KILL, HAPPENS_KEEPER_BOOT, HAPPENS_CLIENT, HAPPENS_FAULT,
};

struct event {
	int64_t at_ns;
	uint64_t order;
	enum happening what;
	uint32_t who;                    /* worker; SIM_WORKERS_MAX is the client */
	uint64_t a, b;
	struct message *message;
};

struct sim_conn {
	uint64_t id;
	uint32_t who;
	bool peer_open;                  /* the peer still uses it */
	bool master_open;                /* the master hasn't heard of its end */
	bool lossy;                      /* what was in flight when it broke is lost */
	int64_t last_to_master_ns, last_to_peer_ns;
};

/* ---- processes and the parts ---- */

struct process {
	uint64_t job, epoch;
	uint64_t id;
	bool alive;
	bool asked_to_stop;
	bool ours;                       /* a child of the present keeper: its status will be known */
	bool dies;                       /* with its keeper */
	int64_t started_ns;
};

struct spooled {
	uint64_t job, epoch;
	bool ended;
	bool started_written, ended_written;     /* not while the disk is full */
	bool acked;                      /* and that isn't written */
	int64_t at_ns;                   /* of the latest word in it; only the machine's death can lose it */
	struct rec_done result;
};

struct link_item {
	uint64_t job, epoch;
	enum attempt_phase phase;
	struct rec_started started;      /* job is 0 until it was told */
	struct rec_done done;
};

struct sim_link {
	bool up;
	bool listed;                     /* the keeper has said all it has */
	uint64_t life;
	int64_t cut_ns;                  /* what the one before this said until then was read */
	int64_t echo_ns;                 /* the master was heard */
	int64_t paused_until_ns;
	int64_t last_to_keeper_ns, last_to_link_ns;
	struct link_item *items;
	size_t count, cap;
	struct blob *contexts[LIMIT_WORKER_CONTEXTS];    /* of this connection, by slot */
};

struct sim_worker {
	char name[16];
	uint32_t index, slots;
	uint32_t contexts;               /* slots for those; 0: it doesn't know them */
	unsigned labels;                 /* bits, of graph_labels */
	uint64_t offers[SIM_KINDS];      /* of graph_kind_names; of its latest keeper */
	struct resource_list offer_list;
	unsigned pool;                   /* of graph_pool_names */
	uint64_t instance;
	bool keeper_up;
	bool welcomed;
	int64_t hello_ns, welcomed_ns, lease_ms;
	int64_t paused_until_ns;         /* its keeper */
	int64_t cut_until_ns;            /* the network between it and the master is down */
	int64_t deaf_until_ns, mute_until_ns;    /* one way of it */
	int64_t full_until_ns;           /* its disk */
	struct sim_link link;
	struct sim_conn *conn;           /* the link's, as the two before it */
	struct ledger *ledger;
	struct process *processes;
	size_t process_count, process_cap;
	struct spooled *spool;
	size_t spool_count, spool_cap;
};

struct sim_turn {
	struct outbox outbox;            /* first: the commit queue points to it */
	uint64_t hash_after;
	struct now now;
	int64_t decided_ns;              /* by the world's own clock */
	int64_t wall_offset_ms;
};

struct sim_prune {                       /* rows that were read, to be pruned in a later turn */
	struct row *rows;
	size_t count, cap;
	struct arena arena;
	uint64_t as_of;
};

struct sim_master {
	bool up;
	struct sim_prune prune;
	struct core *core;
	const struct outbox *deciding;   /* of the turn under way */
	struct commit_queue commits;
	struct outbox **committing;      /* handed to the store, oldest first */
	size_t commit_count, commit_cap;
	size_t batch;                    /* of them, in the transaction under way */
	uint64_t life;                   /* events of an earlier life do nothing */
	struct event *inbox;
	size_t inbox_count, inbox_cap;
	bool turn_planned;
	uint64_t turn_number;            /* of the plan that counts: a nearer one replaces it */
	int64_t due_planned_ns, lease_ms;
	int64_t paused_until_ns, full_until_ns, slow_until_ns;
	bool commit_fails;               /* the next one that ends */
};

struct oracle_job;

struct sim_act {                         /* of the client, by its request */
	uint64_t run, value;
	enum act_verb verb;
	bool whole;                      /* of the run */
	const struct rec_job_spec *spec; /* the job that was named, or NULL */
	uint64_t job, person;            /* of a decision: serial number, principal */
	uint8_t digest[32];              /* of what they were shown */
	size_t digest_len;               /* 0: they were shown nothing */
	uint32_t round;                  /* of the gate, as it was shown */
	enum object_kind kind;           /* of SET, which has no run: a worker or a pool */
	enum set_verb set;
	uint32_t object;                 /* its index */
	uint64_t number;                 /* of SET, by kind */
	const struct sim_schedule *schedule;     /* PUT */
	uint64_t fence;                  /* as it was answered */
	uint64_t *jobs;                  /* CANCEL: of the run, and their rounds, when it was decided */
	uint32_t *rounds;
	uint32_t job_count;
};

struct oracle_worker {                   /* a worker, by its index, as decided */
	uint64_t number;                 /* 0: none yet, or forgotten */
	enum worker_standing standing;
	uint64_t newest_conn;
	uint64_t offers[SIM_KINDS];      /* as it said last */
	unsigned pool;
	uint64_t conn;                   /* the master believes it on this one; 0: it may not */
	int64_t heard_ns;
	struct sim_load load;
	bool load_known;
	int64_t hellos_ns[LIMIT_FLAP_DROPS - 1];         /* its latest ones, to this master */
	int64_t refused_ns;              /* when it last gave a job back that it couldn't start; 0: never */
};

struct oracle_schedule {                 /* durable */
	const struct sim_schedule *said;         /* NULL: there is none */
	struct row_schedule row;         /* its numbers */
	uint64_t live;                   /* runs that haven't ended */
	uint64_t last_begun;             /* the number of the last one */
	unsigned stalled;                /* turns in which a run could have begun that waits in line */
};

struct oracle_tenant {                   /* as decided */
	uint32_t weight, limit, most;    /* that are out, and that queue; 0: no limit */
	uint32_t least;                  /* weight that it had; 0: nobody set one */
	uint32_t given;                  /* in this turn */
};

struct oracle_share_pair {               /* of two tenants: what they were given while both had more */
	uint64_t a, b;
};

struct oracle {
	struct oracle_tenant tenants[SIM_TENANTS];
	struct oracle_share_pair shares[SIM_TENANTS * SIM_TENANTS];
	struct oracle_schedule schedules[SIM_SCHEDULES];
	bool loading;                    /* what becomes durable is of a start: nothing fires in it */
	struct oracle_worker workers[SIM_WORKERS_MAX];
	enum pool_state pools[SIM_POOLS];
	uint32_t groups[SIM_GROUPS];     /* limits that people set; 0: none */
	struct oracle_hold {             /* of a lock, by a person; fence 0: not */
		uint64_t fence, ttl_ms;
		bool shared;
		int64_t since_ns;        /* taken, or taken again */
	} holds[SIM_LOCKS][SIM_OWNERS], holds_durable[SIM_LOCKS][SIM_OWNERS];
	uint64_t fence;                  /* largest that somebody was told */
	struct map jobs;                 /* serial to struct oracle_job */
	struct map runs;                 /* run to struct sim_graph, once durable */
	int64_t act;                     /* the latest act that is durable, and its hash */
	uint8_t act_hash[SHA256_SIZE];
	struct map held_runs;            /* decided */
	uint64_t came;                   /* serial number of what came last, of the turn's rows */
	uint64_t starts, results;
	int64_t decided_ns;              /* when what is being made durable was decided */
	int64_t wall_offset_ms;          /* then */
	int64_t wrong_ns;                /* since when a reboot may have taken the wall clock's word for a step */
};

struct sim_world {
	uint64_t seed;
	struct rand_state rand;
	int64_t now_ns;
	int64_t wall_offset_ms;          /* from the right time: clocks are set */
	uint64_t boots;                  /* of the master's machine */
	int64_t boot_ns;                 /* when the last one was */
	int64_t up_ns;                   /* when the master began to serve */
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
	struct sim_graph **graphs;       /* those of schedules among them */
	size_t graph_count, graph_submitted, graph_target;
	struct sim_schedule **schedules;
	size_t schedule_count;
	unsigned tenants_set;            /* bits, by this master or before: people change them from then on */
	bool scheduling;                 /* people add some */
	size_t client_steps;
	struct sim_act *acts;
	size_t act_count, act_cap;
	struct oracle oracle;
	uint64_t features;               /* FEATURE_ bits: what the graphs of this schedule may have */
	bool faults;                     /* the safety phase; later everything must come to rest */
	bool fair;                       /* all jobs want the same, and only their tenants differ */
	bool lengthy;                    /* jobs outlive keepers, connections and offers */
	bool crowded;                    /* tenants may have few jobs queued */
	bool brittle;                    /* much can't be started */
	bool laden;                      /* machines have other things to do, and say so */
	bool hasty;                      /* short leases and graces, so that they often end */
	int64_t ending_ms;               /* what LIMIT_ENDING_MS is in this world */
	int64_t slow_until_ns;           /* the network */
	int64_t stopped_until_ns;        /* latest end of a pause of the master */
	int64_t calm_ns;                 /* when the faults stopped */
	unsigned fault_percent, fail_percent;
	uint64_t trace;                  /* hash of all that happened */
	bool story;                      /* print it */
	uint64_t events_done;
};

struct sim_totals {
	uint64_t schedules, failures, hash, events, starts, moves[STATE_COUNT][EVENT_COUNT][STATE_COUNT];
};

extern struct sim_totals sim_totals;
extern const char *sim_failure;

/* prune.c */
bool prune_some(struct sim_world *world);        /* false: nothing of it is left to do */
bool prune_left(const struct sim_world *world);  /* some of it isn't gone */
void prune_forget(struct sim_world *world);      /* what was read */

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
struct now master_time(const struct sim_world *world);   /* by the clocks of its machine, which may have been rebooted */
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
void sim_master_clock(struct sim_world *world);         /* its wall clock was set */

/* worker.c */
void sim_worker_boot(struct sim_world *world, struct sim_worker *worker);
void sim_worker_keeper_crash(struct sim_world *world, struct sim_worker *worker, bool machine);
void sim_worker_tell_everything(struct sim_world *world, struct sim_worker *worker);
void sim_worker_receive(struct sim_world *world, struct sim_worker *worker, const struct message *message);
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
void link_receive(struct sim_world *world, struct sim_worker *worker, struct event *event);      /* of the master */
void link_from_keeper(struct sim_world *world, struct sim_worker *worker, const struct event *event);
void link_from_keeper_plan(struct sim_world *world, struct sim_worker *worker, struct message *message);
bool link_said(const struct sim_worker *worker, const struct event *event);      /* did it get that far? */

/* client.c, client_people.c */
#define PERSON(name, weight, what) bool person_##name(struct sim_world *world, const struct sim_graph *graph);
#define TIDY(name, what) void tidy_##name(struct sim_world *world, const struct sim_graph *graph);
#include "topics.def"
#undef PERSON
#undef TIDY
/* A decision on the index-th job: on what it shows now, or, if old, on what it was shown for an earlier one. */
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

/* oracle.c; who checks what: oracle.h */
void oracle_turn(struct sim_world *world, const struct outbox *outbox);          /* decided, not durable */
void oracle_durable(struct sim_world *world, const struct outbox *outbox);       /* just made durable */
void oracle_accepted(struct sim_world *world, struct sim_graph *graph, uint64_t run);
/* A person asked, and what the core made of it is behind these rows and frames of the turn. */
void oracle_asked(struct sim_world *world, const struct core_input *input, const struct outbox *outbox, size_t rows, size_t frames);
void oracle_acted(struct sim_world *world, const struct sim_act *act);            /* it was acknowledged */
void oracle_hello(struct sim_world *world, uint32_t index, uint64_t conn, const struct message *hello);  /* it is being decided */
void oracle_heard(struct sim_world *world, const struct event *event);           /* of a worker: it is being decided */
/* It gets this attempt; what the slots of its link hold came before. */
void oracle_told(struct sim_world *world, const struct sim_worker *worker, const struct rec_assign *assign);
void oracle_crashed(struct sim_world *world);                                    /* what was decided and not durable never was */
void oracle_started(struct sim_world *world, const struct sim_worker *worker, uint64_t job, uint64_t epoch);
const struct rec_job_spec *oracle_spec(struct sim_world *world, uint64_t job);    /* of a durable run's job, or NULL */
void oracle_ended(struct sim_world *world, uint64_t job, uint64_t epoch);
void oracle_quiet(struct sim_world *world, const struct sim_worker *worker);      /* now and then, of a worker in peace */
void oracle_paused(struct sim_world *world, const struct sim_worker *worker);
bool oracle_run_unknown(struct sim_world *world, uint64_t run);                   /* has it a job that waits for a person? */
uint64_t oracle_serial(const struct sim_graph *graph, uint32_t index);            /* 0: it isn't durable */
uint32_t oracle_round(struct sim_world *world, uint64_t job);                     /* durable */
bool oracle_job_unknown(struct sim_world *world, const struct sim_graph *graph, uint32_t index);
bool oracle_job_asks(struct sim_world *world, const struct sim_graph *graph, uint32_t index);      /* does it wait for people? */
bool oracle_job_hopeless(struct sim_world *world, const struct sim_graph *graph, uint32_t index);      /* does it wait for a worker that there isn't? */
bool oracle_run_held(struct sim_world *world, uint64_t run);
bool oracle_schedules_gone(const struct sim_world *world);
bool oracle_job_held(struct sim_world *world, const struct sim_graph *graph, uint32_t index);
void oracle_rest(struct sim_world *world);
void oracle_free(struct oracle *oracle);

#endif
