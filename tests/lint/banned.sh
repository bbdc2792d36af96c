# SPDX-License-Identifier: GPL-3.0-or-later
#
# Functions that have a better one beside them.

. "$(dirname "$0")/lib.sh"

code=$(mktemp)
trap 'rm -f "$code"' EXIT
perl tests/lint/strip-c $(c_files) >"$code"

calls() { # NAME-PATTERN: calls of it, also through a pointer to it
	grep -E "^[^:]*:[0-9]+:(.*[^A-Za-z0-9_.>])?($1)[ 	]*\(" "$code"
}

calls 'strcpy|strcat|sprintf|vsprintf|gets|strncpy|strncat|stpcpy|stpncpy' |
	verdict 'no unbounded copies: use struct buf, snprintf or memcpy with a checked length'
calls 'strtok|strtok_r' | verdict 'no strtok: use slices'
calls 'atoi|atol|atoll|atof' | verdict 'no atoi: use the parsers of base/text.h, which report errors'
calls 'system|popen' | verdict 'no shell behind our back: spawn with an argument list'
calls 'alloca' | verdict 'no alloca'
calls 'tmpnam|tempnam|mktemp|tmpfile' | verdict 'no guessable temporary names: mkstemp, memfd_create'
calls 'localtime|gmtime|ctime|asctime' | verdict 'no static time buffers: use the _r variants'
calls 'signal|sigset|siginterrupt' | grep -vE 'signal\([^,]*, SIG_(DFL|IGN)\)' |
	verdict 'sigaction, not signal, but for SIG_DFL and SIG_IGN'
calls 'regcomp|regexec' | grep -vE '^src/cli/commands/(cmd_logs|logs_lines)\.c:' |
	verdict 'no regcomp: a short pattern can take it seconds; but for titan logs --grep, where nobody else waits'
calls 'rand|srand|random|srandom|drand48' | verdict 'randomness comes from base/rand.h'
calls 'setjmp|longjmp|sigsetjmp|siglongjmp' | verdict 'no longjmp'
grep -vE '^src/base/' "$code" |
	grep -E '^[^:]*:[0-9]+:(.*[^A-Za-z0-9_.>])?(malloc|calloc|realloc|free|strdup|strndup|reallocarray|asprintf|vasprintf)[ 	]*\(' |
	verdict 'memory comes from base/mem.h'
# core is a function of what it is given
grep -E '^src/core/' "$code" |
	grep -E '[^A-Za-z0-9_](time|clock_gettime|gettimeofday|open|read|write|socket|printf|fprintf|getenv|getrandom|pthread_[a-z_]*|sleep|usleep|nanosleep)[ 	]*\(' |
	verdict 'core does no I/O and knows no clock'
finish
