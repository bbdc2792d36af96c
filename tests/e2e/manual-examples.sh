# SPDX-License-Identifier: GPL-3.0-or-later
# The examples in the manual pages that aren't generated work as they stand: commands, lines of the console, graphs,
# pipelines and settings. command-examples.sh runs the generated ones. An example that can't run says why in the source of
# its page, on the line above it: .\" Not run by tests: REASON
# time-out: 300 s
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || skip_all "no jq"

manuals=$e2e_dir/../../man
examples=$test_dir/examples
mkdir "$examples" bin work

# Write each example to examples/PAGE.LINE, as a reader sees it; consecutive .Dl lines are one example.
extract() { # PAGE
	awk -v to="$examples/$(basename "$1")." '
		/^\.\\" BEGIN / { made = 1 } /^\.\\" END/ { made = 0 }
		made { next }
		/^\.\\" Not run by tests: ./ { left = NR }
		function text(line) {
			sub(/^\\&/, "", line)
			gsub(/\\\(dq/, "\"", line); gsub(/\\\(aq/, "\047", line); gsub(/\\-/, "-", line); gsub(/\\e/, "\\", line)
			return line
		}
		/^\.Bd / { open = left == NR - 1 ? "/dev/null" : to NR; next }
		/^\.Ed/ { open = ""; next }
		open { print text($0) >open; next }
		/^\.Dl / && left == NR - 1 { left = NR; next }
		/^\.Dl / { if (last != NR - 1) file = to NR; last = NR; print text(substr($0, 5)) >file }
	' "$1"
}
for page in "$manuals"/*.[157]; do extract "$page"; done

kind() { # FILE
	case $(head -n 1 "$1") in
	'titan '*']> '*) echo console ;;
	'name: '* | 'jobs:') echo pipeline ;;
	[a-z]*': '*) echo settings ;;
	*) if grep -q '^[^"]* -> ' "$1"; then echo graph; else echo commands; fi ;;
	esac
}

# --- what the examples are about: programs, files, a run with the job that they name, and a token ---
ln -s "$TITAN" bin/titan
for name in check-release curl ffmpeg flac mail tar package.sh publish.sh notify.sh backup.sh; do
	printf '#!/bin/sh\nexit 0\n' >"bin/$name"
done
printf '#!/bin/sh\nexit 3\n' >bin/check-release
printf '#!/bin/sh\necho film >films.tar\n' >bin/curl
chmod +x bin/*
export PATH=$test_dir/bin:$PATH XDG_CONFIG_HOME=$test_dir/config
unset NO_COLOR
mkdir -p "$XDG_CONFIG_HOME/titan"
start_cluster --slots 4 --listen 127.0.0.1:0

cd work || exit 1
ln -s ../bin/*.sh .
printf '#!/bin/sh\necho "$@"\n' >train.py
chmod +x train.py
printf 'test:\n\t@true\n' >Makefile
touch a.wav b.wav sums
for i in $(seq 100); do echo "$i" >"log.$i"; done
printf 'name: release\nparams: {version: {required: true}}\njobs: {pack: {run: "echo ${params.version}"}}\n' >release.yaml
printf 'name: review\njobs: {look: {run: "true"}}\n' >review.yaml

# As it is here: the address, the run and the people, and a worker that isn't static. Nobody confirms a retry.
here() {
	address=$(sed -n 's/.*listening on //p' "$TITAN_STATE/default/master.log" | tail -n 1)
	sed -e "s|master\.example\.org|$address|" -e 's/titan up --listen :7484/titan up/' \
		-e 's/count: 2, from: [^]]*\], /count: 1, /' -e "s/ 4127 / $run /" -e 's/^titan retry/titan -y retry/' \
		-e 's/^titan-static/titan/' "$1"
}

run_commands() { # NAME FILE
	local line workers=()
	local into=()
	case $1 in titan-progress*) into=(titan run -w --propagate --) ;; esac          # it works inside a job only
	here "$2" | grep -v '^titan worker start' >commands.sh
	exits "$1" 0 timeout 120 "${into[@]}" bash -e commands.sh
	unlike '... without a mistake in it' "$err" 'unknown|usage|--help'
	# A worker stays in the foreground, so it is begun beside them, as another machine's.
	while read -r line; do
		TITAN_STATE=$test_dir/away bash -c "exec $line" >worker.log 2>&1 </dev/null &
		workers+=($!)
		ok '... its worker comes' until_true 30 sh -c "titan worker ls --plain | grep -q '^$(sed -E 's/.*--key ([^.]*).*/\1/' <<<"$line").up'" ||
			note "$(cat worker.log)"
		kill "${workers[@]}"
		wait "${workers[@]}" 2>/dev/null
	done < <(here "$2" | grep '^titan worker start')
}

answer_gates() { [ "$(titan --plain approvals | wc -l)" = 0 ] || titan -q -y approve all -m yes || titan -q -y approve all -m yes --set ver=1.3 --set n=2; run_ended last; }
run_pipeline() { # NAME FILE
	local parameter=()
	here "$2" >example.yaml          # the examples name files of this directory
	! grep -q 'version: {required' "$2" || parameter=(-p version=1)
	exits "$1" 0 titan validate example.yaml "${parameter[@]}"
	exits '... is planned' 0 titan plan example.yaml "${parameter[@]}"
	exits '... is run' 0 titan run -q example.yaml "${parameter[@]}"
	ok '... ends' until_true 60 answer_gates || note "$(titan show last 2>&1)"
}

run_console() { # NAME FILE
	sed -E -e 's/^titan [^>]*> //' -e 's/^\.\.\.> //' -e 's/^(\\watch.*)/\1 c=1/' "$2" >console.txt
	exits "$1" 0 timeout 120 sh -c 'titan repl <console.txt'
}

run_settings() { # NAME FILE
	cp "$2" "$XDG_CONFIG_HOME/titan/titan.conf"
	exits "$1" 0 titan config
	while IFS=': ' read -r key _; do
		like "... $key is from that file" "$(titan --plain config "$key")" 'titan/titan.conf'
	done <"$2"
	rm "$XDG_CONFIG_HOME/titan/titan.conf"
}

run=0
count=0
for file in "$examples"/*; do
	name=$(basename "$file")
	count=$((count + 1))
	case $name in
	titan-run.1.*)
		titan worker start --name w08 --slots 4 --gpus 1 >worker.log 2>&1 </dev/null &
		run=$(titan -q run -e "fetch=true; stay='sleep 600'") ;;
	titan-states.7.*)
		titan worker start --name w09 --slots 1 --label gpu >worker.log 2>&1 </dev/null &
		run=$(titan -q run -e "load=false label=gpu; later=false retry=1 backoff=1h")
		until_true 30 job_is "$run" load failed && until_true 30 job_is "$run" later delayed ;;
	titan-cluster.1.*) titan -q token add anna -o anna.key ;;
	titan-static.1.*) titan -q token add web1 --worker -o web1.key ;;
	titan.yaml.5.*) titan -q token rm anna 2>/dev/null ;;          # while anna could approve, the submitter can't
	esac
	case $(kind "$file") in
	graph)
		exits "$name: a graph" 0 titan run -n -e "$(cat "$file")"
		exits '... is run' 0 titan run -w -e "$(cat "$file")" ;;
	pipeline) run_pipeline "$name: a pipeline" "$file" ;;
	settings) run_settings "$name: settings" "$file" ;;
	console) run_console "$name: lines of the console" "$file" ;;
	commands) run_commands "$name: $(tail -n 1 "$file")" "$file" ;;
	esac
	titan -q cluster default local 2>/dev/null
	titan up --listen 127.0.0.1:0 >up.out 2>&1
	titan -q -y cancel all >/dev/null 2>&1
	case $name in titan-cluster.1.*) titan -q token rm anna && rm anna.key ;; esac
done
ok 'the pages have many' test $count -gt 12

done_testing
