# SPDX-License-Identifier: GPL-3.0-or-later
# The simulator must find each bug of planted.def, and each of those that are patches still.
#
# PLANTED_SCHEDULES: how many schedules each gets (5000). PLANTED: only bugs whose name has this in it.
# PLANTED_JOBS: how many are tried at once (as many as there are cores).
# time-out: 900 s
set -u

sim=${TITAN_SIM:?path of titan-sim}
planted=${TITAN_SIM_PLANTED:?path of titan-sim-planted}
source_dir=${TITAN_SRCDIR:?the source tree}
build_dir=${TITAN_BUILDDIR:?the build tree}
compiler=${CC:-cc}
schedules=${PLANTED_SCHEDULES:-5000}
at_once=${PLANTED_JOBS:-$(nproc)}
work=$(mktemp -d "${TMPDIR:-/tmp}/titan-planted.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
value() { sed -nE "s/^$1 = //p" "$build_dir/Makefile" | tr '\n' ' '; }
flags="$(value '(TITAN_)?CFLAGS') -O1 -w -D_GNU_SOURCE -DTITAN_VERSION=\"planted\""
libs="$build_dir/libproto.a $build_dir/libbase.a $(value TITAN_LDFLAGS) $(value '(MSGPACK|UTF8PROC|CRYPTO)_LIBS') -lpthread"
number=0
failed=0

result() { # STATUS TEXT
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number - $2"
	else
		echo "not ok $number - $2"
		failed=1
	fi
}

# The simulator of that tree; what isn't changed comes from the build.
build() { # TREE
	local tree=$1 file name object objects=
	mkdir -p "$tree/o"
	for file in "$tree"/src/core/*.c "$tree"/src/core/*/*.c "$tree/src/worker/ledger.c"; do
		name=${file#"$tree"/}
		object=$build_dir/${name%.c}.o
		if [ -n "$headers_changed" ] || ! cmp -s "$file" "$source_dir/$name"; then
			object=$tree/o/$(basename "$name" .c).o
			$compiler $flags -I"$tree/src" -I"$source_dir" -I"$source_dir/src" -c "$file" -o "$object" || return
		fi
		objects="$objects $object"
	done
	for file in "$source_dir"/tests/sim/*.c; do
		objects="$objects $build_dir/tests/sim/$(basename "$file" .c).o"
	done
	$compiler $flags $objects $libs -o "$tree/titan-sim"
}

copy() { # TREE
	mkdir -p "$1/src/worker"
	cp -R "$source_dir/src/core" "$1/src/"
	cp "$source_dir"/src/worker/ledger.[ch] "$1/src/worker/"
}

said=$("$sim" --schedules 200 2>&1) && [ "$("$planted" --schedules 200 2>&1)" = "$said" ]
result $? "without a bug, titan-sim-planted does what titan-sim does"

# Says what came of it, and ends with 0 if it was found.
try_point() { # NAME
	local out=$work/$1.out status
	timeout 100 "$planted" --bug "$1" --schedules "$schedules" >"$out" 2>&1
	status=$?
	grep -m 1 -E '^seed .* fails' "$out" || tail -n 3 "$out"
	grep -E '^schedules=' "$out"
	rm -f "$out"
	[ $status = 1 ]
}

# Says what came of it, and ends with 0 if it was found.
try() { # PATCH NAME
	local tree=$work/$2 status
	copy "$tree"
	if ! patch -s -p1 -F0 -d "$tree" <"$1"; then
		echo "$2 doesn't apply"
		return 1
	fi
	headers_changed=$(cd "$tree/src" && find . -name '*.h' | while read -r h; do
		cmp -s "$h" "$source_dir/src/$h" || echo "$h"; done)
	build "$tree" || return 1
	timeout 100 "$tree/titan-sim" --schedules "$schedules" >"$tree/out" 2>&1
	status=$?
	grep -m 1 -E '^seed .* fails' "$tree/out"
	rm -rf "$tree"
	[ $status = 1 ]
}

tried=
for name in $("$planted" --bugs | cut -f 1 | grep -F -e "${PLANTED-}"); do
	while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
	{ try_point "$name" >"$work/$name.said" 2>&1; echo $? >"$work/$name.status"; } &
	tried="$tried $name"
done

headers_changed=
for patch in "$source_dir"/tests/sim/bugs/*"${PLANTED-}"*.patch; do
	[ -f "$patch" ] || continue
	name=$(basename "$patch" .patch)
	while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
	{ try "$patch" "$name" >"$work/$name.said" 2>&1; echo $? >"$work/$name.status"; } &
	tried="$tried $name"
done
wait
for name in $tried; do
	head -n 20 "$work/$name.said" | sed 's/^/# /'
	result "$(cat "$work/$name.status")" "$name is found"
done

echo "1..$number"
exit $failed
