# SPDX-License-Identifier: GPL-3.0-or-later
#
# The include arrow: base < proto < tui < core, lang < goods, store, net < master, worker < cli < main. A part may
# include itself and what lies below it; parts of the same rank don't know each other. src/gen prints what
# the tables say and what cli makes of them, so it stands beside main.

. "$(dirname "$0")/lib.sh"

arrow() {
	awk '
	BEGIN {
		split("base:1 proto:2 tui:3 core:4 lang:4 goods:5 store:5 net:5 master:6 worker:6 cli:7 gen:8 main:8", pairs, " ")
		for (i in pairs) { split(pairs[i], pair, ":"); rank[pair[1]] = pair[2] }
	}
	function part(path) {
		if (path == "src/main.c" || path == "src/static.c") return "main"
		if (path ~ /^src\//) { split(path, piece, "/"); return piece[2] }
		split(path, piece, "/"); return piece[1]
	}
	/^[ \t]*#[ \t]*include/ {
		mine = part(FILENAME)
		if (match($0, /"[^"]*"/)) {
			name = substr($0, RSTART + 1, RLENGTH - 2)
			other = part(name)
			if (name !~ /\//) { print FILENAME ":" FNR ": \"" name "\" must name its folder"; next }
			if (!(other in rank)) { print FILENAME ":" FNR ": includes " name ", which is no part of the product"; next }
			if (other != mine && rank[other] >= rank[mine])
				print FILENAME ":" FNR ": " mine " must not include " other " (" name ")"
		}
	}' $(c_files; tree_files | grep -E '^(src|proto|tui)/.*\.def$')
}

# The folders of src/cli: show < session < ask < daemon, graph, reach < repl < dash, demo, follow < commands.
cli_arrow() {
	awk '
	BEGIN {
		split("show:1 session:2 ask:3 daemon:4 graph:4 reach:4 repl:5 dash:6 demo:6 follow:6 commands:7", pairs, " ")
		for (i in pairs) { split(pairs[i], pair, ":"); rank[pair[1]] = pair[2] }
	}
	FNR == 1 {
		split(FILENAME, piece, "/"); mine = piece[3]
		if (!(mine in rank)) print FILENAME ": lies in no folder of src/cli that has a place in the order"
	}
	/^[ \t]*#[ \t]*include "cli\// {
		split($0, piece, "/"); other = piece[2]
		if (other != mine && rank[other] >= rank[mine])
			print FILENAME ":" FNR ": " mine " must not include " other
	}' $(c_files | grep '^src/cli/')
}

# system headers that belong to one part only
only() { # HEADER-PATTERN ALLOWED-PATH-PATTERN
	grep -nE "^[ 	]*#[ 	]*include[ 	]*<($1)>" $(c_files) /dev/null | grep -vE "^($2)"
}

own_header_first() {
	local file header first
	for file in $(c_files | grep '\.c$'); do
		header=${file%.c}.h
		[ -f "$header" ] || continue
		first=$(grep -m 1 -E '^[ 	]*#[ 	]*include' "$file" | sed 's/.*[<"]\(.*\)[>"].*/\1/')
		header=${header#src/}
		[ "$first" = "$header" ] || [ "$first" = "${header%.h}_internal.h" ] ||
			[ "$first" = "${header%/*}/internal.h" ] || echo "$file: first includes $first, not $header"
	done
}

arrow | verdict 'parts include only what lies below them'
cli_arrow | verdict 'folders of src/cli include only what lies below them'
only '(ncursesw?/)?(n?curses|term|panel|form|menu)\.h' 'tui/screen\.c:' | verdict 'only tui/screen.c includes curses'
only 'readline/.*' 'src/cli/repl/typing\.c:' | verdict 'only src/cli/repl/typing.c includes readline'
only 'ev\.h|ev\+\+\.h' 'src/(net|master|worker|cli)/' | verdict 'libev stays in net and above'
only 'sqlite3\.h' 'src/store/' | verdict 'SQLite stays in store'
only 'msgpack.*' 'proto/' | verdict 'msgpack-c stays in proto'
only 'openssl/.*' 'src/(base|net|master|worker)/' | verdict 'OpenSSL stays out of core, proto, tui, store and cli'
rooms() { # a folder of core has a header for the others and an internal.h for itself
	grep -nE '^#[ 	]*include[ 	]*"core/[a-z]+/internal\.h"' $(c_files) /dev/null |
		awk -F: '{ split($3, path, "\""); sub(/[^\/]*$/, "", path[2]); if (index($1, "src/" path[2]) != 1) print $1 ":" $2 ": includes " $3 }'
}

rooms | verdict 'the internal.h of a folder of core is for the files of that folder'
own_header_first | verdict 'a source file includes its own header first'
finish
