# bash completion of titan: asks titan for the words

_titan() {
	local cur=${COMP_WORDS[COMP_CWORD]} line
	COMPREPLY=()
	[[ $cur != = ]] || cur=
	while IFS= read -r line; do
		case $line in
		:files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
		:directories) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
		*) COMPREPLY+=("${line%%$'\t'*}") ;;
		esac
	done < <(titan completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/[] ]]; then
		compopt -o nospace
	done
	case $verb in
	'') words='up down demo status master worker token cluster backup restore fsck prune cordon uncordon drain pool run validate plan graph watch wait logs cancel retry dlq schedule hold release priority group lock tenant approvals approve reject pushback settle ls show metrics explain dash wire completion help version' ;;
	'') words='up down demo status master worker token cluster backup restore fsck prune cordon uncordon drain pool run validate plan watch wait logs cancel retry dlq schedule hold release priority group lock tenant approvals approve reject pushback settle ls show metrics explain dash config doctor wire completion help version' ;;
	up)
		options+=' --slots --listen'
		;;
	down)
		options+=' --leave-jobs --keep-workers'
		;;
	demo)
		;;
	status)
		;;
	master)
		options+=' --listen --heartbeat --lease --grace --keep-runs --keep-for --keep-logs --keep-history --keep-past --keep-past-size --keep-acts --prune-every --ready-fd'
		;;
	worker)
		options+=' --name --slots --label --containment --cpus --memory --gpus --resource --pool --end-jobs --ready-fd --dry-run --limit --all --sort'
		words='ls show start rm'
		;;
	token)
		options+=' --role --worker --expires --output'
		words='ls add rm rotate'
		;;
	cluster)
		words='ls add rm default'
		;;
	backup)
		;;
	restore)
		;;
	fsck)
		;;
	prune)
		options+=' --older --keep --size --history --past-size --acts --dead --logs-only --dry-run'
		;;
	cordon)
		options+=' --dry-run'
		;;
	uncordon)
		options+=' --dry-run'
		;;
	drain)
		options+=' --dry-run'
		;;
	pool)
		options+=' --dry-run'
		words='ls show set active draining inactive'
		;;
	run)
		options+=' --expression --lines --param --name --follow --wait --propagate --again --dry-run --dir --private --env --env-all --retry --job-timeout --deadline --priority --mode --tenant --into --submit-key'
		kind=run
		;;
	validate)
		options+=' --param'
		;;
	plan)
		options+=' --param'
		;;
	graph)
		options+=' --expression --param --dot'
		kind=run
		;;
	watch)
		kind=run
		;;
	wait)
		kind=run
		;;
	logs)
		options+=' --follow --tail --since --grep --failed --stdout --stderr --time'
		kind=job
		;;
	cancel)
		options+=' --all --wait --dry-run'
		kind=job
		;;
	retry)
		options+=' --failed --from --only --all --dry-run'
		kind=job
		;;
	dlq)
		options+=' --dry-run --limit --all --name --since --until --sort'
		words='ls show requeue discard'
		kind=job
		;;
	schedule)
		options+=' --param --limit --all --name --sort'
		words='ls show add pause resume rm fire'
		;;
	hold)
		options+=' --dry-run'
		kind=job
		;;
	release)
		options+=' --dry-run'
		kind=job
		;;
	priority)
		options+=' --dry-run'
		kind=job
		;;
	group)
		options+=' --max'
		words='ls show set rm'
		;;
	lock)
		options+=' --shared --ttl --owner --message --wait'
		words='ls show take drop'
		;;
	tenant)
		options+=' --weight --max-jobs --max-queued'
		words='ls show set rm'
		;;
	approvals)
		options+=' --all --limit --name --since --until --sort'
		kind=run
		;;
	approve)
		options+=' --message --digest'
		kind=job
		;;
	reject)
		options+=' --message --digest'
		kind=job
		;;
	pushback)
		options+=' --to --message --digest'
		kind=job
		;;
	settle)
		options+=' --message'
		words='done failed retry'
		kind=job
		;;
	ls)
		options+=' --limit --all --name --since --until --sort'
		kind=run
		;;
	show)
		kind=job
		;;
	metrics)
		options+=' --prometheus'
		;;
	explain)
		kind=job
		;;
	dash)
		options+=' --view --ascii --dump-screen --dump-styles --size --clock --exit-after'
		kind=run
		;;
	config)
		;;
	doctor)
		;;
	wire)
		words='dump'
		;;
	completion)
		words='bash zsh fish'
		;;
	help)
		words='up down demo status master worker token cluster backup restore fsck prune cordon uncordon drain pool run validate plan graph watch wait logs cancel retry dlq schedule hold release priority group lock tenant approvals approve reject pushback settle ls show metrics explain dash wire completion help version dag environment exit output selectors states'
		words='up down demo status master worker token cluster backup restore fsck prune cordon uncordon drain pool run validate plan watch wait logs cancel retry dlq schedule hold release priority group lock tenant approvals approve reject pushback settle ls show metrics explain dash config doctor wire completion help version dag environment exit options output selectors states'
		;;
	version)
		;;
	esac
	case $verb$prev in
	*--color) COMPREPLY=($(compgen -W 'auto always never' -- "$cur")); return ;;
	worker--containment) COMPREPLY=($(compgen -W 'auto cgroup pids subreaper' -- "$cur")); return ;;
	run--mode) COMPREPLY=($(compgen -W 'retry exclusive once' -- "$cur")); return ;;
	dash--view) COMPREPLY=($(compgen -W 'home runs dag workers' -- "$cur")); return ;;
	*--dir) COMPREPLY=($(compgen -d -- "$cur")); return ;;
	*--dump-screen) COMPREPLY=($(compgen -f -- "$cur")); return ;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$cur"))
	elif [[ -n $kind && -n $words && -n $verb && $COMP_CWORD -eq $((i + 1)) ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	elif [[ $kind == job && $cur == */* ]]; then
		COMPREPLY=($(compgen -W "$(_titan_jobs "${cur%%/*}")" -- "$cur"))
	elif [[ -n $kind ]]; then
		COMPREPLY=($(compgen -W "$(_titan_runs)" -- "$cur"))
	elif [[ -n $words ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
complete -F _titan titan
