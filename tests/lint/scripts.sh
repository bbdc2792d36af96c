# SPDX-License-Identifier: GPL-3.0-or-later
#
# Shell scripts parse; those that are run by name are executable; nothing else is. What ends in .sh is run
# with bash, so either is right.

. "$(dirname "$0")/lib.sh"

for file in $(shell_files | sort -u); do
	bash -n "$file" 2>&1
done | verdict 'shell scripts parse'

sh -n bootstrap 2>&1 | verdict 'bootstrap parses as POSIX sh'

for file in $(tree_files | grep -v '\.sh$'); do
	case $(head -c 2 "$file" | tr -d '\0') in
	'#!') [ -x "$file" ] || echo "$file: has #! but isn't executable" ;;
	*) [ ! -x "$file" ] || echo "$file: executable, but has no #!" ;;
	esac
done | verdict 'what has a #! line is executable, and nothing else is'
finish
