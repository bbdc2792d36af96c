/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that wait for people, and the decisions of people. */
#ifndef TITAN_CORE_PEOPLE_PEOPLE_H
#define TITAN_CORE_PEOPLE_PEOPLE_H

#include "core/state.h"

struct target;

/* digest.c: hash of what people are shown of a waiting gate */
const uint8_t *gate_digest(const struct core *core, const struct job *job);
/* Write the question with the outputs of jobs that are in it; false: there are none. */
bool gate_question(const struct core *core, const struct job *gate, struct buf *out);
/* What is shown changed: forget the digest; votes on the old one don't count. */
void gate_changed(struct core *core, struct job *job);

/* gate.c */
/* Record an approval with the values of the gate's fields; false: the person had given this vote already. */
bool gate_vote(struct gate *gate, uint64_t person, const uint8_t digest[SHA256_SIZE], struct slice given);
uint64_t gate_have(const struct core *core, const struct job *job); /* number of votes on the gate's present digest */
void gate_enter(struct core *core, struct job *job);
void gate_timer_arm(struct core *core, struct job *job, int64_t due_ms);
/* Stop the gate's expiry (hold), or restart it with its full time. */
void gate_hold(struct core *core, struct job *job, bool hold);
void gate_expired(struct core *core, struct job *job);
enum err gate_answer(struct core *core, const struct input_act *act, const struct target *target,
		     uint64_t *ret_changed, struct error *error);

/* gates.c: jobs that wait for people; pointers are valid until a job is added or removed */
/* returns the gate; NULL if the job doesn't wait for people */
struct gate *gate_find(const struct core *core, uint64_t serial);
/* returns the gate with the next higher job number, or NULL */
const struct gate *gate_after(const struct core *core, uint64_t serial);
void gate_add(struct core *core, const struct job *job);
void gate_remove(struct core *core, const struct job *job);
void gates_check(const struct core *core);
void gates_free(struct core *core);

/* pushback.c: jobs sent back, with the person's reason */
void pushback_add(struct core *core, struct job *job, uint64_t person, struct slice digest, struct slice reason);
void pushback_drop(struct core *core, struct job *job);
struct slice pushback_reason(const struct core *core, const struct job *job);
uint64_t pushbacks_hash(const struct core *core);
void pushbacks_check(const struct core *core);
void pushbacks_free(struct core *core);

/* principals.c: all people who may decide */
void people_know(struct core *core, const struct core_config *config);
void people_forget(struct core *core);
/* All roles that the person has now: as the owner of the master, by configuration, or by a token that hasn't expired. */
role_set person_roles(const struct core *core, struct slice name);
/*
 * Could a person other than this one approve a gate now: a live principal with the role, whom the gate names or who
 * needn't be named? Adds up to three of their names to out, as "anna, bert or cid"; out may be NULL.
 */
bool others_may_approve(const struct core *core, const struct rec_job_spec *spec, struct slice person, struct buf *out);
/* Does the gate name this person, or a team with this person? True also if the gate names nobody. */
bool person_is_listed(const struct core *core, const struct rec_job_spec *spec, struct slice person);

/* teams.c: groups of people, whom the configuration names */
void teams_know(struct core *core, const struct core_config *config);
void teams_forget(struct core *core);
/* Is an entry of gate_from, NAME or @NAME, this person or a team with this person? */
bool team_has(const struct core *core, struct slice entry, struct slice person);
void teams_view(const struct core *core, const struct rec_job_spec *spec, struct arena *arena, struct rec_job_row *row);
/* Check that all teams of a gate exist, and that they and the named people are as many as must approve. */
enum err teams_check(const struct core *core, const struct rec_job_spec *spec, uint32_t index, struct error *error);
/* Add the entry as people read it: "anna", or "@release (anna, bert)". */
void team_tell(const struct core *core, struct slice entry, struct buf *out);
/* Find the next person whom the gate names, itself or by a team, each once; *cursor begins at 0. False: no more. */
bool people_next(const struct core *core, const struct rec_job_spec *spec, size_t *cursor, struct slice *ret_person);
/* How many people does the gate name, without this one? */
uint64_t people_named(const struct core *core, const struct rec_job_spec *spec, struct slice except);

/* token.c: keys of people, programs and workers of other machines */
enum err token_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error);
/* The next token after the cursor that hasn't expired, and who it stands for; 0: no more. */
size_t token_live_after(const struct core *core, size_t cursor, struct slice *ret_name, role_set *ret_roles);
void token_used(struct core *core, struct slice id);
/* Write name, roles and whether it expires, never the secret. */
void token_words(const struct core *core, struct slice id, struct buf *out);
enum err load_token(struct core *core, const struct row_token *row, struct error *error);
uint64_t tokens_hash(const struct core *core);
void tokens_free(struct core *core);

/* settle.c: a person settles an unknown job */
enum err settle(struct core *core, const struct input_act *act, const struct target *target, uint64_t *ret_changed,
		struct error *error);

#endif
