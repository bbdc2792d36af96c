/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the master share. Everything here belongs to the loop's thread. Sessions are named
 * by number across files and turns, never by pointer: a late answer finds nothing rather than rubbish.
 */
#ifndef TITAN_MASTER_INTERNAL_H
#define TITAN_MASTER_INTERNAL_H

#include <ev.h>

#include "base/histogram.h"
#include "base/map.h"
#include "core/core.h"
#include "core/view/view.h"
#include "master/budget.h"
#include "master/master.h"
#include "net/conn.h"
#include "net/listen.h"
#include "proto/limits.h"
#include "store/store.h"

#define TURNS_MAX         16                     /* decided and not yet revealed; then the inbox fills */
#define INBOX_BYTES_MAX   (16u << 20)            /* then connections aren't read */
#define REPLY_BYTES_MAX   (900u << 10)           /* of rows in one frame, as estimated */
#define REPLY_NODES_MAX   200000u                /* of values in one frame, as estimated */
#define QUERY_QUEUE_MAX   (2u << 20)             /* waiting for a peer before its next question is answered */
#define QUERIES_MAX       64                     /* of one connection, unanswered; then it isn't read */
/*
 * Output waiting to be written. A worker sends so much and no more before it hears that something was taken: what else
 * it says is always read. One that doesn't keep to it isn't read any more, and nobody who sends output is when all have
 * too much.
 */
#define LOG_SESSION_MAX   (2 * (size_t)LIMIT_OUTPUT_WINDOW)
#define LOG_QUEUE_MAX     ((size_t)256 << 20)
#define LOG_READERS_MAX   16                     /* readings that the logs have: more than the budgets allow */
#define LOG_READS_MAX     8                      /* of one connection, unanswered; then it isn't read */
#define SUBS_MAX          16                     /* of one connection */

/* ---- sessions ---- */

/* ---- who asks ---- */

enum reader { READER_STORE, READER_LOGS, READER_COUNT };
enum asker_class { ASKERS_PEOPLE, ASKERS_JOBS, ASKERS_CLASSES };

struct session_list { struct session *first, *last; };

struct askers {                          /* of one class */
	struct budget budget;
	struct session_list line;        /* those with questions, the next to be answered first */
	struct session_list held[READER_COUNT];  /* those whose next one waits until a reader has less to do */
	size_t unread;                   /* bytes of all of them that haven't left, or may not yet */
	size_t under_way[READER_COUNT];
	int64_t rest_until_ns;
	struct ev_timer rest_timer;
};

enum session_stage { SESSION_NEW, SESSION_INVENTORY, SESSION_OPEN };

/* Why a connection isn't read, as bits. */
enum pause_why { PAUSE_INBOX = 1, PAUSE_LOG = 2, PAUSE_QUERIES = 4, PAUSE_READS = 8, PAUSE_ENDING = 16 };

struct session {
	struct master *master;
	uint64_t id;                     /* never reused */
	struct conn *conn;
	enum session_stage stage;
	enum peer_kind kind;
	struct principal principal;      /* whose it is */
	role_set roles;                  /* since HELLO; before it none */
	struct caller caller;            /* the attempt whose it is; job 0: a person's, or a worker's */
	uint64_t own_run;                /* of that attempt */
	unsigned paused;                 /* bits of enum pause_why */
	bool closing;
	size_t unrevealed;               /* bytes for it in turns that aren't durable yet */
	size_t queries;                  /* unanswered */
	struct askers *askers;           /* of a client: its class */
	struct query *asked, *asked_last;        /* its questions in line, in order */
	struct session_list *list;       /* of askers, or NULL; */
	struct session *list_prev, *list_next;   /* its neighbours there */
	uint64_t sent_before;            /* when answers were last looked at (line_pressure.c) ... */
	unsigned still_ticks;            /* ... and how often it had taken next to nothing by then */
	size_t log_reads;                /* unanswered */
	struct ev_timer hello_timer;
	struct arena hello_arena;        /* of the next two, until the inventory is complete */
	struct input_hello hello;
	struct rec_held *held;
	size_t held_cap;
	struct upload *uploads;
};

/* ---- the inbox ---- */

