# SPDX-License-Identifier: GPL-3.0-or-later
# Settings from titan.conf: which file counts, what a project may not set, and files that are refused because of their
# owner.
. "$(dirname "$0")/lib.sh"

chmod 755 "$test_dir"
user=$HOME/.config/titan/titan.conf
project=$test_dir/project/.titan.conf
cluster=$TITAN_STATE/lab/titan.conf
mkdir -p "$HOME/.config/titan" "$test_dir/project/deep/down"
cd "$test_dir/project/deep/down" || exit 1

# Which cluster would be talked to: no master runs yet.
talks_to() { titan --json ls 2>&1 | grep -o "state/[a-z]*" | head -n 1; }

is 'nothing is said' "$(talks_to)" state/default
echo 'cluster: ours' >"$user"
is "the user's file" "$(talks_to)" state/ours
echo 'cluster: lab' >"$project"
is "a project's comes before it, from above" "$(talks_to)" state/lab
is 'the environment before that' "$(TITAN_CLUSTER=env titan --json ls 2>&1 | grep -o 'state/[a-z]*' | head -n 1)" state/env
is 'an option before all' "$(TITAN_CLUSTER=env titan --json -C flag ls 2>&1 | grep -o 'state/[a-z]*' | head -n 1)" state/flag
mkdir -p "$test_dir/xdg/titan"
echo 'color: blue' >"$test_dir/xdg/titan/titan.conf"
exits 'XDG_CONFIG_HOME says where it is' 2 env XDG_CONFIG_HOME="$test_dir/xdg" "$TITAN" ls
like 'with its place' "$err" "^$test_dir/xdg/titan/titan.conf:1:8: error: key color must be one of auto.always.never, not 'blue'"

# ---- what is wrong ----

printf 'cluster: lab\nlisten: 0.0.0.0:80\n' >"$project"
exits 'a project that says where to listen' 3 titan ls
like 'has its line and column' "$err" "^$project:2:1: error: key 'listen' isn't allowed in a project's titan.conf"
like 'and is shown' "$err" '^    2 \| listen: 0\.0\.0\.0:80$'
like 'with a caret and its place' "$err" '\^~~~~~ it is allowed in a cluster'
exits 'as JSON' 3 titan --json ls
is 'in fields' "$(printf '%s' "$err" | jq -c '.error | [.line, .column, .status]')" '[2,1,3]'
exits 'titan help needs none of it' 0 titan help run
echo 'clutser: lab' >"$project"
exits 'a key that is misspelt' 2 titan ls
like 'finds its neighbour' "$err" "unknown key 'clutser'"
like 'under the caret' "$err" "did you mean 'cluster'"
printf 'color: never\n\tx: y\n' >"$project"
exits 'no YAML' 2 titan ls
like 'is told at its place' "$err" "\.titan\.conf:2:.*this isn't valid YAML"
rm "$project"
mkfifo "$project"
exits 'a pipe' 2 timeout 20 "$TITAN" ls
like 'is no file' "$err" 'must be a regular file'
rm "$project"

# ---- whose it is ----

echo 'cluster: lab' >"$project"
chmod 666 "$project"
exits 'a file that every user may write' 3 titan ls
like 'is refused' "$err" "every user may write to $project"
chmod 644 "$project"
if [ "$(id -u)" = 0 ]; then
	chown nobody "$project"
	exits "another user's file" 3 titan ls
	like 'is refused, too' "$err" "belongs to user [0-9]+, not to you or root"
	chown 0 "$project"
fi
mkdir -m 1777 "$test_dir/project/open"
echo 'color: blue' >"$test_dir/project/open/.titan.conf"
is 'a directory that every user may write holds no project' "$(cd "$test_dir/project/open" && talks_to)" state/lab

# ---- master and worker ----

printf 'slots: 3\nlabels: [gpu, big]\nkeep_runs: 5\n' >"$user"
mkdir -p "$TITAN_STATE"
mkdir -m 700 "$TITAN_STATE/lab"
printf 'labels: [night]\nkeep_runs: 1\nprune_every: 100ms\n' >"$cluster"
start_cluster
is 'a worker has the slots of the user and the labels of the cluster' \
	"$(titan --json worker ls | jq -c '.[0] | [.slots, .labels]')" '[3,["night"]]'
for i in 1 2 3; do titan run -q -w -e "a; a='echo $i'" >/dev/null; done
ok "the master keeps to the cluster's rule" until_true 20 sh -c "[ \"\$('$TITAN' --json ls | jq length)\" = 1 ]"
echo 'cluster: elsewhere' >"$project"
exits 'a job in a project of another cluster' 0 titan -C lab run -q -w -e "a; a='$TITAN --format {name} ls'" -d "$PWD"
like 'talks to its own' "$(titan -C lab logs last/a)" '^a$'
echo 'cluster: lab' >"$project"
titan -y down >/dev/null 2>&1
printf 'labels: [night]\ncolor: never\n' >"$cluster"
exits 'a wrong file of the cluster' 3 titan up
like "keeps it from starting" "$err" "^$cluster:2:1: error: key 'color' isn't allowed in a cluster's titan.conf"
exits 'and nobody else' 69 titan ls
rm "$cluster"
echo 'timeout: 300ms' >"$user"
start_cluster
exits 'a time-out' 124 titan run -w -e 'a; a="sleep 600"'
exits 'unless the option says otherwise' 8 titan wait last --timeout 0
titan cancel last >/dev/null

done_testing
