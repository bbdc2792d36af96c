# SPDX-License-Identifier: GPL-3.0-or-later
# titan doctor HOST: what titan worker add would find on another machine, and what to do. It changes nothing there.
# time-out: 300 s
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-ssh.sh"

export TITAN_HEARTBEAT=200ms TITAN_LEASE=4s TITAN_GRACE=6s
start_sshd </dev/null
machine web1
machine noisy
far_as noisy 'echo "Hello from .bashrc"; exec /bin/bash -c "$SSH_ORIGINAL_COMMAND"'
machine beos
far_as beos 'uname() { echo BeOS; }; export -f uname; exec /bin/bash -c "${SSH_ORIGINAL_COMMAND//\/bin\/sh/\/bin\/bash}"'
machine badkey "IdentityFile $sshd_dir/other"
doctor() { titan doctor --ssh-config "$ssh_config" "$@"; }
verdict() { jq -r --arg check "$1" '.[] | select(.check == $check) | .verdict' <<<"$out"; }
finding() { jq -r --arg check "$1" '.[] | select(.check == $check) | .finding' <<<"$out"; }
next() { jq -r --arg check "$1" '.[] | select(.check == $check) | .next' <<<"$out"; }

# No master runs, and none is needed.
exits "a machine where all is well" 0 doctor --json web1
is "the checks" "$(jq -r '[.[].check] | join(" ")' <<<"$out")" 'ssh system program place logout master worker'
is "ssh reaches it" "$(finding ssh)" 'ssh reaches web1, and commands run there'
like "its system is told" "$(finding system)" "^Linux on $(uname -m)\$"
like "and the directory for titan" "$(finding place)" "^titan would be in $far_home/web1/.local/share/titan \([0-9]+ MB free\)"
like "nothing is there yet" "$(finding worker)" 'titan worker add web1 would do it'
is "nothing was written there" "$(find "$far_home/web1" -type f | wc -l)" 0
exits "for people" 0 doctor web1
like "each has a line" "$out" '^. ssh +ssh reaches web1'
like "and the end is said" "$err" 'nothing is wrong'

exits "a noisy profile" 0 doctor --json noisy
is "is advice" "$(verdict shell)" advice
like "with its size" "$(finding shell)" 'prints [0-9]+ bytes for every command'
exits "another system" 1 doctor --json beos
is "is a problem" "$(verdict system)" problem
like "in a sentence" "$(finding system)" 'beos runs BeOS, and workers need Linux'
is "after which nothing more is asked" "$(jq -r '.[-1].check' <<<"$out")" system
exits "a refused key" 1 doctor --json badkey
is "is a problem of ssh" "$(verdict ssh)" problem
like "with what ssh said" "$(finding ssh)" 'Permission denied'
unlike "and the next command" "$(next ssh)" '^$|null'
exits "a word that is no machine" 2 doctor -- -oProxyCommand=x
like "is refused" "$err" "isn't a machine for ssh"
exits "a configuration that isn't there" 2 titan doctor --ssh-config no-such-file web1
like "is said" "$err" "can't read .*no-such-file"

# A worker that was added is known by its name.
start_cluster --slots 1
exits "a worker is added" 0 titan worker add --ssh-config "$ssh_config" --slots 1 web1
exits "then the command needs no configuration" 0 titan doctor --json web1
is "and knows that it runs" "$(finding worker)" 'worker web1 runs'
exits "a stopped one" 0 titan worker stop --now web1
exits "is advice" 0 titan doctor --json web1
is "in a sentence" "$(verdict worker) $(finding worker)" 'advice worker web1 was stopped'
is "with the command" "$(next worker)" 'titan worker start web1'
exits "it is given up" 0 titan worker rm web1
done_testing
