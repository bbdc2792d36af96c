/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the dashboard: its state, and what each view offers. */
#ifndef TITAN_TUI_VIEWS_H
#define TITAN_TUI_VIEWS_H

#include "proto/limits.h"
#include "tui/app.h"
#include "tui/fold.h"
#include "tui/lane_graph.h"
#include "tui/lanes.h"
#include "tui/line_edit.h"
#include "tui/list.h"
#include "tui/log_window.h"
#include "tui/model.h"
#include "tui/theme.h"

#define LOG_KEEP_BYTES (1u << 20)        /* about so much of a log is in memory */
#define LOG_MATCHES_MAX 10000
#define FIND_MOST 127                    /* most bytes of what is searched for */
#define OUTPUT_KEEP_LINES 10000
#define DAG_NAME_MOST 28                 /* most cells of a name in the graph */
#define WIDE_WIDTH 140                   /* from this width on, panes stand side by side, */
#define WIDER_WIDTH 220                  /* and from this one on the left one has more room */

enum overlay { OVERLAY_NONE, OVERLAY_HELP, OVERLAY_CONFIRM, OVERLAY_FIND, OVERLAY_GATE, OVERLAY_COMMAND, OVERLAY_OUTPUT };
enum link_state { LINK_CONNECTING, LINK_LIVE, LINK_STALE };

enum dag_row_kind { ROW_NODE, ROW_LINK, ROW_MEMBER, ROW_MORE };

struct dag_row {
	enum dag_row_kind kind;
	uint32_t lane_row; /* index into lanes.rows; for a failed member, the row whose lines continue beside it */
	uint32_t node;
	/* Index of the job; for a node, of its first member; for ROW_MORE, the number of further failed members. */
	uint32_t job;
};

struct dag_view {
	struct fold fold;
	struct lane_graph lane_graph;
	struct lanes lanes;
	struct dag_row *rows;
	size_t count, cap;
	struct map unfolded;             /* keys of unfolded groups */
	uint64_t unfold_changes;
	bool failures_only;
	bool built;
	uint64_t built_structure, built_failures, built_unfold;
	int built_cap;
	int name_width;                  /* cells that the longest name needs */
	bool built_failures_only;
	uint32_t job;                    /* the selected job's index; for a group, that of its first member */
	bool member;                     /* a single member of a folded group is selected */
	struct map reasons;              /* why visible jobs wait, by index */
	uint64_t reasons_id;             /* the question for them */
	bool chosen;                     /* a job was selected, by a person or when the graph had come */
	size_t top;
	int page, width;                 /* size of the last picture */
};

struct log_match {
	struct log_place place;          /* of the line */
	uint64_t from;                   /* position in the log file from which to read, so that the whole line comes */
};

struct log_search {                      /* a search through all of a log */
	char text[128];
	size_t len;                      /* 0: there is no search */
	uint64_t offset;                 /* the log has been searched up to this position of its file */
	struct buf partial[2];           /* raw bytes of a line whose newline hasn't come yet */
	struct log_match part[2];        /* its place */
	uint64_t next[2];
	struct log_match *matches;       /* in the order of the file */
	size_t count, cap;
	size_t at;                       /* number of the selected match, from 1; 0: none yet */
	int step;                        /* where to go as soon as there is a match: 1 forwards, -1 back, 0 nowhere */
};

enum log_read { LOG_READ_NONE, LOG_READ_END, LOG_READ_ON, LOG_READ_BACK, LOG_READ_HERE, LOG_READ_SEARCH };

struct log_view {
	uint64_t run, job, epoch;
	uint32_t index;                  /* index in the graph */
	char name[160];                  /* escaped */
	bool opened;
	struct log_window window, before;        /* before: pieces of a chunk before the window, until all of them are here */
	enum log_read reading;           /* what was asked for and hasn't been answered */
	uint64_t request;
	int64_t asked_ms, again_ms;      /* again_ms: nothing is asked before this time, because the master was busy */
	uint64_t size;                   /* how far the log file is known to reach */
	bool begun, ended;               /* begun: something was read; ended: the window reaches the log's end */
	bool stopped;                    /* the master refused to read on */
	uint64_t dropped, newest;        /* newest: number of the last piece of live tail that was shown */
	bool follow;
	size_t top;                      /* index of the line at the top */
	uint64_t new_lines;              /* how many lines came at the end of the log while it didn't follow */
	bool latest;                     /* the log is that of the job's newest try, and goes on with the next one */
	bool skip;                       /* output comes faster than it is read: go on at the end */
	int64_t grown_ms;                /* when the job was last seen to run */
	struct log_place wanted;         /* the line to go to when it is here */
	uint64_t wanted_from;
	bool wants;
	struct log_search search;
	struct rec_try_row *tries;       /* earlier tries; texts in them aren't kept */
	size_t try_count;
	uint64_t tries_id;               /* the question for them */
	uint64_t try_no;                 /* number of the shown try, if it is an earlier one */
	int try_step;                    /* where to go when it is answered */
	bool wraps, no_time;             /* long lines take several rows; times of lines aren't shown */
	int left, page, width;
};

