# SPDX-License-Identifier: GPL-3.0-or-later
# titan worker add, where it fails: each way in which ssh, a shell or a machine can be in the way is told in one sentence, with
# a next command; and the ways that only look like failures don't matter.
# time-out: 900 s
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-ssh.sh"
command -v jq >/dev/null || skip_all "no jq"

export TITAN_HEARTBEAT=200ms TITAN_LEASE=4s TITAN_GRACE=6s
start_cluster --slots 1
printf 'Welcome to\033[31m the machine room.\nAuthorised users only.\n' >"$sshd_dir/banner"
nologin_port=$(free_port) sftp_port=$(free_port)
start_sshd <<END
Banner $sshd_dir/banner
Port $nologin_port
Port $sftp_port
Match LocalPort $nologin_port
  ForceCommand /usr/sbin/nologin
Match LocalPort $sftp_port
  ForceCommand internal-sftp
END
for port in $nologin_port $sftp_port; do echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 "$sshd_dir/host.pub")"; done >>"$sshd_dir/known"
add() { titan worker add --ssh-config "$ssh_config" "$@"; }
run_as='exec /bin/bash -c "$SSH_ORIGINAL_COMMAND"'

# --- what fails before the login ---
machine refused "Port 1"
machine nowhere "HostName no-such-host.invalid"
machine badkey "IdentityFile $sshd_dir/other"
machine nouser "User no-such-user"
machine newhost "UserKnownHostsFile $sshd_dir/none"
echo "[127.0.0.1]:$sshd_port $(cut -d' ' -f1,2 "$sshd_dir/other.pub")" >"$sshd_dir/known_other"
machine changed "UserKnownHostsFile $sshd_dir/known_other"
machine jump "Port 1"
machine behind "ProxyJump jump"
machine longpath "ControlMaster auto" "ControlPath $test_dir/$(printf 'x%.0s' $(seq 120))"
machine badconf
# A listener that is no sshd: one that says nothing, and one that hangs up.
python3 - "$test_dir/ports" <<'END' &
import socket, sys, threading, time
def listener():
    s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(16); return s
silent, rude = listener(), listener()
def hang_up():
    while True:
        c, _ = rude.accept(); c.sendall(b"220 mail ready\r\n" * 2); c.close()
threading.Thread(target=hang_up, daemon=True).start()
open(sys.argv[1] + ".new", "w").write("%d %d\n" % (silent.getsockname()[1], rude.getsockname()[1]))
import os; os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(900)
END
listeners=$!
trap 'kill $listeners 2>/dev/null; stop_sshd; finish' EXIT
until_true 30 test -e "$test_dir/ports"
read -r silent rude <"$test_dir/ports"
machine silent "Port $silent"
machine rude "Port $rude"

# --- what fails after it ---
machine nologin "Port $nologin_port"
machine sftponly "Port $sftp_port"
machine quits
far_as quits 'exit 255'
machine nosh
far_as nosh 'echo "bash: line 1: /bin/sh: No such file or directory" >&2; exit 127'
machine rbash
far_as rbash 'exec /bin/bash -r -c "$SSH_ORIGINAL_COMMAND"'
machine escape
far_as escape 'printf "\033[31mred\n" >&2; exit 3'
machine killed
far_as killed '/bin/bash -c "${SSH_ORIGINAL_COMMAND/uname -s/kill -KILL \$PPID \$\$}"'
machine otherarch
far_as otherarch 'exec /bin/bash -c "${SSH_ORIGINAL_COMMAND/uname -m/echo riscv64}"'
machine bsd
far_as bsd 'exec /bin/bash -c "${SSH_ORIGINAL_COMMAND/uname -s/echo FreeBSD}"'
in_mounts() { # ALIAS OPTIONS: the home and /var/tmp are file systems with these options
	far_as "$1" "exec unshare --mount --propagation private bash -c 'mount -t tmpfs -o $2 tmpfs \"\$HOME\" && mount -t tmpfs -o $2 tmpfs /var/tmp && exec bash -c \"\$SSH_ORIGINAL_COMMAND\"'"
}
machine noexec
in_mounts noexec noexec,mode=700
machine full
in_mounts full size=64k,mode=700
machine readonly
in_mounts readonly ro,mode=700

exits "a dry run of them all fails" 69 add -n --json refused nowhere badkey nouser newhost changed behind longpath silent rude \
	nologin sftponly quits nosh rbash escape killed otherarch bsd noexec full readonly
