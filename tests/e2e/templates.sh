# SPDX-License-Identifier: GPL-3.0-or-later
# Templates of jobs: parameters with defaults, keys that a job sets itself, variables of both, values that other jobs put out.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
cat >film.yaml <<'END'
params: {quality: low, film: {required: true}}
templates:
  encode:
    params: {codec: {required: true, enum: [av1, h265]}, quality: "${params.quality}", name: film}
    job:
      env: {A: below, B: below}
      retry: 1
      run: |
        echo "${params.codec} ${params.quality} ${params.name} ${params.film} $A $B $C"
  say:
    params: {what: nothing}
    job: {run: 'printf "%s|" "${params.what}"', needs: probe}
jobs:
  probe: {outputs: [v], run: 'titan output v="a b\$(id)\"; exit 3"'}
  small: {template: encode, with: {codec: av1}}
  large: {template: encode, with: {codec: h265, quality: high, name: "x; exit 1"}, env: {B: job, C: job}, needs: small, retry: 0}
  own: {template: encode, with: {codec: av1}, run: echo own}
  told: {template: say, with: {what: "${jobs.probe.outputs.v}"}}
  plain: {template: say}
  many: {template: say, matrix: {os: [deb, bsd]}, run: 'echo "${matrix.os} ${params.what}"'}
  when: {template: encode, with: {codec: av1}, needs: [], when: small.ok}
END
exits "a pipeline with templates runs" 0 titan --timeout 60s run -w film.yaml -p film=f1
is "a default of a template is a parameter of the pipeline" "$(titan logs last/small)" "av1 low film f1 below below "
is "a job gives values, and variables beside those of the template" "$(titan logs last/large)" "h265 high x; exit 1 f1 below job job"
is "a key of the job counts more" "$(titan logs last/own)" own
is "also a number" "$(titan --json show last/small | jq .[0].retry_max) $(titan --json show last/large | jq .[0].retry_max)" "1 0"
is "an output of another job is no code" "$(titan logs last/told)" 'a b$(id)"; exit 3|'
is "without a value the default counts" "$(titan logs last/plain)" 'nothing|'
is "a matrix makes jobs of a template" "$(titan logs 'last/many[0]') $(titan logs 'last/many[1]')" "deb nothing bsd nothing"
cat >inner.yaml <<'END'
templates: {t: {params: {x: y}, job: {run: 'echo "in ${params.x}"'}}}
jobs:
  s: {pipeline: {jobs: {i: {template: t, with: {x: z}}}}}
END
exits "a graph within a job uses them, too" 0 titan --timeout 60s run -w inner.yaml
like "with its own values" "$(titan logs last)" 'in z'
exits "graph --yaml writes the jobs without templates" 0 titan graph --yaml film.yaml -p film=f1
like "whole" "$out" 'retry'
unlike "of them" "$out" 'template'

# --- include ---
mkdir -p lib
cat >lib/common.yaml <<'END'
params: {film: common, low: l}
env: {A: common, B: common}
defaults: {retry: 2}
templates:
  say: {params: {x: {required: true}}, job: {run: 'echo "${params.x} ${params.film} ${params.low} $A $B"'}}
  bye: {job: {run: "exit ${params.x}"}}
END
echo 'env: {A: other, C: other}' >lib/other.yaml
cat >user.yaml <<'END'
include: [lib/other.yaml, lib/common.yaml]
params: {film: mine}
env: {B: mine}
jobs:
  a: {template: say, with: {x: y}}
  b: {run: 'echo "$C"'}
END
exits "a pipeline that includes files runs" 0 titan --timeout 60s run -w user.yaml
is "what the pipeline says counts more than the files, and a later file more than an earlier one" "$(titan logs last/a)" "y mine l common mine"
is "all of them count" "$(titan logs last/b)" other
is "defaults, too" "$(titan --json show last/b | jq .[0].retry_max)" 2
cat >wrong.yaml <<'END'
include: lib/common.yaml
jobs:
  a: {template: bye}
END
exits "an error in the text of a template" 2 titan validate wrong.yaml
like "has its place in the included file" "$err" '^lib/common.yaml:6:[0-9]+: error: .*params\.x|^lib/common.yaml:6:'
printf 'templates: [\n' >lib/other.yaml
exits "a file that is no YAML" 2 titan validate user.yaml
like "is told with its place" "$err" '^lib/other.yaml:[12]:'
echo 'jobs: {a: {run: x}}' >lib/other.yaml
exits "a file with jobs" 2 titan validate user.yaml
like "is refused" "$err" '^lib/other.yaml:1:1: error: an included file may only have params, env, defaults and templates'
rm lib/other.yaml
exits "a file that isn't there" 4 titan validate user.yaml
like "is told where it is named" "$err" "^user.yaml:1:11: error: can't open lib/other.yaml: No such file"
printf 'templates: {f: {job: {run: x, files: [./missing]}}}\n' >lib/other.yaml
printf 'include: lib/other.yaml\njobs: {a: {template: f}}\n' >files.yaml
exits "a file that a template needs and that isn't there" 4 titan validate files.yaml
like "is told where the template names it" "$err" "^lib/other.yaml:1:[0-9]+: error: can't read ./missing"
printf 'include: lib/common.yaml\njobs: {a: {template: say, with: {x: y}}}\n' >piped.yaml
exits "standard input includes files of this directory" 0 bash -c '"$TITAN" --timeout 60s run -w - <piped.yaml'
is "as a file does" "$(titan logs last/a)" "y common l common common"
done_testing
