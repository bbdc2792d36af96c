# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

master_sources = \
	src/master/answer_page.c \
	src/master/bridges.c \
	src/master/bridges.h \
	src/master/budget.h \
	src/master/copies.c \
	src/master/dispatch.h \
	src/master/dispatch_frame.c \
	src/master/fsck.c \
	src/master/fsck.h \
	src/master/graphs.c \
	src/master/history.c \
	src/master/history.h \
	src/master/history_events.c \
	src/master/history_page.c \
	src/master/history_past.c \
	src/master/identity.c \
	src/master/identity.h \
	src/master/ids.c \
	src/master/ids.h \
	src/master/internal.h \
	src/master/line.c \
	src/master/line_pressure.c \
	src/master/live_tail.c \
	src/master/live_tail.h \
	src/master/logbytes.h \
	src/master/logcredit.c \
	src/master/logcredit.h \
	src/master/logfile.c \
	src/master/logfile.h \
	src/master/logfile_read.c \
	src/master/logfile_write.c \
	src/master/logmend.c \
	src/master/logpack.c \
	src/master/logpack.h \
	src/master/logprune.c \
	src/master/logprune.h \
	src/master/logread_answer.c \
	src/master/logread_answer.h \
	src/master/logrecord.h \
	src/master/logs.c \
	src/master/logs.h \
	src/master/logs_thread.c \
	src/master/logs_thread.h \
	src/master/logstore.c \
	src/master/logstore.h \
	src/master/master.c \
	src/master/master.h \
	src/master/master_loop.c \
	src/master/measures.c \
	src/master/peer_hello.c \
	src/master/peer_session.c \
	src/master/pruner.c \
	src/master/pruner.h \
	src/master/pruner_step.c \
	src/master/publish.c \
	src/master/publish.h \
	src/master/publish_delta.c \
	src/master/queries.c \
	src/master/query_names.c \
	src/master/query_runs.c \
	src/master/query_share.c \
	src/master/quiet.c \
	src/master/recent.c \
	src/master/relay.c \
	src/master/remote.c \
	src/master/remote.h \
	src/master/reveal.c \
	src/master/scope.c \
	src/master/seal.c \
	src/master/seal.h \
	src/master/serials.c \
	src/master/squeeze.c \
	src/master/squeeze.h \
	src/master/store_room.c \
	src/master/sweep.c \
	src/master/sweep.h \
	src/master/then.c \
	src/master/turn.c \
	src/master/upload.c \
	src/master/upload.h \
	src/master/uploads.c

master_other = \
	src/master/README.md