rows=$out
said=$err
told() { # NAME SENTENCE NEXT
	local failure next
	failure=$(jq -r ".[] | select(.name == \"$1\") | .failure" <<<"$rows")
	next=$(jq -r ".[] | select(.name == \"$1\") | .next" <<<"$rows")
	like "$1: a sentence" "$failure" "$2"
	like "$1: and a next command" "$next" "$3"
}
told refused 'nothing listens for ssh at refused' '^ssh -F .*config refused'
told nowhere "name of nowhere can't be looked up" '^getent hosts nowhere'
told badkey 'badkey refuses the login: .* none of the keys' 'ssh-copy-id'
told nouser 'nouser refuses the login: it has no such user' '^ssh -F'
told newhost 'never seen the host key of newhost' '^ssh -F .* newhost .*answer yes'
told changed "host key of changed isn't the one that ssh remembers.*known_other:1" 'ssh-keygen -R changed'
told behind 'the way to behind ends early: a jump host' '^ssh -F'
told longpath 'ControlPath for longpath .* too long' 'ControlPath ~/.ssh/%C'
told silent "silent doesn't answer" '^ssh -F'
told rude 'rude hung up before the login' 'fewer hosts|ssh -F'
told nologin 'account at nologin has no login shell' 'account with a shell'
told sftponly 'sftponly allows file transfers only' 'account with a shell'
told quits 'ssh to quits failed, or the login shell there did' '^ssh -F'
told nosh 'there is no /bin/sh at nosh' '^ssh -F'
told rbash 'account at rbash has a restricted shell' 'plain shell'
told escape 'escape ran something else than the command .* exit status is 3' '^ssh -F'
told killed 'the look around at killed failed' '^ssh -F'
told otherarch 'otherarch has the processor riscv64' 'titan-static.riscv64'
told bsd 'bsd runs FreeBSD, and workers need Linux' '.'
told noexec 'no directory at noexec can hold titan and run it: .*noexec' 'ssh noexec mount'
told full 'no directory at full can hold titan and run it: .*full' 'ssh full df -h'
told readonly 'no directory at readonly can hold titan and run it: .*not writable' 'ssh readonly'
like "the last lines of ssh are shown" "$said" '^   \| .*Connection refused'
like "escaped" "$said" '^   \| \\x1b\[31mred'
unlike "never as they are" "$said" $'\033'
is "no key was made for any of them" "$(titan --json token ls)" '[]'
is "and no machine is known" "$(ls "$TITAN_STATE/default/machines")" ''

# --- what fails later: the copy, and the start ---
machine nospace
far_as nospace 'case $SSH_ORIGINAL_COMMAND in *.part*) ulimit -f 100; trap "" XFSZ ;; esac; '"$run_as"
machine lies
far_as lies 'case $SSH_ORIGINAL_COMMAND in *.part*) c=${SSH_ORIGINAL_COMMAND/chmod 700/chmod 600}; exec /bin/bash -c "$c" ;; esac; '"$run_as"
machine nostart
far_as nostart 'case $SSH_ORIGINAL_COMMAND in *" far start "*) exit 137 ;; esac; '"$run_as"
exits "copies and starts that fail" 71 add --json nospace lies nostart
rows=$out
told nospace 'the copy of titan at nospace failed: files may not be that large' '^ssh -F'
told lies "lies has got all of titan and can't run it" '^ssh lies file'
told nostart 'the start of the worker at nostart failed' '^ssh -F'
is "nothing half is left" "$(find "$far_home" -name '*.part' | wc -l)" 0
is "a key whose worker didn't start is gone" "$(titan --json token ls)" '[]'

# --- the master has no agent ---
machine agent "IdentityFile $sshd_dir/no-such-key" "IdentitiesOnly no"
eval "$(ssh-agent -s)" >/dev/null
ssh-add -q "$sshd_dir/client"
exits "a key that only the agent has" 3 add --json agent
ssh-agent -k >/dev/null
unset SSH_AUTH_SOCK SSH_AGENT_PID
rows=$out
told agent "you can log in to agent, but the master can't: it has no ssh agent" 'titan up --listen ADDRESS, then titan worker add --address'

# --- mistakes on the command line ---
exits "a machine whose name is none" 2 add 'web1;id'
exits "an option in its place" 2 titan worker add -- -oProxyCommand=id
exits "no machine at all" 2 titan worker add
exits "an empty list" 2 titan worker add --hosts /dev/null
exits "a list that isn't there" 2 titan worker add --hosts none.txt
exits "a configuration that isn't there" 2 titan worker add --ssh-config none web1
exits "one name for two" 2 titan worker add --name x web1 web2
exits "two that would have one name" 2 titan worker add a@web1 b@web1
exits "an option of another verb" 2 titan worker ls --hosts x
exits "an unknown worker" 4 titan worker stop nobody
like "with a next command" "$err" 'titan worker ls'

# --- what only looks like a failure ---
machine noisy
far_as noisy 'echo "Welcome to noisy"; echo "titan-far started"; '"$run_as"
machine forwards "RemoteForward /tmp/no/such/dir/sock localhost:1" "ExitOnForwardFailure yes"
machine remotecmd "RemoteCommand /bin/false" "RequestTTY force"
machine fallback
far_as fallback "exec unshare --mount --propagation private bash -c 'export XDG_RUNTIME_DIR=$test_dir/run; mount -t tmpfs -o noexec,mode=700 tmpfs \"\$HOME\" && exec bash -c \"\$SSH_ORIGINAL_COMMAND\"'"
mkdir -p "$test_dir/run"
names='noisy forwards remotecmd fallback'
for shell in dash zsh fish tcsh; do
	command -v $shell >/dev/null || continue
	machine in-$shell
	far_as in-$shell "exec $(command -v $shell) -c \"\$SSH_ORIGINAL_COMMAND\""
	names="$names in-$shell"
done
# shellcheck disable=SC2086
exits "banners, noise, forwardings and other shells don't matter" 0 add -n --json $names
is "for any of them" "$(jq -r '[.[] | select(.result == "added")] | length' <<<"$out")" "$(wc -w <<<"$names")"
like "noise is told" "$err" 'noisy: its shell profile prints [0-9]+ bytes'
exits "a worker where the shell is another one and noisy" 0 add noisy "in-$(command -v fish >/dev/null && echo fish || echo dash)"
ok "and bridges get through" has_worker noisy up
for name in $(ls "$TITAN_STATE/default/machines"); do exits "$name is removed" 0 titan worker rm "$name"; done
no_far() { ! pgrep -f "far run $far_home" >/dev/null; }
ok "no process is left there" until_true 60 no_far
done_testing
