# SPDX-License-Identifier: GPL-3.0-or-later
# Words that a newcomer tries first: each gets an answer that names the right command, and none changes anything.
guesses=$(cd "$(dirname "$0")/../fixtures" && pwd)/guesses.txt
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
cat >etl.yaml <<'END_YAML'
name: etl
jobs:
  fetch: {run: "echo rows"}
  load: {run: "echo rows; exit 3", needs: [fetch]}
  report: {run: "true", needs: [load]}
END_YAML
cat >nightly.yaml <<'END_YAML'
name: nightly
schedule: {cron: "0 3 * * *"}
jobs: {a: {run: "true"}}
END_YAML
titan -q schedule add nightly.yaml
titan -q run -w etl.yaml >/dev/null
mkdir -p bin
ln -sf "$(realpath "$TITAN")" bin/titan
everything() { titan --json show 1 | jq -c '[.run.state, [.jobs[] | [.name, .state, .tries, .round]]]' && titan --plain schedule | cut -f 1-3 && titan --json ls | jq length; }
before=$(everything)
number=0
command=
while IFS= read -r line <&3; do
	case $line in
	'$ '*) command=${line#\$ } ;;
	[0-9]*)
		number=$((number + 1))
		wanted=${line%% *} pattern=${line#* }
		[ "$pattern" != "$line" ] || pattern=
		said=$(PATH=$test_dir/bin:$PATH timeout 60 bash -c "$command" 2>&1 </dev/null)
		is "$command" "$?" "$wanted" || note "$said"
		like "$command answers" "$said" "$pattern"
		;;
	esac
done 3<"$guesses"
ok "there are a hundred of them" test "$number" -ge 100
is "none of them changed anything" "$(everything)" "$before"
done_testing
