# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

core_sources = \
	src/core/act.c \
	src/core/attempt.c \
	src/core/bound.c \
	src/core/cancel.c \
	src/core/charge.c \
	src/core/check.c \
	src/core/check_bound.c \
	src/core/choose.c \
	src/core/core.c \
	src/core/core.h \
	src/core/cycle.c \
	src/core/dead.c \
	src/core/decide.c \
	src/core/digest.c \
	src/core/due.c \
	src/core/ending.c \
	src/core/explain.c \
	src/core/explain.h \
	src/core/explain_worker.c \
	src/core/fair.c \
	src/core/final.c \
	src/core/flush.c \
	src/core/gate.c \
	src/core/gates.c \
	src/core/graph.c \
	src/core/group.c \
	src/core/grow.c \
	src/core/hello.c \
	src/core/internal.h \
	src/core/job.c \
	src/core/kind.c \
	src/core/label.c \
	src/core/lane.c \
	src/core/load.c \
	src/core/load_run.c \
	src/core/lock.c \
	src/core/loop.c \
	src/core/names.c \
	src/core/order.c \
	src/core/outbox.c \
	src/core/outbox.h \
	src/core/pipeline.c \
	src/core/place.c \
	src/core/placing.h \
	src/core/pool.c \
	src/core/prune.c \
	src/core/pruned.c \
	src/core/pushback.c \
	src/core/ready.c \
	src/core/resume.c \
	src/core/retry.c \
	src/core/round.c \
	src/core/rows.h \
	src/core/runs.c \
	src/core/schedule.c \
	src/core/schedule.h \
	src/core/schedule_list.c \
	src/core/schedule_set.c \
	src/core/set.c \
	src/core/settle.c \
	src/core/shrink.c \
	src/core/spec.c \
	src/core/state.h \
	src/core/state_place.h \
	src/core/state_run.h \
	src/core/submit.c \
	src/core/subrun.c \
	src/core/tenant.c \
	src/core/timers.c \
	src/core/view.c \
	src/core/view.h \
	src/core/view_lock.c \
	src/core/view_share.c \
	src/core/worker.c

core_other = \
	src/core/README.md \
	src/core/rows.def
