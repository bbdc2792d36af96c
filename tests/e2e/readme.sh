# SPDX-License-Identifier: GPL-3.0-or-later
# The commands of README's "Use it" work as they stand, one after another; its pipeline is the file that they name.
# time-out: 200 s
. "$(dirname "$0")/lib.sh"

readme=$e2e_dir/../../README.md
mkdir bin
ln -s "$TITAN" bin/titan
export PATH=$test_dir/bin:$PATH
used=$(sed -n '/^## Use it/,/^## What it is made of/p' "$readme")
awk '/^```yaml/ { on = 1; next } /^```/ { on = 0 } on' <<<"$used" >etl.yaml
ok "there is a pipeline" grep -q '^name: etl' etl.yaml

# The dashboard needs a terminal; prune asks before it removes something.
answer() { case $1 in 'titan prune'*) echo "yes | titan -y ${1#titan }" ;; *) echo "$1" ;; esac; }
count=0
while read -r line; do
	[ "${line%% *}" = '$' ] || continue
	line=${line#'$ '}
	case $line in 'titan '*'dashboard'*) continue ;; esac
	case $line in 'titan approve'*) until_true 20 job_is last check approval ;; esac
	exits "${line%%  *}" 0 timeout 60 bash -c "$(answer "$line")"
	count=$((count + 1))
done <<<"$used"
ok "there were many" test $count -gt 12
exits "the pipeline ends well" 0 titan --timeout 30s wait last
is "with its result" "$(wc -l <published.csv)" 100
titan -y down >/dev/null 2>&1

done_testing
