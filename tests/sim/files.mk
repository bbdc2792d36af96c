# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

sim_sources = \
	tests/sim/client.c \
	tests/sim/client_people.c \
	tests/sim/client_place.c \
	tests/sim/client_schedule.c \
	tests/sim/client_topic.c \
	tests/sim/client_values.c \
	tests/sim/disk.c \
	tests/sim/faults.c \
	tests/sim/graph.c \
	tests/sim/graph_artifacts.c \
	tests/sim/graph_conditions.c \
	tests/sim/graph_context.c \
	tests/sim/graph_fail.c \
	tests/sim/graph_files.c \
	tests/sim/graph_grow.c \
	tests/sim/graph_life.c \
	tests/sim/graph_loop.c \
	tests/sim/graph_noop.c \
	tests/sim/graph_outputs.c \
	tests/sim/graph_people.c \
	tests/sim/graph_place.c \
	tests/sim/graph_service.c \
	tests/sim/graph_share.c \
	tests/sim/graph_subrun.c \
	tests/sim/graph_topic.c \
	tests/sim/link.c \
	tests/sim/main.c \
	tests/sim/master.c \
	tests/sim/moves.c \
	tests/sim/oracle.c \
	tests/sim/oracle.h \
	tests/sim/oracle_acts.c \
	tests/sim/oracle_artifacts.c \
	tests/sim/oracle_bounds.c \
	tests/sim/oracle_choice.c \
	tests/sim/oracle_concurrency.c \
	tests/sim/oracle_conditions.c \
	tests/sim/oracle_context.c \
	tests/sim/oracle_ending.c \
	tests/sim/oracle_facts.c \
	tests/sim/oracle_fail.c \
	tests/sim/oracle_grow.c \
	tests/sim/oracle_life.c \
	tests/sim/oracle_locks.c \
	tests/sim/oracle_loop.c \
	tests/sim/oracle_noop.c \
	tests/sim/oracle_order.c \
	tests/sim/oracle_outputs.c \
	tests/sim/oracle_people.c \
	tests/sim/oracle_place.c \
	tests/sim/oracle_prune.c \
	tests/sim/oracle_queued.c \
	tests/sim/oracle_retry.c \
	tests/sim/oracle_run.c \
	tests/sim/oracle_schedule.c \
	tests/sim/oracle_service.c \
	tests/sim/oracle_share.c \
	tests/sim/oracle_subrun.c \
	tests/sim/oracle_sums.c \
	tests/sim/oracle_times.c \
	tests/sim/oracle_values.c \
	tests/sim/planted.h \
	tests/sim/prune.c \
	tests/sim/sim.h \
	tests/sim/values.c \
	tests/sim/values.h \
	tests/sim/values_model.c \
	tests/sim/worker.c \
	tests/sim/world.c

liars_sources = \
	tests/sim/liars/graph.c \
	tests/sim/liars/liars.h \
	tests/sim/liars/main.c \
	tests/sim/liars/master.c \
	tests/sim/liars/people.c \
	tests/sim/liars/worker.c

sim_tests = \
	tests/sim/liars.sh \
	tests/sim/planted.sh \
	tests/sim/schedules.sh

sim_other = \
	tests/sim/README.md \
	tests/sim/campaign \
	tests/sim/mutants-survivors \
	tests/sim/mutants.py \
	tests/sim/not_driven.def \
	tests/sim/planted.def \
	tests/sim/topics.def

sim_programs = tests/sim/titan-sim tests/sim/titan-liars

tests_sim_titan_sim_SOURCES = $(sim_sources) tests/sim/planted.c
tests_sim_titan_sim_LDADD = $(sim_libs)
tests_sim_titan_sim_planted_SOURCES = $(sim_sources)
tests_sim_titan_sim_planted_LDADD = $(planted_libs)
tests_sim_titan_liars_SOURCES = $(liars_sources)
tests_sim_titan_liars_LDADD = $(core_libs)
