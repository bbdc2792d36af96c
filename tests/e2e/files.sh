# SPDX-License-Identifier: GPL-3.0-or-later
# Files in jobs: they come from the submitter, are checked at the worker, and stand in the job's directory before it starts. A worker of
# another machine, a worker's cache, a master and a link that are killed meanwhile, a content that can't be had.
# time-out: 300 s
. "$(dirname "$0")/lib.sh"

export TITAN_HEARTBEAT=200ms TITAN_LEASE=4s TITAN_GRACE=6s
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
start_cluster --slots 2 --listen "127.0.0.1:$port"
log() { titan logs "$1" | tr '\n' ' ' | sed 's/ *$//'; }
ran() { # JOB ARGUMENT...: the output of that job of titan run
	local job=$1 run
	shift
	run=$(titan run "$@") || return
	titan --timeout 60s wait "$run" >/dev/null 2>&1
	log "$run/$job"
}
echo one >data
mkdir -p tree/sub
echo leaf >tree/sub/leaf
ln -s sub/leaf tree/link
printf '#!/bin/sh\necho "tool $1"\n' >tool
chmod 755 tool

# --- under their names ---
is "a file stands in the job's directory" "$(ran a --private --file data -e 'a="cat data"')" one
is "under another name" "$(ran a --private --file data=in/first -e 'a="cat in/first"')" one
is "or where TITAN_FILES says" "$(ran a --file data -e 'a="cat $TITAN_FILES/data; pwd"')" "one $PWD"
is "there is no such variable without files" "$(ran a -e 'a="echo ${TITAN_FILES-none}"')" none
is "a directory with its links" "$(ran a --private --file tree/ -e 'a="cat tree/link; ls tree"')" "leaf link sub"
is "a program can be run" "$(ran a --private --file ./tool=bin/t -e 'a="bin/t x"')" "tool x"
is "files of a command" "$(ran cat --private --file data -- cat data)" one
is "and of lines" "$(echo 'cat data' | ran 1 --private --file data --lines)" one
like "a file is the same for all, so nobody changes it" "$(ran a --private --file data -e 'a="stat -c %a:%h data"')" '^444:[2-9]'
is "a dry run sends nothing" "$(titan run -n --file tree/sub -e a=true >/dev/null && echo fine)" fine
run=$(titan run --private --file data=x --file tool -e a=true)
titan --timeout 60s wait "$run" >/dev/null 2>&1
is "show lists them" "$(titan --json show "$run/a" | jq -c '.[0].inputs')" '["x=data","tool"]'
is "a run again has what the run had" "$(echo two >data; ran a --again "$(titan run --private --file data=x -e 'a="cat x"')")" two

# --- in a pipeline ---
mkdir -p flow/conf
echo ini >flow/conf/prod.ini
echo asset one >model
titan asset put model >/dev/null
cat >flow/p.yaml <<'END'
defaults: {files: [./conf/prod.ini], shell: sh}
jobs:
  a: {run: "cat prod.ini; ls", dir: private}
  b: {run: "cat model new/name", dir: private, files: [model, {src: conf/prod.ini, as: new/name}]}
  c: {run: "echo more >>mine; cat mine", dir: private, files: [{src: ./conf/prod.ini, as: mine, write: true}]}
  d: {run: "ls", dir: private, files: []}
  e: {run: "cat dir/prod.ini", dir: private, files: {src: ./conf, as: dir}}
