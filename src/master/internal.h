/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared by all files of the master. Everything here belongs to the loop's thread. From file to file and turn to turn a
 * session is named by its number, never by a pointer: so a late answer finds no session, instead of freed memory.
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
#include "master/rate.h"
#include "net/conn.h"
#include "net/listen.h"
#include "proto/limits.h"
#include "store/store.h"

/* most turns that are decided and not yet revealed; with so many, inputs wait in the inbox */
#define TURNS_MAX         16
#define INBOX_BYTES_MAX   (16u << 20)            /* with more bytes than this in the inbox, connections aren't read */
#define REPLY_BYTES_MAX   (900u << 10)           /* most bytes of rows in one frame, by estimate */
#define REPLY_NODES_MAX   200000u                /* most values in one frame, by estimate */
/* With more bytes than this waiting for a peer, its next query isn't answered yet. */
#define QUERY_QUEUE_MAX   (2u << 20)
/* Most unanswered queries of a connection; with so many it isn't read. */
#define QUERIES_MAX       64
/*
 * Output waiting to be written, in bytes. A worker may send this much before it must be told that some was taken, so
 * its other frames are always read. A worker that sends more isn't read any more; and if all workers together exceed
 * the total, no connection that sends output is read.
 */
#define LOG_SESSION_MAX   (2 * (size_t)LIMIT_OUTPUT_WINDOW)
#define LOG_QUEUE_MAX     ((size_t)256 << 20)
#define LOG_READERS_MAX   16                     /* most reads at the logs at once: more than the budgets allow */
/* Most unanswered log reads of a connection; with so many it isn't read. */
#define LOG_READS_MAX     8
#define SUBS_MAX          16                     /* most subscriptions of a connection */

/* ---- sessions ---- */

/* ---- askers: the clients of one class, people or jobs ---- */

enum reader { READER_STORE, READER_LOGS, READER_COUNT };
enum asker_class { ASKERS_PEOPLE, ASKERS_JOBS, ASKERS_CLASSES };

struct session_list { struct peer_session *first, *last; };

struct askers {                          /* all clients of one class (people or jobs), whose queries share a budget */
	struct budget budget;
	struct session_list line;        /* sessions with queries, in the order in which they get answers */
	/* sessions whose next query waits until the store or the logs have fewer */
	struct session_list held[READER_COUNT];
	/* bytes of answers to this class that weren't sent, or may not be sent yet */
	size_t unread;
	size_t under_way[READER_COUNT];
	int64_t rest_until_ns;
	struct ev_timer rest_timer;
};

enum session_stage { SESSION_NEW, SESSION_INVENTORY, SESSION_OPEN };

/* The reasons why a connection isn't read, as bits. */
enum pause_why { PAUSE_INBOX = 1, PAUSE_LOG = 2, PAUSE_QUERIES = 4, PAUSE_READS = 8, PAUSE_ENDING = 16, PAUSE_GOODS = 32 };

#define PEER_NAME_MAX 56                 /* an IPv6 address and a port */

