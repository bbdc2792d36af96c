# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

core_sources = \
	src/core/check.c \
	src/core/check_bound.c \
	src/core/core.c \
	src/core/core.h \
	src/core/graph/cycle.c \
	src/core/graph/decide.c \
	src/core/graph/final.c \
	src/core/graph/graph.c \
	src/core/graph/grow.c \
	src/core/graph/names.c \
	src/core/graph/runs.c \
	src/core/graph/spec.c \
	src/core/graph/submit.c \
	src/core/internal.h \
	src/core/life/act.c \
	src/core/life/attempt.c \
	src/core/life/begin.c \
	src/core/life/cancel.c \
	src/core/life/dead.c \
	src/core/life/ending.c \
	src/core/life/hooks.c \
	src/core/life/job.c \
	src/core/life/kind.c \
	src/core/life/loop.c \
	src/core/life/retry.c \
	src/core/life/round.c \
	src/core/life/subrun.c \
	src/core/people/digest.c \
	src/core/people/gate.c \
	src/core/people/gates.c \
	src/core/people/pushback.c \
	src/core/people/settle.c \
	src/core/place/charge.c \
	src/core/place/choose.c \
	src/core/place/hello.c \
	src/core/place/place.c \
	src/core/place/placing.h \
	src/core/place/pool.c \
	src/core/place/worker.c \
	src/core/queue/bound.c \
	src/core/queue/fair.c \
	src/core/queue/group.c \
	src/core/queue/label.c \
	src/core/queue/lane.c \
	src/core/queue/lock.c \
	src/core/queue/order.c \
	src/core/queue/ready.c \
	src/core/queue/tenant.c \
	src/core/rows/flush.c \
	src/core/rows/load.c \
	src/core/rows/load_run.c \
	src/core/rows/outbox.c \
	src/core/rows/outbox.h \
	src/core/rows/pipeline.c \
	src/core/rows/prune.c \
	src/core/rows/pruned.c \
	src/core/rows/resume.c \
	src/core/rows/rows.h \
	src/core/set.c \
	src/core/shrink.c \
	src/core/state.h \
	src/core/state_place.h \
	src/core/state_run.h \
	src/core/time/due.c \
	src/core/time/schedule.c \
	src/core/time/schedule.h \
	src/core/time/schedule_list.c \
	src/core/time/schedule_set.c \
	src/core/time/timers.c \
	src/core/view/explain.c \
	src/core/view/explain.h \
	src/core/view/explain_worker.c \
	src/core/view/view.c \
	src/core/view/view.h \
	src/core/view/view_lock.c \
	src/core/view/view_share.c

core_other = \
	src/core/README.md \
	src/core/life/hooks.def \
	src/core/rows/rows.def