END
run=$(titan run flow/p.yaml)
exits "a pipeline with files" 0 titan --timeout 60s wait "$run"
is "jobs have the files of the defaults" "$(log "$run/a")" "ini prod.ini"
is "or their own, from assets, under other names" "$(log "$run/b")" "asset one ini"
is "and may write to copies" "$(log "$run/c")" "ini more"
is "none is none" "$(log "$run/d")" ""
is "a directory" "$(log "$run/e")" "ini"
is "show says which version of an asset" "$(titan --json show "$run/b" | jq -c '.[0].inputs')" '["model=model@1","new/name=conf/prod.ini"]'
echo asset two >model
titan asset put model >/dev/null
is "a run again has the version of the run" "$(ran b --again "$run")" "asset one ini"
titan graph --yaml "$run" >again.yaml
is "and a pipeline made of it too" "$(ran b again.yaml)" "asset one ini"
is "a new submit has the new one" "$(ran b flow/p.yaml)" "asset two ini"
is "--file goes before" "$(ran b --file data=model flow/p.yaml)" "two ini"
wrong() { printf 'jobs:\n  a: {run: x, files: [%s]}\n' "$1" >flow/wrong.yaml; exits "refused: $1" "$2" titan run flow/wrong.yaml; }
wrong ./none 4
like "a missing file is shown at its place" "$err" 'wrong.yaml:2:'
wrong none 4
like "and so is a missing asset" "$err" "wrong.yaml:2:.*there is no asset 'none'"
wrong p.yaml 4
like "with what may be meant" "$err" 'write ./p.yaml'
wrong model@7 4
wrong '{src: ./conf, as: ../x}' 2
wrong './p.yaml, {src: ./conf, as: p.yaml}' 2
wrong '{src: ./conf, to: x}' 2
like "the keys are told" "$err" 'src, as and write'
printf 'jobs: {a: {run: x, files: [./none]}}\n' >flow/wrong.yaml
exits "a pipeline that names files has no contents" 2 titan graph --yaml flow/p.yaml
exits "validate looks for files" 4 titan validate flow/wrong.yaml
printf 'schedule: {cron: "0 3 * * *"}\njobs: {a: {run: x, files: [./p.yaml]}}\n' >flow/wrong.yaml
exits "a schedule can't have files" 2 titan schedule add flow/wrong.yaml

# --- what can't be ---
exits "a file that isn't there" 4 titan run --file none -e a=true
like "is named" "$err" 'none'
exits "a name above the directory" 2 titan run --file data=../x -e a=true
like "says why" "$err" 'no \. and \.\. in it'
exits "an absolute name" 2 titan run --file data=/x -e a=true
exits "one of titan's own" 2 titan run --file data=.titan-script -e a=true
exits "two files of one name" 2 titan run --file data=x --file tool=x -e a=true
like "says so" "$err" 'two files have the same name'
exits "a file inside a file" 2 titan run --file data=x --file tool=x/y -e a=true
exits "a run again has its own files" 2 titan run --file data --again "$run"

# --- a worker of another machine ---
titan token add far --worker -o far.key >/dev/null
mkdir far
TITAN_STATE=$test_dir/far titan worker start -H "127.0.0.1:$port" --key far.key --name far --slots 2 >far.out 2>&1 </dev/null &
is_up() { titan --json worker ls | jq -e ".[] | select(.name == \"$1\" and .state == \"up\")" >/dev/null; }
ok "another worker is up" until_true 60 is_up far
exits "this one gets no more jobs" 0 titan cordon local
is "files get there" "$(ran a --private --file data --file tree -e 'a="cat data tree/sub/leaf"')" "two leaf"
cache=$test_dir/far/default/worker/far/cache
hash=$(sha256sum <data | cut -d ' ' -f 1)
is "and stay in its cache" "$(cat "$cache/files/$hash")" two
head -c 3000000 /dev/urandom >large
is "a large one as well" "$(ran a --private --file large -e 'a="sha256sum <large"')" "$(sha256sum <large)"

# --- a damaged file in the cache ---
chmod u+w "$cache/files/$hash"
echo bad >"$cache/files/$hash"
is "is fetched again" "$(ran a --private --file data -e 'a="cat data"')" two
is "as a whole" "$(cat "$cache/files/$hash")" two

# --- what is cut is whole in the end ---
head -c 40000000 /dev/urandom >huge
sum=$(sha256sum <huge)
link_of() { pgrep -P "$(titan --json worker show far | jq .pid)" -f 'titan.*link|^titan-link' | head -n 1; }
run=$(titan run --private --file huge -e 'a="sha256sum <huge"')
link=$(link_of)
ok "the link is found" test -n "$link"
kill -KILL "$link"
pid=$(master_pid)
kill -KILL "$pid"
until_true 10 process_gone "$pid"
titan up --listen "127.0.0.1:$port" >/dev/null 2>&1
titan cordon local >/dev/null 2>&1
exits "a run lives through the end of link and master" 0 titan --timeout 120s wait "$run"
is "with its file" "$(log "$run/a")" "$sum"
done_testing
