# fish completion of titan, generated from its command table

function __titan_runs
	titan ls --limit 50 --format '{id}\t{name} {state}' 2>/dev/null
	echo last
end

function __titan_jobs
	set -l run (string split -m 1 / -- (commandline -ct))
	if set -q run[2]
		titan show $run[1] --format '{address}\t{state}' 2>/dev/null
	else
		__titan_runs
	end
end

complete -c titan -f
complete -c titan -s C -l cluster -x -d 'the cluster to talk to (also TITAN_CLUSTER)'
complete -c titan -l json -d 'print one JSON value'
complete -c titan -l plain -d 'print tab-separated values: no header, exact times'
complete -c titan -l format -x -d 'print each row by a template such as \'{id} {state}\''
complete -c titan -l color -x -a 'auto always never' -d 'colours; auto also looks at NO_COLOR and TERM'
complete -c titan -s q -l quiet -d 'say nothing but data and errors'
complete -c titan -s y -l yes -d 'answer yes to whatever would be asked'
complete -c titan -l no-input -d 'never ask'
complete -c titan -l timeout -x -d 'give up after this time (500ms, 30s, 5m, 2h) with status 124'
complete -c titan -s h -l help -d 'say what a command does and takes'
complete -c titan -l version -d 'print the version'
complete -c titan -n __fish_use_subcommand -a up -d 'start a master and a local worker, where they don\'t run yet'
complete -c titan -n '__fish_seen_subcommand_from up' -s s -l slots -x -d 'jobs the local worker runs at once (default: one a core)'
complete -c titan -n __fish_use_subcommand -a down -d 'end the master and its local workers'
complete -c titan -n '__fish_seen_subcommand_from down' -l keep-workers -d 'end the master alone; jobs run on'
complete -c titan -n __fish_use_subcommand -a demo -d 'show a real graph run, with the master killed in the middle'
complete -c titan -n __fish_use_subcommand -a status -d 'say what the master, its workers and its jobs are doing'
complete -c titan -n __fish_use_subcommand -a master -d 'be a master, in the foreground'
complete -c titan -n '__fish_seen_subcommand_from master' -l heartbeat -x -d 'between heartbeats of a worker (default 5s)'
complete -c titan -n '__fish_seen_subcommand_from master' -l lease -x -d 'a worker starts nothing new after this silence (default 20s)'
complete -c titan -n '__fish_seen_subcommand_from master' -l grace -x -d 'a silent worker is lost after this (default 60s)'
complete -c titan -n '__fish_seen_subcommand_from master' -l ready-fd -x -d 'write a byte to this descriptor when it serves'
complete -c titan -n __fish_use_subcommand -a worker -d 'be a worker, in the foreground'
complete -c titan -n '__fish_seen_subcommand_from worker' -l name -x -d 'its name (default: local)'
complete -c titan -n '__fish_seen_subcommand_from worker' -s s -l slots -x -d 'jobs it runs at once (default: one a core)'
complete -c titan -n '__fish_seen_subcommand_from worker' -l ready-fd -x -d 'write a byte to this descriptor when it is connected'
complete -c titan -n __fish_use_subcommand -a run -d 'submit a graph of jobs'
complete -c titan -n '__fish_seen_subcommand_from run' -s e -l expression -x -d 'the graph on one line'
complete -c titan -n '__fish_seen_subcommand_from run' -l lines -d 'each line of standard input is a command'
complete -c titan -n '__fish_seen_subcommand_from run' -l name -x -d 'of the run (default: its first job\'s name, or \'lines\')'
complete -c titan -n '__fish_seen_subcommand_from run' -s f -l follow -d 'show what happens until it has ended'
complete -c titan -n '__fish_seen_subcommand_from run' -s w -l wait -d 'wait until it has ended'
complete -c titan -n '__fish_seen_subcommand_from run' -s n -l dry-run -d 'show the jobs, submit nothing'
complete -c titan -n '__fish_seen_subcommand_from run' -s d -l dir -x -a '(__fish_complete_directories)' -d 'where jobs run (default: a directory of each job\'s own)'
complete -c titan -n '__fish_seen_subcommand_from run' -l env -x -d 'add to the environment of jobs; may be repeated'
complete -c titan -n '__fish_seen_subcommand_from run' -l retry -x -d 'retries of a job that fails'
complete -c titan -n '__fish_seen_subcommand_from run' -l job-timeout -x -d 'longest time a job may run'
complete -c titan -n '__fish_seen_subcommand_from run' -l priority -x -d '0 to 100, higher first (default 50)'
complete -c titan -n '__fish_seen_subcommand_from run' -l mode -x -a 'retry exclusive once' -d 'what comes of a job whose worker is lost (default retry)'
complete -c titan -n '__fish_seen_subcommand_from run' -l key -x -d '32 hex digits: the same key and graph is the same run'
complete -c titan -n __fish_use_subcommand -a watch -d 'show what happens in a run until it has ended'
complete -c titan -n '__fish_seen_subcommand_from watch' -a '(__titan_runs)'
complete -c titan -n __fish_use_subcommand -a wait -d 'wait until runs have ended'
complete -c titan -n '__fish_seen_subcommand_from wait' -a '(__titan_runs)'
complete -c titan -n __fish_use_subcommand -a logs -d 'print what a job wrote'
complete -c titan -n '__fish_seen_subcommand_from logs' -s f -l follow -d 'go on until the job has ended'
complete -c titan -n '__fish_seen_subcommand_from logs' -l stdout -d 'only what went to standard output'
complete -c titan -n '__fish_seen_subcommand_from logs' -l stderr -d 'only what went to standard error'
complete -c titan -n '__fish_seen_subcommand_from logs' -s t -l time -d 'put the time before each line'
complete -c titan -n '__fish_seen_subcommand_from logs' -a '(__titan_jobs)'
complete -c titan -n __fish_use_subcommand -a cancel -d 'cancel runs or single jobs'
complete -c titan -n '__fish_seen_subcommand_from cancel' -s w -l wait -d 'wait until the runs have ended'
complete -c titan -n '__fish_seen_subcommand_from cancel' -a '(__titan_jobs)'
complete -c titan -n __fish_use_subcommand -a ls -d 'list runs, newest first'
complete -c titan -n '__fish_seen_subcommand_from ls' -l limit -x -d 'how many at most (default 50)'
complete -c titan -n '__fish_seen_subcommand_from ls' -s a -l all -d 'all there are'
complete -c titan -n __fish_use_subcommand -a show -d 'show a run and its jobs, or all there is to know of one job'
complete -c titan -n '__fish_seen_subcommand_from show' -a '(__titan_jobs)'
complete -c titan -n __fish_use_subcommand -a dash -d 'the dashboard'
complete -c titan -n '__fish_seen_subcommand_from dash' -l view -x -a 'home runs dag workers' -d 'what it opens with'
complete -c titan -n '__fish_seen_subcommand_from dash' -l ascii -d 'draw with ASCII characters alone'
complete -c titan -n '__fish_seen_subcommand_from dash' -l dump-screen -r -F -d 'no terminal: the last picture goes to a file, - is standard output'
complete -c titan -n '__fish_seen_subcommand_from dash' -l dump-styles -d 'with the colours and attributes of that picture'
complete -c titan -n '__fish_seen_subcommand_from dash' -l size -x -d 'of that picture (default 80x24)'
complete -c titan -n '__fish_seen_subcommand_from dash' -l clock -x -d 'a fixed time for it, such as 2026-11-18T14:02:30Z'
complete -c titan -n '__fish_seen_subcommand_from dash' -l exit-after -x -d 'leave when all that was asked for is drawn'
complete -c titan -n '__fish_seen_subcommand_from dash' -a '(__titan_runs)'
complete -c titan -n __fish_use_subcommand -a wire -d 'print recorded frames for people'
complete -c titan -n '__fish_seen_subcommand_from wire' -a 'dump'
complete -c titan -n '__fish_seen_subcommand_from wire' -F
complete -c titan -n __fish_use_subcommand -a completion -d 'print the completion of a shell'
complete -c titan -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'
complete -c titan -n __fish_use_subcommand -a help -d 'explain a command or a topic'
complete -c titan -n '__fish_seen_subcommand_from help' -a 'up down demo status master worker run watch wait logs cancel ls show dash wire completion help version dag environment exit output selectors states'
complete -c titan -n __fish_use_subcommand -a version -d 'print the version'