struct peer_session {
	struct master *master;
	uint64_t id;                     /* number of the session, never used again */
	struct conn *conn;
	enum session_stage stage;
	enum peer_kind kind;
	struct principal principal;      /* the user at the other end of the connection */
	role_set roles;                  /* roles of the peer, set at HELLO; before that the peer has none */
	struct caller caller;            /* the attempt that made the connection; job 0: it is a person or a worker */
	bool remote;                     /* the connection came over TLS from another machine */
	char peer[PEER_NAME_MAX];        /* address of a peer on another machine */
	char token[LIMIT_TOKEN_ID_MAX + 1];      /* id of the token whose secret the peer proved to have; empty: none */
	/* id of the only token that the peer of this connection may use; empty: any */
	char only_token[LIMIT_TOKEN_ID_MAX + 1];
	int64_t token_made_ms, expires_ms;       /* when the token's secret was made; when it expires, 0: never */
	size_t goods_pending;            /* number of unanswered requests about contents of assets */
	uint64_t own_run;                /* run of the attempt that made the connection */
	uint64_t seen_run;               /* number of the principal's own run that was last found in the store */
	uint64_t version;                /* version of the protocol on this connection; 0 before HELLO */
	unsigned paused;                 /* reasons why the session isn't read, bits of enum pause_why */
	bool closing;
	size_t unrevealed;               /* bytes for this session in turns that aren't durable yet */
	size_t queries;                  /* number of unanswered queries */
	struct askers *askers;           /* the class to which a client belongs; NULL for a worker */
	/* the session's unanswered queries, in the order in which they came */
	struct query *asked, *asked_last;
	struct session_list *list;       /* the list of sessions with queries in which this session is; NULL: none */
	struct peer_session *list_prev, *list_next;   /* neighbours in that list */
	uint64_t sent_before;            /* bytes sent to the peer when line_pressure.c last checked */
	unsigned still_ticks;            /* number of checks since the peer last read a considerable amount */
	size_t log_reads;                /* number of unanswered log reads */
	struct peer_session *pending_prev, *pending_next;     /* neighbours in the list of those that haven't sent HELLO */
	struct moment_relay *past;       /* the connection to the master of an earlier time that answers; NULL: the present answers */
	/* In a master that shows an earlier time: for whom its asker asks. NULL: for the owner, who sees everything. */
	const struct shown_to *shown_to;
	struct ev_timer hello_timer;
	struct arena hello_arena;        /* memory of hello and held until the inventory is complete */
	struct input_hello hello;
	struct rec_held *held;
	size_t held_cap;
	struct upload *uploads;
};

/* ---- the inbox ---- */

struct inbox {
	struct arena arena;              /* memory of decoded messages until the turn is over */
	struct core_input *inputs;
	size_t count, cap;
	size_t bytes;
};

/* ---- turns ---- */

struct peer_frames {                            /* frames for one connection: a range of the turn's bytes */
	uint64_t conn;
	size_t at, len;
	bool close;
	struct askers *askers;           /* the class in whose unread bytes these frames are counted, or NULL */
};

struct master_turn {
	struct outbox outbox;            /* must be first: a pointer to the outbox is a pointer to the turn */
	struct buf bytes;
	struct peer_frames *parts;
	size_t part_count, part_cap;
	bool end;                        /* the master ends when this turn is revealed */
	bool awaited;                    /* a client waits for this turn */
	/* the turn only answers queries and is never committed: it may show state that isn't durable */
	bool hurried;
	struct master_turn *next;        /* next turn in the pool of unused turns */
};

/* ---- questions ---- */

#define TARGET_MAX_LEN (LIMIT_NAME_MAX_LEN + 3)  /* longest name of a job: NAME, or NAME[*] for a fan-out */
/* value of query.what besides enum query_what: an act on a run that has left memory */
#define QUERY_IS_ACT 100
#define QUERY_IS_AGAIN 101            /* value of query.what: submit the graph of an earlier run again */
#define QUERY_IS_LOG_READ 102         /* value of query.what: a log read in the line of queries */

struct query_filter {                    /* which rows a query about history wants */
	bool mine;                       /* only acts of this principal */
	uint64_t principal;
	uint64_t kinds, skip;            /* for EVENTS */
	bool wait;
	size_t by_len, verb_len;
	uint8_t by[LIMIT_NAME_MAX_LEN], verb[LIMIT_NAME_MAX_LEN];
};

struct shown_to {                        /* what a person may see of an earlier time (then.c) */
	struct shown_to *next;
	bool all;
	size_t count;
	uint64_t runs[];                 /* runs of others */
};

struct sight {                           /* which runs the sender of a query may see (sight.h) */
	const struct core *core;
	bool all;                        /* all runs */
	bool decides;                    /* the asker also sees the runs in which it decides */
	const struct shown_to *shown_to; /* of an earlier time: the runs of others that it sees; NULL: this is the present */
	char name[LIMIT_NAME_MAX_LEN + 1];       /* name of the asker's principal */
	uint64_t run;                    /* number of a run that the asker was found to see, in memory or not */
};