struct inbox {
	struct arena arena;              /* of decoded messages, until the turn is over */
	struct core_input *inputs;
	size_t count, cap;
	size_t bytes;
};

/* ---- turns ---- */

struct peer_frames {                            /* frames for one connection, in a turn's bytes */
	uint64_t conn;
	size_t at, len;
	bool close;
	struct askers *askers;           /* whose unread bytes they are, or NULL */
};

struct master_turn {
	struct outbox outbox;            /* first: what the pipeline hands back is this turn */
	struct buf bytes;
	struct peer_frames *parts;
	size_t part_count, part_cap;
	bool end;                        /* when revealed, the master ends */
	bool awaited;                    /* somebody waits for it */
	bool hurried;                    /* never committed: answers that show what may not be durable */
	struct master_turn *next;        /* in the pool */
};

/* ---- questions ---- */

#define TARGET_MAX_LEN (LIMIT_NAME_MAX_LEN + 3)  /* NAME, or NAME[*] of a fan-out */
#define QUERY_IS_ACT 100              /* beside enum query_what: an act on what has left memory */
#define QUERY_IS_AGAIN 101            /* a run is submitted once more */
#define QUERY_IS_LOG_READ 102         /* when too many are under way already */

struct query {
	uint64_t conn, id;
	uint64_t what;
	uint64_t run, cursor, limit;
	uint64_t of_sub;                 /* the stamp of the subscription that this is a page of; 0: of none */
	bool live_only;                  /* RUNS: those in memory, below the cursor */
	uint8_t key[16];                 /* of AGAIN; its name is job, or empty */
	bool scoped;                     /* RUNS: those that the asker, a job, may see */
	enum act_verb verb;              /* of an act on a run that has left memory */
	bool own_only;                   /* likewise: it must be a run of whoever asks */
	uint64_t value;
	size_t job_len;
	uint8_t job[TARGET_MAX_LEN];
	struct store_query *found;       /* RUNS: what the store answered */
	struct msg_log_read log_read;    /* of LOG_READ */
	struct askers *askers;           /* the asker's class */
	bool under_way;                  /* it counts as one that the store has */
	struct query *next;
};

/* ---- the master ---- */

struct master_stats {
	uint64_t turns, inputs, frames_in, refused_frames, refused_connections, late_frames, results, sub_cuts, sub_drops;
	uint64_t sub_resumes, questions, askers_cut;
	uint64_t runs_pruned;
	struct histogram stall, job_run;
};

struct master {
	struct master_options options;
	struct ev_loop *loop;
	struct ev_prepare turn_watcher;
	struct ev_timer due_timer;       /* set to core_next_due */
	int64_t due_ns;                  /* what it is set to */
	struct ev_timer publish_timer, end_timer;
	struct ev_async store_wake, logs_wake;
	struct ev_check woken;
	struct ev_prepare about_to_sleep;
	int64_t woken_ns;
	struct ev_idle awake;            /* started: the loop won't sleep */
	bool again;                      /* a turn is wanted, whatever the inbox says */
	struct ev_signal sigterm, sigint;
	struct ev_io clock_watcher;      /* of a timer that ends when the wall clock is set */
	int clock_fd;
	struct conn_set *conns;
	struct listener *listener;
	struct map sessions;
	size_t unauthenticated;
	uint64_t next_conn;
	struct upload *uploads;          /* under way, on all connections */
	struct ev_timer upload_timer;    /* while there are any */
	struct upload_bound upload_bounds[UPLOADS_SCOPES];
	int64_t upload_yield_ns;
	size_t log_paused;               /* sessions paused for PAUSE_LOG, or more */
	struct principal owner;          /* the user that we run as */

