# SPDX-License-Identifier: GPL-3.0-or-later
#
# For the lints: which files the tree has, and TAP. A lint calls verdict once for each rule, with what
# breaks it on standard input, one finding a line; the plan comes at the end.

set -u
shopt -s lastpipe # so that verdict counts in this shell, at the end of its pipeline
LC_ALL=C
export LC_ALL
cd "${TITAN_SRCDIR:-$(dirname "${BASH_SOURCE[0]}")/../..}" || exit 1

lint_number=0
lint_failed=0

# Every file that belongs to the tree: what git knows or would add; in a tarball, all but what is built.
tree_files() {
	local file
	if [ -e .git ] && git ls-files >/dev/null 2>&1; then
		git ls-files --cached --others --exclude-standard
	else
		find . \( -name .git -o -name autom4te.cache -o -name 'build*' \) -prune -o -type f -print |
			sed 's,^\./,,' | grep -vE '^(configure~?|aclocal\.m4|Makefile(\.in)?|config\.(log|status)|.*\.(o|a|d))$'
	fi | sort | while IFS= read -r file; do
		[ ! -f "$file" ] || printf '%s\n' "$file"
	done
}

c_files() { # the C of the product, without its tests
	tree_files | grep -E '^(src|proto|tui)/.*\.[ch]$'
}

all_c_files() {
	tree_files | grep -E '\.[ch]$'
}

# Those of the given files that are text scripts for sh or bash.
shell_files() {
	local file
	tree_files | while IFS= read -r file; do
		case $file in
		*.sh) echo "$file" ;;
		*.*/* | *.[a-z]*) ;;
		*) head -c 64 "$file" | head -n 1 | grep -qE '^#!.*\b(ba)?sh\b' && echo "$file" ;;
		esac
	done
	[ ! -f .ci/run ] || echo .ci/run
}

verdict() { # DESCRIPTION: findings on standard input
	local findings
	findings=$(cat)
	lint_number=$((lint_number + 1))
	if [ -z "$findings" ]; then
		echo "ok $lint_number - $1"
	else
		echo "not ok $lint_number - $1"
		printf '%s\n' "$findings" | sed 's/^/#   /'
		lint_failed=1
	fi
}

skip() { # DESCRIPTION REASON
	lint_number=$((lint_number + 1))
	echo "ok $lint_number - $1 # SKIP $2"
}

finish() {
	echo "1..$lint_number"
	exit $lint_failed
}
