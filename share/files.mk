# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

bash_completions =

zsh_completions =

fish_completions =

sql_files = \
	share/sql/README.md

example_files =

systemd_units =

doc_files = \
	share/doc/architecture.md

decision_files = \
	share/doc/decisions/0001-rows-only-of-jobs-that-moved.md \
	share/doc/decisions/0002-output-goes-to-files.md \
	share/doc/decisions/0003-the-workers-ledger-is-pure.md \
	share/doc/decisions/0004-the-keeper-queues.md
