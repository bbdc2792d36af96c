# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

bash_completions = \
	share/completions/titan.bash

zsh_completions = \
	share/completions/_titan

fish_completions = \
	share/completions/titan.fish

sql_files = \
	share/sql/README.md \
	share/sql/schema.sql

example_files = \
	share/examples/client.py \
	share/examples/encode.yaml \
	share/examples/nightly-backup.yaml \
	share/examples/parts.yaml \
	share/examples/platform.yaml \
	share/examples/platforms.yaml \
	share/examples/release.yaml \
	share/examples/versions.yaml

schema_files = \
	share/schema/analyze.json \
	share/schema/approvals.json \
	share/schema/approve.json \
	share/schema/artifact.json \
	share/schema/asset.json \
	share/schema/audit.json \
	share/schema/backup.json \
	share/schema/cancel.json \
	share/schema/cluster.json \
	share/schema/config.json \
	share/schema/cordon.json \
	share/schema/diff.json \
	share/schema/dlq.json \
	share/schema/doctor.json \
	share/schema/drain.json \
	share/schema/error.json \
	share/schema/events.json \
	share/schema/explain.json \
	share/schema/fsck.json \
	share/schema/graph.json \
	share/schema/group.json \
	share/schema/history.json \
	share/schema/hold.json \
	share/schema/kv.json \
	share/schema/lock.json \
	share/schema/logs.json \
	share/schema/ls.json \
	share/schema/metrics.json \
	share/schema/note.json \
	share/schema/plan.json \
	share/schema/pool.json \
	share/schema/priority.json \
	share/schema/prune.json \
	share/schema/pushback.json \
	share/schema/reject.json \
	share/schema/release.json \
	share/schema/restore.json \
	share/schema/retry.json \
	share/schema/run.json \
	share/schema/schedule.json \
	share/schema/settle.json \
	share/schema/show.json \
	share/schema/status.json \
	share/schema/tenant.json \
	share/schema/token.json \
	share/schema/topic.json \
	share/schema/uncordon.json \
	share/schema/undo.json \
	share/schema/up.json \
	share/schema/validate.json \
	share/schema/version.json \
	share/schema/wait.json \
	share/schema/watch.json \
	share/schema/worker.json

systemd_units =

doc_files = \
	share/doc/architecture.md \
	share/doc/cases.md \
	share/doc/glossary.md \
	share/doc/grammar.md \
	share/doc/profile.md \
	share/doc/promises.md \
	share/doc/states.dot

