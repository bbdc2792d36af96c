# SPDX-License-Identifier: GPL-3.0-or-later
#
# Manual pages are clean for mandoc, down to its notes on style.

. "$(dirname "$0")/lib.sh"

pages=$(tree_files | grep -E '^man/.*\.[1578]$')
if [ -z "$pages" ]; then
	skip 'manual pages' 'there are none yet'
elif ! command -v mandoc >/dev/null; then
	skip 'manual pages' 'no mandoc (apt install mandoc)'
else
	mandoc -Tlint -W style $pages 2>&1 | grep -vE 'referenced manual not found|lower case character in document title|missing date' |
		verdict 'mandoc has nothing to say about the manual pages'
	for page in $pages; do
		grep -qE '^\.Nd ' "$page" || echo "$page: no one-line description"
	done | verdict 'each page says in one line what it is about'
fi
finish
