/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files of the dashboard: what it holds, and what each view offers. */
#ifndef TITAN_TUI_VIEWS_H
#define TITAN_TUI_VIEWS_H

#include "proto/limits.h"
#include "tui/app.h"
#include "tui/fold.h"
#include "tui/lanes.h"
#include "tui/model.h"
#include "tui/theme.h"

#define LOG_KEEP_BYTES 65536
#define LOG_KEEP_LINES 10000
#define DAG_NAME_MOST 28                 /* cells of a name in the graph */
#define WIDE_WIDTH 140                   /* from here on, side by side */

enum overlay { OVERLAY_NONE, OVERLAY_HELP, OVERLAY_CONFIRM, OVERLAY_FIND, OVERLAY_DECIDE };
enum link_state { LINK_CONNECTING, LINK_LIVE, LINK_STALE };

enum dag_row_kind { ROW_NODE, ROW_LINK, ROW_MEMBER, ROW_MORE };

struct dag_row {
	enum dag_row_kind kind;
	uint32_t lane_row;               /* in lanes.rows; lines beside it, of a member the lines go on */
	uint32_t node;
	uint32_t job;                    /* index; of a node its first member; of ROW_MORE how many more */
};

struct dag_view {
	struct fold fold;
	struct lanes lanes;
	struct dag_row *rows;
	size_t count, cap;
	struct map unfolded;             /* keys of groups */
	uint64_t unfold_changes;
	bool failures_only;
	bool built;
	uint64_t built_structure, built_failures, built_unfold;
	int built_cap;
	int name_width;                  /* what the longest name needs */
	bool built_failures_only;
	uint32_t job;                    /* selected: its index, or the first of its group */
	bool member;                     /* selected as one of a folded group */
	size_t top;
	int page, width;                 /* of the last picture */
};

struct log_line {
	char *text;                      /* escaped; may hold colours */
	uint32_t len;
	uint8_t stream;
	int64_t wall_ms;
};

struct log_view {
	uint64_t run, job, epoch;
	uint32_t index;                  /* in the graph */
	char name[160];                  /* escaped */
	uint64_t offset, request, dropped;
	uint64_t newest;                 /* of what passes by and won't be kept */
	bool begun;                      /* no longer to be read from near its end */
	bool known[2];                   /* offsets in the streams of what comes next */
	uint64_t next[2];
	bool asked, ended;               /* an answer is awaited; the last one had everything */
	int64_t asked_ms;
	struct log_line *lines;          /* a ring */
	size_t first, count, bytes;
	uint64_t forgotten;              /* lines that fell out */
	struct buf partial[2];           /* raw, without their newline yet */
	int64_t partial_ms[2];
	bool follow;
	size_t top;                      /* line at the top, counted from the first kept */
	int left, page;
};

struct view_target {                          /* what a confirmation is about, frozen when it was asked */
	uint64_t run;
	struct slice *jobs;              /* names; none for the whole run */
	size_t count;
	uint64_t live;
	char title[200];                 /* escaped */
	char examples[400];
	struct arena arena;
};

enum decide_field { DECIDE_REASON, DECIDE_TARGET };

struct decide_view {                     /* a decision on a gate, frozen when it was asked for */
	enum act_verb verb;
	uint64_t run, request;
	uint8_t job[LIMIT_NAME_MAX_LEN + 24];
	size_t job_len;
	bool known, confirm;             /* what it is about is shown; only y is missing */
	uint8_t digest[64];
	size_t digest_len;
	char question[300], unblocks[400], votes[80];    /* escaped */
	enum decide_field field;         /* that is being typed */
	char text[2][512];
	size_t len[2];
};

struct app {
	struct theme theme;
	struct model model;
	int width, height;
	enum view view;
	enum view back[8];
	size_t back_count;
	enum overlay overlay;
	int help_top;
	int help_lines, help_page;
	struct view_target target;
	struct decide_view decide;

	uint64_t run;                    /* selected; 0: none yet */
	uint64_t wanted_run;             /* asked for on the command line and not yet selected */
	uint64_t pinned_run;             /* stays selected though it isn't listed */
	size_t runs_top;
	int runs_page;
	bool runs_failures_only;
	uint64_t worker;
	bool worker_chosen;
	size_t workers_top;
	int workers_page;
	struct dag_view dag;
	struct log_view log;
	char find[128];
	size_t find_len;

	enum link_state link;
	char cluster[140];               /* escaped */
	enum role role;
	int64_t stale_ms, retry_at_ms;
	bool frozen;
	uint64_t frozen_count;
	int64_t frozen_ms;
	char notice[300];                /* escaped */
	bool notice_bad;

