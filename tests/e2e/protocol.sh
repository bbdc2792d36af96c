# SPDX-License-Identifier: GPL-3.0-or-later
# titan-protocol(7) is enough to write a client: the Python one in share/examples has no other source, and what it has from
# the page is compared with the page.
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip_all "no python3"
page=$TITAN_SRCDIR/man/titan-protocol.7
client=$TITAN_SRCDIR/share/examples/client.py
export PYTHONDONTWRITEBYTECODE=1

# Each enum that a field names has its table.
for enum in $(grep -oE 'enum [a-z_]+' "$page" | sort -u | cut -d' ' -f2); do
	case $enum in
	err) ok "the error codes have a table" grep -q '^\.Sh ERROR CODES$' "$page" ;;
	*) ok "enum $enum has a table" grep -qx ".Ss $enum" "$page" ;;
	esac
done

# A cell that is wider than its column runs into the next one.
is "no row runs together" "$(awk '
	/^\.Bl -column/ { n = split($0, width, " ") - 2; for (i = 1; i <= n; i++) width[i] = length(width[i + 2]) }
	/^\.El/ { n = 0 }
	n > 0 && /^\.It / && !/Sy / {
		sub(/^\.It /, "")
		cells = split($0, cell, / Ta /)
		for (i = 1; i < cells && i <= n; i++)
			if (length(cell[i]) > width[i])
				print cell[i]
	}' "$page")" ''
is "fields stand by their keys" "$(awk '/^\.(Bl|Ss|Sh)/ { last = -1 } /^\.Sh ENUMERATIONS/ { exit }
	/^\.It [0-9]+ Ta/ { if ($2 + 0 <= last) print; last = $2 + 0 }' "$page")" ''

start_cluster --slots 2
wanted="cluster default
run RUN
state succeeded
job hello succeeded
out b'hello\\n'
err b'broken \\xff text\\n'
job world succeeded
out b'world\\n'"
told() { sed -E 's/^run [0-9]+$/run RUN/; /^state (running|waiting)$/d' <<<"$1"; }
exits "a client in Python submits, follows and reads" 0 python3 "$client" "$TITAN_STATE/default"
is "what it is told" "$(told "$out")" "$wanted"
run=$(titan run -e "inside; inside='python3 $client'")
ok "inside a job it needs no configuration" titan --timeout 60s wait "$run"
is "and is told the same" "$(told "$(titan logs "$run")")" "$wanted"

cat >"$test_dir/more.py" <<'END'
import re, sys
sys.path.insert(0, sys.argv[1])
import client

def table(heading):
    """The rows of a table of the page: number and name."""
    rows = re.search(r"^\.Ss %s\n.*?\.El$" % heading, page, re.M | re.S).group(0)
    return {int(number): name for number, name in re.findall(r"^\.It (\d+) Ta (\S+) Ta", rows, re.M)}

page = open(sys.argv[3]).read()
print("run states", dict(enumerate(client.RUN_STATES)) == table("run_state"))
print("job states", dict(enumerate(client.JOB_STATES)) == table("job_state"))
opcodes = {name: int(code, 16) for code, name in re.findall(r"^\.Ss 0x(..) (\w+)$", page, re.M)}
print("opcodes", all(getattr(client, name) == code for name, code in opcodes.items() if hasattr(client, name)))

# Text is bytes: what was submitted comes back as it was.
script = b"true # \xff\xfe\xc3\x28".decode("utf-8", "surrogateescape")
titan = client.Client(sys.argv[2] + "/titan.sock")
run = titan.submit("bytes", [{1: "bytes", 3: script}])
for row in titan.follow(run):
    pass
request = titan.request(client.QUERY, {2: 4, 3: run, 4: "bytes"})
print("text", titan.answer(client.SNAPSHOT, request)[4][0][17] == script)

# The condition of the page's example: the second job ends with 3, and the third runs; with 2 it is skipped.
code = bytes.fromhex(re.search(r"^((?:[0-9a-f]{2} )+) +state: .*\n((?:[0-9a-f]{2} )+) +code: .*\n((?:[0-9a-f]{2} )+)", page,
                               re.M).expand(r"\1\2\3"))
for status in (3, 2):
    run = titan.submit("condition", [{1: "a", 3: "true"}, {1: "b", 3: "exit %d" % status},
                                     {1: "c", 3: "true", 4: [0, 1], 5: [3, 3], 39: code, 38: b"\x01"}])
    for row in titan.follow(run):
        pass
    print("exit", status, [client.JOB_STATES[row[5]] for row in titan.jobs(run)][2])

try:
    titan.answer(client.SNAPSHOT, titan.request(client.QUERY, {2: 3, 3: 999999}))
except client.Refused as error:
    print("refused", "there is no run" in str(error) or "no such run" in str(error), "(error 11)" in str(error))
END
exits "more of the page" 0 python3 "$test_dir/more.py" "$(dirname "$client")" "$TITAN_STATE/default" "$page"
is "is as it says" "$out" "run states True
job states True
opcodes True
text True
exit 3 succeeded
exit 2 skipped
refused True True"
done_testing
