/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values in a world: clients that read and change them, watchers, and what the oracle knows of both. A quarter of the worlds has
 * them (world->values); in a quarter of those there is nothing else, and the store is sometimes put back to a backup.
 */
#ifndef TITAN_SIM_VALUES_H
#define TITAN_SIM_VALUES_H

#include "sim.h"

#define VALUE_ASKS      (UINT64_C(1) << 40)      /* requests about values have request numbers from here on */
#define VALUE_CLIENTS   3
#define VALUE_WATCHERS  SIM_WATCHERS
#define VALUE_PEERS     (VALUE_CLIENTS + VALUE_WATCHERS)
#define VALUE_KEYS      6
#define VALUE_OPS       3                        /* most operations in one request */
#define VALUE_SIZE     16                       /* most bytes of a value */
#define VALUE_REVISION  40                       /* bits of a revision that count; the number of restores is above them */

enum { SIM_SPACE_CLUSTER, SIM_SPACE_DEFINITION, SIM_SPACE_RUN, SIM_SPACES };

struct sim_value {
	enum value_kind kind;
	uint64_t version;
	size_t len;
	char bytes[VALUE_SIZE];
	int64_t ttl_ms, since_ns;        /* how long it lasts (0: for ever), and since when */
};

struct sim_value_op {
	enum value_verb verb;
	unsigned key;
	uint64_t version, ttl_ms;
	int64_t by;
	char text[8];                    /* the value or the member */
};

struct sim_value_result {                /* a row of an answer */
	unsigned key;
	struct sim_value value;
	bool read;                       /* the row has the value's bytes */
	int64_t number;
};

struct sim_ask {                         /* a request as it was sent once */
	unsigned client, space;
	size_t first;                    /* index of the first request with this one's key: its own, if it has none or is the first */
	bool keyed;                      /* it has a request key, so the client repeats it until it is answered */
	struct sim_value_op ops[VALUE_OPS];
	size_t count;
	/* what was decided */
	bool stepped, changed, again;    /* again: a request before this one, with the same key, was done */
	uint64_t turn, revision;
	enum err code;
	struct sim_value_result rows[VALUE_KEYS];
	size_t row_count;
	size_t done_by;                  /* of a first request: index + 1 of the one that was done; 0: none */
};

struct sim_value_change {
	unsigned space, key;
	struct sim_value value;
};

struct sim_value_model {                 /* what the values must be after a turn */
	struct sim_value at[SIM_SPACES][VALUE_KEYS];
	uint64_t revision;               /* largest version of any change */
	size_t change_count;             /* number of changes so far */
	bool gone;                       /* the run was pruned, and its values with it */
};

struct sim_value_trial {                 /* a request that is being done to a copy of the model */
	struct sim_value_model model;
	uint64_t revision;
	int64_t now_ns;
	bool changed;
	bool touched[VALUE_KEYS];
};

struct sim_page {                        /* what a watcher is sent */
	uint64_t revision;
	bool compacted, more;
	size_t count;
	struct { unsigned key; struct sim_value value; } rows[VALUE_KEYS];
};

struct sim_watcher {
	uint64_t told;                   /* everything up to this revision was received */
	bool synced;                     /* a page was received on this connection */
	bool paging;                     /* there was more than the latest page on this connection */
	struct sim_value mirror[VALUE_KEYS];
};

struct sim_values {
	struct rand_state rand;
	bool alone;                      /* there are no graphs, and restores happen */
	struct sim_conn *conns[VALUE_PEERS];     /* of the clients, then of the watchers */
	size_t pending[VALUE_CLIENTS];   /* index + 1 of the request that waits for its answer; 0: none */
	unsigned steps[VALUE_CLIENTS];   /* number of requests that the client still makes */
	struct sim_watcher watchers[VALUE_WATCHERS];
	struct { uint64_t conn, told, began; bool due; } watches[VALUE_WATCHERS];        /* at the master; conn 0: none */
	uint64_t run;                    /* the run whose values the clients use; 0: none yet */
	struct sim_ask *asks;
	size_t ask_count, ask_cap;
	struct sim_value_change *changes;        /* all that were decided, in order */
	size_t change_cap;
	struct sim_value_model decided, durable;
	struct { uint64_t turn; struct sim_value_model model; } *turns;  /* decided, not durable, and with changes */
	size_t turn_count, turn_cap;
	int64_t changed_ns;              /* when the latest change was decided */
	uint64_t revealed;               /* largest revision in any answer that was sent */
	uint64_t restores;
	struct {
		bool made;
		struct disk disk;
		struct sim_value_model model;
		int64_t act;
		uint8_t act_hash[SHA256_SIZE];
		int64_t wall_offset_ms;
		uint64_t boots;
	} backup;
};

extern const char *const sim_value_keys[VALUE_KEYS];
extern const char *const sim_watch_prefixes[VALUE_WATCHERS];

/* client_values.c: what clients and watchers do */
void values_begin(struct sim_world *world);
void values_end(struct sim_world *world);
void values_step_peer(struct sim_world *world, uint32_t peer);
void values_receive(struct sim_world *world, uint32_t peer, const struct message *message);
bool values_asked_all(const struct sim_world *world);
bool values_at_rest(const struct sim_world *world);
void values_tell_unrest(struct sim_world *world);

/* values.c: the master's part */
void values_master_ask(struct sim_world *world, const struct event *event);
void values_master_watch(struct sim_world *world, const struct event *event);
void values_master_gone(struct sim_world *world, uint64_t conn);
/* At the end of a turn: add to the turn what watchers are sent when it is durable; true: there is more. */
bool values_master_flush(struct sim_world *world, struct sim_turn *turn);
/* Kill the master and put its store back to the backup. */
void values_restore(struct sim_world *world);
void values_backup(struct sim_world *world);

/* values_model.c: do the request to the copy, and note in it what its answer must be */
void values_model_do(struct sim_value_trial *trial, struct sim_ask *ask);

/* oracle_values.c */
void oracle_values_asked(struct sim_world *world, size_t ask, const struct outgoing *frame);
void oracle_values_revealed(struct sim_world *world, const struct outgoing *frame);
void oracle_values_page(struct sim_world *world, unsigned watcher, const struct sim_page *page);

#endif