decision_files = \
	share/doc/decisions/0001-rows-only-of-jobs-that-moved.md \
	share/doc/decisions/0002-output-goes-to-files.md \
	share/doc/decisions/0003-the-workers-ledger-is-pure.md \
	share/doc/decisions/0004-the-keeper-queues.md \
	share/doc/decisions/0005-intervals-are-of-a-steady-clock.md \
	share/doc/decisions/0006-dead-letters.md \
	share/doc/decisions/0007-containment.md \
	share/doc/decisions/0008-fair-share-counts-attempts.md \
	share/doc/decisions/0009-groups-bound-runs-and-jobs-apart.md \
	share/doc/decisions/0011-logs-are-compressed-in-frames.md \
	share/doc/decisions/0013-additions-come-before-final-jobs.md \
	share/doc/decisions/0014-jobs-are-known-by-a-token.md \
	share/doc/decisions/0015-a-pass-is-an-attempt.md \
	share/doc/decisions/0018-lossless-jobs-write-into-pipes.md \
	share/doc/decisions/0019-a-guardian-above-the-keeper.md \
	share/doc/decisions/0020-a-hanging-start-is-left-alone.md \
	share/doc/decisions/0021-what-runs-in-any-case-outlives-its-run.md \
	share/doc/decisions/0022-a-full-disk-is-served-from-what-is-there.md \
	share/doc/decisions/0023-a-backup-ends-with-its-checksum.md \
	share/doc/decisions/0024-peers-have-budgets.md \
	share/doc/decisions/0025-settings-files-by-trust.md \
	share/doc/decisions/0026-acts-are-made-where-all-requests-pass.md \
	share/doc/decisions/0027-the-past-is-what-was-before.md \
	share/doc/decisions/0028-what-jobs-share-stands-once.md \
	share/doc/decisions/0029-jobs-run-where-they-are-submitted.md \
	share/doc/decisions/0030-hooks-are-rows-of-a-table.md \
	share/doc/decisions/0031-eight-rows-are-one-statement.md \
	share/doc/decisions/0032-a-word-that-could-be-two-things-is-refused.md \
	share/doc/decisions/0033-progress-is-kept-in-memory.md \
	share/doc/decisions/0034-earlier-tries-have-rows.md \
	share/doc/decisions/0036-reasons-come-with-the-page.md \
	share/doc/decisions/0037-fields-have-one-name.md \
	share/doc/decisions/0038-an-object-alone-lists.md \
	share/doc/decisions/0039-undo-takes-back-one-act.md \
	share/doc/decisions/0040-an-earlier-time-has-a-master-of-its-own.md \
	share/doc/decisions/0041-pruned-runs-leave-bare-facts.md \
	share/doc/decisions/0042-completion-asks-titan.md \
	share/doc/decisions/0043-the-console-is-one-loop.md \
	share/doc/decisions/0044-peers-are-known-by-keys.md \
	share/doc/decisions/0046-pipelines-are-written-from-what-is-kept.md \
	share/doc/decisions/0047-acts-name-the-state-they-expect.md \
	share/doc/decisions/0048-tables-fit-the-terminal.md \
	share/doc/decisions/0049-typed-commands-have-a-pane.md \
	share/doc/decisions/0050-a-hidden-run-is-no-run.md \
	share/doc/decisions/0051-the-owners-workers-run-the-owners-jobs.md \
	share/doc/decisions/0052-the-worker-is-also-a-static-program.md \
	share/doc/decisions/0053-workers-come-by-ssh-and-bridges-are-not-trusted.md \
	share/doc/decisions/0054-the-master-passes-questions-about-the-past-on.md \
	share/doc/decisions/0055-a-team-is-who-is-in-it-now.md \
	share/doc/decisions/0056-other-users-have-a-socket-of-their-own.md \
	share/doc/decisions/0057-a-master-is-replaced-by-titan-up.md \
	share/doc/decisions/0058-joining-workers-make-their-own-keys.md \
	share/doc/decisions/0059-label-requirements-are-texts-of-six-forms.md \
	share/doc/decisions/0060-only-workers-that-share-the-directory.md \
	share/doc/decisions/0061-the-version-before-is-a-list-of-keys.md \
	share/doc/decisions/0062-patience-is-measured-in-leases.md \
	share/doc/decisions/0063-values-are-in-memory-and-revisions-count-changes.md \
	share/doc/decisions/0064-a-job-may-do-with-values-what-its-owner-may.md \
	share/doc/decisions/0065-values-are-variables-of-the-script.md \
	share/doc/decisions/0066-outputs-are-kept-in-the-row-of-their-job.md \
	share/doc/decisions/0070-contents-are-kept-by-hash.md \
	share/doc/decisions/0071-a-hash-gives-no-access.md \
	share/doc/decisions/0072-values-of-ended-runs-stay-in-memory.md \
	share/doc/decisions/0073-files-are-staged-by-the-link.md \
	share/doc/decisions/0074-a-job-keeps-its-files-itself.md \
	share/doc/decisions/0075-one-expression-language.md \
	share/doc/decisions/0076-templates-lie-under-the-keys-of-their-jobs.md \
	share/doc/decisions/0077-all-approvals-of-a-gate-give-the-same-values.md \
	share/doc/decisions/0078-computed-outputs-are-texts-of-the-core.md \
	share/doc/decisions/0079-a-service-is-a-job-whose-attempts-follow-each-other.md \
	share/doc/decisions/0081-the-master-samples-its-load-in-turns.md \
	share/doc/decisions/0082-views-and-lists-are-tables.md
