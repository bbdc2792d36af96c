# SPDX-License-Identifier: GPL-3.0-or-later
#
# What every file of the tree keeps to, whatever it holds.

. "$(dirname "$0")/lib.sh"

# Fixtures are data: golden screens have trailing blanks, a corpus isn't text.
texts() {
	tree_files | grep -vE '^tests/(fixtures|fuzz/corpus)/|\.golden$'
}

scripts_and_sources() {
	tree_files | grep -E '\.(c|h|def|sh|mk|ac|am|sql|pl|bash|zsh|fish)$'
	shell_files
}

# What is generated says of what instead.
for file in $(scripts_and_sources | sort -u | grep -vE '^share/(completions/|sql/schema\.sql)'); do
	head -n 5 "$file" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' || echo "$file"
done | verdict 'every source file names the licence in its first lines'

# The words are put together here, so that this file doesn't find itself.
unfinished='\b(TO''DO|FIX''ME|XX''X)\b([^-]|$)'
grep -nE "$unfinished" $(texts) /dev/null | verdict 'no marks of unfinished work'

grep -nE '[ 	]+$' $(texts | grep -v '\.patch$') /dev/null | verdict 'no trailing whitespace'

for file in $(texts); do
	[ -s "$file" ] || { echo "$file: empty"; continue; }
	[ -z "$(tail -c 1 "$file")" ] || echo "$file: no newline at the end"
done | verdict 'every file ends with a newline'

grep -nE "(/wo""rk/|/tm""p/dev|/hom""e/[a-z]|/Use""rs/)" $(texts) /dev/null | verdict 'no paths of one machine'

grep -n "$(printf '\r')" $(texts) /dev/null | verdict 'no carriage returns'

grep -nE '^ {8}' $(tree_files | grep -E '\.(c|h)$') /dev/null | verdict 'tabs for indentation in C'
finish
