# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

lint_tests = \
	tests/lint/arrow.sh \
	tests/lint/banned.sh \
	tests/lint/cases.sh \
	tests/lint/frozen.sh \
	tests/lint/headers.sh \
	tests/lint/knot.sh \
	tests/lint/links.sh \
	tests/lint/manuals.sh \
	tests/lint/planted.sh \
	tests/lint/runner.sh \
	tests/lint/scripts.sh \
	tests/lint/size.sh \
	tests/lint/sources.sh \
	tests/lint/text.sh

lint_other = \
	tests/lint/lib.sh \
	tests/lint/long-files \
	tests/lint/long-functions \
	tests/lint/long-functions-allowed \
	tests/lint/strip-c
