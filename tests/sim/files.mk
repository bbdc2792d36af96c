# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

sim_sources = \
	tests/sim/client.c \
	tests/sim/client_people.c \
	tests/sim/client_place.c \
	tests/sim/client_schedule.c \
	tests/sim/disk.c \
	tests/sim/faults.c \
	tests/sim/graph.c \
	tests/sim/graph_conditions.c \
	tests/sim/graph_fail.c \
	tests/sim/graph_grow.c \
	tests/sim/graph_life.c \
	tests/sim/graph_loop.c \
	tests/sim/graph_noop.c \
	tests/sim/graph_people.c \
	tests/sim/graph_place.c \
	tests/sim/graph_share.c \
	tests/sim/graph_subrun.c \
	tests/sim/link.c \
	tests/sim/main.c \
	tests/sim/master.c \
	tests/sim/moves.c \
	tests/sim/oracle.c \
	tests/sim/oracle.h \
	tests/sim/oracle_bounds.c \
	tests/sim/oracle_choice.c \
	tests/sim/oracle_concurrency.c \
	tests/sim/oracle_conditions.c \
	tests/sim/oracle_ending.c \
	tests/sim/oracle_facts.c \
	tests/sim/oracle_fail.c \
	tests/sim/oracle_grow.c \
	tests/sim/oracle_life.c \
	tests/sim/oracle_locks.c \
	tests/sim/oracle_loop.c \
	tests/sim/oracle_noop.c \
	tests/sim/oracle_order.c \
	tests/sim/oracle_people.c \
	tests/sim/oracle_place.c \
	tests/sim/oracle_prune.c \
	tests/sim/oracle_queued.c \
	tests/sim/oracle_retry.c \
	tests/sim/oracle_run.c \
	tests/sim/oracle_schedule.c \
	tests/sim/oracle_share.c \
	tests/sim/oracle_subrun.c \
	tests/sim/oracle_times.c \
	tests/sim/planted.h \
	tests/sim/prune.c \
	tests/sim/sim.h \
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
	tests/sim/bugs/affinity-beside-a-better.patch \
	tests/sim/bugs/affinity-gives-way.patch \
	tests/sim/bugs/ahead-of-others.patch \
	tests/sim/bugs/answers-kept-over-a-round.patch \
	tests/sim/bugs/asked-back-for-one-that-flaps.patch \
	tests/sim/bugs/asked-back-for-what-is-kept.patch \
	tests/sim/bugs/backoff-lost-at-load.patch \
	tests/sim/bugs/bound-off-by-one.patch \
	tests/sim/bugs/cascade-stops-after-one-level.patch \
	tests/sim/bugs/code-of-a-signal.patch \
	tests/sim/bugs/codes-ignored.patch \
	tests/sim/bugs/condition-forgotten-at-load.patch \
	tests/sim/bugs/cordon-forgotten-at-load.patch \
	tests/sim/bugs/cordon-ignored.patch \
	tests/sim/bugs/crash-backoff-by-tries.patch \
	tests/sim/bugs/crash-limit-ignored.patch \
	tests/sim/bugs/date-ignored-between-passes.patch \
	tests/sim/bugs/date-keeps-its-place.patch \
	tests/sim/bugs/deadline-forgotten-at-load.patch \
	tests/sim/bugs/deadline-of-an-old-round.patch \
	tests/sim/bugs/delay-forgotten.patch \
	tests/sim/bugs/discard-forgotten-in-the-row.patch \
	tests/sim/bugs/ending-cancelled-with-the-rest.patch \
	tests/sim/bugs/ending-stopped-in-sub-runs.patch \
	tests/sim/bugs/ending-time-ignores-the-timeout.patch \
	tests/sim/bugs/ending-time-is-moved.patch \
	tests/sim/bugs/epoch-does-not-grow.patch \
	tests/sim/bugs/exclusive-outlives-the-lease.patch \
	tests/sim/bugs/fail-fast-spares-the-queue.patch \
	tests/sim/bugs/fan-out-joins-the-one-before.patch \
	tests/sim/bugs/forgiveness-lost-at-load.patch \
	tests/sim/bugs/gate-approved-by-its-submitter.patch \
	tests/sim/bugs/gate-counts-a-person-twice.patch \
	tests/sim/bugs/gate-digest-ignored.patch \
	tests/sim/bugs/gate-expires-while-held.patch \
	tests/sim/bugs/gate-expiry-denies.patch \
	tests/sim/bugs/gate-expiry-not-kept.patch \
	tests/sim/bugs/group-limit-forgotten-at-load.patch \
	tests/sim/bugs/group-takes-the-largest-limit.patch \
	tests/sim/bugs/grow-after-cancel.patch \
	tests/sim/bugs/grow-behind-final.patch \
	tests/sim/bugs/grow-deadline-from-submission.patch \
	tests/sim/bugs/grow-key-not-durable.patch \
	tests/sim/bugs/grow-settled-parent-ignored.patch \
	tests/sim/bugs/hold-forgotten-at-load.patch \
	tests/sim/bugs/hold-of-a-run-ignored.patch \
	tests/sim/bugs/join-gives-up-early.patch \
	tests/sim/bugs/key-forgotten-at-load.patch \
	tests/sim/bugs/labels-ignored.patch \
	tests/sim/bugs/ledger-starts-without-room.patch \
	tests/sim/bugs/letter-outlives-its-round.patch \
	tests/sim/bugs/lock-ends-early.patch \
	tests/sim/bugs/lock-fence-forgotten.patch \
	tests/sim/bugs/lock-kept-by-one-without-worker.patch \
	tests/sim/bugs/lock-never-offered-again.patch \
	tests/sim/bugs/lock-of-people-ignored.patch \
	tests/sim/bugs/lock-shared-beside-one-alone.patch \
	tests/sim/bugs/loop-forgotten-at-load.patch \
	tests/sim/bugs/loop-keeps-its-tries.patch \
	tests/sim/bugs/loop-one-pass-too-many.patch \
	tests/sim/bugs/loop-retried-when-done.patch \
	tests/sim/bugs/lost-at-hello-forgotten.patch \
	tests/sim/bugs/lost-before-its-lease-ends.patch \
	tests/sim/bugs/no-ack-for-stale-results.patch \
	tests/sim/bugs/no-epoch-check.patch \
	tests/sim/bugs/no-grace-after-boot.patch \
	tests/sim/bugs/nothing-kept-for-large-jobs.patch \
	tests/sim/bugs/once-runs-again.patch \
	tests/sim/bugs/overload-by-slots-alone.patch \
	tests/sim/bugs/parked-forever.patch \
	tests/sim/bugs/pool-key-ignored.patch \
	tests/sim/bugs/pool-state-ignored.patch \
	tests/sim/bugs/preferred-worker-ignored.patch \
	tests/sim/bugs/priority-in-steps.patch \
	tests/sim/bugs/pruned-by-old-rows.patch \
	tests/sim/bugs/pruned-key-kept-on-disk.patch \
	tests/sim/bugs/pruned-under-a-live-run.patch \
	tests/sim/bugs/pruned-with-its-letters.patch \
	tests/sim/bugs/pruning-lost-at-load.patch \
	tests/sim/bugs/pushback-keeps-its-votes.patch \
	tests/sim/bugs/queue-time-starts-anew.patch \
	tests/sim/bugs/queued-counts-what-is-out.patch \
	tests/sim/bugs/queued-without-newcomers.patch \
	tests/sim/bugs/resources-freed-twice.patch \
	tests/sim/bugs/resources-kept-after-a-cancel.patch \
	tests/sim/bugs/resources-of-the-stopping.patch \
	tests/sim/bugs/retry-counted-twice.patch \
	tests/sim/bugs/round-keeps-its-crashes.patch \
	tests/sim/bugs/round-keeps-its-tries.patch \
	tests/sim/bugs/round-leaves-an-open-gate.patch \
	tests/sim/bugs/round-stops-at-children.patch \
	tests/sim/bugs/row-forgotten-at-the-end.patch \
	tests/sim/bugs/run-ends-early.patch \
	tests/sim/bugs/running-not-counted.patch \
	tests/sim/bugs/schedule-comes-after-a-pause.patch \
	tests/sim/bugs/schedule-line-goes-on-in-a-pause.patch \
	tests/sim/bugs/schedule-line-lost-in-a-pause.patch \
	tests/sim/bugs/schedule-overlaps.patch \
	tests/sim/bugs/schedule-passes-over-in-silence.patch \
	tests/sim/bugs/schedule-time-lost-in-a-change.patch \
	tests/sim/bugs/schedule-waits-for-a-wrong-clock.patch \
	tests/sim/bugs/score-by-count.patch \
	tests/sim/bugs/second-word-replaces-the-first.patch \
	tests/sim/bugs/settled-without-a-word.patch \
	tests/sim/bugs/skew-not-durable.patch \
	tests/sim/bugs/spool-dropped-at-send.patch \
	tests/sim/bugs/stale-adopted.patch \
	tests/sim/bugs/stale-not-stopped.patch \
	tests/sim/bugs/start-after-cancel.patch \
	tests/sim/bugs/start-after-the-lease.patch \
	tests/sim/bugs/start-time-of-the-last-try.patch \
	tests/sim/bugs/stopped-as-the-last-try.patch \
	tests/sim/bugs/subrun-again-after-its-cancel.patch \
	tests/sim/bugs/subrun-always-ends-well.patch \
	tests/sim/bugs/subrun-goes-on-when-stopped.patch \
	tests/sim/bugs/subrun-reopened-for-nobody.patch \
	tests/sim/bugs/tenant-catches-up.patch \
	tests/sim/bugs/tenant-limit-forgotten-at-load.patch \
	tests/sim/bugs/tenant-limit-raised-only.patch \
	tests/sim/bugs/tenant-not-counted.patch \
	tests/sim/bugs/tenant-weight-ignored.patch \
	tests/sim/bugs/time-outs-cost-no-retry.patch \
	tests/sim/bugs/timeout-lost-at-load.patch \
	tests/sim/bugs/unknown-leaves-its-group.patch \
	tests/sim/bugs/welcome-before-stops.patch \
	tests/sim/bugs/wrong-dependency-test.patch \
	tests/sim/campaign \
	tests/sim/mutants-survivors \
	tests/sim/mutants.py \
	tests/sim/not_driven.def \
	tests/sim/planted.def \
	tests/sim/refresh \
	tests/sim/topics.def

sim_programs = tests/sim/titan-sim tests/sim/titan-liars

tests_sim_titan_sim_SOURCES = $(sim_sources) tests/sim/planted.c
tests_sim_titan_sim_LDADD = $(sim_libs)
tests_sim_titan_sim_planted_SOURCES = $(sim_sources)
tests_sim_titan_sim_planted_LDADD = $(planted_libs)
tests_sim_titan_liars_SOURCES = $(liars_sources)
tests_sim_titan_liars_LDADD = $(core_libs)
