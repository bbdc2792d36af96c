# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

man_pages = \
	man/titan-approvals.1 \
	man/titan-approve.1 \
	man/titan-backup.1 \
	man/titan-cancel.1 \
	man/titan-cluster.1 \
	man/titan-completion.1 \
	man/titan-cordon.1 \
	man/titan-dash.1 \
	man/titan-demo.1 \
	man/titan-dlq.1 \
	man/titan-down.1 \
	man/titan-drain.1 \
	man/titan-explain.1 \
	man/titan-fsck.1 \
	man/titan-graph.1 \
	man/titan-group.1 \
	man/titan-help.1 \
	man/titan-hold.1 \
	man/titan-lock.1 \
	man/titan-logs.1 \
	man/titan-ls.1 \
	man/titan-master.1 \
	man/titan-metrics.1 \
	man/titan-plan.1 \
	man/titan-pool.1 \
	man/titan-priority.1 \
	man/titan-protocol.7 \
	man/titan-prune.1 \
	man/titan-pushback.1 \
	man/titan-reject.1 \
	man/titan-release.1 \
	man/titan-repl.1 \
	man/titan-restore.1 \
	man/titan-retry.1 \
	man/titan-run.1 \
	man/titan-schedule.1 \
	man/titan-security.7 \
	man/titan-settle.1 \
	man/titan-show.1 \
	man/titan-states.7 \
	man/titan-status.1 \
	man/titan-tenant.1 \
	man/titan-token.1 \
	man/titan-uncordon.1 \
	man/titan-up.1 \
	man/titan-validate.1 \
	man/titan-version.1 \
	man/titan-wait.1 \
	man/titan-watch.1 \
	man/titan-wire.1 \
	man/titan-worker.1 \
	man/titan.1 \
	man/titan.conf.5 \
	man/titan.yaml.5