	struct inbox inbox;
	bool inbox_was_full;
	struct askers askers[ASKERS_CLASSES];
	bool asked;                      /* a question may be answered that couldn't be before */
	struct askers *log_readers[LOG_READERS_MAX];     /* whose readings the logs have, a ring */
	size_t log_reader_first, log_reader_count;
	struct ev_timer pressure_timer;  /* runs while answers are over their bound */
	struct history *histories;       /* questions that the store has */
	size_t copies;                   /* of the store, under way */
	struct specs *specs;             /* of the finished run that was last asked for */
	struct core *core;
	struct store *store;
	struct logs *logs;
	struct buf live_runs;            /* u64 each, as loaded; until the logs were told */
	struct pipeline pipeline;
	size_t awaited;                  /* turns in it that somebody waits for */
	struct master_turn *pool;
	struct publisher *publisher;
	struct relay *relays;            /* connections of jobs */
	struct pruner *pruner;
	struct arena scratch;            /* of the turn that is being decided */
	struct {
		struct ev_timer timer;   /* active: until a quiet moment */
		size_t freed;            /* since the last, about */
		uint64_t inputs;         /* when the timer began */
	} quiet;
	struct now now;                  /* of it */

	bool serving;
	bool ending;                     /* nothing new is read */
	bool end_wanted;                 /* by a client; ... */
	bool end_workers;                /* ... when the workers are gone */
	uint64_t end_conn, end_request;
	bool closing_all;                /* every connection was told to close */
	struct error failure;            /* why it ends, if that is an error */
	struct master_stats stats;
};

/* master.c */
void master_serve(struct master *master);        /* what loading decided is durable, or can't be: there is no room */
void master_end(struct master *master, const char *why);         /* finish what is under way, then leave the loop */

/* master_loop.c */
void loop_init(struct master *master);
/* Called on other threads. */
void loop_wake_store(void *arg);
void loop_wake_logs(void *arg);

/* turn.c */
struct core_input *inbox_add(struct master *master, enum input_kind kind, const struct session *session,
			     uint64_t request, size_t bytes);
bool turn_wanted(const struct master *master);
void turn_run(struct master *master);
void turn_first(struct master *master, struct master_turn *turn);        /* what loading left behind */
void turn_settled(struct master *master);                       /* the store has some that are durable */
void turn_reveal(struct master *master);
struct master_turn *turn_new(struct master *master);
void turn_free(struct master *master, struct master_turn *turn);
void turn_pool_drop(struct master *master);      /* turns that wait to be used again */
void turn_pool_free(struct master *master);      /* and all others: the master ends */
void master_stay_awake(struct master *master);                   /* another turn, at once */

/* quiet.c */
void quiet_init(struct master *master);
void quiet_freed(struct master *master, size_t bytes);           /* so much was freed, or isn't needed any more */
void quiet_freed_jobs(struct master *master, uint64_t jobs);
void quiet_give_back(struct master *master);

/* reveal.c */
void reveal_outbox(struct master *master, struct master_turn *turn);
/* A reply that leaves with this turn; it is dropped when the connection is gone. */
void reveal_add(struct master *master, struct master_turn *turn, uint64_t conn, enum opcode op, const void *msg);
void reveal_error(struct master *master, struct master_turn *turn, uint64_t conn, uint64_t id,
		  const struct error *error);
void reveal_send(struct master *master, struct master_turn *turn);

/* session.c */
void session_accept_cb(int fd, void *owner);
void session_accept(struct master *master, int fd, const struct caller *caller);         /* caller: job 0 if none */
struct session *session_find(const struct master *master, uint64_t id);  /* NULL when it is gone */
void session_pause(struct session *session, enum pause_why why, bool pause);
void session_log_reads(struct session *session);        /* pause or not, by what it asked and has to take */
void session_pause_end(struct master *master, enum pause_why why);
void session_refuse(struct session *session, uint64_t id, const struct error *error);    /* tell, and go on */
void session_send(struct session *session, enum opcode op, const void *msg);
size_t session_queued(const struct session *session);            /* bytes that haven't left, or may not yet */
void session_free(struct session *session);      /* what it holds; its connection dies by itself */
void session_close_all(struct master *master);
size_t session_count(const struct master *master, enum peer_kind kind);

/* dispatch_frame.c: frames to inputs and questions */
enum err dispatch_frame(struct session *session, const struct frame *frame, struct error *error);

/* answer_page.c */
struct answer_page {                            /* rows for one frame */
	struct msg_snapshot snapshot;
	struct arena *arena;
	size_t limit, rows;
	size_t bytes, nodes;             /* so far, as estimated */
};

