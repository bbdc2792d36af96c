# SPDX-License-Identifier: GPL-3.0-or-later
# Each EXAMPLE of proto/commands.def, as --help and the manual show it, works: with a run of the number that it names,
# in a directory with the files that it names. Examples that become a daemon, take the terminal or name another machine
# are left to tests of their own.
# time-out: 300 s
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || skip_all "no jq"

table=$e2e_dir/../../proto/commands.def
mkdir -p bin "$HOME/.config/fish/completions"
ln -s "$TITAN" bin/titan
export PATH=$test_dir/bin:$PATH
start_cluster --slots 4 --listen 127.0.0.1:0
for name in w07 w08; do
	titan worker start --name $name --slots 1 --pool gpu </dev/null >$name.log 2>&1 &
done
both_up() { [ "$(titan --json worker ls | jq '[.[] | select(.state == "up")] | length')" = 3 ]; }
ok "three workers run" until_true 30 both_up

cat >etl.yaml <<END
name: etl
params: {day: {default: monday}}
jobs:
  load: {run: 'echo \${params.day}'}
END
cat >nightly.yaml <<END
name: nightly
schedule: {cron: "0 3 * * *", tz: UTC}
jobs: {load: {run: echo nightly}}
END
echo one two >a.txt
printf '\002\003\000\000\000\000\000\001\200' >frames.bin
titan -q token add prod -o prod.key

# What a command's examples are about: a run with the job that they name, in the state that they want.
prepare() { # COMMAND
	case $1 in
	approve | reject | pushback | approvals)
		run=$(titan run -q -e "load -> ?qa -> pub; load=true; pub=true")
		until_true 30 job_is "$run" qa approval ;;
	cancel | hold | release | priority | explain)
		run=$(titan run -q -e "load; load='sleep 600'") ;;
	undo)
		run=$(titan run -q -e "load; load='sleep 600'")
		titan -q hold "$run" ;;
	retry | dlq)
		titan run -q -w -e "load; load=false" >/dev/null ;;
	backup | help | version | config | doctor | completion | wire | schedule) ;;
	*) titan run -q -w -e "load; load='echo loaded; echo said >&2'" >/dev/null ;;
	esac
}

# Why an example isn't run here.
left_out() { # COMMAND LINE
	case $1 in
	up | down | master | demo | worker | dash | settle) return 0 ;;              # daemons, the terminal, a lost worker
	restore) return 0 ;;                                                          # without a master: backup.sh
	cluster) [ "$2" != 'titan cluster' ] ;;
	events) case $2 in *-f) return 0 ;; *) return 1 ;; esac ;;
	repl) [ "$2" = 'titan repl' ] ;;
	diff) return 0 ;;                                                             # two runs that differ, by number: diff.sh
	wire) return 0 ;;                                                             # its file has to be of the wire: words.sh
	*) return 1 ;;
	esac
}

examples=$(sed -nE 's/^[[:space:]]*EXAMPLE\(([a-z_]+), "(.*)"\)$/\1\t\2/p' "$table" | sed 's/\\"/"/g; s/\\\\/\\/g')
run_count=0
while IFS=$'\t' read -r command line; do
	left_out "$command" "$line" && continue
	prepare "$command"
	[ "$command" != progress ] || line="titan run -w --propagate -- $line"      # it works inside a job only
	rm -f anna.key
	[ "$line" != 'titan backup tonight.titan' ] || rm -f tonight.titan
	exits "$line" 0 timeout 60 bash -c "$line"
	[ -z "$err" ] || unlike "... without a mistake in it" "$err" 'unknown|usage|--help'
	run_count=$((run_count + 1))
	titan -q -y cancel all >/dev/null 2>&1
done <<<"$examples"
ok "most examples were run" test $run_count -gt 60

done_testing
