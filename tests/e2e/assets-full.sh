# SPDX-License-Identifier: GPL-3.0-or-later
# The disk of the master becomes full during an upload: it is refused, nothing of it is left, and with room it succeeds.

if [ "${1-}" != inside ]; then
	for how in -m -rm; do
		if unshare $how mount -t tmpfs -o size=1m none /mnt 2>/dev/null; then
			exec unshare $how bash "$0" inside
		fi
	done
	echo "1..0 # SKIP nothing can be mounted here"
	exit 0
fi

. "$(dirname "$0")/lib.sh"

mkdir -m 700 "$TITAN_STATE"
mount -t tmpfs -o size=96m,mode=700 none "$TITAN_STATE" || skip_all "no tmpfs"
trap 'titan -y down >/dev/null 2>&1; umount -l "$TITAN_STATE"; finish' EXIT

start_cluster --slots 1
goods=$TITAN_STATE/default/goods
left() { find "$goods" -type f | wc -l; }
head -c 120000000 /dev/zero >large
exits "a file larger than the disk is refused" 75 titan asset put large
like "which is said" "$err" 'MiB available'
is "and nothing of it is left" "$(left)" 0
exits "nor named" 4 titan asset show large
dd if=/dev/zero of="$TITAN_STATE/filler" bs=65536 count=$(($(df --output=avail -k "$TITAN_STATE" | tail -n 1) / 64 - 320)) 2>/dev/null
head -c 10000000 /dev/urandom >middle
exits "one that would leave too little room, too" 75 titan asset put middle
is "and nothing of it is left" "$(left)" 0
echo small >small
exits "a small one fits" 0 titan asset put small
dd if=/dev/zero of="$TITAN_STATE/filler2" bs=65536 2>/dev/null
echo other >other
exits "but not on a full disk" 75 titan asset put other
is "what was there is still there" "$(titan asset get small -o -)" small
rm -f "$TITAN_STATE/filler" "$TITAN_STATE/filler2"
put() { titan asset put middle >/dev/null 2>&1; }
ok "with room it is taken" until_true 20 put
is "as it is" "$(titan asset get middle -o - | cmp - middle && echo same)" same
done_testing