struct output_line {
	char *text;                      /* the line, escaped; may have colour sequences */
	uint32_t len;
};

struct output_view {                     /* the pane with what a command prints */
	char title[200];                 /* the command, escaped */
	struct output_line *lines;       /* a ring */
	size_t first, count, bytes;
	struct buf partial;              /* raw bytes of a line whose newline hasn't come yet */
	struct line_edit answer;         /* typed behind that line, while the command runs */
	bool running, follow;
	int status;                      /* exit status, when it doesn't run any more */
	size_t top;
	int left, page;
};

struct act_row {                         /* a row of acts.def */
	enum action action;
	bool of_worker;
	unsigned verb;                   /* enum act_verb, or of a worker enum set_verb */
	uint64_t of_run, of_job;         /* value of ACT for a whole run, and for a job */
	const char *title, *word, *one, *more, *done, *after;
};

struct view_target {                          /* the target of a confirmation, fixed when the question appeared */
	uint64_t run;
	struct slice *jobs;              /* names of the jobs; none: the whole run */
	size_t count;
	struct slice worker;             /* name of the worker, if it is one */
	const struct act_row *act;
	char title[200];                 /* escaped */
	char examples[400];
	struct arena arena;
};

struct run_reason {                      /* why the selected run waits */
	uint64_t run, id;                /* id: the question for it; 0: none is under way */
	int64_t asked_ms;
	char text[200];                  /* escaped */
};

struct load_request {                    /* the question for samples of the load */
	uint64_t id;                     /* 0: none is under way */
	int64_t asked_ms;
	int64_t since_ms;                /* end of the newest sample of workers that was known */
	uint64_t turn;                   /* turn of the model when it was asked */
	enum view view;                  /* the view for which it was asked; VIEW_ANY: not yet on this connection */
	bool of_workers, refused;        /* refused: the master is older than the question */
};

struct decisions {                       /* what was decided about a gate */
	uint64_t id;                     /* the question for it; 0: none is under way */
	uint64_t gate, have;             /* the gate, and how many people had approved when it was asked */
	char at[8][300];                 /* escaped, the newest first */
	size_t count;
};

enum gate_field { GATE_REASON, GATE_TARGET };

struct gate_dialog {                     /* a decision on a gate; the gate was fixed when the dialog opened */
	enum act_verb verb;
	uint64_t run, request;
	uint8_t job[LIMIT_NAME_MAX_LEN + 24];
	size_t job_len;
	bool known, confirm; /* known: the gate's content has come; confirm: all fields are filled, and y is awaited */
	uint8_t digest[64];
	size_t digest_len;
	uint64_t have, count;            /* how many people have approved, and how many must */
	uint64_t sent;                   /* id of the decision, until the master has answered */
	char question[300], unblocks[400], votes[300];    /* escaped */
	char refused[300];               /* escaped; why the master refused what was typed, for which the dialog is open again */
	enum gate_field field;           /* the field being typed */
	struct line_edit lines[2];
};

enum view_trait {
	TRAIT_PEOPLE = 1,                /* gates and dead letters are asked for */
	TRAIT_LOAD = 2,                  /* it shows the load of the cluster over time */
	TRAIT_WORKER_LOAD = 4,           /* it shows the load of workers over time */
	TRAIT_GRAPH = 8,                 /* it shows the graph of a run, which is read at once */
	TRAIT_BESIDE = 16,               /* a wide screen has the graph or the job beside it */
	TRAIT_RUN = 32,                  /* a run is selected in it */
	TRAIT_COUNT_GATES = 128,         /* its tab has the number of gates that wait */
	TRAIT_PAGES = 64,                /* its list of runs goes on beyond what was read */
};

struct app;