void page_begin(struct answer_page *page, struct arena *arena, const struct query *query);
/* false: it goes to the next page */
bool page_add_job(struct answer_page *page, const struct rec_job_row *row);
bool page_add_decision(struct answer_page *page, const struct rec_decision *row);
bool page_add_run(struct answer_page *page, const struct rec_run_row *row);
bool page_add_worker(struct answer_page *page, const struct rec_worker_row *row);
bool page_add_tenant(struct answer_page *page, const struct rec_tenant_row *row);
bool page_add_group(struct answer_page *page, const struct rec_group_row *row);
bool page_add_lock(struct answer_page *page, const struct rec_lock_row *row);
bool page_add_dead(struct answer_page *page, const struct rec_dead_row *row);
bool page_add_pool(struct answer_page *page, const struct rec_pool_row *row);
bool page_add_schedule(struct answer_page *page, const struct rec_schedule_row *row);
/* The cursor to go on with, or 0. */
uint64_t page_add_workers(struct master *master, struct answer_page *page, uint64_t after);

/* line.c: questions wait in a line for each connection; connections are answered by turns */
void line_init(struct master *master);
void line_open(struct session *session);         /* a client has said HELLO */
void line_add(struct session *session, struct query *query);
void line_add_first(struct master *master, struct query *query); /* what it waited for is there */
/* The session has room for answers again. */
void line_go_on(struct session *session);
/* True: it may ask the reader now, and counts as one that does until line_reader_done. Otherwise it's in line again. */
bool line_take_reader(struct master *master, struct query *query, enum reader reader);
void line_reader_done(struct master *master, struct askers *askers, enum reader reader);
void line_run(struct master *master, struct master_turn *turn);
void line_run_hurried(struct master *master);    /* those that may hurry, at once, while the store has no room */
void line_forget(struct session *session);       /* drops its questions */
void line_log_read(struct session *session, const struct msg_log_read *msg);
void line_log_answered(struct master *master);   /* the first of those that the logs have */

/* line_pressure.c: answers that nobody takes */
void pressure_init(struct master *master);
void pressure_look(struct master *master);       /* starts to watch who takes nothing, if there is too much */

/* queries.c */
struct query *query_new(struct session *session, uint64_t id, uint64_t what);    /* in line for this turn */
void query_free(struct master *master, struct query *query);     /* answered, or nobody waits for it */
void query_run(struct master *master, struct master_turn *turn, struct query *query);
bool query_may_hurry(uint64_t what);     /* is it answered while the store has no room? */
struct u64_list query_counts(struct master *master);
void query_no_run(const struct master *master, struct error *error, uint64_t run);
void query_no_job(struct error *error, const struct query *query);
/* Answered: the page goes with the turn. */
void query_finish(struct master *master, struct master_turn *turn, struct query *query, struct answer_page *page,
		  uint64_t cursor);
void query_refuse(struct master *master, struct master_turn *turn, struct query *query, const struct error *error);

/* query_runs.c */
void query_runs(struct master *master, struct master_turn *turn, struct query *query);
void query_jobs(struct master *master, struct master_turn *turn, struct query *query);
void query_job(struct master *master, struct master_turn *turn, struct query *query);
void query_gates(struct master *master, struct master_turn *turn, struct query *query);
void query_dead(struct master *master, struct master_turn *turn, struct query *query);

/* query_share.c */
void query_tenants(struct master *master, struct master_turn *turn, struct query *query);
void query_groups(struct master *master, struct master_turn *turn, struct query *query);
void query_locks(struct master *master, struct master_turn *turn, struct query *query);

/* serials.c */
struct graph_serials {
	const struct store_query *specs; /* of a run, all of them */
	size_t part;                     /* where it stands, and what that begins with */
	uint64_t index, first;
};

void serials_begin(struct graph_serials *serials, const struct store_query *specs, uint64_t first);
/* What is asked never falls. UINT64_MAX: there is no such job. */
uint64_t serials_of(struct graph_serials *serials, uint64_t index);
bool serials_index(struct graph_serials *serials, uint64_t job, uint64_t *ret_index);

