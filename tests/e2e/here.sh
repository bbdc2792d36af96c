# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs run in the directory where they are submitted, with a few variables of the submitter; or in an empty directory.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
mkdir -p work/parts
cd work || exit 1
cat >work <<'END'
#!/bin/sh
echo worked "$@"
END
chmod +x work
log() { titan logs "$1" | tr '\n' ' ' | sed 's/ *$//'; }
ran() { # JOB ARGUMENT...: the output of that job of titan run
	local job=$1 run
	shift
	run=$(titan run "$@") || return
	titan --timeout 60s wait "$run" >/dev/null 2>&1
	log "$run/$job"
}

is "a relative command works" "$(ran a -e 'a=./work')" worked
is "also in a line" "$(echo './work 7' | ran 1 --lines)" "worked 7"
is "jobs are in the directory" "$(ran a -e 'a=pwd')" "$PWD"
is "the scratch directory is another one" "$(ran a -e 'a="test -d $TITAN_SCRATCH -a ! $TITAN_SCRATCH -ef . && echo other"')" other
echo 'jobs: {p: {run: pwd}, q: {run: pwd, dir: private}, s: {pipeline: sub.yaml}}' >parts/p.yaml
echo 'jobs: {inner: {run: pwd}}' >parts/sub.yaml
run=$(titan run parts/p.yaml)
titan --timeout 60s wait "$run" >/dev/null 2>&1
is "those of a pipeline in that of its file" "$(log "$run/p")" "$PWD/parts"
like "dir: private is an empty one" "$(log "$run/q")" "/attempts/[0-9]+$"
inner=$(titan --json show "$run" | jq -r '.[0] | .jobs[] | select(.name == "s") | .child')
is "a sub-run has that of its run" "$(log "$inner/inner")" "$PWD/parts"
is "a pipeline that comes through a pipe has the current one" "$(ran p <(echo 'jobs: {p: {run: pwd}}'))" "$PWD"
is "--dir is another" "$(ran a --dir parts -e 'a=pwd')" "$PWD/parts"
like "--private is an empty one" "$(ran a --private -e 'a=pwd')" "/attempts/[0-9]+$"
like "also on the line" "$(ran a -e 'a=pwd dir=private')" "/attempts/[0-9]+$"
exits "both make no sense" 2 titan run --private --dir / -e a=pwd

export LC_TIME=C VIRTUAL_ENV=/venv FOO=foo MY_TOKEN=hush api_key=hush PATH="$PWD:$PATH"
is "a program of the submitter's path is found" "$(ran a -e 'a=work')" worked
is "variables go along" "$(ran a -e 'a="echo $LC_TIME $VIRTUAL_ENV $HOME"')" "C /venv $HOME"
is "others don't" "$(ran a -e 'a="echo ${FOO:-none}"')" none
is "--env NAME names one" "$(ran a --env FOO --env MY_TOKEN -e 'a="echo $FOO $MY_TOKEN"')" "foo hush"
is "--env-all takes all but secrets" "$(ran a --env-all -e 'a="echo $FOO ${MY_TOKEN:-none} ${api_key:-none}"')" "foo none none"
is "the job's own comes first" "$(ran a -e 'a="echo $VIRTUAL_ENV" env=VIRTUAL_ENV=own')" own
is "and so does --env" "$(ran a --env VIRTUAL_ENV=line -e 'a="echo $VIRTUAL_ENV"')" line
exits "what isn't set can't be given" 2 titan run --env NOT_SET_HERE -e a=true
like "and it says what to do" "$err" 'NOT_SET_HERE=VALUE'
is "a job that says titan means this one" "$(PATH=/usr/bin:/bin ran a -e 'a="command -v titan"')" "$TITAN"

echo 'seen' >mine
ran a -e 'a="echo left >behind; mkdir -p tree; cat mine"' >/dev/null
run=$(titan run --private -e 'a="echo x >left; titan run -w -e b=pwd"')
titan --timeout 60s wait "$run" >/dev/null 2>&1
inside=$(titan --json ls | jq '[.[] | select(.name == "b")][0].run')
like "what a job submits from its own directory gets another empty one" "$(log "$inside/b")" '/attempts/[0-9]+$'
run=$(titan run -e 'a="titan run -w -e c=pwd"')
titan --timeout 60s wait "$run" >/dev/null 2>&1
inside=$(titan --json ls | jq '[.[] | select(.name == "c")][0].run')
is "what it submits from where it was submitted, that" "$(log "$inside/c")" "$PWD"

printf 'name: night\nschedule: {cron: "0 3 1 1 *"}\njobs: {n: {run: pwd}}\n' >parts/night.yaml
titan schedule add parts/night.yaml >/dev/null 2>&1
(cd / && titan schedule fire night >/dev/null 2>&1)
run=$(titan --json ls | jq '[.[] | select(.name == "night")][0].run')
titan --timeout 60s wait "$run" >/dev/null 2>&1
is "a schedule has the directory of its file" "$(log "$run/n")" "$PWD/parts"

mkdir gone
run=$(cd gone && titan run -e 'a -> b; a="sleep 0.3; rmdir ../gone"; b=pwd')
titan --timeout 60s wait "$run" >/dev/null 2>&1
is "a directory that is gone fails the start" "$(job_state "$run" b)" failed
titan -y prune --keep 0 --dead >/dev/null 2>&1
titan -y down >/dev/null 2>&1
is "nothing in the directory was removed" "$(cat mine) $(cat behind) $(ls -d tree)" "seen left tree"
done_testing