struct view_row {                        /* what a view can do; a row of views.def */
	const char *word, *shown;        /* its name, and the key that leads to it */
	unsigned traits;
	void (*draw)(struct app *app, struct pane pane, int64_t now_ms);
	void (*act)(struct app *app, enum action action);        /* a key that this view has for itself, or that moves in it */
	bool (*offers)(const struct app *app, enum action action);       /* does this key make sense for what is selected? */
	bool (*find)(struct app *app, int step);         /* select the next match; false: there is none */
	void (*name)(const struct app *app, struct buf *out);    /* append what commands call the selected object */
};

const struct view_row *view_row(enum view view);

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
	struct gate_dialog gate;

	uint64_t run;                    /* the selected run; 0: none yet */
	uint64_t wanted_run;             /* the run asked for on the command line, until it is selected */
	uint64_t pinned_run;             /* run that stays selected although the list doesn't have it */
	struct { uint64_t run; uint32_t job; } above[8];  /* from which jobs sub-runs were opened, the outermost first */
	size_t above_count;
	uint64_t return_run;             /* a run to which the view went back from a sub-run, and the job to select there */
	uint32_t return_job;
	struct list_view runs, workers, needs, gates;
	struct decisions decisions;
	bool on_needs;                   /* in Home, something that needs a person is selected, not a run */
	struct { uint64_t run; uint32_t job; } log_wanted;       /* the log to open as soon as the graph of its run is here; run 0: none */
	bool runs_failures_only;
	struct dag_view dag;
	struct log_view log;
	struct line_edit find, command;  /* what is searched for; what was typed after : */
	struct line_history finds, commands;
	struct output_view output;       /* what the last command printed */

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
	uint64_t older_id;               /* request for a page of older runs; 0: none is under way */
	bool runs_to_end;                /* pages are asked for until the list has the oldest run */
	struct run_reason run_reason;
	struct load_request load;
	uint64_t gates_id;               /* request for the gates that wait */
	int64_t gates_ms;                /* when they were asked for */
	uint64_t letters_id;             /* request for a page of dead letters */
	int64_t letters_ms;              /* when they may be asked for again */
	/* Requests of the last confirmed act: first and last id, and the number of jobs changed so far. */
	uint64_t act_first, act_id, act_sum;
	const struct act_row *act_row;
	uint64_t look_run;               /* run whose jobs will be shown if it stays selected a little longer */
	int64_t look_ms;
	struct app_request *requests;
	size_t request_first, request_count, request_cap;
	struct arena decode, request_text;
	bool dirty;
	int64_t ticked_ms;
	int64_t drawn_ms;                /* the time that the frame which is being drawn takes for the present */
};

static inline struct style styled(const struct app *app, enum look look)
{
	return theme_look(&app->theme, look);
}

static inline bool view_has(const struct app *app, unsigned traits)       /* any of them */
{
	return (view_row(app->view)->traits & traits) != 0;
}

/* The functions of views.def. */
#define VIEW(NAME, name, code, shown, word, traits, help) \
	void name##_draw(struct app *app, struct pane pane, int64_t now_ms); \
	void name##_act(struct app *app, enum action action); \
	bool name##_offers(const struct app *app, enum action action); \
	bool name##_find(struct app *app, int step); \
	void name##_name(const struct app *app, struct buf *out);
#include "tui/views.def"
#undef VIEW

/* app_send.c: requests */
void send_subscribe_runs(struct app *app);
void send_look(struct app *app, uint64_t run); /* subscribe to this run's jobs instead of the last run's */
void send_older(struct app *app);         /* ask for the next page of older runs, unless one is on its way */
void send_gates(struct app *app);
void send_letters(struct app *app, uint64_t cursor);
uint64_t send_query_decisions(struct app *app, uint64_t run);
uint64_t send_query_series(struct app *app, bool workers, uint64_t cursor);
void send_set_worker(struct app *app, enum set_verb verb, struct slice name);
void send_act(struct app *app, const struct msg_act *act);       /* texts are copied */
uint64_t send_query_job(struct app *app, uint64_t run, struct slice job);        /* returns the request's id */
uint64_t send_query_run(struct app *app, uint64_t run);  /* ask why a run waits */
uint64_t send_query_reasons(struct app *app, uint64_t run, uint32_t first, uint32_t count);
uint64_t send_query_tries(struct app *app, uint64_t run, uint64_t job);     /* returns the request's id */
void send_log_read(struct app *app, uint64_t offset, uint64_t back);
void send_want(struct app *app, enum app_want want);
void send_text(struct app *app, enum app_want want, struct slice text);

