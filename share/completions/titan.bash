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
	fi
}
complete -F _titan titan
