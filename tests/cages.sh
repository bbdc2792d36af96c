# SPDX-License-Identifier: GPL-3.0-or-later
#
# Sourced by the tests' runner and by the end-to-end tests.

# Control groups of workers that were killed: a worker that ends by itself removes its own. Their names come from the
# workers' directories, so those must still be there.
remove_cages() { # DIRECTORY: state of clusters is anywhere below
	local dir name
	find "$1" -type d -path '*/worker/*' -prune 2>/dev/null | while read -r dir; do
		name=titan-$(stat -c %D "$dir")-$(printf %x "$(stat -c %i "$dir")")
		grep ' cgroup2 ' /proc/self/mounts | cut -d' ' -f2 | while read -r mount; do
			find "$mount" -maxdepth 4 -type d -name "$name" 2>/dev/null
		done | while read -r cage; do
			for _ in 1 2 3 4 5 6 7 8 9 10; do
				find "$cage" -depth -type d -exec rmdir {} + 2>/dev/null
				[ -d "$cage" ] || break
				sleep 0.1
			done
		done
	done
}