struct query {
	uint64_t conn, id;
	struct sight sight;
	bool unseen;                     /* the store has no run with this number that the asker may see */
	uint64_t what;
	uint64_t run, cursor, limit;
	uint64_t of_sub;                 /* stamp of the subscription whose snapshot needs this page; 0: none */
	bool live_only;                  /* query of runs: only runs in memory whose numbers are below the cursor */
	/* submit key of QUERY_IS_AGAIN; job then has the new run's name, or is empty */
	uint8_t key[16];
	bool scoped;                     /* query of runs: only those that the job that asks may see */
	bool reasons;                    /* RUNS and JOBS: also say why they wait */
	int64_t since_ms, until_ms;      /* RUNS: submitted at or after since, and before until; 0: any time */
	enum act_verb verb;              /* QUERY_IS_ACT: verb of the act */
	bool own_only;                   /* QUERY_IS_ACT: the run must belong to the person who asked */
	uint64_t value;
	size_t job_len;                  /* length of the name of a job; for RUNS: of the pattern for names of runs */
	uint8_t job[TARGET_MAX_LEN];
	struct store_query *found;       /* query of runs: the rows that the store returned */
	struct msg_log_read log_read;    /* the request of QUERY_IS_LOG_READ */
	struct query_filter *filter;     /* NULL: all rows are wanted */
	struct askers *askers;           /* the class of the client that sent the query */
	bool under_way;                  /* the query is counted among those at the store */
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
	struct ev_timer due_timer;       /* timer set to the time of core_next_due */
	int64_t due_ns;                  /* the time to which due_timer is set */
	struct ev_timer publish_timer, end_timer;
	/* timer of a master that shows an earlier time: ends the master when nobody sends queries any more */
	struct ev_timer then_timer;
	unsigned then_idle;
	uint64_t then_turn;
	struct shown_to *then_shown;     /* all lists that askers have had */
	struct ev_async store_wake, logs_wake, goods_wake;
	struct ev_check woken;
	struct ev_prepare about_to_sleep;
	int64_t woken_ns;
	struct ev_idle awake;            /* while this watcher is started, the loop doesn't sleep */
	bool again;                      /* run a turn even if the inbox is empty */
	struct ev_signal sigterm, sigint;
	struct ev_io clock_watcher;      /* watches clock_fd, a timer that is cancelled when the wall clock is set */
	int clock_fd;
	struct conn_set *conns;
	struct listener *listener;
	struct map sessions;
	struct pending_list {            /* connections that haven't sent HELLO, the oldest first */
		struct peer_session *first, *last;
		size_t count;
	} pending[2];                    /* from this machine, from others */
	struct listener *share;          /* the socket for other users of this machine; NULL: none */
	struct remote *remote;
	struct bridges *bridges;         /* bridges to workers; NULL: the master doesn't serve yet */
	struct rates rates;              /* counts how fast tokens send requests */
	uint64_t next_conn;
	struct upload *uploads;          /* uploads under way, on all connections */
	struct ev_timer upload_timer;    /* timer that runs while there are uploads */
	struct upload_bound upload_bounds[UPLOADS_SCOPES];
	int64_t upload_yield_ns;
	size_t log_paused;               /* number of sessions that are paused for PAUSE_LOG; may be too high */
	struct principal owner;          /* the user that runs the master */

	struct inbox inbox;
	bool inbox_was_full;
	struct askers askers[ASKERS_CLASSES];
	bool asked;                      /* a query that had to wait can be answered now */
	/* ring: which class sent each of the reads that the logs have, in order */
	struct askers *log_readers[LOG_READERS_MAX];
	size_t log_reader_first, log_reader_count;
	struct ev_timer pressure_timer;  /* timer that runs while a class has too many unread answers */
	struct query *waiting;           /* queries that wait for events */
	uint64_t events_turn;            /* the latest durable turn with events since this process started */
	struct history *histories;       /* list of the queries that the store is working on */
	size_t copies;                   /* number of backups under way */
	struct specs *specs;             /* graph of the ended run that was last asked for */
	struct core *core;
	struct store *store;
	struct logs *logs;
	struct goods *goods;             /* contents of assets; NULL: the master shows an earlier time, or no_goods says why */
	struct error no_goods;
	/* numbers (u64) of the runs loaded at the start; freed when the logs have them */
	struct buf live_runs;
	struct commit_queue commits;
	size_t awaited;                  /* number of turns in commits that clients wait for */
	struct master_turn *pool;
	struct publisher *publisher;
	struct samples *samples;         /* samples of the load */
	struct watch *watches;           /* watches of values */
	struct relay *relays;            /* relayed connections of jobs */
	struct moments *moments;         /* earlier times that clients asked for; NULL: none so far */
	struct moment_relay *moment_relays;
	struct pruner *pruner;
	struct arena scratch;            /* memory of the turn that is being decided */
	struct {
		struct ev_timer timer;   /* timer that runs until the master has been idle for a while */
		size_t freed;            /* bytes freed since memory was last given back, estimated */
		uint64_t inputs;         /* number of inputs (stats.inputs) when the timer was started */
	} quiet;
	struct now now;                  /* the time of the turn that is being decided */

