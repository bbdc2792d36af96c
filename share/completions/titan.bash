# bash completion of titan: asks titan for the words

_titan() {
	local cur=${COMP_WORDS[COMP_CWORD]} line front= i
	local -a typed=()
	COMPREPLY=()
	# bash splits words at colons, and inserts only what is behind the last one
	for ((i = 1; i <= COMP_CWORD; i++)); do
		if ((${#typed[@]} > 1)) && [[ ${COMP_WORDS[i]} == : || ${COMP_WORDS[i - 1]} == : ]]; then
			typed[-1]+=${COMP_WORDS[i]}
		else
			typed+=("${COMP_WORDS[i]}")
		fi
	done
	[[ $COMP_WORDBREAKS != *:* ]] || front=${typed[-1]%"${typed[-1]##*:}"}
	[[ $cur != [=:] ]] || cur=
	while IFS= read -r line; do
		case $line in
		:files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
		:directories) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
		*)
			line=${line%%$'\t'*}
			COMPREPLY+=("${line#"$front"}")
			;;
		esac
	done < <(titan completion words -- "${typed[@]}" 2>/dev/null)
	if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/[:] ]]; then
		compopt -o nospace
	fi
}
complete -F _titan titan