/* dialog_act.c: the question before an act of acts.def */
void act_dialog_open(struct app *app, enum action action);
bool act_makes_sense(const struct app *app, enum action action);         /* of the selected run or worker */
void act_dialog_key(struct app *app, uint32_t key);
void act_dialog_done(struct app *app, uint64_t changed);         /* the master has done it, or a part of it */
void act_dialog_draw(struct app *app, struct pane pane);

/* dialog_gate.c: decisions on gates */
void gate_dialog_open(struct app *app, enum action action);      /* open the dialog for the selected job of the graph */
void gate_dialog_ask(struct app *app, enum action action, uint64_t run, struct slice job);
void gate_dialog_take(struct app *app, const struct msg_snapshot *msg);
/* The master has carried out the decision, which changed so many gates, or has refused it. */
void gate_dialog_done(struct app *app, uint64_t changed);
void gate_dialog_refused(struct app *app, const char *why);
bool gate_dialog_edits(const struct app *app);   /* is a text field being edited? Then a paste is text */
void gate_dialog_key(struct app *app, uint32_t key);
void gate_dialog_draw(struct app *app, struct pane pane);

/* app_keys.c */
void app_copy(struct app *app, struct slice text);       /* ask the terminal to keep this text as what was copied */
void app_notice(struct app *app, bool bad, const char *format, ...) __attribute__((format(printf, 3, 4)));
void app_go(struct app *app, enum view view);
void app_begin_command(struct app *app);                 /* open the line for a command */

/* view_runs.c */
void runs_took_older(struct app *app);                   /* a page of older runs has come */
void runs_choose(struct app *app);                       /* select a run if the selected one doesn't exist */
bool runs_is_first(const struct app *app);               /* is the selected run the first of the list, or none selected? */
/* view_home.c */
bool home_is_on_worker(const struct app *app);           /* is a worker selected in NEEDS YOU? */
void home_choose(struct app *app);                       /* select something if what needed a person is gone */
/* view_home_needs.c */
enum need_kind { NEED_WORKER, NEED_GATE, NEED_FAILURE, NEED_CRASH_LOOP };

#define NEED_ANY_JOB UINT32_MAX          /* the job isn't known: the graph of the run shows it */

struct need {                            /* a row of NEEDS YOU */
	enum need_kind kind;
	uint64_t id, run;                /* id: the same as long as it is the same thing; run 0: of a worker */
	uint32_t job;                    /* index of the job, or NEED_ANY_JOB */
	const struct tui_worker *worker;         /* one of these, and the run if the model has it */
	const struct tui_gate *gate;
	const struct tui_job *failed;
	const struct tui_letter *letter;
	const struct tui_run *in;
	unsigned state;                  /* of failed */
};

struct needs {
	struct list_rows rows;           /* pointers to struct need */
	struct need *all;
	size_t cap;
};

extern const struct list_table needs_table;

struct needs needs_list(const struct app *app);
void needs_free(struct needs *needs);
bool need_find(const struct app *app, uint64_t id, struct need *ret_need);      /* false: it needs nobody any more */
void needs_draw(struct app *app, struct pane pane);
size_t needs_count(const struct app *app);
/* view_home_cluster.c */
int cluster_height(int body_height);                     /* rows of the cluster pane in a Home with this height */
void cluster_draw(struct app *app, struct pane pane);
void events_draw(struct app *app, struct pane pane);

/* view_dag.c: rows and selection; view_dag_draw.c: drawing */
void dag_build(struct app *app, int width);
void dag_move(struct app *app, enum action action);
void dag_open_at(struct app *app, uint64_t run, uint32_t job);   /* select this job as soon as the graph is here */
void dag_fold(struct app *app);
/* While the screen is frozen, the graph of a run that is selected meanwhile isn't read, so it can't be shown. */
bool dag_is_of_selected_run(const struct app *app);
void dag_forget(struct dag_view *dag); /* forget rows, selection and unfolding, because another run is shown */
const struct dag_row *dag_selected(const struct app *app);       /* the selected row; NULL if none is selected */
size_t dag_selected_at(const struct app *app);
/* view_workers.c */
const struct tui_worker *workers_selected(const struct app *app);        /* NULL: there is none */
/* dag_reasons.c: why visible jobs wait */
void reasons_ask(struct app *app, int64_t now_ms);
int64_t reasons_wait_ms(const struct app *app, int64_t now_ms);  /* time until reasons_ask is due; INT64_MAX: it isn't */
void reasons_take(struct app *app, const struct msg_snapshot *msg);
const char *reason_of(const struct app *app, uint32_t job);      /* escaped; empty: none is known */
void reasons_forget(struct map *reasons);
/* app_load.c: samples of the load */
void load_ask(struct app *app, int64_t now_ms);
int64_t load_wait_ms(const struct app *app, int64_t now_ms);     /* time until load_ask is due; INT64_MAX: it isn't */
void load_take(struct app *app, const struct msg_snapshot *msg, int64_t now_ms);
void load_refused(struct app *app);
void load_forget(struct app *app);                       /* there is a new connection */
/* view_approvals.c: decisions about the selected gate */
void decisions_ask(struct app *app);
void decisions_take(struct app *app, const struct msg_snapshot *msg);
/* run_reason.c */
void run_reason_ask(struct app *app, int64_t now_ms);
int64_t run_reason_wait_ms(const struct app *app, int64_t now_ms);
void run_reason_take(struct app *app, const struct msg_snapshot *msg);
const char *run_reason_text(const struct app *app);     /* escaped; empty: the run doesn't wait, or the reason isn't known yet */
/* view_job.c: a job in words */
/* Return how the job's state is shown: with a dead letter DEAD instead of FAIL, held HOLD, before its first time LATER. */
const struct state_info *job_face(const struct tui_graph *graph, size_t index);
void job_outcome(const struct app *app, const struct tui_job *job, unsigned state, int64_t now_ms, char *out,
	size_t size);
