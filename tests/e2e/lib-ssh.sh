# SPDX-License-Identifier: GPL-3.0-or-later
#
# Sourced by tests that reach other machines by ssh: a real sshd on a free port of the loopback, in the test's directory. Each
# "machine" is an alias in an ssh configuration; what is special about it is a Match block of sshd's, or an alias with a
# wrong key, port or name.

command -v sshd >/dev/null || [ -x /usr/sbin/sshd ] || skip_all "no sshd (apt install openssh-server)"
[ "$(id -u)" = 0 ] || skip_all "sshd needs root to take logins of others"
# A directory of its own for privilege separation: the system's may be missing.
[ -d /run/sshd ] || mkdir -p -m 755 /run/sshd 2>/dev/null

sshd_dir=$test_dir/sshd
far_home=$test_dir/far
mkdir -p "$sshd_dir" "$far_home"
chmod 755 "$test_dir"
for key in host client other; do ssh-keygen -q -t ed25519 -N '' -f "$sshd_dir/$key"; done
cp "$sshd_dir/client.pub" "$sshd_dir/authorized"
chmod 600 "$sshd_dir/authorized"
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# far_as ALIAS SCRIPT: at this machine each command goes through the script, with the command in $SSH_ORIGINAL_COMMAND
far_as() { printf '#!/bin/bash\n%s\n' "$2" >"$sshd_dir/as-$1" && chmod 755 "$sshd_dir/as-$1"; }
# The far side has a home of its own, so that nothing of the machine's is touched.
cat >"$sshd_dir/enter" <<END
#!/bin/bash
export HOME=$far_home/\${TITAN_FAR:-plain} XDG_RUNTIME_DIR= TITAN_STATE=$TITAN_STATE
mkdir -p "\$HOME"
[ -x $sshd_dir/as-\$TITAN_FAR ] && exec $sshd_dir/as-\$TITAN_FAR
exec /bin/bash -c "\$SSH_ORIGINAL_COMMAND"
END
chmod 755 "$sshd_dir/enter"

start_sshd() { # further lines of its configuration on stdin
	sshd_port=$(free_port)
	cat >"$sshd_dir/config" <<END
Port $sshd_port
ListenAddress 127.0.0.1
HostKey $sshd_dir/host
PidFile $sshd_dir/pid
AuthorizedKeysFile $sshd_dir/authorized
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PermitRootLogin yes
LogLevel VERBOSE
AcceptEnv TITAN_FAR
AllowTcpForwarding no
ForceCommand $sshd_dir/enter
END
	cat >>"$sshd_dir/config"
	/usr/sbin/sshd -f "$sshd_dir/config" -E "$sshd_dir/log" || { echo "Bail out! sshd: $(tail -n 3 "$sshd_dir/log")"; exit 1; }
	until_true 20 sshd_answers || { echo "Bail out! sshd doesn't answer"; exit 1; }
	echo "[127.0.0.1]:$sshd_port $(cut -d' ' -f1,2 "$sshd_dir/host.pub")" >"$sshd_dir/known"
	: >"$sshd_dir/client_config"
	trap 'stop_sshd; finish' EXIT
}
sshd_answers() { bash -c "exec 3<>/dev/tcp/127.0.0.1/$sshd_port"; }
# Workers there have an environment of their own, so nothing else finds what a failed test has left.
far_processes() { pgrep -f "far run $far_home/"; }
stop_sshd() {
	titan -y down >/dev/null 2>&1
	for pid in $(far_processes); do kill -STOP "$pid" 2>/dev/null; done
	for pid in $(far_processes); do kill -KILL "$pid" 2>/dev/null; done
	[ ! -f "$sshd_dir/pid" ] || kill "$(cat "$sshd_dir/pid")" 2>/dev/null
}

ssh_config=$sshd_dir/client_config
machine() { # ALIAS [LINE...]: an alias of the sshd, with further lines of ssh's configuration, which come first
	local alias=$1 line
	shift
	{
		echo "Host $alias"
		for line; do echo "  $line"; done
		printf '  HostName 127.0.0.1\n  Port %s\n  User %s\n' "$sshd_port" "$(id -un)"
		case "$*" in *IdentityFile*) ;; *) echo "  IdentityFile $sshd_dir/client" ;; esac
		printf '  IdentitiesOnly yes\n  UserKnownHostsFile %s\n' "$sshd_dir/known"
		printf '  GlobalKnownHostsFile /dev/null\n  SetEnv TITAN_FAR=%s\n' "$alias"
	} >>"$ssh_config"
}
has_worker() { titan --json worker ls | jq -e ".[] | select(.name == \"$1\" and .state == \"$2\")" >/dev/null; }
