# SPDX-License-Identifier: GPL-3.0-or-later
# titan progress inside a job: where it is seen, how long it is kept, and what is refused.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
export PATH="$PATH:$(dirname "$TITAN")"
cat >steps <<'END'
#!/bin/sh
echo "$1 $2"
titan progress $2 "$3" || exit 9
until [ -e "go.$1" ]; do sleep 0.05; done
END
chmod +x steps
said() { titan --json show "$1" | jq -r ".[0].jobs[] | select(.name == \"$2\") | \"\(.progress_permille) \(.progress_text)\""; }
says() { [ "$(said "$1" "$2")" = "$3" ]; }

run=$(titan run -e "a='./steps a 37 encoding'; b='./steps b 3/12 \"two words\"'; c='./steps c 99.5%'; d='./steps d 0'")
ok "percent" until_true 60 says "$run" a '370 encoding'
ok "a part of a number" until_true 30 says "$run" b '250 two words'
ok "tenths" until_true 30 says "$run" c '995 null'
ok "nothing yet is a word, too" until_true 30 says "$run" d '0 null'
like "show has it in its table" "$(titan show "$run")" 'a .*RUN.* 37% encoding'
like "as it was said" "$(titan show "$run")" 'b .*RUN.* 3/12 two words'
like "show of the job has it" "$(titan show "$run/a")" '^ *progress +37% encoding$'
titan --json watch "$run" >watched &
watcher=$!
kill -KILL "$(master_pid)"
start_cluster
ok "another master doesn't know it" until_true 30 says "$run" a 'null null'
touch go.a go.b go.c go.d
exits "the jobs end well" 0 titan --timeout 60s wait "$run"
wait $watcher
is "what has ended has no progress" "$(said "$run" a)" 'null null'

# A new try begins with nothing.
cat >twice <<'END'
#!/bin/sh
[ ! -e first ] && { touch first; titan progress 80 first; exit 1; }
touch second
until [ -e go.twice ]; do sleep 0.05; done
END
chmod +x twice
run=$(titan run --retry 1 -e 't=./twice')
ok "a second try runs" until_true 30 test -e second
is "without the word of the first" "$(said "$run" t)" 'null null'
touch go.twice
titan --timeout 60s wait "$run" >/dev/null

# Text can't drive a terminal.
run=$(titan run -- sh -c 'titan progress 5 "$(printf "x\033[2Jy")"; until [ -e go.evil ]; do sleep 0.05; done')
ok "a job says something ugly" until_true 30 says "$run" sh "50 $(printf 'x\033[2Jy')"
unlike "it is shown escaped" "$(titan show "$run")" "$(printf '\033')"
touch go.evil

# What can't be understood.
cat >wrong <<'END'
for word in 101 -- -1 x 5/0 7/6 3/ /3 1.25 '' %; do titan progress -- "$word" >/dev/null 2>&1; echo "$word $?"; done
titan progress 5 "$(head -c 201 /dev/zero | tr '\0' x)" 2>/dev/null; echo "long $?"
titan progress 2>/dev/null; echo "none $?"
END
run=$(titan run -w -- sh ./wrong)
is "each is refused" "$(titan logs "$run" 2>/dev/null | grep -vc ' 2$')" 0
exits "outside a job" 2 titan progress 5
like "there is nothing to tell" "$err" 'only inside a job'
run=$(titan run -- sh -c 'env | grep -E "^TITAN_(SOCKET|TOKEN)=" >loan; sleep 600')
ok "a job lends its token" until_true 30 test -s loan
# shellcheck disable=SC2046
exits "which counts while it runs" 0 env -u TITAN_STATE $(cat loan) "$TITAN" progress 10
titan -q cancel "$run"
ok "the job ends" until_true 30 run_ended "$run"
# shellcheck disable=SC2046
exits "and not any longer" 3 env -u TITAN_STATE $(cat loan) "$TITAN" progress 20

# Many words.
exits "a thousand" 0 titan run -w -- sh -c 'i=0; while [ $i -lt 1000 ]; do i=$((i + 1)); titan progress $i/1000 || exit 1; done'
done_testing
