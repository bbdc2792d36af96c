# SPDX-License-Identifier: GPL-3.0-or-later
# The example pipelines that release and back something up do what they say: when everything goes well, when something
# fails, and when they are cancelled.
examples=$(cd "$(dirname "$0")/../../share/examples" && pwd)
. "$(dirname "$0")/lib.sh"
command -v git >/dev/null || skip_all "no git"
command -v make >/dev/null || skip_all "no make"

told=$test_dir/told
mkdir "$test_dir/bin" "$test_dir/backup" "$test_dir/app"
cat >"$test_dir/bin/logger" <<END
#!/bin/sh
case \$1 in -p) shift 2; echo "\$*" >>$told ;; *) cat >>$told ;; esac
END
# The machine that is called db1 may be away, or slow.
cat >"$test_dir/bin/ssh" <<END
#!/bin/sh
case \$1 in *db1) [ ! -e $test_dir/away ] || exit 255; [ ! -e $test_dir/slow ] || { touch $test_dir/slow.began; sleep 600; } ;; esac
echo "\$1" | gzip
END
chmod +x "$test_dir/bin/logger" "$test_dir/bin/ssh"
ln -s "$TITAN" "$test_dir/bin/titan"
# Waits are short here, and jobs find what stands for other machines.
here() { sed -e 's/backoff: [0-9]*[sm]/backoff: 10ms/' -e "s|^env: {|env: {PATH: \"$test_dir/bin:/usr/bin:/bin\", |" "$@"; }
start_cluster --slots 4

# --- backups ---
here "$examples/nightly-backup.yaml" >nightly-backup.yaml
backup() { titan "$@" nightly-backup.yaml -p place="$test_dir/backup"; }
old() { touch -d '20 days ago' "$test_dir/backup/web1-old.tgz"; }
echo old | gzip >"$test_dir/backup/web1-old.tgz"
old
exits "a backup" 0 backup run -w
is "is of each machine" "$(zcat "$test_dir"/backup/*-"$(date -u +%Y)"*.tgz | sort | tr '\n' ' ')" 'backup@db1 backup@web1 backup@web2 '
ok "old ones go" test ! -e "$test_dir/backup/web1-old.tgz"
ok "nobody is told" test ! -e "$told"
echo old | gzip >"$test_dir/backup/web1-old.tgz"
old
touch "$test_dir/away"
exits "a backup of a machine that is away" 1 backup run -w
ok "old ones stay" test -e "$test_dir/backup/web1-old.tgz"
like "somebody is told" "$(cat "$told")" 'backups of run [0-9]+ are not well'
rm "$test_dir/away" "$told"
touch "$test_dir/slow"
run=$(backup -q run)
ok "a machine is slow" until_true 20 test -e "$test_dir/slow.began"
titan -q cancel "$run"
exits "and somebody cancels" 1 titan --timeout 30s wait "$run"
is "it was cancelled" "$(run_state "$run")" cancelled
ok "old ones stay then, too" test -e "$test_dir/backup/web1-old.tgz"
is "and somebody is told" "$(cat "$told")" "the backups of run $run are not well"
rm "$told"
exits "a schedule begins it every night" 0 backup schedule add
like "at one" "$(titan --json schedule show nightly-backup)" '0 1 \* \* \*'

# --- a release ---
cd "$test_dir/app" || exit 1
printf 'check:\n\t@echo checking\n\t@test ! -e %s/broken\n' "$test_dir" >Makefile
printf '#!/bin/sh\necho "package for $1"\n' >package.sh
printf '#!/bin/sh\necho "$@" >>%s/published\n' "$test_dir" >publish.sh
chmod +x package.sh publish.sh
{
	git init -q . && git add . && git -c user.name=t -c user.email=t@t commit -qm first && git tag v1
} >/dev/null 2>&1 || exit 1
cd "$test_dir" || exit 1
# Nobody here is anna, bert or chen.
here -e 's/count: 2/count: 1/' -e '/from: \[anna/d' "$examples/release.yaml" >release.yaml
release() { titan -q run release.yaml -p version=1 -p repository="$test_dir/app" -p place="$test_dir/place"; }
TITAN_CLUSTER=${TITAN_CLUSTER-} "$TITAN" worker start --name builder --slots 4 --label builder >worker.log 2>&1 </dev/null &
builder=$!
run=$(release)
ok "a release asks" until_true 30 job_is "$run" go approval
exits "somebody approves" 0 titan approve "$run/go" -m yes
exits "it ends well" 0 titan --timeout 30s wait "$run"
is "and is published once" "$(cat "$test_dir/published")" '1 beta'
like "it tells how it went" "$(cat "$told")" 'publish +.*OK'
rm "$told"
touch "$test_dir/broken"
run=$(release)
exits "one whose tests fail" 1 titan --timeout 30s wait "$run"
like "shows why" "$(titan logs "$run/explain_failure")" checking
like "and tells so" "$(cat "$told")" 'test +.*FAIL|test +.*DEAD'
rm "$told" "$test_dir/broken"
run=$(release)
ok "one that asks" until_true 30 job_is "$run" go approval
titan -q cancel "$run"
exits "and is cancelled" 1 titan --timeout 30s wait "$run"
like "tells that" "$(cat "$told")" 'publish +.*CANC'
is "nothing more was published" "$(cat "$test_dir/published")" '1 beta'
kill "$builder"
wait "$builder" 2>/dev/null
done_testing
