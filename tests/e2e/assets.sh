# SPDX-License-Identifier: GPL-3.0-or-later
# Assets: put and get of files and directories, versions, pins, what can't be part of an asset, and an upload that goes on
# after a kill -9 of the master.
# time-out: 240 s
. "$(dirname "$0")/lib.sh"

start_cluster --slots 1
asset() { titan asset "$@"; }
field() { titan --json asset show "$1" | jq -r ".$2"; }
goods=$TITAN_STATE/default/goods
contents() { find "$goods/blobs" "$goods/packs" -type f | wc -l; }
restart() { # [PID]: of the master, if that is stopped and so can't be asked
	local pid=${1:-$(master_pid)}
	kill -KILL "$pid"
	until_true 10 process_gone "$pid"
	titan up >/dev/null 2>&1
	until_true 30 worker_is_up
}

# --- files and versions ---
exits "there is none" 0 titan --plain asset
is "and the list is empty" "$out" ""
echo one >model
exits "a file is put" 0 asset put model
is "as version 1" "$out" model@1
exits "the same content again" 0 asset put model
is "makes no version" "$out" model@1
exits "also for programs" 0 titan --json asset put model
is "which are told that nothing changed" "$(jq -r .changed <<<"$out")" 0
echo two >model
exits "another content" 0 asset put model
is "is version 2" "$out" model@2
exits "the newest version is printed" 0 asset get model -o -
is "as it is" "$out" two
exits "and an older one" 0 asset get model@1 -o -
is "as it was" "$out" one
exits "a file isn't replaced" 2 asset get model
like "unless that is wanted" "$err" '--force'
exits "then it is" 0 asset get model@1 --force
is "by the content" "$(cat model)" one
exits "a path can be given" 0 asset get model -o copy
is "and has it" "$(cat copy)" two
is "nothing else is left" "$(find . -name '*.part' | wc -l)" 0
printf '#!/bin/sh\necho runs\n' >tool
chmod 755 tool
exits "a program is put" 0 asset put tool
exits "and fetched" 0 asset get tool -o tool2
is "it can be executed" "$(./tool2)" runs
is "a version can be looked at" "$(field model@1 kind) $(field model@1 bytes) $(field model@1 newest)" "file 4 false"
is "by its hash" "$(field model@1 hash)" "sha256:$(echo one | sha256sum | cut -d ' ' -f 1)"
is "the list has the newest" "$(titan --plain asset ls | cut -f 1,2 | tr '\t\n' '@ ')" "model@2 tool@1 "
is "or all of one" "$(titan --plain asset ls model | cut -f 2 | tr '\n' ' ')" "1 2 "
exits "a device is refused" 2 asset put /dev/null empty
: >empty
exits "an empty file isn't" 0 asset put empty
exits "comes back" 0 asset get empty -o empty2
is "empty" "$(stat -c %s empty2)" 0

# --- removing, pins ---
exits "a dry run" 0 asset rm model -n
is "removes nothing" "$(field model asset_version)" 2
exits "a version is pinned" 0 asset pin model@1
exits "it can't be removed" 3 asset rm model@1
like "which is said" "$err" 'pinned'
exits "nor the whole asset" 3 asset rm model
exits "the other one can" 0 asset rm model@2
is "then the older one is the newest" "$(field model asset_version)" 1
exits "a new version" 0 asset put copy model
is "has a number of its own" "$out" model@3
restart
is "which is so after a kill -9" "$(field model asset_version) $(field model@1 pinned)" "3 true"
exits "the pin is taken off" 0 asset pin model@1 --off
exits "and all is removed" 0 asset rm model
exits "then it is gone" 4 asset get model -o gone
like "which is said" "$err" "there is no asset 'model'"
exits "acts are in the history" 0 titan --plain history --verb pin
like "with the asset" "$out" 'asset model'

# --- directories ---
mkdir -p 'tree/a/b' tree/.hidden
echo deep >tree/a/b/deep
echo hidden >tree/.hidden/file
printf '#!/bin/sh\n' >tree/a/run
chmod 750 tree/a/run
head -c 400000 /dev/urandom >tree/large
: >tree/empty
printf x >"tree/$(printf 'odd\n\033[31m\377')"
ln -s a/run tree/link
ln -s ../../large tree/a/b/up
exits "a directory is put" 0 asset put tree
exits "and fetched" 0 asset get tree -o tree2
ok "with all that is in it" diff -r --no-dereference tree tree2
is "links are links" "$(readlink tree2/a/b/up)" ../../large
ok "and programs can be executed" test -x tree2/a/run
exits "an equal directory elsewhere" 0 asset put tree2 tree
is "is the same version" "$out" tree@1
echo more >>tree/a/b/deep
exits "a change" 0 titan --json asset put tree
is "is a version" "$(jq -r .asset_version <<<"$out")" 2
ok "for which little is sent" test "$(jq -r .sent_bytes <<<"$out")" -lt 10000
is "the older one is as it was" "$(asset get tree@1 -o tree1 && diff -r --no-dereference tree1 tree2 && echo same)" same
exits "a directory isn't replaced" 2 asset get tree -o tree2 --force
mkdir many
for i in $(seq 3000); do echo "file $i" >many/$i; done
before=$(contents)
exits "many small files" 0 asset put many
ok "share few files on disk" test $(($(contents) - before)) -lt 20
exits "and come back" 0 asset get many -o many2
ok "as they were" diff -r many many2

