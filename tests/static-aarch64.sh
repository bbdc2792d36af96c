# SPDX-License-Identifier: GPL-3.0-or-later
# titan-static for aarch64 under qemu-user: it runs jobs in a root where there is nothing else.
# time-out: 300 s
#
# STATIC_AARCH64: the program; QEMU_AARCH64: qemu-aarch64, linked statically (tests/cross-aarch64 makes the one and gets the other)
. "$(dirname "$0")/e2e/lib.sh"

static=${STATIC_AARCH64:?path of titan-static for aarch64}
qemu=${QEMU_AARCH64:?path of qemu-aarch64}

is "it is for aarch64" "$(od -An -j 18 -N 2 -t x1 "$static" | tr -d ' ')" b700
is "it has less than 7 MB" "$([ "$(stat -c %s "$static")" -lt 7000000 ] && echo yes)" yes
is "it knows its own hash" "$("$qemu" "$static" version --hash)" "$(sha256sum "$static" | cut -d' ' -f1)"
is "and its version" "$("$qemu" "$static" version)" "$(titan version)"

# Namespaces of its own, so that the kernel runs programs for aarch64 by qemu in there and nowhere else: Linux 6.7 or later.
root=$test_dir/root
mkdir -p "$root/proc" "$root/dev"
cp "$static" "$root/titan"
cat >enter.sh <<'END'
mount -t binfmt_misc none /proc/sys/fs/binfmt_misc || exit 71
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf '%s' ":titan-aarch64:M::$magic:$mask:$1:F" >/proc/sys/fs/binfmt_misc/register || exit 71
mount -t proc proc "$2/proc" && : >"$2/dev/null" && mount --bind /dev/null "$2/dev/null" || exit 71
root=$2
shift 2
exec chroot "$root" "$@"
END
apart() { unshare --user --map-root-user --mount --pid --fork --kill-child --propagation private sh enter.sh "$qemu" "$root" "$@"; }
if ! apart /titan version >/dev/null 2>enter.log; then
	note "this kernel has no binfmt_misc of a user namespace (Linux 6.7), so without the empty root: $(tail -n 1 enter.log)"
	done_testing
fi

start_cluster --slots 1 --listen 127.0.0.1:0
address=$(sed -n 's/.*listening on //p' "$TITAN_STATE/default/master.log" | tail -n 1)
titan token add bare --worker -o bare.key 2>/dev/null
cp bare.key "$root/bare.key"
has_worker() { titan --json worker ls | jq -e ".[] | select(.name == \"$1\" and .state == \"$2\")" >/dev/null; }
setsid unshare --user --map-root-user --mount --pid --fork --kill-child --propagation private sh enter.sh "$qemu" "$root" \
	/titan worker start -H "$address" --key /bare.key --slots 2 --label bare --state /state >bare.log 2>&1 &
outer=$!
ok "a worker in an empty root connects" until_true 120 has_worker bare up || note "$(cat bare.log)"
run=$(titan run --private --label bare -- /titan version)
exits "it runs a job" 0 titan --timeout 120s wait "$run"
is "the job succeeds" "$(run_state "$run")" succeeded
like "its output arrives" "$(titan logs "$run")" "^titan $(titan version | cut -d' ' -f2)"
run=$(titan run --private --label bare -- /titan nonsense)
exits "another one fails" 1 titan --timeout 120s wait "$run"
like "with the exit code of its program" "$(titan show "$run")" 'exit 2'
is "nothing else is in there" "$(cd "$root" && find . -maxdepth 1 | sort | tr '\n' ' ')" '. ./bare.key ./dev ./proc ./state ./titan '
kill -KILL $outer
wait $outer 2>/dev/null
done_testing