	bool serving;
	bool ending;                     /* the master is ending: new frames aren't read any more */
	bool end_wanted;                 /* a client has requested the end of the master */
	bool end_workers;                /* the master ends as soon as the workers are gone */
	uint64_t end_conn, end_request;
	bool closing_all;                /* the master has told all connections to close */
	struct error failure;            /* the error that makes the master end, if any */
	struct master_stats stats;
};

/* master.c */
/* Start serving: what loading decided is durable, or can't become durable because the disk is full. */
void master_serve(struct master *master);
void master_end(struct master *master, const char *why); /* finish what the master has under way, then leave its loop */

/* then.c: a master that shows an earlier time */
void then_begin(struct master *master);
/* Note for whom the client asks. ERR_BUSY: too many different people ask. */
enum err then_asks_for(struct peer_session *session, const struct msg_hello *msg, struct error *error);
void then_free(struct master *master);

/* master_loop.c */
void loop_init(struct master *master);
/* The next three functions are called on other threads. */
void loop_wake_store(void *arg);
void loop_wake_logs(void *arg);
void loop_wake_goods(void *arg);

/* turn.c */
struct core_input *inbox_add(struct master *master, enum input_kind kind, const struct peer_session *session,
			     uint64_t request, size_t bytes);
bool turn_wanted(const struct master *master);
void turn_run(struct master *master);
/* Commit what the core decided while loading. */
void turn_first(struct master *master, struct master_turn *turn);
void turns_committed(struct master *master);                       /* reveal the turns that have become durable */
void turn_reveal(struct master *master);
struct master_turn *turn_new(struct master *master);
void turn_free(struct master *master, struct master_turn *turn);
void turn_pool_drop(struct master *master);      /* free the turns that wait to be reused */
void turn_pool_free(struct master *master);      /* free all turns at the end of the master */
void master_stay_awake(struct master *master);                   /* make the loop run another turn at once */

/* quiet.c */
void quiet_init(struct master *master);
/* Note that about this many bytes were freed or aren't needed any more. */
void quiet_freed(struct master *master, size_t bytes);
void quiet_freed_jobs(struct master *master, uint64_t jobs);
void quiet_give_back(struct master *master);

/* reveal.c */
void reveal_outbox(struct master *master, struct master_turn *turn);
/* Add a reply that is sent with this turn. If the connection is gone by then, the reply is dropped. */
void reveal_add(struct master *master, struct master_turn *turn, uint64_t conn, enum opcode op, const void *msg);
void reveal_error(struct master *master, struct master_turn *turn, uint64_t conn, uint64_t id,
		  const struct error *error);
void reveal_send(struct master *master, struct master_turn *turn);

/* peer_session.c */
void session_accept_cb(int fd, void *owner);
/*
 * Is there room for one more connection? May close another one that hasn't sent HELLO. remote: the new one comes from
 * another machine.
 */
bool session_has_room(struct master *master, bool remote);
/* Close a connection that has no session yet, and tell the peer why as far as that needs no waiting. */
void session_turn_away(int fd, const struct error *error);
struct peer_session *session_new(struct master *master, struct transport *transport, const struct caller *caller, bool remote);
void session_is_open(struct peer_session *session);      /* HELLO is complete: the peer is known */
void session_fail(struct peer_session *session, const struct error *error);      /* send the error, then close */
/* caller: the attempt that connects; job 0: a person or a worker connects. */
void session_accept(struct master *master, int fd, const struct caller *caller);
/* Find a session by its number; NULL: it is gone. */
struct peer_session *session_find(const struct master *master, uint64_t id);
void session_pause(struct peer_session *session, enum pause_why why, bool pause);
/* Pause or resume reading from the session, by its unanswered log reads and unsent bytes. */
void session_log_reads(struct peer_session *session);
void session_pause_end(struct master *master, enum pause_why why);
/* Answer a request with an error; the connection goes on. */
void session_refuse(struct peer_session *session, uint64_t id, const struct error *error);
void session_send(struct peer_session *session, enum opcode op, const void *msg);
/* The number of bytes that weren't sent to the session, or may not be sent yet. */
size_t session_queued(const struct peer_session *session);
void session_free(struct peer_session *session); /* free what the session owns; its connection is freed separately */
void session_close_all(struct master *master);
size_t session_count(const struct master *master, enum peer_kind kind);

