# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

worker_sources = \
	src/worker/attempts.c \
	src/worker/cache.c \
	src/worker/cache.h \
	src/worker/cage.c \
	src/worker/cage.h \
	src/worker/callers.c \
	src/worker/callers.h \
	src/worker/drain.c \
	src/worker/ends.c \
	src/worker/ends.h \
	src/worker/env.c \
	src/worker/env.h \
	src/worker/exits.c \
	src/worker/far.c \
	src/worker/far.h \
	src/worker/far_bridge.c \
	src/worker/far_check.c \
	src/worker/far_config.c \
	src/worker/far_start.c \
	src/worker/files.c \
	src/worker/gpu.c \
	src/worker/gpu.h \
	src/worker/guardian.c \
	src/worker/guardian.h \
	src/worker/guardian_renew.c \
	src/worker/home.c \
	src/worker/home.h \
	src/worker/ipc.c \
	src/worker/ipc.h \
	src/worker/job_token.c \
	src/worker/job_token.h \
	src/worker/job_user.c \
	src/worker/job_user.h \
	src/worker/keeper.c \
	src/worker/keeper.h \
	src/worker/keeper_link.c \
	src/worker/late_start.c \
	src/worker/ledger.c \
	src/worker/ledger.h \
	src/worker/link.c \
	src/worker/link.h \
	src/worker/link_bridge.c \
	src/worker/link_keeper.c \
	src/worker/link_master.c \
	src/worker/link_stage.c \
	src/worker/link_stage.h \
	src/worker/log_room.c \
	src/worker/offers.c \
	src/worker/offers.h \
	src/worker/outputs.c \
	src/worker/outside.c \
	src/worker/recover.c \
	src/worker/script.c \
	src/worker/ship.c \
	src/worker/ship_room.c \
	src/worker/ship_watch.c \
	src/worker/space.c \
	src/worker/space.h \
	src/worker/space_remove.c \
	src/worker/space_remove.h \
	src/worker/spawn.c \
	src/worker/spawn.h \
	src/worker/spawn_internal.h \
	src/worker/spawn_pids.c \
	src/worker/spawner.c \
	src/worker/spool.c \
	src/worker/spool.h \
	src/worker/stage.c \
	src/worker/stage.h \
	src/worker/stage_internal.h \
	src/worker/stage_place.c \
	src/worker/system.c \
	src/worker/system.h \
	src/worker/tree.c \
	src/worker/tree.h \
	src/worker/worker.h

worker_other = \
	src/worker/README.md
