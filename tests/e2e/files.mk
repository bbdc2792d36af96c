# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

e2e_tests = \
	tests/e2e/adopt.sh \
	tests/e2e/again.sh \
	tests/e2e/backup.sh \
	tests/e2e/bulk.sh \
	tests/e2e/cancel.sh \
	tests/e2e/chaos-bytes.sh \
	tests/e2e/chaos-clock.sh \
	tests/e2e/chaos-escape.sh \
	tests/e2e/chaos-flood.sh \
	tests/e2e/chaos-kills.sh \
	tests/e2e/chaos-neighbours.sh \
	tests/e2e/chaos-partitions.sh \
	tests/e2e/chaos-pauses.sh \
	tests/e2e/chaos-prune.sh \
	tests/e2e/chaos-recover.sh \
	tests/e2e/chaos-steps.sh \
	tests/e2e/dash.sh \
	tests/e2e/deadline.sh \
	tests/e2e/demo.sh \
	tests/e2e/dlq.sh \
	tests/e2e/errors.sh \
	tests/e2e/escapes.sh \
	tests/e2e/examples.sh \
	tests/e2e/expressions.sh \
	tests/e2e/faults.sh \
	tests/e2e/finals.sh \
	tests/e2e/full-acts.sh \
	tests/e2e/full-restart.sh \
	tests/e2e/full.sh \
	tests/e2e/graph.sh \
	tests/e2e/groups.sh \
	tests/e2e/grow.sh \
	tests/e2e/inside.sh \
	tests/e2e/interrupted.sh \
	tests/e2e/kill-master.sh \
	tests/e2e/labels.sh \
	tests/e2e/late.sh \
	tests/e2e/locks.sh \
	tests/e2e/logs-faults.sh \
	tests/e2e/logs-flood.sh \
	tests/e2e/logs-live.sh \
	tests/e2e/logs-lossless.sh \
	tests/e2e/logs-packed.sh \
	tests/e2e/logs-stall.sh \
	tests/e2e/logs.sh \
	tests/e2e/loops.sh \
	tests/e2e/lost-log.sh \
	tests/e2e/metrics.sh \
	tests/e2e/migrate.sh \
	tests/e2e/named.sh \
	tests/e2e/outputs.sh \
	tests/e2e/pause.sh \
	tests/e2e/peak.sh \
	tests/e2e/people-decide.sh \
	tests/e2e/people-settle.sh \
	tests/e2e/people.sh \
	tests/e2e/pipeline.sh \
	tests/e2e/placement.sh \
	tests/e2e/places.sh \
	tests/e2e/plan.sh \
	tests/e2e/poison.sh \
	tests/e2e/protocol.sh \
	tests/e2e/prune-stuck.sh \
	tests/e2e/prune.sh \
	tests/e2e/refusals.sh \
	tests/e2e/refused.sh \
	tests/e2e/resume.sh \
	tests/e2e/retry.sh \
	tests/e2e/schedule.sh \
	tests/e2e/stuck-keeper.sh \
	tests/e2e/stuck.sh \
	tests/e2e/submit.sh \
	tests/e2e/subruns.sh \
	tests/e2e/survive.sh \
	tests/e2e/tenants.sh \
	tests/e2e/terminal.sh \
	tests/e2e/told.sh \
	tests/e2e/wait.sh \
	tests/e2e/words.sh

e2e_other = \
	tests/e2e/holders.py \
	tests/e2e/lib.sh \
	tests/e2e/proxy.py
