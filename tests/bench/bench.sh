#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Ours, the machine's limits and the peers that are installed, in one run: a table, and with -o FILE a JSON
# line a figure, for bench-compare.sh. Ratios are taken against limits measured just before. For people:
# nothing passes or fails. The titan and the bench programs are those of the build directory.
#
# usage: bench.sh [-n JOBS] [-s SECONDS] [-o FILE] BUILD-DIRECTORY [PART...]
#   Without a PART all of them, as listed below. What is compared with the machine's limits needs the part limits before it.
set -eu

jobs=10000
seconds=2
out=/dev/null
while getopts n:s:o: option; do
	case $option in
	n) jobs=$OPTARG ;;
	s) seconds=$OPTARG ;;
	o) out=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
build=$(cd "${1:?usage: bench.sh [-n JOBS] [-s SECONDS] [-o FILE] BUILD-DIRECTORY [PART...]}" && pwd)
shift
parts='limits ours submits values restart tls commands idle peers'
for part; do
	case " $parts " in
	*" $part "*) ;;
	*)
		echo "bench.sh: there is no part '$part'; the parts are: $parts" >&2
		exit 2
		;;
	esac
done
[ $# -gt 0 ] || set -- $parts
titan=$build/titan
[ -x "$build/tests/bench/bench_kv" ] || { echo "bench.sh: no bench programs in $build; make bench builds them" >&2; exit 2; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/titan-bench.XXXXXX")
export TITAN_STATE=$dir/state NO_COLOR=1
stop() { "$titan" -y down >/dev/null 2>&1 || true; }
trap 'stop; rm -rf "$dir"' EXIT
: >"$out"
declare -A value

figure() { # NAME VALUE UNIT [RATIO OF-WHAT]
	value[$1]=$2
	printf '%-24s %12s %-4s %s\n' "$1" "$2" "$3" "${4:+$4 of $5}"
	printf '{"name":"%s","value":%s,"unit":"%s","ratio":%s}\n' "$1" "$2" "$3" "${4:-null}" >>"$out"
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
now_ns() { date +%s%N; }
per_second() { awk -v n="$1" -v ns="$2" 'BEGIN { printf "%.0f", n * 1e9 / ns }'; }

took() { # COMMAND...: sets ns
	local from
	from=$(now_ns)
	"$@" >/dev/null 2>&1
	ns=$(($(now_ns) - from))
}

limits() {
	while read -r name number unit; do figure "$name" "$number" "$unit"; done < <("$build/tests/bench/bench_limits" "$seconds")
}
again() { # the two spawn limits, beside what is compared with them
	local name number unit
	while read -r name number unit; do value[$name]=$number; done < <("$build/tests/bench/bench_limits" 0.5 | grep spawn)
}

lines() { yes "$1" | head -n "$jobs" | "$titan" run --lines -w; }
fan() { "$titan" run -w -e "a -> m*2000 -> z; a=true; m=true; z=true"; }
chain() { "$titan" run -w -e "$(awk 'BEGIN { for (i = 0; i < 500; i++) printf "%sj%d", i ? " -> " : "", i
	for (i = 0; i < 500; i++) printf "; j%d=true", i }')"; }

# 5,000 jobs in 50 layers, each with two or three needs in the layer before: 12,000 edges, the same ones each time.
layered() {
	awk 'BEGIN { srand(20260101); print "name: layered\njobs:"
		for (i = 0; i < 5000; i++) {
			printf "  j%d: {run: \"true\"", i
			if (i >= 100) {
				first = int(i / 100) * 100 - 100; a = int(rand() * 100); b = (a + 1 + int(rand() * 49)) % 100
				printf ", needs: [j%d, j%d", first + a, first + b
				if (rand() < 0.45) printf ", j%d", first + (a + 50 + int(rand() * 49)) % 100
				printf "]"
			}
			print "}"
		} }' >"$dir/layered.yaml"
	"$titan" run -w "$dir/layered.yaml"
}

spawning() { # NAME LIMIT COUNT COMMAND...
	local name=$1 limit=$2 count=$3
	shift 3
	again
	took "$@"
	local got
	got=$(per_second "$count" "$ns")
	figure "$name" "$got" /s "$(ratio "$got" "${value[$limit]}")" "$limit"
}

ours() {
	"$titan" up --slots 2 >/dev/null
	spawning noop_direct limit_spawn_direct_2 "$jobs" lines true
	spawning noop_sh limit_spawn_sh_2 "$jobs" lines 'true;'
	spawning fan_2000 limit_spawn_direct_2 2002 fan
	spawning layered_5000 limit_spawn_direct_2 5000 layered
	stop
	rm -rf "$TITAN_STATE"
	"$titan" up --slots 1 >/dev/null
	took chain
	local hop
	hop=$(awk -v ns=$ns 'BEGIN { printf "%.3f", ns / 500 / 1e6 }')
	figure chain_hop "$hop" ms "$(ratio "$hop" "${value[limit_runner_hop]}")" limit_runner_hop
	took "$titan" run -w -e "big; big='head -c 200000000 /dev/zero'"
	local rate
	rate=$(awk -v ns=$ns 'BEGIN { printf "%.0f", 200 * 1e9 / ns }')
	figure output_200MB "$rate" MB/s "$(ratio "$rate" "${value[limit_pipe_200MB]}")" limit_pipe_200MB
	stop
	rm -rf "$TITAN_STATE"
}

# Wake-ups and processor time of a master, a keeper, a link and a dashboard that have nothing to do.
idle() {
	"$titan" up --slots 2 >/dev/null
	"$titan" run -w -e 'a; a=true' >/dev/null
	sleep 1                                  # what the job left behind is put away
	local master keeper link dashboard="" name pid before ticks span=12 names="master keeper link"
	master=$("$titan" --json status | sed -E 's/.*"master":\{"pid":([0-9]+).*/\1/')
	keeper=$("$titan" --json status | sed -E 's/.*"workers":\[[^]]*"pid":([0-9]+).*/\1/')
	link=$(pgrep -P "$keeper" -f link | head -n 1)
	if command -v script >/dev/null; then        # a terminal for the dashboard
		TERM=xterm script -qc "stty rows 48 cols 160; exec $titan" /dev/null >"$dir/screen" < <(sleep $((span + 3))) &
		until dashboard=$(pgrep -n -f "^$titan\$"); do sleep 0.05; done
		names="master keeper link dashboard"
		sleep 1
	fi
	declare -A slept used
	switches() { awk '/ctxt_switches/ { sum += $2 } END { print sum }' /proc/"$1"/task/*/status; }
	cpu() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
	for pid in $master $keeper $link $dashboard; do slept[$pid]=$(switches "$pid") used[$pid]=$(cpu "$pid"); done
	sleep "$span"
	for name in $names; do
		pid=${!name} before=${slept[${!name}]} ticks=${used[${!name}]}
		figure "idle_${name}_wakeups" "$(awk -v n=$(($(switches "$pid") - before)) -v s=$span 'BEGIN { printf "%.2f", n / s }')" /s
		figure "idle_${name}_cpu" "$(awk -v n=$(($(cpu "$pid") - ticks)) -v s=$span -v h="$(getconf CLK_TCK)" 'BEGIN { printf "%.3f", 100 * n / h / s }')" %
	done
	[ -z "$dashboard" ] || kill "$dashboard"
	stop
	rm -rf "$TITAN_STATE"
}

# Commands that a person waits for. The goals: version in 5 ms, ls in 6 times command_true, a prompt in 15 ms.
commands() {
	command -v python3 >/dev/null || return 0
	"$titan" up --slots 2 >/dev/null
	"$titan" run -w -e 'a*100; a=true' >/dev/null
	local name number
	while read -r name number; do
		figure "$name" "$number" ms "$(ratio "$number" "${value[command_true]:-$number}")" command_true
	done < <(python3 "$(dirname "$0")/bench_commands.py" "$titan")
	stop
	rm -rf "$TITAN_STATE"
}

submits() {
	mkdir -p "$TITAN_STATE"
	"$titan" master >"$dir/master.log" 2>&1 &
	until "$titan" status >/dev/null 2>&1; do sleep 0.02; done
	local name number unit
	while read -r name number unit; do
		figure "$name" "$number" "$unit" "$(ratio "$number" "${value[limit_commit]}")" limit_commit
	done < <("$build/tests/bench/bench_submit" "$seconds")
	yes true | head -n 100000 | "$titan" run --lines >/dev/null
	read -r name number unit < <("$build/tests/bench/bench_noop" 100000)
	figure "$name" "$number" "$unit"
	stop
	wait 2>/dev/null || true
	rm -rf "$TITAN_STATE"
}

# Values. The goals: 20,000 durable sets/s of 16 clients, a get in 200 us, and a watch of 10,000 keys.
values() {
	mkdir -p "$TITAN_STATE"
	"$titan" master >"$dir/master.log" 2>&1 &
	until "$titan" status >/dev/null 2>&1; do sleep 0.02; done
	local name number unit
	while read -r name number unit; do figure "$name" "$number" "$unit"; done < <("$build/tests/bench/bench_kv" "$seconds")
	stop
	wait 2>/dev/null || true
	rm -rf "$TITAN_STATE"
}

# A graph of 100,000 jobs that wait, and how long a master that starts after a kill takes until it serves again.
restart() {
	mkdir -p "$TITAN_STATE"
	"$titan" master >"$dir/master.log" 2>&1 &
	until "$titan" status >/dev/null 2>&1; do sleep 0.02; done
	yes true | head -n 100000 >"$dir/lines"
	took "$titan" run --lines <"$dir/lines"
	figure graph_100k_accepted "$(awk -v ns=$ns 'BEGIN { printf "%.2f", ns / 1e9 }')" s
	kill -KILL $!
	wait 2>/dev/null || true
	local from
	from=$(now_ns)
	"$titan" master >"$dir/master.log" 2>&1 &
	until "$titan" status >/dev/null 2>&1; do :; done
	figure serving_after_kill "$(awk -v ns=$(($(now_ns) - from)) 'BEGIN { printf "%.4f", ns / 1e9 }')" s
	stop
	wait 2>/dev/null || true
	rm -rf "$TITAN_STATE"
}

# TLS on loopback beside the unix socket. The goals: 0.9 of its jobs, 0.7 of its output, 60 kB of the master's memory for an
# idle connection, and 4,000 handshakes in a second of the master's processor time.
tls() {
	mkdir -p "$TITAN_STATE"
	"$titan" master --listen 127.0.0.1:0 >"$dir/master.log" 2>&1 &
	until "$titan" status >/dev/null 2>&1; do sleep 0.02; done
	local name number unit ratio of address
	address=$(sed -n 's/.*listening on //p' "$dir/master.log" | tail -n 1)
	for name in noop far; do "$titan" token add $name --worker -o "$dir/$name.key" 2>/dev/null; done
	"$titan" token add anna --role viewer -o "$dir/person.key" 2>/dev/null
	while read -r name number unit ratio of; do
		figure "$name" "$number" "$unit" "$ratio" "$of"
	done < <("$build/tests/bench/bench_tls" "$address" "$dir/noop.key" "$dir/person.key")
	[ ! -x "$build/titan-static" ] || tls_output "$address"
	stop
	wait 2>/dev/null || true
	rm -rf "$TITAN_STATE" "$dir/far"
}

# Output of real jobs at two workers, which keep all of it, by turns. The ratio is the median.
tls_output() { # ADDRESS
	local name near rate ratio
	"$titan" worker start --name near --slots 1 >"$dir/near.log" 2>&1 &
	"$build/titan-static" worker start -H "$1" --key "$dir/far.key" --slots 1 --state "$dir/far" >"$dir/far.log" 2>&1 &
	until [ "$("$titan" --json worker ls | grep -o '"state":"up"' | wc -l)" = 2 ]; do sleep 0.05; done
	for name in near far; do
		echo "{jobs: {j: {run: yes a line of output | head -c 16000000, log: lossless, worker: $name}}}" >"$dir/$name.yaml"
	done
	for _ in 1 2 3 4 5 6 7 8 9; do
		took "$titan" run -w "$dir/near.yaml"
		near=$ns
		took "$titan" run -w "$dir/far.yaml"
		echo "$near $ns"
	done >"$dir/spans"
	rate=$(sort -n "$dir/spans" | awk 'NR == 5 { printf "%.0f", 1.6e10 / $1 }')
	ratio=$(awk '{ printf "%.2f\n", $1 / $2 }' "$dir/spans" | sort -n | sed -n 5p)
	figure unix_output "$rate" MB/s
	figure tls_output "$(awk -v n="$rate" -v r="$ratio" 'BEGIN { printf "%.0f", n * r }')" MB/s "$ratio" unix_output
}

peers() {
	yes true | head -n "$jobs" >"$dir/lines"
	spawning peer_xargs limit_spawn_sh_2 "$jobs" sh -c "xargs -P2 -I{} sh -c '{}' <$dir/lines"
	{
		printf 'all:'
		seq -f ' j%.0f' -s '' 1 "$jobs"
		printf '\n'
		seq -f 'j%.0f:;@true;' 1 "$jobs"
	} >"$dir/Makefile"
	command -v make >/dev/null && spawning peer_make limit_spawn_sh_2 "$jobs" make -s -j2 -f "$dir/Makefile"
	if command -v ninja >/dev/null; then
		{
			printf 'rule r\n  command = true\n'
			seq -f 'build j%.0f: r' 1 "$jobs"
		} >"$dir/build.ninja"
		spawning peer_ninja limit_spawn_sh_2 "$jobs" ninja -C "$dir" -j2 --quiet
	fi
	if command -v beanstalkd >/dev/null; then
		mkdir "$dir/beanstalkd"
		again
		local name number unit
		while read -r name number unit; do
			if [ "$name" = peer_beanstalkd ]; then
				figure "$name" "$number" "$unit" "$(ratio "$number" "${value[limit_spawn_sh_2]}")" limit_spawn_sh_2
			else
				figure "$name" "$number" "$unit" "$(ratio "$number" "${value[limit_commit]}")" limit_commit
			fi
		done < <("$build/tests/bench/bench_beanstalk" "$dir/beanstalkd" $((jobs / 2)))
	fi
	if command -v parallel >/dev/null; then
		head -n 1000 "$dir/lines" >"$dir/fewer"
		spawning peer_parallel limit_spawn_sh_2 1000 sh -c "parallel -j2 <$dir/fewer"
	fi
}

for part; do $part; done
