# fish completion of titan: asks titan for the words

function __titan_words
	set -l before (commandline -opc)
	set -l cur (commandline -ct)
	set -e before[1]
	for line in (titan completion words -- $before "$cur" 2>/dev/null)
		switch $line
		case ':files'
			__fish_complete_path "$cur"
		case ':directories'
			__fish_complete_directories "$cur"
		case '*'
			printf '%s\n' $line
		end
	end
end

complete -c titan -f -a '(__titan_words)'