/* dispatch_frame.c: frames to inputs and queries */
enum err dispatch_frame(struct peer_session *session, const struct frame *frame, struct error *error);

/* answer_page.c */
struct answer_page {                            /* one page of an answer: the rows in one frame */
	struct msg_snapshot snapshot;
	struct arena *arena;
	const struct sight *sight;       /* of the asker */
	const struct store_query *past;  /* for rows of acts and events: the store's answer that they are from */
	uint64_t seen;                   /* number of the last run that the asker was found to see */
	size_t left_out;                 /* number of rows left out because the asker may not see them */
	size_t limit, rows;
	size_t bytes, nodes;             /* size of the page so far, by estimate */
	size_t series_cap, series_workers;       /* room for rows of series; number of workers whose series the page has */
};

void page_begin(struct answer_page *page, struct arena *arena, const struct query *query);
/* The page_add functions return false if the row doesn't fit and must go to the next page. */
bool page_add_job(struct answer_page *page, const struct rec_job_row *row);
bool page_add_decision(struct answer_page *page, const struct rec_decision *row);
bool page_add_part(struct answer_page *page, const struct rec_graph_part *row);
bool page_add_try(struct answer_page *page, const struct rec_try_row *row);
bool page_add_run(struct answer_page *page, const struct rec_run_row *row);
bool page_add_worker(struct answer_page *page, const struct rec_worker_row *row);
bool page_add_tenant(struct answer_page *page, const struct rec_tenant_row *row);
bool page_add_group(struct answer_page *page, const struct rec_group_row *row);
bool page_add_lock(struct answer_page *page, const struct rec_lock_row *row);
bool page_add_dead(struct answer_page *page, const struct rec_dead_row *row);
bool page_add_token(struct answer_page *page, const struct rec_token_row *row);
bool page_add_topic(struct answer_page *page, const struct rec_topic_row *row);
bool page_add_asset(struct answer_page *page, const struct rec_asset_row *row);
/* Is there room for a worker's series, so many with so many samples each? */
bool page_has_series_room(struct answer_page *page, size_t count, size_t samples);
void page_add_series(struct answer_page *page, const struct rec_series_row *row);
bool page_add_pool(struct answer_page *page, const struct rec_pool_row *row);
bool page_add_schedule(struct answer_page *page, const struct rec_schedule_row *row);
bool page_add_act(struct answer_page *page, const struct rec_act_row *row);
bool page_add_event(struct answer_page *page, const struct rec_event_row *row);
bool page_add_pruned(struct answer_page *page, const struct rec_pruned_row *row);
/* Add rows of workers with numbers above the given one. Return the cursor for the next page, or 0. */
uint64_t page_add_workers(struct master *master, struct answer_page *page, uint64_t after);

/* line.c: the queries of each connection wait in a line; connections get answers in turn */
void line_init(struct master *master);
void line_open(struct peer_session *session);         /* add a new client, which has sent HELLO, to its class */
void line_add(struct peer_session *session, struct query *query);
/* Put a query at the front of its line again, because the data that it waited for has come. */
void line_add_first(struct master *master, struct query *query);
/* Answer the session's queries, because it has room for answers again. */
void line_go_on(struct peer_session *session);
/*
 * May the query use the reader (the store or the logs) now? True: it is counted until line_reader_done. False: it was
 * put back in line.
 */
bool line_take_reader(struct master *master, struct query *query, enum reader reader);
void line_reader_done(struct master *master, struct askers *askers, enum reader reader);
void line_run(struct master *master, struct master_turn *turn);
/* While the store has no room: answer the queries that don't need a commit. */
void line_run_hurried(struct master *master);
void line_forget(struct peer_session *session);       /* drop the queries of a session that closes */
void line_log_read(struct peer_session *session, const struct msg_log_read *msg);
void line_log_answered(struct master *master);   /* note that the logs have answered their oldest read */