	uint64_t next_id, runs_id, graph_id;
	uint64_t act_first, act_id, act_sum;     /* of the last confirmed act: its requests, jobs so far */
	const char *act_word;                    /* what became of them */
	uint64_t look_run;               /* to be looked at, when it stays selected */
	int64_t look_ms;
	struct app_request *requests;
	size_t request_first, request_count, request_cap;
	struct arena decode, request_text;
	bool dirty;
	int64_t drawn_ms;
};

/* app_send.c: requests */
void send_subscribe_runs(struct app *app);
void send_look(struct app *app, uint64_t run); /* subscribes to its jobs, and no longer to the last one's */
void send_cancel(struct app *app, uint64_t run, struct slice job);
void send_act(struct app *app, const struct msg_act *act);       /* texts are copied */
uint64_t send_query_job(struct app *app, uint64_t run, struct slice job);        /* the request */
void send_log_read(struct app *app);
void send_want(struct app *app, enum app_want want);

/* dialog_decide.c: gates */
void decide_ask(struct app *app, enum action action);    /* of the selected job */
void decide_take(struct app *app, const struct msg_snapshot *msg);
bool decide_edits(const struct app *app);                /* text is typed: a paste is one, too */
void decide_key(struct app *app, uint32_t key);
void decide_draw(struct app *app, struct pane pane);

/* app_keys.c */
void edit_text(char *text, size_t *len, size_t size, uint32_t key);      /* a character more, or the last one less */
void app_notice(struct app *app, bool bad, const char *format, ...) __attribute__((format(printf, 3, 4)));
void app_go(struct app *app, enum view view);

/* view_home.c: Home and the list of runs */
void home_draw(struct app *app, struct pane pane, int64_t now_ms);
void runs_draw(struct app *app, struct pane pane, int64_t now_ms);
void runs_move(struct app *app, enum action action);
bool runs_find(struct app *app, int step);               /* moves to the next match; false if there is none */
void runs_choose(struct app *app);                       /* a selection, when there is none that exists */
/* view_home_needs.c */
size_t needs_draw(struct app *app, struct pane pane, size_t room, int64_t now_ms); /* how many there are */
size_t needs_count(const struct app *app);
/* view_home_cluster.c */
void cluster_draw(struct app *app, struct pane pane);
void events_draw(struct app *app, struct pane pane);

/* view_dag.c: rows and selection; view_dag_draw.c: how they look */
void dag_build(struct app *app, int width);
void dag_move(struct app *app, enum action action);
bool dag_find(struct app *app, int step);
void dag_fold(struct app *app);
void dag_forget(struct dag_view *dag); /* another run: nothing built, selected or unfolded */
const struct dag_row *dag_selected(const struct app *app);       /* NULL if there is none */
size_t dag_selected_at(const struct app *app);
void dag_draw(struct app *app, struct pane pane, int64_t now_ms);
/* view_job.c: a job in words */
/* How it is shown: DEAD over FAILED. */
const struct state_info *job_face(const struct tui_graph *graph, size_t index);
void job_outcome(const struct app *app, const struct tui_job *job, unsigned state, int64_t now_ms, char *out,
	size_t size);
void job_draw(struct app *app, struct pane pane, int64_t now_ms);
/* node_name: "encode[128]" or a job's own name, raw */
void node_name(const struct app *app, uint32_t node, struct buf *out);

/* view_workers.c */
void workers_draw(struct app *app, struct pane pane, int64_t now_ms);
void workers_move(struct app *app, enum action action);
bool workers_find(struct app *app, int step);

/* view_log.c */
void log_open(struct app *app, uint32_t index);
void log_take(struct app *app, const struct msg_log_data *msg);
void log_move(struct app *app, enum action action);
bool log_find(struct app *app, int step);
bool log_grows(const struct app *app);                   /* its job may still write */
void log_draw(struct app *app, struct pane pane);
void log_free(struct log_view *log);

/* view_help.c */
void help_draw(struct app *app, struct pane pane);
void hints_draw(struct app *app, struct pane pane);
void tabs_draw(struct app *app, struct pane pane);
void confirm_draw(struct app *app, struct pane pane);

/* The top row so that at is among page rows of count, moved as little as may be. */
size_t scroll_to(size_t top, size_t at, size_t page, size_t count);
/* Where a move leads from at in a list of count rows. */
size_t move_in(size_t at, size_t count, size_t page, enum action action);
bool name_matches(const struct app *app, struct slice name);     /* the search, in any case of letters */

#endif
