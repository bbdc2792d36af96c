# SPDX-License-Identifier: GPL-3.0-or-later
#
# No file over 700 lines and no function over 70 without a recorded reason; no reason for what is short.

. "$(dirname "$0")/lib.sh"

long_files() {
	local file lines
	all_c_files | while IFS= read -r file; do
		lines=$(wc -l <"$file")
		[ "$lines" -le 700 ] || echo "$file $lines"
	done
}

long_functions() {
	perl tests/lint/long-functions 70 $(c_files; tree_files | grep -E '^tests/.*\.c$')
}

entries() { # LIST
	grep -v '^#' "$1"
}

long_files | while read -r file lines; do
	entries tests/lint/long-files | grep -q "^$file [^ ]" || echo "$file: $lines lines"
done | verdict 'no file over 700 lines without a reason in tests/lint/long-files'

long_functions | while read -r place name lines; do
	entries tests/lint/long-functions-allowed | grep -q "^${place%:*} $name [^ ]" ||
		echo "$place: $name has $lines lines"
done | verdict 'no function over 70 lines without a reason in tests/lint/long-functions-allowed'

{
	found=$(long_files)
	entries tests/lint/long-files | while read -r file reason; do
		printf '%s\n' "$found" | grep -q "^$file " || echo "tests/lint/long-files: $file isn't long any more"
	done
	found=$(long_functions)
	entries tests/lint/long-functions-allowed | while read -r file name reason; do
		printf '%s\n' "$found" | grep -qE "^$file:[0-9]+ $name " ||
			echo "tests/lint/long-functions-allowed: $name in $file isn't long any more"
	done
} | verdict 'recorded reasons are still needed'
finish
