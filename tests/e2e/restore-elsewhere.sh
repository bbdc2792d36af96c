# SPDX-License-Identifier: GPL-3.0-or-later
# A backup with its contents and its key is restored in another place, as on another machine: assets, artifacts and files of jobs can
# be read, tokens work, and runs go on.
# time-out: 180 s
. "$(dirname "$0")/lib.sh"

export XDG_CONFIG_HOME=$test_dir/config
start_cluster --slots 2 --listen 127.0.0.1:0
old=$TITAN_STATE/default
exits "a backup of an empty cluster" 0 titan backup empty.titan
unlike "names no contents" "$err" 'contents of assets'

echo "an asset" >asset
mkdir -p tree/sub
echo deep >tree/sub/file
head -c 300000 /dev/urandom >large
titan -q asset put asset >/dev/null
titan -q asset put tree >/dev/null
titan -q asset put large >/dev/null
titan -q token add vera --role viewer -o vera.key
cat >flow.yaml <<END
name: flow
jobs:
  a: {dir: private, artifacts: {out: dist}, run: "mkdir dist; echo left >dist/x; cp $test_dir/large dist/"}
  held: {dir: private, needs: [a], artifacts: {in: a}, files: [asset], run: "cat dist/x asset; cmp dist/large $test_dir/large"}
END
run=$(titan -q run flow.yaml)
titan -q hold "$run/held"
ok "a job left files" until_true 30 job_is "$run" a succeeded
ended=$(titan -q run -w flow.yaml)

exits "a backup" 0 titan backup full.titan
like "says where the contents are" "$err" "contents of assets.*copy $old/goods"
like "and the key" "$err" "key in $old/titan.key"
mkdir away
cp -a "$old/goods" "$old/titan.key" away/
titan -q -y down
rm -rf "$TITAN_STATE"

# --- another machine: nothing of the old one but the copies ---
export TITAN_STATE=$test_dir/state2
exits "the backup is restored elsewhere" 0 titan restore full.titan
cp -a away/goods away/titan.key "$TITAN_STATE/default/"
start_cluster --slots 2 --listen 127.0.0.1:0
exits "an asset is read" 0 titan asset get asset -o -
is "as it was" "$out" "an asset"
exits "a large one" 0 titan asset get large -o large2
ok "too" cmp large large2
exits "a directory" 0 titan asset get tree -o tree2
ok "as well" diff -r tree tree2
exits "what jobs of ended runs left" 0 titan artifact get "$ended/a" dist/x -o -
is "is there" "$out" left
exits "also of live runs" 0 titan artifact get "$run/a" -o left
ok "whole" cmp left/dist/large large
titan -q release "$run/held"
exits "a job that waited goes on" 0 titan --timeout 60s wait "$run"
is "with the files of others and its own" "$(titan logs -q "$run/held" | tr '\n' ' ')" "left an asset "
address=$(sed -n 's/.*listening on //p' "$TITAN_STATE/default/master.log" | tail -n 1)
exits "tokens work" 0 env TITAN_STATE="$test_dir/nowhere" "$TITAN" -H "$address" --key vera.key ls
contents() { find "$TITAN_STATE/default/goods/blobs" "$TITAN_STATE/default/goods/packs" -type f | wc -l; }
before=$(contents)
titan -q -y down --keep-workers
find "$TITAN_STATE/default/goods" -type f -exec touch -d '2 hours ago' {} +
titan up >/dev/null 2>&1
until_true 30 worker_is_up
exits "no content that is named is removed" 0 titan artifact get "$ended/a" -o again
ok "none of it" diff -r left again
is "at all" "$(contents)" "$before"

# --- without the contents the rest works, and what is missing is said ---
titan -q -y down
rm -rf "$TITAN_STATE"
exits "the backup alone is restored" 0 titan restore full.titan
titan up --slots 1 >/dev/null 2>&1
until_true 30 worker_is_up
exits "what is missing" 4 titan artifact get "$ended/a" -o lost
like "is said" "$err" 'has no content sha256:'
exits "runs are there" 0 titan show "$ended"
done_testing
