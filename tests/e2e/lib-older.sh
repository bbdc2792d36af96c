# SPDX-License-Identifier: GPL-3.0-or-later
#
# Sourced by tests of the version of the protocol before this one: unpacks the titan of that time (tests/fixtures/README.md)
# and sets older_version, its protocol, and older_titan, its path.

older_fixture=$(ls "$TITAN_SRCDIR"/tests/fixtures/titan-[0-9]*.xz)
older_version=${older_fixture##*/titan-}
older_version=${older_version%.xz}
older_titan=$test_dir/older/titan
[ "$(uname -m)" = x86_64 ] || skip_all "the older titan is a program for x86-64"
mkdir "$test_dir/older"
if command -v xz >/dev/null; then
	xz -dc "$older_fixture" >"$older_titan" || exit 1
elif command -v python3 >/dev/null; then
	python3 -c 'import lzma, sys; sys.stdout.buffer.write(lzma.open(sys.argv[1]).read())' "$older_fixture" >"$older_titan" || exit 1
else
	skip_all "neither xz nor python3 to unpack the older titan"
fi
chmod 755 "$older_titan"
older() { "$older_titan" "$@"; }
protocol_of() { titan --json worker ls | jq -r ".[] | select(.name == \"$1\") | .protocol"; }
has_worker() { titan --json worker ls | jq -e ".[] | select(.name == \"$1\" and .state == \"$2\")" >/dev/null; }