void job_draw(struct app *app, struct pane pane, int64_t now_ms);
/* Append the name of a node, not escaped: "encode[128]", or a job's own name. */
void node_name(const struct app *app, uint32_t node, struct buf *out);

/* log_read.c: what of the log is in memory */
void log_open(struct app *app, uint32_t index);
/* Open the log of a job, or of the first job that failed, when the graph of its run is here. */
void log_open_when_known(struct app *app, uint64_t run, uint32_t job);
void log_open_wanted(struct app *app);                   /* open it if the graph is here now */
void log_free(struct log_view *log);
void log_forget_requests(struct log_view *log);          /* the connection was lost: no answer will come */
void log_take(struct app *app, const struct msg_log_data *msg);
void log_refused(struct app *app, uint64_t code, int64_t now_ms);        /* the master refused the request */
void log_ask(struct app *app, int64_t now_ms);           /* ask for what the view needs next */
int64_t log_wait_ms(const struct app *app, int64_t now_ms);      /* time until log_ask is due; -1: no time */
bool log_grows(const struct app *app);                   /* can the job still write to its log? */
const struct tui_job *log_job(const struct app *app);    /* the job in the graph; NULL: the graph is another one */
void log_show_try(struct app *app, uint64_t epoch);
bool log_is_loaded(const struct app *app);
void log_go_to(struct app *app, struct log_match match); /* show this line, if necessary after reading it */
/* log_search.c */
void log_search_free(struct log_search *search);
void log_search_take(struct app *app, const struct msg_log_data *msg);
bool log_search_wants(const struct log_view *log);
void log_search_go(struct app *app);                     /* go to the match that was waited for, if it is known now */
/* log_tries.c */
void log_move_try(struct app *app, int step);            /* show the log of the try before, or of the next one */
void log_take_tries(struct app *app, const struct msg_snapshot *msg);
/* view_log.c */
void log_move(struct app *app, enum action action);
void log_copy(struct app *app);                          /* copy the lines on the screen */
/* program_text.c: expand the tabs of a line that a program wrote, and escape everything but colours. */
void program_text(struct slice raw, struct buf *out);
/* Draw such a line; return the x behind it. */
int program_draw(const struct app *app, struct pane pane, int x, int y, struct slice text);
void program_words(struct slice text, struct buf *out);  /* such a line without its colours */

/* view_output.c: what a typed command prints */
void output_key(struct app *app, uint32_t key);
bool output_edits(const struct app *app);                /* is an answer typed? Then a paste is text */
void output_draw(struct app *app, struct pane pane);
void output_free(struct output_view *output);

/* view_help.c */
void help_draw(struct app *app, struct pane pane);
void hints_draw(struct app *app, struct pane pane);
void tabs_draw(struct app *app, struct pane pane);

/* The top row with which row at is on the page, as near to the present one as possible. */
size_t scroll_to(size_t top, size_t at, size_t page, size_t count);
/* The row to which this move leads from row at in a list of count rows. */
size_t move_in(size_t at, size_t count, size_t page, enum action action);
bool text_has(struct slice text, struct slice part);     /* is the part in the text, ignoring case? */
bool name_matches(const struct app *app, struct slice name);     /* does the name match the search, ignoring case? */

#endif
