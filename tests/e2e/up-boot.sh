# SPDX-License-Identifier: GPL-3.0-or-later
# titan up --boot: a systemd user unit where systemd --user runs, else a line in the crontab. Both programs are played by scripts
# that record what they are asked; nothing of this machine's is touched.
. "$(dirname "$0")/lib.sh"

mkdir "$test_dir/fake" "$test_dir/odd \$x %h 'q' \"d\""
cat >"$test_dir/fake/crontab" <<'END'
#!/bin/sh
table=$FAKE/table
echo "crontab $*" >>"$FAKE/calls"
case $1 in
-l) [ -f "$FAKE/broken" ] && { echo "crontab: you may not use this program" >&2; exit 1; }
	[ -f "$table" ] || { echo "no crontab for somebody" >&2; exit 1; }
	cat "$table" ;;
-) cat >"$table" ;;
*) exit 2 ;;
esac
END
cat >"$test_dir/fake/systemctl" <<'END'
#!/bin/sh
echo "systemctl $*" >>"$FAKE/calls"
[ -f "$FAKE/systemd" ] || { echo "Failed to connect to bus: No medium found" >&2; exit 1; }
case $2 in
enable) echo "$3" >>"$FAKE/enabled" ;;
disable) grep -vxF "$3" "$FAKE/enabled" >"$FAKE/rest"; mv "$FAKE/rest" "$FAKE/enabled" ;;
is-enabled) grep -qxF "$3" "$FAKE/enabled" ;;
esac
END
cat >"$test_dir/fake/loginctl" <<'END'
#!/bin/sh
echo "loginctl $*" >>"$FAKE/calls"
cat "$FAKE/linger" 2>/dev/null || echo no
END
chmod 755 "$test_dir"/fake/*
export FAKE=$test_dir/fake PATH=$test_dir/fake:$PATH XDG_CONFIG_HOME=$test_dir/config
table=$FAKE/table
calls() { cat "$FAKE/calls" 2>/dev/null; }
forget() { : >"$FAKE/calls"; }
written() { calls | grep -c '^crontab -$\|daemon-reload\|enable titan'; }

start_cluster --slots 1
exits "doctor looks" 0 titan doctor --json
is "and says that nothing is set up" "$(jq -r '.[] | select(.check == "boot") | "\(.verdict) \(.finding)"' <<<"$out")" \
	"ok the cluster doesn't start with the machine; titan up --boot lets it"

# Without systemd --user: the crontab.
exits "with neither option nothing is asked" 0 titan up --json
is "nor said" "$(jq -r .boot <<<"$out")" null
printf '# mine\n5 4 * * * date +\\%%F >day # titan up --boot: other\nMAILTO=me' >"$table"
cp "$table" before
forget
exits "titan up --boot" 0 titan up --slots 1 --boot --json
is "says which way" "$(jq -r .boot <<<"$out")" cron
is "a line is added" "$(wc -l <"$table")" 4
is "and all others stay" "$(head -c "$(stat -c %s before)" "$table")" "$(cat before)"
like "it starts this program" "$(tail -n 1 "$table")" "^@reboot /usr/bin/env 'TITAN_STATE=$TITAN_STATE' 'XDG_CONFIG_HOME=$XDG_CONFIG_HOME' '$(realpath "$TITAN")' '-q' '-C' 'default' 'up' '--slots' '1' # titan up --boot: titan-default-[0-9a-f]{8}\$"
cp "$table" once
forget
exits "a second call" 0 titan up --slots 1 --boot
like "says the same" "$out" 'boot    cron'
is "and writes nothing" "$(written)" 0
ok "the table is the same" cmp once "$table"
exits "other options" 0 titan up --slots 2 --boot
is "replace the line" "$(grep -c '@reboot' "$table")" 1
like "and are in it" "$(cat "$table")" "'--slots' '2' #"
like "doctor says so" "$(titan doctor --json | jq -r '.[] | select(.check == "boot") | .finding')" 'by a line in your crontab'
titan -y down >/dev/null 2>&1
rest=$(tail -n 1 "$table")
ok "what cron runs starts the cluster" sh -c "${rest#@reboot }"
ok "which serves" until_true 60 worker_is_up
exits "titan up --no-boot" 0 titan up --no-boot --json
is "says so" "$(jq -r .boot <<<"$out")" no
ok "and removes the line alone" cmp <(cat before; echo) "$table"
forget
exits "once more" 0 titan up --no-boot
is "nothing is written" "$(written)" 0
rm "$table"
exits "a user without a crontab" 0 titan up --boot
is "gets one with this line" "$(wc -l <"$table")" 1
touch "$FAKE/broken"
cp "$table" once
exits "a crontab that can't be read" 71 titan up --boot
like "is said" "$err" 'crontab -l failed with exit status 1: crontab: you may not use this program'
ok "and not written over" cmp once "$table"
rm "$FAKE/broken"
exits "both options at once are refused" 2 titan up --boot --no-boot
like "with a sentence" "$err" 'give only one of the two'

# A path with all that shells, cron and systemd have a meaning for.
odd=$test_dir/odd' $x %h '"'q' \"d\""
TITAN_STATE=$odd titan up --slots 1 --boot >/dev/null 2>&1
like "in the line it is quoted for cron" "$(tail -n 1 "$table")" 'odd \$x \\%h '"'\\\\''q'\\\\'' \"d\"'"
is "it has a line of its own" "$(wc -l <"$table")" 2
TITAN_STATE=$odd titan -y down >/dev/null 2>&1
rest=$(tail -n 1 "$table" | sed 's/\\%/%/g') # as cron does
ok "cron starts that cluster" sh -c "${rest#@reboot }"
ok "which serves" env TITAN_STATE="$odd" "$TITAN" status
TITAN_STATE=$odd titan up --no-boot >/dev/null 2>&1
is "its line goes alone" "$(wc -l <"$table")" 1

# With systemd --user: a unit, and no line any more.
touch "$FAKE/systemd"
forget
exits "titan up --boot with systemd" 0 titan up --slots 1 --boot
like "says which way" "$out" 'boot    systemd'
like "and what is missing" "$err" 'starts when you log in, not yet with the machine'
like "and the command for it" "$err" 'try: loginctl enable-linger'
is "the crontab's line is gone" "$(grep -c '@reboot' "$table")" 0
unit=$(ls "$XDG_CONFIG_HOME/systemd/user")
like "a unit is written" "$unit" '^titan-default-[0-9a-f]{8}\.service$'
is "and enabled" "$(cat "$FAKE/enabled")" "$unit"
file=$XDG_CONFIG_HOME/systemd/user/$unit
like "it starts this program" "$(cat "$file")" "^ExecStart=/usr/bin/env \"TITAN_STATE=$TITAN_STATE\" \"XDG_CONFIG_HOME=$XDG_CONFIG_HOME\" \"$(realpath "$TITAN")\" \"-q\" \"-C\" \"default\" \"up\" \"--slots\" \"1\"\$"
like "and ends jobs in order" "$(cat "$file")" '^ExecStop=.* "-y" "down"$'
forget
echo yes >"$FAKE/linger"
exits "a second call" 0 titan up --slots 1 --boot
is "writes nothing" "$(written)" 0
unlike "and has no hint when the user lingers" "$err" 'enable-linger'
like "doctor says so" "$(titan doctor --json | jq -r '.[] | select(.check == "boot") | .finding')" "starts with the machine, by the systemd user unit $unit"
echo no >"$FAKE/linger"
like "also that it waits for a login" "$(titan doctor --json | jq -r '.[] | select(.check == "boot") | "\(.verdict) \(.next)"')" '^advice loginctl enable-linger$'
TITAN_STATE=$odd titan up --slots 1 --boot >/dev/null 2>&1
like "a path is quoted for systemd" "$(cat "$XDG_CONFIG_HOME"/systemd/user/*.service | grep 'odd')" 'odd \$\$x %%h '"'q'"' \\"d\\""'
if command -v systemd-analyze >/dev/null; then
	ok "systemd reads the units" sh -c "systemd-analyze --user verify '$XDG_CONFIG_HOME'/systemd/user/*.service 2>&1 | grep -v 'Failed to' | grep -i 'titan.*service:' && exit 1 || exit 0"
fi
TITAN_STATE=$odd titan up --no-boot >/dev/null 2>&1
exits "titan up --no-boot" 0 titan up --no-boot
is "removes the unit" "$(ls "$XDG_CONFIG_HOME/systemd/user")" ''
is "which isn't enabled any more" "$(cat "$FAKE/enabled")" ''
ok "and the cluster runs on" worker_is_up
TITAN_STATE=$odd titan -y down >/dev/null 2>&1

# With neither: no crontab, and systemd --user doesn't answer.
rm "$FAKE/systemd" "$FAKE/crontab"
if ! command -v crontab >/dev/null; then
	exits "with neither" 4 titan up --boot
	like "the command says so" "$err" 'neither systemd --user nor crontab can be used'
	like "and what to do" "$err" 'let the machine run: .*titan up'
fi
done_testing