# --- what can't be part of an asset ---
mkdir bad
refused() { # WHAT TEXT
	exits "$1 is refused" 2 asset put bad
	like "with a sentence" "$err" "$2"
	rm -rf bad/*
}
ln -s /etc/passwd bad/link
refused "an absolute link" 'bad/link: the link leaves the directory'
ln -s ../../etc/passwd bad/link
refused "a link that leaves" 'bad/link: the link leaves the directory'
mkdir bad/dir
ln -s dir/../../x bad/link
refused "a link with .. in its middle" 'bad/link: the link leaves'
mkfifo bad/pipe
refused "a pipe" 'bad/pipe: it is no regular file'
ln -s /etc bad/etc
exits "a link on the command line" 0 asset put "$(readlink -f tree2)/link" linked
is "is followed" "$(field linked kind)" program
exits "a hostile name" 2 asset put copy "$(printf '../x\033[31m')"
unlike "isn't printed as it is" "$err" "$(printf '\033')"
exits "a name with a directory" 2 asset get ../model
exits "an impossible version" 2 asset get tree@0
exits "a version that isn't there" 4 asset get tree@99
like "is named" "$err" 'no version 99'
exits "a file that isn't there" 71 asset put nothing
exits "nothing of them is kept" 4 asset show bad

# --- an upload is interrupted ---
head -c 60000000 /dev/urandom >large
part_bytes() { find "$goods/incoming" -type f -printf '%s\n' 2>/dev/null | sort -n | tail -n 1; }
has_some() { local have; have=$(part_bytes); [ "${have:-0}" -gt 1000000 ] && [ "$have" -lt 60000000 ]; }
# The master is stopped amid the upload, killed, and started again; the command goes on.
pid=$(master_pid)
(while ! has_some; do [ -e sent ] && exit; done; kill -STOP "$pid"; touch stopped) &
watcher=$!
{ asset put large >put.out 2>put.err; echo $? >sent; } &
putter=$!
wait "$watcher"
if [ -e stopped ]; then
	had=$(part_bytes)
	restart "$pid"
	wait "$putter"
	is "the upload goes on after a kill -9" "$(cat sent) $(cat put.out)" "0 large@1"
	ok "with what had come" test "$had" -gt 1000000
else
	wait "$putter"
	is "the upload was too fast to be interrupted" "$(cat sent)" 0
fi
exits "the content is whole" 0 asset get large -o large2
ok "and the same" cmp large large2
is "nothing unfinished is left" "$(find "$goods/incoming" -type f | wc -l)" 0

# --- a content that nothing names ---
before=$(contents)
exits "an asset is removed" 0 asset rm large
titan -q -y down --keep-workers
find "$goods" -type f -exec touch -d '2 hours ago' {} +
titan up >/dev/null 2>&1
until_true 30 worker_is_up
fewer() { [ "$(contents)" -lt "$before" ]; }
ok "and after an hour its content is gone" until_true 30 fewer
exits "that of others isn't" 0 asset get many -o many3
ok "all of it" diff -r many many3
titan -q -y down --keep-workers
mv "$goods" "$goods.away"
touch "$goods"
titan up >/dev/null 2>&1
until_true 30 worker_is_up
exits "without the contents jobs run" 0 titan run -w -e 'a=true'
exits "and assets are listed" 0 asset show tree
exits "but not read" 71 asset get tree -o unread
like "which is explained" "$err" 'a directory of assets'
titan -q -y down --keep-workers
rm "$goods"
titan up >/dev/null 2>&1
until_true 30 worker_is_up
exits "content that is lost" 4 asset get tree -o lost
like "is named" "$err" 'has no content sha256:'
titan -q -y down --keep-workers
rm -r "$goods"
mv "$goods.away" "$goods"
titan up >/dev/null 2>&1
until_true 30 worker_is_up
exits "back in its place it is read" 0 asset get tree -o found
exits "a backup says what it lacks" 0 titan backup "$test_dir/copy.db"
like "for people" "$err" 'contents of assets'
exits "a content is damaged on the disk" 0 bash -c "f=\$(find '$goods/blobs' -type f -size +300k | head -n 1); printf x | dd of=\$f bs=1 seek=1000 conv=notrunc 2>/dev/null"
exits "that is noticed" 74 asset get tree -o damaged
ok "and nothing of it appears" test ! -e damaged
is "nor anything else" "$(find . -maxdepth 1 -name '*.part' | wc -l)" 0
done_testing