/* line_pressure.c: clients that don't read their answers */
void pressure_init(struct master *master);
/* If there are too many unread answers, start to watch which clients don't read. */
void pressure_look(struct master *master);

/* queries.c */
/* Make a query and put it in line. */
struct query *query_new(struct peer_session *session, uint64_t id, uint64_t what);
/* Free a query that was answered, or whose client is gone. */
void query_free(struct master *master, struct query *query);
void query_run(struct master *master, struct master_turn *turn, struct query *query);
bool query_may_hurry(uint64_t what);     /* true: such queries may be answered while the store has no room */
void query_no_run(const struct master *master, struct error *error, const struct query *query);
void query_no_job(struct error *error, const struct query *query);
/* Send the page with the turn and free the query. */
void query_finish(struct master *master, struct master_turn *turn, struct query *query, struct answer_page *page,
		  uint64_t cursor);
void query_refuse(struct master *master, struct master_turn *turn, struct query *query, const struct error *error);

/* query_runs.c */
void query_runs(struct master *master, struct master_turn *turn, struct query *query);
void query_jobs(struct master *master, struct master_turn *turn, struct query *query);
void query_job(struct master *master, struct master_turn *turn, struct query *query);
void query_gates(struct master *master, struct master_turn *turn, struct query *query);
void query_dead(struct master *master, struct master_turn *turn, struct query *query);

/* query_series.c */
void series_begin_turn(struct master *master);   /* the time of the turn is known, and nothing has happened in it yet */
void query_series(struct master *master, struct master_turn *turn, struct query *query);

/* query_specs.c */
void query_schedule_specs(struct master *master, struct master_turn *turn, struct query *query);

/* query_names.c */
void query_names(struct master *master, struct master_turn *turn, struct query *query);

/* query_share.c */
void query_tenants(struct master *master, struct master_turn *turn, struct query *query);
void query_groups(struct master *master, struct master_turn *turn, struct query *query);
void query_tokens(struct master *master, struct master_turn *turn, struct query *query);
void query_locks(struct master *master, struct master_turn *turn, struct query *query);

/* serials.c */
struct graph_serials {
	const struct store_query *specs; /* all rows of a run's specifications */
	/* the part of the graph at which the walk stands; index and first: the first job of that part */
	size_t part;
	uint64_t index, first;
};

void serials_begin(struct graph_serials *serials, const struct store_query *specs, uint64_t first);
/* Serial number of the job with this index, UINT64_MAX: there is none. Indices must not fall from call to call. */
uint64_t serials_of(struct graph_serials *serials, uint64_t index);
bool serials_index(struct graph_serials *serials, uint64_t job, uint64_t *ret_index);

/* uploads.c */
void uploads_init(struct master *master);
/* May the session begin another upload of this size? */
enum err uploads_admit(struct peer_session *session, uint64_t bytes, struct error *error);
void uploads_add(struct peer_session *session, struct upload *upload, uint64_t bytes);
/* May the upload grow by this much? If so, charge it. */
enum err uploads_grow(struct upload *upload, uint64_t bytes, struct error *error);
void uploads_refuse(struct upload *upload, const struct error *error);
void uploads_remove(struct upload *upload);      /* remove an upload from the list of all uploads */

/* graphs.c */
/* Do QUERY_IS_AGAIN: submit the run's graph, as the store has it, again. */
void graphs_again(struct master *master, const struct query *query, const struct row_run *run,
		  const struct store_query *specs);

/* relay.c */
/* Close the connections of jobs that came over this worker's connection. */
void relay_forget(struct master *master, uint64_t conn);
void relay_free_all(struct master *master);

/* scope.c */
/* May the job at the other end of this connection see the run? */
bool scope_has_run(const struct peer_session *session, uint64_t run);