/* uploads.c */
void uploads_init(struct master *master);
enum err uploads_admit(struct session *session, uint64_t bytes, struct error *error);    /* may it begin another? */
void uploads_add(struct session *session, struct upload *upload, uint64_t bytes);
enum err uploads_grow(struct upload *upload, uint64_t bytes, struct error *error);       /* may it? Then it is charged */
void uploads_refuse(struct upload *upload, const struct error *error);
void uploads_remove(struct upload *upload);      /* from those that are charged */

/* graphs.c */
/* The query's AGAIN: a submit of what the store has of the run. */
void graphs_again(struct master *master, const struct query *query, const struct row_run *run,
		  const struct store_query *specs);

/* relay.c */
void relay_forget(struct master *master, uint64_t conn);         /* those that came over this connection of a worker */
void relay_free_all(struct master *master);

/* scope.c */
bool scope_has_run(const struct session *session, uint64_t run);         /* of a job's connection */

/* history.c, history_page.c */
void history_ask(struct master *master, struct query *query);    /* takes it over; RUNS comes back with found set */
void history_answers(struct master *master);                     /* those that the store has ready */
void history_run_row(const struct row_run *row, struct arena *arena, struct rec_run_row *ret_row);
void history_reopened(struct master *master, struct history *history);   /* the core has taken its rows */
void history_free_answer(struct store_query *answer);            /* NULL is fine */
void history_free(struct master *master);

/* measures.c */
void metrics_start(struct master *master);
void metrics_results(struct master *master, const struct rec_done *items, size_t count);
void metrics_answer(struct master *master, struct master_turn *turn, const struct query *query);

/* pruner.c, pruner_step.c */
struct log_answer;
struct pruner *pruner_new(struct master *master);
void pruner_free(struct pruner *pruner);
void prune_start(struct master *master);                         /* it serves */
void prune_answer(struct master *master, struct store_query *answer);    /* to a question of the pruner; takes it over */
void prune_logs(struct master *master, struct log_answer *answer);       /* REMOVED, MEASURED */
void prune_stepped(struct master *master, const struct input_prune *prune);      /* its turn was decided */
size_t prune_left(const struct master *master);                  /* runs of which not all is gone */
void prune_revealed(struct master *master);                      /* turns were */

/* copies.c */
void copies_answer(struct master *master);                       /* those that are complete */
void copies_free(struct master *master);                         /* after the store has closed; nobody is told */

/* recent.c: what changed in the last turns */
struct recent;
struct recent *recent_new(size_t cap);                           /* 0: LIMIT_RECENT_CHANGES */
void recent_free(struct recent *recent);
void recent_add(struct recent *recent, const struct outbox *outbox);     /* each turn, in order */
uint64_t recent_turn(const struct recent *recent);               /* the last */
uint64_t recent_mark(const struct recent *recent, uint64_t turn);
bool recent_knows(const struct recent *recent, uint64_t mark, uint64_t *ret_turn);     /* all that changed after it? */
/* Newest first, those after that turn; begin with *back 0. NULL: no more. */
const struct changed *recent_before(const struct recent *recent, uint64_t turn, size_t *back);

/* publish.c, publish_delta.c */
struct publisher *publisher_new(const struct master_options *options);
void publisher_free(struct publisher *publisher);
enum err publish_subscribe(struct session *session, const struct msg_subscribe *msg, struct error *error);
bool publish_unsubscribe(struct session *session, uint64_t id);
void publish_forget(struct master *master, uint64_t conn);
void publish_collect(struct master *master, const struct outbox *outbox);
void publish_ask(struct master *master);                         /* puts the next pages in line */
void publish_flush(struct master *master, struct master_turn *turn);
/* Whose page it is may have unsubscribed since. */
bool publish_wants(const struct master *master, const struct query *query);
/* It is answered: what its snapshot says to resume with. */
uint64_t publish_page(struct master *master, const struct query *query, uint64_t cursor);
void publish_refused(struct master *master, const struct query *query);          /* there is no such thing */
void publish_workers(struct master *master, const struct query *query, uint64_t after);  /* didn't fit; 0: none */
bool publish_may_sweep(struct master *master);

#endif
