# SPDX-License-Identifier: GPL-3.0-or-later
# Directories that a cluster's state may not be in: behind a symbolic link, or owned by other users; and a warning when
# another user could move the directory away.
. "$(dirname "$0")/lib.sh"

start_cluster
ln -s default "$TITAN_STATE/alias"
exits "a directory that is a symbolic link is refused" 3 titan -C alias ls
like "as one" "$err" "can't use the state directory $TITAN_STATE/alias: it is a symbolic link"
real=$(realpath "$TITAN_STATE")
like "with the directory itself to name" "$err" "try: TITAN_STATE=$real titan -C default,"
exits "no cluster begins there" 3 titan -C alias up
like "for the same reason" "$err" "it is a symbolic link"
exits "nor a master" 71 titan -C alias master
exits "nor a worker" 71 titan -C alias worker start
unlike "it is no riddle" "$err" 'Not a directory'
exits "the command of the advice works" 0 env TITAN_STATE="$real" "$TITAN" -C default ls
unlike "of a private place above nothing is said" "$(cat "$test_dir/up.out" "$TITAN_STATE/default/master.log")" 'every user may write'
chmod 755 "$TITAN_STATE/default"
exits "a directory that others may enter is refused" 3 titan ls
like "with the way to mend it" "$err" "only you may have access to it .*"
like "as a command" "$err" "try: chmod 700 $TITAN_STATE/default\$"
chmod 700 "$TITAN_STATE/default"
titan -y down

mkdir -m 777 "$test_dir/open" "$test_dir/open/below"
chmod 777 "$test_dir/open"
export TITAN_STATE=$test_dir/open/below TITAN_CLUSTER=exposed
chmod 700 "$TITAN_STATE"
exits "below a directory that everybody may write a cluster begins" 0 titan up
like "with a warning" "$err" "every user may write to $(realpath "$test_dir")/open, and so replace the state directory in it"
like "and the way to mend it" "$err" "try: chmod o-w $(realpath "$test_dir")/open\$"
like "which the master's log has, too" "$(cat "$TITAN_STATE/exposed/master.log")" 'every user may write to .*/open,'
chmod o-w "$test_dir/open"
exits "once it is mended" 0 titan up
unlike "nothing is said" "$err" 'every user may write'
chmod 1777 "$test_dir/open"
exits "nor with a sticky bit, as /tmp has" 0 titan up
unlike "which lets nobody move what isn't theirs" "$err" 'every user may write'
titan -y down
done_testing