/* history.c, history_page.c */
/* Ask the store; takes the query over. A RUNS query is passed on with its rows in found. */
void history_ask(struct master *master, struct query *query);
void history_answers(struct master *master);                     /* handle the answers that the store has ready */
void history_run_row(const struct row_run *row, struct arena *arena, struct rec_run_row *ret_row);
/* When a turn with events is durable, ask again for the queries that wait for events. */
void history_events_came(struct master *master);
void history_forget_waiting(const struct peer_session *session);         /* the session closes */
/* Called when the core has taken the rows of a run that is opened again. */
void history_reopened(struct master *master, struct history *history);
void history_free_answer(struct store_query *answer);            /* frees an answer of the store, which may be NULL */
void history_free(struct master *master);

/* measures.c */
void metrics_start(struct master *master);
void metrics_results(struct master *master, const struct rec_done *items, size_t count);
void metrics_answer(struct master *master, struct master_turn *turn, const struct query *query);

/* pruner.c, pruner_step.c */
struct log_answer;
struct pruner *pruner_new(struct master *master);
void pruner_free(struct pruner *pruner);
void prune_start(struct master *master);                         /* start pruning, when the master begins to serve */
/* Handle the answer to a query of the pruner; takes it over. */
void prune_answer(struct master *master, struct store_query *answer);
void prune_logs(struct master *master, struct log_answer *answer);       /* handle LOG_REMOVED and LOG_MEASURED */
/* Called when the turn with this step of pruning was decided. */
void prune_stepped(struct master *master, const struct input_prune *prune);
size_t prune_left(const struct master *master);                  /* return the number of runs that are partly removed */
/* called when turns have been revealed: continue pruning */
void prune_revealed(struct master *master);

/* copies.c */
void copies_answer(struct master *master);                       /* answer the clients whose backups are complete */
/* Free all backups after the store is closed; their clients get no answer. */
void copies_free(struct master *master);

/* recent.c: what changed in the latest turns */
struct recent;
/* cap: most changes to remember; 0: LIMIT_RECENT_CHANGES */
struct recent *recent_new(size_t cap);
void recent_free(struct recent *recent);
/* Add the changes of a turn; called for each turn, in order. */
void recent_add(struct recent *recent, const struct outbox *outbox);
uint64_t recent_turn(const struct recent *recent);               /* returns the number of the last turn added */
uint64_t recent_mark(const struct recent *recent, uint64_t turn);
/* Are all changes after the mark still known? */
bool recent_knows(const struct recent *recent, uint64_t mark, uint64_t *ret_turn);
/* Walk through the changes after that turn, newest first; *back begins at 0. NULL: no more. */
const struct changed *recent_before(const struct recent *recent, uint64_t turn, size_t *back);

/* assets.c */
/* Pause or resume reading from the session, by its unanswered requests about contents. */
void assets_pace(struct peer_session *session);
void assets_answer(struct master *master);                       /* send the answers that are ready */
/* Called when the turn is durable: contents follow the rows of assets. */
void assets_durable(struct master *master, const struct outbox *outbox);

/* values.c */
bool watches_end(struct peer_session *session, uint64_t id);
void watches_forget(struct master *master, uint64_t conn);
void watches_flush(struct master *master, struct master_turn *turn);
void watches_free(struct master *master);

/* publish.c, publish_delta.c */
struct publisher *publisher_new(const struct master_options *options);
void publisher_free(struct publisher *publisher);
enum err publish_subscribe(struct peer_session *session, const struct msg_subscribe *msg, struct error *error);
bool publish_unsubscribe(struct peer_session *session, uint64_t id);
void publish_forget(struct master *master, uint64_t conn);
void publish_collect(struct master *master, const struct outbox *outbox);
void publish_ask(struct master *master);                         /* ask for the next pages of snapshots */
void publish_flush(struct master *master, struct master_turn *turn);
/* Does a subscriber still wait for this page? It may have unsubscribed. */
bool publish_wants(const struct master *master, const struct query *query);
/* Called when a page was answered: returns the mark of its snapshot, with which a subscriber can resume. */
uint64_t publish_page(struct master *master, const struct query *query, uint64_t cursor);
/* Called when the object of a subscription doesn't exist. */
void publish_refused(struct master *master, const struct query *query);
/*
 * Send the workers that didn't fit into the snapshot, those with higher numbers than the given one, as changes; 0:
 * none.
 */
void publish_workers(struct master *master, const struct query *query, uint64_t after);
bool publish_may_sweep(struct master *master);

#endif
