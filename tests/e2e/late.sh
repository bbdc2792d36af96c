# SPDX-License-Identifier: GPL-3.0-or-later
# A job whose directory or program is on a file system that doesn't answer blocks nothing but its own slot.
. "$(dirname "$0")/lib.sh"

command -v bindfs >/dev/null || skip_all "there is no bindfs"
[ -c /dev/fuse ] || skip_all "there is no FUSE"
mkdir -p source/dir mnt
printf '#!/bin/sh\necho it ran\n' >source/dir/tool
chmod 755 source/dir/tool
bindfs -f source mnt >bindfs.log 2>&1 &
server=$!
mounted() { grep -q " $test_dir/mnt " /proc/self/mounts; }
leave() {
	kill -CONT "$server" 2>/dev/null
	titan -y down >/dev/null 2>&1
	umount -l mnt 2>/dev/null || fusermount3 -u -z mnt 2>/dev/null || fusermount -u -z mnt 2>/dev/null
	kill "$server" 2>/dev/null
	wait "$server"
	finish
}
trap leave EXIT
until_true 5 mounted || skip_all "nothing can be mounted here: $(cat bindfs.log)"

export TITAN_HEARTBEAT=100ms TITAN_LEASE=1s TITAN_GRACE=2s
start_cluster --slots 4
kill -STOP "$server"
cat >where.yaml <<END
jobs:
  there: {run: 'pwd; echo it ran', dir: $test_dir/mnt/dir}
END
there=$(titan run where.yaml)
tool=$(titan run -e "j; j='$test_dir/mnt/dir/tool'")
exits "other jobs run while one hangs in its directory" 0 titan --timeout 30s run --wait -e "{a*50}; a='true'"
is "the worker is up" "$(state_of '.workers[0].state')" up
is "the job hasn't started" "$(job_state "$there" there)" assigned
like "explain says so" "$(titan explain "$there/there")" "hasn't reported the job's start"

other=$(titan run where.yaml)
exits "one that hangs is cancelled" 0 titan -y cancel "$other"
ok "and is gone" until_true 10 run_is "$other" cancelled

kill -CONT "$server"
exits "when the file system answers the job runs" 0 titan --timeout 30s wait "$there"
is "there" "$(titan logs "$there/there" | tr '\n' ' ')" "$test_dir/mnt/dir it ran "
is "with its first try" "$(titan --json show "$there/there" | jq '.[0] | .tries')" 1
exits "a script that used it ends well, too" 0 titan --timeout 30s wait "$tool"

done_testing
